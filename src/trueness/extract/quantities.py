"""The quantities of a text, in order, each with its key."""

import re
from collections.abc import Iterator

from trueness.extract.amounts import LETTERS, Amount, Grammar, Quantity, amount
from trueness.extract.compounds import START, joined
from trueness.extract.numerals import bounded
from trueness.extract.rules import APPROXIMATE

_GLUED = re.compile(rf"[{LETTERS}_]")
_NAME = re.compile(rf"[{LETTERS}\d_]++(?:\.\d++)*+")
_APPROXIMATE = re.compile(rf"(?<![^\W_])(?:{'|'.join(APPROXIMATE)})\s{{0,3}}$", re.IGNORECASE)
_APPROXIMATE_LENGTH = 16
_MOST_UNDERSCORES = 4
_ORDINAL = re.compile(rf"(?:st|nd|rd|th)(?![{LETTERS}\d])", re.IGNORECASE)


def quantities(
    text: str, grammar: Grammar, start: int = 0, end: int | None = None
) -> Iterator[Quantity]:
    """The quantities of a part of a text, in order.

    Digits glued to a letter on the left belong to a name.

    >>> [q.key for q in quantities("X86 has 2 cores at 3.5, not 5-7", Grammar())]
    ['2', '7/2', 'range:5..7']
    """
    end = len(text) if end is None else end
    while m := START.search(text, start, end):
        at = m.start()
        before = text[at - 1 : at]
        if text[at] == "." and (before == "." or _GLUED.match(before)):
            at, before = at + 1, ""
        if text[at] != "\\" and _GLUED.match(before) and not _emphasised(text, at):
            name = _NAME.match(text, at)
            start = m.end() if name is None else max(m.end(), name.end())
            continue
        found = quantity(text, at, grammar)
        start = m.end() if found is None else max(found.end, m.end())
        if found is not None:
            yield found


def _emphasised(text: str, at: int) -> bool:
    """Whether the underscores before a number are emphasis: no letter or digit stands before them.

    >>> _emphasised("is _5_", 4), _emphasised("x_5", 2)
    (True, False)
    """
    before = text[max(0, at - _MOST_UNDERSCORES) : at].rstrip("_")
    return text[at - 1] == "_" and len(before) < _MOST_UNDERSCORES and not before[-1:].isalnum()


def quantity(text: str, at: int, grammar: Grammar) -> Quantity | None:
    """The quantity whose first digit (or fraction) stands at an offset; None where none does."""
    first = amount(text, at, grammar)
    if first is None:
        return None
    if first.value is None:
        return Quantity(None, first.start, first.end, first.unit, first.problem)
    return joined(text, first, grammar) or _alone(text, first, grammar)


def _alone(text: str, first: Amount, grammar: Grammar) -> Quantity:
    value, start, end = first.value, first.start, first.end
    if value is None or not bounded(value):
        return Quantity(None, start, end, first.unit, "expression")
    if end < len(text) and value.denominator == 1 and (m := _ORDINAL.match(text, end)):
        end = m.end()
    notes: tuple[str, ...] = ()
    low = max(0, start - _APPROXIMATE_LENGTH)
    if start and (m := _APPROXIMATE.search(text[low:start])):
        notes, start = ("approximate",), low + m.start()
    return Quantity(grammar.key(value, first.unit), start, end, first.unit, None, notes)
