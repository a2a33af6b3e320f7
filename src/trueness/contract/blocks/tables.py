"""Blocks of rows: tables, conditions of a verdict, named numbers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Strip:
    """How many of each kind, as one small bar in a cell: ``(label, count, role)`` in drawn order.

    A table is sorted by the share of the first part. Long tails are one part with their total,
    e.g. ``("9 other answers", 11, "wrong")``. Roles as in `Part`.
    """

    parts: tuple[tuple[str, int, str], ...]


Cell = str | int | float | bool | Strip | None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows and columns; ``n_rows`` counts all of them, also those not shown.

    A cell is text, a number, yes or no, nothing, or a `Strip` of counts. Where ``per_item``, its
    rows are the items of the reading and no other table of them is drawn.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    n_rows: int
    note: str = ""
    per_item: bool = False


@dataclass(frozen=True, slots=True)
class ClauseRow:
    """One condition of one verdict: its numbers, and whether it held (None: not known).

    ``mark`` is a word of caution shown beside it, e.g. ``"few movers"``.
    """

    verdict: str
    clause: str
    numbers: str
    held: bool | None
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Clauses:
    """Every condition of every verdict with its numbers; ``given`` is the verdict that came out.

    Rows that follow one another with the same ``verdict`` stand together.
    """

    title: str
    rows: tuple[ClauseRow, ...]
    given: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """One named number as printed, with what it rests on: ``proved``, an n, an interval."""

    name: str
    display: str
    qualifier: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Named numbers, each with its denominator, interval or the word *proved*."""

    title: str
    facts: tuple[Fact, ...]
