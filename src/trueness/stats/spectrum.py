"""How often r independent draws of an item agree, split by what they agree on."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from trueness.contract.errors import InputError
from trueness.stats.clouds import NONE, OPEN, ORDERS, PARTS, Clouds, Floats, Ints

EXACT_FLOAT = 2**53
"""Whole numbers below it are exact as floats."""
_INT64 = 2**62


@dataclass(frozen=True, slots=True)
class SpectrumCounts:
    """Whole numbers behind a spectrum: tuples of draws that agree, and all tuples.

    total = gold + wrong + none holds exactly wherever the right answer is known.
    """

    agreeing: Mapping[str, Ints]
    """Part to (n_items, n_orders); gold and wrong mean nothing where the right answer is not."""
    tuples: Ints
    """(n_items, n_orders): C(k, r); 0 where there are too few draws."""


@dataclass(frozen=True, slots=True)
class SliceMean:
    """Unweighted mean over the items that are measured, for each order."""

    value: Floats
    """(n_orders,); nan where no item is measured."""
    n: Ints
    """(n_orders,): items in the mean."""


def spectrum(clouds: Clouds, orders: Sequence[int] = ORDERS) -> dict[str, Floats]:
    r"""Unbiased probability that ``r`` independent draws agree, for each part.

    Estimates :math:`\sum_{a \in S} p(a)^r` by
    :math:`U_r^S = \sum_{a \in S} \binom{n_a}{r} / \binom{k}{r}`, S the classes of the part.

    Parameters
    ----------
    clouds : Clouds
    orders : (n_orders,) sequence of int, at least 1

    Returns
    -------
    dict of str to (n_items, n_orders) float in [0, 1]
        One array for each of ``PARTS``. nan where an item has fewer than r draws and, for
        ``gold`` and ``wrong``, where the right answer is unknown.

    Raises
    ------
    InputError
        If an order is not a whole number of at least 1.

    Examples
    --------
    >>> from trueness.stats.clouds import GOLD
    >>> clouds = Clouds.of([0, 0, 0, 0], [0, 0, 0, 1], [GOLD, GOLD, GOLD, NONE], n_items=1)
    >>> spectrum(clouds, (2, 3))["gold"]
    array([[0.5 , 0.25]])
    """
    check_orders(orders)
    k = clouds.draws
    columns = [_agreement(clouds, k, r) for r in orders]
    shape = (clouds.n_items, 0)
    return {x: np.stack([c[x] for c in columns], 1) if columns else np.empty(shape) for x in PARTS}


def spectrum_counts(clouds: Clouds, orders: Sequence[int] = ORDERS) -> SpectrumCounts:
    """Tuples of draws that agree, and all tuples, as whole numbers.

    Parameters
    ----------
    clouds : Clouds
    orders : (n_orders,) sequence of int, at least 1

    Returns
    -------
    SpectrumCounts

    Raises
    ------
    InputError
        If an order is below 1, or the draws of an item are so many that their tuples exceed 2**53.

    Examples
    --------
    >>> from trueness.stats.clouds import GOLD
    >>> clouds = Clouds.of([0, 0, 0, 0], [0, 0, 0, 1], [GOLD, GOLD, GOLD, NONE], n_items=1)
    >>> counts = spectrum_counts(clouds, (2,))
    >>> counts.agreeing["total"].tolist(), counts.tuples.tolist()
    ([[3]], [[6]])
    """
    check_orders(orders)
    k = clouds.draws
    for r in orders:
        if not fits(top(k), r):
            msg = (
                f"an item has {top(k)} draws; its tuples of {r} cannot be counted in "
                "64 bits. Use spectrum(), which divides before it multiplies."
            )
            raise InputError(msg)
    known = clouds.gold_known[:, None]
    columns = [clouds.by_part(chosen(clouds.count, r).astype(np.float64)) for r in orders]
    shape = (clouds.n_items, len(orders))
    sums = {x: np.array([c[x] for c in columns]).T.reshape(shape) for x in PARTS}
    for x in ("gold", "wrong"):
        sums[x] = np.where(known, sums[x], 0)
    tuples = np.array([chosen(k, r) for r in orders], np.int64).T.reshape(shape)
    return SpectrumCounts({x: sums[x].astype(np.int64) for x in PARTS}, tuples)


def exact_spectrum(clouds: Clouds, r: int, *, item: int = 0) -> dict[str, Fraction | None]:
    """The spectrum of one item and order as fractions; None where it is not measured.

    Raises
    ------
    InputError
        If the order is below 1 or there is no such item.

    Examples
    --------
    >>> clouds = Clouds.of([0] * 4, [0, 0, 0, 1], [1, 1, 1, 2], n_items=1)
    >>> str(exact_spectrum(clouds, 3)["wrong"])
    '1/4'
    """
    check_orders((r,))
    tuples = math.comb(int(clouds.take([item]).draws[0]), r)
    return {
        part: Fraction(sum(math.comb(n, r) for n in counts), tuples)
        if counts is not None and tuples
        else None
        for part, counts in counts_by_part(clouds, item).items()
    }


def counts_by_part(clouds: Clouds, item: int) -> dict[str, list[int] | None]:
    """Counts of the classes of each part of one item; None where the right answer is unknown."""
    one = clouds.take([item])
    cells = list(zip(one.role.tolist(), one.count.tolist(), strict=True))
    known = bool(one.gold_known[0])
    return {
        "total": [n for _, n in cells],
        "gold": [n for role, n in cells if role == 0] if known else None,
        "wrong": [n for role, n in cells if role not in {0, NONE, OPEN}] if known else None,
        "none": [n for role, n in cells if role == NONE],
        "semantic": [n for role, n in cells if role != NONE],
    }


def slice_mean(values: Floats) -> SliceMean:
    """Unweighted mean over the items that are measured, with how many these are.

    Parameters
    ----------
    values : (n_items, n_orders) float
        nan where an item is not measured.

    Examples
    --------
    >>> mean = slice_mean(np.array([[0.5, np.nan], [0.25, np.nan]]))
    >>> mean.value.tolist(), mean.n.tolist()
    ([0.375, nan], [2, 0])
    """
    measured = np.isfinite(values)
    n = measured.sum(0)
    total = np.where(measured, values, 0.0).sum(0)
    mean = np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)
    return SliceMean(mean, n.astype(np.int64))


def plugin_collision(clouds: Clouds) -> Floats:
    r"""Share of ordered pairs of draws, a draw with itself included, that agree.

    :math:`\sum_a (n_a/k)^2`: never below :math:`U_2`, and biased upwards.

    Returns
    -------
    (n_items,) float in (0, 1]
        nan where nothing was drawn.

    Examples
    --------
    >>> plugin_collision(Clouds.of([0] * 4, [0, 0, 0, 1], [1, 1, 1, 2], n_items=1)).tolist()
    [0.625]
    """
    k = clouds.draws.astype(np.float64)
    squares = clouds.by_part(clouds.count.astype(np.float64) ** 2)["total"]
    shares: Floats = np.divide(squares, k * k, out=np.full(len(k), np.nan), where=k > 0)
    return shares


def h2_plugin(clouds: Clouds) -> Floats:
    r"""Collision entropy of the recorded shares, :math:`-\ln \sum_a (n_a/k)^2`, in nats.

    Returns
    -------
    (n_items,) float, at least 0
        nan where nothing was drawn. Biased downwards, the more the fewer draws there are.

    Examples
    --------
    >>> h2_plugin(Clouds.of([0] * 4, [0, 1, 2, 3], [1] * 4, n_items=1)).round(3).tolist()
    [1.386]
    """
    return _minus_log(plugin_collision(clouds))


def h2_from_u2(u2: Floats) -> Floats:
    r"""Collision entropy by way of the unbiased collision, :math:`-\ln U_2`, in nats.

    Parameters
    ----------
    u2 : (...,) float in [0, 1]

    Returns
    -------
    (...,) float
        nan where ``u2`` is 0 (no two draws agreed) or nan. Not unbiased.

    Examples
    --------
    >>> h2_from_u2(np.array([1.0, 0.5, 0.0])).round(3).tolist()
    [0.0, 0.693, nan]
    """
    return _minus_log(u2)


def rarefied_plugin(u2: Floats, k0: int | Ints) -> Floats:
    r"""Expected plug-in collision of ``k0`` of the draws: :math:`U_2 + (1 - U_2)/k_0`.

    With it clouds of different sizes are compared at the smaller one.

    Parameters
    ----------
    u2 : (n_items,) float in [0, 1]
    k0 : int, or (n_items,) int, at least 1 and at most the draws

    Returns
    -------
    (n_items,) float
        nan where ``u2`` is, unless ``k0`` is 1: one draw agrees with itself.

    Examples
    --------
    >>> rarefied_plugin(np.array([11 / 28]), 4).round(4).tolist()
    [0.5446]
    """
    size = np.broadcast_to(np.asarray(k0, np.int64), np.shape(u2))
    if size.size and size.min() < 1:
        msg = f"k0 is {size.min()}; rarefy to at least one draw."
        raise InputError(msg)
    return np.where(size == 1, 1.0, u2 + (1.0 - u2) / size).astype(np.float64)


def check_orders(orders: Sequence[int]) -> None:
    """Refuse an order that is not a whole number of at least 1."""
    for r in orders:
        if r != int(r) or r < 1:
            msg = f"an order is {r!r}; agreement is among a whole number of draws, at least 1."
            raise InputError(msg)


def chosen(n: Ints, r: int) -> Ints:
    """C(n, r) of whole numbers whose result and steps fit into 64 bits; 0 where n < r."""
    if top(n) < len(n):
        return _binomial(np.arange(top(n) + 1), r)[n]
    return _binomial(n, r)


def top(n: Ints) -> int:
    """The largest of whole numbers; 0 of none."""
    return int(n.max()) if len(n) else 0


def falling_ratio(n: Ints, k: Ints, r: int) -> Floats:
    r"""Product of (n - j)/(k - j) for j below r: never overflows; nan where k < r."""
    out = np.ones(len(n))
    with np.errstate(divide="ignore", invalid="ignore"):
        for j in range(r):
            out *= np.maximum(n - j, 0) / (k - j)
    out[k < r] = np.nan
    return out


def fits(k: int, r: int) -> bool:
    """Whether C(n, r) is exact as a float, and its steps fit into 64 bits, for all n up to k."""
    return math.comb(k, r) < EXACT_FLOAT and math.comb(k, min(r, k // 2)) * r < _INT64


def _binomial(n: Ints, r: int) -> Ints:
    out = np.ones_like(n)
    for j in range(r):
        out = out * np.maximum(n - j, 0) // (j + 1)
    return out


def _agreement(clouds: Clouds, k: Ints, r: int) -> dict[str, Floats]:
    enough = k >= r
    if fits(top(k), r):
        tuples = chosen(k, r).astype(np.float64)
        tuples[~enough] = np.nan
        sums = clouds.by_part(chosen(clouds.count, r).astype(np.float64))
        return {part: numbers / tuples for part, numbers in sums.items()}
    shares = clouds.by_part(falling_ratio(clouds.count, k[clouds.item], r))
    return {part: np.where(enough, numbers, np.nan) for part, numbers in shares.items()}


def _minus_log(x: Floats) -> Floats:
    out = np.full(np.shape(x), np.nan)
    np.log(x, out=out, where=np.greater(x, 0))
    return 0.0 - out
