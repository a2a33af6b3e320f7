"""How wide the columns of a table on a terminal are, so that no ordinary word is broken."""

from collections.abc import Sequence

from rich.cells import cell_len

GAP = 2
"""Blanks between two columns."""

_WORD = 24


def widths(columns: Sequence[Sequence[str]], room: int) -> tuple[int, ...] | None:
    """The width of each column within ``room``; None when a word would have to be broken.

    A column is as wide as its longest word (a longer one than 24 is broken) and, where there is
    room, as its longest cell.

    Examples
    --------
    >>> widths([["Item", "Paris"], ["Said", "nothing at all"]], 40)
    (5, 14)
    >>> widths([["Item", "Paris"], ["Said", "nothing at all"]], 15)
    (5, 8)
    >>> widths([["Item", "Paris"], ["Said", "nothing at all"]], 10) is None
    True
    """
    found = [max((_longest(text) for text in c), default=0) or 1 for c in columns]
    wanted = [max((cell_len(text) for text in c), default=0) or 1 for c in columns]
    spare = room - sum(found) - GAP * (len(columns) - 1)
    if spare < 0:
        return None
    while spare and any(f < w for f, w in zip(found, wanted, strict=True)):
        narrow = min((f, i) for i, f in enumerate(found) if f < wanted[i])[1]
        found[narrow] += 1
        spare -= 1
    return tuple(found)


def fitting(columns: Sequence[Sequence[str]], room: int) -> int:
    """How many of the first columns fit within ``room`` without breaking a word."""
    used, n = -GAP, 0
    for column in columns:
        used += GAP + max((_longest(text) for text in column), default=1)
        if used > room:
            break
        n += 1
    return n


def _longest(text: str) -> int:
    return min(_WORD, max((cell_len(word) for word in text.split(" ")), default=0))
