"""One column of a table: whole-number codes into a list of distinct values."""

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=Hashable)
U = TypeVar("U", bound=Hashable)

NULL = -1
"""The code of an absent value."""


class StoredSequence(Sequence[T]):
    """Distinct values that do not live in memory and know how to put themselves through a rule."""

    __slots__ = ()

    @abstractmethod
    def mapped(self, rule: Callable[[T], Any]) -> "Column[Any]":
        """One row a value, in order: what the rule makes of it, interned; None becomes null."""

    @abstractmethod
    def located(self, others: Sequence[T]) -> NDArray[np.int32]:
        """Where each of these values stands among others; -1 where it does not."""

    @abstractmethod
    def pick(self, indices: Sequence[int]) -> list[T]:
        """Some values, fetched together."""

    @abstractmethod
    def find(self, values: Sequence[T]) -> NDArray[np.int32]:
        """Where each of some given values stands among these; -1 where it does not."""


@dataclass(frozen=True, slots=True)
class TextRule:
    """A pure rule from text to text that a database can apply to the simplest texts itself.

    Parameters
    ----------
    rule : callable
        From a text to its result; None becomes null.
    plain : str
        SQL predicate; ``{word}`` stands for the text. Where it holds, ``key`` gives the same
        result as ``rule``; everywhere else ``rule`` is called.
    key : str
        SQL expression of the result; ``{word}`` stands for the text.
    """

    rule: Callable[[str], str | None]
    plain: str
    key: str

    def __call__(self, text: str) -> str | None:
        """What the rule makes of a text."""
        return self.rule(text)


def pick(words: Sequence[T], indices: Iterable[int]) -> list[T]:
    """Some values of a list of words, fetched together where they are stored.

    >>> pick(("Oslo", "Bonn", "Rome"), [2, 0])
    ['Rome', 'Oslo']
    """
    wanted = list(indices)
    return words.pick(wanted) if isinstance(words, StoredSequence) else [words[i] for i in wanted]


@dataclass(frozen=True, slots=True)
class Column(Generic[T]):
    """Interned values: ``words[codes[i]]`` is the value of row ``i``; ``codes[i] == -1`` is null.

    Parameters
    ----------
    codes : (n_rows,) int32
    words : sequence of distinct values
        May hold words that no row uses.
    """

    codes: NDArray[np.int32]
    words: Sequence[T]

    @classmethod
    def of(cls, values: Iterable[T | None]) -> "Column[T]":
        """Intern values in order of first appearance.

        >>> Column.of(["b", None, "a", "b"]).codes.tolist()
        [0, -1, 1, 0]
        """
        index: dict[T, int] = {}
        codes = [NULL if v is None else index.setdefault(v, len(index)) for v in values]
        return cls(np.array(codes, dtype=np.int32), tuple(index))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> T | None:
        code = int(self.codes[row])
        return None if code == NULL else self.words[code]

    def values(self) -> list[T | None]:
        """All values, row by row."""
        words = list(self.words)
        return [None if c == NULL else words[c] for c in self.codes.tolist()]

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> "Column[T]":
        """The same words, fewer or reordered rows."""
        return Column(self.codes[rows], self.words)

    def map(self, rule: Callable[[T], U | None]) -> "Column[U]":
        """Every distinct word through a pure rule, interned again; None becomes null.

        >>> Column.of(["Rome", "rome", "Bonn"]).map(str.lower).codes.tolist()
        [0, 0, 1]
        """
        words = self.words
        mapped: Column[U]
        if isinstance(words, StoredSequence):
            mapped = words.mapped(rule)
        else:
            mapped = Column.of(rule(word) for word in words)
        if mapped.words is words:  # the rule changed nothing
            return Column(self.codes, mapped.words)
        lookup = np.append(mapped.codes, np.int32(NULL))  # code -1 reads the last entry
        return Column(lookup[self.codes], mapped.words)

    def codes_in(self, words: Sequence[T]) -> NDArray[np.int32]:
        """Codes of the rows' values in other words; -1 for null and where the word is not there.

        >>> Column.of(["b", None, "c", "b"]).codes_in(("a", "b")).tolist()
        [1, -1, -1, 1]
        """
        mine = self.words
        if min(len(mine), len(words)) == 0:
            return np.full(len(self), NULL, dtype=np.int32)
        if isinstance(mine, StoredSequence):
            found = mine.located(words)
        elif isinstance(words, StoredSequence):
            found = words.find(mine)
        else:
            index = {word: code for code, word in enumerate(words)}
            found = np.array([index.get(word, NULL) for word in mine], dtype=np.int32)
        return np.append(found, np.int32(NULL))[self.codes]
