"""Many texts embedded: each once, by length, from the cache if it can; failures have a reason."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.backends.embedder import (
    NOISE,
    Embedder,
    EmbedderFaultError,
    Role,
    Vectors,
    check_vectors,
)
from trueness.backends.vectors import VectorCache, vector_key
from trueness.contract.errors import BackendError, InputError, TruenessError
from trueness.contract.serial import Json

_SQUARED = (1e-100, 1e100)
"""Largest entries of vectors whose squares can be added."""
_PROBES = (
    "The capital of France is Paris.",
    "She won.",
    "He died in 1999, two years after the war had ended and the king had returned.",
    "Water boils at a lower temperature on a mountain than it does at the sea.",
    "No.",
    "The committee met on Monday to discuss the budget of the following year in some detail.",
    "An answer can be repeated many times and still be wrong.",
    "What is not in the evidence cannot be supported by it, however often it is said.",
)


BATCH = 64
"""Texts of one call, for embedders that do not say."""

_MISTAKES = (AssertionError, AttributeError, ImportError, NameError)
"""What code raises that is wrong itself, whatever the text; it is not hidden."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors of texts, in the texts' order.

    Parameters
    ----------
    vectors : (n, d) float
        A row of nan where there is no vector, never zeros; d is 0 when nothing could be embedded.
    errors : tuple of str or None
        Why a text has no vector; None where it has one.
    near : (n,) bool
        Whether a vector came from the cache and may differ in its last bits from one computed now.
    n_computed, n_cached : int
        Distinct texts that were computed and that came from the cache.
    """

    vectors: Vectors
    errors: tuple[str | None, ...]
    near: NDArray[np.bool_]
    n_computed: int
    n_cached: int


@dataclass(frozen=True, slots=True)
class Noise:
    """Noise of a unit vector: as declared, as measured between batches, and the larger, in use."""

    declared: float
    measured: float
    used: float

    @property
    def was_raised(self) -> bool:
        """Whether more was measured than was declared; say so where the noise is used."""
        return self.measured > self.declared


def embed_texts(
    embedder: Embedder,
    texts: Sequence[str],
    role: Role,
    *,
    cache: VectorCache | None = None,
    batch_size: int | None = None,
) -> Embedded:
    """Vectors of texts: equal texts are embedded once, in batches of similar length.

    A batch that fails is tried text by text, once, so that one bad text costs no other its vector;
    not so a batch with another number of vectors than texts, or of another width than before.
    A text that is longer than the embedder reads gets an error, never a shortened vector.

    Parameters
    ----------
    embedder : Embedder
    texts : sequence of str
    role : str
        ``claim`` or ``evidence``.
    cache : VectorCache, optional
    batch_size : int, optional
        Texts of one call, at least 1; what the embedder asks for, or `BATCH`.

    Raises
    ------
    BackendError
        When every text fails for a reason that is not its length.
    EmbedderFaultError
        When vectors are too few, too many or of different widths.
    InputError
        For a batch size below 1.
    """
    batch_size = batch_size_of(embedder) if batch_size is None else batch_size
    if batch_size < 1:
        msg = f"batch_size is {batch_size}; wanted is at least 1."
        raise InputError(msg)
    distinct = list(dict.fromkeys(texts))
    keys = {text: vector_key(embedder.identity, role, text) for text in distinct} if cache else {}
    stored = cache.get(list(keys.values())) if cache else {}
    known = {text: stored[key] for text, key in keys.items() if key in stored}
    work = _Work(embedder, role, batch_size)
    work.run([text for text in distinct if text not in known])
    if cache and work.found:
        cache.put({keys[text]: vector for text, vector in work.found.items()})
    if work.broken and not work.found and not known:
        at = [i for i, text in enumerate(texts) if text in work.errors]
        msg = f"no text could be embedded (texts {at[0]} to {at[-1]}): {work.broken[0]}"
        raise BackendError(msg)
    return _collected(texts, known, work, near=not embedder.exact)


def batch_size_of(embedder: Embedder) -> int:
    """Texts that an embedder wants in one call: its ``batch_size``, or `BATCH`."""
    return int(getattr(embedder, "batch_size", BATCH))


def measured_jitter(embedder: Embedder, role: Role = "evidence") -> float:
    """How far a text's unit vector moves when others are embedded beside it.

    The largest Euclidean distance, over eight fixed texts, between a text embedded alone and in a
    batch of eight, lengths scaled to 1. 0 means equal to the bit on these.

    Raises
    ------
    BackendError
        When the embedder fails.
    EmbedderFaultError
        When its vectors are too few or too many, or change their dimension.
    """
    name = str(embedder.identity.get("id"))
    together = _units(_vectors(embedder, _PROBES, role))
    one_by_one = [_units(_vectors(embedder, [text], role)) for text in _PROBES]
    widths = sorted({found.shape[1] for found in (together, *one_by_one)})
    if len(widths) > 1:
        msg = (
            f"embedder {name} gave vectors of dimensions {', '.join(map(str, widths))}; every text "
            "needs one of the same dimension."
        )
        raise EmbedderFaultError(msg)
    alone = np.concatenate(one_by_one)
    return float(np.sqrt(((together - alone) ** 2).sum(axis=1)).max())


def tells_apart(embedder: Embedder, role: Role = "evidence") -> bool:
    """Whether eight fixed sentences on different subjects get more than one vector.

    Raises
    ------
    BackendError
        When the embedder fails.
    """
    rows = _vectors(embedder, _PROBES, role)
    return not bool((rows == rows[0]).all())


def noise_of(
    embedder: Embedder, role: Role = "evidence", *, declared: float | None = None
) -> Noise:
    """The noise of a unit vector to reckon with: the declared one, raised to what was measured.

    Parameters
    ----------
    embedder : Embedder
    role : str
    declared : float, optional
        Instead of the default of the embedder's number type.

    Raises
    ------
    InputError
        For a number type without a default, such as a quantised one, when nothing is declared.

    Examples
    --------
    >>> from trueness.backends import open_embedder
    >>> noise_of(open_embedder(lambda texts: [[float(len(t)), 1.0] for t in texts])).used
    1e-06
    """
    if declared is None:
        dtype = str(embedder.identity.get("dtype"))
        declared = NOISE.get(dtype)
        if declared is None:
            msg = (
                f"embedder {embedder.identity.get('id')!r} computes in {dtype!r}, which has no "
                f"default noise; known: {', '.join(NOISE)}. Declare its noise."
            )
            raise InputError(msg)
    measured = measured_jitter(embedder, role)
    return Noise(declared, measured, max(declared, measured))


class _Work:
    """The texts that must be computed, and what became of them."""

    def __init__(self, embedder: Embedder, role: Role, batch_size: int) -> None:
        self._embedder = embedder
        self._role = role
        self._size = batch_size
        self._width: int | None = None
        self.found: dict[str, Vectors] = {}
        self.errors: dict[str, str] = {}
        self.broken: list[str] = []

    def run(self, texts: Sequence[str]) -> None:
        """Embed texts, shortest first, leaving out those that are too long."""
        if not texts:
            return
        limit = self._embedder.max_tokens
        counts = self._embedder.count_tokens(texts, self._role)
        if len(counts) != len(texts):
            msg = (
                f"embedder {self._embedder.identity.get('id')} counted the tokens of {len(counts)} "
                f"texts and was given {len(texts)}; wanted is one number a text. Repair it."
            )
            raise EmbedderFaultError(msg)
        fitting = []
        for text, n in zip(texts, counts, strict=True):
            if limit is not None and n is not None and n > limit:
                self.errors[text] = f"text_too_long: {n} tokens, {limit} are read"
            else:
                fitting.append((len(text) if n is None else n, text))
        fitting.sort(key=lambda pair: pair[0])
        for start in range(0, len(fitting), self._size):
            self._batch([text for _, text in fitting[start : start + self._size]])

    def _batch(self, texts: Sequence[str]) -> None:
        try:
            rows = self._checked(texts)
        except EmbedderFaultError:
            raise
        except (BackendError, InputError) as error:
            if len(texts) == 1:
                self.errors[texts[0]] = str(error)
                self.broken.append(str(error))
                return
            for text in texts:
                self._batch([text])
            return
        self.found |= dict(zip(texts, rows, strict=True))

    def _checked(self, texts: Sequence[str]) -> Vectors:
        name = str(self._embedder.identity.get("id"))
        rows = _vectors(self._embedder, texts, self._role)
        wanted = self._width if self._width is not None else _dimension(self._embedder.identity)
        if wanted is not None and rows.shape[1] != wanted:
            msg = (
                f"embedder {name} gave vectors of {rows.shape[1]} numbers where {wanted} were "
                "promised or given before; every text needs one of the same dimension."
            )
            raise EmbedderFaultError(msg)
        self._width = rows.shape[1]
        return rows


def _vectors(embedder: Embedder, texts: Sequence[str], role: Role) -> Vectors:
    """Vectors of an embedder, checked; what it raises, but for mistakes, is a `BackendError`."""
    name = str(embedder.identity.get("id"))
    try:
        found = embedder.embed(texts, role)
    except (TruenessError, *_MISTAKES):
        raise
    except Exception as error:  # somebody else's code, which may raise anything
        msg = f"{name} failed on {len(texts)} texts: {type(error).__name__}: {error}"
        raise BackendError(msg) from error
    return check_vectors(found, texts, name)


def _collected(
    texts: Sequence[str], known: Mapping[str, Vectors], work: _Work, *, near: bool
) -> Embedded:
    every = {**known, **work.found}
    width = {vector.shape[0] for vector in every.values()}
    if len(width) > 1:
        msg = f"the cache holds vectors of other widths: {sorted(width)}. Remove it."
        raise BackendError(msg)
    kind = np.result_type(np.float32, *{vector.dtype for vector in every.values()})
    rows = np.full((len(texts), *width) if width else (len(texts), 0), np.nan, kind)
    for i, text in enumerate(texts):
        if text in every:
            rows[i] = every[text]
    return Embedded(
        vectors=rows,
        errors=tuple(work.errors.get(text) for text in texts),
        near=np.array([near and text in known for text in texts], bool),
        n_computed=len(work.found),
        n_cached=len(known),
    )


def _dimension(identity: Mapping[str, Json]) -> int | None:
    found = identity.get("dimension")
    return found if isinstance(found, int) else None


def _units(rows: Vectors) -> NDArray[np.float64]:
    wide = _of_ordinary_size(np.asarray(rows, np.float64))
    lengths = np.sqrt((wide * wide).sum(axis=1, keepdims=True))
    if not np.isfinite(wide).all() or not lengths.all():
        msg = "the embedder gave a vector of length 0 or numbers that are not finite."
        raise BackendError(msg, hint="It cannot be used.")
    found: NDArray[np.float64] = wide / lengths
    return found


def _of_ordinary_size(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rows, those whose squares would vanish or overflow scaled by a power of two."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    extreme = (largest < _SQUARED[0]) | (largest > _SQUARED[1])
    if not extreme.any():
        return rows
    return np.ldexp(rows, -np.where(extreme, np.frexp(largest)[1], 0)[:, None])
