"""Arrays beside a table, in a file of their own: one entry a row, found by the row's key."""

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.table.answers import AnswerTable
from trueness.table.growing import ALL_DRAWS, growing_of, read_growing
from trueness.table.writing import unwritable, whole_file

SUFFIX = ".arrays.npz"
_KEYS = ("key.item", "key.epoch", "key.condition")
_ARRAY = "array."

Floats: TypeAlias = NDArray[np.floating]
Key: TypeAlias = tuple[str, int, str]


def sidecar_of(path: str | Path) -> Path:
    """Where the arrays of a table file lie: beside it, under its name.

    >>> sidecar_of("answers.jsonl").name
    'answers.arrays.npz'
    """
    return Path(path).with_suffix(SUFFIX)


def with_arrays(table: AnswerTable, arrays: Mapping[str, Floats]) -> AnswerTable:
    """The table with arrays, one entry a row.

    Raises
    ------
    ShapeError
        When there is not one entry a row.
    """
    for name, array in arrays.items():
        if array.ndim == 0 or len(array) != len(table) or array.dtype.kind != "f":
            msg = (
                f"the array {name!r} is {array.dtype} of shape {array.shape} for {len(table)} "
                "rows; wanted floating-point numbers, one entry a row."
            )
            raise ShapeError(msg)
    return replace(table, arrays=dict(arrays))


def write_arrays(table: AnswerTable, path: str | Path) -> Path:
    """Write the arrays of a table beside its file; the file appears whole or not at all.

    Parameters
    ----------
    table : AnswerTable
    path : path
        Of the table; the arrays go to `sidecar_of` it.

    Raises
    ------
    InputError
        When it cannot be written.
    """
    items, epochs, conditions = _keys(table)
    kept: dict[str, Any] = {
        "key.item": np.array(items, dtype=np.str_),
        "key.epoch": np.array(epochs, dtype=np.int64),
        "key.condition": np.array(conditions, dtype=np.str_),
        **{_ARRAY + name: np.asarray(array) for name, array in table.arrays.items()},
    }
    target = sidecar_of(path)
    with whole_file(target) as partial, partial.open("wb") as file:
        np.savez(file, **kept)  # arrays of numbers and texts: never of objects
    return target


def replace_arrays(table: AnswerTable, path: str | Path) -> None:
    """Leave beside a table's file its arrays and no others.

    Raises
    ------
    InputError
        When the file cannot be written or taken away.
    """
    if table.arrays:
        write_arrays(table, path)
        _remove(growing_of(path))
    else:
        forget_arrays(path)


def forget_arrays(path: str | Path) -> None:
    """Take away the arrays beside a table that is gone.

    Raises
    ------
    InputError
        When that is not allowed.
    """
    _remove(sidecar_of(path))
    _remove(growing_of(path))


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(path, error) from error


def beside(table: AnswerTable, path: str | Path) -> AnswerTable:
    """The table with the arrays that lie beside its file, if any do.

    Those of a table that grew (`trueness.table.growing`) count before those written whole. A row
    that neither holds has nan; entries without a row belong to rows that are not here.

    Parameters
    ----------
    table : AnswerTable
    path : path
        Of the table.

    Raises
    ------
    InputError
        When the file holds no arrays with keys, or one key twice.
    """
    found, growing = sidecar_of(path), growing_of(path)
    arrays: dict[str, Floats] = {}
    if found.is_file():
        keys, read = _read(found)
        rows = _places(table, keys)
        if len(set(keys)) != len(keys):
            msg = f"{found.name} holds a key twice; wanted one entry a row. Write it again."
            raise InputError(msg)
        arrays |= {name: _picked(a, rows) for name, a in read.items()}
    if growing.is_file():
        for name, (keys, entries) in read_growing(growing).items():
            arrays[name] = _filled(arrays.get(name), entries, _places(table, keys))
    return replace(table, arrays=arrays) if arrays else table


def joined(tables: Sequence[AnswerTable]) -> dict[str, Floats]:
    """The arrays of several tables one after the other; nan for rows of a table without them.

    Raises
    ------
    ShapeError
        When the entries of two tables have different shapes.
    """
    out: dict[str, Floats] = {}
    for name in dict.fromkeys(name for t in tables for name in t.arrays):
        shapes = {t.arrays[name].shape[1:] for t in tables if name in t.arrays}
        if len(shapes) > 1:
            msg = (
                f"the array {name!r} has entries of shapes {sorted(shapes)} in shards of one "
                "table; wanted one shape. Read tables of one model together."
            )
            raise ShapeError(msg)
        shape = shapes.pop()
        parts = [t.arrays.get(name, np.full((len(t), *shape), np.nan)) for t in tables]
        out[name] = np.concatenate(parts)
    return out


def _keys(table: AnswerTable) -> tuple[list[str], list[int], list[str]]:
    items = [str(i) for i in table.item.values()]
    return items, table.epoch.tolist(), [str(c) for c in table.condition.values()]


def _read(path: Path) -> tuple[list[Key], dict[str, Floats]]:
    try:
        with path.open("rb") as raw, np.load(raw) as file:
            columns = [file[name].tolist() for name in _KEYS]
            arrays = {
                name.removeprefix(_ARRAY): file[name]
                for name in file.files
                if name.startswith(_ARRAY)
            }
        keys = list(zip(*columns, strict=True))
    except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile) as error:
        msg = (
            f"{path.name} cannot be read as the arrays of a table ({type(error).__name__}); it "
            "lies beside a table under its name. Write it again, or move it away."
        )
        raise InputError(msg) from error
    odd = [n for n, a in arrays.items() if len(a) != len(keys) or a.dtype.kind != "f"]
    if odd:
        msg = f"{path.name} holds {odd[0]!r}, which is not one entry of numbers a key."
        raise InputError(msg)
    return keys, arrays


def _places(table: AnswerTable, keys: Sequence[Key]) -> NDArray[np.intp]:
    """Where the entry of each row stands: its own, or that of all draws; -1 where none is."""
    at = {key: i for i, key in enumerate(keys)}
    rows = zip(*_keys(table), strict=True)
    found = (at.get((i, e, c), at.get((i, ALL_DRAWS, c), -1)) for i, e, c in rows)
    return np.fromiter(found, np.intp, len(table))


def _filled(before: Floats | None, entries: Floats, rows: NDArray[np.intp]) -> Floats:
    """Entries by place; where there are none, what was there before."""
    out = _picked(entries, rows)
    if before is not None and before.shape == out.shape:
        out[rows < 0] = before[rows < 0]
    return out


def _picked(array: Floats, rows: NDArray[np.intp]) -> Floats:
    """Entries by place; nan where the place is -1."""
    out = np.full((len(rows), *array.shape[1:]), np.nan, dtype=array.dtype)
    there = rows >= 0
    out[there] = array[rows[there]]
    return out
