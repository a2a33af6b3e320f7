"""What a number of items can resolve: critical counts, power, least p-values, differences."""

import math
from dataclasses import dataclass
from fractions import Fraction

from scipy.special import bdtrc, ndtri

from trueness.contract.errors import InputError
from trueness.stats.planning import require_open_unit


@dataclass(frozen=True, slots=True)
class HitPower:
    """When hits beat chance, and how often they would.

    Parameters
    ----------
    critical_hits : int or None
        Fewest hits with a one-sided p of at most alpha; None where even all of them are too few.
    power : float
        Probability of so many hits at the named accuracy; 0 where no count is enough.
    """

    critical_hits: int | None
    power: float


@dataclass(frozen=True, slots=True)
class AurocFloor:
    """The least p-values that an exact rank test can give, at perfect separation without ties."""

    one_sided: Fraction
    two_sided: Fraction


def hit_power(n: int, *, chance: float, accuracy: float, alpha: float = 0.05) -> HitPower:
    r"""Critical count of hits of an exact binomial test, and its power at an accuracy.

    Fewest c with :math:`P(X \ge c) \le \alpha` for X binomial of n and chance. Hits are taken as
    independent; those of one entity in several wordings are not.

    Parameters
    ----------
    n : int
        Items tested, at least 1.
    chance, accuracy, alpha : float in (0, 1)

    Raises
    ------
    InputError
        If a number lies outside its range.

    Examples
    --------
    >>> found = hit_power(15, chance=1 / 32, accuracy=0.2)
    >>> found.critical_hits, round(found.power, 3)
    (3, 0.602)
    """
    require_open_unit(chance=chance, accuracy=accuracy, alpha=alpha)
    if n < 1:
        msg = f"n is {n}; wanted at least 1 item. Count the items that were tested."
        raise InputError(msg)
    low, high = 0, n + 1  # P(X >= 0) = 1 > alpha; P(X >= n + 1) = 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _at_least(middle, n, chance) <= alpha else (middle, high)
    if high > n:
        return HitPower(None, 0.0)
    return HitPower(high, _at_least(high, n, accuracy))


def auroc_floor(n_wrong: int, n_right: int) -> AurocFloor:
    r"""Least attainable p of the exact rank test: :math:`1/\binom{n_w+n_r}{n_w}` one-sided.

    Parameters
    ----------
    n_wrong, n_right : int
        At least 1 each.

    Raises
    ------
    InputError
        When a class is empty.

    Examples
    --------
    >>> found = auroc_floor(15, 1)
    >>> str(found.one_sided), str(found.two_sided)
    ('1/16', '1/8')
    """
    if min(n_wrong, n_right) < 1:
        msg = f"the classes hold {n_wrong} and {n_right} items; wanted at least 1 in each."
        raise InputError(msg)
    one = Fraction(1, math.comb(n_wrong + n_right, n_wrong))
    return AurocFloor(one, min(2 * one, Fraction(1)))


def detectable_difference(n: int, *, sd: float, alpha: float = 0.05, power: float = 0.8) -> float:
    r"""Mean paired difference that a two-sided test of n units would see so often.

    :math:`(z_{1-\alpha/2} + z_{power})\,sd/\sqrt n`, a normal approximation; the inverse of
    :func:`~trueness.stats.planning.difference_size`.

    Parameters
    ----------
    n : int
        Units that are resampled as one, at least 2.
    sd : float, at least 0
        Standard deviation of the differences over units.
    alpha, power : float in (0, 1)

    Raises
    ------
    InputError
        If a number lies outside its range.

    Examples
    --------
    >>> round(detectable_difference(32, sd=0.4), 3)
    0.198
    """
    require_open_unit(alpha=alpha, power=power)
    if n < 2 or not 0 <= sd < math.inf:  # noqa: PLR2004 - one unit has no spread
        msg = f"n is {n} and sd {sd}; wanted at least 2 units and a finite spread of at least 0."
        raise InputError(msg)
    return float(ndtri(1 - alpha / 2) + ndtri(power)) * sd / math.sqrt(n)


def _at_least(count: int, n: int, p: float) -> float:
    """P(X >= count) for a binomial."""
    return 1.0 if count <= 0 else float(bdtrc(count - 1, n, p))
