"""Items that an observer cannot tell apart, of which one is answered right and another wrong."""

from dataclasses import dataclass

import numpy as np

from trueness.contract.blocks import Table
from trueness.contract.serial import Json
from trueness.sensors.atlas.draw import MAX_ROWS, cut
from trueness.sensors.atlas.fibre_cells import Cells, Ints
from trueness.sensors.atlas.params import Params
from trueness.stats.fibres import error_floor, population_gap
from trueness.table import AnswerTable

MOST_ITEMS = 1_000
"""Of a condition; further ones are not compared, and the table says so."""
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class TruthPair:
    """Two items under one condition; ``gap`` is what their shares differ by beyond the draws."""

    items: tuple[str, str]
    condition: str
    distance: float
    rights: tuple[float, float]
    gap: float | None

    @property
    def apart(self) -> float:
        """How far the shares of right draws lie apart."""
        return abs(self.rights[0] - self.rights[1])

    @property
    def opposite(self) -> bool:
        """Whether one is mostly right and the other mostly wrong."""
        low, high = sorted(self.rights)
        return low < _HALF < high


@dataclass(frozen=True, slots=True)
class Truths:
    """Pairs of items that the observer cannot tell apart, or hardly.

    Parameters
    ----------
    pairs : tuple of TruthPair
        The farthest apart first; as many as are shown.
    n_pairs, n_opposite : int
    n_left_out : int
        Items beyond `MOST_ITEMS`.
    """

    pairs: tuple[TruthPair, ...]
    n_pairs: int
    n_opposite: int
    n_left_out: int

    def said(self) -> str:
        """A sentence; empty where there is nothing to compare."""
        if not self.n_pairs:
            return ""
        return (
            f"Of {self.n_pairs:,} pairs of items whose numbers are as alike, {self.n_opposite:,} "
            "are one mostly right and one mostly wrong."
        )

    def to_dict(self) -> dict[str, Json]:
        """Plain JSON: counts, and the least error of whoever reads the observer alone."""
        first = self.pairs[0] if self.pairs else None
        gaps = [pair.gap for pair in self.pairs if pair.gap is not None]
        return {
            "n_pairs": self.n_pairs,
            "n_opposite": self.n_opposite,
            "n_left_out": self.n_left_out,
            "error_floor": error_floor(first.apart) if first else None,
            "error_floor_beyond_draws": error_floor(max(gaps)) if gaps else None,
        }


def truths_of(table: AnswerTable, cells: Cells, params: Params) -> Truths:
    """Pairs of auditable cells of one condition whose right answers are known.

    Parameters
    ----------
    table : AnswerTable
    cells : Cells
    params : Params
        ``near``; None compares numbers that are equal to the byte.
    """
    known = np.flatnonzero(cells.auditable & (cells.right >= 0))
    rank = _rank_within(cells.condition[known])
    chosen, left = known[rank < MOST_ITEMS], int((rank >= MOST_ITEMS).sum())
    at = cells.alike(chosen, 0.0 if params.near is None else params.near)
    shares = cells.right / np.maximum(cells.clouds.draws, 1)
    apart = np.abs(shares[at[:, 0]] - shares[at[:, 1]])
    ends = np.sort(shares[at], axis=1)
    opposite = (ends[:, 0] < _HALF) & (ends[:, 1] > _HALF)
    shown = np.argsort(-apart, kind="stable")[:MAX_ROWS]
    pairs = tuple(_pair(table, cells, (int(a), int(b)), len(at), params) for a, b in at[shown])
    return Truths(pairs, len(at), int(opposite.sum()), left)


def _rank_within(codes: Ints) -> Ints:
    """Which entry of its code each one is, from 0."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], codes[order])
    rank = np.empty(len(codes), np.int64)
    rank[order] = np.arange(len(codes)) - starts
    return rank


def _pair(
    table: AnswerTable, cells: Cells, at: tuple[int, int], n_pairs: int, params: Params
) -> TruthPair:
    counts = [(int(cells.right[c]), int(cells.clouds.draws[c])) for c in at]
    drawn = all(bool(cells.drawn[c]) for c in at)
    alpha = 1 - params.level
    names = [str(table.item.words[int(cells.item[c])]) for c in at]
    return TruthPair(
        items=(names[0], names[1]),
        condition=str(table.condition.words[int(cells.condition[at[0]])]),
        distance=float(cells.distance(np.array([at], np.int64))[0]),
        rights=(counts[0][0] / counts[0][1], counts[1][0] / counts[1][1]),
        gap=population_gap(counts[0], counts[1], n_pairs=n_pairs, alpha=alpha) if drawn else None,
    )


def table_of(found: Truths) -> Table:
    """The pairs as a table, the farthest apart first."""
    heads = ("condition", "one item", "another", "distance", "right", "right, other", "error floor")
    rows = tuple(
        (
            cut(pair.condition),
            *map(cut, pair.items),
            round(pair.distance, 4),
            round(pair.rights[0], 4),
            round(pair.rights[1], 4),
            round(error_floor(pair.apart), 4),
            None if pair.gap is None else round(error_floor(pair.gap), 4),
        )
        for pair in found.pairs
    )
    note = (
        "Right: shares of right draws. Whoever gives both items one number, as all do who read the "
        "same numbers, misses one share by at least the error floor; the last column holds beyond "
        "these draws, over all pairs, and is empty where answers are greedy. Does not show: which "
        "of the two is right."
    )
    if found.n_left_out:
        note += f" {found.n_left_out:,} items are not compared: {MOST_ITEMS:,} of a condition are."
    title = "Items with numbers as alike, and how right they are"
    return Table(title, (*heads, "beyond these draws"), rows, found.n_pairs, note)
