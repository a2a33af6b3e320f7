"""Each block as lines of a terminal, drawn with rich."""

from collections.abc import Callable, Mapping
from itertools import groupby

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from trueness.contract import blocks
from trueness.report import views
from trueness.report.intervals import Row, Spread, Stretch, spread
from trueness.report.terminal_table import CELL, Fitted
from trueness.report.words import cell, clip, number, prose, side, sign, tone, visible

TABLE_ROWS = 20
LINE = 600
_CHIPS = 12
_GROUPS = 20
_LABEL = 24
_POINTS = 12
_ARROWS = 5
_BAR_WIDTH = 40
_TEXTS = 8
_STRETCHES = 8
_FILLS = "█▓▒░▚▞"
_STYLES = {"good": "green", "bad": "red", "absent": "blue", "warn": "yellow", "plain": ""}


def drawn(block: blocks.Block) -> list[RenderableType]:
    """A block's title and what it shows, long lists cut."""
    return _DRAW[type(block)](block)


def table(
    block: blocks.Table, *, rows: int = TABLE_ROWS, whole: bool = False
) -> list[RenderableType]:
    """The first rows of a table.

    Where the columns do not fit without breaking words, the last ones are left out and the text
    says so; where ``whole``, each row becomes a list of all of its cells instead.
    """
    shown = min(rows, len(block.rows))
    out: list[RenderableType] = [
        title(block.title),
        Padding(Fitted(block, rows=shown, whole=whole), (0, 0, 0, 2)),
    ]
    if block.n_rows > shown:
        out.append(_indented(f"{shown:,} of {block.n_rows:,} rows shown", "dim"))
    return out + _note(block.note)


def facts(block: blocks.Facts) -> list[RenderableType]:
    """Named figures, one a line."""
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(overflow="fold")
    grid.add_column(justify="right", overflow="fold")
    grid.add_column(style="dim", overflow="fold")
    for fact in block.facts:
        words = (prose(fact.name), prose(fact.display), prose(fact.qualifier))
        grid.add_row(*(Text(clip(w, LINE)) for w in words))
    return [title(block.title), Padding(grid, (0, 0, 0, 2))]


def title(words: str) -> Padding:
    """The heading of a block."""
    return Padding(Text(prose(words), style="bold underline"), (1, 0, 0, 0))


def _indented(line: RenderableType, style: str = "") -> Padding:
    return Padding(Text(line, style=style) if isinstance(line, str) else line, (0, 0, 0, 2))


def _note(note: str) -> list[RenderableType]:
    return [_indented(clip(prose(note), LINE), "dim")] if note else []


def _statement(block: blocks.Statement) -> list[RenderableType]:
    return [Padding(Text(clip(prose(block.text), LINE)), (1, 0, 0, 0))]


def _groups(block: blocks.Groups) -> list[RenderableType]:
    shown = block.groups[:_GROUPS]
    out: list[RenderableType] = [title(block.title)]
    out += [_indented(_group(g), "red" if g.flagged else "") for g in shown]
    if block.n_groups > len(shown):
        out.append(_indented(f"and {block.n_groups - len(shown):,} more", "dim"))
    return out + _note(block.note)


def _group(group: blocks.Group) -> str:
    chips = group.chips[:_CHIPS]
    names = ", ".join(("▲" if c.flagged else "") + clip(visible(c.text), CELL) for c in chips) + (
        f" and {group.size - len(chips):,} more" if group.size > len(chips) else ""
    )
    mark = "▲" if group.flagged else "·"
    note = f" ({prose(group.note)})" if group.note else ""
    return f"{mark} {clip(visible(group.label), CELL)} × {group.size:,}{note}: {names}"


def _bars(block: blocks.Bars) -> list[RenderableType]:
    out: list[RenderableType] = [title(block.title)]
    limit = views.extent(block)
    widest = min(_LABEL, max((len(visible(bar.label)) for bar in block.bars), default=1) or 1)
    for name, bars in groupby(block.bars, key=lambda bar: bar.group):
        if name:
            out.append(_indented(prose(name), "bold"))
        grid = Grid.grid(padding=(0, 2, 0, 0))
        grid.add_column(overflow="fold", width=widest)
        grid.add_column(no_wrap=True, width=_BAR_WIDTH)
        grid.add_column(overflow="fold")
        for bar in bars:
            grid.add_row(Text(visible(bar.label)), _track(bar, limit), _legend(bar))
        out.append(_indented(grid))
    if block.axis:
        out.append(_indented(f"0 to {number(limit)}: {prose(block.axis)}", "dim"))
    return out + _note(block.note)


def _track(bar: blocks.Bar, limit: float) -> Text:
    scale = _BAR_WIDTH / limit if limit > 0 else 0.0
    track = Text()
    for i, part in enumerate(bar.parts):
        n = min(round(max(part.value, 0.0) * scale), _BAR_WIDTH - len(track))
        track.append(_FILLS[i % len(_FILLS)] * n, style=_STYLES[tone(part.role)])
    return track


def _legend(bar: blocks.Bar) -> Text:
    legend = Text()
    for i, part in enumerate(bar.parts):
        legend.append(_FILLS[i % len(_FILLS)], style=_STYLES[tone(part.role)])
        legend.append(f" {prose(part.label)} {prose(part.display)}  ")
    legend.append(prose(bar.display), style="bold")
    legend.rstrip()
    return legend


def _dots(block: blocks.IntervalDots) -> list[RenderableType]:
    found = spread(block)
    out: list[RenderableType] = [title(block.title)]
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(overflow="fold", max_width=_LABEL)
    grid.add_column(no_wrap=True, width=_BAR_WIDTH + 1)
    grid.add_column(overflow="fold")
    for row in found.rows:
        if row.group:
            grid.add_row(Text(prose(row.group), style="bold"), Text(), Text())
        label = Text(visible(row.label), style=_STYLES[tone(row.role)])
        grid.add_row(label, Text(_line(row, found)), Text(prose(row.text)))
    out.append(_indented(grid))
    ends = (found.ticks[0].label, found.ticks[-1].label)
    keys = (
        f"{ends[0]} to {ends[1]}" + (f": {prose(block.axis)}" if block.axis else ""),
        f"├─┤ {prose(block.band)}" if block.band else "",
        f"━ {prose(block.inner)}" if block.inner else "",
        f"░ {prose(block.margin)}" if block.margin and found.strip else "",
        f"┆ {number(block.reference)}" if found.reference is not None else "",
    )
    out.append(_indented("  ".join(k for k in keys if k), "dim"))
    return out + _note(block.note)


def _line(row: Row, found: Spread) -> str:
    line = [" "] * (_BAR_WIDTH + 1)
    if found.strip:
        _fill(line, found.strip, "░")
    if found.reference is not None:
        line[_at(found.reference)] = "┆"
    if row.band:
        _fill(line, row.band, "─")
        if row.band.low_shown:
            line[_at(row.band.low)] = "├"
        if row.band.high_shown:
            line[_at(row.band.high)] = "┤"
    if row.inner:
        _fill(line, row.inner, "━")
    if row.at is not None:
        line[_at(row.at)] = "●"
    return "".join(line)


def _fill(line: list[str], stretch: Stretch, sign: str) -> None:
    start, stop = _at(stretch.low), _at(stretch.high) + 1
    line[start:stop] = sign * (stop - start)


def _at(percent: float) -> int:
    return round(percent * _BAR_WIDTH / 100)


def _arrows(block: blocks.SimplexArrows) -> list[RenderableType]:
    out: list[RenderableType] = [title(block.title)]
    if block.mean:
        out.append(_indented(_move(block.mean, block), "bold"))
    out += [_indented(_move(a, block)) for a in block.arrows[:_ARROWS]]
    left = block.n_arrows - min(_ARROWS, len(block.arrows))
    if left > 0:
        out.append(_indented(f"and {left:,} more, drawn on the page", "dim"))
    return out + _note(block.note)


def _move(arrow: blocks.Arrow, block: blocks.SimplexArrows) -> str:
    pairs = zip(block.corners, arrow.start, arrow.end, strict=True)
    moves = ", ".join(f"{prose(c)} {number(a)} → {number(z)}" for c, a, z in pairs)
    return f"{clip(visible(arrow.label), CELL)}: {moves}"


def _curve(block: blocks.Curve) -> list[RenderableType]:
    out: list[RenderableType] = [title(block.title)]
    for line in block.series:
        step = max(1, -(-len(line.points) // _POINTS))
        points = line.points[::step]
        shown = "  ".join(f"{number(x)}: {cell(y)}" for x, y in points)
        out.append(_indented(f"{prose(line.label)}   {shown}"))
    out.append(_indented(f"{prose(block.x_label)}: {prose(block.y_label)}", "dim"))
    return out + _note(block.note)


def _clauses(block: blocks.Clauses) -> list[RenderableType]:
    out: list[RenderableType] = [title(block.title)]
    if block.given:
        out.append(_indented(f"verdict: {prose(block.given)}", "bold"))
    for name, rows in views.by_verdict(block):
        given = name == block.given
        out.append(_indented(prose(name) + (" ← given" if given else ""), "bold" if given else ""))
        grid = Grid.grid(padding=(0, 2, 0, 0))
        grid.add_column(width=max(map(len, views.HELD.values())))
        grid.add_column(overflow="fold")
        grid.add_column(overflow="fold")
        for row in rows:
            words = (row.clause, row.numbers + (f" ({row.mark})" if row.mark else ""))
            grid.add_row(views.HELD[row.held], *(Text(clip(prose(w), LINE)) for w in words))
        out.append(Padding(grid, (0, 0, 0, 4)))
    return out + _note(block.note)


def _texts(block: blocks.MarkedTexts) -> list[RenderableType]:
    out: list[RenderableType] = [title(block.title)]
    keys = [f"{sign(step)} {prose(words)}" for step, words in enumerate(block.steps)]
    if block.cut is not None:
        keys.append(f"{prose(block.threshold)}: {number(block.cut)}")
    out.append(_indented("  ".join(keys), "dim"))
    for text in block.texts[:_TEXTS]:
        out += _marked(text, block.threshold)
    left = block.n_texts - min(_TEXTS, len(block.texts))
    if left > 0:
        out.append(_indented(f"and {left:,} more", "dim"))
    return out + _note(block.note)


def _marked(text: blocks.MarkedText, threshold: str) -> list[RenderableType]:
    said = (visible(text.label), prose(text.display), prose(text.verdict))
    out: list[RenderableType] = [
        Padding(Text(clip(" · ".join(w for w in said if w), LINE), style="bold"), (1, 0, 0, 2))
    ]
    for s in text.stretches[:_STRETCHES]:
        more = " · ".join(w for w in (prose(s.display), side(s.beyond, threshold)) if w)
        out.append(_indented(f"{sign(s.step)} {clip(prose(s.text), LINE)}"))
        tail = "; ".join(w for w in (more, prose(s.note)) if w)
        out += [Padding(Text(clip(tail, LINE), style="dim"), (0, 0, 0, 4))] if tail else []
    if len(text.stretches) > _STRETCHES:
        out.append(_indented(f"and {len(text.stretches) - _STRETCHES:,} more", "dim"))
    figures = ", ".join(
        " ".join(prose(w) for w in (f.name, f.display, f.qualifier) if w) for f in text.figures
    )
    out += [_indented(clip(figures, LINE), "dim")] if figures else []
    out += _note(text.note)
    return out + (table(text.rests_on, rows=_STRETCHES) if text.rests_on else [])


def _notes(block: blocks.Notes) -> list[RenderableType]:
    lines = [_indented("– " + clip(prose(line), LINE)) for line in block.lines]
    return [title(block.title), *lines]


_DRAW: Mapping[type, Callable[..., list[RenderableType]]] = {
    blocks.Statement: _statement,
    blocks.Groups: _groups,
    blocks.Bars: _bars,
    blocks.IntervalDots: _dots,
    blocks.SimplexArrows: _arrows,
    blocks.Curve: _curve,
    blocks.Clauses: _clauses,
    blocks.Table: table,
    blocks.MarkedTexts: _texts,
    blocks.Facts: facts,
    blocks.Notes: _notes,
}
