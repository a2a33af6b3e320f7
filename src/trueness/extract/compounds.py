"""Answers of two numbers: ranges, times, ratios, and compounds such as two hours and a half."""

import re
from fractions import Fraction
from math import gcd

from trueness.extract.amounts import CURRENCY, LETTERS, Amount, Grammar, Quantity, amount
from trueness.extract.numerals import MAX_DIGITS, numeral, shown
from trueness.extract.units import scaled

START = re.compile(r"\.?\d|\\[dtc]?frac(?![A-Za-z])", re.ASCII)
"""Where a numeral may begin."""

_BETWEEN = re.compile(r"\bbetween\s{1,3}$", re.IGNORECASE)
_BETWEEN_LENGTH = 11
_TO = re.compile(r"--?(?=\S)|\s?[–—]\s?|\s(?:to|through)\s(?=\S)")
_AND = re.compile(r"\sand\s", re.IGNORECASE)
_SECOND = re.compile(rf"(?:{CURRENCY})?\s?(?=\.?\d|\\[dtc]?frac)")
_CHAINED = re.compile(r"[-–]\d")
_CLOCK = re.compile(r":([0-5]\d)(?::([0-5]\d))?(?!\d|:|\.\d)", re.ASCII)
_NOON = re.compile(rf"\s{{0,3}}(?:([ap])\.?\s?m\b\.?)(?![{LETTERS}])", re.IGNORECASE)
_HOURS = range(1, 13)
_HOUR_DIGITS = 3
_RATIO = re.compile(r"(?::| : )(\d++)(?:(?::| : )(\d++))?(?!\d|:|\.\d)", re.ASCII)
_PART = re.compile(
    r"(?:\s?(?:,\s?)?(?:and\s)?(?P<n>\d{1,18}+(?:\.\d{1,18}+)?))?\s?(?:\\text\{\s?)?"
    r"(?P<unit>hours?|hrs?|minutes?|mins?|seconds?|secs?|days?|weeks?|months?|years?|yrs?|feet|foot"
    r"|ft|inch(?:es)?|in|pounds?|lbs?|ounces?|oz|yards?|yd|miles?|mi|meters?|metres?|centimeters?"
    rf"|centimetres?|cm|kilograms?|kg|grams?|dollars?|cents?|h|m|s|g|d)(?![{LETTERS}])\}}?",
    re.IGNORECASE,
)
_FAMILIES = (
    ("yr", "mo", "wk", "d", "h", "min", "s"), ("mi", "yd", "ft", "in"), ("m", "cm"),
    ("lb", "oz"), ("kg", "g"), ("dollar", "cent"),
)  # fmt: skip
_NAMES = {
    "year": "yr", "yr": "yr", "month": "mo", "week": "wk", "day": "d", "d": "d", "hour": "h",
    "hr": "h", "h": "h", "minute": "min", "min": "min", "second": "s", "sec": "s", "s": "s",
    "mile": "mi", "mi": "mi", "yard": "yd", "yd": "yd", "foot": "ft", "feet": "ft", "ft": "ft",
    "inch": "in", "inche": "in", "in": "in", "meter": "m", "metre": "m", "m": "m", "cm": "cm",
    "centimeter": "cm", "centimetre": "cm", "pound": "lb", "lb": "lb", "ounce": "oz", "oz": "oz",
    "kilogram": "kg", "kg": "kg", "gram": "g", "g": "g", "dollar": "dollar", "cent": "cent",
}  # fmt: skip
_FEET = re.compile(r"\s?['’′]\s?(\d{1,4})(?!\d)\s?(?:\"|''|″|”)", re.ASCII)
_MOST_PARTS = 8
_CONTINUES = frozenset(":-–— \t\n\u00a0ehmsdyfipgolckEHMSDYFIPGOLCKaA\\,'’′")


def joined(text: str, first: Amount, grammar: Grammar) -> Quantity | None:
    """What begins with an amount and goes on to another; None for the amount alone.

    >>> [joined(t, amount(t, 0, Grammar()), Grammar()).key for t in ("5-7", "3:30 pm", "6:4")]
    ['range:5..7', 'time:15:30', 'ratio:3:2']
    """
    end = first.digits_end
    if end == len(text) or (text[end] not in _CONTINUES and first.end == end):
        return None
    number = first.number
    if number is not None and number.denominator == 1 and first.value == number:
        if text[end] == ":" or text.startswith(" : ", end):
            return _clock(text, first) or _ratio(text, first)
        if number in _HOURS and (m := _NOON.match(text, end)):
            return Quantity(_time(int(number), ["00"], m[1]), first.start, m.end())
        if m := _FEET.match(text, end):
            return Quantity(f"compound:{number} ft {int(m[1])} in", first.start, m.end())
    if found := _range(text, first, grammar):
        return found
    return None if first.value is None or first.unit else _compound(text, first, first.value)


def _clock(text: str, first: Amount) -> Quantity | None:
    """A time of day: minutes are two digits below 60."""
    hour = text[first.start : first.digits_end]
    m = _CLOCK.match(text, first.digits_end)
    if m is None or len(hour) > _HOUR_DIGITS or not hour.isdigit():
        return None
    noon = _NOON.match(text, m.end())
    key = _time(int(hour), [p for p in m.groups() if p], noon[1] if noon else "")
    return Quantity(key, first.start, noon.end() if noon else m.end())


def _time(hour: int, parts: list[str], noon: str) -> str:
    if noon and hour in _HOURS:
        hour = hour % 12 + (12 if noon in "pP" else 0)
    return f"time:{hour}:{':'.join(parts)}"


def _ratio(text: str, first: Amount) -> Quantity | None:
    m = _RATIO.match(text, first.digits_end)
    if m is None or first.number is None or len(m.group()) > MAX_DIGITS:
        return None
    terms = [int(first.number), *(int(p) for p in m.groups() if p is not None)]
    by = gcd(*terms) or 1
    key = "ratio:" + ":".join(str(t // by) for t in terms)
    return Quantity(key, first.start, m.end())


def _range(text: str, first: Amount, grammar: Grammar) -> Quantity | None:
    low = max(0, first.start - _BETWEEN_LENGTH)
    between = _BETWEEN.search(text[low : first.start]) if first.start else None
    m = (_AND if between else _TO).match(text, first.end)
    at = _SECOND.match(text, m.end()) if m else None
    second = amount(text, at.end(), grammar) if at else None
    if m is None or second is None:
        return None
    start = low + between.start() if between else first.start
    unit = first.unit or second.unit
    chained = "-" in m.group() and _CHAINED.match(text, second.end)
    ends = None if chained else _ends(first, second)
    if ends is None:
        return Quantity(None, start, second.end, unit, "ambiguous")
    plain = Grammar(decimals=grammar.decimals)
    key = f"range:{plain.key(ends[0])}..{plain.key(ends[1])}"
    return Quantity(grammar.unit(key, unit), start, second.end, unit)


def _ends(first: Amount, second: Amount) -> tuple[Fraction, Fraction] | None:
    """Both ends, ascending; a scale said once is meant for both."""
    if first.value is None or second.number is None:
        return None
    low = first.value if first.scale else scaled(first.value, second.scale)
    high = scaled(second.number, second.scale)
    return (low, high) if low < high else None


def _compound(text: str, first: Amount, value: Fraction) -> Quantity | None:
    """Two or more units of one family in descending order: ``2 hours and 30 minutes``."""
    end = first.digits_end
    parts: list[str] = []
    units: list[str] = []
    while len(parts) < _MOST_PARTS and (m := _PART.match(text, end)):
        if bool(parts) != bool(m["n"]):
            break
        number = numeral(m["n"], 0) if m["n"] else None
        shown_number = shown(value if number is None or number.value is None else number.value)
        units.append(_unit(m["unit"].lower(), units))
        parts.append(f"{shown_number} {units[-1]}")
        end = m.end()
    if len(parts) < 2 or not any(_descends(units, family) for family in _FAMILIES):  # noqa: PLR2004 - one unit is no compound
        return None
    return Quantity(f"compound:{' '.join(parts)}", first.start, end)


def _unit(word: str, before: list[str]) -> str:
    unit = _NAMES.get(word) or _NAMES.get(word.rstrip("s"), "")
    return "min" if unit == "m" and before and before[-1] in ("h", "d") else unit


def _descends(units: list[str], family: tuple[str, ...]) -> bool:
    if not set(units) <= set(family):
        return False
    places = [family.index(unit) for unit in units]
    return places == sorted(set(places))
