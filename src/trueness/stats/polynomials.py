"""Polynomials with exact coefficients, and the factors in which no root repeats."""

from fractions import Fraction
from typing import TypeAlias

Polynomial: TypeAlias = list[Fraction]
"""Coefficients, the leading one first; the zero polynomial is empty."""


def square_free(polynomial: Polynomial) -> list[tuple[Polynomial, int]]:
    """Factors without repeated roots, with their multiplicities (Yun 1976).

    Parameters
    ----------
    polynomial : list of Fraction
        Coefficients, the leading one first and not 0.

    Returns
    -------
    list of (factor, multiplicity)
        Leading coefficients 1; empty for a constant.

    Examples
    --------
    >>> [([int(c) for c in f], n) for f, n in square_free([Fraction(c) for c in (1, -4, 5, -2)])]
    [([1, -2], 1), ([1, -1], 2)]
    """
    common = _divisor(polynomial, _derivative(polynomial))
    rest, _ = _divided(polynomial, common)
    other, _ = _divided(_derivative(polynomial), common)
    factors, times = [], 0
    while len(rest) > 1:
        times += 1
        other = _minus(other, _derivative(rest))
        factor = _divisor(rest, other)
        if len(factor) > 1:
            factors.append((factor, times))
        rest, _ = _divided(rest, factor)
        other, _ = _divided(other, factor)
    return factors


def _divisor(a: Polynomial, b: Polynomial) -> Polynomial:
    """The greatest common divisor, leading coefficient 1."""
    while b:
        a, b = b, _divided(a, b)[1]
    return [c / a[0] for c in a]


def _divided(a: Polynomial, b: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Quotient and remainder."""
    quotient, rest = [], list(a)
    while len(rest) >= len(b):
        quotient.append(rest[0] / b[0])
        for place, c in enumerate(b):
            rest[place] -= quotient[-1] * c
        rest = rest[1:]
    return quotient, _trimmed(rest)


def _derivative(a: Polynomial) -> Polynomial:
    degree = len(a) - 1
    return [c * (degree - place) for place, c in enumerate(a[:-1])]


def _minus(a: Polynomial, b: Polynomial) -> Polynomial:
    size = max(len(a), len(b))
    a, b = ([Fraction(0)] * (size - len(p)) + p for p in (a, b))
    return _trimmed([x - y for x, y in zip(a, b, strict=True)])


def _trimmed(a: Polynomial) -> Polynomial:
    while a and a[0] == 0:
        a = a[1:]
    return a
