"""What an embedder is to the rest of the house: texts to vectors, an identity, a token limit."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import BackendError, InputError
from trueness.contract.serial import Json

Role = Literal["claim", "evidence"]
Vectors = NDArray[np.float32] | NDArray[np.float64]

ROLES: tuple[Role, ...] = ("claim", "evidence")
NOISE: Mapping[str, float] = {
    "float64": 1e-12,
    "float32": 1e-6,
    "float16": 3e-4,
    "bfloat16": 2e-3,
}
"""Noise of a unit vector, by the type it was computed in; quantised embedders declare their own."""


class EmbedderFaultError(BackendError):
    """What an embedder gave cannot be vectors of these texts, whichever texts they are.

    Too few or too many rows, a width that changes, or one vector for everything: no text is at
    fault, so nothing is tried again text by text.
    """


@runtime_checkable
class Embedder(Protocol):
    """Something that turns texts into vectors and says what it is."""

    @property
    def identity(self) -> Mapping[str, Json]:
        """What two sets of vectors must share to be compared.

        Keys: ``id``, ``revision`` (None when unknown), ``prefix`` by role, ``pooling``,
        ``normalised`` by the model or not, ``dtype``, ``dimension``, ``max_tokens``.
        """
        ...

    @property
    def versions(self) -> Mapping[str, str]:
        """Libraries that computed the vectors: recorded, never matched."""
        ...

    @property
    def max_tokens(self) -> int | None:
        """The most tokens of a text that are read, special ones included; None without a limit."""
        ...

    @property
    def exact(self) -> bool:
        """Whether a text's vector is the same to the bit whatever is embedded beside it."""
        ...

    def count_tokens(self, texts: Sequence[str], role: Role) -> tuple[int | None, ...]:
        """Tokens of each text as the model reads it, prefix and special tokens included.

        None where the embedder cannot count.
        """
        ...

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """Vectors (n, d) of n texts, in their order.

        Raises
        ------
        InputError
            When a text is longer than the embedder reads: nothing is ever cut.
        BackendError
            When the model fails.
        """
        ...


def revision_of(embedder: Embedder) -> str:
    """The revision that a threshold is bound to.

    Raises
    ------
    InputError
        When the embedder does not say which weights it holds.
    """
    revision = embedder.identity.get("revision")
    if isinstance(revision, str) and revision:
        return revision
    msg = (
        f"embedder {embedder.identity.get('id')!r} has no revision, so nobody can tell later "
        "whether it still is the same one. Give it one: revision='2026-01' or a weights hash."
    )
    raise InputError(msg)


def check_fits(embedder: Embedder, texts: Sequence[str], role: Role) -> None:
    """Refuse texts that the embedder would have to cut.

    Raises
    ------
    InputError
        Naming the texts' indices, their tokens and the limit.
    """
    limit = embedder.max_tokens
    if limit is None:
        return
    counts = embedder.count_tokens(texts, role)
    long = {i: n for i, n in enumerate(counts) if n is not None and n > limit}
    if long:
        raise too_long(embedder, long, limit)


def too_long(embedder: Embedder, counts: Mapping[int, int], limit: int) -> InputError:
    """The refusal of texts, by index, that have more tokens than are read."""
    found = ", ".join(f"{i} ({n} tokens)" for i, n in list(counts.items())[:5])
    more = f" and {len(counts) - 5} more" if len(counts) > 5 else ""  # noqa: PLR2004 - as listed
    msg = (
        f"{embedder.identity.get('id')} reads {limit} tokens; longer: text {found}{more}. "
        "Declare windows, or shorten the texts: nothing is cut silently."
    )
    return InputError(msg)


def check_vectors(found: object, texts: Sequence[str], name: str) -> Vectors:
    """What an embedder gave, as a finite float array with one row a text.

    Raises
    ------
    EmbedderFaultError
        For a wrong type, count or width.
    BackendError
        For numbers that are not finite; names the texts' indices.

    Examples
    --------
    >>> check_vectors([[3.0, 4.0]], ["a"], "mine").shape
    (1, 2)
    """
    try:
        rows = np.asarray(found)
    except ValueError as error:
        msg = f"embedder {name} gave rows of different widths for texts 0 to {len(texts) - 1}."
        hint = "Every text needs one vector of the same width."
        raise EmbedderFaultError(msg, hint=hint) from error
    if rows.dtype.kind not in "fiu" or rows.ndim != 2 or rows.shape[1] == 0:  # noqa: PLR2004 - (n, d)
        msg = (
            f"embedder {name} gave {rows.dtype} of shape {rows.shape} for {len(texts)} texts; "
            "wanted is a float array (n_texts, dimension)."
        )
        raise EmbedderFaultError(msg)
    if len(rows) != len(texts):
        few = min(len(rows), len(texts))
        msg = (
            f"embedder {name} gave {len(rows)} vectors for {len(texts)} texts; wanted is one a "
            f"text, in their order. From index {few} on nobody can tell whose they are: repair it."
        )
        raise EmbedderFaultError(msg)
    kept: Vectors = rows.astype(np.float32 if rows.dtype == np.float16 else rows.dtype, copy=False)
    if kept.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        kept = kept.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(kept).all(axis=1))
    if bad.size:
        msg = (
            f"embedder {name} gave numbers that are not finite for texts {_indices(bad.tolist())}."
        )
        raise BackendError(msg)
    return kept


def _indices(found: Sequence[int]) -> str:
    shown = ", ".join(map(str, found[:8]))
    return shown if len(found) <= 8 else f"{shown} and {len(found) - 8} more"  # noqa: PLR2004 - as listed
