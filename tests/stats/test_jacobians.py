"""Spectra of Jacobians: definitions, guards, power that says when it has not converged."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State
from trueness.stats.block_power import TopValues, top_values
from trueness.stats.jacobians import (
    default_window,
    jacobian_summary,
    spectrum_summary,
)

Floats = NDArray[np.float64]


@st.composite
def matrices(draw: st.DrawFn, *, most: int = 9) -> Floats:
    width, seed = draw(st.integers(1, most)), draw(st.integers(0, 10_000))
    return np.random.default_rng(seed).normal(size=(width, width))


def power(j: Floats, k: int, **rules: object) -> TopValues:
    return top_values(
        lambda v: v @ j.T,
        lambda u: u @ j,
        width=len(j),
        k=k,
        **rules,  # type: ignore[arg-type] # as each test names them
    )


@given(matrices())
def test_summaries_are_those_of_the_matrix(j: Floats) -> None:
    found = jacobian_summary(j)
    assert found.state is State.MEASURED
    assert found.sigma_max == pytest.approx(np.linalg.norm(j, 2), rel=1e-12)
    whole = np.linalg.norm(j) ** 2 / np.linalg.norm(j, 2) ** 2
    assert found.stable_rank == pytest.approx(whole, rel=1e-12)
    assert 1 - 1e-12 <= whole <= len(j) + 1e-12
    if not found.n_null:
        assert found.log_volume == pytest.approx(np.linalg.slogdet(j)[1], abs=1e-8)


@given(matrices(), st.integers(-20, 20))
def test_a_unit_changes_neither_stable_rank_nor_tail(j: Floats, octaves: int) -> None:
    one = jacobian_summary(j, window=(1, len(j)))
    two = jacobian_summary(j * 2.0**octaves, window=(1, len(j)))
    assert one.stable_rank == pytest.approx(two.stable_rank, rel=1e-12)
    assert one.n_null == two.n_null
    assert one.tail is not None
    assert two.tail is not None
    assert one.tail.state is two.tail.state
    if one.tail.exponent is not None:
        assert one.tail.exponent == pytest.approx(two.tail.exponent, abs=1e-9)


def test_a_singular_matrix_has_no_log_volume_and_never_a_floor() -> None:
    found = jacobian_summary(np.diag([2.0, 1.0, 0.0]))
    assert (found.n_null, found.log_volume) == (1, None)
    rank_one = jacobian_summary(np.outer([1.0, 2.0, 3.0], [1.0, 1.0, 1.0]))
    assert (rank_one.n_null, rank_one.log_volume) == (2, None)
    assert rank_one.stable_rank == pytest.approx(1.0)


def test_zero_and_non_finite_matrices_are_degenerate() -> None:
    assert jacobian_summary(np.zeros((3, 3))).state is State.DEGENERATE
    found = jacobian_summary([[1.0, np.nan], [0.0, 1.0]])
    assert (found.state, found.sigma_max, found.tail) == (State.DEGENERATE, None, None)


@given(st.floats(0.05, 2.0), st.integers(60, 300))
def test_a_power_law_is_read_back_with_no_curvature(exponent: float, width: int) -> None:
    ranks = np.arange(1, width + 1, dtype=np.float64)
    tail = spectrum_summary(ranks**-exponent).tail
    assert tail is not None
    assert tail.window == default_window(width)
    assert tail.exponent == pytest.approx(exponent, abs=1e-9)
    assert tail.r2 == pytest.approx(1.0)
    assert tail.low == pytest.approx(exponent, abs=1e-9)
    assert tail.high == pytest.approx(exponent, abs=1e-9)
    assert tail.curvature == pytest.approx(0.0, abs=1e-8)


def test_an_exponential_spectrum_is_no_power_law_and_shows_it() -> None:
    tail = spectrum_summary(np.exp(-np.arange(200) / 40)).tail
    assert tail is not None
    assert tail.curvature is not None
    assert tail.curvature < -0.1
    assert tail.low is not None
    assert tail.high is not None
    assert tail.high - tail.low > 0.3


def test_the_curvature_is_that_of_the_parabola() -> None:
    s = np.sort(np.random.default_rng(0).gamma(2.0, size=80))[::-1]
    tail = spectrum_summary(s, window=(4, 60)).tail
    assert tail is not None
    ranks = np.log(np.arange(4, 61))
    assert tail.curvature == pytest.approx(np.polyfit(ranks, np.log(s[3:60]), 2)[0], rel=1e-6)
    assert tail.exponent == pytest.approx(-np.polyfit(ranks, np.log(s[3:60]), 1)[0], rel=1e-9)


def test_under_two_decades_no_power_law_may_be_claimed() -> None:
    ranks = np.arange(1, 1001, dtype=np.float64)
    short, long = (spectrum_summary(1 / ranks, window=w).tail for w in ((11, 400), (5, 500)))
    assert short is not None
    assert long is not None
    assert not short.long_enough
    assert long.long_enough
    assert short.decades == pytest.approx(math.log10(400 / 11))


def test_equal_values_have_no_share_explained_and_few_points_no_exponent() -> None:
    flat = spectrum_summary(np.ones(20), window=(2, 10)).tail
    assert flat is not None
    assert flat.exponent == pytest.approx(0.0)
    assert flat.r2 is None
    few = spectrum_summary([3.0, 2.0, 1.0, 0.0, 0.0], window=(2, 5)).tail
    assert few is not None
    assert (few.state, few.n_points, few.exponent) == (State.NOT_APPLICABLE, 2, None)
    beyond = spectrum_summary([3.0, 2.0, 1.0], window=(70, 80)).tail
    assert beyond is not None
    assert beyond.state is State.NOT_APPLICABLE


@settings(deadline=None)
@given(matrices(most=30), st.integers(1, 4))
def test_power_never_exceeds_the_largest_value_and_is_within_its_residual(
    j: Floats, k: int
) -> None:
    k = min(k, len(j))
    found = power(j, k)
    if found.state is not State.MEASURED or found.sigma is None:
        assert found.sigma is None
        return
    true = np.linalg.svd(j, compute_uv=False)
    assert found.sigma[0] <= true[0] * (1 + 1e-12)
    assert found.residual is not None
    room = found.residual * true[0] ** 2 * (1 + 1e-9) + 1e-12
    for value in found.sigma:
        assert np.abs(true**2 - value**2).min() <= room
    np.testing.assert_allclose(found.sigma, true[:k], rtol=2e-2)


def test_power_that_did_not_converge_says_so_and_gives_no_value() -> None:
    rng = np.random.default_rng(0)
    u, v = (np.linalg.qr(rng.normal(size=(200, 200)))[0] for _ in range(2))
    j = u @ np.diag(np.linspace(1.0, 0.98, 200)) @ v.T  # no gaps anywhere
    found = power(j, 4, residual=1e-9, max_steps=5)
    assert (found.state, found.sigma) == (State.UNSTABLE, None)
    assert found.residual is not None
    assert found.residual > 1e-9
    assert "after 5 steps" in (found.reason or "")


def test_a_small_change_between_steps_is_no_convergence() -> None:
    """Plain iteration looks settled long before it is right; the residual is not fooled."""
    sigma = np.arange(1, 301.0) ** -0.1
    j = np.diag(sigma)
    q = np.linalg.qr(np.random.default_rng(1).normal(size=(300, 8)))[0]
    last = np.zeros(8)
    for _ in range(20):
        change = np.abs(np.linalg.svd(j @ q, compute_uv=False) - last).max()
        last = np.linalg.svd(j @ q, compute_uv=False)
        _, s, turn = np.linalg.svd(j @ q, full_matrices=False)
        v = q @ turn.T
        q = np.linalg.qr(j.T @ (j @ q))[0]
    error = np.abs(last - sigma[:8]).max()
    residual = np.linalg.norm(j.T @ (j @ v) - v * s**2, axis=0).max()
    assert change < error / 4
    assert residual > 1e-3
    assert power(j, 8, max_steps=20).state is State.UNSTABLE


def test_a_missed_direction_is_seen_by_a_second_start() -> None:
    width, k = 30, 1
    start = np.linalg.qr(np.random.default_rng(0).standard_normal((width, k + 8)))[0]
    whole = np.linalg.qr(np.hstack([start, np.random.default_rng(5).normal(size=(width, 21))]))[0]
    hidden, seen = whole[:, -1:], whole[:, :5]  # the first is orthogonal to the start of seed 0
    j = 10 * hidden @ hidden.T + 2 * seen @ seen.T
    alone = power(j, k, seeds=(0,))
    assert alone.state is State.MEASURED  # converged, on a true value that is not the largest
    assert alone.sigma is not None
    assert alone.sigma[0] == pytest.approx(2.0)
    both = power(j, k)
    assert (both.state, both.sigma) == (State.UNSTABLE, None)
    assert "two starts" in (both.reason or "")


def test_degenerate_products_and_bad_requests() -> None:
    assert power(np.zeros((4, 4)), 2).state is State.DEGENERATE
    assert power(np.full((4, 4), np.nan), 2).state is State.DEGENERATE
    with pytest.raises(InputError, match="k is 5"):
        power(np.eye(4), 5)
    with pytest.raises(ShapeError, match="same shape"):
        top_values(lambda q: q[:2], lambda q: q, width=4, k=1)
    with pytest.raises(ShapeError, match="one row"):
        jacobian_summary(np.zeros((2, 3)))
    with pytest.raises(InputError, match="negative"):
        spectrum_summary([1.0, -1.0])
    with pytest.raises(InputError, match="window"):
        spectrum_summary([1.0, 1.0], window=(0, 4))
    with pytest.raises(ShapeError, match="all of them"):
        spectrum_summary([])
