"""What kind of file this is, by its content; every file that cannot be read is refused here."""

from enum import StrEnum
from pathlib import Path

from trueness.contract.errors import InputError

HEAD = 65_536
"""So many bytes decide."""


class FileKind(StrEnum):
    """Kinds of files that hold answers."""

    JSON = "JSON"
    DELIMITED = "delimited text"
    PARQUET = "Parquet"


_PACKED = {
    b"\x1f\x8b": ("gzip", "Unpack it first: gunzip FILE."),
    b"PK\x03\x04": ("a zip archive", "Unpack it first: unzip FILE."),
    b"PK\x05\x06": ("an empty zip archive", "Name a file with rows."),
    b"\x28\xb5\x2f\xfd": ("zstd", "Unpack it first: unzstd FILE."),
    b"BZh": ("bzip2", "Unpack it first: bunzip2 FILE."),
    b"\xfd7zXZ": ("xz", "Unpack it first: unxz FILE."),
    b"\xff\xfe": ("UTF-16 text", "Save it as UTF-8."),
    b"\xfe\xff": ("UTF-16 text", "Save it as UTF-8."),
}
_WANTED = "JSON lines, CSV or Parquet is wanted"


def sniff(path: Path) -> FileKind:
    """The kind of a file.

    Raises
    ------
    InputError
        When it is absent, unreadable, a folder, empty, packed or binary.
    """
    head = _head(path)
    if head.startswith(b"PAR1"):
        return FileKind.PARQUET
    for magic, (what, remedy) in _PACKED.items():
        if head.startswith(magic):
            msg = f"{path} is {what}; {_WANTED}. {remedy}"
            raise InputError(msg)
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text:
        msg = f"{path} is empty; {_WANTED}, with at least one answer. Check how it was written."
        raise InputError(msg)
    if text[:1] in b"{[":
        return FileKind.JSON
    if b"\x00" in head:
        msg = f"{path} is a binary file; {_WANTED}. Export the answers to one of these."
        raise InputError(msg)
    return FileKind.DELIMITED


def _head(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            msg = (
                f"{path} is a pipe or a device; a file is wanted, because it is read more than "
                "once. Write it to a file first."
            )
            raise InputError(msg)
        with path.open("rb") as file:
            return file.read(HEAD)
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> InputError:
    """The error for a file that the system does not let us read."""
    if isinstance(error, IsADirectoryError) or path.is_dir():
        return InputError(f"{path} is a folder; a file is wanted. Name one file in it.")
    if isinstance(error, FileNotFoundError):
        return InputError(f"{path} does not exist; a file with answers is wanted. Check the path.")
    if isinstance(error, PermissionError):
        return InputError(f"{path} may not be read; allow it (chmod u+r) or name another file.")
    return InputError(f"{path} cannot be read: {error.strerror or error}. Check the file.")


def decoded(data: bytes) -> tuple[str, int]:
    r"""Text of UTF-8 bytes, a byte order mark off, and how many bytes were no UTF-8.

    >>> decoded(b"caf\xe9")
    ('caf\\xe9', 1)
    """
    try:
        return data.decode("utf-8-sig"), 0
    except UnicodeDecodeError:
        marked = data.decode("utf-8-sig", "surrogateescape")
        count = sum("\udc80" <= c <= "\udcff" for c in marked)
        return data.decode("utf-8-sig", "backslashreplace"), count


def decoded_json(data: bytes) -> tuple[str, int]:
    r"""The same for JSON: a byte that is no UTF-8 is escaped, so that its text holds ``\xNN``.

    >>> decoded_json(b'"caf\xe9"')
    ('"caf\\\\xe9"', 1)
    """
    try:
        return data.decode("utf-8-sig"), 0
    except UnicodeDecodeError:
        marked = data.decode("utf-8-sig", "surrogateescape")
        return escaped_json(marked)


def escaped_json(marked: str) -> tuple[str, int]:
    """JSON text without the marks of ``surrogateescape``, and how many there were."""
    parts = [f"\\\\x{ord(c) - 0xDC00:02x}" if "\udc80" <= c <= "\udcff" else c for c in marked]
    return "".join(parts), sum("\udc80" <= c <= "\udcff" for c in marked)


def undecodable_note(count: int) -> str:
    """The sentence about bytes that were no UTF-8."""
    return f"{count} bytes were no UTF-8 and stand in the texts as \\xNN."
