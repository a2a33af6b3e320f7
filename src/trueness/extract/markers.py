r"""Marked answers, each with its payload: boxes, ``####``, ``A:`` lines, JSON, phrases."""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from trueness.extract.rules import ANSWER_WORDS, CJK_WORDS, JSON_KEYS, LINKS
from trueness.extract.wrappers import CONTENT


class Marker(NamedTuple):
    """One marked answer.

    Parameters
    ----------
    sort : str
        What marks it.
    strict : bool
        Whether the payload must be used up.
    payload : str or None
        None where an open brace or quote says that the text was cut off.
    start, end : int
        Where the payload stands; ``end`` is where the marker ends, by which markers are ordered.
    exact : bool
        Whether the payload is the text between ``start`` and ``end``.
    """

    sort: str
    strict: bool
    payload: str | None
    start: int
    end: int
    exact: bool = True


_BOX = re.compile(r"\\(boxed|fbox)\s{0,3}\{")
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_HASH = re.compile(r"####(?!#)[ \t]*([^\n]*)")
_A_LINE = re.compile(r"\n[ \t]*A:([^\n]*)")
_A_FIRST = re.compile(r"[ \t]*A:([^\n]*)")
_JSON = re.compile(rf'[{{,]\s*"(?:{"|".join(JSON_KEYS)})"\s*:\s*')
_JSON_NUMBER = re.compile(r"-?[\d.,]*\d(?:[eE][+-]?\d+)?")
_JSON_STRING = re.compile(r'"((?:[^"\\]|\\.)*+)("?)', re.DOTALL)
_JSON_LIST = re.compile(r"\[[^\[\]{}]*\]|\{[^\[\]{}]*\}")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_HEADING = re.compile(r"[A-Z][a-z]{2,}\b(?!.*\\boxed)")

TRIGGERS = (
    "answer", "choice", "option", "antwort", "réponse", "reponse", "respuesta", "risposta", "ответ",
    *CJK_WORDS,
)  # fmt: skip
"""Every phrase begins with one of these, in lower case."""
_LINK = "|".join(LINKS)
_PHRASE = re.compile(
    rf"(?<![^\W_])(?:{'|'.join(ANSWER_WORDS)})(?![^\W_])[*_\"”’)\]`]{{0,4}}"
    r"(?:[ \t]{1,2}to (?:the|this) (?:question|problem|exercise))?(?:[ \t]?\([^()\n]{0,40}\))?"
    rf"[ \t]{{0,4}}(?:[:=]|(?:{_LINK})(?![^\W_])(?:[ \t]?:)?)"
    rf"|(?:{'|'.join(CJK_WORDS)})[ \t]{{0,2}}(?:[:=]|(?:是|为|為|は)[:]?)",
    re.IGNORECASE,
)
_ADJECTIVES = re.compile(
    r"(?:(?<![^\W_])(?:so|and|the|my|final|correct|best|right)[ \t*_]{1,4})+$", re.IGNORECASE
)
_LETTER_LINE = re.compile(
    r"^[ \t*_#>]{0,8}(?:final[ \t])?answer[*_]{0,3}[ \t]?:([^\n]*)", re.IGNORECASE | re.MULTILINE
)


def markers(text: str, *, a_lines: bool, words: bool = False) -> list[Marker]:
    r"""All marked answers of a text, by the end of their payloads.

    A phrase whose payload holds a box or a JSON value is no marker beside it.

    >>> [m.payload for m in markers("The answer is 5. \\boxed{7}\n#### 8", a_lines=True)]
    ['7', '8']
    """
    found = list(strict_markers(text, a_lines=a_lines, words=words))
    starts = sorted(m.start for m in found)
    found += [p for p in phrases(text) if not _holds(p, starts)]
    if len(found) > 1:
        found.sort(key=lambda m: (m.end, m.start))
    return found


def strict_markers(text: str, *, a_lines: bool, words: bool = False) -> Iterator[Marker]:
    """Boxes, ``####`` lines, JSON values and, where the kind has them, ``A:`` lines.

    Where answers are no ``words``, a ``####`` line that begins with one is a heading.
    """
    if "boxed" in text or "\\fbox" in text:
        yield from boxes(text)
    if "####" in text:
        yield from (m for m in _lines("####", _HASH, text) if words or not _is_heading(m))
    if a_lines and "A:" in text:
        if (m := _A_FIRST.match(text)) is not None:
            yield Marker("A:", True, m[1], m.start(1), m.end(1))  # noqa: FBT003 - a field
        yield from _lines("A:", _A_LINE, text)
    if "{" in text and '"' in text:
        yield from json_values(text)


def letter_lines(text: str) -> Iterator[Marker]:
    """Lines ``Answer: X``."""
    yield from _lines("Answer:", _LETTER_LINE, text)


def boxes(text: str) -> Iterator[Marker]:
    """The outermost boxes with balanced braces; one that stays open has no payload."""
    first = _BOX.search(text)
    if first is None:
        return
    closed: dict[int, int] = {}
    stack: list[int] = []
    for m in _BRACES.finditer(text, first.start() + 1):
        sign = m.group()
        if sign == "{":
            stack.append(m.start())
        elif sign == "}" and stack:
            closed[stack.pop()] = m.start()
    at = 0
    while (box := _BOX.search(text, at)) is not None:
        end = closed.get(box.end() - 1)
        if end is None:
            yield Marker(box[1], True, None, box.end(), box.end())  # noqa: FBT003 - a field
            at = box.end()
        else:
            yield Marker(box[1], True, text[box.end() : end], box.end(), end)  # noqa: FBT003 - as above
            at = end


def json_values(text: str) -> Iterator[Marker]:
    """Values of answer keys in JSON objects; one that is cut off has no payload."""
    at = 0
    while m := _JSON.search(text, at):
        found, at = _json_value(text, m.end())
        if found is not None:
            yield found


def _json_value(text: str, at: int) -> tuple[Marker | None, int]:  # noqa: PLR0911 - cases in order
    """The value that begins at an offset, and where to go on."""
    if at == len(text):
        return Marker("json", True, None, at, at), at  # noqa: FBT003 - a field
    if (m := _JSON_STRING.match(text, at)) is not None:
        if not m[2]:
            return Marker("json", True, None, at, at), m.end()  # noqa: FBT003 - as above
        value = _decoded(m[1])
        marker = Marker("json", True, value, m.start(1), m.end(1), value == m[1])  # noqa: FBT003 - as above
        return marker, m.end()
    if m := (_JSON_NUMBER.match(text, at) or _JSON_LIST.match(text, at)):
        if m.end() == len(text):
            return Marker("json", True, None, at, at), m.end()  # noqa: FBT003 - as above
        value = m.group()
        if value[0] == "[":
            value = value.replace('"', "")
        return Marker("json", True, value, m.start(), m.end(), value == m.group()), m.end()  # noqa: FBT003 - as above
    if text[at] in "[{" and "\n" not in text[at:]:
        return Marker("json", True, None, at, at), at  # noqa: FBT003 - as above
    return None, at


def _decoded(inner: str) -> str:
    r"""A JSON string's value; one with commands such as ``\\frac`` bare in it is kept as it is."""
    if "\\" not in inner:
        return inner
    try:
        value = json.loads(f'"{inner}"', strict=False)
    except ValueError:
        return inner.replace("\\\\", "\\")
    if _CONTROL.search(value) or re.search(r"\\[tnr][a-z]", inner):
        return inner.replace("\\\\", "\\")
    return str(value)


def _lines(sort: str, pattern: re.Pattern[str], text: str) -> Iterator[Marker]:
    for m in pattern.finditer(text):
        if sort == "####" and text[m.start() - 1 : m.start()] == "#":
            continue
        yield Marker(sort, True, m[1], m.start(1), m.end(1))  # noqa: FBT003 - a field


def _phrases(text: str) -> Iterator[re.Match[str]]:
    """Matches of the phrase, tried only where one of its words stands."""
    low = text.lower()
    if len(low) != len(text):  # few letters change their length: offsets would be wrong
        yield from _PHRASE.finditer(text)
        return
    last = 0
    for at in sorted(at for word in TRIGGERS if word in low for at in _places(low, word)):
        if at >= last and (m := _PHRASE.match(text, at)) is not None:
            yield m
            last = m.end()


def _places(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def _is_heading(marker: Marker) -> bool:
    return _HEADING.match(marker.payload or "") is not None


def phrases(text: str) -> Iterator[Marker]:
    """Phrases such as ``the answer is``, each with the rest of its line or the next one."""
    found = list(_phrases(text))
    for i, m in enumerate(found):
        limit = found[i + 1].start() if i + 1 < len(found) else len(text)
        start, end = _payload(text, m.end(), limit)
        if end == limit and end < len(text):
            end -= _adjectives(text[max(start, end - 64) : end])
        yield Marker("phrase", False, text[start:end], start, end)  # noqa: FBT003 - a field


def _holds(phrase: Marker, starts: list[int]) -> bool:
    """Whether one of some sorted offsets lies in a phrase's payload."""
    at = bisect_left(starts, phrase.start)
    return at < len(starts) and starts[at] < phrase.end


def _adjectives(text: str) -> int:
    """How much of the end belongs to the phrase that follows."""
    m = _ADJECTIVES.search(text)
    return len(m.group()) if m else 0


def _payload(text: str, start: int, limit: int) -> tuple[int, int]:
    """The rest of the line, or the next line with something in it where that is empty."""
    while True:
        end = text.find("\n", start, limit)
        if end < 0:
            return start, limit
        if CONTENT.search(text, start, end):
            return start, end
        start = end + 1
