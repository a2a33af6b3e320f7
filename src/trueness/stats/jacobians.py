"""What the singular values of a block's derivative say, with a guard on every number."""

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State

Floats = NDArray[np.float64]

PUBLISHED_WINDOW = (11, 400)
"""Ranks of the published tail exponent; absolute ranks do not compare across widths."""
DECADES = 2.0
"""A window whose ends span fewer decades shows no power law."""
_MOVED = (0.75, 1.0, 1.25)
_FEWEST = 3
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class Tail:
    """Slope of the logarithms of singular values on the logarithms of their ranks.

    Parameters
    ----------
    state : State
        ``NOT_APPLICABLE`` below three points that are not 0.
    reason : str or None
    window : (int, int)
        Ranks from 1, both ends included.
    n_points : int
    exponent : float or None
        Minus the slope of the least-squares line.
    r2 : float or None
        None when the values in the window are equal.
    low, high : float or None
        Least and largest exponent when each end of the window moves by a quarter.
    curvature : float or None
        Coefficient of the squared logarithm in a parabola; 0 for a power law.
    decades : float
        Logarithm to base 10 of the ratio of the window's ends.
    """

    state: State
    reason: str | None
    window: tuple[int, int]
    n_points: int
    exponent: float | None
    r2: float | None
    low: float | None
    high: float | None
    curvature: float | None
    decades: float

    @property
    def long_enough(self) -> bool:
        """Whether the window spans the decades without which no power law may be claimed."""
        return self.decades >= DECADES


@dataclass(frozen=True, slots=True)
class JacobianSummary:
    """Summaries of one spectrum; none says whether the map is injective or an answer right.

    Parameters
    ----------
    state : State
        ``DEGENERATE`` for a non-finite value or a zero matrix.
    reason : str or None
    width : int
        D, how many singular values there are.
    sigma_max, stable_rank : float or None
        The largest, and the squared Frobenius norm over its square.
    n_null : int or None
        Values of at most machine epsilon times D times the largest.
    log_volume : float or None
        Sum of the logarithms; None when a value counts as 0.
    tail : Tail or None
    """

    state: State
    reason: str | None
    width: int
    sigma_max: float | None
    stable_rank: float | None
    n_null: int | None
    log_volume: float | None
    tail: Tail | None


def jacobian_summary(
    jacobian: ArrayLike, *, window: tuple[int, int] | None = None
) -> JacobianSummary:
    """Summaries of a square matrix, from its singular values in double precision.

    Parameters
    ----------
    jacobian : (D, D) float
        Derivative of one row of a block's output by the same row of its input.
    window : (int, int), optional
        As :func:`spectrum_summary`.

    Raises
    ------
    ShapeError
        When it is not square.
    InputError
        For a window that is none.

    Examples
    --------
    >>> jacobian_summary([[0.0, 2.0], [1.0, 0.0]]).stable_rank
    1.25
    """
    j = np.asarray(jacobian, dtype=np.float64)
    if j.ndim != 2 or j.shape[0] != j.shape[1] or not j.size:  # noqa: PLR2004 - a matrix
        msg = f"the Jacobian has shape {j.shape}; wanted (D, D). Differentiate one row by itself."
        raise ShapeError(msg)
    finite = bool(np.isfinite(j).all())
    values = np.linalg.svd(j, compute_uv=False) if finite else np.full(len(j), np.nan)
    return spectrum_summary(values, window=window)


def spectrum_summary(sigma: ArrayLike, *, window: tuple[int, int] | None = None) -> JacobianSummary:
    r"""Largest value, stable rank, log volume and tail exponent of singular values.

    :math:`\sum\sigma_i^2/\sigma_1^2 \in [1, D]`; :math:`\sum\log\sigma_i` unless one counts as 0.

    Parameters
    ----------
    sigma : (D,) float, at least 0
        In any order, all of them.
    window : (int, int), optional
        Ranks of the tail, from 1, both included; :func:`default_window` when left out.

    Raises
    ------
    ShapeError
        When there is none.
    InputError
        For a negative value or a window that is none.

    Examples
    --------
    >>> found = spectrum_summary([4.0, 2.0, 1.0, 0.5, 0.25], window=(1, 5))
    >>> found.stable_rank, round(found.tail.exponent, 4), found.tail.long_enough
    (1.33203125, 1.6785, False)
    """
    s = np.asarray(sigma, dtype=np.float64)
    if s.ndim != 1 or not len(s):
        msg = f"singular values have shape {s.shape}; wanted (D,), all of them."
        raise ShapeError(msg)
    if (s < 0).any():
        msg = "a singular value is negative; wanted numbers of at least 0. Do not hand eigenvalues."
        raise InputError(msg)
    width = len(s)
    ends = _window(window, width)
    if not np.isfinite(s).all() or s.max() == 0:
        reason = "the Jacobian is zero" if np.isfinite(s).all() else "a value is not finite"
        return JacobianSummary(State.DEGENERATE, reason, width, *[None] * 5)
    s = np.sort(s)[::-1]
    null = s <= _EPS * width * s[0]
    n_null = int(null.sum())
    scaled = s / s[0]
    return JacobianSummary(
        state=State.MEASURED,
        reason=None,
        width=width,
        sigma_max=float(s[0]),
        stable_rank=math.fsum((scaled**2).tolist()),
        n_null=n_null,
        log_volume=None if n_null else math.fsum(np.log(s).tolist()),
        tail=_tail(s[: width - n_null], ends, width),
    )


def default_window(width: int) -> tuple[int, int]:
    r"""Ranks :math:`[\max(5, \lceil .015 D\rceil), \lfloor .52 D\rfloor]` of a spectrum's tail.

    Examples
    --------
    >>> default_window(768)
    (12, 399)
    """
    return max(5, -(-15 * width // 1000)), 52 * width // 100


def _window(window: tuple[int, int] | None, width: int) -> tuple[int, int]:
    if window is None:
        return default_window(width)
    first, last = window
    if not 1 <= first <= last:
        msg = f"the window is {window}; wanted ranks (first, last) from 1 on. Leave it out."
        raise InputError(msg)
    return first, last


def _tail(there: Floats, window: tuple[int, int], width: int) -> Tail:
    """The tail of the values that are not 0, in descending order."""
    first, last = window[0], min(window[1], width)
    logs = _logs(there, first, last)
    decades = math.log10(last / first) if last >= first else 0.0
    if len(logs[0]) < _FEWEST:
        reason = f"{len(logs[0])} values that are not 0 in the window; wanted at least {_FEWEST}"
        empty = (None,) * 5
        return Tail(State.NOT_APPLICABLE, reason, window, len(logs[0]), *empty, decades)
    slope, r2 = _line(*logs)
    near = [_logs(there, *_shifted(window, a, b, width)) for a, b in product(_MOVED, _MOVED)]
    slopes = [-_line(*n)[0] for n in near if len(n[0]) >= _FEWEST]
    return Tail(
        state=State.MEASURED,
        reason=None,
        window=window,
        n_points=len(logs[0]),
        exponent=-slope,
        r2=r2,
        low=min(slopes),
        high=max(slopes),
        curvature=_curvature(*logs),
        decades=decades,
    )


def _shifted(window: tuple[int, int], a: float, b: float, width: int) -> tuple[int, int]:
    return max(1, round(window[0] * a)), min(width, round(window[1] * b))


def _logs(there: Floats, first: int, last: int) -> tuple[Floats, Floats]:
    """Logarithms of ranks and values within a window."""
    ranks = np.arange(first, min(last, len(there)) + 1, dtype=np.float64)
    return np.log(ranks), np.log(there[first - 1 : last])


def _line(x: Floats, y: Floats) -> tuple[float, float | None]:
    """Slope and R squared; None where there is nothing to explain."""
    dx, dy = x - x.mean(), y - y.mean()
    slope = float(dx @ dy / (dx @ dx))
    whole = float(dy @ dy)
    if y.max() == y.min() or whole == 0:
        return slope, None
    rest = dy - slope * dx
    return slope, 1 - float(rest @ rest) / whole


def _curvature(x: Floats, y: Floats) -> float:
    """The quadratic coefficient, through the part of x^2 that no line explains."""
    dx = x - x.mean()
    square = dx**2 - (dx**2).mean()
    square = square - dx * float(square @ dx / (dx @ dx))
    return float(square @ y / (square @ square))
