"""What is no part of an answer: reasoning, the next exercise, messages of the host."""

import re

from trueness.extract.prepare import Prepared
from trueness.extract.rules import CHAT_TOKENS, RUN_ON

LONGEST_MESSAGE = 200
"""A longer text is no message of the host."""

_PREFIX = re.compile(
    r"\W{0,3}(?:[\w.]{0,60}(?:error|exception)(?![a-z])(?:\s?code)?\s{0,2}(?:[:(\[\-–]|(?=\d))"
    r"|http(?:/[\d.]+)?(?:\s(?:status|code|error)){0,2}\s?:?(?=\s?\d{3}|\s?error))",
    re.IGNORECASE,
)
_MESSAGE = re.compile(
    r"rate[ _-]?limit|too many requests|(?<!\d)429(?!\d)|time[d]?[ -]?out|overloaded"
    r"|service unavailable|bad gateway|internal server error",
    re.IGNORECASE,
)
_STATUS = re.compile(r"\W{0,4}(?:429|5\d\d)(?![\d.,]*\d)")
_MARKS = ("rror", "RROR", "xception", "http", "HTTP", "Http")
_RUN_ON = re.compile(rf"\n[ \t]*(?:\*\*|#{{1,6}} )?(?:{'|'.join(RUN_ON)})[ \t]?:", re.IGNORECASE)
_CHAT = re.compile("|".join(CHAT_TOKENS))
_CHAT_MARKS = ("<|", "_of_turn>", "INST]")


def is_infrastructure(text: str) -> bool:
    """Whether a whole text is a message of the host: an error prefix and what failed.

    >>> is_infrastructure("Error: 429 Too Many Requests"), is_infrastructure("Error: 3%")
    (True, False)
    """
    if len(text) > LONGEST_MESSAGE or not any(mark in text for mark in _MARKS):
        return False
    m = _PREFIX.match(text)
    if m is None:
        return False
    return bool(_STATUS.match(text, m.end()) or _MESSAGE.search(text))


def without_reasoning(
    prepared: Prepared, tags: tuple[tuple[str, str], ...]
) -> tuple[Prepared, bool]:
    """The text outside of reasoning tags, and whether one was left open.

    What stands before a closing tag without an opening one goes too.

    >>> from trueness.extract.prepare import prepare
    >>> without_reasoning(prepare("a<think>b</think>c"), (("<think>", "</think>"),))[0].text
    'ac'
    """
    for opening, closing in tags:
        if opening not in prepared.text and closing not in prepared.text:
            continue
        regions, is_open = _regions(prepared.text, opening, closing)
        if is_open:
            return prepared, True
        prepared = prepared.without(regions)
    return prepared, False


def run_on_at(text: str) -> int:
    r"""Where the next exercise or turn begins; the length of the text where none does.

    >>> run_on_at("A: 18\n\nQuestion: How many?"), run_on_at("Question: How many?")
    (6, 19)
    """
    end = len(text)
    for m in _RUN_ON.finditer(text):
        if text[: m.start()].strip():
            end = m.start()
            break
    if any(mark in text for mark in _CHAT_MARKS):
        end = min(end, _chat_token_at(text))
    return end


def _chat_token_at(text: str) -> int:
    last = 0
    for m in _CHAT.finditer(text):
        if text[last : m.start()].strip():
            return m.start()
        last = m.end()
    return len(text)


def _regions(text: str, opening: str, closing: str) -> tuple[list[tuple[int, int]], bool]:
    """Regions to take out, in order, and whether reasoning is still open at the end."""
    regions: list[tuple[int, int]] = []
    opened: int | None = None
    for m in re.finditer(f"{re.escape(opening)}|{re.escape(closing)}", text):
        if m.group() == opening:
            opened = m.start() if opened is None else opened
        elif opened is None:
            regions = [(0, m.end())]
        else:
            regions.append((opened, m.end()))
            opened = None
    return regions, opened is not None
