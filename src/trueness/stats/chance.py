"""What a claim that has nothing to do with its evidence would show: the Beta null."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from trueness.stats.span_rules import Floats


def chance_energy(rank: NDArray[np.integer], d: int) -> Floats:
    """Mean energy of a random direction against ``rank`` directions of ``d``: 1 - r/d.

    >>> chance_energy(np.array([1, 4]), 8).tolist()
    [0.875, 0.5]
    """
    return 1.0 - np.asarray(rank) / d


def null_quantile(energy: Floats, rank: NDArray[np.integer], d: int) -> Floats:
    r"""Share of random directions that are contained at least as well.

    :math:`P(\mathrm{Beta}((d-r)/2, r/2) \le energy)`; small = more contained than chance. Real
    embeddings do not point into random directions, so this is no error rate.

    Parameters
    ----------
    energy : float in [0, 1], nan where not measured
    rank : int in [1, d), of a shape that broadcasts against energy

    Examples
    --------
    >>> null_quantile(np.array([9 / 25]), np.array([1]), 3).round(12)
    array([0.2])
    """
    r = np.asarray(rank)
    known = np.isfinite(energy) & (r < d)
    free = np.where(known, d - r, 1)
    tail = betainc(free / 2.0, r / 2.0, np.where(known, energy, 0.0))
    return np.where(known, tail, np.nan)
