"""Derivatives of the six numbers: small steps show them, exact cases, bad input."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.observer_gradients import (
    collision_slope,
    mass_slope,
    observer_slopes,
    top_is_tied,
)
from trueness.stats.observers import observe_logits


def apart(seed: int, n: int) -> Any:
    """Logits whose three largest are well apart, so that a small step changes no order."""
    rng = np.random.default_rng(seed)
    return rng.permutation(np.concatenate([rng.normal(size=n - 3), [4.0, 4.5, 5.2]]))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 30))
def test_values_are_the_observers_and_gradients_what_small_steps_show(seed: int, n: int) -> None:
    z = apart(seed, n)
    found = observer_slopes(z)
    assert np.allclose(found.values, observe_logits(z).numbers, rtol=1e-12, atol=1e-12)
    direction = np.random.default_rng(seed + 1).normal(size=n)
    step = 1e-5
    above, below = (observe_logits(z + sign * step * direction).numbers for sign in (1, -1))
    assert np.allclose((above - below) / (2 * step), found.gradients @ direction, atol=1e-7)
    assert np.abs(found.gradients.sum(axis=1)).max() < 1e-12  # a constant on all logits is nothing


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 30))
def test_masses_and_collisions_move_as_small_steps_show(seed: int, n: int) -> None:
    z = apart(seed, n)
    rng = np.random.default_rng(seed)
    tokens = rng.choice(n, size=2, replace=False).tolist()
    direction, step = rng.normal(size=n), 1e-5
    for slope in (mass_slope, collision_slope):
        found = slope(z, tokens)
        ends = [float(slope(z + s * step * direction, tokens).values[0]) for s in (1, -1)]
        assert found.gradients[0] @ direction == pytest.approx(
            (ends[0] - ends[1]) / (2 * step), abs=1e-8
        )


def test_the_collision_of_the_whole_law_is_a_function_of_the_collision_entropy() -> None:
    z = apart(3, 20)
    entropy = observer_slopes(z)
    whole = collision_slope(z)
    assert whole.values[0] == pytest.approx(np.exp(-entropy.values[1]), rel=1e-14)
    assert np.allclose(whole.gradients[0], -whole.values[0] * entropy.gradients[1], atol=1e-15)


def test_gradients_of_two_equal_tokens_are_known() -> None:
    found = observer_slopes([0.0, 0.0])
    assert np.allclose(found.values, [np.log(2), np.log(2), 0, 0, 0.5, 0])
    assert np.allclose(found.gradients[:4], 0)
    assert found.gradients[4].tolist() == [0.25, -0.25]
    assert top_is_tied([0.0, 0.0])


@pytest.mark.parametrize("bad", [[[1.0, 2.0]], [1.0], []])
def test_another_shape_is_refused(bad: Any) -> None:
    with pytest.raises(ShapeError, match="wanted \\(V,\\)"):
        observer_slopes(bad)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_logit_that_is_not_finite_is_refused(bad: float) -> None:
    with pytest.raises(InputError, match="nan or infinite"):
        observer_slopes([1.0, bad])


@pytest.mark.parametrize("tokens", [[], [-1], [3], [0.5]])
def test_tokens_that_are_none_are_refused(tokens: Any) -> None:
    with pytest.raises(InputError, match="wanted whole numbers from 0 to 2"):
        mass_slope([1.0, 2.0, 3.0], tokens)
