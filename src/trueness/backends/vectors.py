"""Vectors that were computed before, in one file that never grows past its bound."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trueness.backends.cache_file import open_cache
from trueness.backends.embedder import Role, Vectors
from trueness.backends.weights import text_sha256
from trueness.contract.serial import Json, canonical

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, used INTEGER NOT NULL, "
    "bytes INTEGER NOT NULL, type TEXT NOT NULL, vector BLOB NOT NULL)"
)
_AGES = "CREATE INDEX IF NOT EXISTS ages ON vectors (used)"
_SIZES = {"<f4": 4, "<f8": 8}
"""Bytes of a number, by the type it is stored in."""
_MANY = 500
"""Keys of one question to the database."""
_OVERHEAD = 120
"""Bytes that a row takes beside its vector, about."""
MAX_BYTES = 1 << 30


def vector_key(identity: Mapping[str, Json], role: Role, text: str) -> str:
    """SHA-256 (hexadecimal) of the canonical JSON of identity, role and the text's own hash.

    The text enters as it is: no normalisation, lone surrogates included.

    >>> vector_key({"id": "a"}, "claim", "x") == vector_key({"id": "a"}, "evidence", "x")
    False
    """
    return text_sha256(canonical([dict(identity), role, text_sha256(text)]))


@dataclass(frozen=True, slots=True)
class VectorCache:
    """Vectors of earlier runs; the longest unused go first when the bound is reached.

    Parameters
    ----------
    path : Path
        Created when it is not there.
    max_bytes : int
        Bound of what is kept.

    Raises
    ------
    InputError
        When the file cannot be opened as a cache.
    """

    path: Path
    max_bytes: int = MAX_BYTES

    def get(self, keys: Sequence[str]) -> dict[str, Vectors]:
        """The vectors that are there, by key."""
        found: dict[str, Vectors] = {}
        with open_cache(self.path, _SCHEMA, _AGES) as db:
            now = _now(db)
            for start in range(0, len(keys), _MANY):
                some = keys[start : start + _MANY]
                marks = ",".join("?" * len(some))
                query = f"SELECT key, type, vector FROM vectors WHERE key IN ({marks})"  # noqa: S608 - question marks only
                rows = db.execute(query, some).fetchall()
                found |= {k: v for k, kind, raw in rows if (v := _vector(kind, raw)) is not None}
                touch = f"UPDATE vectors SET used = ? WHERE key IN ({marks})"  # noqa: S608 - as above
                db.execute(touch, (now, *some))
        return found

    def put(self, vectors: Mapping[str, Vectors]) -> None:
        """Store vectors, then drop the longest unused ones above the bound."""
        with open_cache(self.path, _SCHEMA, _AGES) as db:
            now = _now(db)
            rows = [(key, now, *_row(vector)) for key, vector in vectors.items()]
            db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?)", rows)
            self._shrink(db)

    def n_bytes(self) -> int:
        """How much is kept, in bytes as the bound counts them."""
        with open_cache(self.path, _SCHEMA, _AGES) as db:
            return _total(db)

    def _shrink(self, db: sqlite3.Connection) -> None:
        excess = _total(db) - self.max_bytes
        if excess <= 0:
            return
        gone = []
        for key, size in db.execute("SELECT key, bytes FROM vectors ORDER BY used, key"):
            if excess <= 0:
                break
            gone.append((key,))
            excess -= size
        db.executemany("DELETE FROM vectors WHERE key = ?", gone)


def _row(vector: Vectors) -> tuple[int, str, bytes]:
    kind = "<f4" if vector.dtype == np.float32 else "<f8"
    raw = vector.astype(kind, copy=False).tobytes()
    return len(raw) + _OVERHEAD, kind, raw


def _vector(kind: str, raw: bytes) -> Vectors | None:
    """Read a stored vector; None where the row is damaged, which then is computed anew."""
    size = _SIZES.get(kind)
    if size is None or not raw or len(raw) % size:
        return None
    numbers = np.frombuffer(raw, kind)
    found: Vectors = numbers.astype(np.float32) if size == 4 else numbers.astype(np.float64)  # noqa: PLR2004 - bytes of a float32
    return found if np.isfinite(found).all() else None


def _now(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT COALESCE(MAX(used), 0) + 1 FROM vectors").fetchone()[0])


def _total(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT COALESCE(SUM(bytes), 0) FROM vectors").fetchone()[0])
