"""One large JSON object read piece by piece: no list in it is ever held whole."""

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from trueness.table.sniff import escaped_json, unreadable

_CHUNK = 65_536
_IN_NUMBER = len("e+") + 1
_LONGEST_WORD = len("-Infinity") + 1
_SPACE = re.compile(r"[ \t\n\r]*")


class JsonStream:
    r"""A cursor in the text of a JSON file.

    Parameters
    ----------
    file : binary file
        Read forwards only.

    Attributes
    ----------
    n_undecodable : int
        Bytes that were no UTF-8; they stand in the texts as ``\xNN``.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._bytes = b""
        self._text = ""
        self._at = 0
        self._ended = False
        self._started = False
        self.n_undecodable = 0
        self._decoder = json.JSONDecoder()

    def peek(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more(_CHUNK):
                return ""

    def take(self, character: str) -> bool:
        """Step over a character if it comes next."""
        if self.peek() != character:
            return False
        self._at += 1
        return True

    def value(self) -> Any:
        """The next whole value.

        Raises
        ------
        ValueError
            When there is none: the file is broken or cut off there.
        """
        self.peek()
        size = _CHUNK
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._ended or not self._may_go_on(error):
                    raise
            else:
                if self._ended or _ends_before(self._text[end : end + _IN_NUMBER]):
                    self._at = end
                    return self._whole(value)
            self._more(size)
            size *= 2

    def _whole(self, value: Any) -> Any:
        """The value, unless it is a number at the very end, which may have gone on."""
        at_end = self._ended and self._at == len(self._text)
        if at_end and isinstance(value, (int, float)) and not isinstance(value, bool):
            msg = "the file ends inside of a number"
            raise ValueError(msg)
        return value

    def _may_go_on(self, error: json.JSONDecodeError) -> bool:
        """Whether a value may only be unfinished: the fault is at the end of what was read."""
        near_end = error.pos >= len(self._text) - _LONGEST_WORD
        return near_end or error.msg.startswith("Unterminated string")

    def _more(self, size: int) -> bool:
        """Read on; False at the end. What was passed is forgotten."""
        if self._ended:
            return False
        raw = self._file.read(size)
        self._ended = not raw
        text = self._decoded(raw)
        self._text = self._text[self._at :] + text
        self._at = 0
        return bool(raw)

    def _decoded(self, raw: bytes) -> str:
        data = self._bytes + raw
        if not self._started and len(data) >= len(codecs.BOM_UTF8):
            data = data.removeprefix(codecs.BOM_UTF8)
            self._started = True
        elif not self._started and not self._ended:
            self._bytes = data
            return ""
        whole = len(data) if self._ended else _whole_end(data)
        self._bytes = data[whole:]
        data = data[:whole]
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            text, count = escaped_json(data.decode("utf-8", "surrogateescape"))
            self.n_undecodable += count
            return text


def members(stream: JsonStream, lists: frozenset[str] = frozenset()) -> Iterator[tuple[str, Any]]:
    """Name and value of every member of the object, in the order of the file.

    A member that is named in ``lists`` and is a list gives one pair an element. A file that is
    cut off gives what is whole and then raises.

    Raises
    ------
    ValueError
        Where the text is no JSON, or ends before its end.
    """
    _expect(stream, "{")
    if stream.take("}"):
        return
    while True:
        name = stream.value()
        _expect(stream, ":")
        if name in lists and stream.peek() == "[":
            for value in elements(stream):
                yield name, value
        else:
            yield name, stream.value()
        if stream.take("}"):
            return
        _expect(stream, ",")


def elements(stream: JsonStream) -> Iterator[Any]:
    """The elements of the list that comes next, one by one."""
    _expect(stream, "[")
    if stream.take("]"):
        return
    while True:
        yield stream.value()
        if stream.take("]"):
            return
        _expect(stream, ",")


def top_level_names(path: Path) -> Iterator[str]:
    """Names of the members of the object that a file holds, as far as it is whole."""
    try:
        with path.open("rb") as file:
            stream = JsonStream(file)
            if not stream.take("{"):
                return
            while isinstance(name := stream.value(), str) and stream.take(":"):
                yield name
                stream.value()
                if not stream.take(","):
                    return
    except (ValueError, RecursionError):
        return
    except OSError as error:
        raise unreadable(path, error) from error


def _ends_before(rest: str) -> bool:
    """Whether a value has ended, given what comes next: a number may go on (``.5``, ``e+5``)."""
    return len(rest) == _IN_NUMBER or (bool(rest) and rest[0] not in ".eE")


def _expect(stream: JsonStream, character: str) -> None:
    if not stream.take(character):
        found = stream.peek() or "the end"
        msg = f"{character!r} is wanted where {found!r} stands"
        raise ValueError(msg)


def _whole_end(data: bytes) -> int:
    """So many bytes end with a whole character: at most three may wait for the next read."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:  # noqa: PLR2004 - ASCII
            return len(data)
        if byte >= 0xC0:  # noqa: PLR2004 - the first byte of a character
            width = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4  # noqa: PLR2004 - as above
            return len(data) if back >= width else len(data) - back
    return len(data)
