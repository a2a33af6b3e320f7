"""Tables to files: JSON lines with everything, CSV and Parquet for other tools."""

import csv
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

from trueness.contract.errors import InputError
from trueness.contract.serial import Json, dumps
from trueness.table.answers import AnswerTable
from trueness.table.native import header_of, names_of, rows_of
from trueness.table.parquet import write_parquet

SUFFIXES = (".jsonl", ".csv", ".parquet")


def write(table: AnswerTable, path: str | Path) -> None:
    """Write a table in the format that the suffix names; the file appears whole or not at all.

    JSON lines hold everything. CSV and Parquet hold the rows; in CSV nothing and an empty text
    look the same, and both lose no key: the outcome says which is meant. Arrays go to a file
    beside it; one of an earlier table of that name goes away.

    Parameters
    ----------
    table : AnswerTable
        Any table.
    path : path
        Ends in ``.jsonl``, ``.csv`` or ``.parquet``.

    Raises
    ------
    InputError
        For another suffix, or when the file cannot be written; names the path.
    """
    path = Path(path)
    writers = {".jsonl": _write_jsonl, ".csv": _write_csv, ".parquet": write_parquet}
    writer = writers.get(path.suffix.lower())
    if writer is None and not path.is_char_device():
        msg = f"{path} ends in {path.suffix!r}; {', '.join(SUFFIXES)} are known. Use one of these."
        raise InputError(msg)
    with whole_file(path) as partial:
        (writer or _write_jsonl)(table, partial)
    if not path.is_char_device():
        from trueness.table.sidecar import replace_arrays  # noqa: PLC0415 - it writes as this does

        replace_arrays(table, path)


def write_jsonl(table: AnswerTable, path: str | Path) -> None:
    """Write a table as JSON lines under any name."""
    with whole_file(Path(path)) as partial:
        _write_jsonl(table, partial)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A name to write to; it becomes ``path`` at the end, and nothing is left after a failure."""
    partial = path if path.is_char_device() else path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield partial
        if partial is not path:
            partial.replace(path)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        if partial is not path:
            partial.unlink(missing_ok=True)


def append_whole(
    file: FileIO, data: bytes | memoryview, at: int | None, *, sync: bool = False
) -> None:
    """Write all or nothing: what a full disk or an interrupt cut off is taken back.

    Parameters
    ----------
    file : FileIO
        Unbuffered, so that nothing is left to be written once more; stands at ``at``.
    data : bytes
    at : int or None
        Where the file is cut off when not all could be written; None for what is no regular file.
    sync : bool
        Whether the data must be on the disk too.

    Raises
    ------
    OSError
        When the system could not.
    """
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[file.write(rest) :]
        if sync:
            os.fsync(file.fileno())
    except BaseException:
        take_back(file, at)
        raise


def take_back(file: FileIO, at: int | None) -> None:
    """Cut a file off at a byte and go on from there; what is no regular file is left alone."""
    if at is not None:
        file.truncate(at)
        file.seek(at)


def unwritable(path: Path, error: OSError) -> InputError:
    """The error for a file that the system does not let us write."""
    msg = (
        f"{path} cannot be written: {error.strerror or error}. "
        "Choose a folder that exists, may be written and has room."
    )
    return InputError(msg)


def _write_jsonl(table: AnswerTable, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(dumps(header_of(table)) + "\n")
        file.writelines(dumps_row(row) + "\n" for row in rows_of(table))
        file.flush()


_PLAIN = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def dumps_row(row: Mapping[str, Json]) -> str:
    """JSON text of one flat row; lone surrogates are escaped."""
    try:
        text = _PLAIN.encode(row)
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(row, ensure_ascii=True, allow_nan=False)
    except (ValueError, TypeError):
        return dumps(row)
    return text


def _write_csv(table: AnswerTable, path: Path) -> None:
    names = names_of(table)
    with path.open("w", encoding="utf-8", newline="", errors="backslashreplace") as file:
        writer = csv.writer(file, lineterminator="\r\n")  # both are then quoted inside of cells
        writer.writerow(names)
        for row in rows_of(table):
            writer.writerow([_cell(row.get(name)) for name in names])


def _cell(value: Json) -> str:
    if isinstance(value, list):
        return str(value[0]) if len(value) == 1 else dumps(value)
    return "" if value is None else str(value)
