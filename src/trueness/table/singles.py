"""Distinct texts seen as lists of one: golds of a table whose rows have one gold each."""

from collections.abc import Sequence
from typing import overload


class SingleWords(Sequence[tuple[str, ...]]):
    """Every text of ``base`` as a tuple of one, made when it is read.

    >>> list(SingleWords(("Paris", "Rome")))
    [('Paris',), ('Rome',)]
    """

    __slots__ = ("base",)

    def __init__(self, base: Sequence[str]) -> None:
        self.base = base

    def __len__(self) -> int:
        return len(self.base)

    @overload
    def __getitem__(self, index: int) -> tuple[str, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[str, ...]]: ...
    def __getitem__(self, index: int | slice) -> tuple[str, ...] | list[tuple[str, ...]]:
        if isinstance(index, slice):
            return [(word,) for word in self.base[index]]
        return (self.base[index],)
