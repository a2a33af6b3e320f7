"""Keys of very many rows, held once each."""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

RowKey = tuple[str, int, str]
"""(item, epoch, condition)."""


class RowKeys(AbstractSet[RowKey]):
    """A set of row keys; the text of an item is held once, however often it was asked.

    >>> keys = RowKeys([("capital|Peru|0", 1, "none"), ("capital|Peru|0", 2, "none")])
    >>> len(keys), ("capital|Peru|0", 2, "none") in keys, ("capital|Peru|0", 3, "none") in keys
    (2, True, False)
    """

    __slots__ = ("_groups", "_names")

    def __init__(self, keys: Iterable[RowKey] = ()) -> None:
        self._groups: dict[tuple[int, str], set[str]] = {}
        self._names: dict[str, str] = {}
        for key in keys:
            self.add(key)

    def add(self, key: RowKey) -> None:
        """Hold a key."""
        item, epoch, condition = key
        group = self._groups.get((epoch, condition))
        if group is None:
            group = self._groups[epoch, condition] = set()
        group.add(self._names.setdefault(item, item))

    def discard(self, key: RowKey) -> None:
        """Let go of a key, where it is held."""
        item, epoch, condition = key
        self._groups.get((epoch, condition), set()).discard(item)

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, tuple):
            return False
        item, epoch, condition = key
        return item in self._groups.get((epoch, condition), ())

    def __len__(self) -> int:
        return sum(map(len, self._groups.values()))

    def __iter__(self) -> Iterator[RowKey]:
        for (epoch, condition), items in self._groups.items():
            for item in items:
                yield item, epoch, condition
