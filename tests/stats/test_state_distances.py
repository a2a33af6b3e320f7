"""Distances of hidden states: brute force in double precision, invariances, degenerate training."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State
from trueness.stats.state_distances import (
    fit_spread,
    fit_subspace,
    ledoit_wolf_shrinkage,
    left_out,
)

Floats = NDArray[np.float64]


@st.composite
def samples(draw: st.DrawFn) -> tuple[Floats, Floats]:
    n, width = draw(st.integers(2, 9)), draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 9_999)))
    scales = rng.gamma(1.0, size=width) + 0.1
    return rng.normal(size=(n, width)) * scales, rng.normal(size=(4, width))


@given(samples(), st.floats(0.05, 1.0))
def test_the_distance_is_that_of_the_inverse_covariance(
    given_: tuple[Floats, Floats], shrinkage: float
) -> None:
    train, test = given_
    mean, width = train.mean(axis=0), train.shape[1]
    covariance = np.cov(train.T, bias=True).reshape(width, width)
    shrunk = (1 - shrinkage) * covariance + shrinkage * np.trace(covariance) / width * np.eye(width)
    off = test - mean
    wanted = (off @ np.linalg.inv(shrunk) * off).sum(axis=1)
    found = fit_spread(train, shrinkage=shrinkage)
    assert found.state is State.MEASURED
    np.testing.assert_allclose(found.squared(test), wanted, rtol=1e-8)


@given(samples())
def test_the_shrinkage_is_that_of_its_definition(given_: tuple[Floats, Floats]) -> None:
    train, _ = given_
    x = train - train.mean(axis=0)
    n, width = x.shape
    s = x.T @ x / n
    d2 = ((s - np.trace(s) / width * np.eye(width)) ** 2).sum()
    b2 = sum(((np.outer(row, row) - s) ** 2).sum() for row in x) / n**2
    found = ledoit_wolf_shrinkage(train)
    assert 0 <= found <= 1
    if d2 > 1e-9 * (s**2).sum():
        assert found == pytest.approx(min(b2, d2) / d2, abs=1e-7)
    else:
        assert found == 1.0


@given(samples(), st.integers(0, 99))
def test_a_turn_of_the_states_changes_no_distance(given_: tuple[Floats, Floats], seed: int) -> None:
    train, test = given_
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(train.shape[1],) * 2))[0]
    one, two = fit_spread(train, shrinkage=0.2), fit_spread(train @ turn, shrinkage=0.2)
    np.testing.assert_allclose(one.squared(test), two.squared(test @ turn), rtol=1e-7)
    flat, turned = fit_subspace(train, rank=1), fit_subspace(train @ turn, rank=1)
    np.testing.assert_allclose(flat.squared(test), turned.squared(test @ turn), atol=1e-7)


def test_a_singular_covariance_is_degenerate_and_shrinkage_repairs_it() -> None:
    train = np.random.default_rng(0).normal(size=(5, 20))
    singular = fit_spread(train, shrinkage=0.0)
    assert singular.state is State.DEGENERATE
    assert "singular at shrinkage 0" in (singular.reason or "")
    assert np.isnan(singular.squared(train)).all()
    assert fit_spread(train).state is State.MEASURED
    assert 0 < fit_spread(train).shrinkage <= 1


def test_training_states_that_do_not_vary_are_degenerate() -> None:
    flat = np.full((4, 3), 0.1)
    for fitted in (fit_spread(flat), fit_subspace(flat)):
        assert fitted.state is State.DEGENERATE
        assert np.isnan(fitted.squared(flat)).all()


def test_the_rank_holds_nine_tenths_of_the_variance_and_no_less() -> None:
    rng = np.random.default_rng(0)
    train = rng.normal(size=(400, 6)) * [5, 4, 1, 0.5, 0.2, 0.1]
    found = fit_subspace(train)
    variances = np.linalg.svd(train - train.mean(axis=0), compute_uv=False) ** 2
    shares = np.cumsum(variances) / variances.sum()
    assert len(found.directions) == np.argmax(shares >= 0.9) + 1
    assert found.share == pytest.approx(shares[len(found.directions) - 1])
    exact = fit_subspace([[-3.0, 0.0], [3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])  # 9 to 1
    assert len(exact.directions) == 1


@given(samples())
def test_the_residual_is_what_no_combination_of_directions_explains(
    given_: tuple[Floats, Floats],
) -> None:
    train, test = given_
    found = fit_subspace(train, rank=1)
    off = test - train.mean(axis=0)
    best = np.linalg.lstsq(found.directions.T, off.T, rcond=None)[0]
    wanted = ((off.T - found.directions.T @ best) ** 2).sum(axis=0)
    np.testing.assert_allclose(found.squared(test), wanted, atol=1e-8)


def test_a_state_is_never_fitted_on_its_own_group() -> None:
    rng = np.random.default_rng(0)
    states, groups = rng.normal(size=(30, 4)), np.repeat(np.arange(5), 6)
    found, why = left_out(states, groups, fit_spread)
    for g in range(5):
        mine = groups == g
        wanted = fit_spread(states[~mine]).squared(states[mine])
        np.testing.assert_array_equal(found[mine], wanted)
    assert set(why) == {None}
    changed = states.copy()
    changed[0] += 100.0
    again, _ = left_out(changed, groups, fit_spread)
    np.testing.assert_array_equal(again[1:6], found[1:6])  # its own group is not moved by it


def test_a_lone_group_has_nothing_to_be_compared_with() -> None:
    found, why = left_out([[0.0], [1.0]], [0, 0], fit_spread)
    assert np.isnan(found).all()
    assert why[0] == "fewer than two states outside of its group"


def test_what_has_no_distance_is_refused() -> None:
    with pytest.raises(ShapeError, match="at least two"):
        fit_spread([[1.0, 2.0]])
    with pytest.raises(InputError, match="finite"):
        fit_subspace([[1.0], [np.nan]])
    with pytest.raises(InputError, match="shrinkage"):
        fit_spread([[1.0], [2.0]], shrinkage=1.5)
    with pytest.raises(InputError, match="rank"):
        fit_subspace([[1.0], [2.0]], rank=2)
    with pytest.raises(ShapeError, match="width of the training"):
        fit_spread([[1.0], [2.0]]).squared([[1.0, 2.0]])
    with pytest.raises(InputError, match="finite"):
        fit_spread([[1.0], [2.0]]).squared([[np.inf]])
    with pytest.raises(ShapeError, match="one group a state"):
        left_out([[1.0], [2.0]], [0], fit_spread)
