"""Readings as Markdown that any viewer draws; names from models cannot break out of it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from trueness.contract import Decision, Reading, blocks
from trueness.report import views
from trueness.report.curve import banded, ends
from trueness.report.intervals import numbers_of
from trueness.report.machine import Readings
from trueness.report.words import (
    cell,
    clip,
    count_of,
    interval_of,
    named,
    number,
    prose,
    side,
    sign,
    state_of,
    value_of,
)

_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+!|~&$-])")
_ROWS = 200
_ITEMS = 50
_CELL = 400
_LINE = 4_000
_POINTS = 20
_TEXTS = 24


def markdown(
    readings: Readings,
    *,
    decisions: Sequence[Decision] = (),
    title: str = "What these answers show",
    columns: Mapping[str, str] | None = None,
    overview: Sequence[blocks.Block] = (),
) -> str:
    """Readings as one Markdown document: statement first, then blocks, then what it rests on.

    Parameters
    ----------
    readings : mapping, sequence or Reading
    decisions : sequence of Decision
    title : str
    columns : mapping of str to str, optional
        Names of ``details`` that the comparison of several readings shows, and their headings.
    overview : sequence of Block
        Drawn before the readings.

    Raises
    ------
    InputError
        When there are no readings and nothing else either.
    """
    found = named(readings, beside=overview)
    lines = [f"# {_safe(title)}", ""]
    for block in overview:
        lines += _DRAW[type(block)](block)
    if len(found) > 1:
        lines += _table(views.comparison(found, columns=columns))
    for decision in decisions:
        lines += _decision(decision)
    for name, reading in found.items():
        lines += _reading(name, reading)
    return "\n".join(lines).rstrip("\n") + "\n"


def _safe(words: str, limit: int = _LINE) -> str:
    return _SPECIAL.sub(r"\\\1", clip(prose(words), limit))


def _reading(name: str, reading: Reading) -> Iterator[str]:
    if name:
        yield from (f"## {_safe(name)}", "")
    yield from (f"**{_safe(reading.statement)}**", "")
    value = f", value {value_of(reading)}" if reading.value is not None else ""
    interval = f", {interval_of(reading)}" if interval_of(reading) else ""
    yield from (f"{state_of(reading)}, {count_of(reading)}{value}{_safe(interval)}.", "")
    if reading.reason:
        yield from (_safe(reading.reason), "")
    first = reading.blocks[0]
    if isinstance(first, blocks.Statement) and first.follow_up:
        yield from (f"- {_safe(line)}" for line in first.follow_up)
        yield ""
    for block in reading.blocks[1:]:
        yield from _DRAW[type(block)](block)
    table = views.items(reading, limit=_ITEMS)
    if table:
        yield from _table(table)


def _decision(decision: Decision) -> Iterator[str]:
    heading = f"## Decision ({_safe(decision.action)}): {_safe(views.outcome(decision))}"
    yield from (heading, "", _safe(decision.reason), "")
    table = views.verdicts(decision, limit=_ITEMS)
    if table:
        yield from _table(table)
    facts, tables = views.figures(decision)
    if facts:
        yield from _facts(facts)
    for other in tables:
        yield from _table(other)


def _heading(title: str, note: str = "", *, level: str = "###") -> list[str]:
    return [f"{level} {_safe(title)}", "", *([_safe(note), ""] if note else [])]


def _statement(block: blocks.Statement) -> list[str]:
    return [_safe(block.text), ""]


def _groups(block: blocks.Groups) -> list[str]:
    out = _heading(block.title, block.note)
    for group in block.groups:
        names = ", ".join(("▲ " if c.flagged else "") + _safe(c.text, _CELL) for c in group.chips)
        left = group.size - len(group.chips)
        more = f" and {left:,} more" if left > 0 else ""
        mark = "▲ " if group.flagged else ""
        note = f" ({_safe(group.note)})" if group.note else ""
        out.append(f"- {mark}**{_safe(group.label, _CELL)}** × {group.size:,}{note}: {names}{more}")
    if block.n_groups > len(block.groups):
        out.append(f"- and {block.n_groups - len(block.groups):,} more")
    return [*out, ""]


def _bars(block: blocks.Bars) -> list[str]:
    grouped = any(b.group for b in block.bars)
    rows = tuple(
        (*((b.group,) if grouped else ()), b.label, label, display)
        for b in block.bars
        for label, display in (
            *((p.label, p.display) for p in b.parts),
            *((("all parts", b.display),) if b.display else ()),
        )
    )
    heads = (*(("Group",) if grouped else ()), "Bar", "Part", "Size")
    return _table(blocks.Table(block.title, heads, rows, len(rows), block.note))


def _dots(block: blocks.IntervalDots) -> list[str]:
    grouped = any(d.group for d in block.dots)
    rows = tuple(
        (*((d.group,) if grouped else ()), d.label, numbers_of(d), _ends(d.inner))
        for d in block.dots
    )
    heads = (
        *(("Group",) if grouped else ()),
        "Of",
        f"Value [{block.band}]" if block.band else "Value",
        block.inner or "Inner interval",
    )
    note = block.note
    if block.strip:
        note = f"{block.margin or 'Strip'}: {_ends(block.strip)}. {note}".rstrip()
    if not any(d.inner for d in block.dots):
        rows, heads = tuple(row[:-1] for row in rows), heads[:-1]
    return _table(blocks.Table(block.title, heads, rows, len(rows), note))


def _ends(span: tuple[float, float] | None) -> str | None:
    return None if span is None else f"{number(span[0])} to {number(span[1])}"


def _arrows(block: blocks.SimplexArrows) -> list[str]:
    found = (*((block.mean,) if block.mean else ()), *block.arrows)
    rows = tuple(
        (a.label, *(f"{number(s)} → {number(e)}" for s, e in zip(a.start, a.end, strict=True)))
        for a in found
    )
    n = block.n_arrows + (block.mean is not None)
    return _table(blocks.Table(block.title, ("Item", *block.corners), rows, n, block.note))


def _clauses(block: blocks.Clauses) -> list[str]:
    rows = tuple(
        (
            r.verdict + (" (given)" if r.verdict == block.given else ""),
            r.clause,
            r.numbers,
            views.HELD[r.held],
            r.mark or None,
        )
        for r in block.rows
    )
    heads = ("Verdict", "Clause", "Numbers", "Held", "Mark")
    note = f"Verdict: {block.given}. {block.note}".rstrip() if block.given else block.note
    return _table(blocks.Table(block.title, heads, rows, len(rows), note))


def _curve(block: blocks.Curve) -> list[str]:
    wide = banded(block)
    rows = tuple(
        (line.label, number(x), y, *(ends(line, x) if wide else ()))
        for line in block.series
        for x, y in line.points[:: max(1, -(-len(line.points) // _POINTS))]
    )
    columns = ("Line", block.x_label, block.y_label, *(("From", "To") if wide else ()))
    return _table(blocks.Table(block.title, columns, rows, len(rows), block.note))


def _table(block: blocks.Table, *, level: str = "###") -> list[str]:
    out = _heading(block.title, block.note, level=level)
    rows = block.rows[:_ROWS]
    out.append("| " + " | ".join(_safe(c) or " " for c in block.columns) + " |")
    out.append("|" + " --- |" * len(block.columns))
    out += ["| " + " | ".join(_safe(cell(c), _CELL) or " " for c in row) + " |" for row in rows]
    if block.n_rows > len(rows):
        out += ["", f"{len(rows):,} of {block.n_rows:,} rows shown."]
    return [*out, ""]


def _texts(block: blocks.MarkedTexts) -> list[str]:
    out = _heading(block.title, block.note)
    keys = [f"{sign(step)} {_safe(words)}" for step, words in enumerate(block.steps)]
    if block.cut is not None:
        keys.append(f"{_safe(block.threshold)}: {_safe(number(block.cut))}")
    out += [", ".join(keys), ""]
    for text in block.texts[:_TEXTS]:
        out += _marked(text, block.threshold)
    if block.n_texts > len(block.texts[:_TEXTS]):
        out += [f"{len(block.texts[:_TEXTS]):,} of {block.n_texts:,} shown.", ""]
    return out


def _marked(text: blocks.MarkedText, threshold: str) -> list[str]:
    said = " · ".join(_safe(w) for w in (text.display, text.verdict) if w)
    out = [f"#### {_safe(text.label, _CELL)}", "", *([said, ""] if said else [])]
    for s in text.stretches:
        tail = "; ".join(w for w in (s.display, side(s.beyond, threshold), s.note) if w)
        out.append(f"- {sign(s.step)} {_safe(s.text, _CELL)} ({_safe(tail)})")
    figures = ", ".join(
        _safe(" ".join(w for w in (f.name, f.display, f.qualifier) if w)) for f in text.figures
    )
    out += ["", *([figures, ""] if figures else []), *([_safe(text.note), ""] if text.note else [])]
    return out + (_table(text.rests_on, level="#####") if text.rests_on else [])


def _facts(block: blocks.Facts) -> list[str]:
    rows = tuple((f.name, f.display, f.qualifier) for f in block.facts)
    return _table(blocks.Table(block.title, ("Figure", "Value", "Rests on"), rows, len(rows)))


def _notes(block: blocks.Notes) -> list[str]:
    return [*_heading(block.title), *(f"- {_safe(line)}" for line in block.lines), ""]


_DRAW: Mapping[type, Callable[..., list[str]]] = {
    blocks.Statement: _statement,
    blocks.Groups: _groups,
    blocks.Bars: _bars,
    blocks.IntervalDots: _dots,
    blocks.SimplexArrows: _arrows,
    blocks.Curve: _curve,
    blocks.Clauses: _clauses,
    blocks.Table: _table,
    blocks.MarkedTexts: _texts,
    blocks.Facts: _facts,
    blocks.Notes: _notes,
}
