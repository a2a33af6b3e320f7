"""Several draws in one row become one row a draw."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from trueness.contract.errors import InputError
from trueness.table.aliases import Roles
from trueness.table.cells import DRAWS, CellSource

T = TypeVar("T")

_COMPLETION = "completion"
_ALIGNED = ("tool_answer", "tool_score", "stop_reason")


def long(source: CellSource, roles: Roles) -> tuple[CellSource, Roles]:
    """The source with a row a draw, and the parts its columns then play.

    Draws stand in lists: of keys (``answers``; null for no answer), or of completions, in the
    answer column itself or beside it. Evidence in lists of the same length goes with its draw.

    Raises
    ------
    InputError
        When one row has both keys and completions in lists, or an empty list of draws.
    """
    if not _is_wide(source, roles):
        return source, roles
    keys = "answers" in roles
    if keys and "draws" in roles:
        msg = (
            f"columns {roles.columns['answers']!r} and {roles.columns['draws']!r} both hold draws; "
            f"one was wanted. Say which with --answer {roles.columns['answers']}."
        )
        raise InputError(msg)
    lists = [_draws(source, roles, i) for i in range(source.n_rows)]
    counts = [len(draws) for draws in lists]
    column = "answer" if keys else _COMPLETION
    cells = _repeated(source, roles, counts)
    given = roles.columns["answers" if keys else "draws" if "draws" in roles else _COMPLETION]
    cells[f"{DRAWS}{given}"] = [draw for draws in lists for draw in draws]
    rows = _each(source.row_numbers, counts)
    columns = {r: c for r, c in roles.columns.items() if r not in {"answers", "draws"}}
    columns = {r: c for r, c in columns.items() if r != _COMPLETION} | {column: f"{DRAWS}{given}"}
    return replace(source, cells=cells, row_numbers=rows), replace(roles, columns=columns)


def _is_wide(source: CellSource, roles: Roles) -> bool:
    if {"draws", "answers"} & set(roles.columns):
        return True
    name = roles.columns.get(_COMPLETION)
    return name is not None and any(isinstance(v, (list, tuple)) for v in source.cells[name])


def _draws(source: CellSource, roles: Roles, index: int) -> list[object]:
    draws: list[object] = []
    for role in ("answers",) if "answers" in roles else (_COMPLETION, "draws"):
        if role not in roles:
            continue
        value = source.cells[roles.columns[role]][index]
        if isinstance(value, (list, tuple)):
            draws.extend(_flat(value))
        elif value is not None or role == _COMPLETION:
            draws.append(value)
    if draws:
        return draws
    msg = (
        f"row {source.row_numbers[index]} holds no draw; at least one is wanted. "
        "Remove the row, or write null for a draw without an answer."
    )
    raise InputError(msg)


def _flat(value: Sequence[object]) -> list[object]:
    """Draws of a list; a list of one list (a tool's way of writing repeats) is that list."""
    if len(value) == 1 and isinstance(value[0], (list, tuple)):
        return list(value[0])
    return list(value)


def _repeated(
    source: CellSource, roles: Roles, counts: Sequence[int]
) -> dict[str, Sequence[object]]:
    aligned = {roles.evidence[name] for name in _ALIGNED if name in roles.evidence}
    cells: dict[str, Sequence[object]] = {}
    for name, column in source.cells.items():
        if name in aligned and _fits(column, counts):
            cells[name] = [v for value in column for v in _as_list(value)]
        else:
            cells[name] = _each(column, counts)
    return cells


def _fits(column: Sequence[object], counts: Sequence[int]) -> bool:
    return all(len(_as_list(v)) == n for v, n in zip(column, counts, strict=True))


def _as_list(value: object) -> Sequence[object]:
    return value if isinstance(value, (list, tuple)) else ()


def _each(values: Sequence[T], counts: Sequence[int]) -> list[T]:
    return [v for v, n in zip(values, counts, strict=True) for _ in range(n)]
