"""Lists in one text: where their members end."""

import re

_SPLIT = re.compile(
    r"[(\[{]|[)\]}]|\\[{}]|[,;](?P<three>(?<=,)\d{3}(?!\d))?|(?<![^\W_])(?:and|or)(?![^\W_])",
    re.IGNORECASE,
)
_JOIN = (
    r"(?:,?\s*(?:and/or|or|and|plus|minus|times|&)(?![^\W_])|(?<=\s)[x-](?=\s)|[,;/+*×&]|\\times|\\cdot"
    r"|\\text\{\s?(?:or|and)\s?\})"
)
_JOINED = re.compile(
    rf"(?:[\s_()\[\]\"'$€£%°.\\]|\*\*|\*(?=\s))*+"
    rf"(?:(?!(?:or|and|plus|minus|times)\b)[A-Za-z]+(?:[\s_.)\]$]|\*\*)*+)?{_JOIN}"
    r"[\s*_()\[\]\"'$€£\\-]*+",
    re.IGNORECASE,
)
_LONGEST_JOIN = 60
_EQUATION = re.compile(r"(?:[,;]|(?<![^\W_])(?:or|and)(?![^\W_]))[^=]*?(?<![^\W_])[A-Za-z]\w?\s*$")
_LIST = re.compile(
    r"\s*(?:[,;]|(?:or|and|\\text\{\s?(?:or|and)\s?\})(?![^\W_]))\s*\S", re.IGNORECASE
)
_MEMBER = re.compile(r"\d|\\[A-Za-z]")


def split(text: str, *, words: bool = True, grouping: bool = True) -> list[str]:
    """The members of a list at its top level.

    A comma directly before exactly three digits groups a number; white space after a comma
    separates.

    >>> split("1,234, 5 and 7"), split("3, f(1, 2)", words=False)
    (['1,234', '5', '7'], ['3', 'f(1, 2)'])
    """
    parts, depth, last = [], 0, 0
    for m in _SPLIT.finditer(text):
        sign = m.group()
        if sign in ("(", "[", "{", "\\{"):
            depth += 1
        elif sign in (")", "]", "}", "\\}"):
            depth -= 1
        elif not depth and _separates(text, m, words=words, grouping=grouping):
            parts.append(text[last : m.start()])
            last = m.start() + 1 if sign[0] in ",;" else m.end()
    parts.append(text[last:])
    return [part.strip() for part in parts if part.strip(" \\.")]


def _separates(text: str, m: re.Match[str], *, words: bool, grouping: bool) -> bool:
    sign = m.group()
    if sign[0] == ";":
        return True
    if sign[0] != ",":
        return words
    return not (m["three"] and grouping and text[m.start() - 1 : m.start()].isdigit())


def joined(between: str) -> bool:
    """Whether what stands between two numbers makes a list or a sum of them.

    >>> joined(" or "), joined(" apples and "), joined(" per hour for ")
    (True, True, False)
    """
    return len(between) <= _LONGEST_JOIN and _JOINED.fullmatch(between) is not None


def assigns(left: str) -> bool:
    """Whether the left side of an equation ends another one: ``x = 1 or y``."""
    return "=" in left and _EQUATION.search(left[-_LONGEST_JOIN:]) is not None


def is_list(text: str) -> bool:
    """Whether a text is a list of several members with digits or symbols in each."""
    if "," not in text and ";" not in text:
        return False
    parts = split(text, words=False)
    return len(parts) > 1 and all(map(_MEMBER.search, parts))


def continues(rest: str) -> bool:
    """Whether what follows a number is the rest of a list.

    >>> continues(", 7"), continues(" per hour, on 2 days")
    (True, False)
    """
    return _LIST.match(rest) is not None and _MEMBER.search(rest) is not None
