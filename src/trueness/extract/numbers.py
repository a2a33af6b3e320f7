"""Numeric text as an exact rational, for relations whose answers are ordered or measured."""

import re
from fractions import Fraction

MAX_DIGITS = 4_000
"""Longer numerals are no numbers here: no work without bound."""

_NUMERAL = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>\d{1,3}(?:,\d{3})+|\d*)(?:\.(?P<part>\d*))?", re.ASCII
)
_MINUS = str.maketrans({"\u2212": "-", "\ufe63": "-", "\uff0d": "-"})


def exact_number(text: str) -> Fraction | None:
    """The number that a plain decimal numeral stands for, exactly; None for any other text.

    A sign, digits, commas in exact threes and one decimal point; ``nan``, ``inf``, exponents,
    units and words are no numerals.

    >>> exact_number("-1,234.50"), exact_number("nan"), exact_number("3,14")
    (Fraction(-2469, 2), None, None)
    """
    text = text.strip().translate(_MINUS)
    if len(text) > MAX_DIGITS:
        return None
    match = _NUMERAL.fullmatch(text)
    if match is None:
        return None
    whole, part = match["whole"].replace(",", ""), match["part"] or ""
    if not whole and not part:
        return None
    value = Fraction(int(whole + part), 10 ** len(part))
    return -value if match["sign"] == "-" else value
