"""The heaviest choice of edges, component by component, in exact whole numbers.

Every benefit is a whole number far below 2^53, so the solvers' floating point is exact; linear
programmes are checked by a dual bound in whole numbers and never trusted.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment, linprog
from scipy.sparse import coo_array, csr_array, vstack
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from trueness.stats.edges import Edges, rank_within

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

DENSE_ROWS = 500
DENSE_CELLS = 4_000_000
COPIED_EDGES = 5_000_000


@dataclass(frozen=True, slots=True)
class Choice:
    """Chosen edges, and by component how much more a maximum could weigh (0 where proved)."""

    chosen: Bools
    gap: Ints


def choose_heaviest(edges: Edges, benefit: Ints, solve: Bools) -> Choice:
    """Edges of greatest total benefit within rows, columns and required copies.

    Parameters
    ----------
    edges : Edges
    benefit : (n_edges,) int
        Edges of benefit 0 or less are never taken, except to fill a required copy.
    solve : (n_components,) bool
        Components to solve; the others are left without a choice.
    """
    n = edges.n_components
    live = ((benefit > 0) | (edges.required[edges.col] > 0)) & solve[edges.component]
    at = np.flatnonzero(live)
    chosen = np.zeros(len(benefit), dtype=bool)
    gap = np.zeros(n, dtype=np.int64)
    row, col, part = edges.row[at], edges.col[at], edges.component[at]
    n_rows = np.bincount(part[np.unique(row, return_index=True)[1]], minlength=n)
    n_cols = np.bincount(part[np.unique(col, return_index=True)[1]], minlength=n)
    required = np.zeros(n, dtype=bool)
    required[part[edges.required[col] > 0]] = True
    one_row, one_col = (n_rows == 1) & ~required, (n_cols == 1) & ~required
    star = at[one_row[part]]
    chosen[star] = rank_within(edges.row[star], benefit[star]) < edges.allowed_rows[edges.row[star]]
    star = at[(one_col & ~one_row)[part]]
    chosen[star] = rank_within(edges.col[star], benefit[star]) < edges.cap[edges.col[star]]
    rest = at[~(one_row | one_col)[part]]
    rest = rest[np.argsort(edges.component[rest], kind="stable")]
    for block in _blocks(edges, rest):
        name = int(edges.component[block[0]])
        taken, gap[name] = _solve(edges, benefit, block)
        chosen[taken] = True
    return Choice(chosen, gap)


def _blocks(edges: Edges, rest: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    if len(rest) == 0:
        return []
    cuts = np.flatnonzero(np.diff(edges.component[rest])) + 1
    bounds = [0, *cuts.tolist(), len(rest)]
    return [rest[a:b] for a, b in pairwise(bounds)]


def _solve(edges: Edges, benefit: Ints, block: NDArray[np.intp]) -> tuple[NDArray[np.intp], int]:
    """Solve one component: the edges taken, and the gap to a proved bound."""
    row, col, value = edges.row[block], edges.col[block], benefit[block]
    rows, row = np.unique(row, return_inverse=True)
    cols, col = np.unique(col, return_inverse=True)
    allowed = np.minimum(edges.allowed_rows[rows], np.bincount(row))
    cap = np.minimum(edges.cap[cols], np.bincount(col))
    required = edges.required[cols]
    copied = int((allowed[row] * cap[col]).sum())
    several = bool((allowed > 1).any() and (cap > 1).any())
    if (several or copied > COPIED_EDGES) and not required.any():
        return _programme(row, col, value, (allowed, cap), block)
    cap = np.maximum(cap, required)
    if required.any():
        bonus = int(value[value > 0].sum()) + 1
        grid = _copies(row, col, value, allowed, cap, required, edges.helps[block], bonus)
    elif len(rows) == int(allowed.sum()) and len(cols) == int(cap.sum()):
        grid = _Grid(row, col, value, np.arange(len(row)), len(rows), len(cols))
    else:
        grid = _copies(row, col, value, allowed, cap, required, edges.helps[block], 0)
    return block[_match(grid)], 0


@dataclass(frozen=True, slots=True)
class _Grid:
    """An assignment problem: positive values in cells, and the edge each cell stands for."""

    row: NDArray[np.intp]
    col: NDArray[np.intp]
    value: Ints
    edge: NDArray[np.intp]
    n_rows: int
    n_cols: int


def _copies(  # noqa: PLR0917 - one row of numbers for each part of the grid
    row: NDArray[np.intp],
    col: NDArray[np.intp],
    value: Ints,
    allowed: Ints,
    cap: Ints,
    required: Ints,
    helps: Bools,
    bonus: int,
) -> _Grid:
    """Each row and column repeated as often as it may be used; required copies come first."""
    first_row, first_col = np.cumsum(allowed) - allowed, np.cumsum(cap) - cap
    times = allowed[row] * cap[col]
    edge = np.repeat(np.arange(len(row)), times)
    spot = np.arange(len(edge)) - np.repeat(np.cumsum(times) - times, times)
    which_row, which_col = np.divmod(spot, cap[col[edge]])
    binding = which_col < required[col[edge]]
    worth = np.maximum(value[edge], 0) + np.where(binding, bonus, 0)
    keep = (worth > 0) & (helps[edge] | ~binding)
    at_row = (first_row[row[edge]] + which_row)[keep]
    at_col = (first_col[col[edge]] + which_col)[keep]
    return _Grid(at_row, at_col, worth[keep], edge[keep], int(allowed.sum()), int(cap.sum()))


def _match(grid: _Grid) -> NDArray[np.intp]:
    """Edges of a heaviest assignment; leaving a row or a column empty is worth 0."""
    cells = grid.n_rows * grid.n_cols
    small = grid.n_rows <= DENSE_ROWS and cells <= DENSE_CELLS
    if small or (cells <= DENSE_CELLS and cells <= 10 * len(grid.row)):
        table = np.zeros((grid.n_rows, grid.n_cols))
        table[grid.row, grid.col] = grid.value
        edge = np.full(table.shape, -1, dtype=np.int64)
        edge[grid.row, grid.col] = grid.edge
        found = edge[linear_sum_assignment(table, maximize=True)]
        return found[found >= 0]
    return _match_sparse(grid)


def _match_sparse(grid: _Grid) -> NDArray[np.intp]:
    """The same through a sparse matching: costs above 0 and a private column for each row."""
    top = int(grid.value.max()) + 1
    rows = np.arange(grid.n_rows)
    shape = (grid.n_rows, grid.n_cols + grid.n_rows)
    at_row = np.concatenate([grid.row, rows])
    at_col = np.concatenate([grid.col, grid.n_cols + rows])
    cost = np.concatenate([top - grid.value, np.full(grid.n_rows, top)]).astype(np.float64)
    matched = min_weight_full_bipartite_matching(csr_array((cost, (at_row, at_col)), shape=shape))
    code = grid.row * shape[1] + grid.col
    order = np.argsort(code)
    wanted = matched[0].astype(np.int64) * shape[1] + matched[1]
    wanted = wanted[matched[1] < grid.n_cols]
    return grid.edge[order[np.searchsorted(code, wanted, sorter=order)]]


def _programme(
    row: NDArray[np.intp],
    col: NDArray[np.intp],
    value: Ints,
    limits: tuple[Ints, Ints],
    block: NDArray[np.intp],
) -> tuple[NDArray[np.intp], int]:
    """Each pair at most once, rows and columns several times: an integral linear programme."""
    allowed, cap = limits
    at, ones = np.arange(len(row)), np.ones(len(row))
    matrix = vstack([coo_array((ones, (row, at))), coo_array((ones, (col, at)))]).tocsr()
    bound = np.concatenate([allowed, cap])
    found = linprog(  # type: ignore[call-overload] # the stubs know dense matrices only
        -value.astype(float), A_ub=matrix, b_ub=bound, bounds=(0, 1), method="highs-ds"
    )
    taken = found.x > 0.5 if found.x is not None else np.zeros(len(row), dtype=bool)  # noqa: PLR2004 - nearest whole number
    used = matrix @ taken.astype(np.int64)
    if (used > bound).any():
        taken[:] = False
    price = np.zeros(len(bound), dtype=np.int64)
    if found.x is not None:
        price = np.maximum(np.rint(-found.ineqlin.marginals), 0).astype(np.int64)
    reduced = value - price[row] - price[len(allowed) + col]
    proved = int((price * bound).sum()) + int(np.maximum(reduced, 0).sum())
    return block[taken], proved - int(value[taken].sum())
