"""How many answered slots can be right at once under a declaration, and who would be right.

With W[e, a] the slots of entity e with answer a and R a truth the declaration allows, the right
slots number Σ_e W[e, R(e)]. At least N − max_R Σ_e W[e, R(e)] are wrong, and no larger number
follows from the declaration. The maximum is a transport problem; its maximiser is the witness.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.stats.problem import Problem
from trueness.stats.relaxation import column_errors
from trueness.stats.transport_result import TransportResult
from trueness.stats.votes import Limits, Votes

Ints = NDArray[np.int64]
Kind = Literal["exact", "relaxation"]

WITNESSED_ENTITIES = 200


def most_right(
    votes: Votes,
    limits: Limits,
    *,
    kind: Kind = "exact",
    max_exact_edges: int = 200_000,
    columns: Sequence[Votes] | None = None,
) -> TransportResult:
    """The most answered slots that can be right under the limits.

    Parameters
    ----------
    votes : Votes
    limits : Limits
    kind : "exact" or "relaxation"
        Relaxation bounds every component without matching.
    max_exact_edges : int
        Components with more edges are bounded instead of solved.
    columns : sequence of Votes or None
        The votes of each column. A bound that is not exact is then never weaker than the sum of
        the single columns.

    Raises
    ------
    InputError
        When votes and limits do not fit, or for an unknown kind.

    Examples
    --------
    Two entities swapped between two wordings: each column alone proves nothing.

    >>> votes = Votes.of(2, 2, [0, 1, 0, 1], [0, 1, 1, 0])
    >>> found = most_right(votes, Limits(np.ones(2, dtype=np.int64)))
    >>> found.certified_errors, found.exact
    (2, True)
    """
    if kind not in ("exact", "relaxation"):
        msg = f"kind is {kind!r}; give 'exact' or 'relaxation'."
        raise InputError(msg)
    limits.check(votes)
    ceiling = max_exact_edges if kind == "exact" else -1
    plain = Problem.of(votes, limits.without_lower(), ceiling)
    found = plain.solve()
    if limits.lower is not None and found.feasible:
        bounded = Problem.of(votes, limits, ceiling).solve()
        bounded = replace(
            bounded,
            pair_component=found.pair_component,
            component_errors=found.component_errors,
        )
        found = bounded
    if columns is not None and not found.exact and found.feasible:
        found = replace(
            found, right=min(found.right, votes.n_slots - column_errors(columns, limits))
        )
    return found


def guaranteed_wrong(
    votes: Votes, limits: Limits, count: Ints, barred: Ints, *, kind: Kind = "exact"
) -> int:
    """Certified errors g(S) of a set S of slots: at least so many of them are wrong.

    Upper limits, candidates and slack survive the restriction; lower limits are dropped.

    Parameters
    ----------
    votes, limits : Votes, Limits
    count, barred : (n_pairs,) int
        How many slots of each pair are in S.
    kind : "exact" or "relaxation"
    """
    if (count > votes.count).any() or (barred > votes.barred).any():
        msg = "a pair keeps more slots than it has; count and barred must not exceed the votes."
        raise InputError(msg)
    kept = votes.keep(count, barred)
    return most_right(kept, limits.without_lower(), kind=kind).certified_errors


def break_even_slack(votes: Votes, limits: Limits, *, max_exact_edges: int = 200_000) -> int | None:
    """The smallest slack that leaves no certified error; ``None`` where none does.

    It is ``None`` with lower limits, and where errors remain even if every entity is exempt.
    Where the certificate of the same votes is a relaxation, so is this number.
    """
    limits.check(votes)
    if limits.lower is not None:
        return None
    if limits.single:
        problem = Problem.of(votes, limits, max_exact_edges)
        if problem.dead_whatever_slack():
            return None
        return _least_for_total(problem)
    return _bisect(votes, limits, max_exact_edges)


def witness_is_unique(votes: Votes, limits: Limits, found: TransportResult) -> bool | None:
    """Whether only one choice of right slots attains the maximum.

    ``None`` above 200 entities and where the result is not exact. Each right pair of the witness
    is taken away in turn: another best choice misses one of them.
    """
    if votes.n_entities > WITNESSED_ENTITIES or not (found.exact and found.feasible):
        return None
    right = set((found.entity * votes.n_answers + found.answer).tolist())
    for pair, code in enumerate(votes.pair_codes.tolist()):
        if code in right and votes.count[pair] + votes.barred[pair] > 0:
            count, barred = votes.count.copy(), votes.barred.copy()
            count[pair] = 0
            barred[pair] = 0
            if most_right(votes.keep(count, barred), limits).right == found.right:
                return False
    return True


def _least_for_total(problem: Problem) -> int | None:
    least = problem.exempting().fewest_for_all(problem.votes.n_slots)
    total = problem.limits.capacity_in_total()
    if least is None or total is None or not problem.limits.closed:
        return least
    return max(least, problem.votes.n_declared - total)


def _bisect(votes: Votes, limits: Limits, max_exact_edges: int) -> int | None:
    def errors(d: int) -> int:
        eased = replace(limits, slack=d)
        return most_right(votes, eased, max_exact_edges=max_exact_edges).certified_errors

    low, high = 0, votes.n_entities
    if errors(high) > 0:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if errors(middle) == 0 else (middle + 1, high)
    return low
