"""Draws that are all the same: a server may ignore seeds; they are not independent then."""

import json
from collections.abc import Collection
from pathlib import Path

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
