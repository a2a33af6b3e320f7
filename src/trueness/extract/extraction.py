"""One text to one result: a key, or no answer with its reason. Any text has exactly one."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from trueness.contract.errors import InputError
from trueness.contract.serial import canonical
from trueness.extract import refusals, short
from trueness.table.answers import Outcome
from trueness.table.column import TextRule

Kind = Literal["short", "short_cut"]
KINDS: tuple[Kind, ...] = ("short", "short_cut")
"""``short`` takes the whole text; ``short_cut`` what stands before the first line end, comma or
sentence end."""

VERSION = 1
"""Raised with every change of a rule or of a phrase."""

_SENTENCE = re.compile(r"[.!?](?=\s|$)|[。！？]")
_END = re.compile(_SENTENCE.pattern + r"|(?<!\d),|,(?!\d{3}(?!\d))|[，、]")
_STOPS = ".!?"
"""What is left of an ellipsis before the cut; the key drops it too."""
_LINE = re.compile(r"[\n\r\x0b\x0c\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Extraction:
    """What became of one text.

    ``key`` is None unless ``outcome`` is ``answered``; ``reason`` is None when it is. ``raw`` is
    the part of the text that the key was made from.
    """

    outcome: Outcome
    key: str | None
    reason: str | None
    raw: str


def extract(text: str | None, *, kind: Kind = "short", fold_case: bool = True) -> Extraction:
    """The result of one completion.

    Parameters
    ----------
    text : str or None
        None is missing data (``error``), blank text is an answer of the model (``no_answer``).
    kind : {"short", "short_cut"}
        What part of the text is the answer.
    fold_case : bool
        Whether upper and lower case are one key.

    Raises
    ------
    InputError
        For a kind that is not known.

    Examples
    --------
    >>> extract("Paris. It is", kind="short_cut").key
    'paris'
    >>> extract("I don't know").reason, extract("").reason, extract(None).reason
    ('declined', 'empty', 'missing_completion')
    """
    check_kind(kind)
    if text is None:
        return Extraction(Outcome.ERROR, None, "missing_completion", "")
    if reason := _reason(text, kind):
        refused = reason == "refusal"
        return Extraction(Outcome.REFUSED if refused else Outcome.NO_ANSWER, None, reason, "")
    raw = cut(text) if kind == "short_cut" else text
    return Extraction(Outcome.ANSWERED, short.short_key(raw, fold_case=fold_case), None, raw)


def cut(text: str) -> str:
    """A text up to its first line end, then up to the first comma or sentence end.

    A comma between a digit and exactly three more groups a number and ends nothing.

    >>> cut("Paris. It is"), cut("Lima, in Peru"), cut("1,234 people")
    ('Paris', 'Lima', '1,234 people')
    """
    line = _LINE.split(text.lstrip(), maxsplit=1)[0]
    end = _END.search(line)
    return line[: end.start()].rstrip(_STOPS) if end else line


def key_rule(kind: Kind = "short", *, fold_case: bool = True) -> TextRule:
    """From a completion to its key: None where there is no answer."""
    base = short.short_rule(fold_case=fold_case)
    return TextRule(_key(kind, fold_case), _plain(kind), base.key)


def reason_rule(kind: Kind = "short") -> TextRule:
    """From a completion to the reason why it holds no answer: None where it holds one."""
    return TextRule(lambda text: _reason(text, kind), _plain(kind), "NULL")


def extractor_name(kind: Kind = "short", *, fold_case: bool = True) -> str:
    """Name, version and hash of the rules: ``name@version+hash``.

    >>> extractor_name().partition("@")[0]
    'short'
    """
    check_kind(kind)
    rules = {
        "kind": kind,
        "fold_case": fold_case,
        "stops": short.STOPS,
        "quotes": sorted(short.QUOTES),
        "invisible": sorted(short.INVISIBLE),
        "refusal": list(refusals.REFUSAL_PHRASES),
        "declining": list(refusals.DECLINING_PHRASES),
        "cut": [_SENTENCE.pattern, _END.pattern, _LINE.pattern],
    }
    digest = hashlib.sha256(canonical(rules).encode()).hexdigest()[:12]
    return f"{kind}@{VERSION}+{digest}"


def check_kind(kind: str) -> None:
    """Raise `InputError` unless the kind of answer is known."""
    if kind not in KINDS:
        msg = f"kind is {kind!r}; known are {', '.join(map(repr, KINDS))}. Name one of these."
        raise InputError(msg)


def _reason(text: str, kind: Kind) -> str | None:
    if kind == "short_cut":
        line = _LINE.split(text.lstrip(), maxsplit=1)[0]
        phrase, answer = _SENTENCE.split(line, maxsplit=1)[0], cut(text)
    else:
        phrase = answer = text
    if short.short_key(answer) is None:
        return "empty"
    return refusals.refusal_in(phrase)


def _key(kind: Kind, fold_case: bool) -> Callable[[str], str | None]:  # noqa: FBT001 - private
    return lambda text: extract(text, kind=kind, fold_case=fold_case).key


def _plain(kind: Kind) -> str:
    plain = f"({short.SQL_PLAIN} AND NOT {refusals.SQL_TRIGGER})"
    if kind == "short":
        return plain
    return f"({plain} AND NOT regexp_matches({short.SQL_CORE}, '[.,!?]'))"
