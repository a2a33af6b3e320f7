"""The short-answer key: what two spellings of one short answer have in common.

The order of the rules is part of the definition and stands in `short_key`. A key that splits one
answer in two can only weaken a count of collisions; a key that merges two right answers could make
it false. Nothing here looks at meaning.
"""

import unicodedata
from collections.abc import Callable

from trueness.table.column import TextRule

INVISIBLE = {0x200B: None, 0x2060: None, 0xFEFF: None, 0x00AD: None}
"""Removed wherever they stand: zero-width space, word joiner, byte order mark, soft hyphen."""
JOINERS = "\u200c\u200d"
"""Kept inside a text, where they carry meaning; stripped at its ends."""
STOPS = ".,;:!?"
"""Stripped from the end."""
QUOTES = frozenset({'""', "''", "“”", "‘’", "«»"})
"""Pairs of which one is stripped at a time."""


_BLANKS = " \t\n\r"
SQL_CORE = (
    "CASE WHEN {word}[1] > ' ' AND NOT contains('.,;:!? \t\n\r', {word}[-1]) THEN {word} "
    r"ELSE regexp_replace(regexp_replace({word}, '[.,;:!? \t\n\r]+$', ''), '^[ \t\n\r]+', '') END"
)
"""A text without outer blanks and final stops, as a database computes it."""
SQL_PLAIN = f"regexp_full_match({SQL_CORE}, '[A-Za-z0-9](( ?[!-~])* ?[A-Za-z0-9])?')"
"""Holds for texts whose key is their core in lower case: printable ASCII, single spaces inside,
a letter or digit at both ends."""


def short_key(text: str, *, fold_case: bool = True) -> str | None:
    """The canonical key of a short answer; None when nothing is left of it.

    In this order: NFC; zero-width characters removed; white space collapsed; then, until nothing
    changes, white space and joiners off the ends, ``. , ; : ! ?`` off the end, one pair of matching
    quotes off; case folded; NFC. The key of a key is itself.

    Parameters
    ----------
    text : str
        Any text at all.
    fold_case : bool
        Whether ``PARIS`` and ``paris`` are one answer.

    Examples
    --------
    >>> short_key(' "Paris." '), short_key("Washington, D.C."), short_key("...")
    ('paris', 'washington, d.c', None)
    """
    core = text.rstrip(STOPS + _BLANKS).lstrip(_BLANKS)
    if (
        core.isascii()
        and core.isprintable()
        and core[:1].isalnum()
        and core[-1:].isalnum()
        and "  " not in core
    ):
        return core.lower() if fold_case else core
    return full_short_key(text, fold_case=fold_case)


def full_short_key(text: str, *, fold_case: bool = True) -> str | None:
    """`short_key` without its short cut: every rule in order, until nothing changes.

    >>> full_short_key("«\u00a0Côte d’Ivoire\u00a0»")
    'côte d’ivoire'
    """
    while (key := _once(text, fold_case=fold_case)) != text:
        text = key
    return key or None


def short_rule(*, fold_case: bool = True) -> TextRule:
    """`short_key` as a rule that a database can apply to plain texts."""
    key = f"lower({SQL_CORE})" if fold_case else SQL_CORE
    return TextRule(_short(fold_case), SQL_PLAIN, key)


def _short(fold_case: bool) -> Callable[[str], str | None]:  # noqa: FBT001 - private, one caller
    return lambda text: short_key(text, fold_case=fold_case)


def _once(text: str, *, fold_case: bool) -> str:
    text = unicodedata.normalize("NFC", text).translate(INVISIBLE)
    text = _stripped(" ".join(text.split()))
    return unicodedata.normalize("NFC", text.casefold() if fold_case else text)


def _stripped(text: str) -> str:
    """Blanks, joiners, final stops and pairs of quotes off the ends, by moving two ends inwards."""
    start, end = 0, len(text)
    while True:
        before = (start, end)
        while start < end and (text[start].isspace() or text[start] in JOINERS):
            start += 1
        while end > start and (text[end - 1].isspace() or text[end - 1] in JOINERS):
            end -= 1
        while end > start and text[end - 1] in STOPS:
            end -= 1
        if end - start > 1 and text[start] + text[end - 1] in QUOTES:
            start, end = start + 1, end - 1
        if (start, end) == before:
            return text[start:end]
