"""Several tests at once."""

from collections.abc import Sequence
from fractions import Fraction

from trueness.contract.errors import InputError


def holm(p_values: Sequence[float | Fraction]) -> tuple[float | Fraction, ...]:
    r"""Holm-adjusted p-values, in input order.

    With :math:`p_{(1)} \le \dots \le p_{(m)}`, the i-th becomes
    :math:`\max_{j \le i} \min(1, (m - j + 1)\, p_{(j)})`.

    Parameters
    ----------
    p_values : (m,) sequence of float or Fraction in [0, 1]

    Returns
    -------
    (m,) tuple
        Fractions stay exact. Empty for no test.

    Raises
    ------
    InputError
        If a p-value is not in [0, 1].

    Examples
    --------
    >>> [str(p) for p in holm([Fraction(1, 100), Fraction(4, 100), Fraction(3, 100)])]
    ['3/100', '3/50', '3/50']
    """
    _check(p_values)
    adjusted = list(p_values)
    running: float | Fraction = Fraction(0)
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    for done, place in enumerate(order):
        p = p_values[place] * (len(p_values) - done)
        running = max(running, min(p, type(p)(1)))
        adjusted[place] = running
    return tuple(adjusted)


def benjamini_hochberg(p_values: Sequence[float | Fraction]) -> tuple[float | Fraction, ...]:
    r"""Benjamini-Hochberg adjusted p-values, in input order: the false discovery rate.

    With :math:`p_{(1)} \le \dots \le p_{(m)}`, the i-th becomes
    :math:`\min_{j \ge i} \min(1, m\, p_{(j)} / j)`.

    Parameters, returns and errors as :func:`holm`. Assumes independent or positively dependent
    tests.

    Examples
    --------
    >>> [str(p) for p in benjamini_hochberg([Fraction(1, 100), Fraction(4, 100), Fraction(3, 100)])]
    ['3/100', '1/25', '1/25']
    """
    _check(p_values)
    adjusted = list(p_values)
    running: float | Fraction = Fraction(1)
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    for rank in range(len(order), 0, -1):
        p = p_values[order[rank - 1]]
        running = min(running, max(p, p * len(order) / rank))  # rounding never lowers a p
        adjusted[order[rank - 1]] = type(p)(running)
    return tuple(adjusted)


def _check(p_values: Sequence[float | Fraction]) -> None:
    for place, p in enumerate(p_values):
        if not 0 <= p <= 1:
            msg = (
                f"p_values[{place}] is {p}; a p-value lies in [0, 1]. "
                "Leave out the tests that were not made."
            )
            raise InputError(msg)
