"""What a gate reads of any reading, as columns: states, values, diagnostics, routes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract import Direction, ItemReading, Reading, Rows, State
from trueness.contract.errors import InputError, InvalidReading, PolicyError, ShapeError
from trueness.contract.serial import Json

STATES: tuple[State, ...] = tuple(State)
MEASURED = STATES.index(State.MEASURED)
_NOT_GIVEN = STATES.index(State.NO_EVIDENCE)

DIAGNOSTICS, ROUTE, SUB, GROUP = "diagnostics", "route", "sub", "group"
"""Keys of an item's ``extra``. A diagnostic may also stand there under its own name."""

Floats = NDArray[np.float64]
_REAL = (int, float, np.integer, np.floating)


@dataclass(frozen=True, slots=True)
class Columns:
    """Items to decide about, column by column.

    Parameters
    ----------
    items : sequence of str
    state : (n,) int8
        Positions in `STATES`.
    value : (n,) float64
        nan unless measured.
    direction : Direction
        Which way the value gets worse; ``NEITHER`` cannot be gated.
    diagnostics : mapping of name to (n,) float64
        nan where an item lacks it.
    route : (n,) sequence of tuples of str, or None
        Flags that send an item to a person; None when no item has any.
    reason, sub, group : (n,) sequence, or None
        Why there is no value; which part of the item; its source.
    """

    items: Sequence[str]
    state: NDArray[np.int8]
    value: Floats
    direction: Direction
    diagnostics: Mapping[str, Floats] = field(default_factory=dict)
    route: Sequence[tuple[str, ...]] | None = None
    reason: Sequence[str | None] | None = None
    sub: Sequence[Json] | None = None
    group: Sequence[str | None] | None = None

    def __post_init__(self) -> None:
        if self.direction is Direction.NEITHER:
            msg = (
                "the reading's value gets neither better nor worse, so no threshold can be put on "
                "it. Gate a reading whose contract says which way is worse."
            )
            raise PolicyError(msg)
        n = len(self.items)
        lengths = {"state": len(self.state), "value": len(self.value)}
        lengths |= {f"diagnostic {name}": len(v) for name, v in self.diagnostics.items()}
        for name in ("route", "reason", "sub", "group"):
            column = getattr(self, name)
            if column is not None:
                lengths[name] = len(column)
        wrong = {name: length for name, length in lengths.items() if length != n}
        if wrong:
            msg = f"{wrong} for {n} items; wanted one entry an item in every column."
            raise ShapeError(msg)
        self._check_values()

    def __len__(self) -> int:
        return len(self.items)

    @property
    def measured(self) -> NDArray[np.bool_]:
        """(n,) Which items are measured."""
        found: NDArray[np.bool_] = self.state == MEASURED
        return found

    @property
    def risk(self) -> Floats:
        """(n,) The value, or its negative where higher is better: low is safe."""
        return risk_of(self.value, self.direction)

    @property
    def routed(self) -> NDArray[np.bool_]:
        """(n,) Which items carry a flag."""
        if self.route is None:
            return np.zeros(len(self), dtype=np.bool_)
        return np.fromiter((len(r) > 0 for r in self.route), np.bool_, len(self))

    def at(self, rows: NDArray[np.intp] | slice) -> "Columns":
        """Some of the items."""
        places = range(len(self))[rows] if isinstance(rows, slice) else rows.tolist()
        picked = {
            name: None if column is None else [column[i] for i in places]
            for name in ("route", "reason", "sub", "group")
            for column in (getattr(self, name),)
        }
        return Columns(
            [self.items[i] for i in places],
            self.state[rows],
            self.value[rows],
            self.direction,
            {name: values[rows] for name, values in self.diagnostics.items()},
            **picked,
        )

    def _check_values(self) -> None:
        bad = np.flatnonzero(self.measured & ~np.isfinite(self.value))
        if len(bad):
            first = int(bad[0])
            msg = (
                f"{len(bad)} items are MEASURED without a finite value, first "
                f"{self.items[first]!r} with {float(self.value[first])!r}. Give such an item no "
                "value and the state that says why."
            )
            raise InvalidReading(msg)
        for name, values in self.diagnostics.items():
            if np.isinf(values).any():
                msg = f"diagnostic {name!r} is infinite somewhere; leave it out of such an item."
                raise InvalidReading(msg)


def risk_of(value: Floats, direction: Direction) -> Floats:
    """Values so turned that low is safe.

    Examples
    --------
    >>> risk_of(np.array([0.25]), Direction.HIGHER_IS_BETTER).tolist()
    [-0.25]
    """
    return value if direction is Direction.HIGHER_IS_WORSE else -value


def columns_of_reading(reading: Reading) -> Columns:
    """The columns of a reading's items; unstable or unmeasured readings keep their items' states.

    Raises
    ------
    PolicyError
        When not every item is listed, or the value has no direction.
    InvalidReading
        When an item's diagnostics or route are not what the module says.
    """
    if len(reading.per_item) != reading.n_items:
        msg = (
            f"the reading lists {len(reading.per_item)} of its {reading.n_items} items; all of "
            "them are needed. Write it with max_items=None, or measure again."
        )
        raise PolicyError(msg)
    return columns_of_items(reading.per_item, reading.direction)


def columns_of_items(entries: Sequence[ItemReading], direction: Direction) -> Columns:
    """The columns of items, in their order; see `columns_of_reading`."""
    listed = list(entries)
    place = {state: code for code, state in enumerate(STATES)}
    states = np.fromiter((place[e.state] for e in listed), np.int8, len(listed))
    values = np.array([math.nan if e.value is None else e.value for e in listed], dtype=np.float64)
    routes = [_route(e) for e in listed]
    return Columns(
        [e.item for e in listed],
        states,
        values,
        direction,
        _diagnostics(listed),
        routes if any(routes) else None,
        [e.reason for e in listed],
        [e.extra.get(SUB) for e in listed],
        [_text(e.extra.get(GROUP)) for e in listed],
    )


def columns_of_values(values: object, direction: Direction) -> Columns:
    """Columns of bare values: None stands for an item that was not measured.

    Parameters
    ----------
    values : (n,) array or sequence of float or None
        Items are called by their position.

    Raises
    ------
    InvalidReading
        For nan or an infinity, which are no values and no states.
    InputError
        When it is no list of numbers.
    """
    numbers, measured = _numbers(values)
    state = np.where(measured, np.int8(MEASURED), np.int8(_NOT_GIVEN))
    return Columns(Rows(len(numbers), str), state, numbers, direction)


def _numbers(values: object) -> tuple[Floats, NDArray[np.bool_]]:
    if isinstance(values, np.ma.MaskedArray):
        values = values.tolist()  # None where it is masked
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
        numbers = values.astype(np.float64, copy=False)
        measured = np.ones(len(numbers) if numbers.ndim else 0, dtype=np.bool_)
    elif isinstance(values, (Sequence, np.ndarray)) and not isinstance(values, (str, bytes)):
        listed = list(values)
        numbers = np.array([_number(p, v) for p, v in enumerate(listed)], dtype=np.float64)
        measured = np.fromiter((v is not None for v in listed), np.bool_, len(listed))
    else:
        msg = (
            f"values are a {type(values).__name__}; wanted a reading, or a list or array of one "
            "number an item, None where it was not measured."
        )
        raise InputError(msg)
    if numbers.ndim != 1:
        msg = f"values have shape {numbers.shape}; wanted one number an item: (n,)."
        raise ShapeError(msg)
    return numbers, measured


def _number(place: int, value: ArrayLike | None) -> float:
    if value is None:
        return math.nan
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, _REAL):
        msg = f"value {place} is {value!r}; wanted a number, or None where it was not measured."
        raise InputError(msg)
    return _float(value)


def _float(value: "int | float | np.integer[Any] | np.floating[Any]") -> float:
    """As a float; infinite, and so refused, where none holds it."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _diagnostics(entries: Sequence[ItemReading]) -> dict[str, Floats]:
    """Every number in the extras, by name; nan where an item lacks it."""
    found: dict[str, Floats] = {}
    for row, entry in enumerate(entries):
        named = entry.extra.get(DIAGNOSTICS, {})
        if not isinstance(named, Mapping):
            msg = f"item {entry.item!r} has diagnostics {named!r}; wanted numbers by name."
            raise InvalidReading(msg)
        for name, value in {**entry.extra, **named}.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                if name not in found:
                    found[name] = np.full(len(entries), np.nan)
                found[name][row] = _float(value)
    return found


def _route(entry: ItemReading) -> tuple[str, ...]:
    given = entry.extra.get(ROUTE)
    if given is None:
        return ()
    if isinstance(given, (list, tuple)) and all(isinstance(flag, str) for flag in given):
        return tuple(str(flag) for flag in given)
    msg = f"item {entry.item!r} has the route {given!r}; wanted a list of words."
    raise InvalidReading(msg)


def _text(value: Json) -> str | None:
    return None if value is None else str(value)
