"""Several draws in one row become one row a draw."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.table.aliases import Roles
from trueness.table.cells import ABSENT, DRAWS, CellSource

T = TypeVar("T")

GREEDY = "greedy"
"""The condition of answers that were taken at temperature 0 beside the draws."""
NO_CONDITION = "none"
_COMPLETION = "completion"
_ALIGNED = ("tool_answer", "tool_score", "stop_reason", "is_correct", "cached", "attempts")


def long(source: CellSource, roles: Roles) -> tuple[CellSource, Roles]:
    """The source with a row a draw, and the parts its columns then play.

    Draws stand in lists: of keys (``answers``; null for no answer), or of completions, in the
    answer column itself or beside it. Evidence in lists of the same length goes with its draw.
    A greedy answer beside the draws becomes a row of the condition ``greedy``.

    Raises
    ------
    InputError
        When one row has both keys and completions in lists, or an empty list of draws.
    """
    if not _is_wide(source, roles):
        return source, _without(roles, GREEDY)
    keys = "answers" in roles
    if keys and "draws" in roles:
        raise _both_hold(roles, "answers", "draws")
    lists = [_draws(source, roles, i) for i in range(source.n_rows)]
    greedy = _greedy(source, roles)
    counts = [len(draws) for draws in lists]
    totals = [len(draws) + len(one) for draws, one in zip(lists, greedy, strict=True)]
    cells = _repeated(source, roles, counts, totals)
    given = roles.columns["answers" if keys else "draws" if "draws" in roles else _COMPLETION]
    draws_column, column = f"{DRAWS}{given}", "answer" if keys else _COMPLETION
    cells[draws_column] = [
        v for draws, one in zip(lists, greedy, strict=True) for v in (*draws, *one)
    ]
    roles = _without(roles, "answers", "draws", _COMPLETION, GREEDY)
    columns = {**roles.columns, column: draws_column}
    if any(greedy):
        columns["condition"] = f"{DRAWS}condition"
        cells[columns["condition"]] = _conditions(source, roles, counts, totals)
    rows = _each(source.row_numbers, totals)
    return replace(source, cells=cells, row_numbers=rows), replace(roles, columns=columns)


def greedy_name(condition: object) -> str:
    """The condition of greedy answers beside the draws of a condition."""
    plain = condition is None or condition == NO_CONDITION
    return GREEDY if plain else f"{GREEDY}:{condition}"


def with_greedy(fields: Mapping[str, Json]) -> dict[str, Json]:
    """Facts about greedy answers, from those about the draws beside them."""
    decoding = fields.get("decoding")
    if isinstance(decoding, dict):
        return {**fields, "decoding": {**decoding, "temperature": 0}, "condition": GREEDY}
    return {**fields, "temperature": 0, "condition": GREEDY}


def _without(roles: Roles, *names: str) -> Roles:
    return replace(roles, columns={r: c for r, c in roles.columns.items() if r not in names})


def _is_wide(source: CellSource, roles: Roles) -> bool:
    if {"draws", "answers"} & set(roles.columns):
        return True
    name = roles.columns.get(_COMPLETION)
    return name is not None and any(isinstance(v, (list, tuple)) for v in source.cells[name])


def _draws(source: CellSource, roles: Roles, index: int) -> list[object]:
    parts = ("answers",) if "answers" in roles else (_COMPLETION, "draws")
    found = {role: _listed(source, roles, role, index) for role in parts if role in roles}
    draws: list[object] = []
    for role, value in found.items():
        if isinstance(value, list):
            if draws and isinstance(found.get(_COMPLETION), list):
                _check_one_list(roles, draws, value)
                continue
            draws.extend(value)
        elif value is not None or role == _COMPLETION:
            draws.append(value)
    if draws:
        return draws
    msg = (
        f"row {source.row_numbers[index]} holds no draw; at least one is wanted. "
        "Remove the row, or write null for a draw without an answer."
    )
    raise InputError(msg)


def _check_one_list(roles: Roles, one: list[object], two: list[object]) -> None:
    """Refuse two lists of draws in one row, unless they are one list under two names."""
    if one != two:
        raise _both_hold(roles, _COMPLETION, "draws")


def _listed(source: CellSource, roles: Roles, role: str, index: int) -> object:
    value = source.cells[roles.columns[role]][index]
    return _flat(value) if isinstance(value, (list, tuple)) else value


def _both_hold(roles: Roles, one: str, two: str) -> InputError:
    first, second = roles.columns[one], roles.columns[two]
    msg = (
        f"columns {first!r} and {second!r} both hold draws; one was wanted. "
        f"Say which with --answer {first}."
    )
    return InputError(msg)


def _flat(value: Sequence[object]) -> list[object]:
    """Draws of a list; a list of one list (a tool's way of writing repeats) is that list."""
    if len(value) == 1 and isinstance(value[0], (list, tuple)):
        return list(value[0])
    return list(value)


def _greedy(source: CellSource, roles: Roles) -> list[tuple[object, ...]]:
    if GREEDY not in roles:
        return [()] * source.n_rows
    return [() if v is ABSENT else (v,) for v in source.cells[roles.columns[GREEDY]]]


def _conditions(
    source: CellSource, roles: Roles, counts: Sequence[int], totals: Sequence[int]
) -> list[object]:
    name = roles.columns.get("condition")
    given: Sequence[object] = source.cells[name] if name else [None] * source.n_rows
    cells: list[object] = []
    for condition, n_draws, n in zip(given, counts, totals, strict=True):
        cells.extend([condition] * n_draws)
        cells.extend([greedy_name(condition)] * (n - n_draws))
    return cells


def _repeated(
    source: CellSource, roles: Roles, counts: Sequence[int], totals: Sequence[int]
) -> dict[str, Sequence[object]]:
    aligned = {roles.evidence[name] for name in _ALIGNED if name in roles.evidence}
    aligned |= {roles.columns[name] for name in ("epoch", "logprob") if name in roles}
    cells: dict[str, Sequence[object]] = {}
    for name, column in source.cells.items():
        if name in aligned and _fits(column, counts):
            beside = 1 if name == roles.columns.get("epoch") else None
            padded = zip(column, counts, totals, strict=True)
            cells[name] = [v for c, k, n in padded for v in (*_as_list(c), *[beside] * (n - k))]
        else:
            cells[name] = _each(column, totals)
    return cells


def _fits(column: Sequence[object], counts: Sequence[int]) -> bool:
    return all(len(_as_list(v)) == n for v, n in zip(column, counts, strict=True))


def _as_list(value: object) -> Sequence[object]:
    return value if isinstance(value, (list, tuple)) else ()


def _each(values: Sequence[T], counts: Sequence[int]) -> list[T]:
    return [v for v, n in zip(values, counts, strict=True) for _ in range(n)]
