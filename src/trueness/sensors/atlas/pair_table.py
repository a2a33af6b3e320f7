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
    one, two = draw.first(before.clouds), draw.first(after.clouds)
    rows = []
    for item in range(one.n_items):
        moved = tuple(
            draw.rounded(after.parts[p][item, at] - before.parts[p][item, at])
            for p in ("total", *draw.STACK)
        )
        row: tuple[Cell, ...] = (
            draw.cut(atlas.items[item]),
            draw.gold_cell(atlas, item),
            draw.strip(atlas, one, item),
            draw.strip(atlas, two, item),
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
        note="Single items get no verdict: their draws are too few.",
        per_item=True,
    )


def _of_pair(pairs: Pairs | None, item: int) -> tuple[Cell, ...]:
    if pairs is None:
        return (None,) * 5
    p = None if pairs.p is None else _p(pairs.p.tv[item])
    tv, null = (draw.rounded(x[item]) for x in (pairs.tv, pairs.tv_null))
    return tv, null, p, _p(pairs.floor[item]), pairs.moved(item)


def _p(value: float) -> float | None:
    """A p with three digits that count, however small."""
    found = number(value)
    return None if found is None else float(f"{found:.3g}")
