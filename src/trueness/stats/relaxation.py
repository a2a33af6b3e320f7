"""Cheap upper bounds on the number of right slots: sound, possibly above the maximum."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trueness.stats.capacity import errors_with_lower_limits
from trueness.stats.edges import Edges, build, joker_weights, rank_within
from trueness.stats.votes import Limits, Votes

Ints = NDArray[np.int64]


def relaxed_by_component(edges: Edges) -> Ints:
    r"""Upper bound on the right slots of each component.

    :math:`\min(\sum_a` the cap(a) largest votes, :math:`\sum_e` the r(e) largest votes).
    """
    by_col = rank_within(edges.col, edges.weight) < edges.cap[edges.col]
    by_row = rank_within(edges.row, edges.weight) < edges.allowed_rows[edges.row]
    return np.minimum(edges.total(edges.weight * by_col), edges.total(edges.weight * by_row))


def relaxed_right(votes: Votes, limits: Limits, *, by_component: bool = True) -> int:
    """Upper bound on the right slots without any matching, slack included.

    Parameters
    ----------
    votes, limits : Votes, Limits
        Lower limits are not used.
    by_component : bool
        Take the lesser of rows and columns in each component, not once for the whole table.

    Examples
    --------
    >>> votes = Votes.of(3, 3, [0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 2])
    >>> limits = Limits(np.ones(3, dtype=np.int64))
    >>> relaxed_right(votes, limits), relaxed_right(votes, limits, by_component=False)
    (3, 4)
    """
    limits = limits.without_lower()
    edges = build(votes, limits, max_fill=0).edges
    if by_component:
        bound = int(relaxed_by_component(edges).sum())
    else:
        by_col = rank_within(edges.col, edges.weight) < edges.cap[edges.col]
        by_row = rank_within(edges.row, edges.weight) < edges.allowed_rows[edges.row]
        bound = min(int(edges.weight[by_col].sum()), int(edges.weight[by_row].sum()))
    jokers = np.sort(np.maximum(joker_weights(votes, limits), 0))[::-1][: limits.slack]
    return min(bound + int(jokers.sum()), votes.n_slots)


def column_errors(columns: Sequence[Votes], limits: Limits) -> int:
    """Sum of the single-column certificates, each with the same slack.

    Parameters
    ----------
    columns : sequence of Votes
        One for each column, over the same codes. Lower limits count only in a column where
        no entity has two slots: not in an inverse column.
    limits : Limits
    """
    return sum(_one_column(column, limits) for column in columns)


def simple_floor(votes: Votes, limits: Limits) -> int:
    r"""Certified errors of one column from candidates and capacities alone, no system sought.

    :math:`N - \sum_a \min(cap(a), \#\{e: f(e) = a \in K(e)\})`, slots that are barred included
    in N. Never above the exact certificate of the same column; slack 0.
    """
    edges = build(votes, limits.without_lower(), max_fill=0).edges
    by_col = rank_within(edges.col, edges.weight) < edges.cap[edges.col]
    return votes.n_slots - int(edges.weight[by_col].sum())


def _one_column(column: Votes, limits: Limits) -> int:
    upper = column.n_slots - relaxed_right(column, limits)
    slots = np.bincount(column.entity, column.count + column.barred, column.n_entities)
    if limits.lower is None or (slots > 1).any():
        return upper
    counts = np.bincount(column.answer, column.count, column.n_answers).astype(np.int64)
    missing = int((slots[: column.n_declared] == 0).sum())
    barred = int(column.barred.sum())
    two_sided = errors_with_lower_limits(
        counts, limits.upper, limits.lower, n_barred=barred, n_missing=missing
    )
    return max(upper, two_sided)
