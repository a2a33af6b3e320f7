"""The mean of a table of passages by entities, both of them samples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.crossed_means import between_share, crossed_mean


def test_a_table_without_numbers_has_no_mean() -> None:
    assert crossed_mean(np.full((2, 3), np.nan), rng=np.random.default_rng(0)) is None


def test_missing_entries_leave_the_mean_of_the_others() -> None:
    values = np.array([[1.0, np.nan], [0.0, 0.5]])
    found = crossed_mean(values, rng=np.random.default_rng(0))
    assert found is not None
    assert (found.estimate, found.n, found.n_rows, found.n_columns) == (0.5, 3, 2, 2)


@given(arrays(np.float64, (4, 5), elements=st.sampled_from([-1.0, 0.0, 0.5, 1.0])))
def test_order_of_rows_and_columns_and_sign_do_not_matter(values: np.ndarray) -> None:
    rng = np.random.default_rng
    one = crossed_mean(values, rng=rng(1), replicates=400)
    other = crossed_mean(-values[::-1, ::-1], rng=rng(1), replicates=400)
    assert one is not None
    assert other is not None
    assert one.estimate == pytest.approx(-other.estimate)
    assert one.low <= one.estimate <= one.high
    assert 0 < one.p <= 1


def test_p_is_never_below_what_signs_of_the_fewer_units_allow() -> None:
    found = crossed_mean(np.ones((3, 40)), rng=np.random.default_rng(0))
    assert found is not None
    assert found.p == 0.25  # three passages: 2 of 8 patterns


def test_one_passage_is_kept_as_it_is() -> None:
    values = np.array([[1.0, 0.0, 1.0, 1.0, 0.0, 1.0]])
    found = crossed_mean(values, rng=np.random.default_rng(0))
    assert found is not None
    assert found.low < found.estimate < found.high
    assert found.n_rows == 1


def test_the_interval_covers_and_the_test_keeps_its_level() -> None:
    rng = np.random.default_rng(7)
    covered = rejected = 0
    for _ in range(300):
        passages, entities = rng.normal(size=(8, 1)), rng.normal(size=(1, 12))
        noise = rng.normal(size=(8, 12))
        values = np.clip(0.15 * (passages + entities + noise), -1, 1)
        found = crossed_mean(values, rng=rng, replicates=400)
        assert found is not None
        covered += found.low <= 0 <= found.high
        rejected += found.p <= 0.05
    assert covered >= 0.92 * 300
    assert rejected <= (0.05 + 3 * (0.05 * 0.95 / 300) ** 0.5) * 300


def test_what_is_no_table_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ShapeError, match="n_rows, n_columns"):
        crossed_mean(np.zeros(3), rng=rng)
    with pytest.raises(InputError, match="level"):
        crossed_mean(np.zeros((2, 2)), rng=rng, level=1.0)
    with pytest.raises(InputError, match="replicates"):
        crossed_mean(np.zeros((2, 2)), rng=rng, replicates=0)


def test_the_share_between_groups_is_that_of_the_sums_of_squares() -> None:
    groups = [np.array([0.0, 2.0, np.nan]), np.array([4.0, 6.0])]
    assert between_share(groups) == pytest.approx(16 / 20)
    assert between_share(groups[:1]) is None
    assert between_share([np.array([1.0]), np.array([1.0, np.nan])]) is None
