"""What a sentence is besides a statement: a refusal, a greeting or a question."""

import re
from enum import StrEnum

from trueness.extract.refusals import refusal_in


class Mark(StrEnum):
    """Kinds of sentences that state nothing about the world."""

    REFUSAL = "refusal"
    GREETING = "greeting"
    QUESTION = "question"


_CLOSERS = " \t*_\"'”’»)]）」』】"
_ASKING = ("?", "？", "؟", "⁇", "՞", "፧", "ですか。", "ますか。", "でしょうか。")
_GREEK_END = re.compile(r"[\u0370-\u03ff\u1f00-\u1fff][;\u037e]$")
_TURN = re.compile(r"[,;:—–]\s*(?:but|however|yet|though|although|still)\b\s*", re.IGNORECASE)
_OWN = re.compile(r"i\b\W*(?:\w+\W*){0,4}", re.IGNORECASE)
"""A short clause about the model itself."""
_WHOM = r"(?: (?:there|all|everyone|everybody|friends?|folks|team|again|to you|you too|sir|madam))*"
_GREETING = re.compile(
    r"(?:hello|hi|hey|hiya|howdy|greetings|welcome(?: back)?|good (?:morning|afternoon|evening|day)"
    r"|dear(?: (?:sir|madam|user|customer|friend|all|everyone|[^\W\d_]+))?(?: or madam)?"
    r"|thanks?(?: you)?(?: (?:very|so) much| a lot)?(?: for (?:asking|your question|reaching out))?"
    r"|you(?:'re| are) welcome|sure(?: thing)?|of course|certainly|absolutely"
    r"|(?:great|good) question"
    r"|(?:i )?hope (?:this|that) helps|let me know if you have (?:any )?(?:more |other |further )?"
    r"questions|(?:best|kind) regards|sincerely|have a (?:nice|great|good) day|goodbye|bye"
    r"|hola|buen[oa]s (?:d[ií]as|tardes|noches)|bonjour|bonsoir|salut|hallo"
    r"|guten (?:tag|morgen|abend)|ciao|buongiorno|ol[aá]|bom dia|hej|cze[sś][cć]|merhaba"
    r"|привет|здравствуйте|добрый день|γεια(?: σας)?|你好|您好|大家好|こんにちは"
    r"|おはようございます|안녕하세요|नमस्ते|مرحبا|שלום|สวัสดี)" + _WHOM
)
_EDGE = re.compile(r"^[\s\W_]+|[\s\W_]+$")
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u2018": "'"})


def mark_of(sentence: str) -> Mark | None:
    """What a sentence is besides a statement; None for a statement.

    A greeting is nothing but one: "Hello, Paris is in France." states something. A sentence that
    declines and then turns to state something is a statement too.

    >>> mark_of("Hello there!"), mark_of("Who won?"), mark_of("I don't know.")
    (<Mark.GREETING: 'greeting'>, <Mark.QUESTION: 'question'>, <Mark.REFUSAL: 'refusal'>)
    >>> mark_of("Hello, Paris is in France."), mark_of("I cannot answer, but Rome is in Peru.")
    (None, None)
    """
    if _refuses(sentence):
        return Mark.REFUSAL
    if _asks(sentence):
        return Mark.QUESTION
    words = _EDGE.sub("", sentence.casefold().translate(_APOSTROPHES))
    return Mark.GREETING if _GREETING.fullmatch(words) else None


def _asks(sentence: str) -> bool:
    end = sentence.rstrip(_CLOSERS)
    return end.endswith(_ASKING) or _GREEK_END.search(end) is not None


def _refuses(sentence: str) -> bool:
    if refusal_in(sentence) is None:
        return False
    last = _TURN.split(sentence)[-1]
    return _OWN.fullmatch(last) is not None or refusal_in(last) is not None
