"""The nearest point of a cone or of a hull, with a certificate that it is the nearest."""

from dataclasses import dataclass

import numpy as np

from trueness.stats.gram import Bools
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


def nearest_in_cone(matrix: Floats, products: Floats) -> Nearest:
    r"""Minimum of :math:`\beta^T K \beta - 2 \beta^T s` over :math:`\beta \ge 0`.

    An active set method (Lawson and Hanson) on the products alone.

    Parameters
    ----------
    matrix : (n, n) float
        Products K of the rows with one another.
    products : (n,) float
        Products s of the rows with the target.

    Examples
    --------
    >>> found = nearest_in_cone(np.eye(2), np.array([0.6, -0.8]))
    >>> found.coefficients.tolist(), found.residual
    ([0.6, 0.0], 0.0)
    """
    n = len(products)
    beta, inside = np.zeros(n), np.zeros(n, np.bool_)
    for _ in range(30 * n + 30):
        slope = products - matrix @ beta
        outside = np.where(inside, -np.inf, slope)
        if outside.max(initial=-np.inf) <= _GAIN:
            break
        inside[int(outside.argmax())] = True
        beta = _feasible(matrix, products, beta, inside)
    slope = products - matrix @ beta
    violated = np.where(beta > 0, np.abs(slope), np.maximum(slope, 0.0))
    return Nearest(beta, float(violated.max(initial=0.0)))


def nearest_in_hull(matrix: Floats, products: Floats, squared_length: float) -> Nearest:
    r"""Weights, at least 0 and adding up to 1, of the point of the hull nearest to the target.

    With :math:`p_i = c - e_i` it is the point of least length in the hull of the p: its weights
    are those of the nonnegative least squares solution of :math:`P^T w = 0, 1^T w = 1`, scaled.

    Parameters
    ----------
    matrix, products : as for the cone
    squared_length : float
        Of the target.

    Examples
    --------
    >>> nearest_in_hull(np.eye(2), np.array([0.6, -0.8]), 1.0).coefficients.tolist()
    [1.0, 0.0]
    """
    between = matrix - products[:, None] - products[None, :] + squared_length
    found = nearest_in_cone(between + 1.0, np.ones(len(products))).coefficients
    weights = found / found.sum()
    slope = between @ weights
    least = float(weights @ slope)
    violated = np.where(weights > 0, np.abs(slope - least), np.maximum(least - slope, 0.0))
    return Nearest(weights, float(violated.max()))


def _feasible(matrix: Floats, products: Floats, beta: Floats, inside: Bools) -> Floats:
    """The solution on the active set, walked to from beta without leaving the cone."""
    while True:
        chosen = np.flatnonzero(inside)
        target = np.zeros(len(beta))
        target[chosen] = _solved(matrix[np.ix_(chosen, chosen)], products[chosen])
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


def _solved(matrix: Floats, products: Floats) -> Floats:
    return np.linalg.lstsq(matrix, products, rcond=None)[0].astype(np.float64)
