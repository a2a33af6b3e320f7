"""Means of paired differences: standard errors and intervals that need no chance."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State

ROUNDING = 1e-12
"""Differences and bounds no farther than this from 0 count as 0."""


@dataclass(frozen=True, slots=True)
class Units:
    """What is resampled or flipped as one: items, or whole groups; J entries."""

    sums: NDArray[np.float64]
    """(n_units, J) sum of the differences measured at that entry."""
    counts: NDArray[np.float64]
    """(n_units, J) how many items of the unit are measured at that entry."""

    def take(self, order: NDArray[np.intp]) -> "Units":
        """The same units in another order."""
        return Units(self.sums[order], self.counts[order])


@dataclass(frozen=True, slots=True)
class PairedMeans:
    """Mean difference of each of J entries, over the items measured there."""

    estimate: NDArray[np.float64]
    """(J,) nan where no item is measured."""
    n: NDArray[np.int64]
    """(J,) items measured."""
    n_units: NDArray[np.int64]
    """(J,) items, or groups with an item measured."""
    n_movers: NDArray[np.int64]
    """(J,) items whose difference is not 0."""
    se: NDArray[np.float64]
    """(J,) standard error for the population of items (of groups); nan below two units."""

    @property
    def degenerate(self) -> NDArray[np.bool_]:
        """(J,) two units or more, and no spread between them."""
        alike: NDArray[np.bool_] = self.se == 0
        return alike

    @property
    def usable(self) -> NDArray[np.bool_]:
        """(J,) the entries that have a spread."""
        spread: NDArray[np.bool_] = self.se > 0
        return spread


@dataclass(frozen=True, slots=True)
class FixedSlice:
    """Standard errors for exactly these items: the noise of the draws alone."""

    se: NDArray[np.float64]
    """(J,) nan unless measured."""
    states: tuple[State, ...]
    """``UNSTABLE`` where the estimated variances sum below 0, ``NOT_APPLICABLE`` where some
    item has too few draws for one, ``NO_EVIDENCE`` where no item is measured."""


def units_of(delta: NDArray[np.float64], groups: NDArray[np.integer] | None = None) -> Units:
    """Sums and counts of each item, or of each group.

    Parameters
    ----------
    delta : (n_items, J) float in [-1, 1]
        After minus before; nan where an item is not measured at that entry.
    groups : (n_items,) int, optional
        Items with one number belong together.

    Raises
    ------
    ShapeError
        If the shapes do not fit.
    InputError
        If a difference lies outside [-1, 1].

    Examples
    --------
    >>> units_of(np.array([[0.5], [np.nan], [0.25]]), np.array([7, 7, 9])).sums.tolist()
    [[0.5], [0.25]]
    """
    _check(delta, groups)
    seen = ~np.isnan(delta)
    values = np.where(seen, delta, 0.0)
    if groups is None:
        return Units(values, seen.astype(np.float64))
    found, place = np.unique(groups, return_inverse=True)
    sums = np.zeros((len(found), delta.shape[1]))
    counts = np.zeros_like(sums)
    np.add.at(sums, place, values)
    np.add.at(counts, place, seen)
    return Units(sums, counts)


def paired_means(
    delta: NDArray[np.float64], groups: NDArray[np.integer] | None = None
) -> PairedMeans:
    r"""Mean differences and their standard error for the population the items come from.

    :math:`\sqrt{\frac{G}{G-1}\sum_g(\sum_{i\in g}(\Delta_i-\hat\Delta))^2}/N`; without groups
    every item is its own, which is :math:`sd(\Delta)/\sqrt N`. An entry whose sums are all 0 up
    to rounding has ``se`` exactly 0.

    Parameters and errors as :func:`units_of`.

    Examples
    --------
    >>> means = paired_means(np.array([[0.0, 1.0], [1.0, 1.0], [0.5, 1.0]]))
    >>> means.estimate.tolist(), means.se.round(4).tolist(), means.degenerate.tolist()
    ([0.5, 1.0], [0.2887, 0.0], [False, True])
    """
    units = units_of(delta, groups)
    n = (~np.isnan(delta)).sum(axis=0)
    held = units.counts > 0
    n_units = held.sum(axis=0)
    total = units.sums.sum(axis=0)
    estimate = np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)
    spread = units.sums - units.counts * np.where(n > 0, estimate, 0.0)
    spread[np.abs(spread) <= ROUNDING * np.maximum(1.0, units.counts)] = 0.0
    square = (spread**2).sum(axis=0)
    se = np.full(len(n), np.nan)
    enough = n_units > 1
    ratio = n_units[enough] / (n_units[enough] - 1)
    se[enough] = np.sqrt(ratio * square[enough]) / n[enough]
    n_movers = (np.abs(np.nan_to_num(delta)) > ROUNDING).sum(axis=0)
    return PairedMeans(estimate, n, n_units, n_movers, se)


def equivalence_intervals(means: PairedMeans, *, alpha: float = 0.05) -> NDArray[np.float64]:
    r"""Two one-sided tests as intervals: each end errs with probability ``alpha``.

    :math:`\hat\Delta \pm t_{N-1,1-\alpha}\,SE`. Where the units do not differ at all,
    :math:`[(1+\hat\Delta)a-1,\;1-(1-\hat\Delta)a]` with :math:`a=\alpha^{1/N}`: a share of the
    population that moved could still have been missed by all N units.

    Parameters
    ----------
    means : PairedMeans
    alpha : float in (0, 1)

    Returns
    -------
    (J, 2) float
        nan below two units. The end farther from 0 is the smallest margin that would pass.

    Examples
    --------
    >>> equivalence_intervals(paired_means(np.zeros((25, 1)))).round(4).tolist()
    [[-0.1129, 0.1129]]
    """
    out = np.full((len(means.n), 2), np.nan)
    some = means.n_units > 1
    center, units = means.estimate[some], means.n_units[some]
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to load, not always needed

    reach = stdtrit(units - 1, 1 - alpha) * means.se[some]
    a = alpha ** (1 / units)
    flat = means.degenerate[some]
    out[some, 0] = np.where(flat, (1 + center) * a - 1, center - reach)
    out[some, 1] = np.where(flat, 1 - (1 - center) * a, center + reach)
    return out


def fixed_slice(
    delta: NDArray[np.float64],
    variance_before: NDArray[np.float64],
    *,
    variance_after: NDArray[np.float64],
) -> FixedSlice:
    r"""Standard errors of the mean differences of exactly these items.

    :math:`\sqrt{\sum_i(\hat V_{before,i}+\hat V_{after,i})}/N`, raw estimates, negative ones
    included. The arms must have been drawn independently.

    Parameters
    ----------
    delta, variance_before, variance_after : (n_items, J) float
        nan where not measured (variances: fewer draws than twice the order).

    Raises
    ------
    ShapeError
        If the shapes differ.

    Examples
    --------
    >>> one = np.array([[0.04, -0.02]])
    >>> found = fixed_slice(np.array([[0.5, 0.5]]), one, variance_after=0 * one)
    >>> found.se.round(3).tolist(), [str(state) for state in found.states]
    ([0.2, nan], ['MEASURED', 'UNSTABLE'])
    """
    if not delta.shape == variance_before.shape == variance_after.shape:
        msg = (
            f"delta has shape {delta.shape}, the variances {variance_before.shape} and "
            f"{variance_after.shape}; all must be (n_items, entries). Use the same items."
        )
        raise ShapeError(msg)
    seen = ~np.isnan(delta)
    n = seen.sum(axis=0)
    both = np.where(seen, variance_before + variance_after, 0.0).sum(axis=0)
    states = tuple(_fixed_state(int(m), float(v)) for m, v in zip(n, both, strict=True))
    measured = np.array([state is State.MEASURED for state in states], dtype=np.bool_)
    se = np.full(len(n), np.nan)
    se[measured] = np.sqrt(np.maximum(both[measured], 0.0)) / n[measured]
    return FixedSlice(se, states)


def _fixed_state(n: int, variance: float) -> State:
    if n == 0:
        return State.NO_EVIDENCE
    if np.isnan(variance):
        return State.NOT_APPLICABLE
    return State.UNSTABLE if variance < -ROUNDING else State.MEASURED


def _check(delta: NDArray[np.float64], groups: NDArray[np.integer] | None) -> None:
    if delta.ndim != 2 or (groups is not None and groups.shape != delta.shape[:1]):  # noqa: PLR2004 - a matrix
        shape = None if groups is None else groups.shape
        msg = (
            f"delta has shape {delta.shape} and groups {shape}; wanted (n_items, entries) and "
            "(n_items,). Give one row an item and one group number an item."
        )
        raise ShapeError(msg)
    if (np.abs(np.nan_to_num(delta)) > 1 + ROUNDING).any():
        worst = float(np.nanmax(np.abs(delta)))
        msg = (
            f"a difference has size {worst}; differences of probabilities lie in [-1, 1]. "
            "Hand in after minus before, nan where not measured."
        )
        raise InputError(msg)
