"""Text answers: one spelling of case, white space and wrapping. Diacritics stay."""

import re
import unicodedata

from trueness.extract.refusals import refusal_in
from trueness.extract.result import Found
from trueness.extract.wrappers import CONTENT, inner_texts, unwrapped

LONGEST = 200
"""An unmarked text longer than this is no answer."""
_STOPS = ".,;:!?…。！？，、"
_ARTICLE = re.compile(r"(?:a|an|the) (?=\S)")
_SENTENCE = re.compile(
    r"(?<!\b[A-Z])(?<!\bSt)(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bJr)(?<!\bSr)(?<!\bMt)"
    r"(?<!\bvs)(?<!\bNo)[.!?](?=[*_\"'”’)\]]*\s+[A-Z\"“(*]|[*_\"'”’)\]]*\s*$)|[。！？]"
)
_TAIL = re.compile(
    r"(?:,\s*(?:which|where|since|because|rather|instead|not)|\sbecause)(?![^\W_])", re.IGNORECASE
)
_EMPTY_WORDS = frozenset(
    {"correct", "right", "wrong", "incorrect", "as follows", "shown below", "given below", "below"}
)


def text_key(text: str) -> str | None:
    """The normalised text; None when nothing is left of it.

    NFC, never NFKC; case folded; white space collapsed; quotes, brackets, emphasis and punctuation
    off the ends; one leading article off.

    >>> text_key(" “The  PARIS” ."), text_key("Peru\u0301"), text_key("...")
    ('paris', 'per\u00fa', None)
    """
    text = unicodedata.normalize("NFC", text).casefold()
    text = " ".join(unicodedata.normalize("NFC", text).split())
    text = _stripped(text)
    if m := _ARTICLE.match(text):
        text = _stripped(text[m.end() :])
    return text or None


def _stripped(text: str) -> str:
    return unwrapped(text.lstrip(_STOPS), stops=_STOPS).lstrip(_STOPS + " ")


class Texts:
    """Rules for text answers."""

    def strict(self, payload: str, *, box: bool = False) -> Found | None:  # noqa: ARG002 - one signature for all kinds
        """The whole payload."""
        if CONTENT.search(payload) is None:
            return None
        plain = inner_texts(payload).strip()
        if phrase := refusal_in(plain):
            return Found(None, 0, len(payload), reason=phrase)
        key = text_key(plain)
        start = len(payload) - len(payload.lstrip())
        return None if key is None else Found(key, start, len(payload.rstrip()))

    def phrase(self, payload: str) -> Found | None:
        """The payload up to the end of its sentence.

        >>> Texts().phrase(" Paris, because it is large. Yes.").key
        'paris'
        """
        end = len(payload)
        if m := _SENTENCE.search(payload):
            end = m.start()
        if m := _TAIL.search(payload, 0, end):
            end = m.start()
        found = self.strict(payload[:end])
        return None if found is not None and found.key in _EMPTY_WORDS else found

    def literal(self, line: str) -> Found | None:
        """A text of one line that is not too long."""
        return self.strict(line) if len(line) <= LONGEST else None
