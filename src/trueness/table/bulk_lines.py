"""Large JSON lines files through DuckDB: only codes and distinct values come into memory.

What DuckDB reads otherwise than the reader of lines, or not at all, is `OddContentError`: whoever
gets it reads the file line by line, which either works or says in which line the fault is.
"""

import json
import mmap
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from trueness.contract.serial import Json, RepeatedKeyError, dumps, once
from trueness.table.aliases import Roles
from trueness.table.bulk import plain_path
from trueness.table.bulk_keys import says_twice
from trueness.table.bulk_words import Raw, interned
from trueness.table.cells import vector, wholes_of
from trueness.table.column import NULL, Column, StoredSequence
from trueness.table.jsonlines import check_version, is_header
from trueness.table.parquet import quoted
from trueness.table.shapes import GREEDY, NO_CONDITION, greedy_name
from trueness.table.sniff import decoded, unreadable
from trueness.table.stored import TextStore

T = TypeVar("T", bound=Hashable)

_SEPARATOR = "\x1f"
_WHOLE = re.compile(r"-?[1-9][0-9]{0,17}|0")
_MINUS_ZERO = re.compile(rb"[:\[,]\s*-0\s*[,}\]]")
_RENAMED = re.compile(r"_[0-9]+$")
_WIDE = ("answers", "draws")
_LISTS = frozenset({"choices", "choice_order"})
"""Evidence that is a list in every shape."""


class OddContentError(Exception):
    """The file must be read line by line."""


class LineSource:
    """Columns of a JSON lines file as a store sees it; a `Source` once it is loaded.

    Parameters
    ----------
    store : TextStore
    path : path
        The file.
    table : str
        Where its lines stand in the store: a row a line, a column a key, all of them JSON.
    names : sequence of str
        All keys that any line has.
    header : mapping or None
        The first line, where it is no row.
    """

    notes: tuple[str, ...] = ()
    completed = True

    def __init__(
        self,
        store: TextStore,
        path: Path,
        table: str,
        names: Sequence[str],
        *,
        header: Mapping[str, Json] | None = None,
    ) -> None:
        self._store, self._path, self._table = store, path, table
        self.names, self.header = tuple(names), header
        self._skip = 0 if header is None else 1
        count = f"SELECT count(*) FROM {table}"  # noqa: S608 - a name of ours
        self._n_lines = store.rows(count)[0][0] - self._skip
        self._rows: NDArray[np.intp] | None = None
        self._draws: Column[str] | None = None
        self._conditions: Column[str] | None = None
        self._zeros_checked = False
        self._raw: dict[str, Raw] = {}

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self._n_lines if self._rows is None else len(self._rows)

    @property
    def row_numbers(self) -> NDArray[np.int64]:
        """Where each row stood in its source, from 1."""
        each = np.arange(1, self._n_lines + 1, dtype=np.int64)
        return each if self._rows is None else each[self._rows]

    def load(self, roles: Roles) -> Roles:
        """Take the columns that play a part; returns the parts of the shape with a row a draw.

        Raises
        ------
        OddContentError
            When the rows must be read one by one.
        """
        import duckdb  # noqa: PLC0415 - loaded when this was made

        if self._n_lines < 2:  # noqa: PLR2004 - one row may be a list of columns
            raise OddContentError
        try:
            return self._loaded(roles)
        except duckdb.Error as error:
            raise OddContentError from error

    def _loaded(self, roles: Roles) -> Roles:
        wide = next((r for r in _WIDE if r in roles), None)
        draws = "" if wide is None else roles.columns[wide]
        wanted = {*roles.columns.values(), *roles.evidence.values()} - {draws}
        words = {name: f"{quoted(name)}::VARCHAR" for name in self.names if name in wanted}
        self._raw = self._interned(self._table, words, self._n_lines)
        columns = {r: c for r, c in roles.columns.items() if r not in {*_WIDE, GREEDY}}
        if wide is not None:
            self._spread(roles, draws)
            columns["answer" if wide == "answers" else "completion"] = _DRAWS
            if self._conditions is not None:
                columns["condition"] = _CONDITIONS
        return Roles(columns, roles.evidence, roles.notes, roles.guessed)

    def text(self, name: str) -> Column[str]:
        """An identifying column as text: whole numbers are written out, null stays null."""
        if name == _CONDITIONS and self._conditions is not None:
            return self._conditions
        return self._spread_out(self._line_texts(name))

    def answers(self, name: str) -> Column[str]:
        """A column of answers: text or null, nothing else."""
        return self._draws if name == _DRAWS and self._draws is not None else self.text(name)

    def numbers(self, name: str) -> Column[str]:
        """A column of numbers, written out."""
        return self._mapped(name, _number)

    def golds(self, name: str) -> Column[tuple[str, ...]]:
        """A column of texts or lists of texts, as tuples."""
        return self._mapped(name, self._golds)

    def vectors(self, name: str) -> Column[tuple[float, ...]]:
        """A column of lists of numbers, as tuples; one that is not finite is null."""
        return self._mapped(name, _vector)

    def wholes(self, name: str) -> NDArray[np.int64] | None:
        """A column of whole numbers from 0; None when it holds anything else."""
        return wholes_of(self.text(name))

    def evidence(self, name: str) -> Column[str]:
        """A column of anything, as text."""
        try:
            return self.text(name)
        except OddContentError:
            return self._mapped(name, self._evidence)

    def _spread(self, roles: Roles, draws: str) -> None:
        """Work out which line each row comes from, and the draws with greedy answers among them."""
        if "completion" in roles or {"answers", "draws"} <= roles.columns.keys():
            raise OddContentError
        self._check_scalars(roles)
        counts = self._counts(draws)
        drawn = self._drawn(draws, int(counts.sum()))
        name = roles.columns.get(GREEDY)
        beside = np.zeros(self._n_lines, np.bool_) if name is None else self._there(name)
        totals = counts + beside
        self._rows = np.repeat(np.arange(self._n_lines), totals)
        self._draws = drawn
        if name is None:
            return
        is_greedy = np.zeros(len(self._rows), dtype=np.bool_)
        is_greedy[(np.cumsum(totals) - 1)[beside]] = True
        greedy = self._line_texts(name)
        self._draws = _among(drawn, greedy.take(np.flatnonzero(beside) + self._skip), is_greedy)
        self._conditions = self._named(roles, is_greedy)

    def _drawn(self, draws: str, n_draws: int) -> Column[str]:
        """Elements of the lists of draws, one after another."""
        listed = f"SELECT unnest({quoted(draws)}::JSON[])::VARCHAR AS w FROM {self._table}"  # noqa: S608 - quoted
        table = self._store.new_table(listed)
        raw = self._interned(table, {"w": "w"}, n_draws).get("w")
        if raw is not None:
            plain = raw.unquoted()
            return raw.mapped(self._draw) if plain is None else plain
        given = self._store.new_table(f"SELECT nullif(w, 'null') AS w FROM {table}")  # noqa: S608 - ours
        return self._texts(given, "w", None, n_draws)

    def _draw(self, word: str) -> str | None:
        return None if word == "null" else self._label(word)

    def _interned(self, table: str, words: Mapping[str, str], n_rows: int) -> dict[str, Raw]:
        n_bytes = self._path.stat().st_size
        return interned(self._store, table, words, n_rows=n_rows, n_bytes=n_bytes)

    def _named(self, roles: Roles, is_greedy: NDArray[np.bool_]) -> Column[str]:
        given = roles.columns.get("condition")
        if given is None:
            return Column(is_greedy.astype(np.int32), (NO_CONDITION, GREEDY))
        plain = self.text(given)
        names = [*plain.words, NO_CONDITION]
        words = Column.of([*names, *map(greedy_name, names)])
        at = np.where(plain.codes == NULL, len(plain.words), plain.codes)
        return Column(words.codes[at + is_greedy * len(names)], words.words)

    def _counts(self, draws: str) -> NDArray[np.int64]:
        column = quoted(draws)
        length = (
            f"CASE WHEN starts_with({column}::VARCHAR, '[') THEN json_array_length({column}) END"
        )
        query = f"SELECT coalesce({length}, 0)::BIGINT AS n FROM {self._table}"  # noqa: S608 - quoted
        counts = self._store.arrays(query)["n"]
        counts = np.asarray(counts)[self._skip :]
        if not counts.all():
            raise OddContentError  # no list, or no draw in it
        return counts

    def _there(self, name: str) -> NDArray[np.bool_]:
        """Which lines have a key, be its value null or not."""
        column = quoted(name)
        nulls = f"SELECT count(*) FROM {self._table} WHERE {column} IS NULL"  # noqa: S608 - quoted
        if self._store.rows(nulls)[0][0] == self._skip:
            return np.ones(self._n_lines, dtype=np.bool_)
        lines, key = _objects(self._path, self._store), f"$.{quoted(name)}".replace("'", "''")
        query = f"SELECT coalesce(json_exists(json, '{key}'), false) AS t FROM {lines}"  # noqa: S608 - escaped
        return np.asarray(self._store.arrays(query)["t"])[self._skip :]

    def _check_scalars(self, roles: Roles) -> None:
        """Lists beside the draws may go with them one by one: the reader of lines knows."""
        beside = [c for name, c in roles.evidence.items() if name not in _LISTS]
        beside += [roles.columns[r] for r in ("epoch", "logprob") if r in roles]
        for name in beside:
            column = quoted(name)
            query = f"SELECT count(*) FROM {self._table} WHERE starts_with({column}::VARCHAR, '[')"  # noqa: S608 - quoted
            if self._store.rows(query)[0][0]:
                raise OddContentError

    def _spread_out(self, column: Column[T]) -> Column[T]:
        codes = column.codes[self._skip :]
        return Column(codes if self._rows is None else codes[self._rows], column.words)

    def _mapped(self, name: str, rule: Callable[[str], T | None]) -> Column[T]:
        if name not in self._raw:
            raise OddContentError
        return self._spread_out(self._raw[name].mapped(rule))

    def _texts(self, table: str, name: str, raw: Raw | None, n_rows: int) -> Column[str]:
        """A column as texts, decoded value by value or, where they are many, in the database."""
        if raw is not None:
            plain = raw.unquoted()
            return raw.mapped(self._label) if plain is None else plain
        odd = f"SELECT count(*) FROM {table} WHERE NOT starts_with({quoted(name)}::VARCHAR, '\"')"  # noqa: S608 - quoted
        if self._store.rows(odd)[0][0]:
            raise OddContentError
        return self._store.interned(table, f"({quoted(name)}::JSON->>'$')", n_rows)

    def _line_texts(self, name: str) -> Column[str]:
        return self._texts(self._table, name, self._raw.get(name), self._n_lines + self._skip)

    def _label(self, word: str) -> str:
        if word[0] == '"':
            return word[1:-1] if "\\" not in word else str(json.loads(word))
        if not _WHOLE.fullmatch(word):
            raise OddContentError
        if word == "0":
            self._check_zero()
        return word

    def _check_zero(self) -> None:
        """DuckDB drops the sign of ``-0``."""
        if self._zeros_checked:
            return
        self._zeros_checked = True
        with self._path.open("rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            with content:
                if _MINUS_ZERO.search(content):
                    raise OddContentError

    def _golds(self, word: str) -> tuple[str, ...] | None:
        if word[0] != "[":
            return (self._label(word),)
        golds = (self._label(json.dumps(v)) for v in self._plain(word) if v is not None)
        return tuple(golds) or None

    def _evidence(self, word: str) -> str:
        if word[0] in '"0123456789-':
            return self._label(word)
        return word if word in {"true", "false"} else dumps(self._plain(word))

    def _plain(self, word: str) -> Any:
        """A list or an object; numbers in it are texts, as they were written."""
        decoder = json.JSONDecoder(
            parse_int=self._label, parse_float=_odd, parse_constant=_odd, object_pairs_hook=once
        )
        try:
            return decoder.decode(word)
        except RepeatedKeyError:
            raise OddContentError from None


_DRAWS, _CONDITIONS = "\x00draws", "\x00conditions"


def read_bulk_lines(path: Path) -> LineSource | None:
    """The rows of a large JSON lines file; None when it is not regular enough for DuckDB.

    Raises
    ------
    InputError
        When the file cannot be read, or a later version of this package wrote it.
    """
    import duckdb  # noqa: PLC0415 - slow to load, needed for large tables only

    first = _first_object(path)
    if first is None:
        return None
    header = first if is_header(first) else None
    if header is not None:
        check_version(header, path)
    store = TextStore()
    try:
        table = _loaded(store, path)
        names = _names(store, table, header)
        if says_twice(store, table, names):
            return None  # the reader of lines says which key, and where
    except duckdb.Error:
        return None
    return LineSource(store, path, table, names, header=header) if names else None


def _loaded(store: TextStore, path: Path) -> str:
    """A table with a row a line and a column a key, all of them JSON."""
    import duckdb  # noqa: PLC0415 - as above

    file = f"'{plain_path(path, store)}', format = 'newline_delimited', records = true"
    guessed = "auto_detect = true, maximum_depth = 1, map_inference_threshold = -1"
    try:  # keys are taken from the first lines; a later line with another key is an error
        return store.new_table(f"SELECT * FROM read_json({file}, {guessed})")  # noqa: S608 - escaped
    except duckdb.InvalidInputException as error:
        if "unknown key" not in str(error):
            raise
    columns = ", ".join(f"'{_escaped(name)}': 'JSON'" for name in _all_keys(store, path))
    return store.new_table(f"SELECT * FROM read_json({file}, columns = {{{columns}}})")  # noqa: S608 - escaped


def _all_keys(store: TextStore, path: Path) -> list[str]:
    keys = f"array_to_string(json_keys(json), '{_SEPARATOR}')"
    listed = store.rows(
        f"SELECT {keys}, min(n) FROM (SELECT json, row_number() OVER () AS n "  # noqa: S608 - escaped
        f"FROM {_objects(path, store)}) GROUP BY 1 ORDER BY 2"
    )
    lines = [str(line).split(_SEPARATOR) for (line, _) in listed]
    return list(dict.fromkeys(key for line in lines for key in line))


def _names(store: TextStore, table: str, header: Mapping[str, Json] | None) -> list[str]:
    """Keys of rows: those of the header only where a row has them too."""
    described = store.rows(f"DESCRIBE {table}")
    if any(kind != "JSON" for _, kind, *_ in described):
        return []
    names = [str(name) for name, *_ in described]
    folded = {name.casefold() for name in names}
    if any(_RENAMED.sub("", name) in folded - {name} for name in folded):
        return []  # keys that differ in case only get a number
    own = [name for name in names if name in (header or {})]
    if not own:
        return names
    counts = ", ".join(f"count({quoted(name)})" for name in own)
    beside = store.rows(f"SELECT {counts} FROM {table} WHERE rowid > 0")[0]  # noqa: S608 - quoted
    only = {name for name, count in zip(own, beside, strict=True) if not count}
    return [name for name in names if name not in only]


def _escaped(text: str) -> str:
    return text.replace("'", "''")


def _first_object(path: Path) -> dict[str, Any] | None:
    try:
        with path.open("rb") as file:
            line = file.readline(_LONGEST_LINE)
    except OSError as error:
        raise unreadable(path, error) from error
    try:
        value = json.loads(decoded(line)[0])
    except (json.JSONDecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


_LONGEST_LINE = 16_000_000


def _objects(path: Path, store: TextStore) -> str:
    return f"read_ndjson_objects('{plain_path(path, store)}')"


def _among(drawn: Column[str], greedy: Column[str], is_greedy: NDArray[np.bool_]) -> Column[str]:
    """Draws and greedy answers in the order of their rows."""
    if isinstance(drawn.words, StoredSequence) or isinstance(greedy.words, StoredSequence):
        raise OddContentError
    words = Column.of([*drawn.words, *greedy.words])
    numbers = np.append(words.codes, np.int32(NULL))
    codes = np.empty(len(is_greedy), dtype=np.int32)
    codes[~is_greedy] = numbers[drawn.codes]
    shifted = np.where(greedy.codes == NULL, NULL, greedy.codes + len(drawn.words))
    codes[is_greedy] = numbers[shifted]
    return Column(codes, words.words)


def _number(word: str) -> str | None:
    if word[0] == '"':
        return str(json.loads(word))
    if word[0] in "tf[{":
        raise OddContentError
    return None if word == "NaN" else word


def _vector(word: str) -> tuple[float, ...] | None:
    try:
        return vector(json.loads(word))
    except (TypeError, ValueError):
        raise OddContentError from None


def _odd(_: str) -> NoReturn:
    raise OddContentError
