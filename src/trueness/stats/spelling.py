"""Which movements between two clouds are movements of spelling only."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from trueness.contract.errors import ShapeError
from trueness.stats.cloud_pairs import CloudPairs, squared_distance, total_variation
from trueness.stats.clouds import Bools, Floats, Ints


@dataclass(frozen=True, slots=True)
class Figures:
    """What one coding of the answers says about each item."""

    tv: Floats
    """(n_items,): total variation; nan where a cloud is empty."""
    l2: Floats
    """(n_items,): unbiased squared distance; nan where a cloud has fewer than two draws."""
    u2_before: Floats
    """(n_items,): agreement of two draws of the first cloud; nan below two draws."""
    u2_after: Floats


@dataclass(frozen=True, slots=True)
class SpellingAudit:
    """The same draws read as they were spelled, and as they were keyed."""

    raw: Figures
    canonical: Figures

    @property
    def vanishes(self) -> Bools:
        """(n_items,): moved as spelled, and not at all once keyed."""
        found: Bools = (self.raw.tv > 0) & (self.canonical.tv == 0)
        return found


@dataclass(frozen=True, slots=True)
class MergedSpellings:
    """Spellings that share their key with another one of the item: one row a spelling."""

    item: Ints
    canonical: Ints
    raw: Ints
    count: Ints
    """Draws that were spelled so."""


def audit_spelling(raw: CloudPairs, canonical: CloudPairs) -> SpellingAudit:
    """Every movement recomputed on the answers as they were spelled.

    Parameters
    ----------
    raw, canonical : CloudPairs
        The same draws of the same items, coded by spelling and by key; no answer is one class in
        both.

    Returns
    -------
    SpellingAudit

    Raises
    ------
    ShapeError
        If items or their numbers of draws differ.

    Examples
    --------
    >>> from trueness.stats.cloud_pairs import pair_clouds
    >>> from trueness.stats.clouds import Clouds
    >>> same, other = (Clouds.of([0] * 2, a, [1] * 2, n_items=1) for a in ([1, 1], [1, 2]))
    >>> audit = audit_spelling(pair_clouds(same, other), pair_clouds(same, same))
    >>> audit.raw.tv.tolist(), audit.canonical.tv.tolist(), audit.vanishes.tolist()
    ([0.5], [0.0], [True])
    """
    same = raw.n_items == canonical.n_items and all(
        np.array_equal(getattr(raw, side), getattr(canonical, side))
        for side in ("draws_before", "draws_after")
    )
    if not same:
        msg = (
            f"the raw clouds hold {len(raw.item)} and the canonical {len(canonical.item)} classes "
            "of other draws; code the same draws twice, by spelling and by key."
        )
        raise ShapeError(msg)
    return SpellingAudit(_figures(raw), _figures(canonical))


def merged_spellings(item: ArrayLike, raw: ArrayLike, canonical: ArrayLike) -> MergedSpellings:
    """Spellings that were made one by their key, within each item.

    Parameters
    ----------
    item, raw, canonical : (n_draws,) int
        Item, code of the spelling and code of the key of each draw; of both clouds together, or
        of one.

    Returns
    -------
    MergedSpellings
        By item, key and spelling. Empty when no key has two spellings.

    Raises
    ------
    ShapeError
        If the lengths differ.

    Examples
    --------
    >>> merged = merged_spellings([0, 0, 0, 0], [5, 6, 5, 7], [1, 1, 1, 2])
    >>> merged.canonical.tolist(), merged.raw.tolist(), merged.count.tolist()
    ([1, 1], [5, 6], [2, 1])
    """
    columns = [np.asarray(c, np.int64) for c in (item, canonical, raw)]
    if len({c.shape for c in columns}) > 1:
        shapes = ", ".join(str(c.shape) for c in columns)
        msg = f"item, canonical and raw have shapes {shapes}; give one entry a draw in each."
        raise ShapeError(msg)
    order = np.lexsort(columns[::-1])
    columns = [c[order] for c in columns]
    first = np.flatnonzero(_new(*columns))
    count = np.diff(first, append=len(order))
    items, keys, spellings = (c[first] for c in columns)
    block = np.cumsum(_new(items, keys)) - 1
    several = np.bincount(block)[block] > 1
    return MergedSpellings(items[several], keys[several], spellings[several], count[several])


def _figures(pairs: CloudPairs) -> Figures:
    before = _collision(pairs, pairs.before)
    after = _collision(pairs, pairs.after)
    return Figures(total_variation(pairs), squared_distance(pairs), before, after)


def _collision(pairs: CloudPairs, counts: Ints) -> Floats:
    k = pairs.sums(counts)
    out = np.full(pairs.n_items, np.nan)
    np.divide(pairs.sums(counts * (counts - 1)), k * (k - 1), out=out, where=k > 1)
    return out


def _new(*columns: Ints) -> Bools:
    """Whether a row differs from the one before it."""
    new = np.ones(len(columns[0]), np.bool_)
    new[1:] = np.logical_or.reduce([c[1:] != c[:-1] for c in columns])
    return new
