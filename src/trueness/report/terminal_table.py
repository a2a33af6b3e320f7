"""A table on a terminal: as wide as it may be, and no ordinary word broken."""

import textwrap
from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from trueness.contract import blocks
from trueness.report import columns, views
from trueness.report.words import cell, clip, prose, strip_text

CELL = 60
"""Characters of a name or a cell that are shown."""

_PARTS = 2


class Fitted:
    """A table that looks at the width it gets before it chooses its form."""

    def __init__(self, block: blocks.Table, *, rows: int, whole: bool) -> None:
        self.heads = [prose(name) for name in block.columns]
        self.cells = [[_short(c) for c in row] for row in block.rows[:rows]]
        self.kinds = views.kinds(block.rows, len(block.columns))
        self.whole = whole

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console
        room = options.max_width
        by_column = (
            [[h, *c] for h, c in zip(self.heads, zip(*self.cells, strict=True), strict=True)]
            if self.cells
            else [[h] for h in self.heads]
        )
        found = columns.widths(by_column, room)
        if found is None and self.whole:
            yield from self._records()
            return
        n = len(by_column) if found else max(1, columns.fitting(by_column, room))
        yield self._grid(found or columns.widths(by_column[:n], room), n)
        if n < len(by_column):
            left = ", ".join(self.heads[n:])
            yield Text(f"columns that a wider terminal or a file shows: {left}", style="dim")

    def _grid(self, found: tuple[int, ...] | None, n: int) -> Grid:
        grid = Grid(box=None, pad_edge=False, padding=(0, columns.GAP, 0, 0), header_style="dim")
        for i in range(n):
            right = self.kinds[i] == "num"
            grid.add_column(
                Text(self.heads[i]),
                justify="right" if right else "left",
                overflow="fold",
                width=found[i] if found else None,
            )
        for row in self.cells:
            grid.add_row(*(Text(self._wrapped(i, c, found)) for i, c in enumerate(row[:n])))
        return grid

    def _wrapped(self, column: int, text: str, found: tuple[int, ...] | None) -> str:
        """Rich would part a count from its label at the no-break space."""
        if found is None or self.kinds[column] != "strips":
            return text
        return "\n".join(textwrap.wrap(text, found[column]))

    def _records(self) -> Iterator[RenderableType]:
        for row in self.cells:
            head, *rest = row
            yield Text(head, style="bold")
            pairs = zip(self.heads[1:], rest, strict=True)
            shown = [f"{name}: {c}" for name, c in pairs if c]
            yield Padding(Text("; ".join(shown)), (0, 0, 0, 2))


def _short(value: blocks.Cell) -> str:
    if isinstance(value, blocks.Strip):
        return strip_text(value, parts=_PARTS)
    return clip(cell(value), CELL)
