"""A sequence that is computed when it is read."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, overload

T = TypeVar("T")


class Rows(Sequence[T]):
    """An immutable sequence whose entries are made on demand.

    A million items cost nothing until somebody reads them. Equal to any other sequence with
    equal entries.

    Parameters
    ----------
    length : int
        How many entries there are.
    entry : callable
        From a position ``0 <= i < length`` to the entry. Must be pure.

    Examples
    --------
    >>> squares = Rows(4, lambda i: i * i)
    >>> list(squares), squares[-1], squares == (0, 1, 4, 9)
    ([0, 1, 4, 9], 9, True)
    """

    __slots__ = ("_entry", "_length")
    __hash__ = None  # type: ignore[assignment] # equal to tuples, which hash by content

    def __init__(self, length: int, entry: Callable[[int], T]) -> None:
        self._length = length
        self._entry = entry

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> "Rows[T]": ...
    def __getitem__(self, index: int | slice) -> "T | Rows[T]":
        if isinstance(index, slice):
            positions = range(self._length)[index]
            return Rows(len(positions), lambda i: self._entry(positions[i]))
        return self._entry(range(self._length)[index])

    def __iter__(self) -> Iterator[T]:
        return map(self._entry, range(self._length))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __repr__(self) -> str:
        return f"Rows({self._length})"
