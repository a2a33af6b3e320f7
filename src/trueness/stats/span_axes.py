"""What a spectrum and a claim's cosines look like: the axes beside the energy."""

import numpy as np
from numpy.typing import NDArray

from trueness.stats.containment import Containment
from trueness.stats.span_rules import Floats, Ints

_SPECTRAL = (
    "sigma1_ratio",
    "sigma2_ratio",
    "pr_sigma",
    "pr_lambda",
    "entropy_rank_sigma",
    "entropy_rank_lambda",
    "stable_rank",
)
AXES = (
    *_SPECTRAL,
    "top1",
    "top2",
    "margin",
    "mean_cosine",
    "centroid",
    "best_sin2",
    "gain",
    "concentration",
    "alignment",
)
_NO_CENTRE = 1e-9
_SHORT = 1e-3
_CLOSE = 1e-4
_ROUNDING = 1e-12
"""A cosine of 0 may come out as large as this; it is not positive."""


def spectral_axes(sigma: Floats, rank: Ints) -> dict[str, Floats]:
    r"""Axes of the evidence alone, each (n_sets,).

    With :math:`p_i = \sigma_i / \sum \sigma` and :math:`w_i = \sigma_i^2 / \sum \sigma^2` over
    the numerical rank: the first two p, the participation ratios :math:`1 / \sum p^2` and
    :math:`1 / \sum w^2`, the entropy ranks :math:`\exp(-\sum p \ln p)`, and
    :math:`\sum \sigma^2 / \sigma_1^2`.

    Parameters
    ----------
    sigma : (n_sets, n) float, descending
    rank : (n_sets,) int, at least 1

    Returns
    -------
    dict of (n_sets,) float
        ``sigma2_ratio`` is nan at rank 1.

    Examples
    --------
    >>> axes = spectral_axes(np.array([[2.0, 1.0]]), np.array([2]))
    >>> round(float(axes["pr_sigma"][0]), 12), round(float(axes["stable_rank"][0]), 12)
    (1.8, 1.25)
    """
    if sigma.shape[1] == 1:
        one, none = np.ones(len(sigma)), np.full(len(sigma), np.nan)
        return {name: none if name == "sigma2_ratio" else one for name in _SPECTRAL}
    kept, safe = sigma, sigma
    if rank.min(initial=sigma.shape[1]) < sigma.shape[1]:
        within = np.arange(sigma.shape[1]) < rank[:, None]
        kept, safe = np.where(within, sigma, 0.0), np.where(within, sigma, 1.0)
    lam, logs = kept * kept, np.log(safe)
    total, square = kept.sum(axis=1), np.vecdot(kept, kept)
    return {
        "sigma1_ratio": kept[:, 0] / total,
        "sigma2_ratio": np.where(rank > 1, kept[:, 1] / total, np.nan),
        "pr_sigma": total * total / square,
        "pr_lambda": square * square / np.vecdot(lam, lam),
        "entropy_rank_sigma": total * np.exp(-np.vecdot(kept, logs) / total),
        "entropy_rank_lambda": square * np.exp(-2.0 * np.vecdot(lam, logs) / square),
        "stable_rank": square / lam[:, 0],
    }


def cosine_axes(cosines: Floats) -> dict[str, Floats]:
    """Axes of a claim's cosines with the passages, each (n_sets, n_claims).

    Parameters
    ----------
    cosines : (n_sets, n_claims, n) float

    Returns
    -------
    dict of (n_sets, n_claims) float
        ``top2`` and ``margin`` are nan with one passage, ``concentration`` where no cosine is
        above 0.

    Examples
    --------
    >>> axes = cosine_axes(np.array([[[0.8, 0.6]]]))
    >>> {k: v.round(3).tolist() for k, v in axes.items() if k in ("margin", "concentration")}
    {'margin': [[0.2]], 'concentration': [[0.571]]}
    """
    n = cosines.shape[2]
    if n > 1:
        two = np.partition(cosines, n - 2, axis=2)
        top1, top2 = two[:, :, -1], two[:, :, -2]
    else:
        top1 = cosines[:, :, 0]
        top2 = np.full_like(top1, np.nan)
    largest = np.where(top1 > _ROUNDING, top1, 0.0)
    positive = np.where(cosines > _ROUNDING, cosines, 0.0).sum(axis=2)
    return {
        "top1": top1,
        "top2": top2,
        "margin": top1 - top2,
        "mean_cosine": cosines.sum(axis=2) / n,
        "concentration": _over(largest, positive, positive > 0),
    }


def span_axes(
    found: Containment, claims: Floats, cosines: Floats, *, roots: Floats | None = None
) -> dict[str, Floats]:
    """All axes of section ``AXES``, each (n_sets,) or (n_sets, n_claims); nan means undefined.

    Parameters
    ----------
    found : Containment
    claims : (n_sets, n_claims, d) float
        Of any length.
    cosines : (n_sets, n_claims, n) float
        Of the claims with the passages, without weights.
    roots : (n_sets, n) float, optional
        Roots of the weights of the rows, where they have some.

    Returns
    -------
    dict of float arrays
        ``centroid`` is nan where the passages cancel, ``alignment`` where the first direction is
        tied with the second.
    """
    sigma = found.sigma
    axes = {**spectral_axes(sigma, found.rank), **cosine_axes(cosines)}
    best = best_sin2(found, claims, cosines)
    axes["centroid"] = _centroid(found, claims, cosines, roots)
    axes["best_sin2"] = best
    axes["gain"] = best - found.energy
    after = sigma[:, 1] if sigma.shape[1] > 1 else 0.0
    clear = sigma[:, 0] - after >= found.cutoff.safe_gap
    first = np.abs(found.along[:, :, 0]) / sigma[:, :1]
    axes["alignment"] = np.where(clear[:, None], first, np.nan)
    return axes


def best_sin2(found: Containment, claims: Floats, cosines: Floats) -> Floats:
    """1 - max cosine^2, as a residual where the difference would lose it; (n_sets, n_claims)."""
    if cosines.shape[2] == 1:
        return found.energy.copy()
    best: Floats = np.maximum(1.0 - np.square(cosines).max(axis=2), 0.0)
    close = best < _CLOSE
    if not close.any():
        return best
    for s, c in np.argwhere(close):
        j = int(np.abs(cosines[s, c]).argmax())
        row, claim = found.gram.rows[s, j], claims[s, c]
        row, claim = row / np.sqrt(row @ row), claim / np.sqrt(claim @ claim)
        rest = claim - (row @ claim) * row
        best[s, c] = rest @ rest
    return best


def _over(numerator: Floats, denominator: Floats, known: NDArray[np.bool_]) -> Floats:
    ratio: Floats = np.empty_like(numerator)
    ratio.fill(np.nan)
    return np.divide(numerator, denominator, out=ratio, where=known)


def _centroid(found: Containment, claims: Floats, cosines: Floats, roots: Floats | None) -> Floats:
    """Cosine of the claim with the mean of the unit rows."""
    rows, n = found.gram.rows, cosines.shape[2]
    if n == 1:
        return cosines[:, :, 0]
    matrix = found.gram.matrix
    if roots is not None:
        matrix = matrix / (roots[:, :, None] * roots[:, None, :])
    squared = matrix.sum(axis=(1, 2)) / n**2
    length = np.sqrt(np.maximum(squared, 0.0))
    dot = cosines.sum(axis=2) / n
    short = squared < _SHORT
    for s in np.flatnonzero(short) if short.any() else ():
        units = rows[s] / np.sqrt(np.vecdot(rows[s], rows[s]))[:, None]
        mean = units.mean(axis=0)
        length[s] = np.sqrt(mean @ mean)
        dot[s] = claims[s] @ mean / np.sqrt(np.vecdot(claims[s], claims[s]))
    return _over(dot, length[:, None], (length >= _NO_CENTRE)[:, None])
