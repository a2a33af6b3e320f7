"""Thresholds from arrays of risks: order statistics, least of a source, shares of sources.

Everything here is about *strictly below*: an atom that may hold more than a budget is never let
through. Risks of items that are never accepted may be handed in as infinite; a threshold is always
finite.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def order_statistic(ascending: Floats, k: int) -> float:
    """The k-th smallest risk, or the largest finite one where that is infinite.

    Lower is always safe: fewer items lie strictly below.

    Parameters
    ----------
    ascending : (n,) float
        Sorted risks; the last ones may be infinite.
    k : int
        From 1.

    Raises
    ------
    InputError
        When k is none of 1 to n, or nothing finite is there.

    Examples
    --------
    >>> order_statistic(np.array([1.0, 1.0, 2.0, 5.0]), 3)
    2.0
    """
    if not 1 <= k <= len(ascending):
        msg = f"k is {k} of {len(ascending)} risks; wanted a rank from 1. Ask for fewer below it."
        raise InputError(msg)
    found = float(ascending[k - 1])
    if math.isfinite(found):
        return found
    return _largest_finite(ascending)


def next_above(risk: float) -> float:
    """The next float above: the first at which nothing equal to ``risk`` is at or above it.

    Examples
    --------
    >>> next_above(9.0)
    9.000000000000002
    """
    return math.nextafter(risk, math.inf)


def least_of_sources(risks: Floats, sources: Ints) -> Floats:
    """The least risk of every source, in the order of the source codes.

    Parameters
    ----------
    risks : (n,) float
    sources : (n,) int
        Codes from 0; every code up to the largest occurs.

    Examples
    --------
    >>> least_of_sources(np.array([3.0, 9.0, 1.0]), np.array([0, 0, 1])).tolist()
    [3.0, 1.0]
    """
    _check(risks, sources)
    least = np.full(int(sources.max(initial=-1)) + 1, np.inf)
    np.minimum.at(least, sources, risks)
    return least


def one_of_each_source(order: Floats, sources: Ints, *, rng: np.random.Generator) -> Ints:
    """Positions of one item a source, drawn uniformly.

    The draw goes by the order of ``order`` within the source, not by position, so that the values
    drawn do not depend on how the rows are arranged.

    Parameters
    ----------
    order : (n,) float
        What items of a source are sorted by.
    sources : (n,) int
        Codes from 0.
    rng : numpy.random.Generator

    Examples
    --------
    >>> risks, sources = np.array([4.0, 2.0, 7.0]), np.array([0, 0, 1])
    >>> len(one_of_each_source(risks, sources, rng=np.random.default_rng(0)))
    2
    """
    _check(order, sources)
    sizes = np.bincount(sources) if len(sources) else np.zeros(0, dtype=np.int64)
    by_source = np.lexsort((order, sources))
    first = np.cumsum(sizes) - sizes
    within = np.floor(rng.random(len(sizes)) * sizes).astype(np.int64)
    drawn: Ints = by_source[(first + within)[sizes > 0]].astype(np.int64)
    return drawn


def grouped_conformal_threshold(risks: Floats, sources: Ints, *, budget: Fraction) -> float | None:
    r"""The largest t with :math:`(1 + \sum_g \#\{v_{gi} < t\}/N_g)/(G + 1) \le \alpha`.

    Hierarchical conformal prediction: in expectation over calibrations, for a random item of a new
    source. Shares are added exactly.

    Parameters
    ----------
    risks : (n,) float
        May be infinite where an item is never accepted.
    sources : (n,) int
        Codes from 0.
    budget : Fraction in (0, 1)

    Returns
    -------
    float or None
        None when :math:`\alpha (G + 1) < 1`: too few sources.

    Raises
    ------
    InputError
        When no risk is finite.

    Examples
    --------
    >>> risks = np.array([1.0, 5, 2, 6, 7, 3, 4, 8, 9, 10])
    >>> sources = np.array([0, 0, 1, 1, 1, 2, 3, 3, 3, 3])
    >>> grouped_conformal_threshold(risks, sources, budget=Fraction(1, 2))
    3.0
    """
    _check(risks, sources)
    sizes = np.bincount(sources) if len(sources) else np.zeros(0, dtype=np.int64)
    room = budget * (int((sizes > 0).sum()) + 1) - 1
    if room < 0:
        return None
    order = np.argsort(risks, kind="stable")
    ascending = risks[order]
    kinds, kind = np.unique(sizes[sources[order]], return_inverse=True)
    starts = np.flatnonzero(np.concatenate([[True], ascending[1:] > ascending[:-1]]))
    fits, breaks = 0, len(starts)  # the share strictly below starts[fits] keeps the room
    while breaks - fits > 1:
        middle = (fits + breaks) // 2
        counts = np.bincount(kind[: starts[middle]], minlength=len(kinds))
        share = sum(
            (Fraction(int(c), int(n)) for c, n in zip(counts, kinds, strict=True)), Fraction()
        )
        fits, breaks = (middle, breaks) if share <= room else (fits, middle)
    found = float(ascending[starts[fits]])
    return found if math.isfinite(found) else _largest_finite(ascending)


def _largest_finite(ascending: Floats) -> float:
    finite = ascending[np.isfinite(ascending)]
    if not len(finite):
        msg = (
            f"none of {len(ascending)} risks is finite; a threshold needs a measured item. "
            "Measure the calibration items again."
        )
        raise InputError(msg)
    return float(finite[-1])


def _check(risks: Floats, sources: Ints) -> None:
    if risks.ndim != 1 or risks.shape != sources.shape:
        msg = (
            f"risks have shape {risks.shape} and sources {sources.shape}; wanted one source for "
            "every risk, in one dimension."
        )
        raise ShapeError(msg)
