"""Lists in one text: where their members end."""

import re

_SPLIT = re.compile(
    r"[(\[{]|[)\]}]|\\[{}]|[,;](?P<three>(?<=,)\d{3}(?!\d))?|(?<![^\W_])(?:and|or)(?![^\W_])",
    re.IGNORECASE,
)


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
