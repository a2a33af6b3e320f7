"""The answer table as it grows: written a batch at a time, synced several at a time."""

import errno
import json
import os
import stat
import sys
import time
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from trueness.contract.errors import FingerprintMismatch, InputError
from trueness.contract.serial import Json, dumps, once
from trueness.table.answers import Outcome
from trueness.table.jsonlines import Lines, check_version
from trueness.table.native import header as header_line
from trueness.table.protocol import Protocol
from trueness.table.rowkeys import RowKey, RowKeys
from trueness.table.sniff import unreadable
from trueness.table.writing import append_whole, dumps_row, take_back, unwritable

SYNC_SHARE = 0.1
"""The most of the time that is spent on syncing, about."""
LONGEST_WAIT = 1.0
"""Seconds after which written rows are synced with the next batch, however slow the disk is."""


@dataclass(frozen=True, slots=True)
class JournalState:
    """What a journal holds, as far as resuming needs to know.

    Parameters
    ----------
    done, errors : set of (item, epoch, condition)
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

    done: AbstractSet[RowKey]
    errors: AbstractSet[RowKey]
    torn_lines: int
    header: Mapping[str, Json] | None
    n_bytes: int
    ended: bool = True

    @property
    def rows_kept(self) -> int:
        """Rows that count: the last one of each key."""
        return len(self.done)

    def settled(self, key: RowKey, *, retry_errors: bool = False) -> bool:
        """Whether a key has a row; with ``retry_errors`` one that did not fail."""
        return key in self.done and not (retry_errors and key in self.errors)


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

    What is appended is in the file at once, whatever becomes of this process. It is on the disk,
    whatever becomes of the machine, once it was synced: with the next batch after a wait that keeps
    syncing to a tenth of the time, and when the journal is closed.

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
        self._begun = False
        self._regular = stat.S_ISREG(os.fstat(self._file.fileno()).st_mode)
        try:
            self.state = self._prepare(protocols or {}, extractor, facts or {}, resume=resume)
        except BaseException:
            self._file.close()
            raise
        self._begun = True
        self._synced, self._n_unsynced, self._next_sync = self._end(), 0, 0.0

    @property
    def n_unsynced(self) -> int:
        """Rows that were appended and would not survive a loss of power yet."""
        return self._n_unsynced

    @property
    def notes(self) -> tuple[str, ...]:
        """What had to be repaired, in sentences."""
        torn = "The last line of the journal was cut off; it was removed and is asked again."
        return (torn,) if self.state.torn_lines else ()

    def append(self, rows: Iterable[Mapping[str, Json]]) -> None:
        """Append a batch; when this returns, the rows are in the file, and synced when it is time.

        Raises
        ------
        InputError
            When the disk is full or the file was taken away; names the path.
        """
        lines = [dumps_row(row) + "\n" for row in rows]
        self._write("".join(lines))
        self._n_unsynced += len(lines)
        if time.monotonic() >= self._next_sync:
            self.sync()

    def sync(self) -> None:
        """Bring to the disk what was appended.

        Raises
        ------
        InputError
            When the system could not; what was not synced is taken back.
        """
        if not self._n_unsynced:
            return
        start = time.monotonic()
        self._fsync(self._synced)
        self._synced, self._n_unsynced = self._end(), 0
        now = time.monotonic()
        self._next_sync = now + min((now - start) * (1 / SYNC_SHARE - 1), LONGEST_WAIT)

    def close(self) -> None:
        """Sync, close the file and give up the lock."""
        if self._file.closed:
            return
        try:
            self.sync()
        finally:
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
        state = read_journal(self.path) if self._regular else _EMPTY
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
        if self._regular:
            self._file.seek(0, os.SEEK_END)
        if not state.ended:
            self._write("\n")

    def _write(self, text: str) -> None:
        try:
            append_whole(self._file, text.encode("utf-8"), self._end())
        except OSError as error:
            raise self._stopped(error) from error

    def _fsync(self, safe: int | None) -> None:
        """Sync the file; where that fails, what lies behind ``safe`` bytes is taken back."""
        try:
            if self._regular:
                os.fsync(self._file.fileno())
                self._check_there()
        except OSError as error:
            take_back(self._file, safe)
            self._n_unsynced = 0
            raise self._stopped(error) from error

    def _stopped(self, error: OSError) -> InputError:
        """The error of a file that cannot be begun, or that can no longer be appended to."""
        if not self._begun:
            return unwritable(self.path, error)
        if isinstance(error, FileNotFoundError):
            after = "Its rows are gone with it; ask again into a new file."
        else:
            after = "Its rows so far are whole; make room and go on with --resume."
        msg = f"{self.path} cannot be written: {error.strerror or error}. {after}"
        return InputError(msg)

    def _check_there(self) -> None:
        """Refuse to go on writing to a file that nobody could find any more."""
        if not os.fstat(self._file.fileno()).st_nlink:
            raise FileNotFoundError(errno.ENOENT, "it was removed while rows were written to it")

    def _end(self) -> int | None:
        return self._file.tell() if self._regular else None


_EMPTY = JournalState(RowKeys(), RowKeys(), 0, None, 0)


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
    lines = Lines(path, decoder=json.JSONDecoder(object_pairs_hook=once))
    done, errors = RowKeys(), RowKeys()
    for number, row in lines.rows(file):
        key = _key(row, path, number)
        done.add(key)
        if row.get("outcome") == Outcome.ERROR.value:
            errors.add(key)
        elif errors:
            errors.discard(key)
    if lines.header is not None:
        check_version(lines.header, path)
    ended = lines.ended or bool(lines.torn) or not lines.keep
    return JournalState(done, errors, lines.torn, lines.header, lines.keep, ended)


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
