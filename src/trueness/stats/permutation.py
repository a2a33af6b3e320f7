"""Exact tests that two clouds of an item, or all pairs of clouds, come from one law."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from trueness.contract.errors import InputError
from trueness.stats.cloud_pairs import CloudPairs, squared_distance
from trueness.stats.clouds import Bools, Floats, Ints
from trueness.stats.resplits import (
    SQUARED_DISTANCE,
    TOTAL_VARIATION,
    SplitLaw,
    Statistic,
    distance_scale,
    sampled_splits,
    split_law,
)

RESPLITS = 10_000

_EXACT_FLOAT = 2**53
_ROUNDING = 1e-10
_MANY = 4
_CHUNK = 2**20

_Key: TypeAlias = tuple[tuple[int, ...], int]
"""What the law of a statistic depends on: pooled counts, descending; draws of the first cloud."""


@dataclass(frozen=True, slots=True)
class PermutationP:
    """p of each item: how often a random split of its pooled draws is as far apart."""

    tv: Floats
    """(n_items,): by total variation; nan where a cloud is empty."""
    l2: Floats
    """(n_items,): by squared distance; nan where a cloud has fewer than two draws."""
    exact: Bools
    """(n_items,): over all splits; otherwise (b + 1)/(m + 1) from m random ones."""
    floor: Floats
    """(n_items,): the least p that clouds of these sizes can give; nan where a cloud is empty."""


@dataclass(frozen=True, slots=True)
class Omnibus:
    """Test of "no item's law changed"."""

    statistic: float
    """Sum of the squared distances; nan where no item has two draws in both clouds."""
    p: float
    """(b + 1)/(m + 1); nan as above."""
    n_items: int
    """Items in the sum."""
    resplits: int


def attainable_floor(k: int, other: int) -> Fraction:
    r"""The least permutation p that two clouds of these sizes can give.

    :math:`2 / \binom{2k}{k}` for equal sizes, where swapping the clouds changes nothing, else
    :math:`1 / \binom{k + k'}{k}`.

    Parameters
    ----------
    k, other : int, at least 1
        Draws of the two clouds.

    Raises
    ------
    InputError
        If a cloud is empty.

    Examples
    --------
    >>> attainable_floor(4, 4)
    Fraction(1, 35)
    """
    if min(k, other) < 1:
        msg = f"clouds of {k} and {other} draws cannot be compared; both need a draw."
        raise InputError(msg)
    return Fraction(1 + (k == other), math.comb(k + other, k))


def permutation_p(
    pairs: CloudPairs, *, rng: np.random.Generator, resplits: int = RESPLITS
) -> PermutationP:
    """How often a random split of an item's pooled draws is at least as far apart.

    Statistics are compared as whole numbers, so ties are exact. All splits are counted, without
    listing them (:func:`~trueness.stats.resplits.split_law`); where even that is too much, random
    ones are.

    Parameters
    ----------
    pairs : CloudPairs
    rng : numpy.random.Generator
        Used only for items whose splits are too many to count.
    resplits : int, at least 1
        Random splits of such an item.

    Returns
    -------
    PermutationP

    Raises
    ------
    InputError
        If ``resplits`` is below 1, or an item has so many draws that its statistic exceeds 64 bits.

    Examples
    --------
    >>> from trueness.stats.cloud_pairs import pair_clouds
    >>> from trueness.stats.clouds import Clouds
    >>> before = Clouds.of([0] * 4, [0] * 4, [1] * 4, n_items=1)
    >>> after = Clouds.of([0] * 4, [1] * 4, [1] * 4, n_items=1)
    >>> found = permutation_p(pair_clouds(before, after), rng=np.random.default_rng(0))
    >>> found.tv.round(4).tolist(), found.exact.tolist()
    ([0.0286], [True])
    """
    _check_resplits(resplits)
    exact = np.ones(pairs.n_items, np.bool_)
    tv = _each(pairs, TOTAL_VARIATION, exact, rng=rng, resplits=resplits)
    l2 = _each(pairs, SQUARED_DISTANCE, exact, rng=rng, resplits=resplits)
    return PermutationP(tv, l2, exact, _floors(pairs))


def exact_permutation_p(
    pairs: CloudPairs, *, item: int = 0
) -> tuple[Fraction | None, Fraction | None]:
    """The p of one item by total variation and by squared distance, as fractions.

    Every split is counted, however many there are. None where the statistic is not defined.

    Examples
    --------
    >>> from trueness.stats.cloud_pairs import pair_clouds
    >>> from trueness.stats.clouds import Clouds
    >>> before = Clouds.of([0] * 3, [0, 0, 1], [1] * 3, n_items=1)
    >>> after = Clouds.of([0] * 5, [0, 1, 1, 2, 2], [1] * 5, n_items=1)
    >>> [str(p) for p in exact_permutation_p(pair_clouds(before, after))]
    ['19/28', '19/28']
    """
    here = pairs.item == item
    n, m = pairs.before[here], pairs.after[here]
    return _exact_p(n, m, TOTAL_VARIATION), _exact_p(n, m, SQUARED_DISTANCE)


def omnibus(pairs: CloudPairs, *, rng: np.random.Generator, resplits: int = RESPLITS) -> Omnibus:
    r"""Test over all items of "no item's law changed".

    The statistic is :math:`\sum_i D^2_i`; under the null the pooled draws of every item are split
    at random. The squared distance of a random split is drawn from its law over all splits of the
    item, which is the same; where that law is too large, from the draws themselves.

    Parameters
    ----------
    pairs : CloudPairs
    rng : numpy.random.Generator
    resplits : int, at least 1

    Returns
    -------
    Omnibus
        Over the items with at least two draws in both clouds.

    Raises
    ------
    InputError
        If ``resplits`` is below 1, or an item has so many draws that its statistic exceeds 64 bits.

    Examples
    --------
    >>> from trueness.stats.cloud_pairs import pair_clouds
    >>> from trueness.stats.clouds import Clouds
    >>> items = [0] * 4 + [1] * 4
    >>> before = Clouds.of(items, [0] * 8, [1] * 8, n_items=2)
    >>> after = Clouds.of(items, [1] * 8, [1] * 8, n_items=2)
    >>> test = omnibus(pair_clouds(before, after), rng=np.random.default_rng(0))
    >>> test.statistic, test.n_items, test.p < 0.01
    (4.0, 2, True)
    """
    _check_resplits(resplits)
    distances = squared_distance(pairs)
    sizes = Counter(key for _, key in _keys(pairs, SQUARED_DISTANCE.least))
    n_items = sizes.total()
    if not n_items:
        return Omnibus(math.nan, math.nan, 0, resplits)
    unit = math.lcm(*{distance_scale(k, sum(pooled) - k) for pooled, k in sizes})
    whole = 2 * unit * n_items < _EXACT_FLOAT  # sums are whole numbers of units, and ties exact
    terms = distances[np.isfinite(distances)]
    unit, terms = (unit, np.rint(terms * unit)) if whole else (1, terms)
    observed = float(terms.sum())
    sums = np.zeros(resplits)
    for key in sorted(sizes):
        _add(sums, key, copies=sizes[key], unit=unit, rng=rng)
    slack = 0.0 if whole else _ROUNDING * n_items
    beyond = int((sums >= observed - slack).sum())
    return Omnibus(observed / unit, (beyond + 1) / (resplits + 1), n_items, resplits)


def _each(
    pairs: CloudPairs,
    statistic: Statistic,
    exact: Bools,
    *,
    rng: np.random.Generator,
    resplits: int,
) -> Floats:
    """The p of every item; marks in ``exact`` those that were sampled."""
    found = np.full(pairs.n_items, np.nan)
    laws: dict[_Key, SplitLaw | None] = {}
    ends = np.searchsorted(pairs.item, np.arange(pairs.n_items + 1)).tolist()
    for item, key in _keys(pairs, statistic.least):
        here = slice(ends[item], ends[item + 1])
        observed = statistic.of(pairs.before[here], pairs.after[here])
        if key not in laws:
            laws[key] = split_law(np.array(key[0]), key[1], statistic)
        law = laws[key]
        if law is not None:
            found[item] = law.tail(observed) / law.ways.sum()
            continue
        exact[item] = False
        drawn = sampled_splits(np.array(key[0]), key[1], statistic, rng=rng, resplits=resplits)
        beyond = sum(int((split >= observed).sum()) for split in drawn)
        found[item] = (beyond + 1) / (resplits + 1)
    return found


def _exact_p(n: Ints, m: Ints, statistic: Statistic) -> Fraction | None:
    if min(n.sum(), m.sum()) < statistic.least:
        return None
    law = split_law(n + m, int(n.sum()), statistic, exact=True)
    return None if law is None else Fraction(law.tail(statistic.of(n, m)), law.ways.sum())


def _add(sums: Floats, key: _Key, *, copies: int, unit: int, rng: np.random.Generator) -> None:
    """Add to each re-split the squared distances, times the unit, of some items of equal law."""
    pooled, k = np.array(key[0]), key[1]
    size = unit / distance_scale(k, int(pooled.sum()) - k)
    law = split_law(pooled, k, SQUARED_DISTANCE)
    if law is None:
        for _ in range(copies):
            drawn = sampled_splits(pooled, k, SQUARED_DISTANCE, rng=rng, resplits=len(sums))
            sums += size * np.concatenate(list(drawn))
        return
    values, chances = size * law.values, law.ways / law.ways.sum()
    if copies < _MANY * len(values):
        bounds = np.cumsum(chances)[:-1]
        for _ in range(copies):
            sums += values[np.searchsorted(bounds, rng.random(len(sums)), side="right")]
        return
    step = max(_CHUNK // len(values), 1)
    for start in range(0, len(sums), step):
        part = sums[start : start + step]
        part += rng.multinomial(copies, chances, size=len(part)) @ values


def _keys(pairs: CloudPairs, least: int) -> Iterator[tuple[int, _Key]]:
    """Each item in which both clouds have enough draws, with its pooled counts."""
    pooled = pairs.before + pairs.after
    counts = pooled[np.lexsort((-pooled, pairs.item))].tolist()
    ends = np.searchsorted(pairs.item, np.arange(pairs.n_items + 1)).tolist()
    k, other = pairs.draws_before, pairs.draws_after
    for item in np.flatnonzero(np.minimum(k, other) >= least).tolist():
        yield item, (tuple(counts[ends[item] : ends[item + 1]]), int(k[item]))


def _floors(pairs: CloudPairs) -> Floats:
    sizes = list(zip(pairs.draws_before.tolist(), pairs.draws_after.tolist(), strict=True))
    floor = {s: float(attainable_floor(*s)) if min(s) else math.nan for s in set(sizes)}
    return np.array([floor[s] for s in sizes], np.float64)


def _check_resplits(resplits: int) -> None:
    if resplits < 1:
        msg = f"resplits is {resplits}; give at least 1, and thousands for a p that says much."
        raise InputError(msg)
