"""Pooled draws split anew at random: the law of a statistic over all splits, or a sample of it."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.stats.clouds import Ints

LIMIT = 100_000
"""States above which the law of a statistic is sampled rather than built."""

_FANOUT = 20
_INT64 = 2**62
_CHUNK = 2**20
_LARGEST_FLOAT = 1e300

Terms: TypeAlias = Callable[[Ints, Ints, int, int], Ints]
"""Draws of classes in the first cloud, in the second, sizes of both -> terms of a statistic."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """A sum over classes, in whole numbers."""

    terms: Terms
    least: int
    """Draws that both clouds need."""

    def of(self, n: Ints, m: Ints) -> int:
        """The statistic of two clouds."""
        return int(self.terms(n, m, int(n.sum()), int(m.sum())).sum())


@dataclass(frozen=True, slots=True)
class SplitLaw:
    """A statistic over all splits: its values, ascending, and how many splits have each."""

    values: Ints
    ways: NDArray[Any]

    def tail(self, observed: int) -> Any:
        """Splits whose statistic is at least the observed one."""
        return self.ways[np.searchsorted(self.values, observed) :].sum()


def distance_scale(k: int, other: int) -> int:
    """What ``SQUARED_DISTANCE`` is a multiple of the squared distance by."""
    return k * (k - 1) * other * (other - 1)


def split_law(
    pooled: Ints, k: int, statistic: Statistic, *, exact: bool = False
) -> SplitLaw | None:
    """The law of a statistic over all splits of pooled draws into ``k`` and the rest.

    Classes are added one by one; for every number of draws used and every value of the statistic
    it is kept how many splits lead there.

    Parameters
    ----------
    pooled : (n_classes,) int64
        Draws of each class in both clouds together.
    k : int
        Draws of the first cloud.
    statistic : Statistic
    exact : bool
        Whether splits are counted as Python whole numbers, and without a limit; otherwise as
        floats, which are exact below 2**53.

    Returns
    -------
    SplitLaw or None
        None where the states exceed ``LIMIT`` or the splits any float.

    Examples
    --------
    >>> law = split_law(np.array([2, 2]), 2, TOTAL_VARIATION)
    >>> law.values.tolist(), law.ways.tolist()
    ([0, 8], [4.0, 2.0])
    """
    if not exact and math.comb(int(pooled.sum()), k) > _LARGEST_FLOAT:
        return None
    kind = np.dtype(object if exact else float)
    used, value, ways = np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1, kind)
    left = int(pooled.sum())
    other = left - k
    for take, add, number, size in _choices(pooled, k, other, statistic):
        left -= size
        if not exact and len(used) * len(take) > _FANOUT * LIMIT:
            return None
        fits = _fitting(used[:, None] + take, k, left)
        grown = (used[:, None] + take)[fits], (value[:, None] + add)[fits]
        ways = (ways[:, None] * np.array(number, kind))[fits]
        used, value, ways = _merged(*grown, ways)
        if not exact and len(used) > LIMIT:
            return None
    return SplitLaw(value, ways)


def sampled_splits(
    pooled: Ints, k: int, statistic: Statistic, *, rng: np.random.Generator, resplits: int
) -> Iterator[Ints]:
    """The statistic of random splits, some at a time.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> drawn = sampled_splits(np.array([2, 2]), 2, TOTAL_VARIATION, rng=rng, resplits=9)
    >>> set(np.concatenate(list(drawn)).tolist()) <= {0, 8}
    True
    """
    other = int(pooled.sum()) - k
    step = max(_CHUNK // len(pooled), 1)
    for start in range(0, resplits, step):
        size = min(step, resplits - start)
        n = rng.multivariate_hypergeometric(pooled, k, size=size)
        yield statistic.terms(n, pooled - n, k, other).sum(1)


def _variation(n: Ints, m: Ints, k: int, other: int) -> Ints:
    """Terms of the total variation times 2 k k'."""
    terms: Ints = np.abs(n * other - m * k)
    return terms


def _distance(n: Ints, m: Ints, k: int, other: int) -> Ints:
    """Terms of the squared distance times k (k - 1) k' (k' - 1)."""
    if 4 * distance_scale(k, other) > _INT64:
        msg = (
            f"clouds of {k} and {other} draws are too large for a test in 64-bit whole numbers. "
            "Test the first few thousand draws of each."
        )
        raise InputError(msg)
    within = n * (n - 1) * (other * (other - 1)) + m * (m - 1) * (k * (k - 1))
    terms: Ints = within - 2 * n * m * ((k - 1) * (other - 1))
    return terms


TOTAL_VARIATION = Statistic(_variation, least=1)
SQUARED_DISTANCE = Statistic(_distance, least=2)


def _choices(
    pooled: Ints, k: int, other: int, statistic: Statistic
) -> Iterator[tuple[Ints, Ints, list[int], int]]:
    """For each class, single draws together: draws taken, terms added, ways, draws in all."""
    for size in sorted((t for t in pooled.tolist() if t > 1), reverse=True):
        take = np.arange(max(size - other, 0), min(size, k) + 1)
        number = [math.comb(size, h) for h in take.tolist()]
        yield take, statistic.terms(take, size - take, k, other), number, size
    singles = int((pooled == 1).sum())
    if singles:
        take = np.arange(min(singles, k) + 1)
        one, none = np.ones(1, np.int64), np.zeros(1, np.int64)
        chosen, passed = (int(statistic.terms(*x, k, other)[0]) for x in ((one, none), (none, one)))
        number = [math.comb(singles, h) for h in take.tolist()]
        yield take, take * chosen + (singles - take) * passed, number, singles


def _fitting(used: Ints, k: int, left: int) -> NDArray[np.bool_]:
    """Whether the first cloud is not overfull and can still be filled."""
    fits: NDArray[np.bool_] = (used <= k) & (used + left >= k)
    return fits


def _merged(used: Ints, value: Ints, ways: NDArray[Any]) -> tuple[Ints, Ints, NDArray[Any]]:
    """Ways of equal states added up; states ascending."""
    order = np.lexsort((value, used))
    used, value, ways = used[order], value[order], ways[order]
    new = np.ones(len(used), np.bool_)
    new[1:] = (used[1:] != used[:-1]) | (value[1:] != value[:-1])
    return used[new], value[new], np.add.reduceat(ways, np.flatnonzero(new))
