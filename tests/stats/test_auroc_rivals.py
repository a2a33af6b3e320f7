"""Usual intervals of an AUROC: plain definitions, and where they are known to fail."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.auroc import rank_wrong_above_right
from trueness.stats.auroc_rivals import (
    bootstrap_intervals,
    delong_intervals,
    permutation_ps,
    wins,
)


@given(st.integers(0, 999), st.integers(1, 6), st.integers(1, 6))
def test_wins_count_pairs(seed: int, n_wrong: int, n_right: int) -> None:
    rng = np.random.default_rng(seed)
    wrong, right = rng.normal(size=(3, n_wrong)), rng.normal(size=(3, n_right))
    for i, count in enumerate(wins(wrong, right).tolist()):
        assert count == sum(w > r for w in wrong[i] for r in right[i])


@given(st.integers(0, 999), st.integers(2, 6), st.integers(2, 6))
def test_delong_is_the_variance_of_placements(seed: int, n_wrong: int, n_right: int) -> None:
    rng = np.random.default_rng(seed)
    wrong, right = rng.normal(size=n_wrong), rng.normal(size=n_right)
    above = [float(np.mean(w > right)) for w in wrong]
    below = [float(np.mean(wrong > r)) for r in right]
    error = np.sqrt(np.var(above, ddof=1) / n_wrong + np.var(below, ddof=1) / n_right)
    ends = np.clip(np.mean(above) + np.array([-1, 1]) * ndtri(0.975) * error, 0, 1)
    np.testing.assert_allclose(delong_intervals([wrong], [right])[0], ends, atol=1e-12)


def test_delong_knows_nothing_of_a_class_of_one_and_has_no_width_at_perfect_separation() -> None:
    assert np.isnan(delong_intervals([[3.0, 2.0]], [[1.0]])).all()
    assert delong_intervals([[3.0, 2.0]], [[1.0, 0.0]]).tolist() == [[1.0, 1.0]]


def test_the_bootstrap_resamples_each_class_in_itself() -> None:
    wrong, right = np.array([[1.0, 3.0]]), np.array([[2.0]])
    ends = bootstrap_intervals(
        wrong, right, rng=np.random.default_rng(0), n_resamples=4000, level=0.6
    )
    assert ends.tolist() == [[0.0, 1.0]]  # a quarter each at 0 and 1
    narrow = bootstrap_intervals(
        wrong, right, rng=np.random.default_rng(0), n_resamples=4000, level=0.4
    )
    assert narrow.tolist() == [[0.5, 0.5]]


def test_a_bootstrap_that_resamples_one_item_is_blind_to_it() -> None:
    """Chance scores, one right item: half of the tables are called better or worse than chance."""
    rng = np.random.default_rng(0)
    ends = bootstrap_intervals(
        rng.normal(size=(400, 15)), rng.normal(size=(400, 1)), rng=rng, n_resamples=200
    )
    assert ((ends[:, 0] > 0.5) | (ends[:, 1] < 0.5)).mean() > 0.4


@settings(max_examples=10)
@given(st.integers(0, 99), st.integers(1, 4), st.integers(1, 5))
def test_the_permutation_p_is_near_the_exact_one(seed: int, n_wrong: int, n_right: int) -> None:
    rng = np.random.default_rng(seed)
    wrong, right = rng.normal(size=(1, n_wrong)), rng.normal(size=(1, n_right))
    exact = float(rank_wrong_above_right(wrong[0], right[0]).p_two_sided or 0)
    found = permutation_ps(
        wins(wrong, right), n_wrong=n_wrong, n_right=n_right, rng=rng, n_permutations=4000
    )
    assert found[0] == pytest.approx(exact, abs=0.04)


def test_chunks_change_no_count(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    wrong, right = rng.normal(size=(20, 5)), rng.normal(size=(20, 4))
    whole = wins(wrong, right), delong_intervals(wrong, right)
    monkeypatch.setattr("trueness.stats.auroc_rivals._CELLS", 1)
    assert (wins(wrong, right) == whole[0]).all()
    np.testing.assert_array_equal(delong_intervals(wrong, right), whole[1])


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(InputError, match="equal"):
        wins([[1.0]], [[1.0]])
    with pytest.raises(ShapeError, match="no class empty"):
        wins([[1.0]], [[]])
    with pytest.raises(InputError, match="not finite"):
        wins([[np.nan]], [[1.0]])
    with pytest.raises(InputError, match="level"):
        delong_intervals([[1.0, 2.0]], [[0.0, 3.0]], level=1.0)
    with pytest.raises(InputError, match="wanted 1 of each"):
        permutation_ps(np.array([2]), n_wrong=1, n_right=1, rng=np.random.default_rng(0))
