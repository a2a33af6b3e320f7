"""Files that declare right answers: lists, limits and candidates."""

import csv
import io
import json
from pathlib import Path

from trueness.contract.errors import InputError
from trueness.contract.serial import once
from trueness.table.sniff import decoded, unreadable

Declared = list[str] | dict[str, int] | dict[str, list[str]]

_FIRST = frozenset({"answer", "key", "entity"})
_LIMIT = frozenset({"limit", "capacity", "count", "max"})
_CANDIDATE = frozenset({"candidate", "candidates", "answer"})


def read_declaration_file(path: str | Path) -> Declared:
    """A list of entries, limits by answer, or candidates by entity.

    JSON (a list or an object), CSV with a head and two columns (``answer,limit`` or
    ``entity,candidate``, a row a candidate), or text with one entry a line.

    Raises
    ------
    InputError
        When the file cannot be read, is empty or contradicts itself; names file and place.
    """
    path = Path(path)
    try:
        text, n_bad = decoded(path.read_bytes())
    except OSError as error:
        raise unreadable(path, error) from error
    if n_bad:
        raise _error(path, f"holds {n_bad} bytes that are no UTF-8", "Save it as UTF-8")
    if not text.strip():
        raise _error(path, "is empty", "Write at least one entry")
    if text.lstrip()[0] in "[{":
        return _from_json(text, path)
    table = _two_columns(text)
    if table is None:
        return [line.strip() for line in text.splitlines() if line.strip()]
    return _from_columns(table, path)


def _from_json(text: str, path: Path) -> Declared:
    try:
        value = json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise _error(path, f"is no JSON ({error})", "Repair it") from error
    if isinstance(value, list):
        return [_text(v, f"entry {i}", path) for i, v in enumerate(value)]
    if all(type(v) is int for v in value.values()):
        return dict(value)
    return {
        entity: [_text(a, repr(entity), path) for a in (v if isinstance(v, list) else [v])]
        for entity, v in value.items()
    }


def _two_columns(text: str) -> list[list[str]] | None:
    """Rows of a CSV whose head names two columns that are known; None for any other text."""
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except csv.Error:
        return None
    head = [cell.strip().casefold() for cell in rows[0]]
    known = len(head) == 2 and head[0] in _FIRST and head[1] in _LIMIT | _CANDIDATE  # noqa: PLR2004 - two columns
    return [head, *rows[1:]] if known else None


def _from_columns(rows: list[list[str]], path: Path) -> Declared:
    head, *body = rows
    for number, row in enumerate(body, start=1):
        if len(row) != len(head):
            raise _error(path, f"has {len(row)} cells in row {number}", "Write two")
    if head[1] in _LIMIT:
        return _limits(body, path)
    candidates: dict[str, list[str]] = {}
    for entity, candidate in body:
        candidates.setdefault(entity, []).append(candidate)
    return candidates


def _limits(body: list[list[str]], path: Path) -> dict[str, int]:
    limits: dict[str, int] = {}
    for number, (answer, limit) in enumerate(body, start=1):
        if answer in limits:
            raise _error(path, f"names {answer!r} again in row {number}", "Remove one")
        digits = limit.strip().removeprefix("-")
        if not (digits.isascii() and digits.isdecimal() and len(digits) < _MAX_DIGITS):
            raise _error(path, f"has the limit {limit!r} in row {number}", "Write a whole number")
        limits[answer] = int(limit)
    return limits


_MAX_DIGITS = 19


def _text(value: object, where: str, path: Path) -> str:
    if isinstance(value, str):
        return value
    raise _error(path, f"has {value!r} at {where}", "Write text, whole numbers or lists of text")


def _error(path: Path, given: str, remedy: str) -> InputError:
    return InputError(f"{path} {given}. {remedy}.")
