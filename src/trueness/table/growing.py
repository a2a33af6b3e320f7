"""Arrays beside a table that is being written: appended a batch at a time, whole after a kill.

The file is one NumPy array after another, two a batch: the bytes of a JSON object with the name of
the array and its keys, then the entries. A last batch that was cut off counts for nothing.
"""

import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.table.writing import append_whole, unwritable

SUFFIX = ".arrays.npys"
ALL_DRAWS = 0
"""The epoch of an entry that holds for every draw of its item and condition."""

_MAGIC = b"\x93NUMPY"

Key = tuple[str, int, str]
Batch = tuple[str, list[Key], NDArray[np.floating]]


def growing_of(path: str | Path) -> Path:
    """Where the arrays of a growing table lie: beside it, under its name.

    >>> growing_of("answers.jsonl").name
    'answers.arrays.npys'
    """
    return Path(path).with_suffix(SUFFIX)


class GrowingArrays:
    """Arrays that are appended to beside a table.

    Parameters
    ----------
    table : path
        Of the table; whoever holds its lock is the only one to write here.
    begun : bool
        Whether the table was there before; entries of one that is gone are not kept.

    Raises
    ------
    InputError
        When the file cannot be written, or was there and is no such file.
    """

    def __init__(self, table: str | Path, *, begun: bool) -> None:
        self.path = growing_of(table)
        self.keys: set[Key] = set()
        end = 0
        if begun and self.path.is_file():
            for _, keys, _, end in _batches(self.path):  # noqa: B007 - the last one is used
                self.keys.update(keys)
        try:
            self._file = io.FileIO(self.path, "r+b" if end else "wb")
            self._file.truncate(end)
            self._file.seek(end)
        except OSError as error:
            raise unwritable(self.path, error) from error

    def append(self, name: str, keys: Sequence[Key], entries: NDArray[np.floating]) -> None:
        """Append a batch; when this returns, it is on the disk.

        Parameters
        ----------
        name : str
            Of the array.
        keys : sequence of (item, epoch, condition)
            Epoch `ALL_DRAWS` stands for every draw.
        entries : (n_keys, ...) float

        Raises
        ------
        InputError
            When the disk is full; what was cut off is taken back.
        """
        head = json.dumps({"array": name, "keys": keys}).encode()
        batch = io.BytesIO()
        np.lib.format.write_array(batch, np.frombuffer(head, np.uint8))
        np.lib.format.write_array(batch, np.ascontiguousarray(entries))
        try:
            append_whole(self._file, batch.getbuffer(), self._file.tell(), sync=True)
        except OSError as error:
            raise unwritable(self.path, error) from error
        self.keys.update(keys)

    def close(self) -> None:
        """Give the file back."""
        self._file.close()


def read_growing(path: Path) -> dict[str, tuple[list[Key], NDArray[np.floating]]]:
    """Keys and entries of every array in a file; a later entry of a key replaces an earlier one.

    Raises
    ------
    InputError
        When the file cannot be read, or entries of one array have different shapes.
    """
    parts: dict[str, list[Batch]] = {}
    for name, keys, entries, _ in _batches(path):
        parts.setdefault(name, []).append((name, keys, entries))
    found = {}
    for name, batches in parts.items():
        if len({entries.shape[1:] for _, _, entries in batches}) > 1:
            msg = f"{path.name} holds entries of {name!r} of different shapes. Ask again."
            raise InputError(msg)
        keys = [key for _, named, _ in batches for key in named]
        last = {key: place for place, key in enumerate(keys)}
        whole = np.concatenate([entries for _, _, entries in batches])
        found[name] = (list(last), whole[list(last.values())])
    return found


def _batches(path: Path) -> Iterator[tuple[str, list[Key], NDArray[np.floating], int]]:
    """Name, keys and entries of every whole batch, and where it ends."""
    try:
        with path.open("rb") as file:
            while (batch := _next(file, path)) is not None:
                yield *batch, file.tell()
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror or error}. Check it."
        raise InputError(msg) from error


def _next(file: BinaryIO, path: Path) -> Batch | None:
    """The next whole batch; None at the end, or where the rest was cut off."""
    start = file.tell()
    magic = file.read(len(_MAGIC))
    if not _MAGIC.startswith(magic):
        msg = f"{path.name} holds no arrays from byte {start} on. Move it away, and ask again."
        raise InputError(msg)
    file.seek(start)
    try:
        head = _array(file)
        entries = _array(file)
    except (ValueError, EOFError):
        return None
    try:
        said: dict[str, Any] = json.loads(head.tobytes())
        keys: list[Key] = [(str(i), int(e), str(c)) for i, e, c in said["keys"]]
        name = str(said["array"])
    except (ValueError, KeyError, TypeError) as error:
        msg = f"{path.name} lies beside a table and holds no arrays of it. Move it away."
        raise InputError(msg) from error
    if len(keys) != len(entries) or entries.dtype.kind != "f":
        msg = f"{path.name} holds {name!r}, which is not one entry of numbers a key. Move it away."
        raise InputError(msg)
    return name, keys, entries


def _array(file: BinaryIO) -> NDArray[Any]:
    found: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return found
