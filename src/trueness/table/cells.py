"""Rows that are held as Python values: what readers of text, JSON and data frames hand over."""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import CannotSerialise, InputError
from trueness.contract.serial import Json, dumps
from trueness.table.column import NULL, Column


class Constant(str):
    """``NaN`` or an infinity in JSON: kept as it was written, and no answer."""

    __slots__ = ()


class Absent:
    """The mark of a key that a row lacks, where that is not the same as a null."""

    __slots__ = ()


ABSENT: Final = Absent()
MARKED = frozenset({"greedy"})
"""In columns of these names a missing key and a null mean different things."""


class Source(Protocol):
    """Named columns of equal length, whatever they are stored in."""

    @property
    def names(self) -> Sequence[str]:
        """Columns, in the order of the source."""

    @property
    def n_rows(self) -> int:
        """How many rows there are."""

    @property
    def header(self) -> Mapping[str, Json] | None:
        """The header of a table that we wrote; None in any other source."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader had to decide, in sentences."""

    @property
    def completed(self) -> bool:
        """Whether the source was read to its proper end."""

    @property
    def row_numbers(self) -> Sequence[int] | NDArray[np.int64]:
        """Where each row stood in its source, from 1."""

    def text(self, name: str) -> Column[str]:
        """An identifying column as text: whole numbers are written out, null stays null."""

    def evidence(self, name: str) -> Column[str]:
        """A column of anything, as text."""

    def answers(self, name: str) -> Column[str]:
        """A column of answers: text or null, nothing else."""

    def numbers(self, name: str) -> Column[str]:
        """A column of numbers, written out."""

    def golds(self, name: str) -> Column[tuple[str, ...]]:
        """A column of texts or lists of texts, as tuples."""

    def vectors(self, name: str) -> Column[tuple[float, ...]]:
        """A column of lists of numbers, as tuples; one that is not finite is null."""

    def wholes(self, name: str) -> NDArray[np.int64] | None:
        """A column of whole numbers from 0; None when it holds anything else."""


@dataclass(frozen=True, slots=True)
class CellSource:
    """Columns of Python values.

    Parameters
    ----------
    cells : mapping of name to (n_rows,) values
        Text, None, and whatever else the source held.
    row_numbers : (n_rows,) int
        Where each row stood in its source, from 1.
    header, notes, completed :
        As in `Source`.
    """

    cells: Mapping[str, Sequence[object]]
    row_numbers: Sequence[int]
    header: Mapping[str, Json] | None = None
    notes: tuple[str, ...] = ()
    completed: bool = True
    hint: str = ""
    """How to convert a column that holds no text; goes into the error."""

    @property
    def names(self) -> tuple[str, ...]:
        """Columns, in the order of the source."""
        return tuple(self.cells)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.row_numbers)

    def text(self, name: str) -> Column[str]:
        """An identifying column as text: whole numbers are written out, null stays null."""
        return Column.of(self._label(name, i, v) for i, v in enumerate(self.cells[name]))

    def answers(self, name: str) -> Column[str]:
        """A column of answers: text or null, nothing else.

        Raises
        ------
        InputError
            For any other value: names the row, the type and the value.
        """
        return Column.of(self._answer(name, i, v) for i, v in enumerate(self.cells[name]))

    def evidence(self, name: str) -> Column[str]:
        """A column of anything, as text: JSON where it is none."""
        return Column.of(_plain_text(v) for v in self.cells[name])

    def numbers(self, name: str) -> Column[str]:
        """A column of numbers, written out."""
        floats = (repr(v) if isinstance(v, float) else v for v in self.cells[name])
        return Column.of(self._label(name, i, v) for i, v in enumerate(floats))

    def golds(self, name: str) -> Column[tuple[str, ...]]:
        """A column of texts or lists of texts, as tuples; an empty list is null."""
        return Column.of(self._golds(name, i, v) for i, v in enumerate(self.cells[name]))

    def vectors(self, name: str) -> Column[tuple[float, ...]]:
        """A column of lists of numbers, as tuples; one that is not finite is null."""
        return Column.of(self._vector(name, i, v) for i, v in enumerate(self.cells[name]))

    def wholes(self, name: str) -> NDArray[np.int64] | None:
        """A column of whole numbers from 0; None when it holds anything else."""
        if any(isinstance(v, bool) for v in self.cells[name]):
            return None
        return wholes_of(Column.of(None if is_missing(v) else str(v) for v in self.cells[name]))

    def _vector(self, name: str, index: int, value: object) -> tuple[float, ...] | None:
        if is_missing(value) or value == "":
            return None
        try:
            return vector(value)
        except (TypeError, ValueError):
            self._refuse(name, index, value, "a list of numbers is")
            return None

    def _label(self, name: str, index: int, value: object) -> str | None:
        if isinstance(value, Constant) and value == "NaN":
            return None
        if value is None or isinstance(value, str):
            return value if value is None else str(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if is_missing(value):
            return None
        return self._refuse(name, index, value, "text or whole numbers are")

    def _answer(self, name: str, index: int, value: object) -> str | None:
        if isinstance(value, Constant):
            return self._refuse(name, index, float(value), "text is")
        if value is None or isinstance(value, str):
            return value if value is None else str(value)
        if value is ABSENT:
            return None
        return self._refuse(name, index, value, "text is")

    def _golds(self, name: str, index: int, value: object) -> tuple[str, ...] | None:
        if isinstance(value, (list, tuple)):
            golds = [self._label(name, index, v) for v in value]
            return tuple(g for g in golds if g is not None) or None
        gold = self._label(name, index, value)
        return None if gold is None else (gold,)

    def _refuse(self, name: str, index: int, value: object, wanted: str) -> str | None:
        shown = repr(value)
        shown = shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…"
        hint = self.hint or "Write it as text."
        msg = (
            f"row {self.row_numbers[index]} has {shown} of type {type(value).__name__} in column "
            f"{name.removeprefix(DRAWS)!r}; {wanted} wanted there. {hint}"
        )
        raise InputError(msg)


_SHOWN = 60
DRAWS = "\x00"
"""Begins the name of a column that was made of another one's lists of draws."""


def is_missing(value: object) -> bool:
    """Whether a value is a mark for nothing: None, NaN, a missing scalar, or a missing key."""
    if value is None or value is ABSENT or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, float) and value != value  # noqa: PLR0124 - nan differs from itself


def _plain_text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value if value is None else str(value)
    if is_missing(value):
        return None
    try:
        return dumps(value)
    except CannotSerialise:  # a date or a decimal of a data frame
        return str(value)


def vector(value: object) -> tuple[float, ...] | None:
    """Numbers of a list, of one number, or of their JSON text; None when one is not finite.

    >>> vector("[0.5, 1]"), vector(["nan"])
    ((0.5, 1.0), None)
    """
    if isinstance(value, str) and value.lstrip()[:1] == "[":
        value = json.loads(value)
    listed = value if isinstance(value, (list, tuple)) else [value]
    if not listed or any(isinstance(v, bool) for v in listed):
        raise ValueError
    numbers = tuple(float(str(v)) for v in listed)
    return numbers if all(map(math.isfinite, numbers)) else None


def wholes_of(column: Column[str]) -> NDArray[np.int64] | None:
    """The whole numbers from 0 that a column of texts writes out; None when one is none."""
    words = [word.strip() for word in column.words]
    fit = all(w.isascii() and w.isdecimal() and len(w) < _MAX_DIGITS for w in words)
    if not fit or (column.codes == NULL).any():
        return None
    return np.array([int(w) for w in words], dtype=np.int64)[column.codes]


_MAX_DIGITS = len(str(np.iinfo(np.int64).max))


def from_rows(rows: Sequence[Mapping[str, object]]) -> dict[str, list[object]]:
    """Columns of a list of objects; a key that a row lacks is None there, or `ABSENT`.

    >>> from_rows([{"a": "x"}, {"b": "y"}])
    {'a': ['x', None], 'b': [None, 'y']}
    """
    cells: dict[str, list[object]] = {}
    for i, row in enumerate(rows):
        add_row(cells, row, i)
    even_out(cells, len(rows))
    return cells


def add_row(cells: dict[str, list[object]], row: Mapping[str, object], index: int) -> None:
    """Append one object to columns that may lag behind or not be there yet."""
    for name, value in row.items():
        column = cells.get(name)
        if column is None:
            column = cells[name] = []
        if len(column) < index:
            column.extend([_nothing(name)] * (index - len(column)))
        short = type(value) is str and len(value) <= _SHORT
        column.append(sys.intern(str(value)) if short else value)


_SHORT = 40
"""Texts up to this length are kept once however often they come."""


def even_out(cells: dict[str, list[object]], n_rows: int) -> None:
    """Make all columns equally long."""
    for name, column in cells.items():
        column.extend([_nothing(name)] * (n_rows - len(column)))


def _nothing(name: str) -> object:
    return ABSENT if name.casefold() in MARKED else None
