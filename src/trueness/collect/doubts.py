"""What has to be said about the draws of a table: more than were asked for, or all the same."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from trueness.table.rowkeys import RowKey

_SAME_ITEMS = 0.9
_SAME_DRAWS = 4


def doubts_of(out: Path, temperature: float, epochs: int | None) -> list[str]:
    """A warning where nearly all items of a table were answered the same in every draw."""
    if temperature <= 0 or (epochs or 1) < _SAME_DRAWS or not out.is_file():
        return []
    drawn = _drawn(out)
    full = [same for n, _, same in drawn if n >= _SAME_DRAWS]
    if not full or sum(full) < _SAME_ITEMS * len(full):
        return []
    doubt = (
        f"{sum(full)} of {len(full)} items have {epochs} identical draws: the server may ignore "
        "seeds or serve a cache; independence is doubtful"
    )
    return [doubt]


def draws_beyond(done: Iterable[RowKey], epochs: Mapping[str, int], *, n_items: int) -> list[str]:
    """A warning for each condition of which a table that goes on holds more draws than are wanted.

    Parameters
    ----------
    done : iterable of (item, epoch, condition)
        What the table held before the run.
    epochs : mapping of condition to int
        Draws of each item that the run was asked for.
    n_items : int
        That are asked under every condition.

    Examples
    --------
    >>> held = [("a", 1, "none"), ("a", 2, "none"), ("b", 1, "none")]
    >>> (said,) = draws_beyond(held, {"none": 1}, n_items=2)
    >>> said.partition(" items; ")[2]
    '1 row beyond stays and counts: items have unequally many draws now, -n 2 makes them equal'
    """
    beyond: dict[str, _Beyond] = {}
    for item, epoch, condition in done:
        if epoch > epochs.get(condition, epoch):
            beyond.setdefault(condition, _Beyond()).add(item, epoch)
    return [found.said(name, epochs[name], n_items) for name, found in beyond.items()]


@dataclass(slots=True)
class _Beyond:
    """Rows of a condition beyond the draws that were asked for."""

    n_rows: int = 0
    most: int = 0
    items: set[str] = field(default_factory=set)

    def add(self, item: str, epoch: int) -> None:
        """Count a row."""
        self.n_rows, self.most = self.n_rows + 1, max(self.most, epoch)
        self.items.add(item)

    def said(self, condition: str, wanted: int, n_items: int) -> str:
        """What the table holds, and what becomes of it."""
        n, most = len(self.items), self.most
        asked = "1 draw of each item was" if wanted == 1 else f"{wanted} draws of each item were"
        even = n >= n_items and self.n_rows == n * (most - wanted)
        rows = "1 row beyond stays and counts"
        if self.n_rows > 1:
            rows = f"{self.n_rows:,} rows beyond stay and count"
        todo = (
            "for fewer draws, ask into another file"
            if even
            else f"items have unequally many draws now, -n {most} makes them equal"
        )
        return (
            f"condition {condition!r}: {asked} asked for, and the table holds up to {most} for "
            f"{n:,} of {max(n, n_items):,} items; {rows}: {todo}"
        )


def _drawn(out: Path) -> Collection[tuple[int, int, bool]]:
    """Of each item under each condition: its draws, the first one's hash, whether all have it."""
    found: dict[tuple[str, str], tuple[int, int, bool]] = {}
    with out.open("rb") as file:
        for row in map(json.loads, file):
            if (text := row.get("completion")) is not None:
                key = row["item"], row["condition"]
                n, first, same = found.get(key, (0, hash(text), True))
                found[key] = n + 1, first, same and hash(text) == first
    return found.values()
