import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State
from trueness.stats.paired_means import (
    equivalence_intervals,
    fixed_slice,
    paired_means,
    units_of,
)

DELTAS = arrays(
    np.float64,
    st.tuples(st.integers(2, 12), st.integers(1, 4)),
    elements=st.sampled_from([-1.0, -0.5, -3 / 28, 0.0, 0.0, 1 / 70, 0.5, 1.0]),
)


@given(DELTAS)
def test_without_groups_the_error_is_that_of_a_mean(delta: NDArray[np.float64]) -> None:
    means = paired_means(delta)
    wanted = delta.std(axis=0, ddof=1) / math.sqrt(len(delta))
    np.testing.assert_allclose(means.se, wanted, atol=1e-12)
    np.testing.assert_allclose(means.estimate, delta.mean(axis=0), atol=1e-12)
    alike = (delta == delta[0]).all(axis=0)
    np.testing.assert_array_equal(means.degenerate, alike)
    single = paired_means(delta, np.arange(len(delta))[::-1])
    np.testing.assert_allclose(single.se, means.se, atol=1e-12)


@given(DELTAS)
def test_groups_follow_their_formula(delta: NDArray[np.float64]) -> None:
    groups = np.arange(len(delta)) % 3
    means = paired_means(delta, groups)
    n, g = len(delta), len(set(groups.tolist()))
    off = delta - delta.mean(axis=0)
    sums = np.array([off[groups == one].sum(axis=0) for one in sorted(set(groups.tolist()))])
    wanted = np.sqrt(g / (g - 1) * (sums**2).sum(axis=0)) / n
    np.testing.assert_allclose(means.se, wanted, atol=1e-11)
    assert means.n_units.tolist() == [g] * delta.shape[1]


def test_items_that_are_not_measured_leave_their_entry_only() -> None:
    delta = np.array([[0.5, np.nan], [0.25, np.nan], [np.nan, 1.0]])
    means = paired_means(delta)
    assert means.n.tolist() == [2, 1]
    assert means.estimate.tolist() == [0.375, 1.0]
    assert np.isnan(means.se[1])
    assert means.n_movers.tolist() == [2, 1]
    assert np.isnan(equivalence_intervals(means)[1]).all()
    grouped = paired_means(delta, np.array([0, 0, 1]))
    assert grouped.n_units.tolist() == [1, 1]
    assert np.isnan(grouped.se).all()


def test_rounding_does_not_hide_that_all_differences_are_equal() -> None:
    third = np.array([[0.1 + 0.2 - 0.3], [0.0], [0.3 - 0.1 - 0.2]])
    assert third.any()
    means = paired_means(third)
    assert means.se.tolist() == [0.0]
    assert means.n_movers.tolist() == [0]


def test_group_sums_that_cancel_have_no_spread() -> None:
    delta = np.array([[0.3], [-0.3], [0.7], [-0.7]])
    means = paired_means(delta, np.array([0, 0, 1, 1]))
    assert means.degenerate.tolist() == [True]
    low, high = equivalence_intervals(means)[0]
    a = 0.05 ** (1 / 2)
    assert (low, high) == pytest.approx((a - 1, 1 - a))


@given(st.integers(2, 200), st.sampled_from([-1.0, -0.4, 0.0, 0.25, 1.0]))
def test_without_spread_the_interval_is_what_the_units_can_exclude(n: int, value: float) -> None:
    low, high = equivalence_intervals(paired_means(np.full((n, 1), value)))[0]
    missed = (high - value) / (1 - value) if value < 1 else 0.0  # share at 1, the others at value
    assert value == 1 or (1 - missed) ** n == pytest.approx(0.05)
    mirror = equivalence_intervals(paired_means(np.full((n, 1), -value)))[0]
    assert (-mirror[1], -mirror[0]) == pytest.approx((low, high))
    assert low <= value <= high


def test_twenty_nine_items_are_needed_to_certify_a_tenth_from_nothing() -> None:
    margins = [equivalence_intervals(paired_means(np.zeros((n, 1))))[0, 1] for n in (28, 29)]
    assert margins[0] >= 0.1 > margins[1]


def test_the_fixed_slice_adds_raw_variances_and_says_when_they_cannot_be() -> None:
    delta = np.array([[0.1, 0.1, 0.1, np.nan], [0.2, 0.2, 0.2, np.nan]])
    before = np.array([[0.02, -0.05, np.nan, 0.1], [-0.01, 0.01, 0.01, 0.1]])
    found = fixed_slice(delta, before, variance_after=np.full((2, 4), 0.01))
    assert found.se[0] == pytest.approx(math.sqrt(0.03) / 2)
    assert np.isnan(found.se[1:]).all()
    wanted = (State.MEASURED, State.UNSTABLE, State.NOT_APPLICABLE, State.NO_EVIDENCE)
    assert found.states == wanted


def test_shapes_and_sizes_are_checked() -> None:
    one = np.zeros((2, 1))
    with pytest.raises(ShapeError, match="groups"):
        units_of(one, np.zeros(3, dtype=np.int64))
    with pytest.raises(ShapeError, match="variances"):
        fixed_slice(one, one, variance_after=np.zeros((3, 1)))
    with pytest.raises(InputError, match=r"lie in \[-1, 1\]"):
        paired_means(np.array([[1.5]]))
    with pytest.raises(InputError, match=r"lie in \[-1, 1\]"):
        paired_means(np.array([[math.inf]]))
