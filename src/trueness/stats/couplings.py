"""Couplings over items: ratios, gold against chosen beside the logit, and candidates cut in two."""

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State
from trueness.stats.cluster_auroc import resampled_aurocs

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RatioSummary:
    """A ratio of norms over items, two ways.

    Parameters
    ----------
    state : State
        ``NO_EVIDENCE`` without an item that has both norms above 0.
    geometric_mean : float or None
        Exponential of the mean log ratio.
    low, high : float or None
        Its percentile interval over resampled entities.
    ratio_of_means : float or None
        Arithmetic mean over arithmetic mean, as published: large norms decide it.
    n, n_without : int
        Items in it; items without a ratio.
    """

    state: State
    geometric_mean: float | None
    low: float | None
    high: float | None
    ratio_of_means: float | None
    n: int
    n_without: int


def ratio_summary(
    above: ArrayLike,
    below: ArrayLike,
    entities: ArrayLike,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    n_resamples: int = 2000,
) -> RatioSummary:
    """Ratio of two norms over items: entity over control, or gold over chosen on wrong items.

    Parameters
    ----------
    above, below : (n,) float
        Per-token norms; an item where one is 0 or nan has no ratio and is counted.
    entities : (n,) int
        Resampled as one.
    rng : numpy.random.Generator
    level : float in (0, 1)
    n_resamples : int

    Raises
    ------
    ShapeError
        When lengths differ.

    Examples
    --------
    >>> found = ratio_summary([1.0, 8.0], [2.0, 4.0], [0, 1], rng=np.random.default_rng(0))
    >>> round(found.geometric_mean, 12), found.ratio_of_means
    (1.0, 1.5)
    """
    a, b = np.asarray(above, np.float64), np.asarray(below, np.float64)
    units = np.asarray(entities)
    if not a.shape == b.shape == units.shape or a.ndim != 1:
        msg = f"norms have shapes {a.shape}, {b.shape}, entities {units.shape}; wanted one an item."
        raise ShapeError(msg)
    there = (a > 0) & (b > 0) & np.isfinite(a) & np.isfinite(b)
    n, gone = int(there.sum()), int((~there).sum())
    if not n:
        return RatioSummary(State.NO_EVIDENCE, None, None, None, None, 0, gone)
    logs = np.log(a[there]) - np.log(b[there])
    codes = np.unique(units[there], return_inverse=True)[1]
    sums, sizes = np.bincount(codes, logs), np.bincount(codes)
    drawn = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), n_resamples)
    means = drawn @ sums / (drawn @ sizes)
    low, high = np.exp(np.quantile(means, [(1 - level) / 2, (1 + level) / 2])).tolist()
    whole = float(a[there].sum() / b[there].sum())
    return RatioSummary(State.MEASURED, math.exp(float(logs.mean())), low, high, whole, n, gone)


@dataclass(frozen=True, slots=True)
class CouplingContest:
    """Whether coupling ranks gold above chosen better than the logit does, on the same pairs.

    Parameters
    ----------
    state : State
        ``NO_EVIDENCE`` without a pair.
    by_coupling, by_logit, difference : float or None
        AUROC of gold above chosen, ties one half, and the first minus the second.
    low, high : float or None
        Percentile interval of the difference over resampled entities, paired.
    p : float or None
        Twice the share (1 + b)/(1 + m) of resamples on the other side of 0, at most 1.
    n_pairs : int
    """

    state: State
    by_coupling: float | None
    by_logit: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    n_pairs: int


def coupling_contest(
    coupling: ArrayLike,
    logits: ArrayLike,
    entities: ArrayLike,
    *,
    seed: int,
    level: float = 0.95,
    n_resamples: int = 2000,
) -> CouplingContest:
    """AUROC of gold above chosen by coupling, beside the AUROC by logit.

    Parameters
    ----------
    coupling, logits : (n, 2) float
        Of gold and of chosen, on wrong items.
    entities : (n,) int
        Resampled as one.
    seed : int
        Both scores are resampled alike.
    level : float in (0, 1)
    n_resamples : int

    Raises
    ------
    ShapeError, InputError
        For other shapes or a number that is not finite.

    Examples
    --------
    >>> found = coupling_contest([[3.0, 1.0]], [[0.0, 2.0]], [0], seed=0, n_resamples=10)
    >>> found.by_coupling, found.by_logit, found.difference
    (1.0, 0.0, 1.0)
    """
    scores = [np.asarray(s, np.float64) for s in (coupling, logits)]
    units = np.asarray(entities)
    if any(s.shape != (len(units), 2) for s in scores):
        msg = (
            f"coupling has shape {scores[0].shape}, logits {scores[1].shape}; wanted "
            f"({len(units)}, 2): gold and chosen of each item."
        )
        raise ShapeError(msg)
    if not len(units):
        return CouplingContest(State.NO_EVIDENCE, None, None, None, None, None, None, 0)
    gold = np.tile([True, False], len(units))
    once, many = [], []
    for score in scores:
        flat, clusters = score.ravel(), np.repeat(units, 2)
        once.append(_auroc(score))
        rng = np.random.default_rng(seed)
        many.append(resampled_aurocs(flat, gold, clusters, rng=rng, n_resamples=n_resamples))
    tail = (1 - level) / 2
    apart = many[0] - many[1]
    low, high = np.quantile(apart, [tail, 1 - tail]).tolist()
    other = min(int((apart <= 0).sum()), int((apart >= 0).sum()))
    p = min(1.0, 2 * (1 + other) / (1 + n_resamples))
    return CouplingContest(
        State.MEASURED, once[0], once[1], once[0] - once[1], low, high, p, len(units)
    )


@dataclass(frozen=True, slots=True)
class GapSplit:
    """Candidates cut in two at the widest gap of their norms.

    Parameters
    ----------
    state : State
        ``NOT_APPLICABLE`` below three candidates.
    upper : tuple of bool
        The candidate lies above the gap; empty unless measured.
    gap : float or None
    random_upper : float or None
        Share of random splits of the same sizes that put a given candidate above: what a split
        has to beat.
    random_apart : float or None
        Share of them that put one given candidate above and another one below.
    """

    state: State
    reason: str | None
    upper: tuple[bool, ...]
    gap: float | None
    random_upper: float | None
    random_apart: float | None


def largest_gap_split(norms: ArrayLike) -> GapSplit:
    """Cut candidates' norms, sorted, at the widest gap; of several equal gaps at the lowest.

    Parameters
    ----------
    norms : (c,) float

    Raises
    ------
    ShapeError, InputError
        For another shape or a norm that is not finite.

    Examples
    --------
    >>> found = largest_gap_split([1.0, 5.0, 1.5])
    >>> found.upper, found.gap, round(found.random_upper, 4)
    ((False, True, False), 3.5, 0.3333)
    """
    values = np.asarray(norms, dtype=np.float64)
    if values.ndim != 1:
        msg = f"norms have shape {values.shape}; wanted (n_candidates,)."
        raise ShapeError(msg)
    if not np.isfinite(values).all():
        msg = "a norm is not finite; leave that candidate out and say so."
        raise InputError(msg)
    c = len(values)
    if c < 3:  # noqa: PLR2004 - two candidates have one gap whatever they are
        reason = f"{c} candidates; wanted at least 3"
        return GapSplit(State.NOT_APPLICABLE, reason, (), None, None, None)
    ordered = np.sort(values)
    gaps = np.diff(ordered)
    if gaps.max() == 0:
        return GapSplit(State.DEGENERATE, "all norms are equal", (), None, None, None)
    at = int(np.argmax(gaps))
    upper = values > ordered[at]
    k = int(upper.sum())
    split = tuple(upper.tolist())
    apart = k * (c - k) / (c * (c - 1))
    return GapSplit(State.MEASURED, None, split, float(gaps[at]), k / c, apart)


def _auroc(pairs: Floats) -> float:
    """Gold of any item above chosen of any item, ties one half."""
    chosen = np.sort(pairs[:, 1])
    below = np.searchsorted(chosen, pairs[:, 0], side="left")
    level = np.searchsorted(chosen, pairs[:, 0], side="right")
    return float((below + level).sum()) / (2 * len(pairs) ** 2)
