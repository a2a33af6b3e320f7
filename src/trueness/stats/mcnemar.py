"""McNemar's test: whether as many items got worse as got better."""

from dataclasses import dataclass
from fractions import Fraction

from trueness.contract.errors import InputError


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
