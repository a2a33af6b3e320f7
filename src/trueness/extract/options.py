r"""Options: which label a text settles on. No letter of a word or a formula is a label."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from string import ascii_uppercase

from trueness.extract.cutting import cut_at
from trueness.extract.refusals import refusal_in
from trueness.extract.result import Found
from trueness.extract.texts import text_key
from trueness.extract.wrappers import inner_texts, unwrapped

UNKNOWN_LABELS = ("A", "B", "C", "D")
_MATH_COMMAND = re.compile(
    r"\\(?!text|math|bf|rm|boxed|fbox|left|right|quad|displaystyle)[A-Za-z]+"
)
_WRAPPER = r"(?:[\s*_`$\"'“”‘’(\[{<:]|\\[(\[]|\\(?:boxed|fbox|text\w*|math\w*)\s?\{)"
_LEADING = re.compile(
    rf"{_WRAPPER}*+(?:(?:the\s+)?(?:option|choice|letter|answer)(?![^\W_]){_WRAPPER}++)?",
    re.IGNORECASE,
)
_ARTICLES = frozenset("AI")
_LOWER_WORD = re.compile(
    r"[*_]{0,2}\s+(?!(?:because|since|as|due|which|and|or|is|was)(?![^\W_]))[a-z]"
)
_JOIN = re.compile(
    r"[\s*_).\]}$:]*+(?:(?:and/or|or|and|&)(?![^\W_])|[,/&+])[\s*_(\[{$]*+(?:option\s)?",
    re.IGNORECASE,
)
_SINGLE = re.compile(r"([A-Z])(?![^\W_])")
_DELIMITER = re.compile(r"[\s*_}$\"']*+[).:\]\-–—]+[\s*_]*+|[\s*_}$]++")
_CLOSERS = r"(?:[\s*_`$\"'”’)\]}>.,:;!]|\\[)\]])*+"


class Options:
    """Rules for options with given labels and texts.

    Parameters
    ----------
    labels : sequence of str or None
        By default as many letters as there are choices, A to D if these are unknown.
    choices : sequence of str or None
        Texts of the options.
    by_text : bool
        Keys are the texts of the options.
    """

    def __init__(
        self,
        labels: Sequence[str] | None = None,
        choices: Sequence[str] | None = None,
        *,
        by_text: bool = False,
    ) -> None:
        self.labels = tuple(labels) if labels else _labels(choices)
        self.texts = {} if not choices else _by_text(self.labels, choices)
        self._keys = {label: label for label in self.labels}
        if by_text and choices:
            pairs = zip(self.labels, choices, strict=False)
            self._keys = {label: shown_option(text) or label for label, text in pairs}
        any_of = "|".join(re.escape(x) for x in sorted(self.labels, key=len, reverse=True))
        self._label = re.compile(rf"(?<![^\W_])(?:{any_of})(?![^\W_])(?!['’][a-z])")
        self._at = re.compile(rf"({any_of})(?![^\W_])(?!['’][a-z])")
        self._whole = re.compile(rf"{_LEADING.pattern}({any_of}){_CLOSERS}", re.IGNORECASE)
        self._delimited = re.compile(
            rf"\(({any_of})\)|\*\*\(?({any_of})[).:]?\*\*|(?<![^\W_])({any_of})(?:[).:](?=\s|[*_]|$))"
        )

    def strict(self, payload: str, *, box: bool = False) -> Found | None:  # noqa: ARG002 - one signature for all kinds
        """The option of a box, a JSON value or an answer line."""
        return self.phrase(payload)

    def phrase(self, payload: str) -> Found | None:  # noqa: PLR0911 - cases in order, each with its result
        """The option of a payload.

        >>> Options().phrase(" **(C)** because it moves").key, Options().phrase(" A car moves")
        ('C', None)
        >>> Options().phrase(" A or B").reason, Options().phrase(" F").reason
        ('ambiguous', 'out_of_range')
        """
        text = payload[: cut_at(payload)]
        if not text.strip(" *_"):
            return None
        if (m := self._whole.fullmatch(text)) is not None:
            return self._found(m[1], m.start(1), m.end(1))
        if found := self._of_text(payload, text):
            return found
        if _MATH_COMMAND.search(text):
            return None
        lead = _LEADING.match(text)
        at = lead.end() if lead else 0
        if (m := self._at.match(text, at)) is not None and not _is_word(text, m):
            return self._led(text, m)
        if phrase := refusal_in(text):
            return Found(None, 0, len(text), reason=phrase)
        return self._within(text) or self._outside(text, at)

    def _led(self, text: str, m: re.Match[str]) -> Found:
        """A label straight after the marker: it leads, unless it is joined to another."""
        join = _JOIN.match(text, m.end())
        other = self._at.match(text, join.end()) if join else None
        if other is not None and other[1] != m[1] and not _is_word(text, other):
            return Found(None, m.start(), other.end(), reason="ambiguous")
        found = self._found(m[1], m.start(), m.end())
        delimiter = _DELIMITER.match(text, m.end())
        said = text_key(text[delimiter.end() :]) if delimiter else None
        other_label = self.texts.get(said or "")
        if other_label is not None and other_label != m[1]:
            return found._replace(notes=("label_text_mismatch",))
        return found

    def _of_text(self, payload: str, text: str) -> Found | None:
        """The one option whose text is what the payload says."""
        if not self.texts:
            return None
        for part in (payload, text):
            label = self.texts.get(text_key(inner_texts(part)) or "")
            if label is not None:
                start = len(part) - len(part.lstrip())
                return self._found(label, start, len(part.rstrip()))
        return None

    def _outside(self, text: str, at: int) -> Found | None:
        """A single letter that is no label."""
        m = _SINGLE.match(text, at)
        if m is None or m[1] == "I" or m[1] in self.labels or _LOWER_WORD.match(text, m.end()):
            return None
        return Found(None, m.start(), m.end(), reason="out_of_range")

    def _within(self, text: str) -> Found | None:
        """The only label in a payload that does not begin with one."""
        found = list(self._bare(text))
        return self._only(found) if found else None

    def literal(self, line: str) -> Found | None:
        """The option of a line that is nothing but a label, or an option's text."""
        if len(line) > 1000:  # noqa: PLR2004 - longer than any option
            return None
        if (m := self._whole.fullmatch(line)) is not None:
            return self._found(m[1], m.start(1), m.end(1))
        return self._of_text(line, line)

    def candidates(self, text: str) -> Found | None:
        """The only label with a delimiter, else the only bare one; ``ambiguous`` for several."""
        delimited = [
            (m[i], m.start(i), m.end(i))
            for m in self._delimited.finditer(text)
            for i in (m.lastindex or 1,)
        ]
        found = delimited or list(self._bare(text))
        return self._only(found) if found else None

    def _bare(self, text: str) -> Iterator[tuple[str, int, int]]:
        for m in self._label.finditer(text):
            if not _is_word(text, m):
                yield m.group(), m.start(), m.end()

    def _only(self, found: list[tuple[str, int, int]]) -> Found:
        label, start, end = found[-1]
        if any(other != label for other, _, _ in found):
            return Found(None, found[0][1], end, reason="ambiguous")
        return self._found(label, start, end)

    def _found(self, label: str, start: int, end: int) -> Found:
        if label not in self._keys:
            label = next(x for x in self.labels if x.lower() == label.lower())
        return Found(self._keys[label], start, end)


def _labels(choices: Sequence[str] | None) -> tuple[str, ...]:
    if not choices:
        return UNKNOWN_LABELS
    n = len(choices)
    if n <= len(ascii_uppercase):
        return tuple(ascii_uppercase[:n])
    return tuple(str(i + 1) for i in range(n))


def _by_text(labels: Sequence[str], choices: Sequence[str]) -> dict[str, str]:
    """Labels by normalised text, without texts that several options share."""
    found: dict[str, str | None] = {}
    for label, choice in zip(labels, choices, strict=False):
        key = text_key(choice)
        if key is not None:
            found[key] = None if key in found else label
    return {key: label for key, label in found.items() if label is not None}


def shown_option(text: str) -> str:
    """An option's text as a key: white space and wrapping normalised, case kept.

    >>> shown_option(" **Rome** ")
    'Rome'
    """
    return unwrapped(" ".join(unicodedata.normalize("NFC", text).split()))


def _is_word(text: str, m: re.Match[str]) -> bool:
    """Whether a label is the article or the pronoun: ``A car``, ``I think``."""
    return m.group() in _ARTICLES and _LOWER_WORD.match(text, m.end()) is not None
