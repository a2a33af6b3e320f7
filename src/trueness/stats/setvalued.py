"""Slack where an entity may have several right answers: no transport problem any more."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import block_array, coo_array, csr_array

from trueness.stats.edges import Edges, rank_within

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


NODES = 100_000
NEAR_ONE = 1 - 1e-6
GENEROUS = 0.1


@dataclass(frozen=True, slots=True)
class Replaced:
    """Chosen edges, exempt rows and a proved upper bound on the right slots."""

    bound: int
    chosen: Bools
    exempt: Bools


def replace_rows(edges: Edges, joker: Ints, d: int) -> Replaced:
    """At most ``d`` rows replaced by their joker weight, the rest a transport problem.

    The bound is never below the maximum: it is the lesser of a price bound in whole numbers and
    the solver's own bound, rounded up generously.
    """
    matrix, limit = _matrix(edges, joker, d)
    value = np.concatenate([edges.weight, joker]).astype(float)
    found = milp(
        -value,
        constraints=LinearConstraint(matrix, ub=limit),
        integrality=np.ones(len(value), dtype=np.int64),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0.0, "node_limit": NODES},
    )
    n = len(edges.weight)
    taken = np.zeros(len(value), dtype=bool) if found.x is None else found.x > NEAR_ONE
    if (matrix @ taken.astype(np.int64) > limit).any():
        taken[:] = False
    bound = replaced_bound(edges, joker, d)
    if found.status == 0 and found.mip_dual_bound is not None:
        bound = min(bound, int(np.floor(-found.mip_dual_bound + GENEROUS)))
    return Replaced(bound, taken[:n], taken[n:])


def replaced_bound(edges: Edges, joker: Ints, d: int) -> int:
    """Upper bound on the right slots without branching: the best price for an exemption."""
    prices = range(int(joker.max(initial=0)) + 1)
    return min(_price_bound(edges, joker, d, price) for price in prices)


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
