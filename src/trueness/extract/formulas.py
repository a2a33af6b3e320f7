r"""Numbers that are only a part of a formula: ``√34``, ``2π``, ``x > 5``, ``(-2)^2``, ``log 5``.

The number alone is another answer, so it is never taken for the whole.
"""

import re
from typing import Literal

Part = Literal["glued", "apart"]

LONGEST = 60
"""A formula that is longer is not taken for an answer."""
_NEAR = 24
_MOST_SYMBOLS = 2
_FUNCTIONS = r"(?:a?sin|a?cos|a?tan|arcsin|arccos|arctan|cot|sqrt|cbrt|log|ln|lg|exp)"
_COMMANDS = (
    r"\\(?:sqrt|pm|mp|le|leq|leqslant|ge|geq|geqslant|lt|gt|ne|neq|a?sin|a?cos|a?tan|cot|log|ln|lg"
    r"|exp|arcsin|arccos|arctan|div|bmod|pmod|binom)(?![A-Za-z])(?:\s?\[\d{1,3}\]|_\{?\w{1,3}\}?)?"
)
_MONTHS = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_OPENING = r"[({\[|]?\s?[-+]?"
_BEFORE = re.compile(
    rf"(?:[√∛∜±∓÷≤≥≠]|&[lg]te?;)\s?{_OPENING}$"
    rf"|{_COMMANDS}\s?{_OPENING}$"
    rf"|(?<![^\W_]){_FUNCTIONS}(?:_?\d{{1,3}})?(?:\s|\s?\()[-+]?$"
    rf"|(?<![^\W_]){_MONTHS}\.?\s$"
    r"|(?<=[^\W_])_\{?[-+]?$|\^\{?[-+]?$"
    r"|[A-Za-z)}][-+*/^]$|(?<![^\W_])[A-Za-z]\($|[)\]}](?:[·×]|\s[*/^·×]\s)$"
    r"|(?<![^\W_])[b-zπθ]\s[+*/^]\s$|[πθ]\s?[-+*/^·]\s?$"
)
_COMPARED = re.compile(r"(?<![-=])[<>]=?(?P<blank>\s?)[-+]?$|!=\s?[-+]?$")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,20}>\s?[-+]?$")
_AFTER = re.compile(
    rf"\^|\((?!(?!{_FUNCTIONS}[\s(])[A-Za-z]{{2}})|(?<=0)[xX][\da-fA-F]"
    r"|\+(?![^\W_]|\s?[\d.])|[)\]}|]\^|_[^\W_{]|_\{|[₀-₉]|\\(?=\d)"
    r"|\s?\\(?:sqrt|pi|theta|cdot|times|frac|div|pm|mod|bmod|pmod|log|ln|sin|cos|tan)(?![A-Za-z])"
    r"|\s?[√∛÷±∓]|\s?[πθαβγφλστ](?![^\W\d_])|·[^\W_]|%\s?\d|//|\.{2,}\d|[xXbod]\d"
    r"|[*·×][A-Za-z(√π\\]|[-/][abcefijknopqrtuvwxyz](?![^\W_])"
    rf"|\*?{_FUNCTIONS}\s?\("
    r"|\s[<>]\s[A-Za-z]|\s?[≤≥≠]"
)
_WORDS_AFTER = re.compile(
    rf"\s?(?:BCE?|B\.C|{_MONTHS}|squared|cubed|choose|mod|modulo|factorial|dozens?|hundreds?|lakhs?|crores?|half|halves"
    r"|thirds?|fifths?|sixths?|sevenths?|eighths?|ninths?|tenths?|hundredths?|thousandths?"
    r"|base(?=\s\d)|over(?=\s\d)|divided by|below zero|Millionen|Milliarden|Mio|Mrd|millions?"
    r"|billions?|bn|and (?:a|one|two|three) (?:half|thirds?|quarters?|fourths?)|\(mod"
    r"|or (?:more|less|fewer|greater))(?![^\W_])",
)
_ROOT = re.compile(r"(?:st|nd|rd|th)?\s(?:roots? of|power of)(?![^\W_])")
_LETTERS_AFTER = re.compile(r"([A-Za-z]+)(?![^\W_])")
_BOUNDS = re.compile(
    r"(?<![^\W_])(?:(?:no |not )?(?:more|less|fewer|greater|larger|smaller) than"
    r"|at (?:least|most)|up to)(?: or equal to)?\s$",
    re.IGNORECASE,
)
FRACTION_WORDS = frozenset(
    {
        "half", "halves", "third", "thirds", "quarter", "quarters", "fourth", "fourths", "fifth",
        "fifths", "sixth", "sixths", "eighth", "eighths", "tenth", "tenths", "hundredth",
        "hundredths", "thousandths", "dozen", "dozens", "squared", "cubed", "factorial",
    }
)  # fmt: skip
"""Words that make another number of the number words before them."""
_NOT_UNITS = (FRACTION_WORDS - {"quarter", "quarters", "fourth", "fourths"}) | {
    "or", "hundred", "hundreds", "lakh", "lakhs", "crore", "crores", "choose", "mod", "modulo",
    "BC", "BCE", "bn", "Mio", "Mrd", "Millionen", "Milliarden", "root", "roots", "zero",
}  # fmt: skip
_MORE = re.compile(r"\s+[-+*/^·×÷=<>≤≥±√]\s*\S|\s*[√π(]")
_RUN = re.compile(r"\S+")


def part_of_formula(text: str, start: int, end: int, short: frozenset[str]) -> Part | None:
    r"""How a number that stands there belongs to a formula; None where it stands for itself.

    Parameters
    ----------
    start, end : int
        Where the number begins and ends.
    short : frozenset of str
        Abbreviations of units that may be glued to a number.

    >>> part_of_formula("x > 5", 4, 5, frozenset()), part_of_formula("√34", 1, 3, frozenset())
    ('apart', 'glued')
    >>> part_of_formula("5 km", 0, 1, frozenset({"km"})) is None
    True
    """
    near = text[max(0, start - _NEAR) : start]
    before = _BEFORE.search(near)
    if before is not None:
        return "apart" if any(c.isspace() for c in before.group()) else "glued"
    if _is_compared(text, start, end, near):
        return "apart"
    after = _AFTER.match(text, end) or _WORDS_AFTER.match(text, end) or _ROOT.match(text, end)
    if after is not None:
        return "apart" if any(c.isspace() for c in after.group()) else "glued"
    letters = _LETTERS_AFTER.match(text, end)
    if letters is not None and letters[1] not in short and len(letters[1]) <= _MOST_SYMBOLS:
        return "glued"
    return None


def _is_compared(text: str, start: int, end: int, near: str) -> bool:
    """Whether a sign of order stands before a number; no tag, no arrow, no quoted line."""
    m = _COMPARED.search(near)
    if m is None or _TAG.search(near) or text[end : end + 1] == ">":
        return False
    at = start - len(near) + m.start()
    return not (m["blank"] and text[at] == ">" and text[at - 1 : at] in ("", "\n"))


def bounds(text: str, start: int) -> bool:
    """Whether words before a number make a bound of it: "at least 5" is not 5.

    >>> bounds("at least 5", 9), bounds("the least 5", 10)
    (True, False)
    """
    return _BOUNDS.search(text[max(0, start - _NEAR) : start]) is not None


def formula_at(text: str, at: int, part: Part) -> tuple[int, int] | None:
    """Where the formula around an offset stands; None where it is too long to be an answer.

    A formula without blanks is a run; one that goes on beyond it is the whole text.

    >>> formula_at("it is 5x in all", 6, "glued"), formula_at("5(x + 1)", 0, "glued")
    ((6, 8), (0, 8))
    """
    run = next((m for m in _RUN.finditer(text) if m.start() <= at < m.end()), None)
    if run is None:
        return None
    start, end = run.span()
    open_brackets = sum(run.group().count(c) for c in "([{") - sum(map(run.group().count, ")]}"))
    if part == "apart" or open_brackets > 0 or _MORE.match(text, end):
        start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    return (start, end) if end - start <= LONGEST else None


def are_units(words: list[str]) -> bool:
    """Whether words after a number can be its unit, and not a part of the number.

    >>> are_units(["eggs"]), are_units(["and", "a", "half"])
    (True, False)
    """
    return _NOT_UNITS.isdisjoint(words)
