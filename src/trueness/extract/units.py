"""Units that join a key or a note: per cent, degrees, currencies; and scales such as million."""

import re
from fractions import Fraction
from typing import NamedTuple

SIGNS = {
    "$": "USD", "\\$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR",
    "₩": "KRW", "₽": "RUB", "₺": "TRY", "₫": "VND", "₪": "ILS", "₴": "UAH", "₦": "NGN", "฿": "THB",
}  # fmt: skip
CODES = (
    "USD", "EUR", "GBP", "JPY", "INR", "KRW", "RUB", "CNY", "CHF", "CAD", "AUD", "NZD", "SEK",
    "NOK", "DKK", "PLN", "CZK", "HUF", "TRY", "BRL", "MXN", "ZAR", "SGD", "HKD", "THB", "ILS",
)  # fmt: skip
WORDS = {
    "dollar": "USD", "dollars": "USD", "euro": "EUR", "euros": "EUR", "yen": "JPY",
    "rupee": "INR", "rupees": "INR", "yuan": "CNY", "percent": "%", "per cent": "%",
    "degree": "deg", "degrees": "deg",
}  # fmt: skip
SCALES = {
    "thousand": 3, "million": 6, "billion": 9, "trillion": 12, "k": 3, "K": 3,
    "M": 6, "B": 9, "T": 12, "m": 6, "b": 9, "t": 12, "mn": 6, "bn": 9, "tn": 12,
}  # fmt: skip
SHORT = frozenset(
    [
        "km",
        "m",
        "cm",
        "mm",
        "mi",
        "ft",
        "in",
        "yd",
        "kg",
        "g",
        "mg",
        "lb",
        "lbs",
        "oz",
        "l",
        "L",
        "ml",
        "mL",
        "h",
        "hr",
        "hrs",
        "min",
        "mins",
        "s",
        "sec",
        "secs",
        "ms",
        "mph",
        "kph",
        "kmh",
        "Hz",
        "kHz",
        "MHz",
        "GHz",
        "W",
        "kW",
        "MW",
        "V",
        "A",
        "J",
        "kJ",
        "N",
        "Pa",
        "kPa",
        "C",
        "F",
        "K",
        "mol",
        "kcal",
        "cal",
        "am",
        "pm",
        "AM",
        "PM",
        "ha",
        "sq",
        "cu",
        "gal",
        "qt",
        "pt",
        "GB",
        "MB",
        "KB",
        "TB",
        "deg",
        "rad",
    ]
)
"""Abbreviations of units that may stand glued to a number."""

_SCALE_WORD = re.compile(
    r"[ \u00a0-]?(thousand|million|billion|trillion)s?(?![^\W\d_])", re.IGNORECASE
)
_SCALE_GLUED = re.compile(r"([kKMBT])(?![^\W\d_])")
_SCALE_MONEY = re.compile(r" ?(bn|mn|tn|[mbt])(?![^\W\d_])")
_PERCENT = re.compile(r"\s?(?:\\?%|(?:percent|per cent)(?![^\W\d_]))", re.IGNORECASE)
_DEGREE = re.compile(
    r"\s?(?:°|º|\^\s?\{?\s?\\circ\s?\}?|\\degree(?![a-zA-Z])|degrees?(?![^\W\d_]))"
    r"(?:\s?(?:\\(?:text|mathrm)\{\s?)?(C|F|Celsius|Fahrenheit)(?![^\W\d_])\}?)?",
    re.IGNORECASE,
)
_MONEY = re.compile(
    rf"\s?(?:(?P<sign>\\?\$|[{''.join(s for s in SIGNS if len(s) == 1 and s != '$')}])(?!\d)"
    rf"|(?P<code>{'|'.join(CODES)})(?![^\W\d_])"
    r"|(?:US )?(?P<word>(?i:dollars?|euros?|yen|rupees?|yuan))(?![^\W\d_]))"
)
_STARTS = frozenset(" \u00a0\\%°º^kKMBTmbtpdPD-\t") | frozenset(s[-1] for s in SIGNS)


class Suffix(NamedTuple):
    """What follows a numeral: by how much it is scaled, its unit, and where that ends."""

    scale: int
    unit: str
    end: int


def suffix(text: str, end: int, *, money: bool = False) -> Suffix:
    """Scale and unit directly after a numeral.

    >>> suffix("1.8 billion", 3), suffix("50%", 2)
    (Suffix(scale=9, unit='', end=11), Suffix(scale=0, unit='%', end=3))
    >>> suffix("5m", 1).scale, suffix("5m", 1, money=True).scale
    (0, 6)
    """
    if end == len(text) or (text[end] not in _STARTS and not text[end].isalpha()):
        return Suffix(0, "", end)
    power = 0
    found = _SCALE_WORD.match(text, end) or _SCALE_GLUED.match(text, end)
    if found is None and money:
        found = _SCALE_MONEY.match(text, end)
    if found is not None:
        word = found[1]
        power = SCALES[word if word in SCALES else word.lower()]
        end = found.end()
    if m := _PERCENT.match(text, end):
        return Suffix(power, "%", m.end())
    if m := _DEGREE.match(text, end):
        letter = (m[1] or "")[:1].upper()
        return Suffix(power, f"deg{letter}", m.end())
    if m := _MONEY.match(text, end):
        unit = SIGNS.get(m["sign"] or "") or m["code"] or WORDS[(m["word"] or "").lower()]
        return Suffix(power, unit, m.end())
    return Suffix(power, "", end)


def scaled(value: Fraction, power: int) -> Fraction:
    """A value times a power of ten."""
    return value * 10**power if power else value
