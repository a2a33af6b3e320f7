"""Partial areas of resampled clusters: sorted once, weighted every time."""

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError

Floats: TypeAlias = NDArray[np.float64]
_CELLS = 1 << 18
"""Weights held at once."""


def resampled_partial_areas(
    scores: ArrayLike,
    wrong: ArrayLike,
    clusters: ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = 2000,
    max_far: float = 0.05,
) -> Floats:
    """Area of right items' coverage over false acceptance up to a limit, divided by it.

    Of tables of as many clusters, drawn with replacement; each as
    `trueness.stats.operating_points.partial_area` has it of the repeated rows. The same generator
    state draws the same clusters for any scores, so differences are paired.

    Parameters
    ----------
    scores : (n,) float
        High is meant to point to wrong.
    wrong : (n,) bool
    clusters : (n,) int
    rng : numpy.random.Generator
    n_resamples : int
    max_far : float in (0, 1]

    Returns
    -------
    (n_resamples,) float in [0, 1]
        nan where a resample lacks a class.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> resampled_partial_areas([0, 1, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], rng=rng, n_resamples=2)
    array([1., 1.])
    """
    if not 0 < max_far <= 1 or n_resamples < 1:
        msg = f"max_far is {max_far} with {n_resamples} resamples; wanted 0.05 and 2000, say."
        raise InputError(msg)
    table, labels = np.asarray(scores, np.float64), np.asarray(wrong, np.bool_)
    codes = np.unique(np.asarray(clusters), return_inverse=True)[1].reshape(-1)
    n_clusters = int(codes.max(initial=-1)) + 1
    order = np.argsort(table, kind="stable")
    ends = np.flatnonzero(np.diff(table[order], append=np.inf) > 0)
    found = np.empty(n_resamples)
    step = max(1, _CELLS // max(1, len(table)))
    for start in range(0, n_resamples, step):
        stop = min(start + step, n_resamples)
        drawn = rng.integers(0, n_clusters, (stop - start, n_clusters))
        counts = np.stack([np.bincount(row, minlength=n_clusters) for row in drawn])
        weights = counts[:, codes[order]].astype(np.float64)
        right, gone = weights * ~labels[order], weights * labels[order]
        cover, far = (np.cumsum(part, axis=1)[:, ends] for part in (right, gone))
        found[start:stop] = _areas(far, cover, max_far) / max_far
    return found


def _areas(far: Floats, cover: Floats, limit: float) -> Floats:
    """(b,) Trapezoids under curves through their points and the origin, cut at a limit."""
    ends = (far[:, -1:] > 0) & (cover[:, -1:] > 0)
    x = np.divide(far, far[:, -1:], out=np.zeros_like(far), where=ends)
    y = np.divide(cover, cover[:, -1:], out=np.zeros_like(cover), where=ends)
    x, y = np.pad(x, ((0, 0), (1, 0))), np.pad(y, ((0, 0), (1, 0)))
    width, height = np.diff(x, axis=1), np.diff(y, axis=1)
    kept = np.clip(limit - x[:, :-1], 0.0, width)
    share = np.divide(kept, width, out=np.zeros_like(width), where=width > 0)
    areas = (kept * (y[:, :-1] + share * height / 2)).sum(axis=1)
    return np.where(ends[:, 0], areas, np.nan)
