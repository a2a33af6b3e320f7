"""Derivatives by the logits of the six numbers that one pass shows, and of what they may miss."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """Numbers of one law and their derivatives by its logits.

    Parameters
    ----------
    values : (s,) float64
    gradients : (s, V) float64
    """

    values: Floats
    gradients: Floats


def observer_slopes(logits: ArrayLike) -> Slopes:
    r"""The six numbers of a next-token law, and their derivatives by its logits.

    With :math:`q \propto p^2` and :math:`\bar z_w = \sum w z`:
    :math:`\partial H = -p(\ln p + H)`, :math:`\partial H_2 = -2(q - p)`,
    :math:`\partial V_1 = p[(z-\bar z_p)^2 - V_1 + 2(z-\bar z_p)]`,
    :math:`\partial V_2 = 2q[(z-\bar z_q)^2 - V_2 + (z-\bar z_q)]`,
    :math:`\partial p_j = p_j(e_j - p)`; largest probability and margin have kinks where two of the
    three most probable tokens tie.

    Parameters
    ----------
    logits : (V,) float
        Of at least two tokens.

    Returns
    -------
    Slopes
        In the order of `trueness.stats.observers.NUMBERS`; the greedy token is locally constant.

    Raises
    ------
    ShapeError
        For another shape.
    InputError
        When a logit is not finite.

    Examples
    --------
    >>> found = observer_slopes([2.0, 1.0, 0.0])
    >>> found.gradients.shape, bool(np.abs(found.gradients.sum(axis=1)).max() < 1e-12)
    ((6, 3), True)
    """
    z = _logits(logits)
    order = np.argsort(-z, kind="stable")
    top, second = int(order[0]), int(order[1])
    u = z - z[top]
    p = _law(u)
    q = _law(2 * u)
    log_p = u - np.log(np.exp(u).sum())
    shannon = -float(p @ log_p)
    collision = -float(np.log(p @ p))
    one, two = u - float(p @ u), u - float(q @ u)
    v1, v2 = float(p @ one**2), float(q @ two**2)
    first, next_ = -p[top] * p, -p[second] * p
    first[top] += p[top]
    next_[second] += p[second]
    return Slopes(
        np.array([shannon, collision, v1, v2, p[top], p[top] - p[second]]),
        np.stack(
            [
                -p * (log_p + shannon),
                -2 * (q - p),
                p * (one**2 - v1 + 2 * one),
                2 * q * (two**2 - v2 + two),
                first,
                first - next_,
            ]
        ),
    )


def mass_slope(logits: ArrayLike, tokens: Sequence[int]) -> Slopes:
    r"""The probability of some tokens together; :math:`\partial P_A = p(1_A - P_A)`.

    Parameters
    ----------
    logits : (V,) float
    tokens : sequence of int

    Raises
    ------
    ShapeError, InputError
        As `observer_slopes`, and for no token or one that is none.

    Examples
    --------
    >>> mass_slope([0.0, 0.0, 0.0, 0.0], [1, 2]).gradients.tolist()
    [[-0.125, 0.125, 0.125, -0.125]]
    """
    p, inside = _members(logits, tokens)
    mass = float(p[inside].sum())
    return Slopes(np.array([mass]), (p * (inside - mass))[np.newaxis])


def collision_slope(logits: ArrayLike, tokens: Sequence[int] | None = None) -> Slopes:
    r"""The sum of squared probabilities of some tokens, and its derivative.

    :math:`\partial C_A = 2p(p 1_A - C_A)`. Over all tokens it is a function of the collision
    entropy, so no observer that reads that can miss it.

    Parameters
    ----------
    logits : (V,) float
    tokens : sequence of int, optional
        All of them when left out.

    Raises
    ------
    ShapeError, InputError
        As `mass_slope`.

    Examples
    --------
    >>> collision_slope([0.0, 0.0]).values.tolist()
    [0.5]
    """
    every = range(np.size(logits)) if tokens is None else tokens
    p, inside = _members(logits, every)
    found = float((p[inside] ** 2).sum())
    return Slopes(np.array([found]), (2 * p * (p * inside - found))[np.newaxis])


def top_is_tied(logits: ArrayLike) -> bool:
    """Whether two of the three most probable tokens tie, where two of the numbers have kinks.

    Examples
    --------
    >>> top_is_tied([3.0, 1.0, 1.0]), top_is_tied([3.0, 2.0, 1.0])
    (True, False)
    """
    z = np.sort(_logits(logits))[::-1][:3]
    return bool((z[1:] == z[:-1]).any())


def law_variation(one: ArrayLike, other: ArrayLike) -> float:
    """Total variation of the laws of two vectors of logits (V,).

    >>> law_variation([0.0, 0.0], [0.0, -1e9])
    0.5
    """
    return float(np.abs(_law(_logits(one)) - _law(_logits(other))).sum() / 2)


def _law(logits: Floats) -> Floats:
    mass = np.exp(logits - logits.max())
    law: Floats = mass / mass.sum()
    return law


def _members(logits: ArrayLike, tokens: Sequence[int]) -> tuple[Floats, NDArray[np.bool_]]:
    z = _logits(logits)
    chosen = np.asarray(tokens)
    if (
        not chosen.size
        or chosen.dtype.kind not in "iu"
        or not 0 <= chosen.min() <= chosen.max() < len(z)
    ):
        msg = (
            f"tokens hold {tokens!r}; wanted whole numbers from 0 to {len(z) - 1}. Give token ids."
        )
        raise InputError(msg)
    inside = np.zeros(len(z), np.bool_)
    inside[chosen] = True
    return _law(z), inside


def _logits(logits: ArrayLike) -> Floats:
    z = np.asarray(logits, dtype=np.float64)
    if z.ndim != 1 or len(z) < 2:  # noqa: PLR2004 - a margin needs two
        msg = f"logits have shape {z.shape}; wanted (V,) with two tokens or more. Take one law."
        raise ShapeError(msg)
    if not np.isfinite(z).all():
        msg = "a logit is nan or infinite, and has no derivative. Leave that item out."
        raise InputError(msg)
    return z
