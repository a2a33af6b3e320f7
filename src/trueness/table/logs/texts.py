"""Columns of text that grow row by row: in memory while small, then in a database on disk."""

from array import array
from typing import Generic, TypeVar

import numpy as np

from trueness.table.column import NULL, Column
from trueness.table.stored import IN_MEMORY, TextStore

T = TypeVar("T", tuple[str, ...], tuple[float, ...])

CHARACTERS = 16_000_000
"""A column whose distinct texts are longer than this together goes to the store."""
_BATCH_TEXTS = 20_000
_BATCH_CHARACTERS = 4_000_000


class Shelf:
    """Where the text columns of one table go once they are large; a database only when needed."""

    def __init__(self) -> None:
        self._store: TextStore | None = None
        self.n_escaped = 0

    @property
    def store(self) -> TextStore:
        """The database, opened when it is first asked for."""
        if self._store is None:
            self._store = TextStore()
        return self._store

    def storable(self, text: str) -> str:
        r"""The text as a database can hold it: half characters are written as ``\udXXX``."""
        if text.isascii():
            return text
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            self.n_escaped += 1
            return text.encode("utf-8", "backslashreplace").decode("utf-8")
        return text


class Texts:
    """A growing column of texts.

    Distinct texts stay in memory while they are few and short; then they go to the shelf in
    batches, and what is in memory already keeps catching repeats.
    """

    def __init__(self, shelf: Shelf, *, n_before: int = 0) -> None:
        self._shelf = shelf
        self._codes = array("i", [NULL]) * n_before
        self._index: dict[str, int] = {}
        self._characters = 0
        self._table: str | None = None
        self._pending: list[str] = []
        self._pending_characters = 0
        self._n_entries = 0

    def add(self, text: str | None, row: int) -> None:
        """Write one row; rows that were skipped are null."""
        self._pad(row)
        if text is None:
            self._codes.append(NULL)
            return
        code = self._index.get(text)
        if code is None:
            code = self._n_entries
            self._enter(text)
        self._codes.append(code)

    def column(self, n_rows: int) -> Column[str]:
        """The column; rows that were never written are null."""
        self._pad(n_rows)
        codes = np.frombuffer(self._codes, dtype=np.int32) if n_rows else np.empty(0, np.int32)
        if self._table is None:
            return Column(codes, tuple(self._index))
        self._flush()
        self._index.clear()
        entries = self._shelf.store.interned(self._table, "w", self._n_entries)
        return Column(np.append(entries.codes, np.int32(NULL))[codes], entries.words)

    def _pad(self, row: int) -> None:
        if len(self._codes) < row:
            self._codes.extend(array("i", [NULL]) * (row - len(self._codes)))

    def _enter(self, text: str) -> None:
        self._n_entries += 1
        if self._table is not None:
            self._push(text)
            return
        self._index[text] = len(self._index)
        self._characters += len(text)
        if len(self._index) > IN_MEMORY or self._characters > CHARACTERS:
            self._table = self._shelf.store.new_table("SELECT ''::VARCHAR AS w LIMIT 0")
            for word in self._index:
                self._push(word)

    def _push(self, text: str) -> None:
        self._pending.append(self._shelf.storable(text))
        self._pending_characters += len(text)
        if len(self._pending) >= _BATCH_TEXTS or self._pending_characters >= _BATCH_CHARACTERS:
            self._flush()

    def _flush(self) -> None:
        if self._pending:
            query = f"INSERT INTO {self._table} SELECT unnest(?::VARCHAR[])"
            self._shelf.store.rows(query, self._pending)
        self._pending = []
        self._pending_characters = 0


class Tuples(Generic[T]):
    """A growing column of tuples, in memory."""

    def __init__(self) -> None:
        self._codes = array("i")
        self._index: dict[T, int] = {}

    def add(self, value: T | None) -> None:
        """Write the next row."""
        code = NULL if value is None else self._index.setdefault(value, len(self._index))
        self._codes.append(code)

    def column(self) -> Column[T] | None:
        """The column; None when every row is null."""
        if not self._index:
            return None
        return Column(np.frombuffer(self._codes, dtype=np.int32), tuple(self._index))
