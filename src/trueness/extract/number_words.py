"""Numbers written as words, where nothing but such words and one unit word is said."""

import re

from trueness.extract.formulas import FRACTION_WORDS

_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
SMALL = {w: i for i, w in enumerate(_ONES)} | {w: 10 * i for i, w in enumerate(_TENS, start=2)}
LARGE = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
NEGATIVE = frozenset({"minus", "negative"})
_MOST = 24
"""No number here has more words."""
_WORD = re.compile(r"[a-z]+")
_SHAPE = re.compile(r"[A-Za-z]+(?:(?:[ \t]*-[ \t]*|,?[ \t]+)[A-Za-z]+){0,24}")


def worded(text: str) -> tuple[int, str] | None:
    """A number in words and the unit word after it ("" for none); None for anything else.

    >>> worded("two hundred and five"), worded("Twelve eggs"), worded("one of two")
    ((205, ''), (12, 'eggs'), None)
    """
    if len(text) > 250 or _SHAPE.fullmatch(text) is None:  # noqa: PLR2004 - longer is prose
        return None
    words = _WORD.findall(text.lower())
    unit = ""
    if len(words) > 1 and words[-1] not in SMALL and words[-1] not in LARGE:
        unit = words.pop() if words[-1] != "hundred" else ""
    sign = -1 if words[0] in NEGATIVE else 1
    value = _value(words[sign < 0 :])
    if unit in FRACTION_WORDS or unit in ("and", "or"):
        return None
    return None if value is None else (sign * value, unit)


def _value(words: list[str]) -> int | None:
    """The value of number words in their usual order; None where the order is another."""
    if not words or words[-1] == "and" or words[0] == "and":
        return None
    if words[0] == "a" and len(words) > 1 and (words[1] == "hundred" or words[1] in LARGE):
        words = ["one", *words[1:]]
    total, rest = 0, words
    for name, size in reversed(LARGE.items()):
        if name in rest:
            at = rest.index(name)
            part = _below_thousand(rest[:at])
            if part is None or part == 0:
                return None
            total += part * size
            rest = rest[at + 1 :]
    if not rest:
        return total
    part = _below_thousand(rest[1:] if total and rest[0] == "and" else rest)
    return None if part is None else total + part


def _below_thousand(words: list[str]) -> int | None:
    if "hundred" in words:
        at = words.index("hundred")
        hundreds, rest = _below_hundred(words[:at]), words[at + 1 :]
        if hundreds is None or not 0 < hundreds < 100:  # noqa: PLR2004 - "nineteen hundred"
            return None
        part = _below_hundred(rest[1:] if rest[:1] == ["and"] else rest) if rest else 0
        return None if part is None else 100 * hundreds + part
    return _below_hundred(words)


def _below_hundred(words: list[str]) -> int | None:
    if len(words) == 1:
        return SMALL.get(words[0])
    if len(words) == 2 and words[0] in _TENS and words[1] in _ONES[1:10]:  # noqa: PLR2004 - two words
        return SMALL[words[0]] + SMALL[words[1]]
    return None
