"""Two clouds of each item, drawn apart: how far they are from one another."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.clouds import NONE, Bools, Clouds, Floats, Ints

STILL, IDENTITY_MOVED, SHAPE_MOVED, NOT_COMPARED = 0, 1, 2, -1
MOVEMENTS = ("still", "identity_moved", "shape_moved")


@dataclass(frozen=True, slots=True, eq=False)
class CloudPairs:
    """Counts of two clouds over the classes that either of them drew.

    Attributes
    ----------
    item : (n_cells,) int64, ascending
    answer : (n_cells,) int64, ascending within an item
    before, after : (n_cells,) int64
        Draws that fell into the class; 0 in at most one of the two.
    answered : (n_cells,) bool
        False for a class of no answer.
    n_items : int
    """

    item: Ints
    answer: Ints
    before: Ints
    after: Ints
    answered: Bools
    n_items: int

    @property
    def draws_before(self) -> Ints:
        """(n_items,): draws of the first cloud."""
        return self.sums(self.before).astype(np.int64)

    @property
    def draws_after(self) -> Ints:
        """(n_items,): draws of the second cloud."""
        return self.sums(self.after).astype(np.int64)

    def sums(self, values: Ints | Floats | Bools) -> Floats:
        """(n_items,): numbers of the cells summed over each item."""
        return np.bincount(self.item, values, self.n_items).astype(np.float64)


@dataclass(frozen=True, slots=True)
class ExactPair:
    """Figures of one pair as fractions; None where they are not defined."""

    total_variation: Fraction | None
    null_mean: Fraction | None
    cross_collision: Fraction | None
    squared_distance: Fraction | None
    morisita: Fraction | None


@dataclass(frozen=True, slots=True)
class Overlap:
    """A ratio of sums over the items in which it is defined."""

    value: float
    """nan where nothing agrees anywhere."""
    n: int
    """Items in the sums."""


def pair_clouds(before: Clouds, after: Clouds) -> CloudPairs:
    """Two clouds of the same items side by side, class by class.

    Parameters
    ----------
    before, after : Clouds
        Sharing items and codes of classes.

    Returns
    -------
    CloudPairs

    Raises
    ------
    ShapeError
        If the numbers of items differ.
    InputError
        If a class is no answer in one and an answer in the other.

    Examples
    --------
    >>> before = Clouds.of([0, 0], [5, 6], [1, 1], n_items=1)
    >>> pairs = pair_clouds(before, Clouds.of([0, 0], [6, 6], [1, 1], n_items=1))
    >>> pairs.answer.tolist(), pairs.before.tolist(), pairs.after.tolist()
    ([5, 6], [1, 1], [0, 2])
    """
    if before.n_items != after.n_items:
        msg = (
            f"clouds of {before.n_items} and of {after.n_items} items cannot be paired; "
            "take the items that both have, in one order."
        )
        raise ShapeError(msg)
    item = np.concatenate([before.item, after.item])
    answer = np.concatenate([before.answer, after.answer])
    order = np.lexsort((answer, item))
    item, answer = item[order], answer[order]
    new = np.ones(len(item), np.bool_)
    new[1:] = (item[1:] != item[:-1]) | (answer[1:] != answer[:-1])
    cell = np.cumsum(new) - 1
    place = np.empty(len(cell), np.int64)
    place[order] = cell
    counts = np.zeros((2, int(new.sum())), np.int64)
    answered = np.zeros(counts.shape, np.int8)
    for side, cloud in enumerate((before, after)):
        cells = place[: len(cloud.item)] if side == 0 else place[len(before.item) :]
        counts[side, cells] = cloud.count
        answered[side, cells] = np.where(cloud.role == NONE, -1, 1)
    item, answer = item[new], answer[new]
    _check_roles(item, answer, answered[0] * answered[1])
    return CloudPairs(item, answer, counts[0], counts[1], answered.sum(0) > 0, before.n_items)


def cross_collision(pairs: CloudPairs) -> Floats:
    r"""Unbiased probability that a draw of each cloud agree.

    :math:`X = \sum_a n_a m_a / (k k')` estimates :math:`\sum_a p(a) q(a)`.

    Returns
    -------
    (n_items,) float in [0, 1]
        nan where a cloud is empty.

    Examples
    --------
    >>> cross_collision(_example()).tolist()
    [0.1875]
    """
    k, m = _sizes(pairs)
    return _divided(pairs.sums(pairs.before * pairs.after), k * m, where=(k > 0) & (m > 0))


def squared_distance(pairs: CloudPairs) -> Floats:
    r"""Unbiased squared distance of the two laws, :math:`D^2 = U_2(n) + U_2(m) - 2X`.

    Estimates :math:`\sum_a (p(a) - q(a))^2`. Its mean over all re-splits of the pooled draws is
    exactly 0, so it **may be negative**.

    Returns
    -------
    (n_items,) float in [-1, 2]
        nan where a cloud has fewer than two draws.

    Examples
    --------
    >>> squared_distance(_example()).tolist()
    [0.125]
    """
    k, m = _sizes(pairs)
    n, o = pairs.before, pairs.after
    scale = k * (k - 1) * m * (m - 1)
    above = pairs.sums(n * (n - 1)) * m * (m - 1) + pairs.sums(o * (o - 1)) * k * (k - 1)
    above -= 2 * pairs.sums(n * o) * (k - 1) * (m - 1)
    return _divided(above, scale, where=scale > 0)


def morisita(pairs: CloudPairs) -> Floats:
    r"""Overlap of the two laws, :math:`2X / (U_2(n) + U_2(m))`: 1 the same, 0 disjoint.

    Returns
    -------
    (n_items,) float, at least 0
        A sample may exceed 1. nan where no two draws of a cloud agree or a cloud has fewer than
        two.

    Examples
    --------
    >>> morisita(_example()).tolist()
    [0.75]
    """
    across, within = _overlap_terms(pairs)
    return _divided(across, within, where=within > 0)


def slice_morisita(pairs: CloudPairs) -> Overlap:
    """Overlap over all items: the ratio of the sums, not the mean of the ratios.

    Examples
    --------
    >>> slice_morisita(_example())
    Overlap(value=0.75, n=1)
    """
    across, within = _overlap_terms(pairs)
    measured = np.isfinite(within)
    total = float(within[measured].sum())
    value = float(across[measured].sum()) / total if total > 0 else math.nan
    return Overlap(value, int(measured.sum()))


def total_variation(pairs: CloudPairs) -> Floats:
    r"""Total variation of the recorded shares, :math:`\frac12 \sum_a |n_a/k - m_a/k'|`.

    No answer is a class like any other. Strongly biased upwards: read it beside
    :func:`tv_null_mean`.

    Returns
    -------
    (n_items,) float in [0, 1]
        nan where a cloud is empty.

    Examples
    --------
    >>> total_variation(_example()).tolist()
    [0.75]
    """
    k, m = _sizes(pairs)
    above = pairs.sums(_variation_terms(pairs, k, m))
    return _divided(above, 2 * k * m, where=(k > 0) & (m > 0))


def tv_null_mean(pairs: CloudPairs) -> Floats:
    r"""Mean of the total variation over all re-splits of the pooled draws, in closed form.

    :math:`\frac12 \sum_a E|H_a/k - (t_a - H_a)/k'|` with
    :math:`H_a \sim \mathrm{Hypergeometric}(k + k', t_a, k)` and :math:`t_a = n_a + m_a`; the mean
    absolute deviation of H from its mean :math:`\mu` is
    :math:`2 h (k' - t_a + h) \Pr[H_a = h] / (k + k')`, h the least whole number above μ.

    Returns
    -------
    (n_items,) float in [0, 1]
        What two clouds of one law show on average. nan where a cloud is empty.

    Examples
    --------
    >>> tv_null_mean(_example()).round(4).tolist()
    [0.6286]
    """
    k, m = _sizes(pairs)
    of, other = k[pairs.item], m[pairs.item]
    deviation = _deviation(pairs.before + pairs.after, of, other)
    above = pairs.sums(deviation * (of + other))
    return _divided(above, 2 * k * m, where=(k > 0) & (m > 0))


def exact_pair(pairs: CloudPairs, *, item: int = 0) -> ExactPair:
    """The figures of one pair as fractions.

    Examples
    --------
    >>> pair = exact_pair(_example())
    >>> str(pair.null_mean), str(pair.squared_distance)
    ('22/35', '1/8')
    """
    here = pairs.item == item
    n, m = pairs.before[here].tolist(), pairs.after[here].tolist()
    k, other = sum(n), sum(m)
    if not (k and other):
        return ExactPair(None, None, None, None, None)
    cells = list(zip(n, m, strict=True))
    variation = Fraction(sum(abs(a * other - b * k) for a, b in cells), 2 * k * other)
    null = sum((_exact_deviation(a + b, k, other) for a, b in cells), Fraction(0)) / 2
    cross = Fraction(sum(a * b for a, b in cells), k * other)
    if min(k, other) <= 1:
        return ExactPair(variation, null, cross, None, None)
    within = Fraction(sum(math.comb(a, 2) for a in n), math.comb(k, 2))
    within += Fraction(sum(math.comb(b, 2) for b in m), math.comb(other, 2))
    overlap = 2 * cross / within if within else None
    return ExactPair(variation, null, cross, within - 2 * cross, overlap)


def modal_cells(counts: Ints, item: Ints, n_items: int) -> Bools:
    """(n_cells,): whether a class has the maximal count of its item, and was drawn at all.

    Examples
    --------
    >>> modal_cells(np.array([2, 2, 1, 0]), np.array([0, 0, 0, 1]), 2).tolist()
    [True, True, False, False]
    """
    most = np.zeros(n_items, np.int64)
    np.maximum.at(most, item, counts)
    modal: Bools = (counts == most[item]) & (counts > 0)
    return modal


def modes_disjoint(pairs: CloudPairs, *, answered_only: bool = False) -> Floats:
    """Whether no most frequent class of one cloud is one of the other.

    Ties make disjointness conservative.

    Parameters
    ----------
    pairs : CloudPairs
    answered_only : bool
        Whether the modes are taken among answered draws only; no answer may be a mode otherwise.

    Returns
    -------
    (n_items,) float
        1 where disjoint, 0 where not. nan where a cloud has no mode to compare.

    Examples
    --------
    >>> modes_disjoint(_example()).tolist()
    [0.0]
    """
    keep = pairs.answered if answered_only else np.ones(len(pairs.item), np.bool_)
    before, after = (
        modal_cells(np.where(keep, n, 0), pairs.item, pairs.n_items)
        for n in (pairs.before, pairs.after)
    )
    shared, first, second = (pairs.sums(x) > 0 for x in (before & after, before, after))
    return np.where(first & second, np.where(shared, 0.0, 1.0), np.nan)


def movements(pairs: CloudPairs) -> NDArray[np.int8]:
    """How each cloud moved: not, to other labels, or to another shape.

    Returns
    -------
    (n_items,) int8
        ``STILL``: equal counts. ``IDENTITY_MOVED``: the same multiset of counts on other classes.
        ``SHAPE_MOVED``: anything else, other numbers of draws included. ``NOT_COMPARED``: a cloud
        is empty. The others index ``MOVEMENTS``.

    Examples
    --------
    >>> MOVEMENTS[movements(_example())[0]]
    'shape_moved'
    """
    moved = pairs.sums(pairs.before != pairs.after) > 0
    first, second = (n[np.lexsort((n, pairs.item))] for n in (pairs.before, pairs.after))
    reshaped = pairs.sums(first != second) > 0
    found = np.where(reshaped, SHAPE_MOVED, np.where(moved, IDENTITY_MOVED, STILL))
    k, m = _sizes(pairs)
    return np.where((k > 0) & (m > 0), found, NOT_COMPARED).astype(np.int8)


def _example() -> CloudPairs:
    """The pair of the examples: three right and no answer, then four different answers."""
    before = Clouds.of([0] * 4, [0, 0, 0, 9], [0, 0, 0, NONE], n_items=1)
    return pair_clouds(before, Clouds.of([0] * 4, [0, 1, 2, 3], [0, 1, 1, 1], n_items=1))


def _check_roles(item: Ints, answer: Ints, agree: NDArray[np.int8]) -> None:
    if (agree < 0).any():
        cell = int(np.argmin(agree))
        msg = (
            f"answer {answer[cell]} of item {item[cell]} is no answer in one cloud and an answer "
            "in the other. Code both clouds in one space."
        )
        raise InputError(msg)


def _sizes(pairs: CloudPairs) -> tuple[Floats, Floats]:
    return pairs.sums(pairs.before), pairs.sums(pairs.after)


def _divided(above: Floats, below: Floats, *, where: Bools) -> Floats:
    out: Floats = np.divide(above, below, out=np.full(len(above), np.nan), where=where)
    return out


def _variation_terms(pairs: CloudPairs, k: Floats, m: Floats) -> Floats:
    return np.abs(pairs.before * m[pairs.item] - pairs.after * k[pairs.item])


def _overlap_terms(pairs: CloudPairs) -> tuple[Floats, Floats]:
    """Twice the cross collision, and both collisions; nan where a cloud has under two draws."""
    k, m = _sizes(pairs)
    enough = (k > 1) & (m > 1)
    n, o = pairs.before, pairs.after
    within = _divided(pairs.sums(n * (n - 1)), k * (k - 1), where=enough)
    within += _divided(pairs.sums(o * (o - 1)), m * (m - 1), where=enough)
    return np.where(enough, 2 * cross_collision(pairs), np.nan), within


def _deviation(t: Ints, k: Floats, m: Floats) -> Floats:
    """Mean absolute deviation of Hypergeometric(k + m, t, k)."""
    whole = k + m
    h = np.floor(t * k / whole) + 1
    from scipy.special import gammaln  # noqa: PLC0415 - slow to load, not always needed

    logs = gammaln(np.arange(int(whole.max()) + 2 if len(whole) else 1) + 1.0)

    def log_choose(n: Floats | Ints, r: Floats) -> Floats:
        a, b = n.astype(np.int64), r.astype(np.int64)
        found: Floats = logs[a] - logs[b] - logs[np.maximum(a - b, 0)]
        return found

    possible = (h <= t) & (h <= k)  # else H is constant
    chance = log_choose(t, h) + log_choose(whole - t, np.maximum(k - h, 0))
    chance = np.exp(np.where(possible, chance - log_choose(whole, k), -np.inf))
    deviation: Floats = 2 * h * (m - t + h) / whole * chance
    return deviation


def _exact_deviation(t: int, k: int, m: int) -> Fraction:
    """Mean of |H/k - (t - H)/m| over all re-splits."""
    splits = math.comb(k + m, k)
    ways = (
        math.comb(t, h) * math.comb(k + m - t, k - h) * abs(h * m - (t - h) * k)
        for h in range(max(0, t - m), min(t, k) + 1)
    )
    return Fraction(sum(ways), splits * k * m)
