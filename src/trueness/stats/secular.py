"""Eigenvalues of a symmetric matrix after one row and column are deleted, many at once."""

from dataclasses import dataclass

import numpy as np

from trueness.stats.span_rules import Floats, Ints

_ROUNDS = 60
_THIN = 0.7
"""Roots that have been found are left out once so small a share is still moving."""
_STEP, _TIGHT = 1e-10, 1e-15
"""Relative changes that end the search: of a Newton step, whose error is its square; of a half."""


@dataclass(frozen=True, slots=True, eq=False)
class Roots:
    """Eigenvalues ``mu`` (n_roots,) and 1 / (lam - mu) of shape (n_roots, n)."""

    mu: Floats
    inverse: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _Ends:
    """Squares at the nearer and the farther end of each interval, and its signed width."""

    near: Floats
    far: Floats
    width: Floats


def deleted_roots(lam: Floats, squares: Floats, places: Ints) -> Roots:
    r"""One eigenvalue of a principal submatrix per row of input.

    With row j deleted, :math:`\sum_i U_{ji}^2 / (\lambda_i - \mu) = 0`, one root between
    neighbouring :math:`\lambda`. Each is sought as the fraction t of its interval, from the end
    that is nearer: there :math:`\lambda_i - \mu` keeps its relative precision.

    Parameters
    ----------
    lam : (n_roots, n) float, descending, with n at least 2
        Eigenvalues of the whole matrix.
    squares : (n_roots, n) float, at least 0
        Squared entries of row j of the eigenvectors; above 0 at both ends of the interval.
    places : (n_roots,) int in [0, n - 1)
        The interval: the root lies between ``lam[place + 1]`` and ``lam[place]``, which differ.

    Examples
    --------
    >>> lam, vectors = np.linalg.eigh(np.array([[2.0, 1.0], [1.0, 5.0]]))
    >>> squares = vectors[:1, ::-1] ** 2
    >>> deleted_roots(lam[None, ::-1], squares, np.array([0])).mu.round(12)
    array([5.])
    """
    here = np.arange(len(lam))
    gap = lam[here, places] - lam[here, places + 1]
    upper, lower = squares[here, places], squares[here, places + 1]
    poles = lam.copy()
    poles[here, places] = poles[here, places + 1] = np.inf  # the two ends are kept apart
    middle = (lam[here, places] + lam[here, places + 1]) / 2.0
    rest = _sum_and_slope(poles - middle[:, None], squares)[0]
    from_top = upper / 2 - lower / 2 + gap * rest / 4 <= 0
    sign = np.where(from_top, 1.0, -1.0)
    origin = np.where(from_top, places, places + 1)
    near, far = np.where(from_top, upper, lower), np.where(from_top, lower, upper)
    base = lam[here, origin]
    poles -= base[:, None]
    start = _quadratic(near, far, sign * gap * rest)
    t = _solve(poles, squares, _Ends(near, far, sign * gap), start)
    shift = sign * t * gap
    denominator = poles + shift[:, None]
    denominator[here, origin] = shift
    other_end = np.where(from_top, places + 1, places)
    denominator[here, other_end] = -sign * gap * (1.0 - t)
    return Roots(base - shift, 1.0 / denominator)


def _sum_and_slope(denominator: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """Sums of squares / denominator and of squares / denominator^2; overwrites denominator."""
    inverse = np.divide(1.0, denominator, out=denominator)
    weighted = squares * inverse
    return weighted.sum(axis=1), np.einsum("rn,rn->r", weighted, inverse)


def _quadratic(near: Floats, far: Floats, rest: Floats) -> Floats:
    """Root in [0, 1] of near (1-t) - far t + rest t (1-t)."""
    linear = near + far - rest  # rest t^2 + linear t - near = 0
    root = np.sqrt(np.maximum(linear**2 + 4.0 * rest * near, 0.0))
    safe = np.where(linear >= 0, linear + root, 1.0)
    high = 2.0 * near / np.where(safe > 0, safe, 1.0)
    low = (root - linear) / np.where(rest == 0, 1.0, 2.0 * rest)
    return np.clip(np.where(linear >= 0, high, low), 0.0, 0.5)


def _solve(poles: Floats, squares: Floats, ends: _Ends, start: Floats) -> Floats:
    """Newton on near (1-t) - far t + width t (1-t) S(t), kept inside its bracket."""
    t = start.copy()
    low, high = np.zeros_like(t), np.full_like(t, 0.5)
    active, live = np.arange(len(t)), np.ones(len(t), np.bool_)
    d, z, near, far, width = poles, squares, ends.near, ends.far, ends.width
    for _ in range(_ROUNDS):
        x = t[active]
        rest, square = _sum_and_slope(d + (width * x)[:, None], z)
        bend = width * (x - x * x)
        value = near - (near + far) * x + bend * rest
        slope = -(near + far) + width * (1.0 - 2.0 * x) * rest - width * bend * square
        low[active] = np.where(value > 0, x, low[active])
        high[active] = np.where(value > 0, high[active], x)
        step = x - value / np.where(slope < 0, slope, -np.inf)
        lo, hi = low[active], high[active]
        inside = (slope < 0) & (step >= lo) & (step <= hi)
        new = np.where(inside, step, (lo + hi) / 2.0)
        t[active] = np.where(live, new, x)  # what is found stays, whoever else is sought
        live &= np.abs(new - x) > np.where(inside, _STEP, _TIGHT) * new
        left = np.count_nonzero(live)
        if not left:
            break
        if left < _THIN * len(active):
            active, d, z = active[live], d[live], z[live]
            near, far, width = near[live], far[live], width[live]
            live = live[live]
    return t
