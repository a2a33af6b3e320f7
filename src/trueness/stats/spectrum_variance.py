"""Draw noise of the agreement spectrum: exact for a known law, unbiased from counts."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from trueness.contract.errors import InputError
from trueness.stats.clouds import ORDERS, PARTS, Clouds, Floats, Ints
from trueness.stats.spectrum import (
    check_orders,
    chosen,
    counts_by_part,
    falling_ratio,
    fits,
    spectrum,
    top,
)

Number: TypeAlias = Fraction | float


def exact_variance(masses: Sequence[Number], r: int, *, k: int) -> Number:
    r"""Variance of :math:`U_r^S` over ``k`` draws of a known law.

    :math:`\sum_{c=1}^{r} w_c (P_{2r-c} - P_r^2)` with :math:`P_j = \sum_{a \in S} p(a)^j` and
    :math:`w_c = \binom{r}{c}\binom{k-r}{r-c} / \binom{k}{r}`.

    Parameters
    ----------
    masses : (n_classes,) sequence of Fraction or float
        Probabilities of the classes of the part; they need not sum to 1.
    r : int, at least 1
    k : int, at least r

    Returns
    -------
    Fraction or float
        Fractions stay exact.

    Raises
    ------
    InputError
        If the draws are fewer than the order.

    Examples
    --------
    >>> exact_variance([Fraction(3, 5), Fraction(3, 10), Fraction(1, 10)], 2, k=4)
    Fraction(63, 1000)
    """
    return exact_covariance(masses, (r, r), k=k)


def exact_covariance(
    masses: Sequence[Number],
    orders: tuple[int, int],
    *,
    k: int,
    other: Sequence[Number] | None = None,
) -> Number:
    r"""Covariance of :math:`U_r^S` and :math:`U_s^T` over the same ``k`` draws of a known law.

    For T = S: :math:`\sum_{c \ge 1} w_c (P_{r+s-c} - P_r P_s)`,
    :math:`w_c = \binom{r}{c}\binom{k-r}{s-c} / \binom{k}{s}`. For T disjoint from S:
    :math:`-(1 - \binom{k-r}{s} / \binom{k}{s})\,P_r^S P_s^T`.

    Parameters
    ----------
    masses : sequence of Fraction or float
        Probabilities of the classes of S.
    orders : (r, s)
    k : int, at least both orders
    other : sequence of Fraction or float, optional
        Probabilities of the classes of T, none of them in S; T = S when left out.

    Returns
    -------
    Fraction or float

    Raises
    ------
    InputError
        If the draws are fewer than an order.

    Examples
    --------
    >>> exact_covariance([Fraction(1, 2)], (2, 2), k=8, other=[Fraction(1, 5)])
    Fraction(-13, 2800)
    """
    r, s = orders
    _check_draws(orders, k)
    if other is None:
        first, second = power_sum(masses, r), power_sum(masses, s)
        terms = [
            _shared(r, s, k, c) * (power_sum(masses, r + s - c) - first * second)
            for c in range(1, min(r, s) + 1)
        ]
        return sum(terms, Fraction(0))
    met = 1 - Fraction(math.comb(k - r, s), math.comb(k, s))
    return -met * power_sum(masses, r) * power_sum(other, s)


def power_sum(masses: Sequence[Number], r: int) -> Number:
    """Sum of the r-th powers of probabilities.

    Examples
    --------
    >>> power_sum([Fraction(1, 2), Fraction(1, 4)], 2)
    Fraction(5, 16)
    """
    return sum((p**r for p in masses), Fraction(0))


def variance_hat(clouds: Clouds, orders: Sequence[int] = ORDERS) -> dict[str, Floats]:
    r"""Unbiased variance of :math:`U_r^S` over the draws of each item, for each part.

    :math:`(U_r^S)^2 - Q_r^S`, Q of :func:`squared_power_sum`.

    Parameters
    ----------
    clouds : Clouds
    orders : (n_orders,) sequence of int, at least 1

    Returns
    -------
    dict of str to (n_items, n_orders) float
        **May be negative**: keep it so in every sum. nan where an item has fewer than 2r draws
        and, for ``gold`` and ``wrong``, where the right answer is unknown.

    Raises
    ------
    InputError
        If an order is below 1.

    Examples
    --------
    >>> aabb = Clouds.of([0] * 4, [0, 0, 1, 1], [0, 0, 1, 1], n_items=1)
    >>> variance_hat(aabb, (2,))["total"].round(4).tolist()
    [[-0.2222]]
    """
    return _each_order(clouds, orders, _variance)


def squared_power_sum(clouds: Clouds, orders: Sequence[int] = ORDERS) -> dict[str, Floats]:
    r"""Unbiased estimate of :math:`(\sum_{a \in S} p(a)^r)^2`, for each part.

    :math:`Q_r^S = [\sum_a \binom{n_a}{r}\binom{n_a-r}{r} + (\sum_a \binom{n_a}{r})^2
    - \sum_a \binom{n_a}{r}^2] / [\binom{k}{r}\binom{k-r}{r}]`: the share of pairs of disjoint
    r-tuples of draws that agree each within itself.

    Parameters
    ----------
    clouds : Clouds
    orders : (n_orders,) sequence of int, at least 1

    Returns
    -------
    dict of str to (n_items, n_orders) float in [0, 1]
        nan as for :func:`variance_hat`.

    Examples
    --------
    >>> aabb = Clouds.of([0] * 4, [0, 0, 1, 1], [0, 0, 1, 1], n_items=1)
    >>> squared_power_sum(aabb, (2,))["total"].round(4).tolist()
    [[0.3333]]
    """
    return _each_order(clouds, orders, _squared)


def planned_variance(clouds: Clouds, r: int, *, draws: Sequence[int]) -> dict[str, Floats]:
    r"""Unbiased variance that :math:`U_r^S` would have with other numbers of draws.

    :math:`\sum_{c=1}^{r} w_c (U_{2r-c}^S - Q_r^S)` with the weights of the planned draws and the
    power sums of the pilot.

    Parameters
    ----------
    clouds : Clouds
        The pilot.
    r : int, at least 1
    draws : (n_plans,) sequence of int, at least r
        Planned draws an item.

    Returns
    -------
    dict of str to (n_items, n_plans) float
        May be negative. nan where the pilot has fewer than 2r draws of an item and, for ``gold``
        and ``wrong``, where the right answer is unknown. At the pilot's own number of draws it
        is :func:`variance_hat`.

    Raises
    ------
    InputError
        If an order is below 1 or planned draws are fewer than the order.

    Examples
    --------
    >>> aaab = Clouds.of([0] * 4, [0, 0, 0, 1], [0, 0, 0, 1], n_items=1)
    >>> planned_variance(aaab, 2, draws=(4, 8))["total"].round(4).tolist()
    [[0.25, 0.125]]
    """
    check_orders((r,))
    for k in draws:
        _check_draws((r,), k)
    shared = range(1, r + 1)
    weights = np.array([[float(_shared(r, r, k, c)) for k in draws] for c in shared])
    sums = spectrum(clouds, [2 * r - c for c in shared])
    squares = squared_power_sum(clouds, (r,))
    return {part: (sums[part] - squares[part]) @ weights for part in PARTS}


def exact_variance_hat(clouds: Clouds, r: int, *, item: int = 0) -> dict[str, Fraction | None]:
    """The variance estimates of one item and order as fractions; None where not measured.

    Examples
    --------
    >>> aabb = Clouds.of([0] * 4, [0, 0, 1, 1], [0, 0, 1, 1], n_items=1)
    >>> exact_variance_hat(aabb, 2)["total"]
    Fraction(-2, 9)
    """
    check_orders((r,))
    k = int(clouds.take([item]).draws[0])
    parts = counts_by_part(clouds, item)
    return {x: None if n is None else _exact_variance_hat(n, k, r) for x, n in parts.items()}


def _exact_variance_hat(counts: Sequence[int], k: int, r: int) -> Fraction | None:
    if k < 2 * r:
        return None
    agree = [math.comb(n, r) for n in counts]
    within = sum(math.comb(n, 2 * r) for n in counts) * math.comb(2 * r, r)
    apart = within + sum(agree) ** 2 - sum(a * a for a in agree)
    both = math.comb(k, r) * math.comb(k - r, r)
    return Fraction(sum(agree), math.comb(k, r)) ** 2 - Fraction(apart, both)


Moments: TypeAlias = tuple[Floats, Floats, Floats, Floats, Floats]
"""Sums of a part, its tuples and disjoint pairs of tuples: A, within, sum of squares, D, E."""


def _each_order(
    clouds: Clouds, orders: Sequence[int], of: Callable[[Moments], Floats]
) -> dict[str, Floats]:
    check_orders(orders)
    out = {part: np.full((clouds.n_items, len(orders)), np.nan) for part in PARTS}
    k = clouds.draws
    for place, r in enumerate(orders):
        enough = k >= 2 * r
        for part, moments in _moments(clouds, k, r).items():
            out[part][enough, place] = of(moments)[enough]
    return out


def _moments(clouds: Clouds, k: Ints, r: int) -> dict[str, Moments]:
    """Whole numbers where they are exact, else shares of all tuples."""
    n = clouds.count
    if _exact(top(k), r):
        agree = chosen(n, r).astype(np.float64)
        within = chosen(n, 2 * r).astype(np.float64) * math.comb(2 * r, r)
        tuples = chosen(k, r).astype(np.float64)
        disjoint = chosen(np.maximum(k - r, 0), r).astype(np.float64)
    else:
        agree = falling_ratio(n, k[clouds.item], r)
        disjoint = falling_ratio(np.maximum(k - r, 0), k, r)  # as a share of all tuples
        within = falling_ratio(n, k[clouds.item], 2 * r) * disjoint[clouds.item]
        tuples = np.ones(len(k))
    sums, inside, squares = (clouds.by_part(x) for x in (agree, within, agree**2))
    return {x: (sums[x], inside[x], squares[x], tuples, disjoint) for x in PARTS}


def _exact(k: int, r: int) -> bool:
    whole = math.comb(k, r) ** 2 * math.comb(max(k - r, 0), r) < 2**53
    return whole and fits(k, r) and fits(k, 2 * r)


def _squared(moments: Moments) -> Floats:
    sums, inside, squares, tuples, disjoint = moments
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = (inside + (sums**2 - squares)) / (tuples * disjoint)
    return found


def _variance(moments: Moments) -> Floats:
    sums, inside, squares, tuples, disjoint = moments
    with np.errstate(divide="ignore", invalid="ignore"):
        above = sums**2 * disjoint - (inside + (sums**2 - squares)) * tuples
        found: Floats = above / (tuples**2 * disjoint)
    return found


def _shared(r: int, s: int, k: int, c: int) -> Fraction:
    """Probability that a random r-tuple and a random s-tuple of k draws share c of them."""
    return Fraction(math.comb(r, c) * math.comb(k - r, s - c), math.comb(k, s))


def _check_draws(orders: tuple[int, ...], k: int) -> None:
    check_orders(orders)
    if k < max(orders):
        msg = (
            f"{k} draws cannot agree {max(orders)} at a time. "
            "Plan at least as many draws as the order."
        )
        raise InputError(msg)
