"""A declared corpus: texts that say where the vectors of an embedder lie on the whole."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from trueness.backends.embedder import Embedder
from trueness.backends.embedding import embed_texts
from trueness.backends.vectors import VectorCache
from trueness.contract.errors import InputError
from trueness.contract.serial import canonical
from trueness.stats.gram import ZERO, unit
from trueness.table.vectors import Corpus


def read_corpus(source: str | Path | Sequence[str]) -> tuple[str, ...]:
    """The distinct texts of a corpus, sorted: of a list, or of a text file with one a line.

    Raises
    ------
    InputError
        When the file cannot be read, an entry is no text, or there are fewer than two.

    Examples
    --------
    >>> read_corpus(["b", "a", " ", "b"])
    ('a', 'b')
    """
    if isinstance(source, (str, Path)):
        try:
            lines: Sequence[str] = Path(source).read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            msg = f"the corpus {source} cannot be read ({error}); give UTF-8, one text a line."
            raise InputError(msg) from error
    else:
        lines = source
    _check_texts(lines)
    found = tuple(sorted({line for line in lines if line.strip()}))
    if len(found) < 2:  # noqa: PLR2004 - one vector has no spread
        msg = f"the corpus has {len(found)} distinct texts; at least 2 are wanted. Give more."
        raise InputError(msg)
    return found


def corpus_of(
    texts: Sequence[str], embedder: Embedder, *, cache: VectorCache | None = None
) -> Corpus:
    """Mean and covariance of the unit vectors of texts, embedded as evidence is.

    Raises
    ------
    InputError
        When a text is too long, has no vector, or one of length 0.
    """
    known = cache if embedder.identity.get("revision") else None
    found = embed_texts(embedder, texts, "evidence", cache=known)
    failed = [(text, why) for text, why in zip(texts, found.errors, strict=True) if why]
    if failed:
        text, why = failed[0]
        msg = (
            f"{len(failed)} texts of the corpus have no vector, first {text[:60]!r}: {why}. "
            "Shorten them or leave them out."
        )
        raise InputError(msg)
    rows = np.asarray(found.vectors, np.float64)
    largest = np.abs(rows).max(axis=1)
    if largest.min() < ZERO:
        at = texts[int(np.argmin(largest))]
        msg = f"text {at[:60]!r} of the corpus has a vector of length 0. Leave it out."
        raise InputError(msg)
    units = unit(rows)
    mean = units.mean(axis=0)
    moved = units - mean
    name = hashlib.sha256(canonical(list(texts)).encode("utf-8", "surrogatepass")).hexdigest()
    return Corpus(name, len(texts), mean, moved.T @ moved / len(units))


def _check_texts(lines: Sequence[object]) -> None:
    wrong = [line for line in lines if not isinstance(line, str)]
    if wrong:
        msg = f"the corpus holds {wrong[0]!r}; wanted are texts. Write them so."
        raise InputError(msg)
