"""The answer table as it is written: appended, flushed and synced, batch by batch."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from trueness.backends.protocol import Key
from trueness.contract.errors import FingerprintMismatch, InputError
from trueness.contract.serial import dumps
from trueness.table.protocol import Protocol

VERSION = 1
_ERROR = "error"


@dataclass(slots=True)
class Journal:
    """A table file that is being collected; every appended row survives a kill.

    Parameters
    ----------
    path : Path
    outcomes : dict of (item, epoch, condition) to str
        What is there; the last row of a key wins.
    torn : int
        1 when the last line was cut off and has been dropped.
    """

    path: Path
    outcomes: dict[Key, str] = field(default_factory=dict)
    torn: int = 0
    _file: IO[bytes] | None = None

    @classmethod
    def begin(
        cls, path: Path, protocols: Mapping[str, Protocol], facts: Mapping[str, object]
    ) -> "Journal":
        """A new file with its header; an existing one is never written over.

        Raises
        ------
        InputError
            When the file is there already or cannot be made.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("xb", buffering=0)
        except FileExistsError as error:
            msg = f"{path} is there already. Continue it with resume, or name another file."
            raise InputError(msg) from error
        except OSError as error:
            msg = f"cannot write {path}: {error.strerror}. Name another file."
            raise InputError(msg) from error
        journal = cls(path, _file=file)
        fields = {name: protocol.fields for name, protocol in protocols.items()}
        journal._write(dumps({"trueness": VERSION, **facts, "protocols": fields}) + "\n")
        return journal

    @classmethod
    def resume(cls, path: Path, protocols: Mapping[str, Protocol]) -> "Journal | None":
        """The file as it was left, ready to be appended to; None when not even its header is whole.

        A torn last line is cut off.

        Raises
        ------
        FingerprintMismatch
            When it was begun under another protocol; names the fields that differ.
        InputError
            When the file is no table that we wrote, or a line in its middle is broken.
        """
        if not path.exists():
            return None
        header, outcomes, keep, torn = scan(path)
        if header is None:
            if keep:
                msg = f"{path} does not start with a header; resume needs a file that `ask` began."
                raise InputError(msg)
            path.unlink()
            return None
        _check(header, protocols, path)
        file = path.open("r+b", buffering=0)
        if torn:
            file.truncate(keep)
        file.seek(0, os.SEEK_END)
        journal = cls(path, outcomes, torn, file)
        if not torn and not _ends_line(path):
            journal._write("\n")
        return journal

    def append(self, rows: Sequence[Mapping[str, object]]) -> None:
        """Write rows and return when they are on the disk."""
        if not rows:
            return
        self._write("".join(dumps(row) + "\n" for row in rows))
        for row in rows:
            self.outcomes[_key(row)] = str(row["outcome"])

    def to_ask(self, keys: Iterable[Key], *, retry_errors: bool = False) -> list[Key]:
        """The keys that have no row, in order; with ``retry_errors`` also those that failed."""
        left = self.outcomes
        return [k for k in keys if k not in left or (retry_errors and left[k] == _ERROR)]

    def close(self) -> None:
        """Give the file back."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _write(self, text: str) -> None:
        if self._file is None:
            msg = f"{self.path} is closed; begin or resume it again."
            raise InputError(msg)
        raw = memoryview(text.encode("utf-8"))
        while raw:
            raw = raw[self._file.write(raw) :]
        os.fsync(self._file.fileno())


def scan(path: Path) -> tuple[Mapping[str, Any] | None, dict[Key, str], int, int]:
    """Header, last outcome of every key, bytes of whole lines, and 1 where the last is torn.

    Raises
    ------
    InputError
        For a broken line that is not the last.
    """
    header: Mapping[str, Any] | None = None
    outcomes: dict[Key, str] = {}
    keep, loads = 0, json.loads
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            try:
                row = loads(raw)
            except ValueError as error:
                if not raw.endswith(b"\n"):
                    return header, outcomes, keep, 1
                msg = f"{path}, line {number}, is no JSON. Repair or remove the line."
                raise InputError(msg) from error
            keep += len(raw)
            if number == 1 and "trueness" in row:
                header = row
                continue
            try:
                outcomes[row["item"], row["epoch"], row["condition"]] = row["outcome"]
            except (KeyError, TypeError) as error:
                msg = f"{path}, line {number}, is no row: it lacks a key column. Repair it."
                raise InputError(msg) from error
    return header, outcomes, keep, 0


def _check(header: Mapping[str, Any], protocols: Mapping[str, Protocol], path: Path) -> None:
    begun = {name: Protocol(fields) for name, fields in header.get("protocols", {}).items()}
    if unknown := [name for name in protocols if name not in begun]:
        msg = (
            f"{path} was begun with the conditions {', '.join(begun)}; {unknown[0]!r} is not among "
            "them. Ask the new conditions into another file."
        )
        raise FingerprintMismatch(msg)
    for name, protocol in protocols.items():
        if differing := protocol.differences(begun[name]):
            msg = (
                f"{path} was begun under another protocol: condition {name!r} differs in "
                f"{', '.join(differing)}. Use the settings it was begun with, or another file."
            )
            raise FingerprintMismatch(msg)


def _ends_line(path: Path) -> bool:
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _key(row: Mapping[str, object]) -> Key:
    item, epoch, condition = row["item"], row["epoch"], row["condition"]
    if not isinstance(epoch, int):
        msg = f"row {item!r} has the epoch {epoch!r}; a whole number from 1 is wanted."
        raise InputError(msg)
    return str(item), epoch, str(condition)
