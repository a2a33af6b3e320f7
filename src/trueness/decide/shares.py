"""Exact shares: read as the decimal they print as, shown without ever rounding a floor up."""

from decimal import Decimal, InvalidOperation
from fractions import Fraction

from trueness.contract.errors import PolicyError

_DIGITS = 400
"""More zeros than any float has: beyond, the fraction of a decimal would fill the memory."""


def exact_share(name: str, value: object) -> Fraction:
    """A share in [0, 1] as the exact fraction of the decimal it prints as.

    Parameters
    ----------
    name : str
        What the share is called, for the error.
    value : float, int, Fraction or text such as ``"9/10"``
        0.29 is 29/100, not the binary fraction beside it.

    Raises
    ------
    PolicyError
        When it is no number or lies outside of [0, 1].

    Examples
    --------
    >>> exact_share("coverage", 0.29), exact_share("coverage", "9/10")
    (Fraction(29, 100), Fraction(9, 10))
    """
    share = _fraction(value)
    if share is None or not 0 <= share <= 1:
        msg = f"{name} is {value!r}; a share between 0 and 1 is wanted, such as 0.9 or '9/10'."
        raise PolicyError(msg)
    return share


def percent_down(share: float | Fraction) -> str:
    """A share in per cent with one decimal, rounded down: a floor is never overstated.

    Examples
    --------
    >>> percent_down(2 / 3), percent_down(0.57), percent_down(1.0)
    ('66.6 %', '57.0 %', '100.0 %')
    """
    exact = share if isinstance(share, Fraction) else Fraction(repr(float(share)))
    tenths = int(exact * 1000)  # shares are not negative, so this rounds down
    return f"{tenths // 10}.{tenths % 10} %"


def _fraction(value: object) -> Fraction | None:
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        if isinstance(value, str) and "/" in value:
            return Fraction(value)
        number = Decimal(str(value))
    except (InvalidOperation, ValueError, ZeroDivisionError):
        return None
    if not number.is_finite() or abs(number.adjusted()) > _DIGITS:
        return None
    return Fraction(number)
