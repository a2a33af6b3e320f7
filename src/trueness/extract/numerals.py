r"""Numerals to exact rationals: grouping, fractions, powers, repeating decimals. No float, ever.

A numeral that has no single value keeps its place and says why: ``ambiguous`` (a decimal comma or
a list, a date, an address) or ``expression`` (a zero denominator, too large a power). Work is
bounded: exponents beyond ±1000 and more than 4,000 digits are not worked out.
"""

import re
from fractions import Fraction
from typing import Literal, NamedTuple

from trueness.extract.settings import Locale

MAX_DIGITS = 4_000
MAX_EXPONENT = 1_000
_EXPONENT_DIGITS = 5
_MAX_BITS = 13_288  # of a number of 4,000 digits

Problem = Literal["ambiguous", "expression"]


class Numeral(NamedTuple):
    """An unsigned numeral: its value, or why it has none, and where it ends."""

    value: Fraction | None
    end: int
    problem: Problem | None = None


_THIN = "\u00a0\u2007\u2008\u2009\u200a\u202f"
_REPEATING = r"(?P<repeating>\d*+\.\d*+\\overline\s?\{\d++\})"
_EN = re.compile(
    rf"(?P<grouped>\d{{1,3}}(?P<sep>,\\!|\{{,\}}|\\,|[,'’{_THIN} ])\d{{3}}(?!\d)"
    r"(?:(?P=sep)\d{3}(?!\d))*+(?:\.\d++)?)"
    r"|(?P<indian>\d{1,2}(?:,\d\d(?!\d))++,\d{3}(?!\d)(?:\.\d++)?)"
    r"|(?P<european>\d{1,3}(?:\.\d{3}(?!\d))++,\d++)"
    rf"|{_REPEATING}|(?P<plain>\d++(?:\.\d++)?+|\.\d++)",
    re.ASCII,
)
_EU = re.compile(
    rf"(?P<european>\d{{1,3}}(?P<sep>[.'’{_THIN} ])\d{{3}}(?!\d)"
    r"(?:(?P=sep)\d{3}(?!\d))*+(?:,\d++)?)"
    r"|(?P<grouped>\d{1,3}(?:,\d{3}(?!\d))++\.\d++)"
    rf"|{_REPEATING}|(?P<decimal>\d++,\d++)|(?P<plain>\d++(?:\.\d++)?+|\.\d++)",
    re.ASCII,
)
_PATTERN = {"en": _EN, "eu": _EU}
_CHAIN = re.compile(r"(?:[.,]\d++)++", re.ASCII)
_OVER = re.compile(r"\s?/\s?(\d++(?:\.\d++)?)(/\d|\s/\s\d)?", re.ASCII)
_MIXED = re.compile(r"(?:[ \u00a0]|\\ )(\d++)/(\d++)(?![\d/.])", re.ASCII)
_LATEX = re.compile(
    r"\\[dtc]?frac\s{0,3}(?:\{(?P<up>[^{}]*)\}|(?P<u>\d))\s{0,3}(?:\{(?P<low>[^{}]*)\}|(?P<l>\d))",
    re.ASCII,
)
_POWER = re.compile(r"\s?\^\s?(?:\{\s?([+-]?\d++)\s?\}|(-?\d++))", re.ASCII)
_E = re.compile(r"[eE]([+-]?\d++)(?![\w.])", re.ASCII)
_TEN = re.compile(
    r"\s?(?:x|×|\*|·|⋅|\\times|\\cdot)\s?10\s?(?:\^\s?(?:\{\s?([+-]?\d++)\s?\}|([+-]?\d++)))",
    re.ASCII,
)
_SIGNED = re.compile(r"\s*([+-]?)\s*(\d[\d,]*(?:\.\d+)?|\.\d+)\s*", re.ASCII)
_AFTER = frozenset("/^eE x×*·⋅\\.,\u00a0")


def numeral(text: str, at: int, locale: Locale = "en") -> Numeral | None:
    r"""The numeral that begins at an offset; None where none does.

    >>> numeral("1,234.50", 0), numeral("\\frac12", 0).value, numeral("11 5/6", 0).value
    (Numeral(value=Fraction(2469, 2), end=8, problem=None), Fraction(1, 2), Fraction(71, 6))
    >>> numeral("3,14", 0).problem, numeral("5/0", 0).problem, numeral("10^2", 0).value
    ('ambiguous', 'expression', Fraction(100, 1))
    """
    if text[at] == "\\":
        return _powered(text, _latex(text, at))
    m = _PATTERN[locale].match(text, at)
    if m is None:
        return None
    end = m.end()
    if end == len(text) or text[end] not in _AFTER:
        return _checked(m)
    if (chain := _CHAIN.match(text, end)) is not None:
        return Numeral(None, chain.end(), "ambiguous")
    number = _checked(m)
    if number.value is None:
        return number
    return _continued(text, number)


def shown(value: Fraction) -> str:
    """A rational in lowest terms.

    >>> shown(Fraction(53, 2)), shown(Fraction(-5))
    ('53/2', '-5')
    """
    if value.denominator == 1:
        return str(value.numerator)
    return f"{value.numerator}/{value.denominator}"


def rounded(value: Fraction, decimals: int) -> Fraction:
    """A rational on a grid of so many decimals, half away from zero.

    >>> rounded(Fraction(-1, 8), 2), rounded(Fraction(1, 3), 1)
    (Fraction(-13, 100), Fraction(3, 10))
    """
    grid: int = 10**decimals
    whole = (2 * abs(value.numerator) * grid + value.denominator) // (2 * value.denominator)
    return Fraction(whole if value >= 0 else -whole, grid)


def bounded(value: Fraction) -> bool:
    """Whether a value has few enough digits to be written out."""
    return max(value.numerator.bit_length(), value.denominator.bit_length()) <= _MAX_BITS


def _checked(m: re.Match[str]) -> Numeral:
    """The value of a matched run of digits."""
    found, end, sort = m.group(), m.end(), m.lastgroup
    if len(found) > MAX_DIGITS:
        return Numeral(None, end, "expression")
    if sort == "repeating":
        return Numeral(_repeating(found), end)
    if sort in ("european", "decimal"):
        found = found.replace(".", "").replace(",", ".")
    elif (sort in {"sep", "grouped", "indian"}) and found.startswith("0,"):
        return Numeral(None, end, "ambiguous")
    return Numeral(_decimal(found), end)


def _decimal(found: str) -> Fraction:
    whole, _, part = found.partition(".")
    if not whole.isdigit():
        whole = "".join(c for c in whole if c.isdigit())
    if not part:
        return Fraction(int(whole or "0"))
    return Fraction(int(whole + part), 10 ** len(part))


def _repeating(found: str) -> Fraction:
    start, _, cycle = found.partition("\\overline")
    cycle = cycle.strip(" {}")
    whole, _, part = start.partition(".")
    scale = 10 ** len(part)
    return Fraction(int(whole + part or "0"), scale) + Fraction(
        int(cycle), scale * (10 ** len(cycle) - 1)
    )


def _latex(text: str, at: int) -> Numeral | None:
    m = _LATEX.match(text, at)
    if m is None:
        return None
    up, low = (_inner(m[a] or m[b] or "") for a, b in (("up", "u"), ("low", "l")))
    if up is None or low is None or low == 0:
        return Numeral(None, m.end(), "expression")
    return Numeral(up / low, m.end())


def _inner(text: str) -> Fraction | None:
    m = _SIGNED.fullmatch(text.replace("{,}", ","))
    if m is None or len(text) > MAX_DIGITS:
        return None
    value = _decimal(m[2])
    return -value if m[1] == "-" else value


def _continued(text: str, number: Numeral) -> Numeral:
    """What follows a run of digits: a fraction, a mixed number, a power."""
    end, value = number.end, number.value
    if value is None:
        return number
    if m := _OVER.match(text, end):
        return _divided(m, value)
    whole = value.denominator == 1
    if whole and (m := _MIXED.match(text, end)) and len(m.group()) < MAX_DIGITS:
        up, low = int(m[1]), int(m[2])
        if 0 < up < low:
            return Numeral(value + Fraction(up, low), m.end())
    part = _latex(text, end + text.startswith(" ", end)) if whole else None
    if part is not None and part.value is not None:
        if 0 < part.value < 1:
            return Numeral(value + part.value, part.end)
        return Numeral(None, part.end, "expression")
    return _powered(text, number) or number


def _divided(m: re.Match[str], value: Fraction) -> Numeral:
    if m[2]:
        return Numeral(None, m.end(), "ambiguous")
    low = _decimal(m[1]) if len(m[1]) <= MAX_DIGITS else Fraction(0)
    return Numeral(value / low, m.end()) if low else Numeral(None, m.end(), "expression")


def _powered(text: str, number: Numeral | None) -> Numeral | None:
    """A number with its power: ``10^2``, ``1.5e3``, ``1.5 x 10^3``."""
    if number is None or number.value is None:
        return number
    end, value = number.end, number.value
    if m := _POWER.match(text, end):
        return _raised(value, Fraction(1), m)
    if m := (_E.match(text, end) or _TEN.match(text, end)):
        return _raised(Fraction(10), value, m)
    return number


def _raised(base: Fraction, factor: Fraction, m: re.Match[str]) -> Numeral:
    """A factor times a power, unless that is too long to be written out."""
    digits = m[1] or (m[2] if m.re.groups > 1 else "")
    exponent = int(digits) if len(digits) <= _EXPONENT_DIGITS else MAX_EXPONENT + 1
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if abs(exponent) > MAX_EXPONENT or bits * abs(exponent) > _MAX_BITS:
        return Numeral(None, m.end(), "expression")
    if base == 0 and exponent <= 0:
        return Numeral(None, m.end(), "expression")
    value = factor * base**exponent
    return Numeral(value, m.end()) if bounded(value) else Numeral(None, m.end(), "expression")
