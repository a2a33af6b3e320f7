"""Evidence as passages, and long texts as windows that end where a sentence ends."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from trueness.contract.errors import InputError
from trueness.extract.sentences import split_sentences

PassageRule = Literal["whole", "paragraph", "sentence"]
Count = Callable[[Sequence[str]], Sequence[int]]
"""Lengths of texts as their reader counts them: tokens of an embedder."""

PASSAGES = "passages/1"
"""Name of these rules; part of every fingerprint, beside that of the sentences."""

_PARAGRAPH = re.compile(
    r"(?:(?!(?:\r\n?|[\n\x85\u2028])[ \t\u00a0\u3000]*(?:\r\n?|[\n\x85\u2028]))[^\u2029])+"
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a text; ``text`` is the original from ``start`` to ``end``."""

    text: str
    start: int
    end: int


def split_passages(
    text: str, rule: PassageRule = "paragraph", *, language: str | None = None
) -> tuple[Passage, ...]:
    r"""Passages of one text, in order; a blank text has none.

    Parameters
    ----------
    text : str
    rule : str
        ``whole`` (the text itself), ``paragraph`` (parts between blank lines) or ``sentence``.
    language : str, optional
        For sentences; see `split_sentences`.

    Raises
    ------
    InputError
        For an unknown rule.

    Examples
    --------
    >>> [p.text for p in split_passages("One. Two.\n\nThree.")]
    ['One. Two.', 'Three.']
    >>> len(split_passages("One. Two.\n\nThree.", "sentence"))
    3
    """
    match rule:
        case "whole":
            spans = [(0, len(text))]
        case "paragraph":
            spans = [m.span() for m in _PARAGRAPH.finditer(text)]
        case "sentence":
            spans = [(s.start, s.end) for s in split_sentences(text, language=language)]
        case _:
            msg = f"passages {rule!r}: wanted is whole, paragraph or sentence."
            raise InputError(msg)
    return tuple(found for a, b in spans if (found := _trimmed(text, a, b)) is not None)


def windows(
    text: str, count: Count, *, size: int, overlap: int = 0, language: str | None = None
) -> tuple[Passage, ...]:
    """Windows of at most so many tokens that together hold the whole text.

    Each begins and ends with a sentence. A sentence that alone is longer is cut in halves, at white
    space where there is some, until its parts fit. The next window repeats the last sentences of
    the one before as far as they have at most ``overlap`` tokens.

    Parameters
    ----------
    text : str
    count : callable
        From texts to their lengths in tokens, whatever the reader adds included.
    size : int
        The most tokens of a window, at least 1.
    overlap : int
        The most tokens that a window repeats; below ``size``.
    language : str, optional
        See `split_sentences`.

    Returns
    -------
    tuple of Passage
        Empty for a blank text; one window for a text that fits.

    Raises
    ------
    InputError
        When a size or overlap cannot be used, or a single character is longer than a window.

    Examples
    --------
    >>> words = lambda texts: [len(t.split()) for t in texts]
    >>> [w.text for w in windows("It is so. He ran. No.", words, size=5, overlap=2)]
    ['It is so. He ran.', 'He ran. No.']
    """
    if size < 1 or not 0 <= overlap < size:
        msg = f"window({size}, {overlap}): wanted is a size of at least 1 and a smaller overlap."
        raise InputError(msg)
    whole = _trimmed(text, 0, len(text))
    if whole is None:
        return ()
    if count([whole.text])[0] <= size:
        return (whole,)
    parts = [
        part
        for s in split_sentences(text, language=language)
        for part in _fitting(text, s.start, s.end, count, size)
    ]
    lengths = list(count([text[a:b] for a, b in parts]))
    return tuple(_packed(text, parts, lengths, count, size=size, overlap=overlap))


def _packed(
    text: str,
    parts: list[tuple[int, int]],
    lengths: list[int],
    count: Count,
    *,
    size: int,
    overlap: int,
) -> list[Passage]:
    found: list[Passage] = []
    first, reached = 0, -1
    while reached + 1 < len(parts):
        last, total = first, lengths[first]
        while last + 1 < len(parts) and total + lengths[last + 1] <= size:
            last += 1
            total += lengths[last]
        while last > first and count([text[parts[first][0] : parts[last][1]]])[0] > size:
            last -= 1
        if last <= reached:  # parts together are longer than their sum: nothing can be repeated
            first = reached + 1
            continue
        reached = last
        start, end = parts[first][0], parts[last][1]
        found.append(Passage(text[start:end], start, end))
        if last + 1 == len(parts):
            break
        first = _repeated(lengths, first, last, size=size, overlap=overlap)
    return found


def _repeated(lengths: list[int], first: int, last: int, *, size: int, overlap: int) -> int:
    """Find the first sentence of the next window, which must reach past the last one."""
    start, total = last + 1, 0
    room = min(overlap, size - lengths[last + 1])
    while start - 1 > first and total + lengths[start - 1] <= room:
        start -= 1
        total += lengths[start]
    return start


def _fitting(text: str, start: int, end: int, count: Count, size: int) -> list[tuple[int, int]]:
    """Halve a sentence until its parts fit."""
    if count([text[start:end]])[0] <= size:
        return [(start, end)]
    middle = _middle(text, start, end)
    if middle is None:
        msg = f"the character {text[start:end]!r} is longer than a window of {size} tokens."
        raise InputError(msg)
    halves = (_trimmed(text, start, middle), _trimmed(text, middle, end))
    return [
        part
        for h in halves
        if h is not None
        for part in _fitting(text, h.start, h.end, count, size)
    ]


def _middle(text: str, start: int, end: int) -> int | None:
    """Find the white space nearest the middle, else a place before a letter, not its accent."""
    middle = (start + end) // 2
    reach = (end - start) // 4
    before = text.rfind(" ", middle - reach, middle)
    after = text.find(" ", middle, middle + reach)
    spaces = [at for at in (before, after) if start < at < end]
    if spaces:
        return min(spaces, key=lambda at: abs(at - middle))
    while middle > start and unicodedata.combining(text[middle]):
        middle -= 1
    return middle if middle > start else ((start + end) // 2 if end - start > 1 else None)


def _trimmed(text: str, start: int, end: int) -> Passage | None:
    whole = text[start:end]
    if not whole.strip():
        return None
    start, end = end - len(whole.lstrip()), start + len(whole.rstrip())
    return Passage(text[start:end], start, end)
