"""Increasing and decreasing relations: the heaviest chain of answers that fit one order."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.rationals import Exact, Number, rational, rational_table

_Slots = list[list[Exact | None]]


@dataclass(frozen=True, slots=True)
class Chain:
    """The most answers that one monotone truth makes right, and what follows from it."""

    n_answered: int
    max_right: int
    chosen: tuple[Exact | None, ...]
    """Witness truth: the value of each entity; ``None`` is any other value that fits."""
    no_value_count: int
    """Answered slots that are no number, or a fraction where whole numbers are declared."""
    outside_count: int
    """Answered slots whose number no truth within the limits can have at that place."""
    withheld: NDArray[np.bool_]
    """(n_entities, n_columns): slots that contradict another, and those never right."""

    @property
    def certified_errors(self) -> int:
        """At least this many answers are wrong."""
        return self.n_answered - self.max_right


@dataclass(frozen=True, slots=True)
class Monotone:
    """What is declared about the true values, in the order of the entities.

    Parameters
    ----------
    integer : bool
        True values are whole numbers.
    strict : bool
        No two entities share a value.
    low, high : int, Fraction or Decimal, optional
        Least and largest possible value, both possible themselves.
    decreasing : bool
        Values fall along the order instead of rising.
    """

    integer: bool = False
    strict: bool = True
    low: Number | None = None
    high: Number | None = None
    decreasing: bool = False


def why_no_chain(n_entities: int, declared: Monotone) -> str | None:
    """Why no truth at all fits the declaration; ``None`` when one does.

    Raises
    ------
    InputError
        If a limit is not a finite exact number.

    Examples
    --------
    >>> why_no_chain(3, Monotone(integer=True, low=1, high=2))
    '3 entities need 3 different whole values and only 2 lie between the limits'
    >>> why_no_chain(2, Monotone(integer=True, low=1, high=2)) is None
    True
    """
    low, high = _limits(declared)
    if low is None or high is None:
        return None
    if low > high:
        return f"the lowest value {low} lies above the highest value {high}"
    if declared.integer:
        available = max(0, floor(high) - ceil(low) + 1)
        if available == 0:
            return f"no whole value lies between {low} and {high}"
        if declared.strict and available < n_entities:
            return (
                f"{n_entities} entities need {n_entities} different whole values and only "
                f"{available} lie between the limits"
            )
    elif declared.strict and low == high and n_entities > 1:
        return f"{n_entities} entities need different values and only {low} lies between the limits"
    return None


def heaviest_chain(
    values: Sequence[Sequence[Number | None]],
    declared: Monotone | None = None,
    *,
    answered: NDArray[np.bool_] | None = None,
) -> Chain:
    """The most slots that one monotone truth makes right: exact, in O(N log N).

    One column of strict real values: the longest strictly increasing subsequence. Whole values:
    the longest non-decreasing subsequence of value minus rank, the rank counted among *all*
    entities. Several columns: the heaviest chain that takes at most one value an entity.

    Parameters
    ----------
    values : (n_entities, n_columns) of int, Fraction, Decimal or None
        In the declared order of the entities. ``None`` is an answer that is never right, or no
        answer.
    declared : Monotone, optional
        Strict, real, increasing and without limits by default.
    answered : (n_entities, n_columns) bool, optional
        Which slots were answered; all by default.

    Returns
    -------
    Chain

    Raises
    ------
    InputError
        If a value is no exact number, or no truth fits the declaration.
    ShapeError
        If the rows or ``answered`` do not fit together.

    Examples
    --------
    >>> chain = heaviest_chain([[5], [1], [4], [2], [3]])
    >>> chain.max_right, chain.certified_errors, chain.chosen
    (3, 2, (None, 1, None, 2, 3))
    """
    declared = declared or Monotone()
    slots, counted = _slots(values, answered)
    reason = why_no_chain(len(slots), declared)
    if reason is not None:
        msg = (
            f"the declared values are impossible: {reason}. "
            "Correct the limits or the list of entities."
        )
        raise InputError(msg)
    if declared.decreasing:  # the order reversed
        slots, counted = slots[::-1], counted[::-1]
    numbers = [[v if _is_value(v, declared) else None for v in row] for row in slots]
    keys = _keys(numbers, declared)
    best, picked = _heaviest(_ranked(keys, counted), ties=not _ties_conflict(declared))
    chosen = [_value_of(key, e, declared) for e, key in enumerate(_unranked(keys, picked, counted))]
    withheld = counted & _conflicting(keys, counted, declared)
    missing_values = _absent(numbers) & counted
    return Chain(
        n_answered=int(counted.sum()),
        max_right=best,
        chosen=tuple(chosen[::-1] if declared.decreasing else chosen),
        no_value_count=int(missing_values.sum()),
        outside_count=int((_absent(keys) & counted).sum() - missing_values.sum()),
        withheld=withheld[::-1].copy() if declared.decreasing else withheld,
    )


def _slots(
    values: Sequence[Sequence[Number | None]], answered: NDArray[np.bool_] | None
) -> tuple[_Slots, NDArray[np.bool_]]:
    slots = rational_table(values)
    shape = (len(slots), len(slots[0]) if slots else 0)
    counted = np.ones(shape, dtype=np.bool_) if answered is None else answered
    if counted.shape != shape:
        msg = (
            f"answered has shape {counted.shape} and values has shape {shape}; "
            "they must be equal. Pass one truth value a slot."
        )
        raise ShapeError(msg)
    return slots, counted


def _limits(declared: Monotone) -> tuple[Exact | None, Exact | None]:
    low = None if declared.low is None else rational(declared.low, "low")
    high = None if declared.high is None else rational(declared.high, "high")
    return low, high


def _is_value(value: Exact | None, declared: Monotone) -> bool:
    return value is not None and (isinstance(value, int) or not declared.integer)


def _ties_conflict(declared: Monotone) -> bool:
    """Whether equal *keys* contradict: whole strict values are compared after the rank is off."""
    return declared.strict and not declared.integer


def _keys(numbers: _Slots, declared: Monotone) -> _Slots:
    """What must rise along the order; ``None`` where the value is never right."""
    low, high = _limits(declared)
    last = len(numbers) - 1
    spaced = declared.integer and declared.strict
    ends_taken = declared.strict and not declared.integer

    def key(e: int, value: Exact | None) -> Exact | None:
        if value is None:
            return None
        least = low if low is None or not spaced else low + e
        most = high if high is None or not spaced else high - (last - e)
        if least is not None and (value < least or (value == least and ends_taken and e > 0)):
            return None
        if most is not None and (value > most or (value == most and ends_taken and e < last)):
            return None
        return value - e if spaced else value

    return [[key(e, v) for v in row] for e, row in enumerate(numbers)]


def _value_of(key: Exact | None, e: int, declared: Monotone) -> Exact | None:
    return key + e if key is not None and declared.integer and declared.strict else key


def _order(keys: _Slots, counted: NDArray[np.bool_]) -> dict[Exact, int]:
    """Distinct usable keys to ranks from 1."""
    used = {
        k
        for row, take in zip(keys, counted.tolist(), strict=True)
        for k, c in zip(row, take, strict=True)
        if c and k is not None
    }
    return {k: i for i, k in enumerate(sorted(used), start=1)}


def _ranked(keys: _Slots, counted: NDArray[np.bool_]) -> tuple[list[dict[int, int]], int]:
    """Per entity its ranks with their votes, and the number of ranks."""
    order = _order(keys, counted)
    votes: list[dict[int, int]] = []
    for row, take in zip(keys, counted.tolist(), strict=True):
        here: dict[int, int] = {}
        for k, c in zip(row, take, strict=True):
            if c and k is not None:
                here[order[k]] = here.get(order[k], 0) + 1
        votes.append(here)
    return votes, len(order)


def _unranked(
    keys: _Slots, picked: list[int | None], counted: NDArray[np.bool_]
) -> list[Exact | None]:
    names = list(_order(keys, counted))
    return [None if rank is None else names[rank - 1] for rank in picked]


def _heaviest(
    ranked: tuple[list[dict[int, int]], int], *, ties: bool
) -> tuple[int, list[int | None]]:
    """Heaviest chain by a Fenwick tree of prefix maxima; each entity's updates go in together."""
    votes, size = ranked
    weight, last = [0] * (size + 1), [-1] * (size + 1)  # node of the best chain in each cell
    nodes: list[tuple[int, int, int]] = []  # entity, rank, node before it
    for e, here in enumerate(votes):
        found = [(r, w, *_prefix(weight, last, r if ties else r - 1)) for r, w in here.items()]
        for r, w, before, node in found:
            nodes.append((e, r, node))
            _raise_to(weight, last, r, (before + w, len(nodes) - 1))
    best, node = _prefix(weight, last, size)
    picked: list[int | None] = [None] * len(votes)
    while node >= 0:
        e, r, node = nodes[node]
        picked[e] = r
    return best, picked


def _prefix(weight: list[int], last: list[int], rank: int) -> tuple[int, int]:
    best, node = 0, -1
    while rank > 0:
        if weight[rank] > best:
            best, node = weight[rank], last[rank]
        rank &= rank - 1
    return best, node


def _raise_to(weight: list[int], last: list[int], rank: int, new: tuple[int, int]) -> None:
    """A cell at least as heavy ends the walk: every later cell covers it."""
    while rank < len(weight) and weight[rank] < new[0]:
        weight[rank], last[rank] = new
        rank += rank & -rank


def _absent(table: _Slots) -> NDArray[np.bool_]:
    width = len(table[0]) if table else 0
    return np.array([[k is None for k in row] for row in table], dtype=np.bool_).reshape(
        len(table), width
    )


def _conflicting(keys: _Slots, counted: NDArray[np.bool_], declared: Monotone) -> NDArray[np.bool_]:
    """Slots never right, or not right together with some other slot."""
    order = _order(keys, counted)
    rank = np.array(
        [[order.get(k, 0) if k is not None else 0 for k in row] for row in keys], dtype=np.int64
    ).reshape(counted.shape)
    rank *= counted
    never = np.asarray(rank == 0, dtype=np.bool_)
    if not len(rank):
        return never
    above = np.where(never, np.iinfo(np.int64).max, rank).min(axis=1, initial=len(order) + 1)
    below = rank.max(axis=1, initial=0)
    before = np.append(0, np.maximum.accumulate(below)[:-1])[:, None]
    after = np.append(np.minimum.accumulate(above[::-1])[::-1][1:], len(order) + 1)[:, None]
    mixed = (below > above)[:, None]
    near = 0 if _ties_conflict(declared) else 1  # equal keys contradict, or only unequal ones
    clash = (before >= rank + near) | (after <= rank - near)
    return np.asarray(never | mixed | clash, dtype=np.bool_)
