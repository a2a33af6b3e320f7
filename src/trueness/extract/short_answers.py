"""Short answers: the whole text, or its first words, as one key."""

import hashlib
import re
from collections.abc import Callable
from typing import Literal

from trueness.contract.serial import Json, canonical
from trueness.extract import refusals, short
from trueness.extract.result import Extraction
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
_ABBREVIATED = re.compile(
    r"\b(?:[A-Z]|st|ste|mt|ft|dr|mr|mrs|ms|jr|sr|no|vs|ca|p|pp|prof|gen|col|capt|lt|sgt|rev|gov|sen"
    r"|pres|co|inc|ltd|corp|bros|approx|nr|pt|sta|sto|mme|mlle)$",
    re.IGNORECASE,
)
"""A stop after one of these ends no sentence: "St. Louis" and "St. Paul" are two answers."""
_GOES_ON = re.compile(
    r"(?:because|since|which|where|it|its|it's|this|that|these|those|the|so|and|but|there|he|she"
    r"|they|we|in|as|for|question|answer)(?=[\s,'’]|$)",
    re.IGNORECASE,
)
"""Words that begin a sentence and no second half of a name: "K. Because" ends at the stop."""
_LONGEST = 8
_STOPS = ".!?"
"""What is left of an ellipsis before the cut; the key drops it too."""
_LINE = re.compile(r"[\n\r\x0b\x0c\x85\u2028\u2029]")


def short_answer(text: str, *, kind: Kind, fold_case: bool = True) -> Extraction:
    """The result of one completion by the rules of a short kind.

    >>> short_answer("Paris. It is", kind="short_cut").key
    'paris'
    """
    if reason := _reason(text, kind):
        refused = reason == "refusal"
        outcome = Outcome.REFUSED if refused else Outcome.NO_ANSWER
        return Extraction(outcome, reason=reason)
    raw, start = text, 0
    if kind == "short_cut":
        raw, start = cut(text), len(text) - len(text.lstrip())
    key = short.short_key(raw, fold_case=fold_case)
    return Extraction(Outcome.ANSWERED, key, span=(start, start + len(raw)), raw=raw, rule=kind)


def cut(text: str) -> str:
    """A text up to its first line end, then up to the first comma or sentence end.

    A comma between a digit and exactly three more groups a number and ends nothing.

    >>> cut("Paris. It is"), cut("Lima, in Peru"), cut("1,234 people"), cut("St. Louis. Yes")
    ('Paris', 'Lima', '1,234 people', 'St. Louis')
    """
    line = _LINE.split(text.lstrip(), maxsplit=1)[0]
    end = _first(_END, line)
    return line[:end].rstrip(_STOPS) if end < len(line) else line


def _first(ends: re.Pattern[str], line: str) -> int:
    """Where the first of some ends stands that is no stop of an abbreviation."""
    for m in ends.finditer(line):
        at = m.start()
        after = line[at + 1 :].strip()
        is_stop = (
            line[at] == "."
            and after
            and not _GOES_ON.match(after)
            and _ABBREVIATED.search(line[max(0, at - _LONGEST) : at])
        )
        if not is_stop:
            return at
    return len(line)


def key_rule(kind: Kind = "short", *, fold_case: bool = True) -> TextRule:
    """From a completion to its key: None where there is no answer."""
    base = short.short_rule(fold_case=fold_case)
    return TextRule(_key(kind, fold_case), _plain(kind), base.key)


def reason_rule(kind: Kind = "short") -> TextRule:
    """From a completion to the reason why it holds no answer: None where it holds one."""
    return TextRule(lambda text: _reason(text, kind), _plain(kind), "NULL")


def short_name(kind: Kind = "short", *, fold_case: bool = True) -> str:
    """Name, version and hash of the rules: ``name@version+hash``.

    >>> short_name().partition("@")[0]
    'short'
    """
    rules: dict[str, Json] = {
        "kind": kind,
        "fold_case": fold_case,
        "stops": short.STOPS,
        "quotes": [*sorted(short.QUOTES)],
        "invisible": [*sorted(short.INVISIBLE)],
        "refusal": list(refusals.REFUSAL_PHRASES),
        "declining": list(refusals.DECLINING_PHRASES),
        "cut": [_SENTENCE.pattern, _END.pattern, _LINE.pattern],
    }
    if kind == "short_cut":
        rules["abbreviated"] = [_ABBREVIATED.pattern, _GOES_ON.pattern]
    digest = hashlib.sha256(canonical(rules).encode()).hexdigest()[:12]
    return f"{kind}@{VERSION}+{digest}"


def _reason(text: str, kind: Kind) -> str | None:
    if kind == "short_cut":
        line = _LINE.split(text.lstrip(), maxsplit=1)[0]
        phrase, answer = line[: _first(_SENTENCE, line)], cut(text)
    else:
        phrase = answer = text
    if short.short_key(answer) is None:
        return "empty"
    return refusals.refusal_in(phrase)


def _key(kind: Kind, fold_case: bool) -> Callable[[str], str | None]:  # noqa: FBT001 - private
    def key(text: str) -> str | None:
        if _reason(text, kind) is not None:
            return None
        return short.short_key(cut(text) if kind == "short_cut" else text, fold_case=fold_case)

    return key


def _plain(kind: Kind) -> str:
    plain = f"({short.SQL_PLAIN} AND NOT {refusals.SQL_TRIGGER})"
    if kind == "short":
        return plain
    return f"({plain} AND NOT regexp_matches({short.SQL_CORE}, '[.,!?]'))"
