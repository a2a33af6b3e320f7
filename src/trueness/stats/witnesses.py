"""Small constructions that show why entities are compared globally. None is a detector."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError


def path_change(
    gradient: Callable[[NDArray[np.float64]], ArrayLike],
    start: ArrayLike,
    *,
    end: ArrayLike,
    steps: int = 32,
) -> float:
    r"""Change of a logit along the straight path between two representations.

    :math:`\int_0^1 \langle \nabla\ell(h_0 + s(h_1 - h_0)), h_1 - h_0\rangle\, ds` by Gauss-Legendre
    quadrature; equals :math:`\ell(h_1) - \ell(h_0)`.

    Parameters
    ----------
    gradient : callable
        Point (d,) to gradient (d,).
    start, end : (d,) float
    steps : int
        Quadrature points, at least 1. Exact for polynomial gradients of degree below ``2 steps``.

    Raises
    ------
    InputError
        If ``steps`` is below 1 or a number is not finite.
    ShapeError
        If the points or the gradient differ in shape.

    Examples
    --------
    >>> round(path_change(lambda h: 2 * h, [0.0, 0.0], end=[1.0, 2.0]), 12)
    5.0
    """
    if steps < 1:
        msg = f"steps is {steps}; the quadrature needs at least 1 point. Use 32."
        raise InputError(msg)
    first, last = _finite(start, "start"), _finite(end, "end")
    if first.ndim != 1 or first.shape != last.shape:
        msg = (
            f"start has shape {first.shape} and end has shape {last.shape}; both must be (d,). "
            "Pass one representation each, of the same layer."
        )
        raise ShapeError(msg)
    nodes, weights = np.polynomial.legendre.leggauss(steps)
    total = 0.0
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        slope = _finite(gradient(first + node * (last - first)), "gradient")
        if slope.shape != first.shape:
            msg = (
                f"gradient returned shape {slope.shape} at a point of shape {first.shape}; "
                "they must be equal. Return the gradient of one logit."
            )
            raise ShapeError(msg)
        total += float(weight * (slope @ (last - first)))
    return total


def log_volume_change(exponents: ArrayLike, *, steps: int) -> float:
    """Logarithm of the volume ratio after ``steps``: the sum of growth exponents times steps.

    Parameters
    ----------
    exponents : (d,) float
        Growth of each direction per step, natural logarithm.
    steps : int
        At least 0.

    Raises
    ------
    InputError
        If an exponent is not finite or ``steps`` is negative.

    Examples
    --------
    >>> log_volume_change([0.5, -1.0, -0.25], steps=10)
    -7.5
    """
    if steps < 0:
        msg = f"steps is {steps}; it must be at least 0. Count the steps forward."
        raise InputError(msg)
    return float(_finite(exponents, "exponents").sum() * steps)


def winding(x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    r"""Images of a map that is invertible everywhere locally and nowhere globally.

    :math:`(x, y) \mapsto e^x(\cos y, \sin y)`: its determinant :math:`e^{2x}` is positive,
    yet y and :math:`y + 2\pi` share an image.

    Parameters
    ----------
    x, y : (n,) float

    Returns
    -------
    (n, 2) float

    Raises
    ------
    InputError
        If a number is not finite.

    Examples
    --------
    >>> winding([0.0], [0.0])
    array([[1., 0.]])
    """
    radius, angle = np.exp(_finite(x, "x")), _finite(y, "y")
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)


def winding_determinant(x: ArrayLike) -> NDArray[np.float64]:
    r"""Jacobian determinant :math:`e^{2x}` of :func:`winding`.

    Examples
    --------
    >>> winding_determinant([0.0])
    array([1.])
    """
    return np.exp(2 * _finite(x, "x"))


def winding_jacobian(x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    r"""Derivatives of :func:`winding`: both singular values are :math:`e^x`, the condition is 1.

    No function of them tells a strip of height below :math:`2\pi`, on which the map is injective,
    from a taller one.

    Parameters
    ----------
    x, y : (n,) float

    Returns
    -------
    (n, 2, 2) float

    Raises
    ------
    InputError
        If a number is not finite.

    Examples
    --------
    >>> winding_jacobian([0.0], [0.0]).tolist()
    [[[1.0, -0.0], [0.0, 1.0]]]
    """
    (u, v) = np.moveaxis(winding(x, y), -1, 0)
    return np.stack([np.stack([u, -v], axis=-1), np.stack([v, u], axis=-1)], axis=-2)


@dataclass(frozen=True, slots=True, eq=False)
class Pooling:
    """Entities whose states are sent to one answer, beside entities that keep theirs apart.

    Parameters
    ----------
    apart, pooled : (n, 2) float
        States; those of the second set lie a turn of :func:`winding` above one another in pairs.
    answers_apart, answers_pooled : (n, 2) float
        Their images.
    """

    apart: NDArray[np.float64]
    pooled: NDArray[np.float64]
    answers_apart: NDArray[np.float64]
    answers_pooled: NDArray[np.float64]


def pooling(n_pairs: int) -> Pooling:
    r"""States in a strip, and the same with every second one moved up by :math:`2\pi`.

    Every state of the second set has a partner in the first with the same Jacobian, to rounding:
    nothing at one point shows which set it is in. Yet the first has an answer for each entity and
    the second one for each pair. The partition over entities tells them apart.

    Parameters
    ----------
    n_pairs : int
        At least 1.

    Raises
    ------
    InputError
        If there is no pair.

    Examples
    --------
    >>> found = pooling(3)
    >>> [len(np.unique(a.round(9), axis=0)) for a in (found.answers_apart, found.answers_pooled)]
    [6, 3]
    """
    if n_pairs < 1:
        msg = f"n_pairs is {n_pairs}; wanted at least 1 pair of entities."
        raise InputError(msg)
    x, y = np.zeros(2 * n_pairs), np.arange(2 * n_pairs) * (np.pi / n_pairs)
    lower = y[np.arange(2 * n_pairs) // 2 * 2]
    up = lower + 2 * np.pi * (np.arange(2 * n_pairs) % 2)
    return Pooling(np.column_stack([x, y]), np.column_stack([x, up]), winding(x, y), winding(x, up))


def quiet_logit(state: ArrayLike, *, threshold: float) -> float:
    r"""A read-out :math:`h_1^2 - c` whose gradient is 0 at the origin, where it is not constant.

    Above 0 the answer is another one: gradient coupling is 0 at h = 0 and yet a step moves it.

    Parameters
    ----------
    state : (d,) float
    threshold : float
        c.

    Raises
    ------
    InputError
        If a number is not finite.

    Examples
    --------
    >>> quiet_logit([0.0, 5.0], threshold=1.0), quiet_logit([2.0, 5.0], threshold=1.0)
    (-1.0, 3.0)
    """
    return float(_finite(state, "state")[0] ** 2 - threshold)


def quiet_gradient(state: ArrayLike) -> NDArray[np.float64]:
    """Gradient of :func:`quiet_logit`.

    Examples
    --------
    >>> quiet_gradient([0.0, 5.0]).tolist()
    [0.0, 0.0]
    """
    h = _finite(state, "state")
    gradient = np.zeros_like(h)
    gradient[0] = 2 * h[0]
    return gradient


def derangement(n: int) -> NDArray[np.int64]:
    """Answers that are a bijection and all of them wrong: entity e gets the answer of e + 1.

    Parameters
    ----------
    n : int
        Entities, at least 2.

    Returns
    -------
    (n,) int
        Nobody's own number; every certificate for one-to-one relations is 0.

    Raises
    ------
    InputError
        If ``n`` is below 2: one entity has no derangement.

    Examples
    --------
    >>> derangement(3)
    array([1, 2, 0])
    """
    if n < 2:  # noqa: PLR2004 - the smallest set that can be deranged
        msg = f"n is {n}; a derangement needs at least 2 entities. Use n >= 2."
        raise InputError(msg)
    return np.roll(np.arange(n, dtype=np.int64), -1)


def _finite(values: ArrayLike, where: str) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        msg = f"{where} holds a number that is not finite; all must be. Leave it out."
        raise InputError(msg)
    return array
