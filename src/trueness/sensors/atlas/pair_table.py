"""The items of a comparison, row by row."""

from trueness.contract.blocks import Cell, Table
from trueness.sensors.atlas import draw
from trueness.sensors.atlas.arms import Atlas
from trueness.sensors.atlas.audit import Audit
from trueness.sensors.atlas.figures import Figures, number
from trueness.sensors.atlas.pairs import Pairs

COLUMNS = (
    "item",
    "gold",
    "before",
    "after",
    "Δ agreement",
    "Δ gold",
    "Δ wrong",
    "Δ no answer",
    "TV",
    "TV by chance",
    "p",
    "least p",
    "movement",
    "spelling only",
)


def pair_table(
    atlas: Atlas, before: Figures, after: Figures, *, pairs: Pairs | None, audit: Audit | None
) -> Table:
    """Both clouds of every item, what moved, and what chance alone would show."""
    order = before.params.primary
    at = before.params.orders.index(order)
    rows = []
    for item in range(min(atlas.n_items, draw.MAX_ROWS)):
        moved = tuple(
            _rounded(after.parts[p][item, at] - before.parts[p][item, at])
            for p in ("total", *draw.STACK)
        )
        row: tuple[Cell, ...] = (
            draw.cut(atlas.items[item]),
            draw.gold_cell(atlas, item),
            draw.strip(atlas, before.clouds, item),
            draw.strip(atlas, after.clouds, item),
            *moved,
            *_of_pair(pairs, item),
            None if audit is None else bool(audit.vanishes[item]),
        )
        rows.append(row)
    return Table(
        f"Items (r = {order})",
        COLUMNS,
        tuple(rows),
        n_rows=atlas.n_items,
        note="An item has an arrow, never a verdict: its draws are too few.",
        per_item=True,
    )


def _of_pair(pairs: Pairs | None, item: int) -> tuple[Cell, ...]:
    if pairs is None:
        return (None,) * 5
    p = None if pairs.p is None else _rounded(pairs.p.tv[item])
    tv, null, floor = (_rounded(x[item]) for x in (pairs.tv, pairs.tv_null, pairs.floor))
    return tv, null, p, floor, pairs.moved(item)


def _rounded(value: float) -> float | None:
    found = number(value)
    return None if found is None else round(found, 4)
