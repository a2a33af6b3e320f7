"""Phrases and marks by which answers are announced: the part of the rules that is a list.

Any change raises `trueness.extract.settings.VERSION`.
"""

from trueness.contract.serial import Json
from trueness.extract import refusals

ANSWER_WORDS = (
    "answers?", "choice", "option", "antwort", "r[ée]ponse", "respuesta", "risposta", "ответ",
)  # fmt: skip
CJK_WORDS = ("答案", "答え", "答えは")
LINKS = (
    "is", "are", "was", "were", "would be", "will be", "should be", "must be", "could be", "may be",
    "seems to be", "appears to be", "turns out to be", "comes out to be", "comes to", "equals",
    "ist", "lautet", "est", "es", "è",
)  # fmt: skip
JSON_KEYS = ("final_answer", "answer", "result", "choice")
STRICT_SORTS = ("boxed", "fbox", "####", "A:", "json")
RUN_ON = ("Question", "Q", "Problem", "Human", "User")
CHAT_TOKENS = (r"<\|[a-z_]{2,24}\|>", r"<(?:start|end)_of_turn>", r"\[/?INST\]")
CUT_WORDS = ("because", "since", "which", "where", "rather", "instead", "not")
APPROXIMATE = (
    "about", "approximately", "approx\\.?", "around", "roughly", "nearly", "almost", "circa",
    "ca\\.", "≈", "~", r"\\approx", r"\\sim",
)  # fmt: skip
NAMED = {
    "undefined": "undefined", "not defined": "undefined", "no solution": "nosolution",
    "no solutions": "nosolution", "infinity": "infinity", "infinite": "infinity",
    "does not exist": "doesnotexist", "dne": "doesnotexist", "∞": "infinity",
    "\\infty": "infinity", "+\\infty": "infinity", "-infinity": "-infinity", "-∞": "-infinity",
    "-\\infty": "-infinity", "negative infinity": "-infinity", "positive infinity": "infinity",
}  # fmt: skip
"""Answers that are no rational; unlike a declining phrase they say what the value is."""

RULES: dict[str, Json] = {
    "words": [*ANSWER_WORDS, *CJK_WORDS],
    "links": list(LINKS),
    "json": list(JSON_KEYS),
    "strict": list(STRICT_SORTS),
    "run_on": [*RUN_ON, *CHAT_TOKENS],
    "cut": list(CUT_WORDS),
    "approximate": list(APPROXIMATE),
    "named": dict(NAMED),
    "refusal": list(refusals.REFUSAL_PHRASES),
    "declining": list(refusals.DECLINING_PHRASES),
}
