"""McNemar's test: whether as many items got worse as got better."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc

from trueness.contract.errors import InputError
from trueness.stats.planning import require_open_unit, smallest_size

_TAILS = 40  # standard deviations


@dataclass(frozen=True, slots=True)
class McNemar:
    """Two-sided p-values from the items whose correctness changed."""

    regressed: int
    improved: int
    p_exact: Fraction
    p_mid: Fraction
    """Less conservative; its level is nominal."""


def mcnemar(regressed: int, improved: int) -> McNemar:
    r"""Exact two-sided p of the discordant pairs, and the mid-p.

    :math:`p = \min(1, 2\sum_{i\le\min(b,c)}\binom{n}{i}/2^n)` with :math:`n=b+c`; the mid-p counts
    the last term half. Both are 1 when :math:`b = c`.

    Parameters
    ----------
    regressed, improved : int, at least 0
        Right before and not after; right after and not before.

    Raises
    ------
    InputError
        If a count is negative.

    Examples
    --------
    >>> found = mcnemar(14, 1)
    >>> str(found.p_exact), str(found.p_mid)
    ('1/1024', '17/32768')
    """
    if min(regressed, improved) < 0:
        msg = (
            f"regressed is {regressed} and improved {improved}; counts are at least 0. "
            "Count the items right in one arm only."
        )
        raise InputError(msg)
    if regressed == improved:
        return McNemar(regressed, improved, Fraction(1), Fraction(1))
    n, fewer = regressed + improved, min(regressed, improved)
    last, ways = 1, 1  # C(n, 0) and the sum so far
    for i in range(fewer):
        last = last * (n - i) // (i + 1)
        ways += last
    exact = min(Fraction(1), Fraction(2 * ways, 2**n))
    return McNemar(regressed, improved, exact, Fraction(2 * ways - last, 2**n))


def mcnemar_power(items: int, p_regress: float, *, p_improve: float, alpha: float = 0.05) -> float:
    r"""Probability that McNemar's exact test sees items change at the given rates.

    The exact double sum: the number of changed items is binomial, and so is its split.

    Parameters
    ----------
    items : int, at least 1
    p_regress, p_improve : float
        Probabilities that an item gets worse, that it gets better; together above 0, at most 1.
    alpha : float in (0, 1)
        Of the two-sided test.

    Raises
    ------
    InputError
        If a number lies outside its range.

    Examples
    --------
    >>> round(mcnemar_power(25, 0.56, p_improve=0.04), 4)
    0.9625
    """
    require_open_unit(alpha=alpha)
    changed = p_regress + p_improve
    if items < 1 or min(p_regress, p_improve) < 0 or not 0 < changed <= 1:
        msg = (
            f"items is {items}, p_regress {p_regress} and p_improve {p_improve}; wanted an item or "
            "more and two probabilities whose sum is above 0 and at most 1. Give shares of items."
        )
        raise InputError(msg)
    n, k = _rejected(items, changed, alpha=alpha)
    split = p_regress / changed
    rejects = bdtr(k, n, split) + bdtrc(n - k - 1, n, split)
    ways = bdtr(n, items, changed) - np.where(n > 0, bdtr(np.maximum(n - 1, 0), items, changed), 0)
    return float(ways @ rejects)


def mcnemar_size(
    p_regress: float, *, p_improve: float, alpha: float = 0.05, power: float = 0.8
) -> int:
    """Items with which McNemar's exact test reaches ``power``, and one fewer does not.

    Power hardly ever falls as items are added; a still smaller number may reach it by chance of
    the discrete test.

    Parameters
    ----------
    p_regress, p_improve : float
        As in :func:`mcnemar_power`, and different.
    alpha, power : float in (0, 1)

    Raises
    ------
    InputError
        If a number lies outside its range, or the probabilities are equal.

    Examples
    --------
    >>> mcnemar_size(0.2, p_improve=0.05)
    92
    """
    require_open_unit(alpha=alpha, power=power)
    if p_regress == p_improve:
        msg = (
            f"p_regress and p_improve are both {p_regress}; no number of items tells equal rates "
            "apart. Say what the test should be able to see, such as 0.2 and 0.1."
        )
        raise InputError(msg)

    def sees(items: int) -> bool:
        return mcnemar_power(items, p_regress, p_improve=p_improve, alpha=alpha) >= power

    return smallest_size(sees)


def _rejected(
    items: int, changed: float, *, alpha: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers of changed items that can be rejected, and the largest smaller count that is.

    Numbers so far from their mean that their probability is no float are left out.
    """
    mean, sd = items * changed, math.sqrt(items * changed * (1 - changed))
    first = max(0, math.floor(mean - _TAILS * (sd + 1)))
    last = min(items, math.ceil(mean + _TAILS * (sd + 1)))
    n = np.arange(first, last + 1)
    critical = np.full(len(n), -1)
    k = -1
    for place, total in enumerate(n.tolist()):  # one more changed item moves k by 0 or 1
        while _rejects(k + 1, total, alpha):
            k += 1 if place else _stride(k, total, alpha)
        critical[place] = k
    return n[critical >= 0], critical[critical >= 0]


def _rejects(fewer: int, total: int, alpha: float) -> bool:
    return 2 * fewer < total and 2 * float(bdtr(fewer, total, 0.5)) <= alpha


def _stride(k: int, total: int, alpha: float) -> int:
    """A step that stays within what is rejected, the largest power of two."""
    step = 1
    while _rejects(k + 2 * step, total, alpha):
        step *= 2
    return step
