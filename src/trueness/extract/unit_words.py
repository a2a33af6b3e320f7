"""Unit words after a number: noted, never part of a key."""

import re

from trueness.extract.formulas import are_units
from trueness.extract.units import SHORT

_UNITS = re.compile(
    r"(?:[\s,.;:!?*_\"'’”)\]~]|-(?=[^\W\d_])|\\[,;: !%$]|\\(?:circ|quad|degree)(?![A-Za-z])"
    r"|[/°%²³·]|(?:(?<=[^\W\d_])|(?<=[^\W\d_]\s))\^\s?(?:\{\s?-?[1-4]\s?\}|-?[1-4](?!\d))"
    r"|\([^()\d=+*/^<>]{0,80}\)|(?P<word>[^\W\d_]+))*+"
)
_WORD = re.compile(r"[^\W\d_]+")
_GLUED = re.compile(
    r"[)\]}]?\s?\^|[*·][^\W\d_]|-[^\W\d_]{1,2}(?![^\W_])|/[^\W\d_](?![^\W_])|\([A-Za-z]\)"
)
"""What goes on with a formula straight after a number."""
_MOST_WORDS = 8
_LONGEST = 240
_NOTED = re.compile(r"\s?([^\W\d_]{2,24})")
_NO_UNITS = frozenset({"or", "and", "to", "per", "in", "for", "as", "is"})


def only_units(rest: str) -> bool:
    """Whether nothing but unit words follows a number."""
    return unit_words(rest, glued=False) is not None


def unit_words(rest: str, *, glued: bool) -> str | None:
    """The unit words that a rest consists of; None when it holds anything else."""
    if not rest:
        return ""
    if len(rest) > _LONGEST or _UNITS.fullmatch(rest) is None:
        return None
    words = _WORD.findall(rest)
    if len(words) > _MOST_WORDS or not are_units(words) or _is_formula(rest, words):
        return None
    if glued and rest[0].isalpha() and words[0] not in SHORT and len(words[0]) < 3:  # noqa: PLR2004 - a symbol
        return None
    if any(len(w) == 1 and w not in SHORT and w != "a" for w in words):
        return None
    return " ".join(words)


def _is_formula(rest: str, words: list[str]) -> bool:
    """Whether an operator straight after the number joins it to what is no unit."""
    return _GLUED.match(rest) is not None and words[:1] != [] and words[0] not in SHORT


def unit_note(text: str, end: int) -> tuple[str, ...]:
    """The note of the unit word at an offset, where there is one.

    >>> unit_note("5 eggs", 1), unit_note("5 per day", 1)
    (('unit eggs',), ())
    """
    m = _NOTED.match(text, end)
    if m is None or m[1].lower() in _NO_UNITS:
        return ()
    return (f"unit {m[1]}",)
