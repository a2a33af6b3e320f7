"""The answer table as it grows: appended, flushed and synced a batch at a time."""

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from trueness.contract.errors import FingerprintMismatch, InputError
from trueness.contract.serial import Json, dumps
from trueness.table.answers import Outcome
from trueness.table.jsonlines import Lines, check_version
from trueness.table.native import header as header_line
from trueness.table.protocol import Protocol
from trueness.table.sniff import unreadable
from trueness.table.writing import dumps_row, unwritable

RowKey = tuple[str, int, str]
"""(item, epoch, condition)."""


@dataclass(frozen=True, slots=True)
class JournalState:
    """What a journal holds, as far as resuming needs to know.

    Parameters
    ----------
    done, errors : frozenset of (item, epoch, condition)
        Keys with a row, and those of them whose last row is marked ``error``.
    rows_kept, torn_lines : int
        Rows that count, the last one of each key; lines that were cut off.
    header : mapping or None
        The header line.
    n_bytes : int
        Length of the file without a torn last line.
    ended : bool
        Whether the last whole line has its line end.
    """

    done: frozenset[RowKey]
    errors: frozenset[RowKey]
    torn_lines: int
    header: Mapping[str, Json] | None
    n_bytes: int
    ended: bool = True

    @property
    def rows_kept(self) -> int:
        """Rows that count: the last one of each key."""
        return len(self.done)

    def still_to_ask(
        self, asked: Sequence[RowKey], *, retry_errors: bool = False
    ) -> tuple[RowKey, ...]:
        """Keys of ``asked`` without a row, in order; with ``retry_errors`` also failed ones."""
        settled = self.done - self.errors if retry_errors else self.done
        return tuple(key for key in asked if key not in settled)


def read_journal(path: str | Path) -> JournalState:
    """What a journal holds: keys only, a line at a time.

    Raises
    ------
    InputError
        When it cannot be read, or a line before the last is no row.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            return _state(path, file)
    except OSError as error:
        raise unreadable(path, error) from error


class AnswerJournal:
    """An answer table that is open for appending; one process at a time.

    Parameters
    ----------
    path : path
        Is created when absent. A last line that was cut off is removed.
    protocols : mapping of condition to Protocol
        Written in the header; when the file exists they must have equal fingerprints.
    resume : bool
        Whether an existing file may be continued.
    extractor : str or None
        Name, version and hash of the rules that make the keys.
    facts : mapping of plain JSON
        Versions, hashes …: whatever else the header should say.

    Raises
    ------
    InputError
        When the file exists and ``resume`` is false, is open elsewhere, or cannot be written.
    FingerprintMismatch
        When it was written under another protocol; names the differing fields.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        protocols: Mapping[str, Protocol] | None = None,
        resume: bool = False,
        extractor: str | None = None,
        facts: Mapping[str, Json] | None = None,
    ) -> None:
        self.path = Path(path)
        self._file = _open(self.path)
        try:
            self.state = self._prepare(protocols or {}, extractor, facts or {}, resume=resume)
        except BaseException:
            self._file.close()
            raise

    @property
    def notes(self) -> tuple[str, ...]:
        """What had to be repaired, in sentences."""
        torn = "The last line of the journal was cut off; it was removed and is asked again."
        return (torn,) if self.state.torn_lines else ()

    def append(self, rows: Iterable[Mapping[str, Json]]) -> None:
        """Append a batch; when this returns, the rows are on disk.

        Raises
        ------
        InputError
            When the disk is full or the file was taken away; names the path.
        """
        text = "".join(dumps_row(row) + "\n" for row in rows)
        self._write(text)

    def close(self) -> None:
        """Close the file and give up the lock."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _prepare(
        self,
        protocols: Mapping[str, Protocol],
        extractor: str | None,
        facts: Mapping[str, Json],
        *,
        resume: bool,
    ) -> JournalState:
        state = read_journal(self.path) if self.path.is_file() else _EMPTY
        if (state.done or state.header) and not resume:
            msg = (
                f"{self.path} exists and holds {state.rows_kept} rows; a new file was wanted. "
                "Continue it with --resume, or name another file."
            )
            raise InputError(msg)
        _check_protocols(self.path, state, protocols)
        self._repair(state)
        if not state.done and not state.header:
            line = header_line(protocols, extractor=extractor, **facts)
            self._write(dumps(line) + "\n")
        return state

    def _repair(self, state: JournalState) -> None:
        if state.torn_lines:
            self._file.truncate(state.n_bytes)
        if self.path.is_file():
            self._file.seek(0, os.SEEK_END)
        if not state.ended:
            self._write("\n")

    def _write(self, text: str) -> None:
        """Write all or nothing: what a full disk cut off is taken back."""
        regular = self.path.is_file()
        start = self._file.tell() if regular else 0
        rest = memoryview(text.encode("utf-8"))
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
            if regular:
                os.fsync(self._file.fileno())
        except OSError as error:
            if regular:
                self._file.truncate(start)
                self._file.seek(start)
            raise unwritable(self.path, error) from error


_EMPTY = JournalState(frozenset(), frozenset(), 0, None, 0)


def _open(path: Path) -> FileIO:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        file = FileIO(descriptor, "r+b")
    except OSError as error:
        raise unwritable(path, error) from error
    try:
        _lock(file)
    except OSError as error:
        file.close()
        msg = (
            f"{path} is being written by another process; one at a time is wanted. "
            "Wait for it to end, or name another file."
        )
        raise InputError(msg) from error
    return file


def _lock(file: FileIO) -> None:
    """Take the file for this process; the system gives it back however the process ends."""
    if sys.platform == "win32":  # pragma: no cover - not run where this is tested
        import msvcrt  # noqa: PLC0415 - exists there only

        file.seek(2**62)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        file.seek(0)
    else:
        import fcntl  # noqa: PLC0415 - exists there only

        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


def _state(path: Path, file: BinaryIO) -> JournalState:
    lines = Lines(path, decoder=json.JSONDecoder())
    last: dict[RowKey, bool] = {}
    for number, row in lines.rows(file):
        last[_key(row, path, number)] = row.get("outcome") == Outcome.ERROR.value
    if lines.header is not None:
        check_version(lines.header, path)
    errors = frozenset(key for key, failed in last.items() if failed)
    ended = lines.ended or bool(lines.torn) or not lines.keep
    return JournalState(frozenset(last), errors, lines.torn, lines.header, lines.keep, ended)


def _key(row: Mapping[str, object], path: Path, number: int) -> RowKey:
    item, epoch, condition = row.get("item"), row.get("epoch", 1), row.get("condition", "none")
    if isinstance(item, str) and type(epoch) is int and isinstance(condition, str):
        return item, epoch, condition
    msg = (
        f"{path}, line {number}: no item, epoch and condition; a journal needs them on every row. "
        "Name a file that trueness wrote."
    )
    raise InputError(msg)


def _check_protocols(path: Path, state: JournalState, protocols: Mapping[str, Protocol]) -> None:
    stored = (state.header or {}).get("protocols")
    if not protocols or not isinstance(stored, dict):
        return
    for condition, protocol in protocols.items():
        fields = stored.get(condition)
        if fields is None:
            continue
        known = Protocol(fields if isinstance(fields, dict) else {})
        if known.fingerprint != protocol.fingerprint:
            differing = ", ".join(known.differences(protocol))
            msg = (
                f"{path} was written under another protocol: condition {condition!r} differs in "
                f"{differing}. Resume with the same settings, or name another file."
            )
            raise FingerprintMismatch(msg)
