"""Readings as text for a terminal or a plain file, drawn with rich."""

from collections.abc import Callable, Iterator, Mapping
from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from trueness.contract import Decision, Reading, State, blocks
from trueness.report import views
from trueness.report.words import (
    STATES,
    cell,
    clip,
    count_of,
    interval_of,
    number,
    prose,
    value_of,
    visible,
)

TABLE_ROWS = 20
_ITEM_ROWS = 10
_CHIPS = 12
_GROUPS = 20
_LINE = 600
_CELL = 60
_POINTS = 12
_BAR_WIDTH = 40
_FILLS = "█▓▒░▚▞"
_STATE_STYLES = {
    State.MEASURED: "bold red",
    State.SILENT: "bold blue",
    State.NO_EVIDENCE: "bold yellow",
    State.NOT_APPLICABLE: "bold yellow",
    State.DEGENERATE: "bold yellow",
    State.UNSTABLE: "bold yellow",
}


def text(reading: Reading, *, width: int = 100, color: bool = False, brief: bool = False) -> str:
    """A reading as text: the statement first, then every block, then what it rests on.

    Parameters
    ----------
    reading : Reading
    width : int
        Columns of the terminal.
    color : bool
        Whether escape codes for colours are written. Escape codes inside of names never are.
    brief : bool
        Only the statement, the state and what to do next.
    """
    parts: list[RenderableType] = list(_head(reading))
    if not brief:
        parts += [drawn for b in reading.blocks[1:] for drawn in _block(b)]
        table = views.items(reading, limit=_ITEM_ROWS)
        parts += _table(table) if table else []
    return _render(Group(*parts), width=width, color=color)


def comparison(
    readings: Mapping[str, Reading],
    *,
    columns: Mapping[str, str] | None = None,
    width: int = 100,
    color: bool = False,
) -> str:
    """Several readings as one table.

    Parameters
    ----------
    readings : mapping of name to Reading
    columns : mapping of str to str, optional
        Names of ``details`` to show and their headings.
    width, color :
        As in `text`.
    """
    table = views.comparison(readings, columns=columns)
    return _render(Group(*_table(table, rows=len(table.rows))), width=width, color=color)


def block_text(block: blocks.Block, *, width: int = 100, color: bool = False) -> str:
    """One block as text, a table with all of its rows.

    Parameters
    ----------
    block : Block
    width, color :
        As in `text`.
    """
    if isinstance(block, blocks.Table):
        return _render(Group(*_table(block, rows=len(block.rows))), width=width, color=color)
    return _render(Group(*_block(block)), width=width, color=color)


def decision_text(decision: Decision, *, width: int = 100, color: bool = False) -> str:
    """A decision as text: what came out, why, and the verdict on each item or condition."""
    parts: list[RenderableType] = [
        Text(views.outcome(decision), style="bold"),
        Text(clip(prose(decision.reason), _LINE)),
    ]
    table = views.verdicts(decision, limit=TABLE_ROWS)
    parts += _table(table) if table else []
    facts, tables = views.figures(decision)
    parts += _facts(facts) if facts else []
    parts += [drawn for t in tables for drawn in _table(t)]
    return _render(Group(*parts), width=width, color=color)


def _render(content: RenderableType, *, width: int, color: bool) -> str:
    console = Console(
        file=StringIO(),
        width=max(width, 20),
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        legacy_windows=False,
    )
    with console.capture() as capture:
        console.print(content)
    lines = [line.rstrip() for line in capture.get().splitlines()]
    return "\n".join(lines).strip("\n") + "\n"


def _head(reading: Reading) -> Iterator[RenderableType]:
    first = reading.blocks[0]
    yield Text(clip(prose(reading.statement), _LINE), style=_STATE_STYLES[reading.state])
    line = f"{STATES[reading.state]} · {count_of(reading)}"
    if reading.value is not None:
        interval = interval_of(reading)
        line += f" · value {value_of(reading)}" + (f", {interval}" if interval else "")
    yield Text(line, style="dim")
    if reading.reason:
        yield Text(clip(prose(reading.reason), _LINE))
    if isinstance(first, blocks.Statement):
        yield from (Text("→ " + clip(prose(line), _LINE)) for line in first.follow_up)


def _block(block: blocks.Block) -> list[RenderableType]:
    return _DRAW[type(block)](block)


def _title(title: str) -> Padding:
    return Padding(Text(prose(title), style="bold underline"), (1, 0, 0, 0))


def _indented(line: str, style: str = "") -> Padding:
    return Padding(Text(line, style=style), (0, 0, 0, 2))


def _note(note: str) -> list[RenderableType]:
    return [_indented(clip(prose(note), _LINE), "dim")] if note else []


def _statement(block: blocks.Statement) -> list[RenderableType]:
    return [Padding(Text(clip(prose(block.text), _LINE)), (1, 0, 0, 0))]


def _groups(block: blocks.Groups) -> list[RenderableType]:
    shown = block.groups[:_GROUPS]
    out: list[RenderableType] = [_title(block.title)]
    out += [_indented(_group(g), "red" if g.flagged else "") for g in shown]
    if block.n_groups > len(shown):
        out.append(_indented(f"and {block.n_groups - len(shown):,} more", "dim"))
    return out + _note(block.note)


def _group(group: blocks.Group) -> str:
    chips = group.chips[:_CHIPS]
    names = ", ".join(("▲" if c.flagged else "") + clip(visible(c.text), _CELL) for c in chips) + (
        f" and {group.size - len(chips):,} more" if group.size > len(chips) else ""
    )
    mark = "▲" if group.flagged else "·"
    note = f" ({prose(group.note)})" if group.note else ""
    return f"{mark} {clip(visible(group.label), _CELL)} × {group.size:,}{note}: {names}"


def _bars(block: blocks.Bars) -> list[RenderableType]:
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(overflow="fold", max_width=24)
    grid.add_column(no_wrap=True, width=_BAR_WIDTH)
    grid.add_column(overflow="fold")
    scale = _BAR_WIDTH / block.limit if block.limit > 0 else 0.0
    for bar in block.bars:
        drawn = "".join(
            _FILLS[i % len(_FILLS)] * round(max(p.value, 0.0) * scale)
            for i, p in enumerate(bar.parts)
        )
        legend = "  ".join(
            f"{_FILLS[i % len(_FILLS)]} {prose(p.label)} {prose(p.display)}"
            for i, p in enumerate(bar.parts)
        )
        grid.add_row(Text(visible(bar.label)), Text(drawn[:_BAR_WIDTH]), Text(legend))
    return [_title(block.title), Padding(grid, (0, 0, 0, 2)), *_note(block.note)]


def _curve(block: blocks.Curve) -> list[RenderableType]:
    out: list[RenderableType] = [_title(block.title)]
    for line in block.series:
        step = max(1, -(-len(line.points) // _POINTS))
        points = line.points[::step]
        shown = "  ".join(f"{number(x)}: {cell(y)}" for x, y in points)
        out.append(_indented(f"{prose(line.label)}   {shown}"))
    out.append(_indented(f"{prose(block.x_label)}: {prose(block.y_label)}", "dim"))
    return out + _note(block.note)


def _table(block: blocks.Table, rows: int = TABLE_ROWS) -> list[RenderableType]:
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    numeric = [
        all(r[i] is None or isinstance(r[i], (int, float)) for r in block.rows)
        for i in range(len(block.columns))
    ]
    for name, right in zip(block.columns, numeric, strict=True):
        grid.add_column(Text(prose(name)), justify="right" if right else "left", overflow="fold")
    for row in block.rows[:rows]:
        grid.add_row(*(Text(clip(cell(c), _CELL)) for c in row))
    out: list[RenderableType] = [_title(block.title), Padding(grid, (0, 0, 0, 2))]
    shown = min(rows, len(block.rows))
    if block.n_rows > shown:
        out.append(_indented(f"{shown:,} of {block.n_rows:,} rows shown", "dim"))
    return out + _note(block.note)


def _facts(block: blocks.Facts) -> list[RenderableType]:
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(overflow="fold")
    grid.add_column(justify="right", overflow="fold")
    grid.add_column(style="dim", overflow="fold")
    for fact in block.facts:
        words = (prose(fact.name), prose(fact.display), prose(fact.qualifier))
        grid.add_row(*(Text(clip(w, _LINE)) for w in words))
    return [_title(block.title), Padding(grid, (0, 0, 0, 2))]


def _notes(block: blocks.Notes) -> list[RenderableType]:
    lines = [_indented("– " + clip(prose(line), _LINE)) for line in block.lines]
    return [_title(block.title), *lines]


_DRAW: Mapping[type, Callable[..., list[RenderableType]]] = {
    blocks.Statement: _statement,
    blocks.Groups: _groups,
    blocks.Bars: _bars,
    blocks.Curve: _curve,
    blocks.Table: _table,
    blocks.Facts: _facts,
    blocks.Notes: _notes,
}
