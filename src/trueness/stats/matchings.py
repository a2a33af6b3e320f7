"""Heaviest matchings of any graph: proved by dual prices, or by integer programming."""

from dataclasses import dataclass
from math import floor

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

_SLACK = 1e-6  # how far a solver's bound may be off before it is believed
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Edges:
    """Undirected edges: ``ends`` (n_edges, 2) int, ``weights`` (n_edges,) positive int."""

    ends: NDArray[np.int64]
    weights: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Matching:
    """A matching and the most that any matching weighs."""

    mates: NDArray[np.int64]
    """(n_vertices,) the matched neighbour, -1 for none."""
    right: NDArray[np.int64]
    """(n_vertices,) int: sums over a component are an upper limit of its matchings' weight."""
    exact: bool
    """Whether the matching attains the limit."""


def heaviest_matching(edges: Edges, n_vertices: int, *, max_exact_edges: int = 2_000) -> Matching:
    r"""The heaviest matching of every component, or a limit that no matching exceeds.

    Vertex prices with :math:`y_u + y_v \ge w_{uv}`, rounded to halves and repaired in whole
    numbers, prove :math:`\lfloor \sum y \rfloor` whatever the solver returned. Where no matching
    attains that, integer programming closes the gap, up to ``max_exact_edges`` edges a component.

    Parameters
    ----------
    edges : Edges
        No loops, no edge twice.
    n_vertices : int
    max_exact_edges : int
        Larger components keep the limit of the linear relaxation.

    Returns
    -------
    Matching

    Examples
    --------
    >>> triangle = Edges(np.array([[0, 1], [1, 2], [0, 2]]), np.array([1, 1, 2]))
    >>> found = heaviest_matching(triangle, 3)
    >>> int(found.right.sum()), found.mates.tolist(), found.exact
    (2, [2, -1, 0], True)
    """
    mates = np.full(n_vertices, -1, dtype=np.int64)
    right = np.zeros(n_vertices, dtype=np.int64)
    exact = True
    shares, prices = _relaxation(edges, n_vertices)
    for rows in _components(edges, n_vertices):
        part = Edges(edges.ends[rows], edges.weights[rows])
        limit, chosen = _priced(part, prices), _matching_in(part.ends, shares[rows])
        if limit > part.weights[chosen].sum() and len(rows) <= max_exact_edges:
            proved, found = _integer(part)
            limit = min(limit, proved)
            if part.weights[found].sum() > part.weights[chosen].sum():
                chosen = found
        ends = part.ends[chosen]
        mates[ends[:, 0]], mates[ends[:, 1]] = ends[:, 1], ends[:, 0]
        right[part.ends[0, 0]] = limit
        exact = exact and limit == int(part.weights[chosen].sum())
    return Matching(mates, right, exact)


def _components(edges: Edges, n_vertices: int) -> list[NDArray[np.int64]]:
    """Rows of the edges of each component."""
    if not len(edges.ends):
        return []
    u, v = edges.ends.T
    graph = csr_array((np.ones(len(u), dtype=np.int8), (u, v)), shape=(n_vertices, n_vertices))
    label = connected_components(graph, directed=False)[1][u]
    order = np.argsort(label, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(label[order])) + 1)


def _relaxation(edges: Edges, n_vertices: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shares of the edges and prices of the vertices; zeros if the solver gives up."""
    if not len(edges.ends):
        return np.zeros(0), np.zeros(n_vertices)
    found = linprog(  # type: ignore[call-overload] # sparse is accepted, the stubs forget it
        -edges.weights.astype(np.float64),
        A_ub=_incidence(edges.ends, n_vertices),
        b_ub=np.ones(n_vertices),
        bounds=(0, None),
        method="highs",
    )
    if found.status != 0:
        return np.zeros(len(edges.ends)), np.zeros(n_vertices)
    return np.asarray(found.x), np.maximum(0.0, -np.asarray(found.ineqlin.marginals))


def _incidence(ends: NDArray[np.int64], n_vertices: int) -> csr_array:
    """(n_vertices, n_edges)."""
    columns = np.repeat(np.arange(len(ends)), 2)
    shape = (n_vertices, len(ends))
    return csr_array((np.ones(2 * len(ends)), (ends.ravel(), columns)), shape=shape)


def _priced(part: Edges, prices: NDArray[np.float64]) -> int:
    """Half prices in whole numbers, raised where an edge is not paid for; their sum bounds."""
    vertices = np.unique(part.ends)
    halves: dict[int, int] = {v: round(2 * float(prices[v])) for v in vertices.tolist()}
    first, second = part.ends[:, 0].tolist(), part.ends[:, 1].tolist()
    for u, v, weight in zip(first, second, part.weights.tolist(), strict=True):
        halves[u] += max(0, 2 * weight - halves[u] - halves[v])
    return sum(halves.values()) // 2


def _matching_in(ends: NDArray[np.int64], x: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Edges above one half, dropped where two of them meet after all."""
    chosen, used = np.zeros(len(ends), dtype=np.bool_), set[int]()
    for i in np.flatnonzero(x > _HALF).tolist():
        pair = ends[i].tolist()
        if used.isdisjoint(pair):
            used.update(pair)
            chosen[i] = True
    return chosen


def _integer(part: Edges) -> tuple[int, NDArray[np.bool_]]:
    """The solver's upper limit with room for its rounding, and a matching checked by us."""
    most = int(part.weights.sum())
    vertices, local = np.unique(part.ends, return_inverse=True)
    incidence = _incidence(local.reshape(-1, 2), len(vertices))
    found = milp(
        -part.weights.astype(np.float64),
        constraints=LinearConstraint(incidence, -np.inf, 1),
        integrality=np.ones(len(part.weights), dtype=np.int64),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0.0},
    )
    bound = found.mip_dual_bound
    limit = (
        most
        if bound is None or not np.isfinite(bound)
        else floor(_SLACK * max(1.0, abs(bound)) - bound)
    )
    if found.x is None:
        return limit, np.zeros(len(part.weights), dtype=np.bool_)
    return limit, _matching_in(part.ends, np.asarray(found.x))
