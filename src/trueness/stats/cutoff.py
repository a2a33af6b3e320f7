"""Whether the cutoff decides the number: noise bound, tied block, and its two ends."""

from dataclasses import dataclass

import numpy as np

from trueness.stats.span_rules import Floats, Ints, SpanRules


@dataclass(frozen=True, slots=True, eq=False)
class Cutoff:
    """The cutoff of sets of passages, before any claim is looked at.

    Attributes
    ----------
    gap : (n_sets,) float
        Difference of the singular values on the two sides of the cutoff.
    noise_bound : (n_sets,) float in [0, 1]
        How far embedding noise can move the energy.
    safe_gap : float
        Gaps of at least this keep the noise bound within the tolerance.
    first, last : (n_sets,) int
        How many directions come before the tied block, and how many with it; both equal the
        retained rank where there is no block, and one array where there is none in any set.
        ``last`` above the rank: noise is part of it.
    """

    gap: Floats
    noise_bound: Floats
    safe_gap: float
    first: Ints
    last: Ints


def cutoff_of(sigma: Floats, retained: Ints, rules: SpanRules) -> Cutoff:
    r"""The cutoff after so many singular values: its gap, and the block that is tied there.

    With :math:`\delta = \epsilon \sqrt n` and :math:`g = \sigma_r - \sigma_{r+1}`, where
    :math:`\sigma_{n+1} = 0`, the bound is :math:`\min(1, \delta / (g - \delta))` (Wedin).

    Parameters
    ----------
    sigma : (n_sets, n) float, descending
    retained : (n_sets,) int in [1, n]

    Examples
    --------
    >>> tied = cutoff_of(np.array([[2.0, 1.0, 1.0]]), np.array([2]), SpanRules())
    >>> tied.noise_bound.tolist(), tied.first.tolist(), tied.last.tolist()
    ([1.0], [1], [3])
    """
    n = sigma.shape[1]
    delta = rules.embedding_noise * np.sqrt(n)
    safe = delta * (1.0 + 1.0 / rules.energy_tol)
    gap = _gap(sigma, retained)
    bound = np.ones(len(gap))
    np.divide(delta, gap - delta, out=bound, where=gap > delta)
    np.minimum(bound, 1.0, out=bound)
    first = last = retained
    tied = np.flatnonzero(gap < safe)
    if len(tied):
        first, last = retained.copy(), retained.copy()
    for i in tied:
        gaps = -np.diff(sigma[i], append=0.0)
        first[i], last[i] = _block(gaps < safe, int(retained[i]))
    return Cutoff(gap, bound, float(safe), first, last)


def _gap(sigma: Floats, retained: Ints) -> Floats:
    """Singular value at the cutoff minus the next one, which is 0 after the last."""
    n = sigma.shape[1]
    if (retained == n).all():
        return sigma[:, -1]
    last = retained + np.arange(-1, sigma.size - 1, n)
    after = sigma.take(np.minimum(last + 1, sigma.size - 1))
    gap: Floats = sigma.take(last) - np.where(retained < n, after, 0.0)
    return gap


def _block(tied: "np.ndarray[tuple[int], np.dtype[np.bool_]]", retained: int) -> tuple[int, int]:
    """Directions before and up to the end of the longest run of ties through the cutoff."""
    first = last = retained - 1  # the tie between retained - 1 and retained, counted from 0
    while first > 0 and tied[first - 1]:
        first -= 1
    while last + 1 < len(tied) and tied[last + 1]:
        last += 1
    return first, last + 2
