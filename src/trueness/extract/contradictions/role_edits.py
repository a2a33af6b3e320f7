"""Two things of one sentence that change places: who did what to whom."""

from collections.abc import Iterator
from itertools import combinations

from trueness.extract.contradictions.chunks import (
    AUXILIARIES,
    BARE,
    NAME,
    Chunk,
    chunks_of,
    words_of,
)
from trueness.extract.contradictions.edits import Edit, capitalised
from trueness.extract.contradictions.verbs import VERBS, verb_of
from trueness.extract.contradictions.words import COMPARISON, DATE_ORDER, SYMMETRIC, listed

_DIRECTED = listed("by to from than before after into over under above below v vs")
_ORDERING = frozenset({"than", "before", "after"})
_JOINING = listed("and or nor as well both")
_TIMES = frozenset(word for word in DATE_ORDER if " " not in word)
ROLE, COMPARED, ORDERED = "role_swap", "comparison", "date_order"
_MOST_CHUNKS = 12


def swaps(sentence: str, around: str) -> Iterator[tuple[str, Edit]]:
    """Exchanges of two things with a relation between them, the likeliest first.

    Parameters
    ----------
    sentence : str
    around : str
        Texts that show whether a capital letter at the start is one of a name.

    Yields
    ------
    (kind, Edit)
        ``comparison`` around than, ``date_order`` around before and after, else ``role_swap``.

    Examples
    --------
    >>> text = "The flood caused the fire."
    >>> [(kind, edit.applied(text)) for kind, edit in swaps(text, "")]
    [('role_swap', 'The fire caused the flood.')]
    """
    chunks = chunks_of(sentence)[:_MOST_CHUNKS]
    known = set(around.split())
    ranked = []
    for (i, one), (j, two) in combinations(enumerate(chunks), 2):
        kind = _relation(sentence, one, two)
        if kind is not None and _head(sentence, one).lower() != _head(sentence, two).lower():
            alike = (_alike(one, two), _article(sentence, one) != _article(sentence, two))
            ranked.append((alike, j - i, i, kind, one, two))
    for *_, kind, one, two in sorted(ranked, key=lambda r: r[:3]):
        yield kind, _swap(sentence, one, two, known)


def _relation(sentence: str, one: Chunk, two: Chunk) -> str | None:
    """What stands between two things; None where it is the same the other way round."""
    between = [w.text for w in words_of(sentence[one.stop : two.start])]
    low = {w.lower() for w in between}
    apart = any(c.isdigit() or c in ",;:()" for c in sentence[one.stop : two.start])
    if not low or low & SYMMETRIC or low <= _JOINING or apart:
        return None
    acts = any(w in VERBS or verb_of(w) is not None for w in between if w not in AUXILIARIES)
    same = _sort(one) == _sort(two)
    linked = same and BARE not in (one.sort, two.sort) and bool(low & (_DIRECTED | AUXILIARIES))
    if not (acts or linked or low & _ORDERING):
        return None
    if low & (COMPARISON.keys() - _TIMES) and "than" in low:
        return COMPARED
    return ORDERED if low & _TIMES else ROLE


def _alike(one: Chunk, two: Chunk) -> int:
    """Names before phrases before a mixture."""
    if _sort(one) != _sort(two):
        return 2
    return 0 if one.sort == NAME else 1


def _sort(chunk: Chunk) -> bool:
    return chunk.sort == NAME


def _article(sentence: str, chunk: Chunk) -> str:
    return sentence[chunk.start : chunk.head].lower()


def _head(sentence: str, chunk: Chunk) -> str:
    return sentence[chunk.head : chunk.stop]


def _swap(sentence: str, one: Chunk, two: Chunk, known: set[str]) -> Edit:
    """The exchange: heads alone where both have the same article, else with their articles."""
    article = _article(sentence, one)
    if article and article == _article(sentence, two):
        first, second = _head(sentence, one), _head(sentence, two)
        middle = sentence[one.stop : two.head]
        return Edit(one.head, two.stop, second + middle + first)
    first, second = sentence[one.start : one.stop], sentence[two.start : two.stop]
    if one.initial:
        second = capitalised(second)
        first = _lowered(first, one, known)
    return Edit(one.start, two.stop, second + sentence[one.stop : two.start] + first)


def _lowered(text: str, chunk: Chunk, known: set[str]) -> str:
    """A text from the start of a sentence as it stands within one."""
    small = text[:1].lower() + text[1:]
    article = chunk.head > chunk.start
    return small if article or chunk.sort == BARE or small.split()[0] in known else text
