"""An embedder behind an OpenAI-compatible server: ``/v1/embeddings``."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from trueness.backends.embedder import EmbedderFaultError, Role, Vectors, check_vectors
from trueness.backends.openai_compatible.calls import Answer, Call
from trueness.backends.openai_compatible.endpoint import Endpoint
from trueness.backends.openai_compatible.refusals import Malformed
from trueness.backends.openai_compatible.replies import number, public_name
from trueness.backends.openai_compatible.transport import GONE_AFTER, Transport
from trueness.contract.errors import BackendError, InputError
from trueness.contract.serial import Json

PATH = "/embeddings"
PART = 16
"""Texts of one request; so many requests as the server bears run side by side."""
_TOO_LONG = "context_length"


class OpenAIEmbedder:
    """An embedder by the name that its server knows it by.

    How many tokens it reads is not known: a text that the server refuses as too long gets an
    error, a server that cuts texts without a word is not noticed. Passages can therefore not be
    cut into windows by its tokens.

    Parameters
    ----------
    model : str
    endpoint : Endpoint
    revision : str, optional
        What tells it from another embedder that the server may one day give the same name;
        without it vectors are not kept for the next run and no threshold can be saved.
    dtype : str
        The number type the server computes in, which decides the default noise; it does not say.

    Raises
    ------
    MissingExtraError
        Without httpx2.

    Examples
    --------
    >>> embedder = OpenAIEmbedder("tiny", Endpoint("http://127.0.0.1:9/v1"))
    >>> embedder.identity["id"], embedder.max_tokens
    ('openai:tiny', None)
    >>> embedder.close()
    """

    def __init__(
        self,
        model: str,
        endpoint: Endpoint,
        *,
        revision: str | None = None,
        dtype: str = "float32",
    ) -> None:
        self._model = model
        self._revision = revision
        self._dtype = dtype
        self._name = f"openai:{model}"
        self._transport = Transport(endpoint, what=f"embedder {self._name!r}")
        self._width: int | None = None
        self._served: str | None = None
        self._failures = 0
        self._gone: BackendError | None = None

    @property
    def identity(self) -> Mapping[str, Json]:
        """What two sets of vectors must share; the server's address is no part of it."""
        return {
            "id": self._name,
            "revision": self._revision,
            "prefix": {"claim": "", "evidence": ""},
            "pooling": None,
            "normalised": None,
            "dtype": self._dtype,
            "dimension": None,
            "max_tokens": None,
        }

    @property
    def versions(self) -> Mapping[str, str]:
        """What computed the vectors, as the server calls it."""
        return {} if self._served is None else {"served model": self._served}

    @property
    def max_tokens(self) -> int | None:
        """None: a server of this kind does not say."""
        return None

    @property
    def exact(self) -> bool:
        """Nobody knows, so no."""
        return False

    def count_tokens(self, texts: Sequence[str], role: Role) -> tuple[int | None, ...]:
        """None for each text: a server of this kind does not count beforehand."""
        del role
        return (None,) * len(texts)

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """Vectors (n, d) float32 of n texts.

        Raises
        ------
        InputError
            For a text that the server refuses as too long.
        BackendError
            When the server fails, or gives no vector, a wrong one or one of another width for a
            text; names the texts' indices.
        """
        del role
        if self._gone is not None:
            raise self._gone
        rows: list[list[Any]] = [[]] * len(texts)
        try:
            for part in self._transport.stream(self._calls(texts), _read):
                for at, answer in part:
                    n = min(PART, len(texts) - at)
                    rows[at : at + n] = self._rows(answer, at, n)
        except BackendError as error:
            self._note(error)
            raise
        if not texts:
            return np.empty((0, self._width or 0), np.float32)
        found = check_vectors(rows, texts, self._name).astype(np.float32)
        self._width, self._failures = found.shape[1], 0
        return found

    def close(self) -> None:
        """End the connections."""
        self._transport.close()

    def _calls(self, texts: Sequence[str]) -> Iterator[tuple[int, Call]]:
        for at in range(0, len(texts), PART):
            given = [_readable(text) for text in texts[at : at + PART]]
            body = {"model": self._model, "input": given, "encoding_format": "float"}
            yield at, Call(PATH, body, seed=at, first=self._width is None)

    def _rows(self, answer: Answer[Mapping[str, Any]], at: int, n: int) -> list[list[float]]:
        """The vectors of the texts from one index on, in their order."""
        reply = answer.value
        if reply is None:
            raise self._failure(answer, at, n)
        by_index = {_index(entry, i): entry for i, entry in enumerate(reply["data"])}
        missing = [i for i in range(n) if i not in by_index]
        served = public_name(reply.get("model"))
        fault = None
        if self._served is not None and served not in {None, self._served}:
            fault = f"were embedded by {served!r}, others by {self._served!r}"
        elif missing:
            at, n, fault = at + missing[0], len(missing), "got no vector of their own"
        elif len(reply["data"]) != n:
            fault = f"got {len(reply['data'])} vectors"
        if fault is not None:
            raise EmbedderFaultError(str(self._wrong(fault, at, n)))
        self._served = served
        return [self._vector(by_index[i], at + i) for i in range(n)]

    def _vector(self, entry: Mapping[str, Any], index: int) -> list[float]:
        """One vector, checked as far as one can be alone."""
        row = entry.get("embedding")
        given = row if isinstance(row, list) else []
        found = [known for value in given if (known := number(value)) is not None]
        self._width = self._width or len(found) or None
        fault = None
        if not given:
            fault = "got no list of numbers"
        elif len(found) != len(given):
            fault = "got numbers that are not finite"
        elif len(found) != self._width:
            width = f"got {len(found)} numbers where others got {self._width}"
            raise EmbedderFaultError(str(self._wrong(width, index, 1)))
        if fault is not None:
            raise self._wrong(fault, index, 1)
        return found

    def _failure(self, answer: Answer[Any], at: int, n: int) -> BackendError | InputError:
        said = f" ({answer.said})" if answer.said else ""
        if answer.reason == _TOO_LONG:
            msg = f"text_too_long: the server of {self._name} refuses{_texts(at, n)}{said}."
            return InputError(msg)
        if answer.status is None and self._width is None:
            return self._transport.refused(answer)
        return self._wrong(f"got no vectors: {answer.reason}{said}", at, n)

    def _wrong(self, what: str, at: int, n: int) -> BackendError:
        return BackendError(f"embedder {self._name}:{_texts(at, n)} {what}.")

    def _note(self, error: BackendError) -> None:
        """After several failures in a row nothing is tried any more."""
        self._failures += 1
        if self._failures >= GONE_AFTER or error.hint:
            self._gone = error


def _read(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    data = reply.get("data")
    if not isinstance(data, list) or not all(isinstance(entry, dict) for entry in data):
        raise Malformed
    return reply


def _index(entry: Mapping[str, Any], position: int) -> int:
    """The place that an entry names; its own where it names none."""
    index = entry.get("index", position)
    return index if type(index) is int else -1


def _texts(at: int, n: int) -> str:
    return f" text {at}" if n == 1 else f" texts {at} to {at + n - 1}"


def _readable(text: str) -> str:
    """Read lone surrogates as U+FFFD."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
