"""Conditions that an observer cannot tell apart, and how far their answers lie apart."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trueness.contract import ItemReading, Reading, State
from trueness.contract.serial import Json
from trueness.sensors import atlas as sensor
from trueness.sensors.atlas.fibre_cells import Cells, Ints
from trueness.sensors.atlas.fibre_truths import truths_of
from trueness.sensors.atlas.fibre_words import Search, blocks_of
from trueness.sensors.atlas.figures import number
from trueness.sensors.atlas.params import Params
from trueness.stats.cloud_pairs import (
    MOVEMENTS,
    NOT_COMPARED,
    CloudPairs,
    movements,
    pair_clouds,
    total_variation,
)
from trueness.stats.fibres import FibreCounts, Share, error_floor, fibre_counts, population_gap
from trueness.stats.multiplicity import holm
from trueness.stats.permutation import attainable_floor, permutation_p
from trueness.table import NULL, AnswerTable

_MOST_DRAWS = 64


def has_observers(table: AnswerTable) -> bool:
    """Whether numbers were recorded beside the answers of several conditions."""
    column = table.observer
    return column is not None and bool((column.codes != NULL).any()) and len(table.conditions) > 1


def fibre_search(table: AnswerTable, params: Params | None = None) -> Reading:
    """How often answers moved while the observer stood still.

    Parameters
    ----------
    table : AnswerTable
        Several conditions, with the observer's numbers; the first condition of an item is its
        baseline.
    params : Params or None
        ``near``, ``level``, ``seed`` and ``replicates`` are used.

    Returns
    -------
    Reading
        Without ``near``: ``value`` is the share of auditable cells, flat to the byte, whose cloud
        moved, with its Clopper-Pearson interval. With it: of the pairs of auditable cells of one
        item whose numbers lie within ``near`` the share that moved, without an interval, for
        pairs share cells. ``details["pairs"]`` counts, ``per_item`` holds the pairs, with half
        their distance: the least error of any estimator that reads only the observer.
        Exploratory, and about recorded clouds; only of the share of right draws a bound is given
        beyond them.
    """
    params = params or Params()
    cells = Cells.of(table)
    counts = _counts(cells, level=params.level)
    pairs = _pairs(table, cells, params)
    found = Search(
        counts=counts,
        pairs=tuple(pairs),
        near=params.near,
        nearest=cells.nearest() if not pairs else None,
        missing=_tally(cells),
        alpha=1 - params.level,
        needed=_needed(pairs, 1 - params.level),
        truths=truths_of(table, cells, params),
    )
    state, reason = _state(cells, found)
    measured = state is State.MEASURED
    moved = found.moved
    exact = measured and params.near is None
    return Reading(
        sensor=sensor.CONTRACT.sensor,
        direction=sensor.CONTRACT.direction,
        state=state,
        reason=reason,
        value=moved.count / moved.of if measured else None,
        low=moved.low if exact else None,
        high=moved.high if exact else None,
        interval_kind=f"Clopper-Pearson {100 * params.level:g}%" if exact else None,
        n_measured=moved.of if measured else 0,
        n_items=max(counts.n_cells, len(pairs)),
        per_item=tuple(map(_item, pairs)),
        details=_details(found),
        blocks=blocks_of(state, reason, found),
        seed=params.seed,
    )


def _counts(cells: Cells, *, level: float) -> FibreCounts:
    """Each cell against the baseline of its item."""
    fibre = cells.fibres
    base = {int(i): c for c, i in reversed(list(enumerate(cells.item.tolist())))}
    others = [c for c in range(len(cells.item)) if base[int(cells.item[c])] != c]
    before = np.array([base[int(cells.item[c])] for c in others], np.int64)
    after = np.array(others, np.int64)
    whole = cells.auditable
    auditable = whole[before] & whole[after]
    moves = movements(pair_clouds(cells.clouds.take(before), cells.clouds.take(after)))
    moves = np.where(auditable, moves, NOT_COMPARED)
    flat = auditable & (fibre[before] == fibre[after])
    return fibre_counts(auditable, flat, moves, level=level)


def _tally(cells: Cells) -> dict[str, int]:
    """In how many cells each part of the provenance is missing, the most frequent first."""
    found: dict[str, int] = {}
    for part in (part for missing in cells.missing for part in missing):
        found[part] = found.get(part, 0) + 1
    return dict(sorted(found.items(), key=lambda entry: -entry[1]))


@dataclass(frozen=True, slots=True)
class FibrePair:
    """Two conditions of one item that the observer cannot tell apart.

    ``p`` and ``p_holm`` are None where draws are not drawn; ``rights`` are the shares of right
    draws, ``gap`` how far they lie apart at least beyond these draws; None where unknown.
    """

    item: str
    conditions: tuple[str, str]
    auditable: bool
    distance: float
    tv: float
    movement: str
    draws: tuple[int, int]
    p: float | None
    floor: float
    p_holm: float | None = None
    rights: tuple[float, float] | None = None
    gap: float | None = None

    @property
    def error_floor(self) -> float:
        """Half the distance: no estimator from the observer alone errs by less on both."""
        return error_floor(self.tv)


def _pairs(table: AnswerTable, cells: Cells, params: Params) -> list[FibrePair]:
    at = cells.pairs(params.near)
    clouds = pair_clouds(cells.clouds.take(at[:, 0]), cells.clouds.take(at[:, 1]))
    p = _permutation(cells, at, clouds, params)
    adjusted = iter(holm([x for x in p if x is not None]))
    tv, moves, draws = total_variation(clouds), movements(clouds), cells.clouds.draws
    distance, whole = cells.distance(at), cells.auditable
    names, conditions = table.item.words, table.condition.words
    out = [
        FibrePair(
            item=str(names[int(cells.item[a])]),
            conditions=(
                str(conditions[int(cells.condition[a])]),
                str(conditions[int(cells.condition[b])]),
            ),
            auditable=bool(whole[a] and whole[b]),
            distance=float(distance[i]),
            tv=float(tv[i]),
            movement=MOVEMENTS[int(moves[i])],
            draws=(int(draws[a]), int(draws[b])),
            p=p[i],
            floor=float(attainable_floor(int(draws[a]), int(draws[b]))),
            p_holm=None if p[i] is None else float(next(adjusted)),
            rights=_rights(cells, a, b),
            gap=_gap(cells, (a, b), len(at), params),
        )
        for i, (a, b) in enumerate(at.tolist())
    ]
    return sorted(out, key=lambda pair: (not pair.auditable, -pair.tv, pair.distance))


def _permutation(cells: Cells, at: Ints, clouds: CloudPairs, params: Params) -> list[float | None]:
    """The permutation p of every pair; None where a cloud is one greedy answer many times."""
    rng = np.random.default_rng(params.seed)
    found = permutation_p(clouds, rng=rng, resplits=params.replicates).tv
    drawn = [all(cells.drawn[c] for c in pair) for pair in at.tolist()]
    return [number(p) if d else None for p, d in zip(found, drawn, strict=True)]


def _rights(cells: Cells, a: int, b: int) -> tuple[float, float] | None:
    if min(cells.right[a], cells.right[b]) < 0:
        return None
    one, two = (float(cells.right[c] / cells.clouds.draws[c]) for c in (a, b))
    return one, two


def _gap(cells: Cells, pair: tuple[int, int], n_pairs: int, params: Params) -> float | None:
    """Least distance of the shares of right draws beyond the recorded ones."""
    if min(cells.right[c] for c in pair) < 0 or not all(cells.drawn[c] for c in pair):
        return None
    one, two = ((int(cells.right[c]), int(cells.clouds.draws[c])) for c in pair)
    return population_gap(one, two, n_pairs=n_pairs, alpha=1 - params.level)


def _needed(pairs: Sequence[FibrePair], alpha: float) -> int | None:
    """Draws a cell from which so many pairs can be told from chance; None beyond sense."""
    for k in range(1, _MOST_DRAWS + 1):
        if len(pairs) * float(attainable_floor(k, k)) <= alpha:
            return k
    return None


def _state(cells: Cells, found: Search) -> tuple[State, str | None]:
    if not any(o is not None for o in cells.observers):
        return State.NOT_APPLICABLE, "no numbers of an observer were recorded beside the answers"
    if not found.counts.n_cells:
        return State.NOT_APPLICABLE, "no item has a second condition to compare its first with"
    if found.moved.of:
        return State.MEASURED, None
    if found.pairs:
        lacking = next(iter(found.missing), "its provenance")
        return State.NO_EVIDENCE, f"no pair can be audited: {lacking} is missing"
    if found.near is None:
        return State.NO_EVIDENCE, "the observer moved in every condition: no fibre has two cells"
    return State.NO_EVIDENCE, f"no two conditions of an item are nearer than {found.near:g}"


def _item(pair: FibrePair) -> ItemReading:
    extra: dict[str, Json] = {
        "conditions": list(pair.conditions),
        "distance": pair.distance,
        "auditable": pair.auditable,
        "movement": pair.movement,
        "p_tv": pair.p,
        "p_holm": pair.p_holm,
        "p_floor": pair.floor,
        "error_floor": pair.error_floor,
        "right_shares": None if pair.rights is None else list(pair.rights),
        "right_gap_beyond_draws": pair.gap,
    }
    return ItemReading(pair.item, State.MEASURED, None, pair.tv, extra)


def _details(found: Search) -> dict[str, Json]:
    counts, first = found.counts, found.pairs[0] if found.pairs else None
    return {
        "n_cells": counts.n_cells,
        "auditable": counts.auditable,
        "incomplete": counts.incomplete,
        **{name: _share(getattr(counts, name)) for name in ("flat", "moved", "shape", "identity")},
        "near": found.near,
        "nearest": found.nearest,
        "n_pairs": len(found.pairs),
        "n_pairs_moved": found.moved.count if found.near is not None else None,
        "n_told_from_chance": found.n_told,
        "can_tell_from_chance": found.can_tell,
        "draws_needed": found.needed,
        "items": found.truths.to_dict(),
        "missing": dict[str, Json](found.missing),
        "largest_tv": first.tv if first else None,
        "error_floor": first.error_floor if first else None,
        "status": "exploratory",
    }


def _share(share: Share) -> dict[str, Json]:
    return {"n": share.count, "of": share.of, "low": share.low, "high": share.high}
