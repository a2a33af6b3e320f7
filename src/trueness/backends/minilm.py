"""The embedded embedder: all-MiniLM-L6-v2 in NumPy, without torch."""

import json
import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from trueness.backends.bert import Bert, Float32
from trueness.backends.embedder import Role, Vectors, too_long
from trueness.backends.protocol import require
from trueness.contract.errors import BackendError
from trueness.contract.serial import Json

N_LAYERS: Final = 6
N_HEADS: Final = 12
DIMENSION: Final = 384
MAX_TOKENS: Final = 256
"""As the model was published: the two special tokens count."""
_GET: Final = "Run: trueness doctor --get minilm"
_ROWS = 512
"""Tokens of one pass: more need more memory and are no faster."""


class MiniLM:
    """all-MiniLM-L6-v2: 384 numbers a text, the mean over its tokens, scaled to length 1.

    A text's vector is the same to the bit whatever is embedded beside it. Both roles are embedded
    alike. A lone surrogate is read as U+FFFD, which the tokenizer drops.

    Parameters
    ----------
    weights : Path
        ``model.safetensors``.
    tokenizer : Path
        ``tokenizer.json``.
    revision : str
        SHA-256 of the weights.
    threads : int, optional
        Passes that run side by side; as many as this process may use cores when not given. The
        matrix library itself is held to one thread meanwhile: its threads wait by spinning, which
        on a busy machine costs many times what they bring.

    Raises
    ------
    MissingExtraError
        Without tokenizers, safetensors or threadpoolctl.
    BackendError
        When a file is not what it should be.
    """

    def __init__(
        self, weights: Path, tokenizer: Path, *, revision: str, threads: int | None = None
    ) -> None:
        pools = require("threadpoolctl", extra="embedded", what="the embedded embedder")
        self._pools = pools.ThreadpoolController()
        self._threads = threads or _cores()
        tokenizers = require("tokenizers", extra="embedded", what="the embedded embedder")
        self._tokenizer = _tokenizer(tokenizers, tokenizer)
        self._bert = _load(weights)
        self._revision = revision

    @property
    def identity(self) -> Mapping[str, Json]:
        """What two sets of vectors must share to be compared."""
        return {
            "id": "minilm",
            "revision": self._revision,
            "prefix": {"claim": "", "evidence": ""},
            "pooling": "mean",
            "normalised": True,
            "dtype": "float32",
            "dimension": DIMENSION,
            "max_tokens": MAX_TOKENS,
        }

    @property
    def versions(self) -> Mapping[str, str]:
        """Libraries that computed the vectors."""
        return {name: version(name) for name in ("numpy", "safetensors", "tokenizers")}

    @property
    def max_tokens(self) -> int:
        """The most tokens of a text that are read, the two special ones included."""
        return MAX_TOKENS

    @property
    def exact(self) -> bool:
        """A text's bits do not depend on its batch."""
        return True

    def count_tokens(self, texts: Sequence[str], role: Role) -> tuple[int, ...]:
        """Tokens of each text, the two special ones included."""
        del role
        return tuple(len(ids) for ids in self._ids(texts))

    def unread(self, texts: Sequence[str]) -> tuple[float, ...]:
        """Share of each text's tokens that the vocabulary does not know, special ones left out.

        All unknown words have one vector: a text in a script that the model never saw is all of
        them, and looks like every other such text. 0 for a text without tokens.
        """
        unknown = self._tokenizer.token_to_id("[UNK]")
        return tuple(ids.count(unknown) / max(1, len(ids) - 2) for ids in self._ids(texts))

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """Unit vectors (n, 384) float32 of n texts.

        Raises
        ------
        InputError
            When a text has more than 256 tokens.
        """
        del role
        ids = self._ids(texts)
        long = {i: len(row) for i, row in enumerate(ids) if len(row) > MAX_TOKENS}
        if long:
            raise too_long(self, long, MAX_TOKENS)
        found = np.empty((len(ids), DIMENSION), np.float32)

        def run(where: NDArray[np.intp]) -> None:
            found[where] = self._bert.vectors(np.array([ids[i] for i in where], np.int64))

        passes = list(_passes([len(row) for row in ids]))
        with self._pools.limit(limits=1, user_api="blas"):
            if self._threads == 1 or len(passes) == 1:
                for where in passes:
                    run(where)
            else:
                with ThreadPoolExecutor(self._threads) as workers:
                    deque(workers.map(run, passes), maxlen=0)  # raises what a pass raised
        return found

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        readable = [t.encode("utf-8", "surrogatepass").decode("utf-8", "replace") for t in texts]
        return [row.ids for row in self._tokenizer.encode_batch(readable)]


def _passes(lengths: Sequence[int]) -> Iterator[NDArray[np.intp]]:
    """Places of texts that are read together: of one length, at most so many tokens."""
    by_length = np.asarray(lengths, np.intp)
    for n in np.unique(by_length):
        places = np.flatnonzero(by_length == n)
        size = max(1, _ROWS // int(n))
        for start in range(0, len(places), size):
            yield places[start : start + size]


def _cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _tokenizer(tokenizers: Any, path: Path) -> Any:
    try:
        text = path.read_text("utf-8")
        known = json.loads(text)
    except (OSError, ValueError) as error:
        msg = f"{path} cannot be read as a tokenizer: {error}."
        raise BackendError(msg, hint=_GET) from error
    if not isinstance(known, dict) or "model" not in known:
        msg = f"{path} holds no tokenizer."
        raise BackendError(msg, hint=_GET)
    found = tokenizers.Tokenizer.from_str(text)
    found.no_truncation()
    found.no_padding()
    return found


def _load(path: Path) -> Bert:
    safetensors = require("safetensors.numpy", extra="embedded", what="the embedded embedder")
    broken = require("safetensors", extra="embedded", what="the embedded embedder").SafetensorError
    try:
        arrays: dict[str, Float32] = safetensors.load_file(path)
        return Bert.of(arrays, n_layers=N_LAYERS, n_heads=N_HEADS)
    except (OSError, KeyError, broken) as error:
        msg = f"{path} does not hold the weights of all-MiniLM-L6-v2: {error}."
        raise BackendError(msg, hint=_GET) from error
