from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.stats.paired_means import units_of
from trueness.stats.sign_flip import ASSUMES, sign_flip

DELTAS = arrays(
    np.float64,
    st.tuples(st.integers(1, 7), st.integers(1, 3)),
    elements=st.sampled_from([-1.0, -0.25, 0.0, 0.0, 3 / 28, 0.5]),
)


def brute_force(delta: NDArray[np.float64]) -> list[float]:
    scale = np.sqrt((delta**2).sum(axis=0))
    scale[scale == 0] = 1
    observed = np.abs(delta.sum(axis=0)) / scale
    found = []
    for signs in product((-1, 1), repeat=len(delta)):
        flipped = np.abs((np.array(signs)[:, None] * delta).sum(axis=0)) / scale
        found.append(flipped.max() >= observed - 1e-9)
    shares: list[float] = np.mean(found, axis=0).tolist()
    return shares


@settings(max_examples=60)
@given(DELTAS)
def test_small_slices_are_enumerated(delta: NDArray[np.float64]) -> None:
    found = sign_flip(units_of(delta), rng=np.random.default_rng(0))
    assert found.enumerated
    assert found.p_adjusted.tolist() == pytest.approx(brute_force(delta))
    other = sign_flip(units_of(-delta), rng=np.random.default_rng(0))
    assert other.p_adjusted.tolist() == found.p_adjusted.tolist()


def test_random_patterns_agree_with_all_of_them() -> None:
    rng = np.random.default_rng(1)
    delta = rng.normal(0.08, 0.2, (17, 3)).clip(-1, 1)
    drawn = sign_flip(units_of(delta), rng=rng, draws=20_000)
    assert not drawn.enumerated
    assert drawn.n_patterns == 20_000
    exact = np.array(brute_force(delta[:, :]))
    np.testing.assert_allclose(drawn.p_adjusted, exact, atol=0.015)


def test_items_without_a_difference_do_not_stand_in_the_way_of_exactness() -> None:
    delta = np.zeros((500, 2))
    delta[:6] = 0.25
    found = sign_flip(units_of(delta), rng=np.random.default_rng(0))
    assert (found.enumerated, found.n_patterns) == (True, 64)
    assert found.p_adjusted.tolist() == [2 / 64, 2 / 64]


def test_a_group_has_one_sign() -> None:
    delta = np.full((12, 1), 0.5)
    alone = sign_flip(units_of(delta), rng=np.random.default_rng(0))
    grouped = sign_flip(units_of(delta, np.arange(12) // 4), rng=np.random.default_rng(0))
    assert (alone.p_adjusted[0], grouped.p_adjusted[0]) == (2 / 2**12, 2 / 2**3)


def test_no_difference_is_no_evidence_and_no_item_no_p() -> None:
    delta = np.column_stack([np.zeros(5), np.full(5, np.nan), np.full(5, 0.5)])
    found = sign_flip(units_of(delta), rng=np.random.default_rng(0)).p_adjusted
    assert found[0] == 1
    assert np.isnan(found[1])
    assert found[2] == 2 / 2**5
    nothing = sign_flip(units_of(np.zeros((3, 1))), rng=np.random.default_rng(0))
    assert nothing.p_adjusted.tolist() == [1.0]


def test_adjustment_never_lowers_a_p_and_drawn_ones_are_never_zero() -> None:
    rng = np.random.default_rng(2)
    delta = rng.uniform(0.1, 0.9, (40, 4))
    together = sign_flip(units_of(delta), rng=np.random.default_rng(0), draws=99)
    assert together.p_adjusted.min() == 1 / 100
    assert "symmetric" in ASSUMES
    with pytest.raises(InputError, match="at least 1"):
        sign_flip(units_of(delta), rng=rng, draws=0)


@pytest.mark.slow
def test_exchangeable_arms_are_rejected_no_more_often_than_declared() -> None:
    rng, runs = np.random.default_rng(3), 600
    hits = 0
    for _ in range(runs):
        delta = rng.choice([-0.5, -0.25, 0, 0, 0.25, 0.5], (14, 6))
        hits += bool((sign_flip(units_of(delta), rng=rng).p_adjusted <= 0.05).any())
    assert hits / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5
