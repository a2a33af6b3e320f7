"""Small constructions that show why entities are compared globally. None is a detector."""

from collections.abc import Callable

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
