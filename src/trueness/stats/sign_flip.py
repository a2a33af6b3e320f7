"""Do differences lean to one side? Signs flipped, all entries judged at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.stats.paired_means import ROUNDING, Units

MAX_ENUMERATED = 100_000
"""Up to so many sign patterns the p-values are exact."""
ASSUMES = (
    "exact if the two arms could be exchanged within every item; otherwise a test that the "
    "differences are symmetric about 0"
)
"""What the p-values mean; stands beside them."""
_CHUNK = 1 << 21  # signs held at once
_TIE = 1e-9  # statistics are at most sqrt(n_units); distinct ones lie farther apart


@dataclass(frozen=True, slots=True)
class SignFlip:
    """Adjusted p-values of J entries, two-sided."""

    p_adjusted: NDArray[np.float64]
    """(J,) of all entries together; nan where no item is measured."""
    enumerated: bool
    """Every pattern of signs was looked at; else random ones."""
    n_patterns: int
    """Patterns looked at."""


def sign_flip(units: Units, *, rng: np.random.Generator, draws: int = 10_000) -> SignFlip:
    r"""Max-T adjusted p-values under random signs, one for each item or group.

    :math:`T_j = |\sum_g s_g D_{gj}| / \sqrt{\sum_g D_{gj}^2}`, D the sums of differences; the
    p-value of entry j is the share of sign patterns whose largest T is at least the observed T_j.
    All patterns are looked at when units that moved allow at most 100,000 of them, else
    :math:`(b+1)/(m+1)` over m random ones. Units without any difference change nothing.

    Parameters
    ----------
    units : Units
    rng : numpy.random.Generator
        Used only where patterns are drawn.
    draws : int, at least 1

    Returns
    -------
    SignFlip
        An entry without any difference has p = 1.

    Raises
    ------
    InputError
        If no draw is asked for.

    Examples
    --------
    >>> units = Units(np.full((6, 1), 0.25), np.ones((6, 1)))
    >>> sign_flip(units, rng=np.random.default_rng(0)).p_adjusted.tolist()
    [0.03125]
    """
    if draws < 1:
        msg = f"{draws} sign patterns are asked for; wanted at least 1. Ask for 10,000."
        raise InputError(msg)
    sums = np.where(np.abs(units.sums) > ROUNDING, units.sums, 0.0)
    scale = np.sqrt((sums**2).sum(axis=0))
    moved = sums[(sums != 0).any(axis=1)] / np.where(scale > 0, scale, 1.0)
    observed = np.abs(moved.sum(axis=0))
    exact = len(moved) < MAX_ENUMERATED.bit_length() and 2 ** len(moved) <= MAX_ENUMERATED
    largest = _every_pattern(moved) if exact else _random_patterns(moved, draws, rng)
    largest.sort()
    at_least = len(largest) - np.searchsorted(largest, observed - _TIE)
    p = at_least / len(largest) if exact else (at_least + 1) / (draws + 1)
    p = np.where(units.counts.any(axis=0), np.where(scale > 0, p, 1.0), np.nan)
    return SignFlip(p, exact, 2 ** len(moved) if exact else draws)


def _every_pattern(moved: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest statistic of every pattern with the first sign fixed: the others mirror them."""
    n = len(moved)
    if n == 0:
        return np.zeros(1)
    patterns = np.arange(2 ** (n - 1))[:, None] >> np.arange(n) & 1
    return _largest(patterns.astype(np.float64), moved)


def _random_patterns(
    moved: NDArray[np.float64], draws: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    out = np.empty(draws)
    rows = max(1, _CHUNK // len(moved))
    for start in range(0, draws, rows):
        part = out[start : start + rows]
        flips = rng.integers(0, 2, (len(part), len(moved)), dtype=np.int8)
        part[:] = _largest(flips.astype(np.float64), moved)
    return out


def _largest(flips: NDArray[np.float64], moved: NDArray[np.float64]) -> NDArray[np.float64]:
    """Largest absolute sum over the entries when the units marked 1 are flipped."""
    found: NDArray[np.float64] = np.abs(moved.sum(axis=0) - 2 * (flips @ moved)).max(axis=1)
    return found
