"""The edges of the transport problem: which pairs may be right, and what must be filled."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from trueness.stats.votes import Limits, Votes

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Edges:
    """A transport problem in components: rows are entities, columns are answers.

    ``col`` is private to its edge where an answer can serve all who want it: such an answer
    ties nobody together. ``must`` rows and ``required`` copies of columns have to be filled;
    only ``helps`` edges fill a required copy.
    """

    row: Ints
    col: Ints
    answer: Ints
    weight: Ints
    helps: Bools
    component: Ints
    n_components: int
    allowed_rows: Ints
    must: Bools
    cap: Ints
    required: Ints

    def total(self, values: Ints) -> Ints:
        """Sum of one value for each edge, by component."""
        out = np.zeros(self.n_components, dtype=np.int64)
        np.add.at(out, self.component, values)
        return out


@dataclass(frozen=True, slots=True)
class Build:
    """Edges, and whether they hold every assumption of the declaration."""

    edges: Edges
    complete: bool


def build(votes: Votes, limits: Limits, *, max_fill: int) -> Build:
    """Edges of the problem; fill edges beyond ``max_fill`` are left out, which is sound.

    Voted pairs carry their count. Pairs nobody said are added with weight 0 where a row or a
    column must be filled: candidates, closed lists that hold a barred answer, lower limits. A
    closed row without either needs none: with enough capacity in total it can be placed last.
    """
    fill, must, complete = _fill_pairs(votes, limits, max_fill)
    voted = votes.count > 0
    codes = np.concatenate([votes.pair_codes[voted], fill])
    weight = np.concatenate([votes.count[voted], np.zeros(len(fill), dtype=np.int64)])
    codes, first = np.unique(codes, return_index=True)  # votes stand first: they keep their weight
    weight = weight[first]
    keep = _may_be_right(codes, votes, limits)
    codes, weight = codes[keep], weight[keep]
    row, answer = np.divmod(codes, max(votes.n_answers, 1))
    lower = _lower(votes, limits) if complete else np.zeros(votes.n_answers, dtype=np.int64)
    spare = _spare_outside(votes, limits)
    if spare:
        outside = np.arange(votes.n_declared, votes.n_entities)
        row = np.concatenate([row, outside])
        answer = np.concatenate([answer, np.full(len(outside), votes.n_answers)])
        weight = np.concatenate([weight, np.zeros(len(outside), dtype=np.int64)])
    upper, lower = np.append(limits.upper, spare), np.append(lower, spare)
    helps = (row < votes.n_declared) | (answer == votes.n_answers)
    return Build(
        _connect(votes, limits, (row, answer, weight, helps), (upper, lower, must)), complete
    )


def joker_weights(votes: Votes, limits: Limits) -> Ints:
    """Right slots of each entity when it is exempt: its r(e) best pairs, echo and filler too.

    An exempt entity keeps its candidates; -1 where it has none and cannot be exempt.
    """
    weight = votes.count + votes.barred
    keep = weight > 0
    keep[keep] = _is_candidate(votes.pair_codes[keep], votes, limits)
    row, weight = votes.entity[keep], weight[keep]
    chosen = rank_within(row, weight) < limits.rows(votes.n_entities)[row]
    out = np.zeros(votes.n_entities, dtype=np.int64)
    np.add.at(out, row[chosen], weight[chosen])
    if limits.candidates is not None and limits.single:
        out[limits.candidates.limited & (np.diff(limits.candidates.starts) == 0)] = -1
    return out


def exempt_pairs(votes: Votes, limits: Limits, exempt: Bools) -> tuple[Ints, Ints]:
    """The pairs an exempt entity takes in the witness: those of its joker weight."""
    weight = votes.count + votes.barred
    keep = (weight > 0) & exempt[votes.entity]
    keep[keep] = _is_candidate(votes.pair_codes[keep], votes, limits)
    row, answer, weight = votes.entity[keep], votes.answer[keep], weight[keep]
    chosen = rank_within(row, weight) < limits.rows(votes.n_entities)[row]
    row, answer = row[chosen], answer[chosen]
    if limits.candidates is not None:  # exempt only to be placed: any candidate will do
        owner, choice = limits.candidates.pairs()
        open_ = exempt[owner] & ~np.isin(owner, row)
        owner, first = np.unique(owner[open_], return_index=True)
        row = np.concatenate([row, owner])
        answer = np.concatenate([answer, choice[open_][first]])
    return row, answer


def rank_within(group: Ints, weight: Ints) -> Ints:
    """Place of each entry in its group, heaviest first, ties in input order."""
    order = np.lexsort((-weight, group))
    ranked = group[order]
    starts = np.flatnonzero(np.diff(ranked, prepend=-1))
    sizes = np.diff(starts, append=len(ranked))
    rank = np.empty(len(group), dtype=np.int64)
    rank[order] = np.arange(len(group)) - np.repeat(starts, sizes)
    return rank


def _fill_pairs(votes: Votes, limits: Limits, max_fill: int) -> tuple[Ints, Bools, bool]:
    must = np.zeros(votes.n_entities, dtype=bool)
    parts: list[Ints] = []
    complete = True
    if not limits.single:
        return np.zeros(0, dtype=np.int64), must, complete
    if limits.candidates is not None:
        owner, choice = limits.candidates.pairs()
        parts.append(owner * votes.n_answers + choice)
        must |= limits.candidates.limited
    listed = np.flatnonzero(limits.upper > 0)
    tied = _rows_with_a_barred_answer(votes, limits) if limits.closed else np.zeros(0, np.int64)
    if len(tied) * len(listed) <= max_fill:
        parts.append((tied[:, None] * votes.n_answers + listed).ravel())
        must[tied] = True
    else:
        complete = False
    if limits.lower is not None:
        wanted = np.flatnonzero(limits.lower)
        if votes.n_declared * len(wanted) <= max_fill:
            owners = np.arange(votes.n_declared)
            parts.append((owners[:, None] * votes.n_answers + wanted).ravel())
        else:
            complete = False
    must[votes.n_declared :] = False
    return np.concatenate([np.zeros(0, np.int64), *parts]), must, complete


def _rows_with_a_barred_answer(votes: Votes, limits: Limits) -> Ints:
    row, answer = np.divmod(_barred_codes(votes, limits), max(votes.n_answers, 1))
    tied = (limits.upper[answer] > 0) & (row < votes.n_declared)
    if limits.candidates is not None:
        tied &= ~limits.candidates.limited[row]
    return np.unique(row[tied])


def _barred_codes(votes: Votes, limits: Limits) -> Ints:
    said: Ints = votes.pair_codes[(votes.barred > 0) & (votes.count == 0)]
    if limits.barred_pairs is None or len(limits.barred_pairs) == 0:
        return said
    pairs = np.asarray(limits.barred_pairs, dtype=np.int64)
    codes: Ints = np.union1d(said, pairs[:, 0] * votes.n_answers + pairs[:, 1])
    return codes


def _may_be_right(codes: Ints, votes: Votes, limits: Limits) -> Bools:
    allowed = limits.upper[codes % max(votes.n_answers, 1)] > 0
    allowed &= ~np.isin(codes, _barred_codes(votes, limits))
    allowed &= _is_candidate(codes, votes, limits)
    return allowed


def _is_candidate(codes: Ints, votes: Votes, limits: Limits) -> Bools:
    if limits.candidates is None:
        return np.ones(len(codes), dtype=bool)
    owner, choice = limits.candidates.pairs()
    free = ~limits.candidates.limited[codes // max(votes.n_answers, 1)]
    return free | np.isin(codes, owner * votes.n_answers + choice)


def _lower(votes: Votes, limits: Limits) -> Ints:
    return np.zeros(votes.n_answers, dtype=np.int64) if limits.lower is None else limits.lower


def _spare_outside(votes: Votes, limits: Limits) -> int:
    """How many outside owners must own nothing so that every declared entity can be placed."""
    total = limits.capacity_in_total()
    if not (votes.n_outside and limits.closed and limits.single) or total is None:
        return 0
    allowance = max(0, total - votes.n_declared + limits.slack)
    return max(0, votes.n_outside - allowance)


def _connect(
    votes: Votes,
    limits: Limits,
    pairs: tuple[Ints, Ints, Ints, Bools],
    bounds: tuple[Ints, Ints, Bools],
) -> Edges:
    row, answer, weight, helps = pairs
    upper, lower, must = bounds
    degree = np.bincount(answer, minlength=len(upper))
    ties = (upper < degree) | (lower > 0)
    col = np.where(ties[answer], answer, len(upper) + np.arange(len(answer)))
    names, col = np.unique(col, return_inverse=True)
    shared = names < len(upper)
    cap = np.ones(len(names), dtype=np.int64)
    required = np.zeros(len(names), dtype=np.int64)
    cap[shared] = np.maximum(np.minimum(upper, degree), lower)[names[shared]]
    required[shared] = lower[names[shared]]
    n_rows = votes.n_entities
    size = n_rows + len(names)
    graph = coo_array((np.ones(len(row), np.int8), (row, n_rows + col)), shape=(size, size))
    _, label = connected_components(graph, directed=False)
    used, component = np.unique(label[row], return_inverse=True)
    return Edges(
        row=row,
        col=col,
        answer=answer,
        weight=weight,
        helps=helps,
        component=component.astype(np.int64),
        n_components=len(used),
        allowed_rows=limits.rows(n_rows),
        must=must,
        cap=cap,
        required=required,
    )
