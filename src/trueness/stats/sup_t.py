"""A band that covers many means at once, by resampling items or whole groups."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.stats.paired_means import ROUNDING, PairedMeans, Units

_CHUNK = 1 << 20  # weights held at once


@dataclass(frozen=True, slots=True)
class Band:
    """Intervals of J means; nan where a mean has no spread or is not measured."""

    critical: float | None
    """How many standard errors the band reaches; None when no entry has a spread."""
    simultaneous: NDArray[np.float64]
    """(J, 2) all entries together at the level."""
    pointwise: NDArray[np.float64]
    """(J, 2) each entry alone at the level: percentiles of the resampled means."""


def resampled_means(
    units: Units, *, replicates: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Means of items (or groups) drawn with replacement, as whole weights times sums.

    Draws inside an item are never resampled: that would put a plug-in, biased upwards, in the
    place of the unbiased estimator, and the spread between items already holds their noise.

    Parameters
    ----------
    units : Units
        n units, J entries.
    replicates : int, at least 1
    rng : numpy.random.Generator

    Returns
    -------
    (replicates, J) float
        nan where a resample holds no item measured at that entry.

    Raises
    ------
    InputError
        If there is no unit, or no replicate is asked for.

    Examples
    --------
    >>> units = Units(np.array([[0.0], [1.0]]), np.ones((2, 1)))
    >>> found = resampled_means(units, replicates=500, rng=np.random.default_rng(0))
    >>> sorted(set(found[:, 0].tolist()))
    [0.0, 0.5, 1.0]
    """
    n = len(units.sums)
    if n == 0 or replicates < 1:
        msg = (
            f"there are {n} units and {replicates} replicates; wanted at least one of each. "
            "Compare files with items in common."
        )
        raise InputError(msg)
    plain = bool((units.counts == 1).all())
    sizes, place = np.unique(units.counts, axis=1, return_inverse=True)
    out = np.empty((replicates, units.sums.shape[1]))
    rows = max(1, _CHUNK // n)
    for start in range(0, replicates, rows):
        part = out[start : start + rows]
        weights = _weights(len(part), n, rng)
        np.matmul(weights, units.sums, out=part)
        if plain:
            part /= n
        else:
            held = (weights @ sizes)[:, place]
            np.divide(part, held, out=part, where=held > 0)
            part[held == 0] = np.nan
    return out


def sup_t_band(replicates: NDArray[np.float64], means: PairedMeans, *, level: float = 0.95) -> Band:
    r"""Simultaneous band and pointwise intervals from resampled means.

    q is the :math:`\lceil level\,(B+1)\rceil`-th smallest of
    :math:`\max_j |\theta^*_j-\hat\theta_j|/SE_j` with SE_j of the original sample: estimating it
    anew in each resample makes q explode where most differences are 0. The band is
    :math:`\hat\theta_j \pm q\,SE_j`. Entries without spread stay outside of the maximum.

    Parameters
    ----------
    replicates : (B, J) float
        Of :func:`resampled_means`.
    means : PairedMeans
        J entries.
    level : float in (0, 1)

    Raises
    ------
    InputError
        If B is too small for the level.
    """
    total = len(replicates)
    rank = math.ceil(level * (total + 1) - ROUNDING * total)
    if not 0 < level < 1 or rank > total:
        msg = (
            f"level is {level} and there are {total} replicates; wanted a level between 0 and 1 "
            "and at least level / (1 - level) replicates. Ask for 10,000."
        )
        raise InputError(msg)
    nothing = np.full((len(means.se), 2), np.nan)
    usable = means.usable
    if not usable.any():
        return Band(None, nothing, nothing.copy())
    center, se = means.estimate[usable], means.se[usable]
    drawn = replicates[:, usable]
    off = np.nan_to_num(np.abs(drawn - center) / se)  # a mean that was not drawn is not the largest
    critical = float(np.partition(off.max(axis=1), rank - 1)[rank - 1])
    band, alone = nothing, nothing.copy()
    band[usable] = center[:, None] + critical * se[:, None] * np.array([-1.0, 1.0])
    ends = [(1 - level) / 2, (1 + level) / 2]
    alone[usable] = np.nanquantile(drawn, ends, axis=0).T
    return Band(critical, band, alone)


def steady_order(units: Units, estimate: NDArray[np.float64]) -> NDArray[np.intp]:
    """An order of the units that depends neither on the rows of a file nor on which arm is first.

    Chance applied in this order gives, from one seed, the same band for shuffled items and the
    mirrored one for swapped arms.

    Parameters
    ----------
    units : Units
    estimate : (J,) float
        Their means: the first that is not 0 says which way is up.

    Returns
    -------
    (n_units,) int
    """
    moved = np.flatnonzero(np.abs(np.nan_to_num(estimate)) > ROUNDING)
    sign = np.sign(estimate[moved[0]]) if len(moved) else 1.0
    keys = np.round(np.hstack([units.counts, sign * units.sums]), 9)
    return np.lexsort(keys.T[::-1])


def _weights(rows: int, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """How often each unit is drawn in each of the resamples."""
    drawn = rng.integers(0, n, (rows, n), dtype=np.int32)
    counts = np.empty((rows, n))
    for row, units in zip(counts, drawn, strict=True):
        row[:] = np.bincount(units, minlength=n)
    return counts
