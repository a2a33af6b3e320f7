"""Amounts: a numeral with its sign, currency, scale and unit, and what keys are made of them."""

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from trueness.extract.numerals import Problem, numeral, rounded, shown
from trueness.extract.settings import Locale
from trueness.extract.units import CODES, SIGNS, scaled, suffix

LETTERS = "A-Za-z\u00b5\u00c0-\u024f\u0370-\u052f"
"""Letters of scripts that put blanks between words: a digit glued to one is part of a name."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """The settings that numbers depend on."""

    locale: Locale = "en"
    decimals: int | None = None
    keep_units: bool = False

    def key(self, value: Fraction, unit: str = "") -> str:
        """The key of a value.

        >>> Grammar().key(Fraction(1, 3)), Grammar(decimals=2).key(Fraction(1, 3))
        ('1/3', '33/100')
        """
        if self.decimals is not None:
            value = rounded(value, self.decimals)
        return self.unit(shown(value), unit)

    def unit(self, key: str, unit: str) -> str:
        """A key with its unit where units are kept."""
        return f"{key} {unit}" if unit and self.keep_units else key


class Quantity(NamedTuple):
    """A quantity in a text; without a key its ``problem`` says why."""

    key: str | None
    start: int
    end: int
    unit: str = ""
    problem: Problem | None = None
    notes: tuple[str, ...] = ()


class Amount(NamedTuple):
    """A numeral in its place, not yet joined to another.

    Parameters
    ----------
    number : Fraction or None
        As it is written, without sign and scale; None where it has no single value.
    value : Fraction or None
        With sign and scale.
    unit : str
    scale : int
        Power of ten by which a word or letter after it scales it.
    start, digits_end, end : int
        Where it begins, where its digits end, where its unit ends.
    problem : str or None
        Why it has no value.
    """

    number: Fraction | None
    value: Fraction | None
    unit: str
    scale: int
    start: int
    digits_end: int
    end: int
    problem: Problem | None = None


class _Prefix(NamedTuple):
    negative: bool
    unit: str
    start: int
    paren: bool


CURRENCY = "|".join(re.escape(s) for s in sorted([*SIGNS, *CODES], key=len, reverse=True))
_BEFORE = re.compile(
    rf"(?P<paren>\()?(?P<sign>[-+]|\([-+]\))?[ ]?(?P<currency>{CURRENCY})?\s?(?P<inner>[-+])?$"
)
_BEFORE_CHARS = frozenset("-+() " + "".join(s[-1] for s in SIGNS) + "".join(c[-1] for c in CODES))
_BINARY = re.compile(rf"[{LETTERS}\d)}}\]%]$|[\d)}}\]%]\s{{1,3}}$")
_LONGEST_PREFIX = 12
_MINUS_WORD = re.compile(r"(?<![^\W_])(?:minus|negative)[ -]$", re.IGNORECASE)


def amount(text: str, at: int, grammar: Grammar) -> Amount | None:
    """The amount whose first digit or fraction stands at an offset; None where none does.

    >>> amount("-$1.2k", 2, Grammar()).value
    Fraction(-1200, 1)
    """
    number = numeral(text, at, grammar.locale)
    if number is None:
        return None
    before = _Prefix(negative=False, unit="", start=at, paren=False)
    if at and text[at - 1] in _BEFORE_CHARS:
        before = _prefix(text, at)
    after = suffix(text, number.end, money=bool(before.unit))
    start, end, value = before.start, after.end, number.value
    if value is not None:
        value = scaled(-value if before.negative else value, after.scale)
    if before.paren and text[end : end + 1] == ")" and value is not None:
        value, end = -abs(value), end + 1
    elif before.paren:
        start += 1
    unit = before.unit or after.unit
    return Amount(number.value, value, unit, after.scale, start, number.end, end, number.problem)


def _prefix(text: str, at: int) -> _Prefix:
    """Sign and currency before a number, and whether an accounting parenthesis opens there.

    A minus after a digit, a letter or a closing bracket joins two numbers; one with a blank after
    it is a dash.
    """
    low = max(0, at - _LONGEST_PREFIX)
    if (word := _MINUS_WORD.search(text[low:at])) is not None:
        start = low + word.start()
        if not _BINARY.search(text[max(0, start - 4) : start]):
            return _Prefix(negative=True, unit="", start=start, paren=False)
    m = _BEFORE.search(text[low:at])
    if m is None or _names_another(text, low, m):
        return _Prefix(negative=False, unit="", start=at, paren=False)
    sign, currency = m["sign"] or m["inner"] or "", m["currency"] or ""
    unit = SIGNS.get(currency, currency)
    begin = low + m.start("currency") if currency else at
    if not sign:
        paren = m["paren"] is not None and bool(unit)
        return _Prefix(negative=False, unit=unit, start=begin - paren, paren=paren)
    place = low + m.start("sign" if m["sign"] else "inner")
    after = text[place + len(sign) : at]
    binary = m["sign"] and len(sign) == 1 and _BINARY.search(text[max(0, place - 4) : place])
    if binary or (after.isspace() and place):
        return _Prefix(negative=False, unit=unit, start=begin, paren=False)
    return _Prefix(negative="-" in sign, unit=unit, start=min(place, begin), paren=False)


def _names_another(text: str, low: int, m: re.Match[str]) -> bool:
    """Whether a currency code before a number is the end of a longer word."""
    currency = m["currency"] or ""
    if not currency.isalpha():
        return False
    start = low + m.start("currency")
    return text[start - 1 : start].isalpha()
