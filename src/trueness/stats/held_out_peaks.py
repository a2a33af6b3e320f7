"""Which level is best for a unit, by what all other units and groups say."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

_DIGITS = 12
"""Means that differ by rounding alone are equal."""


def held_out_peaks(values: Floats) -> NDArray[np.intp]:
    """For every unit in every group the best level on the other units in the other groups.

    A unit's own values never choose its level, in no group, and neither do those of its group,
    so what is measured at the level is not what it was chosen on. With one group the other units
    of it choose.

    Parameters
    ----------
    values : (n_levels, n_groups, n_units) float64
        Such as right answers; nan where there is none.

    Returns
    -------
    (n_groups, n_units) intp
        The first of the levels with the largest mean; a level without values is never chosen
        before one that has some.
    """
    n = _of_others((~np.isnan(values)).astype(np.float64))
    sums = _of_others(np.nan_to_num(values))
    means = np.divide(sums, n, out=np.full(n.shape, -np.inf), where=n > 0)
    best: NDArray[np.intp] = means.round(_DIGITS).argmax(axis=0)
    return best


def _of_others(values: Floats) -> Floats:
    """Sums over the other units in the other groups; over the other units, with one group."""
    by_unit: Floats = values.sum(axis=1, keepdims=True)
    if values.shape[1] == 1:
        left: Floats = by_unit.sum(axis=2, keepdims=True) - by_unit
        return left
    by_group: Floats = values.sum(axis=2, keepdims=True)
    rest: Floats = by_group.sum(axis=1, keepdims=True) - by_group - by_unit + values
    return rest
