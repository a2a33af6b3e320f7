"""Weighted AUROCs against tables that were really resampled."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.cluster_auroc import cluster_auroc, resampled_aurocs


def plainly(
    scores: np.ndarray, wrong: np.ndarray, clusters: np.ndarray, *, seed: int, resamples: int
) -> list[float]:
    """The same clusters drawn, their rows copied, ranked."""
    rng = np.random.default_rng(seed)
    n = int(clusters.max()) + 1
    found = []
    for row in rng.integers(0, n, (resamples, n)):
        rows = np.concatenate([np.flatnonzero(clusters == c) for c in row])
        s, w = scores[rows], wrong[rows]
        n_wrong, n_right = int(w.sum()), int((~w).sum())
        if not n_wrong or not n_right:
            found.append(np.nan)
            continue
        ranks = rankdata(s)
        found.append((ranks[w].sum() - n_wrong * (n_wrong + 1) / 2) / (n_wrong * n_right))
    return found


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.booleans(), st.integers(0, 3)), min_size=2, max_size=20
    ),
    st.integers(0, 99),
)
def test_weights_give_what_copying_rows_gives(rows: list[tuple[int, bool, int]], seed: int) -> None:
    scores = np.array([r[0] for r in rows], dtype=np.float64)
    wrong = np.array([r[1] for r in rows])
    clusters = np.unique([r[2] for r in rows], return_inverse=True)[1]
    found = resampled_aurocs(
        scores, wrong, clusters, rng=np.random.default_rng(seed), n_resamples=7
    )
    assert found == pytest.approx(
        plainly(scores, wrong, clusters, seed=seed, resamples=7), nan_ok=True, abs=1e-12
    )


def test_intervals_of_shared_sources_are_wider_than_their_rows_suggest() -> None:
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(60), 10)
    wrong = clusters % 2 == 0
    scores = rng.normal(size=60)[clusters] + 0.1 * rng.normal(size=600) + wrong
    by_source = cluster_auroc(scores, wrong, clusters, rng=rng, n_resamples=400)
    by_row = cluster_auroc(scores, wrong, np.arange(600), rng=rng, n_resamples=400)
    assert by_source.low is not None
    assert by_source.high is not None
    assert by_row.low is not None
    assert by_row.high is not None
    assert by_source.high - by_source.low > 2 * (by_row.high - by_row.low)
    assert by_source.auroc == by_row.auroc


def test_few_clusters_and_a_missing_class_have_no_interval() -> None:
    rng = np.random.default_rng(0)
    few = cluster_auroc([1.0, 2.0], [False, True], [0, 0], rng=rng)
    assert (few.state, few.auroc, few.low) == ("NOT_APPLICABLE", 1.0, None)
    one = cluster_auroc([1.0, 2.0], [True, True], [0, 1], rng=rng)
    assert (one.state, one.auroc) == ("NO_EVIDENCE", None)


def test_bad_input_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ShapeError):
        resampled_aurocs([1.0], [True, False], [0], rng=rng)
    with pytest.raises(InputError, match="truth values"):
        resampled_aurocs([1.0, 2.0], [0, 1], [0, 1], rng=rng)
    with pytest.raises(InputError, match="n_resamples"):
        resampled_aurocs([1.0], [True], [0], rng=rng, n_resamples=0)
    with pytest.raises(InputError, match="level"):
        cluster_auroc([1.0], [True], [0], rng=rng, level=1.0)
