"""Words that claim and evidence share, weighted by how rare they are where one may look."""

import re
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from trueness.study.populations import Population
from trueness.study.protocol import Bools, Floats, Protocol, codes_of, out_of_fold

_WORD = re.compile(r"\w+")


def term_weights(population: Population, protocol: Protocol) -> Floats:
    """(n,) Minus the cosine of a claim's words with its evidence's, weighted by rarity.

    A word weighs log((1 + N) / (1 + m)) + 1, of the N sets of evidence in the training folds m
    with the word. High points to unsupported; nan without a word on either side.

    Parameters
    ----------
    population : Population
    protocol : Protocol
    """
    table = population.table
    claims = [str(claim or "") for claim in table.claim.values()]
    counts = word_counts([*claims, *(" ".join(table.passages(r)) for r in range(len(table)))])
    said, shown = counts[: len(claims)], counts[len(claims) :]
    there = (shown > 0).astype(np.float64)

    def score(learnt: Bools, held: Bools) -> Floats:
        seen = there[np.flatnonzero(learnt)].sum(axis=0)
        weights = np.log((1 + learnt.sum()) / (1 + seen)) + 1
        rows = np.flatnonzero(held)
        return -cosines(said[rows] * weights, shown[rows] * weights)

    return out_of_fold(score, codes_of(population.groups), protocol)


def word_counts(texts: Sequence[str]) -> csr_array:
    """(n_texts, n_words) How often each word, in any case, stands in each text.

    >>> word_counts(["She won.", "won Won"]).toarray().tolist()
    [[1.0, 1.0], [0.0, 2.0]]
    """
    place: dict[str, int] = {}
    words = [[place.setdefault(w, len(place)) for w in _WORD.findall(t.casefold())] for t in texts]
    ends = np.cumsum([0, *map(len, words)])
    flat = np.array([w for row in words for w in row], np.int64)
    made = csr_array((np.ones(len(flat)), flat, ends), shape=(len(texts), len(place)))
    made.sum_duplicates()
    return made


def cosines(one: csr_array, two: csr_array) -> Floats:
    """(n,) Cosines of the rows of two tables; nan where either is empty."""
    inner, lengths = (np.asarray(t.sum(axis=1)) for t in (one * two, one * one))
    product = np.sqrt(lengths * np.asarray((two * two).sum(axis=1)))
    found: Floats = np.divide(inner, product, out=np.full(len(product), np.nan), where=product > 0)
    return found
