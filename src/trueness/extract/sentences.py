"""A text as sentences with exact offsets: nothing is dropped, however short it is."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from sentencex import get_sentence_boundaries

from trueness.extract.sentence_marks import Mark, mark_of

SPLITTER = "sentences/1+sentencex/1"
"""Name of these rules and of the library's major version; part of every fingerprint."""

_LINE = re.compile(r"[^\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")
_BLANK = re.compile(r"(?:\r\n?|[\n\x85\u2028])[ \t\u00a0\u3000]*(?:\r\n?|[\n\x85\u2028])|\u2029")
_SIGN = re.compile(r"\s*(?:[-*+•‣◦▪▸►·●○■□–—]|#{1,6}|>)\s+(?=\S)")
_NUMBER = re.compile(r"\s*\(?(\d{1,3})[.)]\s+(?=\S)")
_NUMERAL = re.compile(r"\(?\d{1,3}[.)]")
_STOP = re.compile(r"[.!?…。！？｡।۔؟።;:]\W*$")
_LOWER = re.compile(r"\s*[^\W\d_]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_WORD = re.compile(r"\w|[^\w\s\x00-\x7f\u00a1-\u00bf\u2000-\u206f\u3000-\u303f\uff00-\uff65]")
_CUT = re.compile(r"[.!?]\s+|[。！？।۔]+\s*|\s+")
_WRAPPED = 60
"""A line at least so long that ends inside a sentence was wrapped by a width."""
_LONGEST = 8_000
"""Characters of a line that the library reads at once; it is slow on some that are longer."""
_CLOSING = "*_\"'”’»)]）］〕】》〉」』"
_OPEN = {"「": "」", "『": "』", "（": "）", "【": "】", "《": "》", "〈": "〉", "〔": "〕"}
_ENDS = frozenset(_OPEN.values())
_GOES_ON = frozenset("とはがをにもでのっなよねへやか、，,")
"""After a closing Japanese quotation mark these go on with the sentence."""
_SCRIPTS = (
    ("el", re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("hy", re.compile(r"[\u0530-\u058f]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
)
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence; ``text`` is the original from ``start`` to ``end``.

    Parameters
    ----------
    text : str
    start, end : int
        Offsets into the text it came from.
    mark : Mark or None
        Refusal, greeting or question; None for a statement.
    bullet : bool
        Whether it stands in an item of a list; the item's sign is outside.
    """

    text: str
    start: int
    end: int
    mark: Mark | None = None
    bullet: bool = False


@dataclass(frozen=True, slots=True)
class _Line:
    """A part of the text that is split by itself."""

    start: int
    end: int
    bullet: bool = False


def split_sentences(text: str, *, language: str | None = None) -> tuple[Sentence, ...]:
    r"""Sentences of a text, in order.

    Lines are split first, except where a line was wrapped by a width; items of lists stand alone.
    Within a line sentences are found by `sentencex`. Every character that is no white space and no
    sign of a list item is in exactly one sentence; only a blank text has none.

    Parameters
    ----------
    text : str
        Any text; lone surrogates are kept.
    language : str, optional
        A code such as ``de``; otherwise the script decides, and Latin script is read as English.

    Returns
    -------
    tuple of Sentence

    Examples
    --------
    >>> [s.text for s in split_sentences("He died in 1999. She won.")]
    ['He died in 1999.', 'She won.']
    >>> [(s.text, s.bullet) for s in split_sentences("- Dr. Smith went.\n- ok")]
    [('Dr. Smith went.', True), ('ok', True)]
    >>> [s.text for s in split_sentences("彼は「行く。」と言った。次の日。")]
    ['彼は「行く。」と言った。', '次の日。']
    """
    plain = _SURROGATE.sub("\ufffd", text)
    found = []
    for line in _lines(plain):
        for start, end in _spans(plain, line, language):
            part = text[start:end]
            found.append(Sentence(part, start, end, mark_of(part), line.bullet))
    return tuple(found)


def paragraph_count(text: str) -> int:
    r"""How many paragraphs a text has: parts between blank lines that are not blank themselves.

    >>> paragraph_count("a\nb\n\n\nc\n"), paragraph_count(" ")
    (2, 0)
    """
    return sum(bool(part.strip()) for part in _BLANK.split(text))


def _lines(text: str) -> Iterator[_Line]:
    """Cut a text into lines, items of lists without their sign, and wrapped lines joined."""
    numbered = _numbered(text)
    held: _Line | None = None
    for match in _LINE.finditer(text):
        if match.group().isspace():
            continue
        line = _item(text, match.start(), match.end(), numbered)
        if held is not None and not line.bullet and _is_wrapped(text, held, line):
            held = _Line(held.start, line.end, held.bullet)
            continue
        if held is not None:
            yield held
        held = line
    if held is not None:
        yield held


def _item(text: str, start: int, end: int, numbered: frozenset[int]) -> _Line:
    if sign := _SIGN.match(text, start, end):
        return _Line(sign.end(), end, bullet=True)
    number = _NUMBER.match(text, start, end)
    if number and {int(number[1]) - 1, int(number[1]) + 1} & numbered:
        return _Line(number.end(), end, bullet=True)
    return _Line(start, end)


def _numbered(text: str) -> frozenset[int]:
    """Collect the numbers that lines begin with: neighbours make a list, one may be content."""
    found = (_NUMBER.match(text, m.start(), m.end()) for m in _LINE.finditer(text))
    return frozenset(int(m[1]) for m in found if m)


def _is_wrapped(text: str, before: _Line, line: _Line) -> bool:
    first = text.rfind("\n", before.start, before.end) + 1 or before.start
    if before.end - first < _WRAPPED or _BLANK.search(text, before.end, line.start):
        return False
    start = _LOWER.match(text, line.start, line.end)
    return start is not None and start.group()[-1].islower() and not _ends(text, before)


def _ends(text: str, line: _Line) -> bool:
    return _STOP.search(text, max(line.start, line.end - 20), line.end) is not None


def _spans(text: str, line: _Line, language: str | None) -> Iterator[tuple[int, int]]:
    """Offsets of the sentences of a line, white space off their ends."""
    cuts = [line.start, *_boundaries(text, line, language), line.end]
    parts = [(a, b) for a, b in pairwise(cuts) if text[a:b].strip()]
    for start, end in _joined(text, parts):
        whole = text[start:end]
        yield end - len(whole.lstrip()), start + len(whole.rstrip())


def _joined(text: str, parts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Give a number of an enumeration, or a part without a word, to the sentence after it."""
    spans: list[tuple[int, int]] = []
    held: int | None = None
    numeral = False
    for start, end in parts:
        part = text[start:end].strip()
        numeral = _NUMERAL.fullmatch(part) is not None
        if numeral or not _WORD.search(part):
            held = start if held is None else held
            continue
        spans.append((start if held is None else held, end))
        held = None
    if held is not None:
        start = held if numeral or not spans else spans.pop()[0]
        spans.append((start, parts[-1][1]))
    return spans


def _boundaries(text: str, line: _Line, language: str | None) -> list[int]:
    found: list[int] = []
    for start, end, stopped in _pieces(text, line):
        piece = text[start:end]
        code = language or _language(piece)
        ends = [b["end_index"] for b in get_sentence_boundaries(code, piece)]
        found += [at for e in _moved(piece, ends) if (at := start + e) < end]
        found += [end] * stopped
    return [at for at in found if at < line.end]


def _pieces(text: str, line: _Line) -> Iterator[tuple[int, int, bool]]:
    """Parts of a line that are short enough, and whether a sentence ends where each was cut."""
    start = line.start
    while line.end - start > _LONGEST:
        cuts = list(_CUT.finditer(text, start + _LONGEST // 2, start + _LONGEST))
        stops = [cut.end() for cut in cuts if not cut.group().isspace()]
        words = [cut.end() for cut in cuts]
        end = (stops or words or [start + _LONGEST])[-1]
        yield start, end, bool(stops)
        start = end
    yield start, line.end, True


def _moved(piece: str, ends: list[int]) -> list[int]:
    """Move boundaries behind closing marks; drop those inside a quotation or before its rest."""
    inside = _quoted(piece)
    kept = []
    for given in ends:
        at = given
        while at < len(piece) and piece[at] in _CLOSING and not piece[at - 1].isspace():
            at += 1
        place = bisect_left(inside, (at, 0)) - 1
        if place >= 0 and at < inside[place][1]:
            continue
        if piece[at - 1 : at] in _ENDS and piece[at : at + 1] in _GOES_ON:
            continue
        kept.append(at)
    return kept


def _quoted(piece: str) -> list[tuple[int, int]]:
    """Outermost bracketed parts that close, in order: (offset of the opening, end)."""
    if not any(mark in piece for mark in _OPEN):
        return []
    stack: list[tuple[int, str]] = []
    found: list[tuple[int, int]] = []
    for at, mark in enumerate(piece):
        if mark in _OPEN:
            stack.append((at, _OPEN[mark]))
        elif stack and mark == stack[-1][1]:
            start = stack.pop()[0]
            while found and found[-1][0] > start:
                found.pop()
            found.append((start, at + 1))
    return found


def _language(piece: str) -> str:
    if piece.isascii():
        return "en"
    counts = {code: len(letters.findall(piece)) for code, letters in _SCRIPTS}
    if counts["ja"]:
        counts["ja"] += counts.pop("zh")
    code = max(counts, key=lambda c: counts[c])
    return code if counts[code] > len(_LATIN.findall(piece)) else "en"
