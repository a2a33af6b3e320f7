"""Dimension, entropy and levels that a list of growth exponents would have; exact on what it is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State

Number: TypeAlias = int | float | Fraction

SATURATED = "saturated: no partial sum is negative"
TOLERANCES = 13


@dataclass(frozen=True, slots=True)
class Dimension:
    """Kaplan-Yorke dimension of a list of exponents.

    Parameters
    ----------
    state : State
        ``NOT_APPLICABLE`` when no partial sum is negative, ``DEGENERATE`` for nan or infinity.
    reason : str or None
    exact : Fraction or None
        The dimension of exactly these numbers.
    j : int or None
        Most leading exponents whose sum is not negative.
    embedding_bound : int or None
        Smallest whole number above twice the dimension.
    embedding_bound_published : int or None
        Twice the dimension, rounded up, plus one: at a fraction, one more.
    metric_entropy : float or None
        Sum of the positive exponents: under Ruelle's inequality an upper bound for a smooth
        measure-preserving system, which this is not shown to be.
    """

    state: State
    reason: str | None
    exact: Fraction | None
    j: int | None
    embedding_bound: int | None
    embedding_bound_published: int | None
    metric_entropy: float | None

    @property
    def value(self) -> float | None:
        """The dimension as a float."""
        return None if self.exact is None else float(self.exact)


def kaplan_yorke(exponents: Sequence[Number], *, n_dead: int = 0) -> Dimension:
    r"""The dimension :math:`j + S_j/|\lambda_{j+1}|`, in rational arithmetic.

    j is the largest index with :math:`S_j = \sum_{i \le j}\lambda_i \ge 0`, exponents sorted.
    Dead directions are minus infinity: they end the sum without a fraction.

    Parameters
    ----------
    exponents : sequence of numbers
        In any order; floats are taken for exactly the numbers that they are.
    n_dead : int
        Further directions without a finite exponent.

    Raises
    ------
    InputError
        Without any direction.

    Examples
    --------
    >>> str(kaplan_yorke([1, 0, -2]).exact), kaplan_yorke([1, 0.5]).reason
    ('5/2', 'saturated: no partial sum is negative')
    """
    if n_dead < 0 or len(exponents) + n_dead == 0:
        msg = f"there are {len(exponents)} exponents and {n_dead} dead ones; wanted at least one."
        raise InputError(msg)
    if not all(math.isfinite(x) for x in exponents):
        return Dimension(State.DEGENERATE, "an exponent is not finite", *[None] * 5)
    ordered = sorted((Fraction(x) for x in exponents), reverse=True)
    entropy = float(sum((x for x in ordered if x > 0), Fraction(0)))
    j, held = 0, Fraction(0)
    while j < len(ordered) and held + ordered[j] >= 0:
        held += ordered[j]
        j += 1
    if j == len(ordered) and not n_dead:
        return Dimension(State.NOT_APPLICABLE, SATURATED, None, j, None, None, entropy)
    d = Fraction(j) if j == len(ordered) else j + held / abs(ordered[j])
    bounds = math.floor(2 * d) + 1, math.ceil(2 * d) + 1
    return Dimension(State.MEASURED, None, d, j, *bounds, entropy)


@dataclass(frozen=True, slots=True)
class Filtration:
    """Exponents joined into levels at one tolerance.

    Parameters
    ----------
    tolerance : float
    levels : tuple of float
        Means of the groups, descending.
    multiplicities : tuple of int
    entropy : float
        Of the shares of the multiplicities, in nats.
    entropy_ratio : float or None
        Over that of all exponents apart. Near 1 the levels hold nothing beyond the sorted list.
        None for a single exponent.
    """

    tolerance: float
    levels: tuple[float, ...]
    multiplicities: tuple[int, ...]
    entropy: float
    entropy_ratio: float | None


def growth_filtration(exponents: ArrayLike, *, tolerance: float) -> Filtration:
    """Levels of exponents: neighbours join where their gap is at most the tolerance.

    Parameters
    ----------
    exponents : (D,) float
    tolerance : float, at least 0

    Raises
    ------
    ShapeError, InputError
        Without a finite exponent, or for a tolerance below 0.

    Examples
    --------
    >>> found = growth_filtration([5.0, 4.75, 1.0, 1.0, -2.0], tolerance=0.25)
    >>> found.levels, found.multiplicities
    ((4.875, 1.0, -2.0), (2, 2, 1))
    """
    ordered = _sorted(exponents)
    if not 0 <= tolerance < math.inf:
        msg = f"tolerance is {tolerance}; wanted a finite number of at least 0."
        raise InputError(msg)
    cuts = np.flatnonzero(ordered[:-1] - ordered[1:] > tolerance) + 1
    groups = np.split(ordered, cuts)
    sizes = tuple(len(g) for g in groups)
    shares = [m / len(ordered) for m in sizes]
    entropy = 0.0 - math.fsum(s * math.log(s) for s in shares)
    return Filtration(
        tolerance=float(tolerance),
        levels=tuple(math.fsum(g.tolist()) / len(g) for g in groups),
        multiplicities=sizes,
        entropy=entropy,
        entropy_ratio=entropy / math.log(len(ordered)) if len(ordered) > 1 else None,
    )


def filtration_sweep(exponents: ArrayLike, *, n: int = TOLERANCES) -> tuple[Filtration, ...]:
    """Levels at geometric tolerances, from a millionth of the range of the exponents to all of it.

    They coarsen step by step by construction; that they do is no finding.

    Parameters
    ----------
    exponents : (D,) float
    n : int, at least 2

    Raises
    ------
    ShapeError, InputError
        As :func:`growth_filtration`.

    Examples
    --------
    >>> [len(f.levels) for f in filtration_sweep([3.0, 2.0, 1.0], n=2)]
    [3, 1]
    """
    ordered = _sorted(exponents)
    if n < 2:  # noqa: PLR2004 - two ends
        msg = f"n is {n}; a sweep has at least 2 tolerances. Use {TOLERANCES}."
        raise InputError(msg)
    scale = float(ordered[0] - ordered[-1])
    return tuple(
        growth_filtration(ordered, tolerance=scale * share)
        for share in np.geomspace(1e-6, 1.0, n).tolist()
    )


def _sorted(exponents: ArrayLike) -> NDArray[np.float64]:
    found = np.asarray(exponents, dtype=np.float64)
    if found.ndim != 1 or not len(found):
        msg = f"exponents have shape {found.shape}; wanted (D,) with at least one."
        raise ShapeError(msg)
    if not np.isfinite(found).all():
        msg = "an exponent is not finite; leave dead directions out and count them."
        raise InputError(msg)
    return np.sort(found)[::-1]
