"""Spearman's rank correlation of few pairs: its interval, and an exact p by permutation."""

import math
from dataclasses import dataclass
from itertools import permutations
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State

Floats: TypeAlias = NDArray[np.float64]

ENUMERATED = 7
"""Pairs up to which all orders are counted."""
FEWEST = 4
"""Pairs below which there is no interval."""
_ROUNDING = 1e-10
_Z95 = 1.959963984540054
_FIELLER = 1.06


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """Spearman's correlation of pairs.

    Parameters
    ----------
    state : State
        ``NO_EVIDENCE`` below `FEWEST` pairs, ``DEGENERATE`` when one side does not vary.
    reason : str or None
    n : int
    rho : float or None
    low, high : float or None
        95%, by Fisher's transformation with variance 1.06/(n - 3) (Fieller, Hartley and Pearson).
    p : float or None
        Two-sided, over all orders of one side, or random ones beyond `ENUMERATED` pairs.
    """

    state: State
    reason: str | None
    n: int
    rho: float | None
    low: float | None
    high: float | None
    p: float | None


def rank_correlation(
    x: ArrayLike, y: ArrayLike, *, rng: np.random.Generator, n_permutations: int = 9999
) -> RankCorrelation:
    r"""Spearman's correlation with average ranks, its interval and its permutation p.

    A perfect order has no interval by Fisher's transformation; it is given that of the next
    attainable one, :math:`1 - 12/(n(n^2-1))`.

    Parameters
    ----------
    x, y : (n,) float
    rng : numpy.random.Generator
        Used only where the orders are too many to count.
    n_permutations : int, at least 1

    Raises
    ------
    ShapeError, InputError
        For lengths that differ, or a number that is not finite.

    Examples
    --------
    >>> found = rank_correlation([1, 2, 3, 4], [10, 20, 30, 45], rng=np.random.default_rng(0))
    >>> found.rho, round(found.p, 4), found.high
    (1.0, 0.0833, 1.0)
    """
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        msg = f"the sides have shapes {a.shape} and {b.shape}; wanted (n,) twice. Pair them."
        raise ShapeError(msg)
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        msg = "a number is nan or infinite; wanted finite pairs. Leave that pair out."
        raise InputError(msg)
    n = len(a)
    if n < FEWEST:
        return _none(State.NO_EVIDENCE, f"{n} pairs; {FEWEST} are needed", n)
    one, two = _centred_ranks(a), _centred_ranks(b)
    if not one.any() or not two.any():
        return _none(State.DEGENERATE, "one side does not vary", n)
    scale = float(np.linalg.norm(one) * np.linalg.norm(two))
    rho = max(-1.0, min(1.0, round(float(one @ two) / scale, 14)))
    low, high = _interval(rho, n)
    p = _p(one, two, scale, rho, rng=rng, n_permutations=n_permutations)
    return RankCorrelation(State.MEASURED, None, n, rho, low, high, p)


def _none(state: State, reason: str, n: int) -> RankCorrelation:
    return RankCorrelation(state, reason, n, None, None, None, None)


def _centred_ranks(values: Floats) -> Floats:
    """Average ranks less their mean."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Floats = (last - (counts - 1) / 2)[place] - (len(values) + 1) / 2
    return ranks


def _interval(rho: float, n: int) -> tuple[float, float]:
    most = 1 - 12 / (n * (n**2 - 1))
    z = math.atanh(max(-most, min(most, rho)))
    reach = _Z95 * math.sqrt(_FIELLER / (n - 3))
    low, high = math.tanh(z - reach), math.tanh(z + reach)
    return (-1.0 if rho <= -most else low), (1.0 if rho >= most else high)


def _p(
    one: Floats,
    two: Floats,
    scale: float,
    rho: float,
    *,
    rng: np.random.Generator,
    n_permutations: int,
) -> float:
    limit = abs(rho) - _ROUNDING
    n = len(one)
    if n <= ENUMERATED:
        orders = np.array(list(permutations(range(n))))
        return float((np.abs(two[orders] @ one) / scale >= limit).mean())
    beyond = sum(
        abs(float(one @ two[rng.permutation(n)])) / scale >= limit for _ in range(n_permutations)
    )
    return (beyond + 1) / (n_permutations + 1)
