"""What becomes of one text: a key, or no answer with its reason."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from trueness.table.answers import Outcome

UNIT = "unit"
FLAG = "flag"
"""Extras that an audit reads: the unit class of a key, and what was noticed about a row."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """What became of one text.

    Parameters
    ----------
    outcome : Outcome
    key : str or None
        Canonical key; None unless ``outcome`` is ``answered``.
    unit : str
        ``""``, ``%``, ``deg``, ``degC``, ``degF`` or an ISO currency.
    reason : str or None
        Why there is no answer; None when there is one.
    rule : str
        What decided: the sort of marker, or the rule for texts without one.
    span : (int, int) or None
        Where in the original text the answer stands.
    raw : str
        The text at ``span``.
    superseded : tuple of str
        Keys of earlier marked answers, in order.
    notes : tuple of str
        What was noticed on the way: unit words, ``approximate``, ``label_text_mismatch``.
    """

    outcome: Outcome
    key: str | None = None
    unit: str = ""
    reason: str | None = None
    rule: str = ""
    span: tuple[int, int] | None = None
    raw: str = ""
    superseded: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Found(NamedTuple):
    """What a part of a text yields: a key, or with ``key`` None a definite no-answer.

    ``start`` and ``end`` are offsets into the part that was looked at.
    """

    key: str | None
    start: int
    end: int
    unit: str = ""
    reason: str | None = None
    notes: tuple[str, ...] = ()


def moved(found: Found, by: int) -> Found:
    """The same find, seen from a text in which the part begins at ``by``."""
    return found._replace(start=found.start + by, end=found.end + by)


class Rules(Protocol):
    """What a kind of answer must be able to read."""

    def strict(self, payload: str, *, box: bool = False) -> Found | None:
        """What a payload yields that must be used up."""

    def phrase(self, payload: str) -> Found | None:
        """What the payload of a phrase yields."""

    def literal(self, line: str) -> Found | None:
        """What a line yields that is nothing but an answer."""
