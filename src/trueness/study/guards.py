"""Which evidence may stand as foreign to a claim: never its own, its source's or a copy of it."""

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import GuardUnavailable, InputError, ShapeError

SOURCE, PAGE, TEXT = "source", "page", "text"
"""Why evidence is not admissible: the same source, a shared evidence hash, a shared passage."""
RELAXABLE = frozenset({PAGE, TEXT})
"""What ``allow`` may name. The own source is never allowed."""

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Texts = Sequence[AbstractSet[str]]


@dataclass(frozen=True, slots=True)
class Pool:
    """Items whose evidence may be exchanged, and what the guard knows of them.

    Parameters
    ----------
    items : (n,) sequence of str
        Each its own name.
    sources : (n,) sequence of str, or None
        Document or cluster of each item.
    hashes : (n,) sequence of sets of str, or None
        Hashes of the pages or documents that the evidence of each item is from.
    passages : (n,) sequence of sets of str, or None
        Normalised texts of the passages.
    allow : tuple of str
        Relaxations: ``"page"``, ``"text"``. They are counted, and change the population's name.

    Raises
    ------
    GuardUnavailable
        With neither sources nor hashes: nothing could tell what is foreign.
    InputError, ShapeError
        When names repeat, lengths differ, or a relaxation is unknown.
    """

    items: Sequence[str]
    sources: Sequence[str] | None = None
    hashes: Texts | None = None
    passages: Texts | None = None
    allow: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.sources is None and self.hashes is None:
            msg = (
                f"{len(self.items)} items come without sources and without evidence hashes, so "
                "nothing tells foreign evidence from a claim's own. Name a source for every item."
            )
            raise GuardUnavailable(msg)
        for name in ("sources", "hashes", "passages"):
            column = getattr(self, name)
            if column is not None and len(column) != len(self.items):
                msg = f"{len(column)} {name} for {len(self.items)} items; wanted one an item."
                raise ShapeError(msg)
        if self.sources is not None and not all(self.sources):
            msg = "an item has no source; the guard needs one for every item. Name it."
            raise GuardUnavailable(msg)
        if len(set(self.items)) < len(self.items):
            twice = Counter(self.items).most_common(1)[0][0]
            msg = f"{twice!r} names two items; give every item its own name."
            raise InputError(msg)
        wrong = sorted(set(self.allow) - RELAXABLE)
        if wrong:
            msg = (
                f"{wrong[0]!r} cannot be allowed; relaxations are {', '.join(sorted(RELAXABLE))}, "
                "and the own source never is one."
            )
            raise InputError(msg)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def parts(self) -> tuple[str, ...]:
        """What the guard looks at."""
        given = ((SOURCE, self.sources), (PAGE, self.hashes), (TEXT, self.passages))
        return tuple(name for name, column in given if column is not None)

    def largest_source(self) -> tuple[str, int]:
        """Name and size of the source with most items; an item is its own where none is named."""
        if not len(self):
            return "", 0
        return Counter(self.sources or self.items).most_common(1)[0]


@dataclass(frozen=True, slots=True)
class Guard:
    """A pool, indexed: which items share what."""

    pool: Pool
    source: Ints
    page: dict[str, list[int]]
    text: dict[str, list[int]]

    @classmethod
    def of(cls, pool: Pool) -> "Guard":
        """The guard of a pool."""
        names = pool.items if pool.sources is None else pool.sources
        codes = np.unique(np.asarray(names, dtype=np.str_), return_inverse=True)[1]
        return cls(pool, codes.astype(np.int64), _index(pool.hashes), _index(pool.passages))

    def kinds(self, claim: int) -> dict[str, Bools]:
        """(n,) Which items' evidence is out of the question for a claim, by kind."""
        own = self.source == self.source[claim]
        found = {SOURCE: own}
        for kind, index, column in (
            (PAGE, self.page, self.pool.hashes),
            (TEXT, self.text, self.pool.passages),
        ):
            shared = np.zeros(len(self.pool), dtype=np.bool_)
            if column is not None:
                for entry in column[claim]:
                    shared[index[entry]] = True
            found[kind] = shared & ~own
        return found

    def admissible(self, claim: int) -> Bools:
        """(n,) Which items' evidence may stand against a claim."""
        kinds = self.kinds(claim)
        shut = kinds[SOURCE].copy()
        for kind in (PAGE, TEXT):
            if kind not in self.pool.allow:
                shut |= kinds[kind]
        return ~shut

    def why_not(self, claim: int, other: int) -> str | None:
        """The kind for which one item's evidence is not admissible; None when it is."""
        if self.source[claim] == self.source[other]:
            return SOURCE
        for kind, column in ((PAGE, self.pool.hashes), (TEXT, self.pool.passages)):
            if column is not None and kind not in self.pool.allow and column[claim] & column[other]:
                return kind
        return None

    def relaxed(self, claim: int, other: int) -> tuple[str, ...]:
        """The relaxations that let one item's evidence through."""
        return tuple(
            kind
            for kind, column in ((PAGE, self.pool.hashes), (TEXT, self.pool.passages))
            if column is not None and kind in self.pool.allow and column[claim] & column[other]
        )


def _index(column: Texts | None) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place, entries in enumerate(column or ()):
        for entry in entries:
            found.setdefault(entry, []).append(place)
    return found
