"""Claims and passages to vectors: every distinct text once, failures kept as what they are."""

import hashlib
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from trueness.backends.embedder import NOISE, Embedder, EmbedderFaultError, Role, Vectors
from trueness.backends.embedding import (
    Embedded,
    batch_size_of,
    embed_texts,
    noise_of,
    tells_apart,
)
from trueness.backends.vectors import VectorCache
from trueness.collect.corpora import corpus_of
from trueness.collect.passages import Cuts, cut
from trueness.contract.errors import BackendError, InputError
from trueness.table.evidence import EvidenceTable
from trueness.table.vectors import FAILED, TOO_LONG, TextVectors
from trueness.table.vectors import Vectors as Sidecar

PART = 2_048
"""Texts between two calls of ``advance``; what was computed until then is in the cache."""

_MOSTLY = 0.5
"""Share of unknown words above which a text is hardly read."""

Advance = Callable[[int, int, str], None]


def embed_table(
    table: EvidenceTable,
    embedder: Embedder,
    *,
    cuts: Cuts | None = None,
    noise: float | None = None,
    corpus: Sequence[str] | None = None,
    check: Callable[[EvidenceTable], object] | None = None,
    cache: VectorCache | None = None,
    advance: Advance | None = None,
) -> EvidenceTable:
    """The table with its texts cut and a vector beside every distinct one.

    Texts go to the embedder in an order of their own, so that the order of rows and passages
    changes nothing. A text that is too long, or that the embedder fails on, has no vector and
    says why; blank texts are not embedded.

    Parameters
    ----------
    table : EvidenceTable
    embedder : Embedder
    cuts : Cuts, optional
    noise : float, optional
        Length of the noise of a unit row; by the embedder's number type when left out. A
        self-check of texts alone and in a batch may raise it.
    corpus : sequence of str, optional
        Texts of a declared corpus; see `trueness.collect.corpora.read_corpus`.
    check : callable, optional
        Is given the table once it is cut, and may refuse it before anything is embedded.
    cache : VectorCache, optional
        Not used for an embedder without a revision: it may be another one tomorrow.
    advance : callable, optional
        Is told (texts done, texts in all, role).

    Raises
    ------
    BackendError
        When no text of a role could be embedded.
    EmbedderFaultError
        When vectors are too few, too many, of different widths, or one for every text.
    InputError
        When the noise is not a finite number from 0, or the embedder's number type has none.
    """
    cuts = cuts or Cuts()
    declared, notes = _noise(embedder, noise)
    ready = cut(table, cuts, embedder)
    if check is not None:
        check(ready)
    known = cache if embedder.identity.get("revision") else None
    claims, near = _embedded(_claims(ready), "claim", embedder, known, advance)
    passages, more = _embedded(_passages(ready), "evidence", embedder, known, advance)
    width = max(claims.values.shape[1], passages.values.shape[1], 1)
    _check_widths({v.values.shape[1] for v in (claims, passages) if v.place}, embedder)
    _check_told_apart((claims, passages), embedder)
    notes += _unread(embedder, ready) + _told_apart((claims, passages))
    if near + more:
        notes += (f"{near + more} vectors of an earlier run are near, not equal to the bit.",)
    vectors = Sidecar(
        claim=_wide(claims, width),
        evidence=_wide(passages, width),
        identity=dict(embedder.identity),
        noise=declared,
        rules=cuts.said(),
        versions=dict(embedder.versions),
        notes=notes,
        corpus=None if corpus is None else corpus_of(corpus, embedder, cache=known),
    )
    return replace(ready, vectors=vectors)


def _unread(embedder: Embedder, table: EvidenceTable) -> tuple[str, ...]:
    """Say how many texts are mostly words that the embedder does not know: they look alike."""
    shares = getattr(embedder, "unread", None)
    if not callable(shares):
        return ()
    texts = sorted(t for t in _claims(table) | _passages(table) if t.strip())
    n = sum(share > _MOSTLY for share in shares(texts))
    if not n:
        return ()
    note = (
        f"Of {n:,} of {len(texts):,} texts the embedder knows less than half of the words, as in "
        "a script that it was not made for: such texts look alike to it whatever they say."
    )
    return (note,)


def _check_told_apart(roles: Sequence[TextVectors], embedder: Embedder) -> None:
    """Refuse an embedder that gave one vector for everything, the texts of its check too.

    One that knows only some words may give one vector for the texts of the check, or for a few
    texts of the table; only both together mean that nothing is told apart.
    """
    rows = (row for vectors in roles for row in vectors.values)
    first = next(rows, None)
    if first is None or not first.any() or any(row.tobytes() != first.tobytes() for row in rows):
        return
    texts = {text for vectors in roles for text in vectors.place}
    if len({_letters(text) for text in texts}) > 1 and not tells_apart(embedder):
        msg = (
            f"embedder {embedder.identity.get('id')} gave one and the same vector for {len(texts)} "
            "different texts and for the sentences of its check; wanted is a vector that depends "
            "on the text. Repair it."
        )
        raise EmbedderFaultError(msg)


def _told_apart(roles: Iterable[TextVectors]) -> tuple[str, ...]:
    """Say how many texts of a role have the vector of a text that says something else."""
    n = sum(
        len(texts)
        for vectors in roles
        for texts in _sharing(vectors)
        if len({_letters(text) for text in texts}) > 1
    )
    if not n:
        return ()
    note = (
        f"{n:,} texts have, to the bit, the vector of another text that differs in more than case, "
        "accents and spaces: to the embedder they say the same."
    )
    return (note,)


def _sharing(vectors: TextVectors) -> list[list[str]]:
    """Texts by their vectors, where several have one; a vector of length 0 has its own state."""
    found: defaultdict[bytes, list[str]] = defaultdict(list)
    for text, row in vectors.place.items():
        vector = vectors.values[row]
        if vector.any():
            found[hashlib.blake2b(vector.tobytes(), digest_size=16).digest()].append(text)
    return [texts for texts in found.values() if len(texts) > 1]


def _letters(text: str) -> str:
    """A text without what tokenizers take away: case, accents, spaces, invisible marks."""
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(c for c in parts if (k := unicodedata.category(c)) != "Mn" and k[0] not in "ZC")


def _claims(table: EvidenceTable) -> set[str]:
    """Claims, their sentences and their contradictions."""
    found = {c for c in table.claim.values() if c is not None}
    made = [] if table.contradicted is None else table.contradicted.values()
    found |= {variant.text for c in made if c is not None for variant in c.found}
    split = [] if table.sentences is None else table.sentences.values()
    return found | {text for marked in split for text, _ in marked or ()}


def _passages(table: EvidenceTable) -> set[str]:
    return {text for row in range(len(table)) for text in table.passages(row)}


def _embedded(
    texts: set[str],
    role: Role,
    embedder: Embedder,
    cache: VectorCache | None,
    advance: Advance | None,
) -> tuple[TextVectors, int]:
    """Vectors of distinct texts, and how many of them are only near."""
    wanted = sorted(t for t in texts if t.strip())
    parts: list[Embedded] = []
    size = max(PART, batch_size_of(embedder))
    for start in range(0, len(wanted), size):
        part = embed_texts(embedder, wanted[start : start + size], role, cache=cache)
        parts.append(part)
        if advance is not None:
            advance(min(start + size, len(wanted)), len(wanted), role)
    errors = [why for part in parts for why in part.errors]
    rows: list[Vectors] = [vector for part in parts for vector in part.vectors]
    kept = [i for i, why in enumerate(errors) if why is None]
    _check_widths({len(rows[i]) for i in kept}, embedder)
    values = np.array([rows[i] for i in kept]) if kept else np.empty((0, 0))
    failed = {wanted[i]: _why(w) for i, w in enumerate(errors) if w is not None}
    near = sum(int(part.near.sum()) for part in parts)
    return TextVectors({wanted[i]: row for row, i in enumerate(kept)}, values, failed), near


def _why(error: str) -> str:
    return TOO_LONG if error.startswith(TOO_LONG) else FAILED + error


def _check_widths(widths: set[int], embedder: Embedder) -> None:
    if len(widths) > 1:
        msg = (
            f"embedder {embedder.identity.get('id')} gave vectors of dimensions "
            f"{', '.join(map(str, sorted(widths)))}; every text needs one of the same dimension."
        )
        raise EmbedderFaultError(msg)


def _wide(vectors: TextVectors, width: int) -> TextVectors:
    """The same, of the width of the other role where there is no vector."""
    return vectors if vectors.place else replace(vectors, values=np.empty((0, width)))


def _noise(embedder: Embedder, declared: float | None) -> tuple[float, tuple[str, ...]]:
    """The noise of a unit row, and what has to be said about it."""
    if declared is not None and not 0.0 <= declared < np.inf:
        msg = f"embedding_noise is {declared!r}; give a finite number from 0, such as 1e-6."
        raise InputError(msg)
    try:
        found = noise_of(embedder, declared=declared)
    except EmbedderFaultError:
        raise
    except BackendError as error:
        usual = NOISE["float32"] if declared is None else declared
        return usual, (f"How far a batch moves a vector could not be checked: {error}",)
    if not found.was_raised:
        return found.used, ()
    note = (
        f"A text embedded alone and in a batch differed by {found.measured:.2g}, more than the "
        f"declared noise {found.declared:.2g}; the former is used."
    )
    return found.used, (note,)
