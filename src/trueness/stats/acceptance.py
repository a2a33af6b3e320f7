r"""Which order statistic of calibration items keeps an error budget, and what it guarantees.

Items below the k-th smallest of n independent risks, strictly, hold a share of their population
that is stochastically at most :math:`\mathrm{Beta}(k, n - k + 1)`, whatever the distribution. Its
distribution function at the budget is a binomial tail,
:math:`P(\mathrm{Bin}(n, \alpha) \ge k)`. Budgets are exact fractions here, and up to
`EXACT_UP_TO` items every boundary is decided in whole numbers.
"""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy.special import betainc

from trueness.contract.errors import InputError

EXACT_UP_TO = 1000
"""Up to so many items a boundary is decided in exact rationals."""
GIVEN_UP = 1e-10
"""Above that, a rank whose guarantee is this close to the boundary is not used."""
_DIGITS = 80
_TIE = Decimal("1e-50")


def reaches(n: int, k: int, budget: Fraction) -> Fraction:
    r"""Probability that k or more of n independent items fall within a budget, exactly.

    :math:`P(\mathrm{Bin}(n, \alpha) \ge k) = 1 - \sum_{i<k}\binom{n}{i}\alpha^i(1-\alpha)^{n-i}`.

    Parameters
    ----------
    n, k : int
        Items; how many at least.
    budget : Fraction in [0, 1]

    Examples
    --------
    >>> str(reaches(10, 3, Fraction(1, 2)))
    '121/128'
    """
    return 1 - at_most(n, k - 1, budget)


def at_most(n: int, k: int, budget: Fraction) -> Fraction:
    r"""Probability that at most k of n independent items fall within a budget, exactly.

    Parameters, as :func:`reaches`: :math:`P(\mathrm{Bin}(n, \alpha) \le k)`.

    Examples
    --------
    >>> str(at_most(2, 0, Fraction(1, 2)))
    '1/4'
    """
    if k < 0:
        return Fraction(0)
    inside, whole = budget.numerator, budget.denominator
    outside = whole - inside
    if outside == 0:
        return Fraction(int(k >= n))
    top = min(k, n)
    total, ways, power = 0, 1, 1  # C(n, i) and inside^i
    for i in range(top + 1):
        total = total * outside + ways * power
        ways, power = ways * (n - i) // (i + 1), power * inside
    return Fraction(total * outside ** (n - top), whole**n)


@lru_cache(maxsize=4096)
def exact_rank(n: int, budget: Fraction, *, delta: Fraction) -> int:
    r"""The largest k with :math:`P(\mathrm{Bin}(n, \alpha) \ge k) \ge 1 - \delta`; 0 when none.

    Parameters
    ----------
    n : int
        Independent calibration items.
    budget, delta : Fraction in (0, 1)
        The share that may be accepted, the probability of failing that.

    Raises
    ------
    InputError
        When a number lies outside its range.

    Examples
    --------
    >>> exact_rank(100, Fraction(1, 20), delta=Fraction(1, 20))
    2
    >>> exact_rank(58, Fraction(1, 20), delta=Fraction(1, 20))
    0
    """
    _check(n, budget=budget, delta=delta)
    exact = n <= EXACT_UP_TO
    wanted = 1 - float(delta) + (0.0 if exact else GIVEN_UP)
    k = _largest(n, float(budget), wanted)
    if not exact:
        return k
    while k and reaches(n, k, budget) < 1 - delta:
        k -= 1
    while k < n and reaches(n, k + 1, budget) >= 1 - delta:
        k += 1
    return k


@lru_cache(maxsize=4096)
def guarantee(n: int, k: int, budget: Fraction) -> float:
    """Probability that the k-th smallest of n risks keeps the budget; never rounded up.

    Parameters, as :func:`reaches`.

    Examples
    --------
    >>> guarantee(10, 3, Fraction(1, 2)) == 121 / 128
    True
    """
    if n > EXACT_UP_TO:
        return float(betainc(k, n - k + 1, float(budget))) if k else 1.0
    exact = reaches(n, k, budget)
    near = float(exact)
    return near if Fraction(near) <= exact else math.nextafter(near, 0.0)


@lru_cache(maxsize=1024)
def needed(budget: Fraction, delta: Fraction) -> int:
    r"""The smallest n for which there is a rank: :math:`(1 - \alpha)^n \le \delta`.

    Parameters
    ----------
    budget, delta : Fraction in (0, 1)

    Raises
    ------
    InputError
        When a number lies outside its range.

    Examples
    --------
    >>> needed(Fraction(1, 20), Fraction(1, 20)), needed(Fraction(1, 2), Fraction(1, 4))
    (59, 2)
    """
    _check(1, budget=budget, delta=delta)
    with localcontext() as context:
        context.prec = _DIGITS
        ratio = _log(delta) / _log(1 - budget)
        whole = ratio.to_integral_value()
        if abs(ratio - whole) > _TIE:
            return math.ceil(ratio)
    n = int(whole)  # so close to a whole number that logarithms do not tell
    return n if (1 - budget) ** n <= delta else n + 1


def smallest_budget(n: int, delta: Fraction) -> float:
    r"""The smallest budget that n items can carry, :math:`1 - \delta^{1/n}`.

    Examples
    --------
    >>> round(smallest_budget(58, Fraction(1, 20)), 4)
    0.0503
    """
    _check(n, delta=delta)
    return -math.expm1(float(_log(delta)) / n) if n else 1.0


def conformal_rank(n: int, budget: Fraction) -> int:
    r"""The k of a promise in expectation, :math:`\lfloor (n + 1)\alpha \rfloor`; 0 when none.

    Examples
    --------
    >>> conformal_rank(99, Fraction("0.29")), conformal_rank(98, Fraction("0.01"))
    (29, 0)
    """
    _check(n, budget=budget)
    return math.floor((n + 1) * budget)


def conformal_needed(budget: Fraction) -> int:
    r"""The smallest n with a conformal rank, :math:`\lceil 1/\alpha \rceil - 1`.

    Examples
    --------
    >>> conformal_needed(Fraction(1, 100))
    99
    """
    _check(1, budget=budget)
    return math.ceil(1 / budget) - 1


def _largest(n: int, budget: float, wanted: float) -> int:
    """By bisection: the tail falls as k grows."""
    low, high = 0, n + 1  # the tail at low reaches what is wanted, at high it does not
    while high - low > 1:
        middle = (low + high) // 2
        if float(betainc(middle, n - middle + 1, budget)) >= wanted:
            low = middle
        else:
            high = middle
    return low


def _log(value: Fraction) -> Decimal:
    return Decimal(value.numerator).ln() - Decimal(value.denominator).ln()


def _check(n: int, **shares: Fraction) -> None:
    if isinstance(n, (bool, np.bool_)) or n < 0:
        msg = f"n is {n!r}; a whole number of items is wanted. Count the calibration items."
        raise InputError(msg)
    for name, share in shares.items():
        if not 0 < share < 1:
            msg = (
                f"{name} is {share}; wanted a share above 0 and below 1. A budget of 0 would "
                "accept nothing and one of 1 everything: give one between, such as 0.05."
            )
            raise InputError(msg)
