import math
import tracemalloc

import numpy as np
import pytest

from trueness.contract.errors import InputError
from trueness.stats.paired_means import Units, paired_means, units_of
from trueness.stats.sup_t import resampled_means, steady_order, sup_t_band


def test_resampled_means_are_means_of_items_drawn_with_replacement() -> None:
    rng = np.random.default_rng(0)
    delta = rng.uniform(-1, 1, (7, 3))
    drawn = resampled_means(units_of(delta), replicates=20_000, rng=rng)
    spread = delta.std(axis=0) / math.sqrt(7)
    np.testing.assert_allclose(drawn.mean(axis=0), delta.mean(axis=0), atol=4 * spread.max() / 141)
    np.testing.assert_allclose(drawn.std(axis=0), spread, rtol=0.03)


def test_two_items_give_their_three_means_as_often_as_they_should() -> None:
    units = Units(np.array([[0.0], [1.0]]), np.ones((2, 1)))
    drawn = resampled_means(units, replicates=8_000, rng=np.random.default_rng(1))[:, 0]
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == [0.0, 0.5, 1.0]
    np.testing.assert_allclose(counts / 8_000, [0.25, 0.5, 0.25], atol=0.03)


def test_whole_groups_are_drawn_and_items_not_measured_are_in_no_mean() -> None:
    delta = np.array([[0.5, np.nan], [0.5, np.nan], [-0.5, 0.25]])
    units = units_of(delta, np.array([0, 0, 1]))
    drawn = resampled_means(units, replicates=500, rng=np.random.default_rng(2))
    kinds = {tuple(row) for row in np.nan_to_num(drawn, nan=9.0).round(6).tolist()}
    assert kinds == {(0.5, 9.0), (-0.5, 0.25), (0.166667, 0.25)}


def test_chunks_do_not_change_what_a_resample_is() -> None:
    units = Units(np.ones((300_000, 1)), np.ones((300_000, 1)))
    drawn = resampled_means(units, replicates=9, rng=np.random.default_rng(0))
    assert (drawn == 1).all()


def test_the_band_reaches_the_order_statistic_of_the_largest_deviation() -> None:
    delta = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.5], [0.5, 0.5]])
    means = paired_means(delta)
    drawn = resampled_means(units_of(delta), replicates=999, rng=np.random.default_rng(3))
    band = sup_t_band(drawn, means)
    largest = sorted((np.abs(drawn - means.estimate) / means.se).max(axis=1).tolist())
    assert band.critical == largest[math.ceil(0.95 * 1_000) - 1]
    assert band.critical is not None
    reach = band.critical * means.se
    np.testing.assert_allclose(band.simultaneous[:, 1], means.estimate + reach)
    np.testing.assert_allclose(band.simultaneous[:, 0], means.estimate - reach)
    assert (band.pointwise[:, 0] >= band.simultaneous[:, 0]).all()
    assert (band.pointwise[:, 1] <= band.simultaneous[:, 1]).all()


def test_an_entry_without_spread_is_outside_of_the_maximum() -> None:
    rng = np.random.default_rng(4)
    delta = np.column_stack([rng.uniform(-1, 1, 9), np.full(9, 0.5), np.full(9, np.nan)])
    drawn = resampled_means(units_of(delta), replicates=199, rng=rng)
    band = sup_t_band(drawn, paired_means(delta))
    alone = sup_t_band(drawn[:, :1], paired_means(delta[:, :1]))
    assert band.critical == alone.critical
    assert np.isnan(band.simultaneous[1:]).all()
    assert np.isnan(band.pointwise[1:]).all()
    nothing = sup_t_band(drawn[:, 1:], paired_means(delta[:, 1:]))
    assert nothing.critical is None


def test_rare_movers_do_not_make_the_band_explode() -> None:
    delta = np.zeros((25, 9))
    delta[:, 0] = np.random.default_rng(5).uniform(-1, 1, 25)
    delta[:2, 1:] = 1 / 70
    drawn = resampled_means(units_of(delta), replicates=4_999, rng=np.random.default_rng(6))
    critical = sup_t_band(drawn, paired_means(delta)).critical
    assert critical is not None
    assert critical < 4


def test_a_band_of_nothing_but_zeros_may_end_at_zero_and_is_not_above_it() -> None:
    delta = np.zeros((30, 1))
    delta[0] = 0.3
    drawn = resampled_means(units_of(delta), replicates=999, rng=np.random.default_rng(7))
    low = sup_t_band(drawn, paired_means(delta)).pointwise[0, 0]
    assert low == 0


def test_the_steady_order_does_not_know_rows_or_arms() -> None:
    rng = np.random.default_rng(8)
    delta = rng.choice([-0.5, 0.0, 0.25], (40, 3))
    delta[rng.random(delta.shape) < 0.1] = np.nan
    shuffled = delta[rng.permutation(40)]
    sorted_rows = []
    for sign, rows in ((1, delta), (1, shuffled), (-1, -delta)):
        units = units_of(rows)
        order = steady_order(units, paired_means(rows).estimate)
        sorted_rows.append(sign * units.take(order).sums)
    assert (sorted_rows[0] == sorted_rows[1]).all()
    assert (sorted_rows[0] == sorted_rows[2]).all()


def test_too_few_replicates_and_no_items_are_refused() -> None:
    rng = np.random.default_rng(0)
    delta = np.array([[0.0], [1.0]])
    few = resampled_means(units_of(delta), replicates=18, rng=rng)
    with pytest.raises(InputError, match="replicates"):
        sup_t_band(few, paired_means(delta))
    sup_t_band(resampled_means(units_of(delta), replicates=19, rng=rng), paired_means(delta))
    with pytest.raises(InputError, match="0 units"):
        resampled_means(units_of(np.zeros((0, 1))), replicates=10, rng=rng)


def test_memory_does_not_grow_with_the_number_of_replicates() -> None:
    units = units_of(np.zeros((20_000, 15)))
    peaks = []
    for replicates in (240, 720):
        tracemalloc.start()
        resampled_means(units, replicates=replicates, rng=np.random.default_rng(0))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0] < 60 * 2**20
