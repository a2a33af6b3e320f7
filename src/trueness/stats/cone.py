"""The nearest point of a cone or of a hull, with a certificate that it is the nearest."""

from dataclasses import dataclass

import numpy as np

from trueness.stats.products import Bools
from trueness.stats.span_rules import Floats

_GAIN = 1e-13


@dataclass(frozen=True, slots=True, eq=False)
class Nearest:
    """Coefficients of a nearest point, and how far they are from certainly being the best.

    Attributes
    ----------
    coefficients : (n,) float, at least 0
    residual : float
        Largest violation of the Karush-Kuhn-Tucker conditions; at 0 nothing is nearer.
    """

    coefficients: Floats
    residual: float


def nearest_in_cone(rows: Floats, target: Floats) -> Nearest:
    r"""Minimum of :math:`\| c - E^T \beta \|^2` over :math:`\beta \ge 0`.

    An active set method (Lawson and Hanson) on the triangle of the rows, so that directions
    which their products cannot tell from 0 still count.

    Parameters
    ----------
    rows : (n, d) float
    target : (d,) float

    Examples
    --------
    >>> found = nearest_in_cone(np.eye(2), np.array([0.6, -0.8]))
    >>> found.coefficients.tolist(), found.residual
    ([0.6, 0.0], 0.0)
    """
    basis, triangle = np.linalg.qr(rows.T)
    goal = basis.T @ target
    n = len(rows)
    beta, inside = np.zeros(n), np.zeros(n, np.bool_)
    for _ in range(3 * n + 3):
        slope = triangle.T @ (goal - triangle @ beta)
        outside = np.where(inside, -np.inf, slope)
        if outside.max() <= _GAIN:
            break
        inside[int(outside.argmax())] = True
        beta = _feasible(triangle, goal, beta, inside)
    slope = triangle.T @ (goal - triangle @ beta)
    violated = np.where(beta > 0, np.abs(slope), np.maximum(slope, 0.0))
    return Nearest(beta, float(violated.max()))


def nearest_in_hull(rows: Floats, target: Floats) -> Nearest:
    r"""Weights, at least 0 and adding up to 1, of the point of the hull nearest to the target.

    With :math:`p_i = c - e_i` it is the point of least length in the hull of the p: its weights
    are those of the nonnegative least squares solution of :math:`P^T w = 0, 1^T w = 1`, scaled.

    Parameters
    ----------
    rows : (n, d) float
    target : (d,) float

    Examples
    --------
    >>> nearest_in_hull(np.eye(2), np.array([0.6, -0.8])).coefficients.round(12).tolist()
    [1.0, 0.0]
    """
    n, d = rows.shape
    between = target - rows
    lifted = np.concatenate([between, np.ones((n, 1))], axis=1)
    found = nearest_in_cone(lifted, np.eye(d + 1)[d]).coefficients
    weights = found / found.sum()
    slope = between @ (weights @ between)
    least = float(weights @ slope)
    violated = np.where(weights > 0, np.abs(slope - least), np.maximum(least - slope, 0.0))
    return Nearest(weights, float(violated.max()))


def _feasible(triangle: Floats, goal: Floats, beta: Floats, inside: Bools) -> Floats:
    """The solution on the active set, walked to from beta without leaving the cone."""
    while True:
        chosen = np.flatnonzero(inside)
        target = np.zeros(len(beta))
        target[chosen] = _solved(triangle[:, chosen], goal)
        negative = chosen[target[chosen] <= 0.0]
        if not len(negative):
            return target
        fall = beta[negative] - target[negative]
        steps = np.divide(beta[negative], fall, out=np.zeros_like(fall), where=fall > 0)
        step = steps.min()
        beta = np.where(inside, beta + step * (target - beta), 0.0)
        leaving = negative[steps <= step]
        inside[leaving] = False
        beta[leaving] = 0.0


def _solved(columns: Floats, goal: Floats) -> Floats:
    """Least squares, refined once: its coefficients may be as large as the rows are alike."""
    first = np.linalg.lstsq(columns, goal, rcond=None)[0]
    second = np.linalg.lstsq(columns, goal - columns @ first, rcond=None)[0]
    return (first + second).astype(np.float64)
