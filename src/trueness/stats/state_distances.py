"""How far a hidden state lies from others: Mahalanobis distance and residual of a subspace."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State

Floats: TypeAlias = NDArray[np.float64]

VARIANCE_SHARE = 0.9
"""Of the training variance, which the principal subspace must hold."""
_EPS = float(np.finfo(np.float64).eps)
_ROUNDING = 1e-12


class Fitted(Protocol):
    """What was fitted on training states."""

    @property
    def state(self) -> State:
        """Whether a distance can be given."""

    @property
    def reason(self) -> str | None:
        """Why not."""

    def squared(self, states: ArrayLike) -> Floats:
        """(n,): squared distances of states (n, D)."""


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    r"""Mean and shrunk covariance :math:`(1-s)\Sigma + s\,\mathrm{tr}(\Sigma)/D\,I` of states.

    Parameters
    ----------
    state : State
        ``DEGENERATE`` when the shrunk covariance is singular.
    reason : str or None
    mean : (D,) float64
    directions : (r, D) float64
        Principal directions of the training states.
    variances : (r,) float64
        Of the shrunk covariance along them.
    rest : float
        Its variance along every other direction.
    shrinkage : float in [0, 1]
    """

    state: State
    reason: str | None
    mean: Floats
    directions: Floats
    variances: Floats
    rest: float
    shrinkage: float

    def squared(self, states: ArrayLike) -> Floats:
        r"""Squared distances :math:`(h-\mu)^T\Sigma_s^{-1}(h-\mu)` of states.

        Parameters
        ----------
        states : (n, D) float

        Returns
        -------
        (n,) float64
            nan when the covariance is singular.

        Raises
        ------
        ShapeError, InputError
            For another width, or a number that is not finite.
        """
        off = _like(states, self.mean) - self.mean
        if self.state is not State.MEASURED:
            return np.full(len(off), np.nan)
        along = off @ self.directions.T
        inside: Floats = (along**2 / self.variances).sum(axis=1)
        if len(self.directions) == len(self.mean):
            return inside
        outside: Floats = inside + _length2(off - along @ self.directions) / self.rest
        return outside


@dataclass(frozen=True, slots=True, eq=False)
class Subspace:
    """The principal subspace of training states through their mean.

    Parameters
    ----------
    state : State
        ``DEGENERATE`` when the states do not vary.
    reason : str or None
    mean : (D,) float64
    directions : (rank, D) float64
    share : float or None
        Of the training variance that it holds.
    """

    state: State
    reason: str | None
    mean: Floats
    directions: Floats
    share: float | None

    def squared(self, states: ArrayLike) -> Floats:
        """Squared distances of states to the subspace.

        Parameters, errors as :meth:`Spread.squared`; nan when the training states did not vary.
        """
        off = _like(states, self.mean) - self.mean
        if self.state is not State.MEASURED:
            return np.full(len(off), np.nan)
        return _length2(off - (off @ self.directions.T) @ self.directions)


def fit_spread(train: ArrayLike, *, shrinkage: float | None = None) -> Spread:
    r"""Mean and shrunk population covariance of training states, without labels.

    Parameters
    ----------
    train : (n, D) float
    shrinkage : float in [0, 1], optional
        Ledoit and Wolf's when left out: :func:`ledoit_wolf_shrinkage`.

    Raises
    ------
    ShapeError, InputError
        For fewer than two states, a number that is not finite, or a share out of range.

    Examples
    --------
    >>> fitted = fit_spread([[0, 0], [2, 0], [0, 2], [2, 2]], shrinkage=0.0)
    >>> fitted.squared([[3, 1]]).tolist()
    [4.0]
    """
    mean, x = _training(train)
    if shrinkage is not None and not 0 <= shrinkage <= 1:
        msg = f"shrinkage is {shrinkage}; wanted a share from 0 to 1. Leave it out for Ledoit-Wolf."
        raise InputError(msg)
    if not x.any():
        none = np.zeros((0, len(mean)))
        reason = "the training states do not vary"
        return Spread(State.DEGENERATE, reason, mean, none, np.zeros(0), 0.0, shrinkage or 0.0)
    s = _ledoit_wolf(x) if shrinkage is None else float(shrinkage)
    singular, directions = np.linalg.svd(x, full_matrices=False)[1:]
    own = singular**2 / len(x)
    rest = s * float(own.sum()) / len(mean)
    variances = (1 - s) * own + rest
    least = min(float(variances.min()), rest) if len(own) < len(mean) else float(variances.min())
    if least <= _EPS * len(mean) * float(variances.max()):
        reason = f"the covariance of {len(x)} states is singular at shrinkage {s:g}"
        return Spread(State.DEGENERATE, reason, mean, directions, variances, rest, s)
    return Spread(State.MEASURED, None, mean, directions, variances, rest, s)


def ledoit_wolf_shrinkage(train: ArrayLike) -> float:
    r"""The share :math:`\min(\bar b^2, d^2)/d^2` of Ledoit and Wolf (2004).

    With :math:`d^2 = |\Sigma - mI|_F^2`, :math:`m = \mathrm{tr}(\Sigma)/D` and
    :math:`\bar b^2 = \frac{1}{n^2}\sum_k |x_kx_k^T - \Sigma|_F^2`; 1 when the covariance is a
    multiple of the identity already.

    Parameters
    ----------
    train : (n, D) float

    Raises
    ------
    ShapeError, InputError
        For fewer than two states or a number that is not finite.

    Examples
    --------
    >>> round(ledoit_wolf_shrinkage([[0.0, 0.0], [4.0, 0.0], [8.0, 0.0], [0.0, 1.0]]), 4)
    0.3296
    """
    return _ledoit_wolf(_training(train)[1])


def fit_subspace(
    train: ArrayLike, *, rank: int | None = None, share: float = VARIANCE_SHARE
) -> Subspace:
    """The principal subspace of a rank, or the smallest that holds a share of the variance.

    Parameters
    ----------
    train : (n, D) float
    rank : int, optional
    share : float in (0, 1]

    Raises
    ------
    ShapeError, InputError
        For fewer than two states, a number that is not finite, or a rank or share out of range.

    Examples
    --------
    >>> fitted = fit_subspace([[-2, 0, 0], [2, 0, 0], [0, 1, 0], [0, -1, 0]], rank=1)
    >>> fitted.squared([[1, 1, 1]]).tolist(), fitted.share
    ([2.0], 0.8)
    """
    mean, x = _training(train)
    most = min(x.shape)
    if not 0 < share <= 1 or (rank is not None and not 1 <= rank <= most):
        msg = (
            f"rank is {rank} and share {share}; wanted a rank from 1 to {most}, a share in (0, 1]."
        )
        raise InputError(msg)
    if not x.any():
        reason = "the training states do not vary"
        return Subspace(State.DEGENERATE, reason, mean, np.zeros((0, len(mean))), None)
    singular, directions = np.linalg.svd(x, full_matrices=False)[1:]
    held = np.cumsum(singular**2)
    held = held / held[-1]
    r = rank if rank is not None else int(np.argmax(held >= share * (1 - 1e-12))) + 1
    return Subspace(State.MEASURED, None, mean, directions[:r], float(held[r - 1]))


def left_out(
    states: ArrayLike, groups: ArrayLike, fit: Callable[[Floats], Fitted]
) -> tuple[Floats, tuple[str | None, ...]]:
    """Squared distances of every state from what the other groups gave, and reasons for nan.

    Parameters
    ----------
    states : (n, D) float
    groups : (n,) int
        Source of every state; its own group takes no part in its fit.
    fit : callable
        Such as :func:`fit_spread`.

    Raises
    ------
    ShapeError, InputError
        When lengths differ, or a number is not finite.

    Examples
    --------
    >>> found, why = left_out([[0.0], [2.0], [5.0], [5.0]], [0, 0, 1, 1], fit_subspace)
    >>> found.tolist(), why[0]
    ([nan, nan, 0.0, 0.0], 'the training states do not vary')
    """
    h, codes = np.asarray(states, dtype=np.float64), np.asarray(groups)
    if h.ndim != 2 or codes.shape != (len(h),):  # noqa: PLR2004 - states by width
        msg = f"states have shape {h.shape} and groups {codes.shape}; wanted one group a state."
        raise ShapeError(msg)
    out, why = np.full(len(h), np.nan), np.full(len(h), None, dtype=object)
    for group in np.unique(codes):
        mine = codes == group
        if (~mine).sum() < 2:  # noqa: PLR2004 - a spread needs two
            why[mine] = "fewer than two states outside of its group"
            continue
        fitted = fit(h[~mine])
        out[mine], why[mine] = fitted.squared(h[mine]), fitted.reason
    return out, tuple(why.tolist())


def _training(train: ArrayLike) -> tuple[Floats, Floats]:
    """The mean, and states around it; a constant column is exactly 0."""
    h = np.asarray(train, dtype=np.float64)
    if h.ndim != 2 or len(h) < 2 or not h.size:  # noqa: PLR2004 - two states
        msg = f"training states have shape {h.shape}; wanted (n, D) with at least two of them."
        raise ShapeError(msg)
    if not np.isfinite(h).all():
        msg = "a training state holds nan or infinity; wanted finite numbers. Leave it out."
        raise InputError(msg)
    constant = (h == h[0]).all(axis=0)
    mean = np.where(constant, h[0], h.mean(axis=0))
    return mean, h - mean


def _ledoit_wolf(x: Floats) -> float:
    n, width = x.shape
    small = x.T @ x if width < n else x @ x.T
    squares = float((small**2).sum()) / n**2
    trace = float((x**2).sum()) / n
    far = squares - trace**2 / width
    if far <= _ROUNDING * squares:
        return 1.0
    noise = (float((_length2(x) ** 2).sum()) / n - squares) / n
    return float(min(max(noise, 0.0), far) / far)


def _like(states: ArrayLike, mean: Floats) -> Floats:
    h = np.asarray(states, dtype=np.float64)
    if h.ndim != 2 or h.shape[1] != len(mean):  # noqa: PLR2004 - states by width
        msg = f"states have shape {h.shape}; wanted (n, {len(mean)}), the width of the training."
        raise ShapeError(msg)
    if not np.isfinite(h).all():
        msg = "a state holds nan or infinity; wanted finite numbers. Leave it out."
        raise InputError(msg)
    return h


def _length2(rows: Floats) -> Floats:
    found: Floats = (rows**2).sum(axis=1)
    return found
