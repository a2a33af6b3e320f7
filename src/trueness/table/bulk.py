"""Large CSV files and all Parquet files, through DuckDB; text never comes into memory whole."""

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.table.cells import CellSource, vector, wholes_of
from trueness.table.column import Column
from trueness.table.delimited import header_of
from trueness.table.jsonlines import check_version
from trueness.table.parquet import METADATA_KEY, quoted
from trueness.table.singles import SingleWords
from trueness.table.sniff import HEAD, decoded, unreadable
from trueness.table.stored import TextStore

_NUMBERS = count()
_GLOB = frozenset("*?[")
_WHOLE = frozenset(
    {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
)


class BulkSource:
    """Columns of a file as a store sees it; a `Source` that interns them there.

    Parameters
    ----------
    store : TextStore
    file : str
        The file as a table function of SQL.
    types : mapping of column name to its type
    n_rows : int
    header : mapping or None
    """

    notes: tuple[str, ...] = ()
    completed = True

    def __init__(
        self,
        store: TextStore,
        file: str,
        types: Mapping[str, str],
        *,
        header: Mapping[str, Json] | None = None,
    ) -> None:
        self._store, self._file, self._types = store, file, types
        self._table = ""
        self._columns: dict[str, Column[str]] = {}
        self.header = header
        self.n_rows = 0

    def load(self, names: Iterable[str]) -> None:
        """Copy the columns that are needed into the store, once."""
        if self._table:
            return
        wanted = set(names)
        listed = ", ".join(quoted(n) for n in self._types if n in wanted)
        self._table = self._store.new_table(f"SELECT {listed} FROM {self._file}")  # noqa: S608 - quoted
        self.n_rows = self._store.rows(f"SELECT count(*) FROM {self._table}")[0][0]  # noqa: S608 - ours

    @property
    def row_numbers(self) -> NDArray[np.int64]:
        """Where each row stood in its source, from 1."""
        return np.arange(1, self.n_rows + 1, dtype=np.int64)

    @property
    def names(self) -> Sequence[str]:
        """Columns, in the order of the source."""
        return tuple(self._types)

    def text(self, name: str) -> Column[str]:
        """An identifying column as text: whole numbers are written out, null stays null."""
        kind = self._types[name]
        if kind not in {"VARCHAR", "DOUBLE", "FLOAT", *_WHOLE}:
            self._refuse(name, "text or whole numbers are")
        if name not in self._columns:
            word = quoted(name) if kind == "VARCHAR" else f"CAST({quoted(name)} AS VARCHAR)"
            self._columns[name] = self._store.interned(self._table, word, self.n_rows)
        return self._columns[name]

    def answers(self, name: str) -> Column[str]:
        """A column of answers: text or null, nothing else."""
        if self._types[name] != "VARCHAR":
            self._refuse(name, "text is")
        return self.text(name)

    def evidence(self, name: str) -> Column[str]:
        """A column of anything, as text."""
        if name not in self._columns:
            word = f"CAST({quoted(name)} AS VARCHAR)"
            self._columns[name] = self._store.interned(self._table, word, self.n_rows)
        return self._columns[name]

    def numbers(self, name: str) -> Column[str]:
        """A column of numbers, written out."""
        return self.text(name)

    def golds(self, name: str) -> Column[tuple[str, ...]]:
        """A column of texts as tuples of one."""
        column = self.text(name)
        return Column(column.codes, SingleWords(column.words))

    def vectors(self, name: str) -> Column[tuple[float, ...]]:
        """A column of lists of numbers, written as JSON."""
        return self.text(name).map(lambda word: self._vector(name, word))

    def wholes(self, name: str) -> NDArray[np.int64] | None:
        """A column of whole numbers from 0; None when it holds anything else."""
        if self._types[name] not in _WHOLE:
            return wholes_of(self.text(name)) if self._types[name] == "VARCHAR" else None
        query = f"SELECT {quoted(name)} AS n FROM {self._table}"  # noqa: S608 - a quoted name
        values = self._store.arrays(query)["n"]
        if np.ma.is_masked(values) or (len(values) and int(values.min()) < 0):
            return None
        if len(values) and int(values.max()) > np.iinfo(np.int64).max:
            return None
        return np.asarray(values).astype(np.int64, copy=False)

    def _vector(self, name: str, word: str) -> tuple[float, ...] | None:
        try:
            return vector(word) if word.strip() else None
        except (TypeError, ValueError):
            self._refuse(name, "a list of numbers is")
            return None

    def cells(self) -> CellSource:
        """All rows as Python values: for lists of draws and of golds."""
        names = ", ".join(map(quoted, self._types))
        rows = self._store.rows(f"SELECT {names} FROM {self._table} ORDER BY rowid")  # noqa: S608 - ours
        columns: list[list[Any]] = [list(column) for column in zip(*rows, strict=True)]
        cells = dict(zip(self._types, columns, strict=True))
        return CellSource(cells, range(1, self.n_rows + 1), header=self.header)

    def _refuse(self, name: str, wanted: str) -> None:
        found = self._store.rows(
            f"SELECT rowid + 1, {quoted(name)} FROM {self._table} "  # noqa: S608 - a quoted name
            f"WHERE {quoted(name)} IS NOT NULL ORDER BY rowid LIMIT 1"
        )
        row, value = found[0] if found else (1, None)
        msg = (
            f"row {row} has {value!r} of type {self._types[name]} in column {name!r}; {wanted} "
            "wanted there. Convert the column to text first."
        )
        raise InputError(msg)


def read_parquet(path: Path) -> BulkSource | CellSource:
    """The rows of a Parquet file.

    Raises
    ------
    InputError
        When it is no whole Parquet file, or holds no rows.
    """
    import duckdb  # noqa: PLC0415 - slow to load, needed for large tables only

    store = TextStore()
    try:
        file = f"read_parquet('{plain_path(path, store)}')"
        described = store.rows(f"DESCRIBE SELECT * FROM {file}")  # noqa: S608 - an escaped path
        types = {str(row[0]): str(row[1]) for row in described}
        header = _header(store, path)
        n_rows = store.rows(f"SELECT count(*) FROM {file}")[0][0]  # noqa: S608 - as above
    except duckdb.Error as error:
        said = str(error).splitlines()[0]
        msg = f"{path} is no whole Parquet file ({said}). Write it again."
        raise InputError(msg) from error
    source = BulkSource(store, file, types, header=header)
    if not n_rows:
        msg = f"{path} has columns and no rows; at least one answer is wanted. Check the file."
        raise InputError(msg)
    if any(t.endswith("[]") for t in types.values()):
        source.load(types)
        return source.cells()
    return source


def read_bulk_delimited(path: Path) -> BulkSource | None:
    """The rows of a large CSV file; None when it is not regular enough for DuckDB.

    Whoever gets None reads the file cell by cell, which either works or says in which line the
    fault is.
    """
    import duckdb  # noqa: PLC0415 - as above

    try:
        with path.open("rb") as opened:
            head, _ = decoded(opened.read(HEAD))
    except OSError as error:
        raise unreadable(path, error) from error
    names, delimiter = header_of(head, path)
    if len(names) == 1:
        return None  # a blank line is a row there
    store = TextStore()
    columns = ", ".join(f"'{n.replace(chr(39), chr(39) * 2)}': 'VARCHAR'" for n in names)
    filled = ", ".join(f"'{n.replace(chr(39), chr(39) * 2)}'" for n in names)
    file = (
        f"read_csv('{plain_path(path, store)}', header = true, auto_detect = false, "
        f"delim = '{delimiter}', quote = '\"', escape = '\"', columns = {{{columns}}}, "
        f"force_not_null = [{filled}], strict_mode = true, null_padding = false, "
        "ignore_errors = false, max_line_size = 100000000)"
    )
    source = BulkSource(store, file, dict.fromkeys(names, "VARCHAR"))
    try:
        source.load(names)
    except duckdb.Error:
        return None
    return source if source.n_rows else None


def _header(store: TextStore, path: Path) -> Mapping[str, Json] | None:
    name = plain_path(path, store)
    found = store.rows(f"SELECT key, value FROM parquet_kv_metadata('{name}')")  # noqa: S608 - escaped
    for key, value in found:
        if bytes(key) == METADATA_KEY.encode():
            header: dict[str, Json] = json.loads(bytes(value))
            check_version(header, path)
            return header
    return None


def plain_path(path: Path, store: TextStore) -> str:
    """The path as DuckDB reads it literally: names with wildcards get another name first."""
    if _GLOB & set(str(path)):
        other = Path(store.folder) / f"source-{next(_NUMBERS)}"
        try:
            other.symlink_to(path.resolve())
        except OSError:
            shutil.copyfile(path, other)
        path = other
    return str(path).replace("'", "''")
