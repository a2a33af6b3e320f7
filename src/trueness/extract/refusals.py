"""Phrases by which a model says that it will not, or that it cannot, give an answer.

They are looked for only where a text has no marked answer; for short answers that is the answer
itself. A phrase must be a whole statement of the model's, never a part of a name: "Unknown" is a
way of declining, "The Unknown Soldier" is an answer.
"""

import re
from typing import Literal

Refusal = Literal["refusal", "declined"]

_CANNOT = r"(?:can'?t|cannot|can not|won'?t|will not|(?:am|'m) (?:unable|not able) to)"
_HELP = r"(?:help|assist|comply|provide|do that|fulfil|fulfill)"
REFUSAL_PHRASES = (
    r"\bi(?:'m| am) sorry,? but i (?:can'?t|cannot|can not|am unable|am not able)\b",
    rf"\bi ?{_CANNOT} {_HELP}\b",
    r"\bas an ai\b",
)
DECLINING_PHRASES = (
    r"\bcan(?:not|'?t| not) be determined\b",
    r"\b(?:can'?t|cannot|can not|unable to|not able to) determine\b",
    r"\b(?:not enough|insufficient) information\b",
    r"\bi (?:don'?t|do not) know\b",
    r"\bimpossible to (?:say|know)\b",
    r"\bi ?(?:can'?t|cannot|can not|am unable to|'m unable to) answer\b",
    r"^(?:(?:it|this|that|the answer)(?: is|'s) )?(?:unknown|unclear)[.!]*$",
)

_REFUSAL = re.compile("|".join(REFUSAL_PHRASES))
_DECLINED = re.compile("|".join(DECLINING_PHRASES))
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u2018": "'"})
TRIGGERS = (
    "sorry",
    "can",
    "won",
    "will not",
    "unable",
    "able to",
    "as an ai",
    "information",
    "know",
    "impossible",
    "unknown",
    "unclear",
)
"""No phrase is found in a text that holds none of these, in lower case."""
SQL_TRIGGER = f"regexp_matches(lower({{word}}), '{'|'.join(TRIGGERS)}')"


def refusal_in(text: str) -> Refusal | None:
    """Whether a text refuses or declines, and which; None when it does neither.

    >>> refusal_in("I'm sorry, but I can't help with that."), refusal_in("I don’t know.")
    ('refusal', 'declined')
    >>> refusal_in("The Unknown Soldier"), refusal_in("Unknown.")
    (None, 'declined')
    """
    low = text.lower()
    if not any(trigger in low for trigger in TRIGGERS):
        return None
    low = " ".join(low.translate(_APOSTROPHES).split())
    if _REFUSAL.search(low):
        return "refusal"
    return "declined" if _DECLINED.search(low) else None
