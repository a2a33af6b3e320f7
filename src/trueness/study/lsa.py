"""The floor among embedders: words counted, weighed by rarity, and folded by an SVD."""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds

from trueness.backends.embedder import Role
from trueness.contract.errors import InputError
from trueness.contract.serial import Json

Floats: TypeAlias = NDArray[np.float64]

DIMENSION = 200
_WORD = re.compile(r"\w+")


class LsaEmbedder:
    r"""Latent semantic analysis of a set of texts: no model, no download.

    Words are counted in any case, :math:`(1 + \ln c) \ln(N / n)`, rows scaled to 1, and folded
    onto the leading right singular vectors of the texts it was made from.

    Parameters
    ----------
    texts : sequence of str
        What the words' rarity and directions are learnt from; no label is read.
    dimension : int
        At most; fewer where there are fewer texts.

    Raises
    ------
    InputError
        For fewer than two distinct texts, or texts that share no word with one another.

    Examples
    --------
    >>> made = LsaEmbedder(["a b", "b c", "c d", "d a"], dimension=2)
    >>> made.embed(["a b", "zzz"], "claim").shape
    (2, 2)
    """

    max_tokens = None
    exact = True

    def __init__(self, texts: Sequence[str], *, dimension: int = DIMENSION) -> None:
        distinct = sorted(set(texts))
        if len(distinct) < 2:  # noqa: PLR2004 - nothing is rare in one text
            msg = f"{len(distinct)} distinct texts; wanted two or more to learn words from."
            raise InputError(msg)
        counts = [_counted(text) for text in distinct]
        holding = Counter(word for found in counts for word in found)
        rare = {w: np.log(len(distinct) / n) for w, n in holding.items() if n < len(distinct)}
        self._place = {word: i for i, word in enumerate(sorted(rare))}
        self._rarity = np.array([rare[word] for word in self._place], np.float64)
        self._revision = hashlib.sha256("\0".join(distinct).encode("utf-8", "replace")).hexdigest()
        rows = self._weighed(counts)
        size = min(dimension, min(rows.shape) - 1)
        if size < 1:
            msg = f"{len(distinct)} texts differ in {len(self._place)} words; wanted two or more."
            raise InputError(msg)
        start = np.random.default_rng(0).standard_normal(min(rows.shape))
        right = svds(rows, k=size, v0=start)[2]
        self._axes: Floats = np.asarray(right.T, np.float64)

    @property
    def identity(self) -> Mapping[str, Json]:
        """Named by the texts that it was made from."""
        return {
            "id": "lsa",
            "revision": self._revision,
            "prefix": {"claim": "", "evidence": ""},
            "pooling": "tf-idf, SVD",
            "normalised": False,
            "dtype": "float64",
            "dimension": self._axes.shape[1],
            "max_tokens": None,
        }

    @property
    def versions(self) -> Mapping[str, str]:
        """Libraries that computed it."""
        return {name: version(name) for name in ("numpy", "scipy")}

    def count_tokens(self, texts: Sequence[str], role: Role) -> tuple[None, ...]:
        """Not needed: there is no limit."""
        del role
        return (None,) * len(texts)

    def embed(self, texts: Sequence[str], role: Role) -> Floats:
        """Vectors (n, d) of n texts; zero for a text without a known word."""
        del role
        found: Floats = np.asarray(self._weighed([_counted(text) for text in texts]) @ self._axes)
        return found

    def _weighed(self, counts: Sequence[Counter[str]]) -> csr_array:
        places, values, starts = [], [], [0]
        for found in counts:
            known = sorted((self._place[w], c) for w, c in found.items() if w in self._place)
            row = np.array([(1 + np.log(c)) * self._rarity[p] for p, c in known])
            length = np.linalg.norm(row) if len(row) else 1.0
            places += [p for p, _ in known]
            values += (row / length).tolist()
            starts.append(len(places))
        return csr_array(
            (np.array(values, np.float64), np.array(places, np.int64), np.array(starts)),
            shape=(len(counts), len(self._place)),
        )


def _counted(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.casefold()))
