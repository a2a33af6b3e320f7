"""Golub and Kahan's values against whole decompositions, and what ends them early."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.bidiagonal import bidiagonal_values
from trueness.stats.block_power import TopValues


def values(j: NDArray[np.float64], k: int, **given: float) -> TopValues:
    return bidiagonal_values(lambda v: v @ j.T, lambda u: u @ j, width=len(j), k=k, **given)  # type: ignore[arg-type] # seed and residual


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), width=st.integers(2, 24), scale=st.floats(1e-6, 1e6))
def test_values_lie_within_their_residual_of_true_ones(seed: int, width: int, scale: float) -> None:
    j = scale * np.random.default_rng(seed).normal(size=(width, width))
    k = min(3, width)
    found = values(j, k, seed=1)
    assert found.state.value == "MEASURED"
    assert found.sigma is not None
    assert found.residual is not None
    true = np.linalg.svd(j, compute_uv=False)
    bound = (found.residual + 1e-9) * true[0] ** 2
    assert np.abs(found.sigma**2 - true[:k] ** 2).max() <= bound
    assert found.steps <= width


def test_a_long_tail_needs_fewer_products_than_the_width() -> None:
    rng = np.random.default_rng(0)
    q = np.linalg.qr(rng.normal(size=(120, 120)))[0]
    j = q * np.arange(1, 121.0) ** -1.0 @ q.T
    assert values(j, 4).steps < 40


def test_a_repeated_value_is_seen_once() -> None:
    found = values(np.diag([2.0, 2.0, 1.0]), 3)
    assert (found.state.value, found.sigma) == ("UNSTABLE", None)
    assert "reach no further" in str(found.reason)


def test_a_matrix_of_rank_one_has_one_value() -> None:
    j = np.outer([3.0, 4.0], [1.0, 0.0])
    assert values(j, 1).sigma == pytest.approx([5.0])


def test_zero_and_infinity_are_degenerate() -> None:
    assert values(np.zeros((3, 3)), 1).reason == "the Jacobian is zero"
    found = bidiagonal_values(lambda v: v + np.inf, lambda u: u, width=3, k=1)
    assert (found.state.value, found.reason) == ("DEGENERATE", "a product is not finite")


def test_numbers_out_of_range_and_other_shapes_are_refused() -> None:
    with pytest.raises(InputError):
        values(np.eye(3), 4)
    with pytest.raises(ShapeError, match=r"wanted \(1, 3\)"):
        bidiagonal_values(lambda v: v[:, :2], lambda u: u, width=3, k=1)
