"""Results: an answer with its place in the original text, or why there is none."""

from trueness.extract.prepare import Prepared, escaped
from trueness.extract.refusals import refusal_in
from trueness.extract.result import Extraction, Found
from trueness.table.answers import Outcome


def answered(
    prepared: Prepared, found: Found, rule: str, older: tuple[str, ...] = ()
) -> Extraction:
    """The result of a part of a prepared text that holds a key."""
    start, end = prepared.span(found.start, found.end)
    return Extraction(
        Outcome.ANSWERED,
        escaped(found.key or ""),
        found.unit,
        None,
        rule,
        (start, end),
        prepared.original[start:end],
        older,
        found.notes,
    )


def unanswered(reason: str, *, rule: str = "", superseded: tuple[str, ...] = ()) -> Extraction:
    """The result of a text without an answer: its outcome follows from the reason.

    >>> str(unanswered("truncated").outcome), str(unanswered("ambiguous").outcome)
    ('truncated', 'no_answer')
    """
    outcome = Outcome.NO_ANSWER
    if reason == "refusal":
        outcome = Outcome.REFUSED
    elif reason == "truncated":
        outcome = Outcome.TRUNCATED
    return Extraction(outcome, reason=reason, rule=rule, superseded=superseded)


def without_answer(
    text: str, *, cut_off: bool, candidates: bool, phrase: str | None = None
) -> Extraction:
    """Why a text holds no answer."""
    phrase = phrase or refusal_in(text)
    if phrase == "refusal":
        return unanswered("refusal", rule="phrase")
    if cut_off:
        return unanswered("truncated")
    if phrase is not None:
        return unanswered(phrase, rule="phrase")
    return unanswered("ambiguous" if candidates else "no_candidate")
