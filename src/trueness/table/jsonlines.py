"""JSON lines, and JSON files that hold a list of rows or columns of equal length."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from trueness.contract.errors import InputError
from trueness.contract.serial import Json, RepeatedKeyError, once
from trueness.table.cells import CellSource, Constant, add_row, even_out, from_rows
from trueness.table.sniff import decoded_json, undecodable_note, unreadable

FORMAT = "trueness"
"""The key of a header line that says that we wrote the file; its value is the version."""
VERSION = 1


_HEADER = frozenset({"protocol", "note", "notes", "extractor", "planned"})
"""What the first line of a grouped file may say."""


class Literal(str):
    """A finite JSON number as it was written: ``4.0`` stays ``4.0``."""

    __slots__ = ()


_DECODER = json.JSONDecoder(
    parse_float=Literal, parse_int=Literal, parse_constant=Constant, object_pairs_hook=once
)
"""Numbers stay as they were written; an object with a key twice is refused."""


@dataclass(slots=True)
class Lines:
    """Whole lines of a JSON lines file, and what was found on the way.

    ``torn`` is 1 when the last line had no end and was no JSON; ``keep`` is the number of bytes
    before it; ``start`` is where the line begins that was handed out last.
    """

    path: Path
    torn: int = 0
    keep: int = 0
    start: int = 0
    n_undecodable: int = 0
    ended: bool = True
    header: Mapping[str, Json] | None = None
    decoder: json.JSONDecoder = field(default=_DECODER)

    def rows(self, file: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Line number and object of every row; a header line is kept apart."""
        for number, raw in enumerate(file, start=1):
            self.ended = raw.endswith(b"\n")
            text, bad = decoded_json(raw)
            if not text.strip():
                self.keep += len(raw)
                continue
            try:
                value = self.decoder.decode(text.strip())
            except RepeatedKeyError as error:
                raise _repeated(self.path, error, number) from error
            except (json.JSONDecodeError, RecursionError) as error:
                if self.ended:
                    raise _broken(self.path, number, error) from error
                self.torn = 1
                return
            self.start = self.keep
            self.keep += len(raw)
            self.n_undecodable += bad
            row = _object(value, self.path, number)
            if self.header is None and number == 1 and is_header(row):
                self.header = json.loads(text)
                continue
            yield number, row


def is_header(row: Mapping[str, object]) -> bool:
    """Whether the first object of a file is a header and no row."""
    return FORMAT in row or (isinstance(row.get("protocol"), dict) and row.keys() <= _HEADER)


def check_version(header: Mapping[str, Json], path: Path) -> None:
    """Raise `InputError` when a later version of this package wrote the file."""
    version = header.get(FORMAT, VERSION)
    if version != VERSION:
        msg = (
            f"{path} has the table format {version!r}; this version reads format {VERSION}. "
            "Update trueness, or export the table again."
        )
        raise InputError(msg)


def read_json(path: Path) -> CellSource:
    """The rows of a JSON file: a row a line, a list of rows, or an object of columns.

    A last line that was cut off is dropped with a note; any other line that is no JSON object is
    refused with its number.
    """
    try:
        with path.open("rb") as file:
            return _read_lines(path, file)
    except OSError as error:
        raise unreadable(path, error) from error
    except _NoLinesError as error:
        return _read_document(path, error.reason)


class _NoLinesError(Exception):
    """The first line is no JSON object on its own."""

    def __init__(self, reason: InputError) -> None:
        super().__init__(str(reason))
        self.reason = reason


def _read_lines(path: Path, file: IO[bytes]) -> CellSource:
    lines = Lines(path)
    cells: dict[str, list[object]] = {}
    n_rows = 0
    try:
        for _, row in lines.rows(file):
            add_row(cells, row, n_rows)
            n_rows += 1
    except InputError as error:
        if not n_rows and lines.header is None:
            raise _NoLinesError(error) from error
        raise
    if not n_rows and lines.header is None:
        raise _NoLinesError(_nothing_whole(path))
    if not n_rows:
        msg = f"{path} holds a header and no rows; at least one answer is wanted. Check the file."
        raise InputError(msg)
    if lines.header is not None:
        check_version(lines.header, path)
    if n_rows == 1 and lines.header is None:
        only = {name: column[0] for name, column in cells.items()}
        if _is_columns(only):
            return _columns(only, path)
    even_out(cells, n_rows)
    return CellSource(
        cells,
        range(1, n_rows + 1),
        header=lines.header,
        notes=_notes(lines),
        completed=not lines.torn,
    )


def _notes(lines: Lines) -> tuple[str, ...]:
    torn = ("The last line was cut off and is left out.",) if lines.torn else ()
    bad = (undecodable_note(lines.n_undecodable),) if lines.n_undecodable else ()
    return torn + bad


def _read_document(path: Path, reason: InputError) -> CellSource:
    text, n_bad = decoded_json(path.read_bytes())
    try:
        value = _DECODER.decode(text.strip())
    except RepeatedKeyError as error:
        known = isinstance(reason.__cause__, RepeatedKeyError)
        raise (reason if known else _repeated(path, error)) from error
    except (json.JSONDecodeError, RecursionError):
        raise reason from None
    notes = (undecodable_note(n_bad),) if n_bad else ()
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        return CellSource(from_rows(value), range(1, len(value) + 1), notes=notes)
    if isinstance(value, dict) and _is_columns(value):
        return _columns(value, path)
    msg = (
        f"{path} is JSON without rows; one object a line, a list of objects, or an object of "
        "lists of equal length is wanted. Write the answers in one of these shapes."
    )
    raise InputError(msg)


def _is_columns(value: Mapping[str, object]) -> bool:
    return len(value) > 1 and all(isinstance(column, list) for column in value.values())


def _columns(value: Mapping[str, Any], path: Path) -> CellSource:
    lengths = {name: len(column) for name, column in value.items()}
    if len(set(lengths.values())) != 1 or not next(iter(lengths.values())):
        msg = (
            f"the columns of {path} have {lengths} entries; equally many, at least one, are "
            "wanted. Check how it was written."
        )
        raise InputError(msg)
    return CellSource(value, range(1, next(iter(lengths.values())) + 1))


def _object(value: object, path: Path, number: int) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    msg = (
        f"{path}, line {number}: a JSON {type(value).__name__}; an object is wanted on every "
        "line. Write one row a line."
    )
    raise InputError(msg)


def _broken(path: Path, number: int, error: Exception) -> InputError:
    return InputError(f"{path}, line {number}: no JSON ({error}). Repair or remove the line.")


def _repeated(path: Path, error: RepeatedKeyError, number: int | None = None) -> InputError:
    where = path if number is None else f"{path}, line {number}"
    return InputError(f"{where}: {error}; one value is wanted. Remove the other.")


def _nothing_whole(path: Path) -> InputError:
    return InputError(f"{path} holds no whole row; it was cut off in its first line. Ask again.")
