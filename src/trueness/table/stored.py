"""Distinct texts that stay in a database on disk: only their codes come into memory."""

import shutil
import tempfile
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from trueness.table.column import NULL, Column, StoredSequence, TextRule

if TYPE_CHECKING:
    import duckdb

MEMORY_LIMIT = "200MB"
"""What the database may hold in memory; the rest goes to a temporary folder."""
IN_MEMORY = 65_536
"""Columns with at most so many distinct words keep them as Python strings."""
PAGE = 1_024
"""Neighbouring words are fetched together."""
BATCH = 100_000
"""So many texts are handed to a rule at a time."""
_PAGES = 64


class TextStore:
    """A database of its own that disappears with the last column that needs it.

    Tables in it have rows numbered from 0 in order; columns are texts.
    """

    def __init__(self) -> None:
        import duckdb  # noqa: PLC0415 - slow to load, needed for large tables only

        self.folder = folder = tempfile.mkdtemp(prefix="trueness-")
        self.connection: duckdb.DuckDBPyConnection = duckdb.connect()
        self.connection.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")
        self.connection.execute(f"SET temp_directory = '{folder}'")
        self.connection.execute("SET enable_progress_bar = false")
        self.connection.execute("SET autoinstall_known_extensions = false")
        self._n_tables = 0
        weakref.finalize(self, _discard, self.connection, folder)

    def new_table(self, select: str) -> str:
        """Keep the rows of a query, in its order, under a new name."""
        self._n_tables += 1
        name = f"t{self._n_tables}"
        self.connection.execute(f"CREATE TABLE {name} AS {select}")
        return name

    def list_table(self, words: Sequence[str]) -> str:
        """Keep words under a new name; one that no database can hold becomes null."""
        name = self.new_table("SELECT ''::VARCHAR AS w LIMIT 0")
        batch: list[str | None] = []
        for word in words:
            batch.append(word if _is_whole(word) else None)
            if len(batch) == BATCH:
                self.rows(f"INSERT INTO {name} SELECT unnest(?::VARCHAR[])", batch)
                batch = []
        self.rows(f"INSERT INTO {name} SELECT unnest(?::VARCHAR[])", batch)
        return name

    def rows(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        return self.connection.execute(query, list(parameters)).fetchall()

    def arrays(self, query: str) -> dict[str, NDArray[Any]]:
        """The columns of a query as arrays."""
        arrays: dict[str, NDArray[Any]] = self.connection.execute(query).fetchnumpy()
        return arrays

    def interned(self, table: str, word: str, n_rows: int) -> Column[str]:
        """A column of a table, or an expression of its columns, as codes into stored words.

        Words are numbered in order of first appearance.
        """
        first = self._first_rows(table, word, n_rows)
        each = np.arange(n_rows, dtype=np.int32)
        is_word = first == each
        n_words = int(np.count_nonzero(is_word))
        if not n_words:
            return Column(np.broadcast_to(np.int32(NULL), (n_rows,)), ())
        if n_words == n_rows:
            whole = StoredWords(self, table, word, None, n_rows)
            return Column(each, self.loaded(whole))
        number = np.cumsum(is_word, dtype=np.int32)
        number -= 1
        words = StoredWords(self, table, word, each[is_word], n_rows)
        del each, is_word
        null = first == NULL
        codes = number[first]
        codes[null] = NULL
        return Column(codes, self.loaded(words))

    def _first_rows(self, table: str, word: str, n_rows: int) -> NDArray[np.int32]:
        """For every row the first row with the same text; -1 where there is none."""
        first = np.arange(n_rows, dtype=np.int32)
        if self.n_apart(table, word) == n_rows:
            return first
        later = self.arrays(
            f"SELECT t.r::INTEGER AS r, d.f::INTEGER AS f "  # noqa: S608 - names and rules of ours
            f"FROM (SELECT rowid AS r, {word} AS w FROM {table}) AS t "
            f"JOIN (SELECT {word} AS w, min(rowid) AS f FROM {table} GROUP BY 1 "
            "HAVING count(*) > 1) AS d ON t.w = d.w WHERE t.r <> d.f"
        )
        first[np.asarray(later["r"])] = np.asarray(later["f"])
        del later
        empty = self.arrays(
            f"SELECT rowid::INTEGER AS r FROM {table} WHERE {word} IS NULL"  # noqa: S608 - as above
        )
        first[np.asarray(empty["r"])] = NULL
        return first

    def n_apart(self, table: str, word: str) -> int:
        """So many different texts at least: different hashes are different texts."""
        query = f"SELECT count(DISTINCT hash({word})) FILTER ({word} IS NOT NULL) FROM {table}"  # noqa: S608 - as above
        return int(self.rows(query)[0][0])

    def loaded(self, words: "StoredWords") -> Sequence[str]:
        """The words themselves where they are few, else as they are stored."""
        return tuple(words) if len(words) <= IN_MEMORY else words


class StoredWords(StoredSequence[str]):
    """Distinct texts of a `TextStore`, fetched when they are read.

    Parameters
    ----------
    store : TextStore
    table, word : str
        Where the texts stand: a table and an expression of its columns.
    rows : (n_words,) int32 or None
        In which row each word stands, ascending; None when every row is a word.
    n_rows : int
        Rows of the table.
    """

    __slots__ = ("_n_rows", "_pages", "_plain", "_rows", "_table", "_word", "store")

    def __init__(
        self, store: TextStore, table: str, word: str, rows: NDArray[np.int32] | None, n_rows: int
    ) -> None:
        self.store, self._table, self._word = store, table, word
        self._rows, self._n_rows = rows, n_rows
        self._pages: OrderedDict[int, list[str]] = OrderedDict()
        self._plain: set[str] = set()

    def __len__(self) -> int:
        return self._n_rows if self._rows is None else len(self._rows)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return self.pick(range(len(self))[index])
        index = range(len(self))[index]
        page = self._pages.get(index // PAGE)
        if page is None:
            page = self._fetch(index // PAGE * PAGE, PAGE)
            self._pages[index // PAGE] = page
            if len(self._pages) > _PAGES:
                self._pages.popitem(last=False)
        return page[index % PAGE]

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), BATCH):
            yield from self._fetch(start, BATCH)

    def pick(self, indices: Sequence[int]) -> list[str]:
        """Some words, fetched together."""
        rows = list(indices) if self._rows is None else [int(self._rows[i]) for i in indices]
        query = (
            f"SELECT rowid, {self._word} FROM {self._table} "  # noqa: S608 - names and rules of ours
            "WHERE rowid IN (SELECT unnest(?::BIGINT[]))"
        )
        found: dict[int, str] = dict(self.store.rows(query, rows))
        return [found[row] for row in rows]

    def mapped(self, rule: Callable[[str], Any]) -> Column[Any]:
        """One row a word: what the rule makes of it, interned; None becomes null.

        Plain words of a `TextRule` never leave the database.
        """
        if not isinstance(rule, TextRule):
            return Column.of(rule(word) for word in self)
        plain, key = (part.replace("{word}", self._word) for part in (rule.plain, rule.key))
        odd, changed = self._unlike(plain, key)
        each = np.arange(len(self), dtype=np.int32)
        if not odd and not changed:
            return Column(each, self)
        if not odd and self.store.n_apart(self._table, key) == len(self):
            new_words = StoredWords(self.store, self._table, key, self._rows, self._n_rows)
            return Column(each, self.store.loaded(new_words))
        if not odd:
            new = self.store.interned(self._table, key, self._n_rows)
        else:
            table = self.store.new_table(self._keyed(rule, plain, key))
            new = self.store.interned(table, "w", self._n_rows)
        return new if self._rows is None else new.take(self._rows.astype(np.intp))

    def _unlike(self, plain: str, key: str) -> tuple[int, int]:
        """How many words are not plain; how many of the others a rule changes."""
        known = plain in self._plain  # rules share what is plain, and differ in their keys
        odd, changed = self.store.rows(
            "SELECT count(*) FILTER (NOT p), count(*) FILTER (p AND k IS DISTINCT FROM w) "  # noqa: S608 - as above
            f"FROM (SELECT {'true' if known else plain} AS p, {key} AS k, {self._word} AS w "
            f"FROM {self._table})"
        )[0]
        if not odd:
            self._plain.add(plain)
        return odd, changed

    def located(self, others: Sequence[str]) -> NDArray[np.int32]:
        """Where each of these words stands among others; -1 where it does not."""
        if isinstance(others, StoredWords) and others.store is self.store:
            words = others.listed() if self._rows is None else others.distinct()
            found = self._joined(self._listed(), words, self._n_rows)
            found = others.numbered(found)
        else:
            table = self.store.list_table(others)
            found = self._joined(self._listed(), f"SELECT rowid AS f, w FROM {table}", self._n_rows)  # noqa: S608 - ours
        return found if self._rows is None else found[self._rows]

    def find(self, values: Sequence[str]) -> NDArray[np.int32]:
        """Where each of some given words stands among these; -1 where it does not."""
        table = self.store.list_table(values)
        listed = f"SELECT rowid AS r, w FROM {table}"  # noqa: S608 - as above
        return self.numbered(self._joined(listed, self.listed(), len(values)))

    def _listed(self) -> str:
        return f"SELECT rowid AS r, {self._word} AS w FROM {self._table}"  # noqa: S608 - as above

    def listed(self) -> str:
        """A query for the word (``w``) of every row (``f``)."""
        return f"SELECT rowid AS f, {self._word} AS w FROM {self._table}"  # noqa: S608 - as above

    def distinct(self) -> str:
        """The same, with the first row of every word only."""
        if self._rows is None:
            return self.listed()
        return f"SELECT min(rowid) AS f, {self._word} AS w FROM {self._table} GROUP BY 2"  # noqa: S608 - as above

    def _joined(self, left: str, right: str, length: int) -> NDArray[np.int32]:
        """For each row of the left query the first row of the right one with its word.

        On one side at least every word must stand once, so that no more pairs arise than rows.
        """
        found = self.store.arrays(
            f"SELECT a.r::INTEGER AS r, min(b.f)::INTEGER AS f "  # noqa: S608 - as above
            f"FROM ({left}) AS a JOIN ({right}) AS b ON a.w = b.w GROUP BY 1"
        )
        out = np.full(length, NULL, dtype=np.int32)
        out[np.asarray(found["r"])] = np.asarray(found["f"])
        return out

    def numbered(self, rows: NDArray[np.int32]) -> NDArray[np.int32]:
        """Codes of the words that stand in some rows of the table; -1 stays."""
        if self._rows is None:
            return rows
        number = np.full(self._n_rows + 1, NULL, dtype=np.int32)
        number[self._rows] = np.arange(len(self._rows), dtype=np.int32)
        return number[rows]

    def _keyed(self, rule: TextRule, plain: str, key: str) -> str:
        """A query for the key of every row, once the odd words have been through the rule."""
        odd = self.store.new_table(
            f"SELECT rowid AS r, {self._word} AS w FROM {self._table} WHERE NOT {plain}"  # noqa: S608 - as above
        )
        done = self.store.new_table("SELECT 0::BIGINT AS r, ''::VARCHAR AS k LIMIT 0")
        n_odd = self.store.rows(f"SELECT count(*) FROM {odd}")[0][0]  # noqa: S608 - as above
        is_word = np.ones(self._n_rows, dtype=np.bool_)
        if self._rows is not None:
            is_word[:] = False
            is_word[self._rows] = True
        for start in range(0, n_odd, BATCH):
            batch = f"SELECT r, w FROM {odd} WHERE rowid BETWEEN ? AND ?"  # noqa: S608 - as above
            rows = self.store.rows(batch, start, start + BATCH - 1)
            keys = [rule(w) if is_word[r] else None for r, w in rows]
            self.store.rows(
                f"INSERT INTO {done} SELECT unnest(?::BIGINT[]), unnest(?::VARCHAR[])",
                [r for r, _ in rows],
                keys,
            )
        return (
            f"SELECT CASE WHEN o.r IS NULL THEN {key} ELSE o.k END AS w "  # noqa: S608 - as above
            f"FROM {self._table} AS t LEFT JOIN {done} AS o ON t.rowid = o.r ORDER BY t.rowid"
        )

    def _fetch(self, start: int, count: int) -> list[str]:
        end = min(start + count, len(self)) - 1
        low = start if self._rows is None else int(self._rows[start])
        high = end if self._rows is None else int(self._rows[end])
        if high - low >= _SPARSE * count:
            return self.pick(range(start, end + 1))
        found = self.store.rows(
            f"SELECT {self._word} FROM {self._table} "  # noqa: S608 - as above
            "WHERE rowid BETWEEN ? AND ? ORDER BY rowid",
            low,
            high,
        )
        if self._rows is None:
            return [row[0] for row in found]
        return [found[int(r) - low][0] for r in self._rows[start : end + 1]]


_SPARSE = 8


def _is_whole(text: str) -> bool:
    """Whether a text is free of lone surrogates."""
    return text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)


def _discard(connection: "duckdb.DuckDBPyConnection", folder: str) -> None:
    connection.close()
    shutil.rmtree(folder, ignore_errors=True)
