"""Answers of any kind: numbers first, then tuples and sets, then text in a marked payload."""

import re
from collections.abc import Iterator

from trueness.extract.cutting import cut_at
from trueness.extract.members import Members
from trueness.extract.number_payloads import Numbers
from trueness.extract.result import Found
from trueness.extract.texts import Texts
from trueness.extract.wrappers import inner_texts, unwrapped

_SYMBOLS = re.compile(r"[\d\\^_+*/=<>|]")
_NAMED = re.compile(r"(?<![^\W_])[A-Z][^\W\d_]+[ -]\Z")
"""A capitalised word straight before a number makes a name of both: ``Apollo 11``."""
_NAME = re.compile(r"\s*(?:[A-Z][^\W\d_]+[ -]){1,6}\d+[\s.]*")
_LETTER = re.compile(
    r"(?:\s|[*_(\[\"'“”‘’`])*(?:(?i:the\s)?(?i:option|choice|answer)\s+)?(?:[*_(\[\"'“‘`])*([A-Za-z])"
    r"(?:(?:\s|[*_)\].,:;!?\"'”’`])*|(?:\*\*)?\)(?:\*\*)?\s+\S.*)",
    re.DOTALL,
)
"""A letter, alone, as a named option, or before the text of its option: ``B) Paris``."""
_LABEL = re.compile(r"[\s*_(\[]*([A-Z])[\s*_)\].]*")


class Mixed:
    """Rules for the kind ``auto``."""

    def __init__(self, numbers: Numbers, members: Members) -> None:
        self._numbers, self._members, self._texts = numbers, members, Texts()

    def strict(self, payload: str, *, box: bool = False) -> Found | None:
        """A number, tuple or set; else words are a text and everything else an expression."""
        found = self._numbers.strict(payload, box=box)
        if found is None or (found.key is not None and not found.key.startswith("t:")):
            return found
        if found.key is None and found.reason not in (None, "ambiguous"):
            return found
        if key := self._members.tuple_of(payload):
            return found._replace(key=key, reason=None)
        if found.key is None or payload.strip().startswith(("\\{", "{")):
            return self._set(payload, found)
        if _is_formula(unwrapped(inner_texts(payload))) or len(payload.strip(" .$")) == 1:
            return found
        return _as_letter(self._texts.strict(payload), inner_texts(payload))

    def phrase(self, payload: str) -> Found | None:
        """A number, tuple or set of a phrase; text has to wait until nothing else decides."""
        found = self._numbers.phrase(payload)
        if found is None or _NAMED.search(payload, 0, found.start):
            return None
        if _NAME.fullmatch(unwrapped(payload[: cut_at(payload)])):
            return None
        if found.reason != "ambiguous":
            return found
        text = payload[: cut_at(payload)]
        if key := self._members.tuple_of(text):
            return found._replace(key=key, reason=None)
        return self._set(text, found)

    def loose(self, payload: str) -> Found | None:
        """The text of a phrase, where no marked answer was anything else."""
        found = self._texts.phrase(payload)
        piece = "" if found is None else unwrapped(inner_texts(payload[: found.end]))
        if found is not None and found.key is not None and _is_formula(piece):
            inner = self._numbers.symbolic(piece)
            return inner and inner._replace(start=found.start, end=found.end)
        return _as_letter(found, payload)

    def literal(self, line: str) -> Found | None:
        """A line that is one number, one tuple or one capital letter."""
        if found := self._numbers.literal(line):
            return found
        if m := _LABEL.fullmatch(line):
            return Found(f"t:{m[1]}", m.start(1), m.end(1))
        key = self._members.tuple_of(line) if len(line) <= 4_000 else None  # noqa: PLR2004 - digits of a number
        return None if key is None else Found(key, 0, len(line.rstrip()))

    def alone(self, text: str) -> Iterator[Found]:
        """The numbers of a text; those that are a part of a formula or a name without a key."""
        if _NAME.fullmatch(text) is None:
            yield from self._numbers.alone(text)

    def _set(self, payload: str, found: Found) -> Found:
        key = self._members.set_of(payload)
        if key is None or ("; " not in key and "{" not in payload):
            return found
        return found._replace(key=key, reason=None)


def _is_formula(text: str) -> bool:
    """Whether a text without a number of its own holds signs, and is no name with a number.

    >>> _is_formula("AC/DC"), _is_formula("Apollo 11"), _is_formula("Paris")
    (True, False, False)
    """
    return _SYMBOLS.search(text) is not None and _NAME.fullmatch(text) is None


def _as_letter(found: Found | None, payload: str) -> Found | None:
    """A text that is one letter has the key of that letter in a box, however it is wrapped.

    >>> _as_letter(Found("option b", 0, 11), "(option B)").key
    't:B'
    """
    if found is None or found.key is None:
        return found
    m = _LETTER.fullmatch(payload, 0, found.end)
    return found if m is None else found._replace(key=f"t:{m[1]}")
