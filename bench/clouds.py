"""Ratios of the estimators of clouds against plain loops and re-splits, in one process."""

import math
import tracemalloc
from collections import Counter
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from timing import seconds
from trueness.stats.cloud_pairs import CloudPairs, pair_clouds, tv_null_mean
from trueness.stats.clouds import GOLD, NONE, WRONG, Clouds
from trueness.stats.majority import majority
from trueness.stats.permutation import omnibus
from trueness.stats.spectrum import spectrum

Row = tuple[str, float, float]
"""(name, value, limit): the value must not exceed the limit."""
Ints = NDArray[np.int64]
_Numbers = float | list[float] | NDArray[np.float64]

N_ITEMS, DRAWS, CLASSES = 12_500, 8, 6
ORDERS = (2, 3, 4)
RESPLITS = 2_000
MEGABYTE = 2**20
ROLES = np.array([GOLD, WRONG, WRONG, WRONG, WRONG, NONE])


def ratios(repeats: int = 5) -> list[Row]:
    """Median times over the median times of their references, then peak memory."""
    return [*_spectrum(repeats), *_null(repeats), *_majority(repeats), *_memory()]


def _spectrum(repeats: int) -> list[Row]:
    item, answer = _draws(N_ITEMS, seed=0)
    plain = partial(_by_counter, answer.reshape(-1, DRAWS).tolist())
    ours = partial(_by_codes, item, answer)
    _check(ours()["total"].sum(0), [sum(row[0] for row in rows) for rows in plain()])
    ratio = seconds(ours, repeats) / seconds(plain, repeats)
    return [(f"spectrum, {N_ITEMS:,} x {DRAWS} / Counter and comb loop", ratio, 0.1)]


def _null(repeats: int) -> list[Row]:
    pairs = _pairs(1_000)
    plain = partial(_resplit_mean, pairs)
    _check(tv_null_mean(pairs).mean(), plain().mean(), within=1e-3)
    ratio = seconds(partial(tv_null_mean, pairs), repeats) / seconds(plain, min(repeats, 3))
    return [(f"null mean of the total variation / {RESPLITS:,} re-splits", ratio, 0.1)]


def _majority(repeats: int) -> list[Row]:
    cloud = "gggggaaaabbbbccde---"
    roles = [{"g": GOLD, "-": NONE}.get(a, WRONG) for a in cloud]
    clouds = Clouds.of([0] * len(cloud), [ord(a) for a in cloud], roles, n_items=1)
    plain, ours = partial(_enumerated, cloud, 8), partial(majority, clouds, (8,))
    _check([ours()[x][0, 0] for x in ("gold", "wrong", "none")], plain(), within=1e-9)
    ratio = seconds(ours, repeats) / seconds(plain, min(repeats, 3))
    return [("majority(8), 20 draws / enumerating subsets", ratio, 0.01)]


def _memory() -> list[Row]:
    pairs = _pairs(N_ITEMS)
    tracemalloc.start()
    omnibus(pairs, rng=np.random.default_rng(0))
    peak = tracemalloc.get_traced_memory()[1] / MEGABYTE
    tracemalloc.stop()
    return [(f"omnibus test, {N_ITEMS:,} items, 10,000 re-splits, MB at its peak", peak, 100.0)]


def _draws(n_items: int, *, seed: int) -> tuple[Ints, Ints]:
    rng = np.random.default_rng(seed)
    laws = np.random.default_rng(7).dirichlet(np.full(CLASSES, 0.5), n_items)
    below = rng.random((n_items, DRAWS, 1)) > laws.cumsum(1)[:, None, :-1]
    return np.repeat(np.arange(n_items), DRAWS), below.sum(2).ravel()


def _pairs(n_items: int) -> CloudPairs:
    sides = []
    for seed in (1, 2):
        item, answer = _draws(n_items, seed=seed)
        sides.append(Clouds.of(item, answer, ROLES[answer], n_items=n_items))
    return pair_clouds(*sides)


def _by_codes(item: Ints, answer: Ints) -> dict[str, NDArray[np.float64]]:
    return spectrum(Clouds.of(item, answer, ROLES[answer], n_items=N_ITEMS), ORDERS)


def _by_counter(clouds: list[list[int]]) -> list[list[tuple[float, ...]]]:
    """Five parts of every item, by order."""
    found: list[list[tuple[float, ...]]] = [[] for _ in ORDERS]
    for cloud in clouds:
        counts = Counter(cloud)
        for rows, r in zip(found, ORDERS, strict=True):
            tuples = math.comb(len(cloud), r)
            total = sum(math.comb(n, r) for n in counts.values())
            gold, none = math.comb(counts[0], r), math.comb(counts[CLASSES - 1], r)
            parts = (total, gold, total - gold - none, none, total - none)
            rows.append(tuple(x / tuples for x in parts))
    return found


def _resplit_mean(pairs: CloudPairs) -> NDArray[np.float64]:
    rng = np.random.default_rng(3)
    ends = np.searchsorted(pairs.item, np.arange(pairs.n_items + 1))
    means = np.empty(pairs.n_items)
    for i in range(pairs.n_items):
        here = slice(ends[i], ends[i + 1])
        pooled, k = pairs.before[here] + pairs.after[here], int(pairs.before[here].sum())
        n = rng.multivariate_hypergeometric(pooled, k, size=RESPLITS)
        other = int(pooled.sum()) - k
        means[i] = np.abs(n / k - (pooled - n) / other).sum(1).mean() / 2
    return means


def _enumerated(cloud: str, n: int) -> list[float]:
    won = {"g": 0.0, "wrong": 0.0, "-": 0.0}
    for subset in combinations(cloud, n):
        votes = Counter(subset)
        top = max(votes.values())
        tied = [a for a, count in votes.items() if count == top]
        for a in tied:
            won[a if a in won else "wrong"] += 1 / len(tied)
    return [x / math.comb(len(cloud), n) for x in won.values()]


def _check(found: _Numbers, wanted: _Numbers, *, within: float = 1e-9) -> None:
    """Both ways must count the same thing, or their ratio means nothing."""
    np.testing.assert_allclose(found, wanted, rtol=within, atol=within)


if __name__ == "__main__":
    for name, value, limit in ratios():
        print(f"{'ok ' if value <= limit else 'BAD'} {name}: {value:.3g} (limit {limit:g})")
