"""Members of a zip archive one by one, zstd (method 93) too, and of one that a crash cut off."""

import io
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from trueness.contract.errors import InputError
from trueness.table.sniff import unreadable

STORED, DEFLATE, ZSTD = 0, 8, 93
_LOCAL = struct.Struct("<4sHHHHHIIIHH")
_SIGNATURE = b"PK\x03\x04"
_ENCRYPTED, _SIZES_FOLLOW = 0x1, 0x8
_IN_EXTRA = 0xFFFFFFFF
_ZIP64 = 1
LARGEST = 256_000_000
"""Bytes that one member may hold once it is unpacked."""


class BrokenMemberError(Exception):
    """A member that cannot be unpacked: the file was cut off or changed inside of it."""


@dataclass(frozen=True, slots=True)
class Member:
    """Where one member stands and how it is packed.

    Parameters
    ----------
    name : str
    method : int
        Of compression: 0 stored, 8 DEFLATE, 93 zstd.
    offset : int
        Of its local header, in bytes.
    packed : int
        Length as it is packed, in bytes.
    crc : int
        CRC-32 of what it holds.
    """

    name: str
    method: int
    offset: int
    packed: int
    crc: int


@dataclass(frozen=True, slots=True)
class Archive:
    """The members of an archive in the order of the file; one name may stand several times.

    ``whole`` is False for an archive that lacks its directory, as a crash leaves it: then its
    members were found one after another.
    """

    path: Path
    members: tuple[Member, ...]
    whole: bool

    @classmethod
    def open(cls, path: Path) -> "Archive":
        """The directory of an archive.

        Raises
        ------
        InputError
            When the file cannot be read.
        """
        try:
            with zipfile.ZipFile(path) as archive:
                found = sorted(archive.infolist(), key=lambda info: info.header_offset)
        except zipfile.BadZipFile:
            with path.open("rb") as file:
                return cls(path, tuple(_walked(file)), whole=False)
        except OSError as error:
            raise unreadable(path, error) from error
        members = (
            Member(i.filename, i.compress_type, i.header_offset, i.compress_size, i.CRC)
            for i in found
        )
        return cls(path, tuple(members), whole=True)

    def read(self, member: Member) -> bytes:
        """What a member holds.

        Raises
        ------
        BrokenMemberError
            When it cannot be unpacked, or is not what its checksum says.
        InputError
            When it is encrypted, packed by a method that is not known, or holds more than
            `LARGEST` bytes: a small file must not fill the memory.
        """
        try:
            with self.path.open("rb") as file:
                data = self._unpacked(member, _packed(file, member, self.path))
        except (zlib.error, struct.error) as error:
            raise BrokenMemberError(member.name) from error
        if len(data) > LARGEST:
            msg = (
                f"{self.path}: {member.name} unpacks to more than {LARGEST // 1_000_000} MB; no "
                "sample of a log is that long. Remove it from the archive, or ask who made it."
            )
            raise InputError(msg)
        if zlib.crc32(data) != member.crc:
            raise BrokenMemberError(member.name)
        return data

    def _unpacked(self, member: Member, packed: bytes) -> bytes:
        if member.method == STORED:
            return packed
        if member.method == DEFLATE:
            return _from_deflate(packed, member.name)
        if member.method == ZSTD:
            return _from_zstd(packed, member.name)
        msg = (
            f"{self.path}: {member.name} is packed by zip method {member.method}; methods "
            f"{STORED}, {DEFLATE} and {ZSTD} are known. Write the log again with a newer version "
            "of its tool."
        )
        raise InputError(msg)


def _packed(file: IO[bytes], member: Member, path: Path) -> bytes:
    file.seek(member.offset)
    header = _LOCAL.unpack(file.read(_LOCAL.size))
    if header[0] != _SIGNATURE:
        raise BrokenMemberError(member.name)
    if header[2] & _ENCRYPTED:
        msg = f"{path}: {member.name} is encrypted; plain members are wanted. Decrypt it first."
        raise InputError(msg)
    file.seek(header[9] + header[10], io.SEEK_CUR)
    packed = file.read(member.packed)
    if len(packed) != member.packed:
        raise BrokenMemberError(member.name)
    return packed


def _from_deflate(packed: bytes, name: str) -> bytes:
    """What a DEFLATE stream holds, and no more than a byte above the limit of it."""
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    data = stream.decompress(packed, LARGEST + 1)
    if not stream.eof and len(data) <= LARGEST:
        raise BrokenMemberError(name)
    return data


def _from_zstd(packed: bytes, name: str) -> bytes:
    """What one or more zstd frames hold, one after another, up to a byte above the limit."""
    if sys.version_info >= (3, 14):  # pragma: no cover - the standard library knows it from there
        from compression import zstd  # noqa: PLC0415 - exists there only

        try:
            with zstd.ZstdFile(io.BytesIO(packed)) as opened:
                return opened.read(LARGEST + 1)
        except (zstd.ZstdError, EOFError) as error:
            raise BrokenMemberError(name) from error
    import zstandard  # noqa: PLC0415 - only where a log is packed by it

    frames = io.BytesIO(packed)
    reader = zstandard.ZstdDecompressor().stream_reader(frames, read_across_frames=True)
    try:
        return reader.read(LARGEST + 1)
    except zstandard.ZstdError as error:
        raise BrokenMemberError(name) from error


def _walked(file: IO[bytes]) -> Iterator[Member]:
    """Members one after another from the beginning, as far as their headers tell their length."""
    size = file.seek(0, io.SEEK_END)
    offset = 0
    while offset + _LOCAL.size <= size:
        file.seek(offset)
        fields = _LOCAL.unpack(file.read(_LOCAL.size))
        signature, _, flags, method, _, _, crc, packed, _, n_name, n_extra = fields
        if signature != _SIGNATURE or flags & _SIZES_FOLLOW:
            return
        name = file.read(n_name).decode("utf-8", "backslashreplace")
        extra = file.read(n_extra)
        packed = _long_size(extra) if packed == _IN_EXTRA else packed
        end = offset + _LOCAL.size + n_name + n_extra + packed
        if end > size:
            return
        yield Member(name, method, offset, packed, crc)
        offset = end


def _long_size(extra: bytes) -> int:
    """Packed size of a member above four gigabytes: after its full size, in the extra field."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        if kind == _ZIP64 and length >= 16:  # noqa: PLR2004 - two sizes of eight bytes
            return int(struct.unpack_from("<Q", extra, at + 12)[0])
        at += 4 + length
    return sys.maxsize
