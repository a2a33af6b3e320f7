"""JSON values of a database as codes: distinct values are found there, rows are numbered here."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from trueness.table.column import NULL, Column
from trueness.table.stored import TextStore

T = TypeVar("T", bound=Hashable)

MANY_WORDS = 2_000_000
MANY_CHARACTERS = 32_000_000
"""Distinct values of a column beyond these stay in the database."""
_FEW_ROWS = 200_000
_FEW_WORDS = 4_096
_BITS = 22


@dataclass(frozen=True, slots=True)
class Raw:
    """A column of JSON values: codes into their distinct texts.

    Parameters
    ----------
    codes : (n_rows,) int32
    words : list of str
        Texts of JSON values, in order of first appearance.
    """

    codes: NDArray[np.int32]
    words: list[str]

    def mapped(self, rule: Callable[[str], T | None]) -> Column[T]:
        """The column once every distinct text has been through a rule."""
        return Column(self.codes, self.words).map(rule)

    def unquoted(self) -> Column[str] | None:
        """The column of texts; None when a value is no text, or has an escape."""
        text = "\n".join(self.words)
        inner = text[1:-1].split('"\n"')
        quotes = text[:1] == '"' == text[-1:]
        plain = quotes and "\\" not in text and len(inner) == len(self.words)
        return Column(self.codes, tuple(inner)) if plain else None


def interned(
    store: TextStore, table: str, words: Mapping[str, str], *, n_rows: int, n_bytes: int
) -> dict[str, Raw]:
    """Expressions of a table's columns as codes into their distinct values, in memory.

    An expression whose distinct values are too many or too long for that is left out.

    Parameters
    ----------
    store : TextStore
    table : str
    words : mapping of name to SQL expression of a text
    n_rows, n_bytes : int
        Rows of the table, and a bound on the length of all texts in it.
    """
    if n_rows <= _FEW_ROWS and n_bytes <= MANY_CHARACTERS:
        return _directly(store, table, words)
    surely = n_rows <= MANY_WORDS and n_bytes <= MANY_CHARACTERS
    null = store.arrays("SELECT hash(NULL::VARCHAR) AS h")["h"]
    columns: dict[str, Raw] = {}
    for name in words if surely else _small(store, table, words):
        word = words[name]
        found = store.arrays(
            f"SELECT w, hash(w) AS h FROM (SELECT {word} AS w, min(rowid) AS f FROM {table} "  # noqa: S608 - rules of ours
            "GROUP BY 1) WHERE w IS NOT NULL ORDER BY f"
        )
        rows = store.arrays(f"SELECT hash({word}) AS h FROM {table}")["h"]  # noqa: S608 - as above
        codes = _numbered(np.asarray(rows), np.append(np.asarray(found["h"]), null))
        if codes is not None:
            columns[name] = Raw(codes, np.asarray(found["w"]).tolist())
    return columns


def _directly(store: TextStore, table: str, words: Mapping[str, str]) -> dict[str, Raw]:
    """The same for a table whose texts may all come into memory at once."""
    if not words:
        return {}
    listed = ", ".join(f"{word} AS c{i}" for i, word in enumerate(words.values()))
    found = store.arrays(f"SELECT {listed} FROM {table}")  # noqa: S608 - as above
    columns = (Column.of(found[f"c{i}"].tolist()) for i in range(len(words)))
    return {n: Raw(c.codes, list(c.words)) for n, c in zip(words, columns, strict=True)}


def _small(store: TextStore, table: str, words: Mapping[str, str]) -> list[str]:
    """Names of the expressions whose distinct values fit into memory."""
    sizes = ", ".join(f"count({w}), coalesce(sum(strlen({w})), 0)::BIGINT" for w in words.values())
    if not sizes:
        return []
    counted = store.rows(f"SELECT {sizes} FROM {table}")[0]  # noqa: S608 - as above
    small: list[str] = []
    for name, filled, characters in zip(words, counted[::2], counted[1::2], strict=True):
        share = 1.0
        if characters > MANY_CHARACTERS or filled > MANY_WORDS:
            near = store.rows(f"SELECT approx_count_distinct({words[name]}) FROM {table}")  # noqa: S608 - as above
            share = near[0][0] / filled
        if share * characters <= MANY_CHARACTERS and share * filled <= MANY_WORDS:
            small.append(name)
    return small


def _numbered(rows: NDArray[np.uint64], words: NDArray[np.uint64]) -> NDArray[np.int32] | None:
    """Where the hash of each row stands among those of the words, the last of which is null.

    Every row's value is one of the words, so equal hashes are equal values as long as no two
    words share one; None when two do.
    """
    numbers = np.arange(len(words), dtype=np.int32)
    numbers[-1] = NULL
    if not len(rows):
        return numbers[:0]
    starts = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])
    if len(starts) > len(rows) // 4 and len(words) <= _FEW_WORDS:
        table = _looked_up(rows, words, numbers)
        if table is not None:
            return table
    order = np.argsort(words)
    ordered = words[order]
    if not _apart(ordered):
        return None
    found = numbers[order[np.searchsorted(ordered, rows[starts])]]
    return np.repeat(found, np.diff(np.r_[starts, len(rows)]))


def _apart(ordered: NDArray[np.uint64]) -> bool:
    return bool((ordered[1:] != ordered[:-1]).all())


def _looked_up(
    rows: NDArray[np.uint64], words: NDArray[np.uint64], numbers: NDArray[np.int32]
) -> NDArray[np.int32] | None:
    """The same by a table of some bits of the hash, if these tell all words apart."""
    for shift in (64 - _BITS, 64 - 2 * _BITS, 0):
        low = (words >> np.uint64(shift)) & np.uint64(2**_BITS - 1)
        if _apart(np.sort(low)):
            table = np.zeros(2**_BITS, dtype=np.int32)
            table[low] = numbers
            found: NDArray[np.int32] = table[(rows >> np.uint64(shift)) & np.uint64(2**_BITS - 1)]
            return found
    return None
