"""Readings as text for a terminal or a plain file, drawn with rich."""

from collections.abc import Iterator, Mapping
from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.text import Text

from trueness.contract import Decision, Reading, State, blocks
from trueness.report import views
from trueness.report.terminal_blocks import LINE, TABLE_ROWS, drawn, facts, table
from trueness.report.words import clip, count_of, interval_of, prose, state_of, value_of

_ITEM_ROWS = 10
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
        parts += [line for b in reading.blocks[1:] for line in drawn(b)]
        items = views.items(reading, limit=_ITEM_ROWS)
        parts += table(items) if items else []
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
    found = views.comparison(readings, columns=columns)
    lines = table(found, rows=len(found.rows), whole=True)
    return _render(Group(*lines), width=width, color=color)


def block_text(block: blocks.Block, *, width: int = 100, color: bool = False) -> str:
    """One block as text, a table with all of its rows.

    Parameters
    ----------
    block : Block
    width, color :
        As in `text`.
    """
    if isinstance(block, blocks.Table):
        lines = table(block, rows=len(block.rows), whole=True)
        return _render(Group(*lines), width=width, color=color)
    return _render(Group(*drawn(block)), width=width, color=color)


def decision_text(decision: Decision, *, width: int = 100, color: bool = False) -> str:
    """A decision as text: what came out, why, and the verdict on each item or condition."""
    parts: list[RenderableType] = [
        Text(views.outcome(decision), style="bold"),
        Text(clip(prose(decision.reason), LINE)),
    ]
    verdicts = views.verdicts(decision, limit=TABLE_ROWS)
    parts += table(verdicts) if verdicts else []
    figures, tables = views.figures(decision)
    parts += facts(figures) if figures else []
    parts += [line for t in tables for line in table(t)]
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
    yield Text(clip(prose(reading.statement), LINE), style=_STATE_STYLES[reading.state])
    line = f"{state_of(reading)} · {count_of(reading)}"
    if reading.value is not None:
        interval = interval_of(reading)
        line += f" · value {value_of(reading)}" + (f", {interval}" if interval else "")
    yield Text(line, style="dim")
    if reading.reason:
        yield Text(clip(prose(reading.reason), LINE))
    if isinstance(first, blocks.Statement):
        yield from (Text("→ " + clip(prose(line), LINE)) for line in first.follow_up)
