r"""What surrounds an answer and is no part of it: emphasis, quotes, math signs, ``\text{…}``."""

import re

_MOST = 16
"""So many layers are taken off, so that no text costs more than its length."""
_EDGE = ' \t\n\r\x0b\x0c\u00a0\u2009\u202f*_`"“”„«»~'
_QUOTES = "'‘’"
_COMMAND = re.compile(
    r"\\(?:boxed|fbox|text|textbf|textit|textrm|mathrm|mathbf|mathit|mathsf|mbox|boldsymbol"
    r"|operatorname|ensuremath|displaystyle)\s{0,3}\{"
)
_INNER_TEXT = re.compile(
    r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathit|mbox|operatorname)\s{0,3}\{([^{}]*)\}"
)
_PAIRS = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"))
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_SPACING = re.compile(
    r"\\(?:left|right|quad|qquad|displaystyle|thinspace)(?![A-Za-z])|\\[,!;: ]|[\s~]+"
    r"|\\[hv]?phantom\s?\{[^{}]*\}"
)
_FRAC = re.compile(r"\\[dtc]frac(?![A-Za-z])")
SIZED = re.compile(r"\\(?:left|right|big|Big)(?![A-Za-z])")
"""Commands that only size a bracket."""
CONTENT = re.compile(r"[^\W_]|\\[A-Za-z]|[∞∅π√]")
"""Something that may be an answer, in a line that is not blank."""


def inner_texts(text: str) -> str:
    r"""A text with ``\text{…}`` and its like replaced by what they hold.

    >>> inner_texts(r"5\text{ cm}")
    '5  cm '
    """
    return _INNER_TEXT.sub(r" \1 ", text) if "\\" in text else text


def unwrapped(text: str, *, stops: str = ".,;:!?", brackets: str = "([{") -> str:
    r"""A text without what surrounds it, and without stops at its end.

    Parameters
    ----------
    stops : str
        Taken off the end.
    brackets : str
        Opening brackets that count as surrounding when they match the last character.

    >>> unwrapped("**$12$**."), unwrapped(r"\text{(E)}"), unwrapped("(0, 1]")
    ('12', 'E', '(0, 1]')
    """
    for _ in range(_MOST):
        before = len(text)
        text = text.strip(_EDGE)
        text = text.rstrip(stops) if not text.endswith(("\\,", "\\!", "\\;", "\\:")) else text
        text = _once(text, brackets)
        if len(text) == before:
            break
    return text


def expression(text: str) -> str:
    r"""An expression without white space, with one spelling of what only looks different.

    >>> expression(r"\left( 3 , \dfrac{1}{2} \right)")
    '(3,\\frac{1}{2})'
    """
    return _FRAC.sub(r"\\frac", _SPACING.sub("", text))


def closes_outside(text: str, opening: str, closing: str) -> bool:
    """Whether the first character's bracket is closed by the last one and not before."""
    depth = 0
    for m in re.finditer(f"[{re.escape(opening)}{re.escape(closing)}]", text):
        depth += 1 if m.group() == opening else -1
        if depth <= 0:
            return m.end() == len(text)
    return False


def _once(text: str, brackets: str) -> str:  # noqa: PLR0911 - cases in order, each with its result
    """One layer off."""
    if len(text) < 2:  # noqa: PLR2004 - a layer has two ends
        return text
    if text[0] in _QUOTES and text[-1] in _QUOTES:
        return text[1:-1]
    if text[0] in brackets and text[-1] == _BRACKETS[text[0]]:
        inner = text[1:-1]
        return inner if closes_outside(text, text[0], text[-1]) else text
    if text[0] not in "$\\":
        return text
    for opening, closing in _PAIRS:
        n = len(opening)
        if text.startswith(opening) and text.endswith(closing) and len(text) >= 2 * n:
            inner = text[n:-n]
            return inner if opening not in inner else text
    if text[-1] == "}" and (m := _COMMAND.match(text)):
        return text[m.end() : -1] if closes_outside(text[m.end() - 1 :], "{", "}") else text
    return text
