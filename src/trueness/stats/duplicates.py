"""Which passages are the same: by text, by vector, joined whatever their order."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.stats.span_rules import Floats

Relation: TypeAlias = Literal["both", "text", "vector", "none"]

SAME = 1e-5
"""Unit rows at most this far apart are the same passage."""
NEAR_COSINE = 1.0 - 1e-9
"""Below this cosine two unit rows are surely further apart than `SAME`."""


@dataclass(frozen=True, slots=True)
class Clusters:
    """Passages that count as one.

    Attributes
    ----------
    members : tuple of tuple of int
        Row numbers, ascending; clusters in the order of their first members.
    chosen : tuple of int
        The member that stands for each cluster: the one with the smallest content hash.
    """

    members: tuple[tuple[int, ...], ...]
    chosen: tuple[int, ...]


def clusters_of(
    units: Floats, texts: Sequence[str] | None = None, *, relation: Relation = "both"
) -> Clusters:
    """Rows joined transitively where their texts or their vectors are the same.

    Texts are the same when they are equal after NFC and with white space folded, vectors when
    they are at most `SAME` apart.

    Parameters
    ----------
    units : (n, d) float
        Rows of length 1.
    texts : sequence of n str, optional
    relation : {"both", "text", "vector", "none"}

    Examples
    --------
    >>> clusters_of(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])).members
    ((0, 2), (1,))
    >>> clusters_of(np.eye(2), ["One  two", "One two"]).members
    ((0, 1),)
    """
    pairs: list[tuple[int, int]] = []
    if relation in ("both", "vector"):
        pairs += _near(units)
    if relation in ("both", "text") and texts is not None:
        pairs += _equal([folded(text) for text in texts])
    members = _joined(len(units), pairs)
    chosen = tuple(m[0] if len(m) == 1 else _smallest(m, units, texts) for m in members)
    return Clusters(members, chosen)


def content_hash(row: NDArray[np.float64], text: str | None = None) -> tuple[str, str]:
    """Names of a passage that do not depend on its place: of its text, and of its unit row.

    >>> content_hash(np.array([1.0, 0.0])) == content_hash(np.array([1.0, -0.0]))
    True
    """
    of_text = "" if text is None else sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return of_text, sha256((row + 0.0).astype("<f8").tobytes()).hexdigest()


def folded(text: str) -> str:
    r"""The text in NFC with each run of white space as one blank and none at its ends.

    >>> folded(" a\n  b ")
    'a b'
    """
    return " ".join(unicodedata.normalize("NFC", text).split())


def _near(units: Floats) -> list[tuple[int, int]]:
    cosines = units @ units.T
    close = np.argwhere(np.triu(cosines > NEAR_COSINE, 1))
    return [
        (int(i), int(j)) for i, j in close if np.sqrt(np.sum((units[i] - units[j]) ** 2)) <= SAME
    ]


def _equal(keys: Sequence[str]) -> list[tuple[int, int]]:
    first: dict[str, int] = {}
    return [(first.setdefault(key, i), i) for i, key in enumerate(keys)]


def _joined(n: int, pairs: Sequence[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    parent = list(range(n))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for i, j in pairs:
        low, high = sorted((root(i), root(j)))
        parent[high] = low
    groups: dict[int, list[int]] = {}
    for i in range(n):
        groups.setdefault(root(i), []).append(i)
    return tuple(tuple(group) for group in groups.values())


def _smallest(members: tuple[int, ...], units: Floats, texts: Sequence[str] | None) -> int:
    return min(members, key=lambda i: content_hash(units[i], None if texts is None else texts[i]))
