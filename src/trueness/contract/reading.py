"""What a sensor saw. The one result type that gates, reports and exit codes read."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from trueness.contract import blocks as block_module
from trueness.contract.blocks import Block, Statement
from trueness.contract.errors import InvalidReading
from trueness.contract.framing import extra_columns, frame_of, html_of, stream_of
from trueness.contract.serial import Json, dumps, plain
from trueness.contract.states import Direction, State

INLINE_ITEMS = 10_000
"""Up to so many items stand in the JSON that is printed; beyond, the first thousand."""
INLINE_HEAD = 1_000

_KINDS = {"item": str, "state": str, "reason": str, "value": float}

_BLOCKS = {
    cls.__name__: cls
    for cls in (
        block_module.Statement,
        block_module.Groups,
        block_module.Bars,
        block_module.IntervalDots,
        block_module.SimplexArrows,
        block_module.Curve,
        block_module.Clauses,
        block_module.Table,
        block_module.MarkedTexts,
        block_module.Facts,
        block_module.Notes,
    )
}
_NESTED: Mapping[str, Mapping[str, type]] = {
    "Groups": {"groups": block_module.Group},
    "Group": {"chips": block_module.Chip},
    "Bars": {"bars": block_module.Bar},
    "Bar": {"parts": block_module.Part},
    "IntervalDots": {"dots": block_module.Dot},
    "SimplexArrows": {"arrows": block_module.Arrow, "mean": block_module.Arrow},
    "Curve": {"series": block_module.Series},
    "Clauses": {"rows": block_module.ClauseRow},
    "MarkedTexts": {"texts": block_module.MarkedText},
    "MarkedText": {
        "stretches": block_module.Stretch,
        "figures": block_module.Fact,
        "rests_on": block_module.Table,
    },
    "Facts": {"facts": block_module.Fact},
}
"""The fields that hold objects, one or a list of them."""


@dataclass(frozen=True, slots=True)
class ItemReading:
    """What was seen of one item: ``value`` is None unless ``state`` is ``MEASURED``."""

    item: str
    state: State
    reason: str | None = None
    value: float | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)
    """What the sensor adds, as plain JSON."""

    def __post_init__(self) -> None:
        _check_value(f"item {self.item!r}", self.state, self.value)


@dataclass(frozen=True, slots=True)
class Flagged:
    """Items singled out, in the order of the reading's items, with what is proved about them.

    ``precision_floor`` is the proved least share of wrong ones among them, ``recall_floor`` the
    proved least share of all wrong ones that they hold; None where nothing is proved.
    """

    items: Sequence[str] = ()
    precision_floor: float | None = None
    recall_floor: float | None = None

    def __post_init__(self) -> None:
        for name in ("precision_floor", "recall_floor"):
            value = getattr(self, name)
            if value is not None and not 0.0 <= value <= 1.0:
                msg = f"{name} is {value!r}; a share lies in [0, 1], None where nothing is proved."
                raise InvalidReading(msg)
        if not len(self.items) and self.precision_floor is not None:
            msg = "no item is flagged and yet precision_floor has a value; use None."
            raise InvalidReading(msg)


@dataclass(frozen=True, slots=True)
class Reading:
    """A sensor's answer for one table: a number with its state, or a state with its reason.

    Parameters
    ----------
    sensor, direction :
        Which instrument, and which way its value gets worse.
    state, reason :
        What the value is worth; the reason is required unless ``MEASURED``.
    value, low, high : float or None
        The value and its interval; all None unless ``MEASURED``.
    interval_kind : str or None
        What kind of statement ``low`` and ``high`` make, e.g. ``"proved lower bound"``.
    n_measured, n_items : int
        Numerator and denominator of what was looked at.
    per_item : sequence of ItemReading
        ``n_items`` entries; may be computed on demand.
    flagged : Flagged
        Items singled out, with what is proved about them.
    details : mapping of str to plain JSON
        Named figures, present in every state; None where not defined.
    blocks : tuple of Block
        What a page draws; the first is a `Statement`.
    fingerprint : str or None
        Of the protocol and parameters that the number follows from.
    versions : mapping of str to str
        Of everything that took part.
    seed : int or None
        Of the generator, where one was used.
    identity : mapping of str to plain JSON
        What the fingerprint is made of, key by key, where another reading must agree with it for
        a threshold to carry over: nothing in it depends on the items. Empty where the sensor does
        not say.

    Raises
    ------
    InvalidReading
        When the parts contradict one another.
    """

    sensor: str
    direction: Direction
    state: State
    reason: str | None
    value: float | None
    n_measured: int
    n_items: int
    blocks: tuple[Block, ...]
    low: float | None = None
    high: float | None = None
    interval_kind: str | None = None
    per_item: Sequence[ItemReading] = ()
    flagged: Flagged = field(default_factory=Flagged)
    details: Mapping[str, Json] = field(default_factory=dict)
    fingerprint: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    identity: Mapping[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_value(f"sensor {self.sensor!r}", self.state, self.value)
        _check_interval(self)
        _check_counts(self)
        if self.state is not State.MEASURED and not self.reason:
            msg = f"state is {self.state} without a reason; say why there is no number."
            raise InvalidReading(msg)
        if not self.blocks or not isinstance(self.blocks[0], Statement):
            msg = "the first block of a reading must be a Statement in plain words."
            raise InvalidReading(msg)

    @property
    def statement(self) -> str:
        """The finding in plain words."""
        first = self.blocks[0]
        return first.text if isinstance(first, Statement) else ""

    def summary(self) -> str:
        """The finding in one line for a person."""
        return self.statement

    def to_dict(self, *, max_items: int | None = INLINE_ITEMS) -> dict[str, Json]:
        """Plain JSON types.

        Parameters
        ----------
        max_items : int or None
            Items beyond this number are cut to the first thousand and ``truncated`` is true;
            None writes all of them.
        """
        longest = max(len(self.per_item), len(self.flagged.items))
        truncated = max_items is not None and longest > max_items
        keep = slice(INLINE_HEAD) if truncated else slice(None)
        out = {
            f.name: plain(getattr(self, f.name), f.name)
            for f in fields(self)
            if f.name not in {"per_item", "flagged", "blocks"}
        }
        out["statement"] = self.statement
        out["flagged"] = {
            "items": plain(self.flagged.items[keep], "flagged"),
            "n_items": len(self.flagged.items),
            "precision_floor": self.flagged.precision_floor,
            "recall_floor": self.flagged.recall_floor,
        }
        out["per_item"] = plain(self.per_item[keep], "per_item")
        out["truncated"] = truncated
        out["blocks"] = [
            {"block": type(b).__name__, **_as_dict(plain(b, "block"))} for b in self.blocks
        ]
        return out

    def to_json(self, *, indent: int | None = 2, max_items: int | None = INLINE_ITEMS) -> str:
        """Strict JSON text of `to_dict`."""
        return dumps(self.to_dict(max_items=max_items), indent=indent)

    def to_frame(self, backend: str = "pandas") -> Any:
        """All items as a data frame: item, state, reason, value and what the sensor adds.

        Parameters
        ----------
        backend : str
            ``"pandas"``, ``"polars"``, ``"pyarrow"``, ``"modin"`` or ``"cudf"``. Lists and
            objects are columns of JSON text.

        Raises
        ------
        InputError
            For another backend.
        MissingExtraError
            When it is not installed.
        """
        return frame_of(_columns(self.per_item), backend)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """All items as `to_frame` has them, for any library that reads Arrow's C stream.

        ``pyarrow.table(reading)``, ``polars.DataFrame(reading)`` and ``SELECT * FROM reading`` in
        DuckDB take it; nothing but DuckDB is needed to make it.

        Parameters
        ----------
        requested_schema : capsule, optional
            Of the protocol; what cannot be met is left as it is.

        Raises
        ------
        CannotSerialise
            For a text with half a character: Arrow is UTF-8.
        MissingExtraError
            When DuckDB is not installed.
        """
        return stream_of(_columns(self.per_item), kinds=_KINDS, requested_schema=requested_schema)

    def _repr_html_(self) -> str:
        """The reading as a notebook shows it: every block, long lists cut, all text escaped."""
        return html_of(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Json]) -> "Reading":
        """The reading that `to_dict` wrote.

        Raises
        ------
        InvalidReading
            When a field is missing or the parts contradict one another.
        """
        try:
            return _from_dict(data)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            if isinstance(error, InvalidReading):
                raise
            msg = (
                f"this object is no reading: {type(error).__name__} at {error}. "
                "Hand in an object that Reading.to_dict wrote."
            )
            raise InvalidReading(msg) from error


def _columns(items: Sequence[ItemReading]) -> dict[str, list[Json]]:
    """Items as columns: their own first, then what the sensor adds."""
    items = list(items)
    own: dict[str, list[Json]] = {
        "item": [i.item for i in items],
        "state": [i.state.value for i in items],
        "reason": [i.reason for i in items],
        "value": [i.value for i in items],
    }
    added = extra_columns([i.extra for i in items])
    return {**own, **{k: v for k, v in added.items() if k not in own}}


def _check_value(what: str, state: State, value: float | None) -> None:
    if (state is State.MEASURED) != (value is not None):
        msg = f"{what} is {state} with value {value!r}; a value stands there only when MEASURED."
        raise InvalidReading(msg)
    if value is not None and not math.isfinite(value):
        msg = f"{what} has the value {value!r}; use None and a state that says why."
        raise InvalidReading(msg)


def _check_interval(reading: Reading) -> None:
    low, high, value = reading.low, reading.high, reading.value
    for name, end in (("low", low), ("high", high)):
        if end is None:
            continue
        if value is None or not math.isfinite(end):
            msg = f"{name} is {end!r} in state {reading.state}; an interval needs a finite value."
            raise InvalidReading(msg)
    if value is not None and not (
        (low is None or low <= value) and (high is None or value <= high)
    ):
        msg = f"value {value!r} lies outside of [{low!r}, {high!r}]."
        raise InvalidReading(msg)
    if (low is not None or high is not None) and not reading.interval_kind:
        msg = "an interval without interval_kind; say what kind of statement it makes."
        raise InvalidReading(msg)


def _check_counts(reading: Reading) -> None:
    if not 0 <= reading.n_measured <= reading.n_items:
        msg = f"n_measured is {reading.n_measured} of n_items {reading.n_items}."
        raise InvalidReading(msg)
    if len(reading.per_item) > reading.n_items or len(reading.flagged.items) > reading.n_items:
        msg = (
            f"{len(reading.per_item)} items and {len(reading.flagged.items)} flagged ones in a "
            f"reading of {reading.n_items} items."
        )
        raise InvalidReading(msg)


def _from_dict(data: Mapping[str, Json]) -> Reading:
    flagged = _as_dict(data["flagged"])
    return Reading(
        sensor=str(data["sensor"]),
        direction=Direction(str(data["direction"])),
        state=State(str(data["state"])),
        reason=_optional_text(data["reason"]),
        value=_number(data["value"]),
        low=_number(data["low"]),
        high=_number(data["high"]),
        interval_kind=_optional_text(data["interval_kind"]),
        n_measured=_whole(data["n_measured"]),
        n_items=_whole(data["n_items"]),
        per_item=tuple(_item(_as_dict(i)) for i in _as_list(data["per_item"])),
        flagged=Flagged(
            tuple(str(i) for i in _as_list(flagged["items"])),
            _number(flagged["precision_floor"]),
            _number(flagged["recall_floor"]),
        ),
        details=_as_dict(data["details"]),
        blocks=tuple(_block(_as_dict(b)) for b in _as_list(data["blocks"])),
        fingerprint=_optional_text(data["fingerprint"]),
        versions={k: str(v) for k, v in _as_dict(data["versions"]).items()},
        seed=None if data["seed"] is None else _whole(data["seed"]),
        identity=_as_dict(data["identity"]),
    )


def _item(data: dict[str, Json]) -> ItemReading:
    return ItemReading(
        item=str(data["item"]),
        state=State(str(data["state"])),
        reason=_optional_text(data["reason"]),
        value=_number(data["value"]),
        extra=_as_dict(data["extra"]),
    )


def _block(data: dict[str, Json]) -> Block:
    name = str(data["block"])
    if name not in _BLOCKS:
        msg = f"no block is called {name!r}; known are {', '.join(sorted(_BLOCKS))}."
        raise InvalidReading(msg)
    rest = {k: v for k, v in data.items() if k != "block"}
    made: Block = _build(_BLOCKS[name], rest)  # type: ignore[assignment] # by name, checked above
    return made


def _build(cls: Callable[..., object], data: dict[str, Json]) -> object:
    nested = _NESTED.get(getattr(cls, "__name__", ""), {})
    values: dict[str, object] = {}
    for name, value in data.items():
        if cls is block_module.Table and name == "rows":
            values[name] = tuple(tuple(_cell(c) for c in _as_list(r)) for r in _as_list(value))
        elif name in nested and value is not None:
            values[name] = _objects(nested[name], value)
        else:
            values[name] = _frozen(value)
    return cls(**values)


def _objects(cls: type, value: Json) -> object:
    if isinstance(value, list):
        return tuple(_build(cls, _as_dict(v)) for v in value)
    return _build(cls, _as_dict(value))


def _cell(value: Json) -> object:
    return _build(block_module.Strip, value) if isinstance(value, dict) else _frozen(value)


def _frozen(value: Json) -> object:
    return tuple(_frozen(v) for v in value) if isinstance(value, list) else value


def _as_dict(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        msg = f"an object is wanted, {type(value).__name__} was given"
        raise TypeError(msg)
    return value


def _as_list(value: Json) -> list[Json]:
    if not isinstance(value, list):
        msg = f"a list is wanted, {type(value).__name__} was given"
        raise TypeError(msg)
    return value


def _optional_text(value: Json) -> str | None:
    return None if value is None else str(value)


def _number(value: Json) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        msg = f"a number or null is wanted, {value!r} was given"
        raise TypeError(msg)
    return float(value)


def _whole(value: Json) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        msg = f"a whole number is wanted, {value!r} was given"
        raise TypeError(msg)
    return value
