"""Texts made comparable before they are read, with the way back to every original offset."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
VULGAR = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞↉"
DROPPED = "\u200b\u2060\ufeff\u00ad\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Zero-width space, word joiner, byte order mark, soft hyphen, direction marks."""
SINGLE = {"\u066b": ".", "\u066c": ",", "\u2212": "-", "\ufe63": "-", "\u2044": "/"}

_EDIT = re.compile(
    rf"(?P<line>\r\n?)|(?P<power>[⁰¹²³⁴-⁹⁺⁻]+)|(?P<vulgar>[{VULGAR}])|(?P<dropped>[{DROPPED}]+)"
    r"|(?P<wide>[\uff01-\uff5e]+)|(?P<digits>[^\D0-9]+)|(?P<single>[\u066b\u066c\u2212\ufe63\u2044])"
    r"|(?P<dash>–(?=[$€£¥]?\.?\d))"
)
_NUMERIC = re.compile(r"[\d)%}°]\s{0,3}$")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A text and, through `span`, where each part of it stood in the original.

    Parameters
    ----------
    text : str
        After the edits.
    original : str
    edits : tuple of layers
        From the last layer to the first.
    """

    text: str
    original: str
    edits: tuple["Edits", ...] = ()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Offsets into the original text."""
        for layer in self.edits:
            start, end = layer.start(start), layer.end(end)
        return start, max(start, end)

    def without(self, regions: Iterable[tuple[int, int]]) -> "Prepared":
        """The text with some regions, given in order, taken out."""
        return _edited(self, [(start, end, "") for start, end in regions])


class Edits:
    """Replaced parts of one text: where they stood and where they stand."""

    __slots__ = ("_new_end", "_new_start", "_old_end", "_old_start")

    def __init__(self, parts: Iterable[tuple[int, int, int, int]]) -> None:
        rows = list(parts)
        self._new_start, self._new_end, self._old_start, self._old_end = (
            [row[i] for row in rows] for i in range(4)
        )

    def start(self, at: int) -> int:
        """Where a part that begins here began before."""
        i = bisect_right(self._new_start, at) - 1
        if i < 0:
            return at
        if at < self._new_end[i]:
            return self._old_start[i]
        return self._old_end[i] + at - self._new_end[i]

    def end(self, at: int) -> int:
        """Where a part that ends here ended before."""
        i = bisect_left(self._new_end, at)
        if i < len(self._new_end) and at > self._new_start[i]:
            return self._old_end[i]
        return at if not i else self._old_end[i - 1] + at - self._new_end[i - 1]


def prepare(text: str) -> Prepared:
    r"""A text with one spelling of line ends, digits, signs, powers and fractions.

    Line ends become ``\n``; invisible characters and direction marks go; full-width forms and
    all decimal digits become ASCII; minus signs become ``-``; superscripts become ``^n`` and
    vulgar fractions `` n/d``. Nothing else is normalised: NFKC would make 102 of 10².

    >>> prepare("10² − ２½\r\n").text
    '10^2 - 2 1/2\n'
    """
    if text.isascii() and "\r" not in text:
        return Prepared(text, text)
    edits = [
        (m.start(), m.end(), new)
        for m in _EDIT.finditer(text)
        if (new := _replacement(m, text)) is not None
    ]
    return _edited(Prepared(text, text), edits)


def escaped(key: str) -> str:
    r"""A key without lone surrogates: each becomes its escape.

    >>> escaped("a\ud800")
    'a\\ud800'
    """
    if key.isascii():
        return key
    return key.encode("utf-8", "backslashreplace").decode("utf-8")


def _replacement(m: re.Match[str], text: str) -> str | None:  # noqa: PLR0911 - cases in order, each with its result
    """What a matched part becomes; None to leave it."""
    found = m.group()
    match m.lastgroup:
        case "line":
            return "\n"
        case "dropped":
            return ""
        case "wide":
            return "".join(chr(ord(c) - 0xFEE0) for c in found)
        case "digits":
            return "".join(str(unicodedata.decimal(c)) for c in found)
        case "single":
            return SINGLE[found]
        case "power":
            return _power(found.translate(SUPERSCRIPTS), text[m.end() : m.end() + 1])
        case "vulgar":
            return _fraction(found, text[m.start() - 1 : m.start()], text[m.end() : m.end() + 1])
        case _:
            before = text[max(0, m.start() - 4) : m.start()]
            return None if _NUMERIC.search(before) else "-"


def _power(exponent: str, after: str) -> str | None:
    if not exponent.lstrip("+-").isdigit():
        return None
    return f"^{exponent}" if len(exponent) == 1 and not after.isdigit() else f"^{{{exponent}}}"


def _fraction(sign: str, before: str, after: str) -> str:
    plain = unicodedata.normalize("NFKC", sign).replace("\u2044", "/")
    return f"{' ' * before.isdigit()}{plain}{' ' * after.isdigit()}"


def _edited(base: Prepared, edits: list[tuple[int, int, str]]) -> Prepared:
    if not edits:
        return base
    pieces: list[str] = []
    parts: list[tuple[int, int, int, int]] = []
    old = new = 0
    for start, end, text in edits:
        pieces += (base.text[old:start], text)
        new += start - old
        parts.append((new, new + len(text), start, end))
        new += len(text)
        old = end
    pieces.append(base.text[old:])
    return Prepared("".join(pieces), base.original, (Edits(parts), *base.edits))
