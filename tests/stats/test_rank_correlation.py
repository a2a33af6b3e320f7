"""Spearman's correlation of few pairs: exact p, intervals, ties, bad input."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State
from trueness.stats.low_rank import random_rank, truncated
from trueness.stats.rank_correlation import rank_correlation

RNG = np.random.default_rng(0)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=4, max_size=6))
def test_it_is_spearmans_and_does_not_care_for_scale(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, float).T
    found = rank_correlation(x, y, rng=RNG)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert found.state is State.DEGENERATE
        return
    assert found.rho == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)
    assert found == rank_correlation(np.exp(x), 3 * y, rng=RNG)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.rho <= found.high  # type: ignore[operator] # it is measured
    flipped = rank_correlation(x, -y, rng=RNG)
    assert flipped.rho == pytest.approx(-found.rho, abs=1e-12)  # type: ignore[operator] # measured
    assert flipped.p == found.p


def test_a_perfect_order_has_the_least_p_and_an_interval() -> None:
    found = rank_correlation(range(6), range(6), rng=RNG)
    assert (found.rho, found.high) == (1.0, 1.0)
    assert found.p == pytest.approx(2 / 720)
    assert 0 < found.low < 1  # type: ignore[operator] # measured


def test_many_pairs_are_permuted_at_random() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=30)
    strong = rank_correlation(x, x + 0.1 * rng.normal(size=30), rng=rng, n_permutations=199)
    assert strong.p == 1 / 200
    assert strong.low is not None
    assert strong.low > 0.8


def test_too_few_pairs_are_no_evidence() -> None:
    found = rank_correlation([1, 2, 3], [1, 2, 3], rng=RNG)
    assert (found.state, found.low, found.reason) == (
        State.NO_EVIDENCE,
        None,
        "3 pairs; 4 are needed",
    )


@pytest.mark.parametrize(
    ("x", "y", "error"),
    [
        ([1, 2], [1], ShapeError),
        ([[1]], [[1]], ShapeError),
        ([1, np.nan, 2, 3], [1, 2, 3, 4], InputError),
    ],
)
def test_what_is_no_pair_is_refused(x: Any, y: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="wanted"):
        rank_correlation(x, y, rng=RNG)


def test_a_truncation_is_the_nearest_of_its_rank_and_beats_a_random_subspace() -> None:
    w = np.random.default_rng(1).normal(size=(12, 9))
    sigma = np.linalg.svd(w, compute_uv=False)
    for rank in (1, 4, 8):
        near, far = truncated(w, rank), random_rank(w, rank, rng=np.random.default_rng(2))
        assert np.linalg.matrix_rank(near) == np.linalg.matrix_rank(far) == rank
        assert np.linalg.norm(w - near) == pytest.approx(np.sqrt((sigma[rank:] ** 2).sum()))
        assert np.linalg.norm(w - near) < np.linalg.norm(w - far)
    assert np.array_equal(truncated(w, 9), w)


@pytest.mark.parametrize(
    ("matrix", "rank", "error"),
    [(np.ones(3), 1, ShapeError), (np.ones((2, 2)), 0, InputError), ([[np.inf]], 1, InputError)],
)
def test_what_cannot_be_truncated_is_refused(
    matrix: Any, rank: int, error: type[Exception]
) -> None:
    for made in (truncated, random_rank):
        given_more = {} if made is truncated else {"rng": RNG}
        with pytest.raises(error, match="wanted"):
            made(matrix, rank, **given_more)
