"""CSV and its relatives, cell by cell: everything is text, an empty cell is an empty text."""

import csv
import io
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from trueness.contract.errors import InputError
from trueness.table.cells import CellSource
from trueness.table.sniff import HEAD, decoded, undecodable_note, unreadable

DELIMITERS = ",;\t|"


def read_delimited(path: Path) -> CellSource:
    """The rows of a CSV file whose first line names the columns.

    Raises
    ------
    InputError
        For a row that is too short or too long (names the line), a quote that is never closed,
        a repeated column name, or no rows.
    """
    try:
        text, n_bad = decoded(path.read_bytes())
    except OSError as error:
        raise unreadable(path, error) from error
    if "\n" not in text:
        text = text.replace("\r", "\n")
    names, delimiter = header_of(text[:HEAD], path)
    rows = list(_rows(text, delimiter, path, len(names)))[1:]
    if not rows:
        msg = f"{path} has a head and no rows; at least one answer is wanted. Check the file."
        raise InputError(msg)
    columns = zip(*rows, strict=True)
    cells = {name: list(column) for name, column in zip(names, columns, strict=True)}
    notes = (undecodable_note(n_bad),) if n_bad else ()
    return CellSource(cells, range(1, len(rows) + 1), notes=notes)


def header_of(head: str, path: Path) -> tuple[list[str], str]:
    """Column names and the delimiter, from the beginning of a file.

    The delimiter is the one that gives most columns in the first record.
    """
    candidates: list[tuple[int, int, list[str], str]] = []
    for rank, delimiter in enumerate(DELIMITERS):
        try:
            names = next(csv.reader(io.StringIO(head), delimiter=delimiter, strict=True), [])
        except csv.Error:
            continue
        candidates.append((len(names), -rank, names, delimiter))
    if not candidates:
        msg = f"the first line of {path} has a quote that is never closed. Close it."
        raise InputError(msg)
    _, _, names, delimiter = max(candidates, key=lambda c: c[:2])
    names = [name.strip() for name in names]
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        msg = f"{path} has two columns called {repeated[0]!r}; rename one of them."
        raise InputError(msg)
    return names, delimiter


def _rows(text: str, delimiter: str, path: Path, width: int) -> Iterator[Sequence[str]]:
    limit = csv.field_size_limit(sys.maxsize)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        line = 1
        for cells in reader:
            row = cells or [""] * (width == 1)  # a blank line is a row only where one cell is
            if row:
                _check_width(row, width, line, path)
                yield row
            line = reader.line_num + 1
    except csv.Error as error:
        msg = (
            f"{path}, line {reader.line_num}: {_said(error)}. "
            'Write quotes inside of a quoted cell twice ("") and close every quote.'
        )
        raise InputError(msg) from error
    finally:
        csv.field_size_limit(limit)


def _check_width(row: Sequence[str], width: int, line: int, path: Path) -> None:
    if len(row) != width:
        msg = (
            f"{path}, line {line}: {len(row)} cells where the head has {width}. "
            "Quote cells that hold the delimiter or a line end, or complete the row."
        )
        raise InputError(msg)


def _said(error: csv.Error) -> str:
    if "unexpected end of data" in str(error):
        return "the file ends inside of a quoted cell"
    return f"no valid cell ({error})"
