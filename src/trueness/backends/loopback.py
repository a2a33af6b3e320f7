"""llama.cpp's server in this process: calls to it, and the tokenizer of the file it holds."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any

from trueness.backends.gguf import GgufFacts
from trueness.contract.errors import BackendError, InputError

OK = 200
_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Loopback:
    """Calls to the server in this process, behind a key."""

    host: str
    port: int
    key: str

    def post(self, path: str, body: Mapping[str, object]) -> tuple[int, Any]:
        """Status and plain JSON of the reply.

        Raises
        ------
        OSError, HTTPException, ValueError
            When there is none, or none that can be read.
        """
        connection = HTTPConnection(self.host, self.port, timeout=_SECONDS)
        head = {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"}
        try:
            connection.request("POST", path, json.dumps(body), head)
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())
        finally:
            connection.close()


@dataclass(frozen=True, slots=True)
class GgufTokenizer:
    """The file's own tokenizer, as the runtime applies it."""

    _server: Loopback
    _facts: GgufFacts

    @property
    def bos(self) -> int | None:
        """From the file's own rule."""
        return self._facts.bos

    @property
    def n_vocabulary(self) -> int:
        """All ids lie below it."""
        return self._facts.n_vocabulary

    @property
    def special(self) -> frozenset[int]:
        """Control, unknown and unused ids."""
        return self._facts.special

    def encode(self, text: str) -> tuple[int, ...]:
        """Ids of a text; special tokens spelled in it are ordinary text.

        Raises
        ------
        InputError
            For lone surrogates, which no vocabulary holds.
        """
        return self._ids(text, special=False)

    def encode_template(self, text: str) -> tuple[int, ...]:
        """Ids of text from the model's own template, where special tokens are meant."""
        return self._ids(text, special=True)

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ids, special ones spelled out."""
        _, reply = self._call("/detokenize", {"tokens": list(ids)})
        return str(reply["content"])

    def _ids(self, text: str, *, special: bool) -> tuple[int, ...]:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            msg = f"text holds a lone surrogate at {error.start}; the model reads Unicode only."
            raise InputError(msg) from error
        body = {"content": text, "add_special": False, "parse_special": special}
        _, reply = self._call("/tokenize", body)
        return tuple(reply["tokens"])

    def _call(self, path: str, body: Mapping[str, object]) -> tuple[int, Any]:
        try:
            status, reply = self._server.post(path, body)
        except (OSError, HTTPException, ValueError) as error:
            msg = f"the local model's server does not answer {path}: {error}."
            raise BackendError(msg, hint="Run it again.") from error
        if status != OK:
            msg = f"the local model's server refused {path} with status {status}."
            raise BackendError(msg, hint="Report it.")
        return status, reply
