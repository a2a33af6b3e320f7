"""AUROCs of resampled clusters: sorted once, weighted every time."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State

MIN_CLUSTERS = 30
"""Below so many clusters no interval is given."""

Floats: TypeAlias = NDArray[np.float64]
_CELLS = 1 << 18
"""Weights held at once."""


@dataclass(frozen=True, slots=True)
class ClusteredAuroc:
    """An AUROC with the percentile interval of resampled clusters.

    Parameters
    ----------
    state : State
        ``NO_EVIDENCE`` without both classes, ``NOT_APPLICABLE`` below `MIN_CLUSTERS`.
    reason : str or None
    auroc : float or None
        Probability that a wrong item scores above a right one, ties one half.
    low, high : float or None
    n_clusters, n_resamples : int
    n_one_class : int
        Resamples without both classes, left out of the interval.
    """

    state: State
    reason: str | None
    auroc: float | None
    low: float | None
    high: float | None
    n_clusters: int
    n_resamples: int
    n_one_class: int


def cluster_auroc(
    scores: ArrayLike,
    wrong: ArrayLike,
    clusters: ArrayLike,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    n_resamples: int = 2000,
) -> ClusteredAuroc:
    """AUROC of wrong above right, with an interval that keeps clusters whole.

    Parameters
    ----------
    scores : (n,) float
        High is meant to point to wrong.
    wrong : (n,) bool
    clusters : (n,) int
        Source of every item.
    rng : numpy.random.Generator
    level : float in (0, 1)
    n_resamples : int

    Raises
    ------
    ShapeError, InputError
        When lengths differ, a score is not finite, or a number is out of range.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = cluster_auroc([0.0, 1.0], [False, True], [0, 1], rng=rng)
    >>> found.auroc, found.state.value
    (1.0, 'NOT_APPLICABLE')
    """
    if not 0 < level < 1:
        msg = f"level is {level}; wanted a number between 0 and 1, such as 0.95."
        raise InputError(msg)
    table, labels, codes = _checked(scores, wrong, clusters)
    n_clusters = int(codes.max(initial=-1)) + 1
    if labels.all() or not labels.any():
        reason = "a class is empty: nothing to rank"
        return ClusteredAuroc(State.NO_EVIDENCE, reason, None, None, None, n_clusters, 0, 0)
    point = float(_Ranked.of(table, labels).weighted(np.ones((1, len(labels)), np.int32))[0])
    if n_clusters < MIN_CLUSTERS:
        reason = f"{n_clusters} clusters are fewer than {MIN_CLUSTERS}: no interval"
        state = State.NOT_APPLICABLE
        return ClusteredAuroc(state, reason, point, None, None, n_clusters, 0, 0)
    found = resampled_aurocs(table, labels, codes, rng=rng, n_resamples=n_resamples)
    there = found[~np.isnan(found)]
    if not len(there):
        reason = "no resample holds both classes"
        return ClusteredAuroc(
            State.NO_EVIDENCE, reason, point, None, None, n_clusters, n_resamples, n_resamples
        )
    low, high = np.quantile(there, [(1 - level) / 2, (1 + level) / 2]).tolist()
    gone = n_resamples - len(there)
    return ClusteredAuroc(State.MEASURED, None, point, low, high, n_clusters, n_resamples, gone)


def resampled_aurocs(
    scores: ArrayLike,
    wrong: ArrayLike,
    clusters: ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = 2000,
) -> Floats:
    r"""AUROCs of tables of as many clusters, drawn with replacement.

    A resample weighs each row by how often its cluster was drawn:
    :math:`\sum_{w} n_w (R_{<w} + \tfrac12 R_{=w}) / (W R)` with R the weights of right items.
    The same generator state draws the same clusters for any score, so differences are paired.

    Parameters
    ----------
    scores, wrong, clusters : (n,)
        As in :func:`cluster_auroc`.
    rng : numpy.random.Generator
    n_resamples : int

    Returns
    -------
    (n_resamples,) float
        nan where a resample lacks a class.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> resampled_aurocs([0, 1, 0, 1], [0 > 1, 1 > 0] * 2, [0, 0, 1, 1], rng=rng, n_resamples=2)
    array([1., 1.])
    """
    if n_resamples < 1:
        msg = f"n_resamples is {n_resamples}; wanted 1 or more, such as 2000."
        raise InputError(msg)
    table, labels, codes = _checked(scores, wrong, clusters)
    n_clusters = int(codes.max(initial=-1)) + 1
    ranked = _Ranked.of(table, labels)
    found = np.empty(n_resamples)
    step = max(1, _CELLS // max(1, len(table)))
    for start in range(0, n_resamples, step):
        stop = min(start + step, n_resamples)
        drawn = rng.integers(0, n_clusters, (stop - start, n_clusters))
        counts = np.stack([np.bincount(row, minlength=n_clusters) for row in drawn])
        found[start:stop] = ranked.weighted(counts.astype(np.int32)[:, codes])
    return found


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Rows in the order of their scores, and for each wrong one how many right ones are below."""

    right: NDArray[np.int64]
    """Rows of right items, by score."""
    wrong: NDArray[np.int64]
    below: NDArray[np.int64]
    """Right items strictly below each wrong one, and at or below it."""
    at_or_below: NDArray[np.int64]

    @classmethod
    def of(cls, scores: Floats, labels: NDArray[np.bool_]) -> "_Ranked":
        right, wrong = np.flatnonzero(~labels), np.flatnonzero(labels)
        right = right[np.argsort(scores[right], kind="stable")]
        at = scores[right]
        return cls(
            right.astype(np.int64),
            wrong.astype(np.int64),
            np.searchsorted(at, scores[wrong], side="left").astype(np.int64),
            np.searchsorted(at, scores[wrong], side="right").astype(np.int64),
        )

    def weighted(self, weights: NDArray[np.int32]) -> Floats:
        """(b,) AUROC under each row of (b, n) weights; nan without a class."""
        right, wrong = weights[:, self.right], weights[:, self.wrong].astype(np.float64)
        cumulated = np.zeros((len(weights), right.shape[1] + 1))
        np.cumsum(right, axis=1, out=cumulated[:, 1:])
        beaten = cumulated[:, self.below] + cumulated[:, self.at_or_below]
        pairs = wrong.sum(axis=1) * cumulated[:, -1]
        sums = np.einsum("bn,bn->b", wrong, beaten) / 2
        out: Floats = np.divide(sums, pairs, out=np.full(len(weights), np.nan), where=pairs > 0)
        return out


def _checked(
    scores: ArrayLike, wrong: ArrayLike, clusters: ArrayLike
) -> tuple[Floats, NDArray[np.bool_], NDArray[np.int64]]:
    table, labels = np.asarray(scores, dtype=np.float64), np.asarray(wrong)
    codes = np.asarray(clusters)
    if table.ndim != 1 or labels.shape != table.shape or codes.shape != table.shape:
        msg = (
            f"scores have shape {table.shape}, labels {labels.shape} and clusters {codes.shape}; "
            "wanted one of each an item."
        )
        raise ShapeError(msg)
    if labels.dtype != np.bool_ or not np.isfinite(table).all():
        msg = (
            f"labels are {labels.dtype} and {int((~np.isfinite(table)).sum())} scores not finite; "
            "wanted truth values and finite scores. Count the unmeasured apart."
        )
        raise InputError(msg)
    dense = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    return table, labels, dense
