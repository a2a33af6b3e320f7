"""Tables that every output shows and no sensor fills: comparison, items, verdicts, figures."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Literal

from trueness.contract import Decision, ItemVerdict, Reading, State, Verdict
from trueness.contract.blocks import Bars, Cell, ClauseRow, Clauses, Fact, Facts, Strip, Table
from trueness.report.words import STATES, cell, count_of, interval_of, state_of, value_of

FLAG = "▲\N{NO-BREAK SPACE}flagged"
"""Marks a flagged item in words, so that colour is never needed."""

HELD: Mapping[bool | None, str] = {True: "✓ held", False: "✗ not held", None: "– not known"}
"""Whether a clause held, in a sign and in words."""

Kind = Literal["text", "num", "strips"]

_QUIET = frozenset({Verdict.KEEP, Verdict.ACCEPT})


def comparison(
    readings: Mapping[str, Reading], *, columns: Mapping[str, str] | None = None
) -> Table:
    """One row for each reading: state, value, n, and the named details that were asked for.

    Parameters
    ----------
    readings : mapping of name to Reading
    columns : mapping of str to str, optional
        Names of ``details`` to show and the heading of each. A detail that is absent is a dash.
    """
    wanted = columns or {}
    rows = tuple(
        (
            name,
            state_of(r),
            value_of(r),
            interval_of(r),
            count_of(r),
            *(_detail(r, key) for key in wanted),
        )
        for name, r in readings.items()
    )
    heads = ("Condition", "State", "Value", "Interval", "n", *wanted.values())
    return Table("Side by side", heads, rows, len(rows))


def items(reading: Reading, *, limit: int) -> Table | None:
    """The first items of a reading as a table; None when there are none.

    None also when a block of the reading is such a table. Columns that say the same nothing for
    every item are left out.
    """
    if any(isinstance(b, Table) and b.per_item for b in reading.blocks):
        return None
    shown = list(islice(iter(reading.per_item), limit))
    if not shown:
        return None
    marked = set(islice(iter(reading.flagged.items), limit))  # in the order of the items
    extra = tuple(dict.fromkeys(key for i in shown for key in i.extra))
    columns: dict[str, list[Cell]] = {
        "Item": [i.item for i in shown],
        "Flagged": [FLAG if i.item in marked else None for i in shown],
        "State": [STATES[i.state] for i in shown],
        "Value": [i.value for i in shown],
    }
    columns |= {heading(key): [_cell(i.extra.get(key)) for i in shown] for key in extra}
    columns["Reason"] = [i.reason for i in shown]
    if all(i.state is State.MEASURED for i in shown):
        columns.pop("State")
    kept = {name: c for name, c in columns.items() if any(value is not None for value in c)}
    rows = tuple(zip(*kept.values(), strict=True))
    return Table("Every item", tuple(kept), rows, len(reading.per_item))


def verdicts(decision: Decision, *, limit: int) -> Table | None:
    """What was decided about each; those that are neither kept nor accepted come first."""
    counted = len(decision.verdicts)
    if not counted:
        return None
    ordered = [*_loud(decision), *_quiet(decision)][:limit]
    reasons = any(v.reason for v in ordered)
    rows = tuple(
        (v.item or "none", v.verdict.value, *((v.reason or None,) if reasons else ()))
        for v in ordered
    )
    heads = ("Item", "Verdict", "Reason") if reasons else ("Item", "Verdict")
    return Table("Verdicts", heads, rows, counted)


def figures(decision: Decision) -> tuple[Facts | None, tuple[Table, ...]]:
    """The details of a decision: single figures as facts, figures by name as tables."""
    plain = tuple(
        Fact(heading(name), cell(value))
        for name, value in decision.details.items()
        if not isinstance(value, dict)
    )
    tables = tuple(
        _by_name(name, value) for name, value in decision.details.items() if isinstance(value, dict)
    )
    return (Facts("Figures", plain) if plain else None), tables


def kinds(rows: Sequence[Sequence[Cell]], n_columns: int) -> tuple[Kind, ...]:
    """What each column holds: text, numbers alone, or strips of counts."""
    return tuple(_kind([row[i] for row in rows]) for i in range(n_columns))


def sort_key(value: Cell) -> float:
    """The number that a cell is sorted by: its own, or the share of the first part of a strip."""
    if isinstance(value, Strip):
        total = sum(n for _, n, _ in value.parts)
        return value.parts[0][1] / total if total else 0.0
    return 0.0 if value is None or isinstance(value, str) else value


def extent(block: Bars) -> float:
    """Where the common scale of bars ends: their limit, or the longest bar if that is longer."""
    longest = max((sum(max(p.value, 0.0) for p in bar.parts) for bar in block.bars), default=0.0)
    return block.limit if longest <= block.limit * (1 + 1e-9) else longest


def by_verdict(block: Clauses) -> list[tuple[str, list[ClauseRow]]]:
    """The rows of a block of clauses, those of one verdict together, in their order."""
    return [(name, list(rows)) for name, rows in groupby(block.rows, key=lambda row: row.verdict)]


def heading(name: str) -> str:
    """A field's name as a person writes it.

    Examples
    --------
    >>> heading("break_even_slack")
    'Break even slack'
    """
    return name.replace("_", " ").strip().capitalize() or name


def outcome(decision: Decision) -> str:
    """What came out of a decision, in two or three words."""
    if decision.state is not State.MEASURED:
        return STATES[decision.state]
    if decision.taken is not None:
        return f"Taken: {decision.taken or 'none'}"
    if any(v.verdict is Verdict.DECLINE for v in decision.verdicts):
        return "Declined"
    counts: dict[str, int] = {}
    for v in decision.verdicts:
        counts[v.verdict.value] = counts.get(v.verdict.value, 0) + 1
    return ", ".join(f"{n:,} {name}" for name, n in counts.items()) or "Decided"


def _kind(cells: Sequence[Cell]) -> Kind:
    if any(isinstance(c, Strip) for c in cells):
        return "strips"
    return "text" if any(isinstance(c, (str, bool)) for c in cells) else "num"


def _loud(decision: Decision) -> Iterator[ItemVerdict]:
    return (v for v in decision.verdicts if v.verdict not in _QUIET)


def _quiet(decision: Decision) -> Iterator[ItemVerdict]:
    return (v for v in decision.verdicts if v.verdict in _QUIET)


def _by_name(title: str, data: Mapping[str, object]) -> Table:
    if data and all(isinstance(v, Mapping) for v in data.values()):
        nested = {k: v for k, v in data.items() if isinstance(v, Mapping)}
        keys = tuple(dict.fromkeys(str(key) for v in nested.values() for key in v))
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (name or "none", *(_cell(v.get(key)) for key in keys)) for name, v in nested.items()
        )
        return Table(heading(title), ("Name", *map(heading, keys)), rows, len(rows))
    rows = tuple((name or "none", _cell(v)) for name, v in data.items())
    return Table(heading(title), ("Name", "Value"), rows, len(rows))


def _detail(reading: Reading, key: str) -> Cell:
    return _cell(reading.details.get(key))


def _cell(value: object) -> Cell:
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, (Mapping, Sequence)) and not value:
        return None
    return cell(value)
