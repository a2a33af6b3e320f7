"""Conditions that an observer cannot tell apart, and how far their answers lie apart."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.contract import ItemReading, Reading, State
from trueness.contract.blocks import Block, Cell, Fact, Facts, Notes, Statement, Table
from trueness.contract.serial import Json
from trueness.sensors import atlas as sensor
from trueness.sensors.atlas import words
from trueness.sensors.atlas.draw import MAX_ROWS, cut
from trueness.sensors.atlas.figures import number
from trueness.sensors.atlas.params import Params
from trueness.stats.cloud_pairs import (
    MOVEMENTS,
    NOT_COMPARED,
    movements,
    pair_clouds,
    total_variation,
)
from trueness.stats.clouds import NONE, WRONG, Clouds
from trueness.stats.fibres import FibreCounts, Share, fibre_codes, fibre_counts, fibre_pairs
from trueness.stats.permutation import attainable_floor, permutation_p
from trueness.table import NULL, OUTCOMES, AnswerTable, Outcome

RECORDED = "for these recorded clouds; nothing is said about the laws that they were drawn from"
_ERROR, _ANSWERED = OUTCOMES.index(Outcome.ERROR), OUTCOMES.index(Outcome.ANSWERED)
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Every (item, condition) of a table: what was observed, and the cloud of its answers."""

    item: Ints
    condition: Ints
    observers: tuple[tuple[float, ...] | None, ...]
    clouds: Clouds

    @property
    def whole(self) -> NDArray[np.bool_]:
        """(n_cells,): an observer was recorded, one for all draws, and a draw came back."""
        seen = np.array([o is not None for o in self.observers], np.bool_)
        found: NDArray[np.bool_] = seen & (self.clouds.draws > 0)
        return found


def has_observers(table: AnswerTable) -> bool:
    """Whether numbers were recorded beside the answers of several conditions."""
    column = table.observer
    return column is not None and bool((column.codes != NULL).any()) and len(table.conditions) > 1


def fibre_search(table: AnswerTable, params: Params | None = None) -> Reading:
    """How often answers moved while the observer stood still, to the byte.

    Parameters
    ----------
    table : AnswerTable
        Several conditions, with the observer's numbers; the first condition is the baseline.
    params : Params or None
        ``level``, ``seed`` and ``replicates`` are used.

    Returns
    -------
    Reading
        ``value`` is the share of flat cells whose cloud moved, with its Clopper-Pearson interval;
        ``details["pairs"]`` every pair in one fibre, with half its distance: the least error of any
        estimator that reads only the observer. Exploratory: about recorded clouds.
    """
    params = params or Params()
    cells = _cells(table)
    counts = _counts(cells, level=params.level)
    pairs = _pairs(table, cells, params)
    state, reason = _state(cells, counts)
    moved = counts.moved
    measured = state is State.MEASURED
    return Reading(
        sensor=sensor.CONTRACT.sensor,
        direction=sensor.CONTRACT.direction,
        state=state,
        reason=reason,
        value=moved.count / moved.of if measured else None,
        low=moved.low if measured else None,
        high=moved.high if measured else None,
        interval_kind=f"Clopper-Pearson {100 * params.level:g}%" if measured else None,
        n_measured=moved.of if measured else 0,
        n_items=counts.n_cells,
        per_item=tuple(_item(pair) for pair in pairs[: counts.n_cells]),
        details=_details(counts, pairs),
        blocks=_blocks(state, reason, counts, pairs),
        seed=params.seed,
    )


def _cells(table: AnswerTable) -> Cells:
    width = len(table.condition.words)
    key = table.item.codes.astype(np.int64) * width + table.condition.codes
    cell, at = np.unique(key, return_inverse=True)
    came = table.outcome != _ERROR
    code = np.where(table.outcome == _ANSWERED, table.answer.codes, NULL).astype(np.int64)
    role = np.where(code == NULL, np.int8(NONE), np.int8(WRONG))
    weight = None if table.weight is None else table.weight[came]
    clouds = Clouds.of(at[came], code[came], role[came], n_items=len(cell), weight=weight)
    item, condition = np.divmod(cell, width)
    return Cells(item, condition, _observers(table, at, len(cell)), clouds)


def _observers(table: AnswerTable, at: Ints, n: int) -> tuple[tuple[float, ...] | None, ...]:
    """What was observed of each cell; None where nothing was, or its draws disagree."""
    column = table.observer
    if column is None:
        return (None,) * n
    low = np.full(n, np.iinfo(np.int64).max)
    high = np.full(n, NULL, np.int64)
    np.minimum.at(low, at, column.codes.astype(np.int64))
    np.maximum.at(high, at, column.codes.astype(np.int64))
    return tuple(
        column.words[int(h)] if h != NULL and l == h else None
        for l, h in zip(low.tolist(), high.tolist(), strict=True)  # noqa: E741 - low and high
    )


def _fibres(cells: Cells) -> Ints:
    """The fibre of every whole cell; -1 for the others. Observers of one length only."""
    whole = np.flatnonzero(cells.whole)
    code = np.full(len(cells.item), NULL, np.int64)
    lengths = {len(cells.observers[i] or ()) for i in whole.tolist()}
    start = 0
    for length in sorted(lengths):
        here = [i for i in whole.tolist() if len(cells.observers[i] or ()) == length]
        seen = np.array([cells.observers[i] for i in here], np.float64).reshape(len(here), length)
        found = fibre_codes(seen, item=cells.item[here])
        code[here] = found + start
        start += int(found.max()) + 1
    return code


def _counts(cells: Cells, *, level: float) -> FibreCounts:
    """Each cell against the baseline of its item."""
    fibre = _fibres(cells)
    base = {int(i): c for c, i in reversed(list(enumerate(cells.item.tolist())))}
    others = [c for c in range(len(cells.item)) if base[int(cells.item[c])] != c]
    before = np.array([base[int(cells.item[c])] for c in others], np.int64)
    after = np.array(others, np.int64)
    whole = cells.whole
    auditable = whole[before] & whole[after]
    moves = movements(pair_clouds(cells.clouds.take(before), cells.clouds.take(after)))
    moves = np.where(auditable, moves, NOT_COMPARED)
    flat = auditable & (fibre[before] == fibre[after])
    return fibre_counts(auditable, flat, moves, level=level)


@dataclass(frozen=True, slots=True)
class FibrePair:
    """Two conditions of one item that the observer cannot tell apart."""

    item: str
    conditions: tuple[str, str]
    tv: float
    movement: str
    p: float | None
    floor: float

    @property
    def error_floor(self) -> float:
        """Half the distance: no estimator from the observer alone errs by less on both."""
        return self.tv / 2


def _pairs(table: AnswerTable, cells: Cells, params: Params) -> list[FibrePair]:
    fibre = _fibres(cells)
    whole = np.flatnonzero(fibre != NULL)
    found = whole[fibre_pairs(fibre[whole])] if len(whole) else np.zeros((0, 2), np.int64)
    pairs = pair_clouds(cells.clouds.take(found[:, 0]), cells.clouds.take(found[:, 1]))
    rng = np.random.default_rng(params.seed)
    p = permutation_p(pairs, rng=rng, resplits=params.replicates).tv
    tv, moves, draws = total_variation(pairs), movements(pairs), cells.clouds.draws
    names, conditions = table.item.words, table.condition.words
    out = [
        FibrePair(
            item=str(names[int(cells.item[a])]),
            conditions=(
                str(conditions[int(cells.condition[a])]),
                str(conditions[int(cells.condition[b])]),
            ),
            tv=float(tv[i]),
            movement=MOVEMENTS[int(moves[i])],
            p=number(p[i]),
            floor=float(attainable_floor(int(draws[a]), int(draws[b]))),
        )
        for i, (a, b) in enumerate(found.tolist())
    ]
    return sorted(out, key=lambda pair: -pair.tv)


def _state(cells: Cells, counts: FibreCounts) -> tuple[State, str | None]:
    if not any(o is not None for o in cells.observers):
        return State.NOT_APPLICABLE, "no numbers of an observer were recorded beside the answers"
    if not counts.n_cells:
        return State.NOT_APPLICABLE, "no item has a second condition to compare its first with"
    if not counts.moved.of:
        return State.NO_EVIDENCE, "the observer moved in every condition: no fibre has two cells"
    return State.MEASURED, None


def _item(pair: FibrePair) -> ItemReading:
    extra: dict[str, Json] = {
        "conditions": list(pair.conditions),
        "movement": pair.movement,
        "p_tv": pair.p,
        "p_floor": pair.floor,
        "error_floor": pair.error_floor,
    }
    return ItemReading(pair.item, State.MEASURED, None, pair.tv, extra)


def _details(counts: FibreCounts, pairs: list[FibrePair]) -> dict[str, Json]:
    return {
        "n_cells": counts.n_cells,
        "auditable": counts.auditable,
        "incomplete": counts.incomplete,
        **{name: _share(getattr(counts, name)) for name in ("flat", "moved", "shape", "identity")},
        "n_pairs": len(pairs),
        "largest_tv": pairs[0].tv if pairs else None,
        "error_floor": pairs[0].error_floor if pairs else None,
        "status": "exploratory",
    }


def _share(share: Share) -> dict[str, Json]:
    return {"n": share.count, "of": share.of, "low": share.low, "high": share.high}


def _blocks(
    state: State, reason: str | None, counts: FibreCounts, pairs: list[FibrePair]
) -> tuple[Block, ...]:
    if state is not State.MEASURED:
        text = f"No fibre of the observer could be searched: {reason}."
        return (Statement(text, "problem"), _facts(counts))
    text = (
        f"Answers moved in {counts.moved.count} of {counts.moved.of} cells whose observer stood "
        f"still to the byte ({RECORDED})."
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            cut(pair.item),
            *map(cut, pair.conditions),
            round(pair.tv, 4),
            pair.movement,
            None if pair.p is None else round(pair.p, 4),
            round(pair.floor, 4),
            round(pair.error_floor, 4),
        )
        for pair in pairs[:MAX_ROWS]
    )
    columns = ("item", "one condition", "another", "TV", "movement", "p", "least p", "error floor")
    note = (
        "Error floor: half the distance. Any estimator that reads the observer alone errs by at "
        f"least so much on one of the two, {RECORDED}."
    )
    table = Table("Pairs in one fibre", columns, rows, len(pairs), note, per_item=True)
    blind = Notes("Exploratory", ("Observers that are near, not equal, are not searched.",))
    return Statement(text), _facts(counts), table, blind


def _facts(counts: FibreCounts) -> Facts:
    facts = [Fact("cells", str(counts.n_cells), "conditions beside the first, over all items")]
    facts.append(Fact("incomplete", str(counts.incomplete), "in no rate"))
    for name in ("flat", "moved", "shape", "identity"):
        share: Share = getattr(counts, name)
        ends = None if share.low is None or share.high is None else (share.low, share.high)
        facts.append(Fact(name, f"{share.count} of {share.of}", words.interval(ends)))
    return Facts("What became of the cells", tuple(facts))
