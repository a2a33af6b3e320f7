"""Slack where an entity may have several right answers: no transport problem any more."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import block_array, coo_array, csr_array

from trueness.stats.edges import Edges, rank_within

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Replaced:
    """Chosen edges, exempt rows and a proved upper bound on the right slots."""

    bound: int
    chosen: Bools
    exempt: Bools


def replace_rows(edges: Edges, joker: Ints, d: int, *, whole: bool) -> Replaced:
    """At most ``d`` rows replaced by their joker weight, the rest a transport problem.

    Whole numbers by branching where ``whole``, else the linear relaxation. The bound is never
    below the maximum: it is the lesser of a price bound in whole numbers and, after branching,
    the solver's own bound rounded up generously.
    """
    matrix, limit = _matrix(edges, joker, d)
    value = np.concatenate([edges.weight, joker]).astype(float)
    kind = np.full(len(value), int(whole), dtype=np.int64)
    found = milp(
        -value,
        constraints=LinearConstraint(matrix, ub=limit),
        integrality=kind,
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0.0},
    )
    n = len(edges.weight)
    taken = np.zeros(len(value), dtype=bool) if found.x is None else found.x > 1 - 1e-6
    if (matrix @ taken > limit).any():
        taken[:] = False
    bound = int(edges.weight.sum()) + int(np.maximum(joker, 0).sum())
    for price in range(int(joker.max(initial=0)) + 1):
        bound = min(bound, _price_bound(edges, joker, d, price))
    if found.x is not None and whole and found.status == 0:
        bound = min(bound, int(np.floor(-found.mip_dual_bound + 1e-4)))
    return Replaced(bound, taken[:n], taken[n:])


def _price_bound(edges: Edges, joker: Ints, d: int, price: int) -> int:
    """Every row takes the better of its own best edges and its joker at a price."""
    top = rank_within(edges.row, edges.weight) < edges.allowed_rows[edges.row]
    own = np.zeros(len(joker), dtype=np.int64)
    np.add.at(own, edges.row[top], edges.weight[top])
    return price * d + int(np.maximum(own, joker - price).sum())


def _matrix(edges: Edges, joker: Ints, d: int) -> tuple[csr_array, NDArray[np.float64]]:
    """Rows: Σ x + r·y ≤ r, columns: Σ x ≤ cap, in all: Σ y ≤ d."""
    n, n_rows = len(edges.weight), len(joker)
    at, ones = np.arange(n), np.ones(n)
    every = np.arange(n_rows)
    rows = edges.allowed_rows.astype(float)
    parts = [
        [
            coo_array((ones, (edges.row, at)), shape=(n_rows, n)),
            coo_array((rows, (every, every)), shape=(n_rows, n_rows)),
        ],
        [
            coo_array((ones, (edges.col, at)), shape=(len(edges.cap), n)),
            coo_array((len(edges.cap), n_rows)),
        ],
        [coo_array((1, n)), coo_array(np.ones((1, n_rows)))],
    ]
    matrix = csr_array(block_array(parts))
    return matrix, np.concatenate([rows, edges.cap, [float(d)]])
