"""Directions that span some rows: orthonormal, complete, and no more than there are."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trueness.stats.low_rank import row_space


@given(st.integers(1, 5), st.integers(0, 3), st.integers(0, 2**32 - 1))
def test_it_spans_the_rows_and_nothing_else(rank: int, repeated: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    own = rng.normal(size=(rank, 8))
    more = rng.normal(size=(repeated, rank)) @ own
    rows = np.vstack([own, more, np.zeros((1, 8))]) * 10.0 ** rng.integers(-6, 6)
    basis = row_space(rows, tolerance=1e-8)
    assert basis.shape == (rank, 8)
    assert np.abs(basis @ basis.T - np.eye(rank)).max() < 1e-12
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    assert (np.abs(rows - rows @ basis.T @ basis) <= 1e-9 * size).all()


def test_directions_below_the_tolerance_are_dropped() -> None:
    rows = [[1.0, 0.0], [1.0, 1e-6]]
    assert row_space(rows, tolerance=1e-3).shape == (1, 2)
    assert row_space(rows, tolerance=1e-9).shape == (2, 2)
