"""Relations that undo themselves: the heaviest matching of entities with their partners."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.matchings import Edges, Matching, heaviest_matching

NOBODY = -1
"""Code of a slot that was not answered, and of an entity without a partner in the witness."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """The most answers that one involution makes right, and what follows from it."""

    n_answered: int
    max_right: int
    exact: bool
    """Attained by ``partners``; else an upper limit, and the certificate may be too small."""
    partners: NDArray[np.int64]
    """(n_entities,) witness truth: a vertex, the entity itself, or -1 for anybody left."""
    withheld: NDArray[np.bool_]
    """(n_entities, n_columns): slots never right, and those of components with an error."""

    @property
    def certified_errors(self) -> int:
        """At least this many answers are wrong."""
        return self.n_answered - self.max_right


def why_no_involution(n_entities: int, *, closed: bool, fixed_points: bool) -> str | None:
    """Why no involution at all exists; ``None`` when one does.

    Examples
    --------
    >>> why_no_involution(3, closed=True, fixed_points=False)
    'odd number of entities and no fixed point allowed'
    """
    if closed and not fixed_points and n_entities % 2:
        return "odd number of entities and no fixed point allowed"
    return None


def heaviest_pairing(
    answers: NDArray[np.integer],
    *,
    closed: bool,
    fixed_points: bool = False,
    max_exact_edges: int = 2_000,
) -> Pairing:
    r"""The most slots that one involution makes right.

    The heaviest matching with weights :math:`w(e, e') = [f(e) = e'] + [f(e') = e]`, summed over
    the columns. One column: exact in linear time. Several: exact for every component of up to
    ``max_exact_edges`` edges, else an upper limit from the linear relaxation.

    Parameters
    ----------
    answers : (n_entities, n_columns) int
        The entity answered, counted from 0; n_entities and above for answers outside; -1 where
        nothing was answered.
    closed : bool
        Every partner is one of the entities. Otherwise an outside answer is one partner more.
    fixed_points : bool
        An entity may be its own partner.
    max_exact_edges : int

    Returns
    -------
    Pairing

    Raises
    ------
    ShapeError
        If ``answers`` is not two-dimensional.
    InputError
        If ``answers`` are not whole numbers from -1, or no involution exists.

    Examples
    --------
    >>> rotation = heaviest_pairing(np.array([[1], [2], [3], [0]]), closed=True)
    >>> rotation.max_right, rotation.certified_errors
    (2, 2)
    """
    _check(answers, closed=closed, fixed_points=fixed_points)
    n, width = answers.shape
    graph = _graph(answers.astype(np.int64), closed=closed, fixed_points=fixed_points)
    targets = graph.targets
    if width == 1:
        mates = _match_single(targets[:, 0].tolist(), graph.size)
        found = Matching(mates, _own_right(targets, mates), exact=True)
    else:
        found = heaviest_matching(_edges(targets), graph.size, max_exact_edges=max_exact_edges)
    useful, answered = targets >= 0, answers >= 0
    label = _labels(targets, graph.size)
    asked = np.bincount(label[:n], weights=useful.sum(axis=1), minlength=graph.size)
    right = np.bincount(label, weights=found.right, minlength=graph.size)
    wrong_somewhere = (asked > right)[label[:n]]
    return Pairing(
        n_answered=int(answered.sum()),
        max_right=int(found.right.sum()),
        exact=found.exact,
        partners=_partners(graph, found.mates[:n]),
        withheld=answered & (~useful | wrong_somewhere[:, None]),
    )


@dataclass(frozen=True, slots=True)
class _Graph:
    """Vertices: the entities, the outside answers, then a private partner for each entity."""

    targets: NDArray[np.int64]  # (n_entities, n_columns), -1 for never right
    outside: NDArray[np.int64]  # codes of the outside answers
    size: int


def _graph(answers: NDArray[np.int64], *, closed: bool, fixed_points: bool) -> _Graph:
    n = len(answers)
    targets = answers.copy()
    outside = answers >= n
    words = np.zeros(0, dtype=np.int64)
    if closed:
        targets[outside] = NOBODY
    else:
        words, renumbered = np.unique(answers[outside], return_inverse=True)
        targets[outside] = n + renumbered
    private = n + len(words)
    own = np.nonzero(answers == np.arange(n)[:, None])
    targets[own] = private + own[0] if fixed_points else NOBODY
    return _Graph(targets, words, private + n)


def _partners(graph: _Graph, mates: NDArray[np.int64]) -> NDArray[np.int64]:
    """Vertices back to codes: outside answers by their own, private partners as the entity."""
    n = len(mates)
    codes = np.concatenate([np.arange(n), graph.outside, np.arange(n), [NOBODY]])
    return codes[mates].astype(np.int64)  # -1 reads the last entry


def _edges(targets: NDArray[np.int64]) -> Edges:
    """Undirected edges with the votes of both ends."""
    e, _ = np.nonzero(targets >= 0)
    to = targets[targets >= 0]
    pairs = np.stack([np.minimum(e, to), np.maximum(e, to)], axis=1)
    ends, votes = np.unique(pairs, axis=0, return_counts=True)
    return Edges(ends.astype(np.int64), votes.astype(np.int64))


def _labels(targets: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    e, _ = np.nonzero(targets >= 0)
    to = targets[targets >= 0]
    graph = csr_array((np.ones(len(e), dtype=np.int8), (e, to)), shape=(size, size))
    return connected_components(graph, directed=False)[1].astype(np.int64)


def _own_right(targets: NDArray[np.int64], mates: NDArray[np.int64]) -> NDArray[np.int64]:
    """Per vertex, its own answers that the matching makes right."""
    right = np.zeros(len(mates), dtype=np.int64)
    n = len(targets)
    right[:n] = ((targets == mates[:n, None]) & (targets >= 0)).sum(axis=1)
    return right


def _match_single(target: list[int], size: int) -> NDArray[np.int64]:
    """Heaviest matching where every vertex answers at most one other: leaves, then cycles.

    Off the cycles every edge weighs 1, so a vertex gains 1 in its subtree if some child has
    nothing to lose there, else 0; ``pick`` is that child.
    """
    target = target + [NOBODY] * (size - len(target))
    waiting = [0] * size
    for to in target:
        if to >= 0:
            waiting[to] += 1
    pick = [NOBODY] * size
    leaves = [v for v in range(size) if waiting[v] == 0]
    for v in leaves:  # grows while it is read
        to = target[v]
        if to < 0:
            continue
        if pick[v] == NOBODY:
            pick[to] = v
        waiting[to] -= 1
        if waiting[to] == 0:
            leaves.append(to)
    mates = [NOBODY] * size
    on_cycles = _match_cycles(target, waiting, pick, mates=mates)
    for v in (*on_cycles, *reversed(leaves)):  # parents before children
        if mates[v] == NOBODY and pick[v] != NOBODY:
            mates[v], mates[pick[v]] = pick[v], v
    return np.array(mates, dtype=np.int64)


def _match_cycles(
    target: list[int], waiting: list[int], pick: list[int], *, mates: list[int]
) -> list[int]:
    """Match along every cycle where that beats the trees that hang on it; all its vertices."""
    seen: list[int] = []
    for start, left in enumerate(waiting):
        if not left:
            continue
        cycle = [start]
        while (to := target[cycle[-1]]) != start:
            cycle.append(to)
        for v in cycle:
            waiting[v] = 0
        for u, v in _best_on_cycle(cycle, [int(pick[v] != NOBODY) for v in cycle]):
            mates[u], mates[v] = v, u
        seen += cycle
    return seen


def _best_on_cycle(cycle: list[int], cost: list[int]) -> list[tuple[int, int]]:
    """Edges of the heaviest matching of a cycle, less what its vertices lose in their trees."""
    if len(cycle) == 2:  # noqa: PLR2004 - two entities that name each other: one edge of weight 2
        return _best_on_path(cycle, cost, weight=2)[1]
    without, edges = _best_on_path(cycle, cost, weight=1)
    inner, inner_edges = _best_on_path(cycle[1:-1], cost[1:-1], weight=1)
    if inner + 1 - cost[0] - cost[-1] > without:
        return [(cycle[-1], cycle[0]), *inner_edges]
    return edges


def _best_on_path(
    path: list[int], cost: list[int], *, weight: int
) -> tuple[int, list[tuple[int, int]]]:
    best = [0, 0]  # of no vertex, of the first
    for i in range(1, len(path)):
        best.append(max(best[-1], best[-2] + weight - cost[i - 1] - cost[i]))
    edges, i = [], len(path)
    while i > 1:
        if best[i] > best[i - 1]:
            edges.append((path[i - 2], path[i - 1]))
            i -= 2
        else:
            i -= 1
    return best[len(path)], edges


def _check(answers: NDArray[np.integer], *, closed: bool, fixed_points: bool) -> None:
    if answers.ndim != 2:  # noqa: PLR2004 - entities by columns
        msg = (
            f"answers has shape {answers.shape}; it must be (n_entities, n_columns). "
            "Pass one row an entity."
        )
        raise ShapeError(msg)
    if not np.issubdtype(answers.dtype, np.integer) or int(answers.min(initial=0)) < NOBODY:
        msg = (
            f"answers is of type {answers.dtype} with least value {answers.min(initial=0)}; "
            "wanted whole numbers from -1. Number the entities from 0, outside answers after them."
        )
        raise InputError(msg)
    reason = why_no_involution(len(answers), closed=closed, fixed_points=fixed_points)
    if reason is not None:
        msg = (
            f"{len(answers)} entities have no involution: {reason}. "
            "Declare fixed points, an open list, or the entity that is missing."
        )
        raise InputError(msg)
