"""Which draws of a condition are still to be asked: a byte each, however long the questions are."""

from collections.abc import Callable, Iterator, Sequence

from trueness.backends.protocol import Key


class Draws:
    """The draws of one condition that have no answer yet; they are numbered epoch by epoch.

    Parameters
    ----------
    items : sequence of str
        What is asked, in the order of the plan.
    sizes : sequence of int
        How long each item's prompt is, in tokens or in characters.
    epochs : int
        Draws of each item, from 1.
    condition : str
    settled : callable
        Whether a key needs not be asked any more.
    """

    __slots__ = ("_condition", "_epochs", "_items", "_left", "_sizes")

    def __init__(
        self,
        items: Sequence[str],
        sizes: Sequence[int],
        *,
        epochs: int,
        condition: str,
        settled: Callable[[Key], bool],
    ) -> None:
        self._items, self._sizes, self._epochs = items, sizes, epochs
        self._condition = condition
        keys = ((item, epoch, condition) for epoch in range(1, epochs + 1) for item in items)
        self._left = bytearray(not settled(key) for key in keys)

    def __len__(self) -> int:
        return self._left.count(1)

    @property
    def n_settled(self) -> int:
        """Draws that need not be asked."""
        return self._left.count(0)

    def key(self, place: int) -> Key:
        """(item, epoch, condition) of a draw."""
        before, at = divmod(place, len(self._items))
        return self._items[at], before + 1, self._condition

    def strike(self, place: int) -> None:
        """A draw is settled."""
        self._left[place] = 0

    def sizes(self) -> Iterator[int]:
        """How long the prompts of all draws that are left are, in the order of the plan."""
        return (self._sizes[place % len(self._items)] for place in self._places())

    def at(self, positions: Sequence[int]) -> list[int]:
        """Some of the draws that are left, by their ascending positions among them."""
        wanted = set(positions)
        return [place for i, place in enumerate(self._places()) if i in wanted]

    def by_item(self) -> Iterator[int]:
        """All draws that are left; those of an item follow each other."""
        return self._of(range(len(self._items)))

    def by_size(self) -> Iterator[int]:
        """All draws that are left, the shortest prompts first; an item's follow each other."""
        places = range(len(self._items))
        return self._of(sorted(places, key=lambda at: (self._sizes[at], self._items[at])))

    def _of(self, items: Sequence[int]) -> Iterator[int]:
        n = len(self._items)
        draws = (before * n + at for at in items for before in range(self._epochs))
        return (place for place in draws if self._left[place])

    def _places(self) -> Iterator[int]:
        return (place for place, left in enumerate(self._left) if left)
