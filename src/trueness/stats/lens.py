"""Ranks of the right token layer by layer, and on wrong items against right ones."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State

Floats = NDArray[np.float64]

EMERGED = 10
"""Gold has emerged at a layer from which its median rank stays at most this."""
_TOPS = (10, 1000)


@dataclass(frozen=True, slots=True)
class RankSummary:
    """Ranks of some items.

    Parameters
    ----------
    state : State
        ``NO_EVIDENCE`` without an item that was measured.
    reason : str or None
    n, n_missing : int
        Items measured, and items without a rank.
    median, lower, upper : float or None
        Median and quartiles.
    within : mapping of int to int
        How many ranks are at most 10, and at most 1000.
    """

    state: State
    reason: str | None
    n: int
    n_missing: int
    median: float | None
    lower: float | None
    upper: float | None
    within: dict[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class LensCurve:
    """Median and quartiles of ranks at every entry of the residual stream.

    Parameters
    ----------
    state : State
        ``NO_EVIDENCE`` without an item.
    n : int
        Items whose ranks are known at every entry.
    median, lower, upper : (n_entries,) float64
        nan without an item.
    emergence : int or None
        First entry from which the median stays at most `EMERGED`; None where it never does.
    """

    state: State
    n: int
    median: Floats
    lower: Floats
    upper: Floats
    emergence: int | None


def rank_summary(ranks: ArrayLike, chosen: ArrayLike | None = None) -> RankSummary:
    """Median, quartiles and counts of ranks, over all items or some.

    Parameters
    ----------
    ranks : (n,) float
        nan where an item has none.
    chosen : (n,) bool, optional
        Such as the wrong items.

    Raises
    ------
    ShapeError
        When lengths differ.
    InputError
        For a rank below 1.

    Examples
    --------
    >>> found = rank_summary([1.0, 2.0, 40.0, 3.0], [False, True, True, True])
    >>> found.median, found.within
    (3.0, {10: 2, 1000: 3})
    """
    table, mask = _checked(np.asarray(ranks, dtype=np.float64).reshape(-1, 1), chosen)
    picked = table[mask, 0]
    known = picked[~np.isnan(picked)]
    gone = len(picked) - len(known)
    if not len(known):
        reason = "no item with a rank is among them"
        return RankSummary(State.NO_EVIDENCE, reason, 0, gone, None, None, None, {})
    lower, median, upper = np.quantile(known, [0.25, 0.5, 0.75]).tolist()
    within = {top: int((known <= top).sum()) for top in _TOPS}
    return RankSummary(State.MEASURED, None, len(known), gone, median, lower, upper, within)


def lens_curve(ranks: ArrayLike, chosen: ArrayLike | None = None) -> LensCurve:
    """Quartiles of the ranks at every entry, and where gold emerges.

    It does not show presence before the last layer: those states were never trained to be read
    through the final norm, and a high rank number there is no absence.

    Parameters
    ----------
    ranks : (n, n_layers + 1) float
        Of gold in the read-out of each entry; nan where a logit was not finite.
    chosen : (n,) bool, optional
        Such as the wrong items.

    Raises
    ------
    ShapeError
        When the ranks are no matrix or lengths differ.
    InputError
        For a rank below 1.

    Examples
    --------
    >>> lens_curve([[900, 60, 4, 2], [800, 9, 30, 1]]).median.tolist()
    [850.0, 34.5, 17.0, 1.5]
    >>> lens_curve([[900, 60, 4, 2], [800, 9, 30, 1]]).emergence
    3
    """
    table, mask = _checked(np.asarray(ranks, dtype=np.float64), chosen)
    picked = table[mask]
    known = picked[~np.isnan(picked).any(axis=1)]
    if not len(known):
        none = np.full(table.shape[1], np.nan)
        return LensCurve(State.NO_EVIDENCE, 0, none, none, none, None)
    lower, median, upper = np.quantile(known, [0.25, 0.5, 0.75], axis=0)
    return LensCurve(State.MEASURED, len(known), median, lower, upper, emergence(median))


def emergence(medians: ArrayLike, *, at_most: float = EMERGED) -> int | None:
    """The first entry from which the medians stay at most a number; None where none does.

    Examples
    --------
    >>> emergence([50, 5, 12, 9, 3])
    3
    """
    above = np.flatnonzero(~(np.asarray(medians, dtype=np.float64) <= at_most))
    first = int(above[-1]) + 1 if len(above) else 0
    return first if first < np.size(medians) else None


def _checked(table: Floats, chosen: ArrayLike | None) -> tuple[Floats, NDArray[np.bool_]]:
    mask = np.ones(len(table), np.bool_) if chosen is None else np.asarray(chosen)
    if table.ndim != 2 or mask.shape != (len(table),) or mask.dtype != np.bool_:  # noqa: PLR2004 - items by entries
        msg = (
            f"ranks have shape {table.shape} and the choice of items is {mask.dtype} of shape "
            f"{mask.shape}; wanted one rank an item and entry and one truth value an item."
        )
        raise ShapeError(msg)
    if (table < 1).any():
        msg = f"a rank is {np.nanmin(table)}; ranks count from 1. Hand in what gold_ranks gives."
        raise InputError(msg)
    return table, mask
