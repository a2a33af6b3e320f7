"""Does a score rank wrong answers above right ones? Point, exact test and interval."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State

MAX_ENUMERATED = 1_000_000
"""Up to so many ways to choose the wrong items, the p-value is exact."""
MIN_PAIRED_CLASS = 30
"""Below this many items in a class no paired difference is tested."""
_CHUNK = 8_000_000  # permuted labels held at once


@dataclass(frozen=True, slots=True)
class Ranking:
    """How well a score ranks wrong above right; ``None`` where nothing can be said."""

    state: State
    reason: str | None
    n_wrong: int
    n_right: int
    auroc: Fraction | None
    """Probability that a wrong item scores above a right one, ties one half."""
    p_greater: Fraction | None
    p_two_sided: Fraction | None
    """By distance from one half."""
    p_is_exact: bool | None
    """Enumerated; else from random permutations."""
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """AUROC of the first score minus that of the second on the same items."""

    state: State
    reason: str | None
    difference: Fraction | None
    low: float | None
    high: float | None
    p_two_sided: float | None


def rank_wrong_above_right(
    scores_wrong: ArrayLike,
    scores_right: ArrayLike,
    *,
    rng: np.random.Generator | None = None,
    min_class: int = 5,
    level: float = 0.95,
    n_permutations: int = 10_000,
) -> Ranking:
    r"""AUROC with its exact p-value and Newcombe's interval.

    Mid-ranks, ties one half. The p-value enumerates every choice of the wrong items when there
    are at most 10^6, else :math:`(1 + \#\{\ge\})/(1 + B)` over B random permutations.

    Parameters
    ----------
    scores_wrong, scores_right : (n_wrong,), (n_right,) float
        Finite scores; high is meant to point to wrong.
    rng : numpy.random.Generator, optional
        Needed only where permutations are drawn.
    min_class : int
        A smaller class is described, not measured: no interval.
    level : float in (0, 1)
        Of the interval.
    n_permutations : int
        B, at least 1.

    Returns
    -------
    Ranking
        ``NO_EVIDENCE`` when a class is small or empty; never one half by convention.

    Raises
    ------
    InputError
        If a score is not finite, a parameter out of range, or ``rng`` is needed and absent.

    Examples
    --------
    >>> found = rank_wrong_above_right([6, 7, 8, 9, 10], [1, 2, 3, 4, 5])
    >>> str(found.auroc), str(found.p_two_sided), round(found.low, 3), found.high
    ('1', '1/126', 0.643, 1.0)
    """
    wrong, right = _scores(scores_wrong, "scores_wrong"), _scores(scores_right, "scores_right")
    n_wrong, n_right = len(wrong), len(right)
    if not n_wrong or not n_right:
        reason = "a class is empty: nothing to rank"
        return Ranking(State.NO_EVIDENCE, reason, n_wrong, n_right, *[None] * 6)
    ranks = _double_ranks(np.concatenate([wrong, right]))
    observed = int(ranks[:n_wrong].sum()) - n_wrong * (n_wrong + 1)
    auroc = Fraction(observed, 2 * n_wrong * n_right)
    exact = _can_be_enumerated(n_wrong, n_right)
    if exact:
        greater, two_sided = _enumerate(ranks, n_wrong, observed)
    else:
        greater, two_sided = _permute(ranks, n_wrong, observed, rng=rng, n_draws=n_permutations)
    seen = (n_wrong, n_right, auroc, greater, two_sided, exact)
    if min(n_wrong, n_right) < min_class:
        reason = f"a class holds fewer than {min_class} items: descriptive only, no interval"
        return Ranking(State.NO_EVIDENCE, reason, *seen, None, None)
    ends = newcombe_interval(float(auroc), n_wrong, n_right=n_right, level=level)
    return Ranking(State.MEASURED, None, *seen, *ends)


def newcombe_variance(theta: float, n_wrong: int, *, n_right: int) -> float:
    r"""Variance of an AUROC whose true value is ``theta`` (Newcombe 2006, method 5).

    :math:`\theta(1-\theta)\,[1 + (\bar n - 1)(\frac{1-\theta}{2-\theta} +
    \frac{\theta}{1+\theta})] / (n_w n_r)` with :math:`\bar n = (n_w + n_r)/2`.

    Examples
    --------
    >>> newcombe_variance(0.5, 1, n_right=1)
    0.25
    """
    more = (n_wrong + n_right) / 2 - 1
    spread = 1 + more * ((1 - theta) / (2 - theta) + theta / (1 + theta))
    return theta * (1 - theta) * spread / (n_wrong * n_right)


def newcombe_interval(
    auroc: float, n_wrong: int, *, n_right: int, level: float = 0.95
) -> tuple[float, float]:
    r"""All true values within z standard errors of the observed one, each with its own error.

    The set of :math:`\theta` with :math:`|\theta - A| \le z\sqrt{V(\theta)}`, V of
    :func:`newcombe_variance`. Never of zero width; at 0 or 1 that end is the observed value.

    Parameters
    ----------
    auroc : float in [0, 1]
    n_wrong, n_right : int, at least 1
    level : float in (0, 1)

    Raises
    ------
    InputError
        If a number lies outside its range.

    Examples
    --------
    >>> [round(end, 3) for end in newcombe_interval(0.5, 5, n_right=5)]
    [0.206, 0.794]
    """
    if not (0 <= auroc <= 1 and 0 < level < 1 and n_wrong >= 1 and n_right >= 1):
        msg = (
            f"auroc is {auroc}, level {level}, classes hold {n_wrong} and {n_right}; wanted auroc "
            "in [0, 1], level in (0, 1) and an item in each class. Correct the one outside."
        )
        raise InputError(msg)
    z = float(ndtri((1 + level) / 2))
    below = _lower_end(auroc, z, (n_wrong, n_right))
    return below, 1 - _lower_end(1 - auroc, z, (n_wrong, n_right))  # V(t) = V(1 - t)


def paired_auroc_difference(
    first: ArrayLike, second: ArrayLike, *, wrong: ArrayLike, level: float = 0.95
) -> PairedDifference:
    """Difference of two scores' AUROC on the same items, with DeLong's interval and test.

    Parameters
    ----------
    first, second : (n,) float
        Finite scores of the same items.
    wrong : (n,) bool
    level : float in (0, 1)

    Returns
    -------
    PairedDifference
        ``NO_EVIDENCE`` below 30 items in a class: the normal approximation fails there;
        ``DEGENERATE`` when the scores rank the items alike, so that there is no variance.

    Raises
    ------
    ShapeError
        If the lengths differ.
    InputError
        If a score is not finite.
    """
    one, two = _scores(first, "first"), _scores(second, "second")
    labels = np.asarray(wrong, dtype=np.bool_)
    if not len(one) == len(two) == len(labels):
        msg = (
            f"first, second and wrong hold {len(one)}, {len(two)} and {len(labels)} items; "
            "they must be the same items in the same order. Join them first."
        )
        raise ShapeError(msg)
    n_wrong, n_right = int(labels.sum()), int((~labels).sum())
    if min(n_wrong, n_right) < MIN_PAIRED_CLASS:
        reason = f"a class holds fewer than {MIN_PAIRED_CLASS} items: no paired test"
        return PairedDifference(State.NO_EVIDENCE, reason, *[None] * 4)
    parts = [_components(score, labels) for score in (one, two)]
    above, under = parts[0][0] - parts[1][0], parts[0][1] - parts[1][1]  # both scaled by 2
    difference = Fraction(int(above.sum()), 2 * n_wrong * n_right)
    variance = np.var(above / (2 * n_right), ddof=1) / n_wrong
    variance += np.var(under / (2 * n_wrong), ddof=1) / n_right
    if variance <= 0:
        reason = "the difference does not vary over the items"
        return PairedDifference(State.DEGENERATE, reason, difference, None, None, None)
    error, value = math.sqrt(variance), float(difference)
    z = float(ndtri((1 + level) / 2))
    p = float(2 * ndtr(-abs(value) / error))
    low, high = max(-1.0, value - z * error), min(1.0, value + z * error)
    return PairedDifference(State.MEASURED, None, difference, low, high, p)


def _scores(values: ArrayLike, where: str) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        msg = (
            f"{where} has shape {array.shape} and {int((~np.isfinite(array)).sum())} numbers that "
            "are not finite; wanted (n,) finite scores. Leave out items without a score."
        )
        raise InputError(msg)
    return array


def _double_ranks(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Twice the mid-rank, which is whole."""
    from scipy.stats import rankdata  # noqa: PLC0415 - slow to load, seldom needed

    doubled: NDArray[np.int64] = np.rint(2 * rankdata(scores)).astype(np.int64)
    return doubled


def _can_be_enumerated(n_wrong: int, n_right: int) -> bool:
    small = min(n_wrong, n_right)
    if small > MAX_ENUMERATED.bit_length():  # C(2k, k) >= 2^k: spares a huge binomial
        return False
    return math.comb(n_wrong + n_right, n_wrong) <= MAX_ENUMERATED


def _enumerate(ranks: NDArray[np.int64], n_wrong: int, observed: int) -> tuple[Fraction, Fraction]:
    """Exact shares of choices at least as extreme, from the counts of every rank sum."""
    n, n_right = len(ranks), len(ranks) - n_wrong
    counts = _sum_counts(ranks, min(n_wrong, n_right))
    sums = np.flatnonzero(counts)
    ways = counts[sums]
    if n_right < n_wrong:
        sums = int(ranks.sum()) - sums
    statistic = sums - n_wrong * (n_wrong + 1)
    total = math.comb(n, n_wrong)
    middle = n_wrong * n_right
    greater = int(ways[statistic >= observed].sum())
    far = int(ways[np.abs(statistic - middle) >= abs(observed - middle)].sum())
    return Fraction(greater, total), Fraction(far, total)


def _sum_counts(ranks: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """How many subsets of the given size have each rank sum."""
    if size == 1:
        single: NDArray[np.int64] = np.bincount(ranks)
        return single
    largest = int(np.sort(ranks)[-size:].sum())
    ways = np.zeros((size + 1, largest + 1), dtype=np.int64)
    ways[0, 0] = 1
    for rank in ranks.tolist():
        ways[1:, rank:] += ways[:-1, : largest + 1 - rank].copy()
    chosen: NDArray[np.int64] = ways[-1]
    return chosen


def _permute(
    ranks: NDArray[np.int64],
    n_wrong: int,
    observed: int,
    *,
    rng: np.random.Generator | None,
    n_draws: int,
) -> tuple[Fraction, Fraction]:
    if rng is None or n_draws < 1:
        msg = (
            f"{n_wrong} wrong of {len(ranks)} items are too many to enumerate, rng is {rng} and "
            f"n_permutations is {n_draws}; wanted a generator and at least 1 permutation. "
            "Pass rng=np.random.default_rng(seed)."
        )
        raise InputError(msg)
    labels = np.zeros(len(ranks), dtype=np.bool_)
    labels[:n_wrong] = True
    middle = n_wrong * (len(ranks) - n_wrong)
    greater = far = done = 0
    while done < n_draws:
        rows = min(n_draws - done, max(1, _CHUNK // len(ranks)))
        drawn = rng.permuted(np.broadcast_to(labels, (rows, len(ranks))), axis=1)
        statistic = drawn @ ranks.astype(np.float64) - n_wrong * (n_wrong + 1)
        greater += int((statistic >= observed).sum())
        far += int((np.abs(statistic - middle) >= abs(observed - middle)).sum())
        done += rows
    return Fraction(1 + greater, 1 + n_draws), Fraction(1 + far, 1 + n_draws)


def _lower_end(auroc: float, z: float, classes: tuple[int, int]) -> float:
    """Bisection between 0, outside of the set, and the observed value, inside; outer side kept."""
    outside, inside = 0.0, auroc
    while True:  # ends when no float lies between the two sides
        middle = (outside + inside) / 2
        if middle in (outside, inside):
            return outside
        reach = z * math.sqrt(newcombe_variance(middle, classes[0], n_right=classes[1]))
        if auroc - middle <= reach:
            inside = middle
        else:
            outside = middle


def _components(
    scores: NDArray[np.float64], wrong: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Twice the right items below each wrong one, and the wrong ones above each right one."""
    ranks = _double_ranks(scores)
    above = ranks[wrong] - _double_ranks(scores[wrong])
    n_wrong = int(wrong.sum())
    under = 2 * n_wrong - (ranks[~wrong] - _double_ranks(scores[~wrong]))
    return above, under
