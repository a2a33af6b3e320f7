"""Ratios of the certificate kernels against plain numpy and scipy, in one process.

Run it as a script, or import ``measure`` for a list of (name, ratio, limit).
"""

import sys
import tracemalloc
from collections.abc import Callable
from statistics import median
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from trueness.stats.capacity import certify_column, certify_keys
from trueness.stats.transport import most_right
from trueness.stats.votes import Limits, Votes

Row = tuple[str, float, float]
Ints = NDArray[np.int64]

N = 1_000_000
RUNS = 5
MEGABYTE = 2**20


def measure() -> list[Row]:
    """All ratios, then peak memory in MB, each with its limit."""
    return [*dense_codes(), *arbitrary_codes(), *peak_memory(), *assignment()]


def seconds(run: Callable[[], object]) -> float:
    times = []
    for _ in range(RUNS):
        start = perf_counter()
        run()
        times.append(perf_counter() - start)
    return median(times)


def dense_codes() -> list[Row]:
    rng = np.random.default_rng(1)
    uniform = rng.integers(0, N, N)
    zipf = np.minimum(rng.zipf(1.3, N), N) - 1
    rows = []
    for name, codes in (("uniform", uniform), ("Zipf", zipf)):
        upper = np.ones(N, dtype=np.int64)
        ours = seconds(lambda c=codes, u=upper: certify_column(c, u))  # type: ignore[misc] # mypy cannot infer a lambda with defaults
        plain = seconds(lambda c=codes: np.unique(c, return_counts=True))  # type: ignore[misc] # mypy cannot infer a lambda with defaults
        rows.append((f"column of 10^6 dense codes, {name}", ours / plain, 2.0))
    return rows


def arbitrary_codes() -> list[Row]:
    codes = _arbitrary()
    ours = seconds(lambda: certify_keys(codes, default_upper=1))
    plain = seconds(lambda: np.unique(codes, return_inverse=True, return_counts=True))
    return [("column of 10^6 arbitrary 64-bit codes", ours / plain, 1.5)]


def peak_memory() -> list[Row]:
    codes = np.random.default_rng(1).integers(0, N, N)
    upper = np.ones(N, dtype=np.int64)
    wide = _arbitrary()
    return [
        ("peak MB beyond input, dense", peak(lambda: certify_column(codes, upper)), 48.0),
        (
            "peak MB beyond input, arbitrary",
            peak(lambda: certify_keys(wide, default_upper=1)),
            48.0,
        ),
    ]


def peak(run: Callable[[], object]) -> float:
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1] / MEGABYTE
    finally:
        tracemalloc.stop()


def assignment() -> list[Row]:
    """Ten thousand entities, five columns, blocks of eight answers: many components."""
    entity, answer, n = _blocks()
    votes = Votes.of(n, n, entity, answer)
    limits = Limits(np.ones(n, dtype=np.int64))
    plain_votes = (votes.entity, votes.answer, votes.count)
    whole = seconds(lambda: _one_matching(n, *plain_votes))
    ours = seconds(lambda: most_right(votes, limits))
    found = most_right(votes, limits)
    if found.right != _one_matching(n, *plain_votes) or not found.exact:
        msg = "the components and the matching on the whole disagree"
        raise RuntimeError(msg)
    return [("assignment, T = 5, n = 10^4, many components", ours / whole, 1.5)]


def _arbitrary() -> Ints:
    rng = np.random.default_rng(2)
    names = rng.integers(-(2**62), 2**62, N // 2)
    return names[rng.integers(0, len(names), N)]


def _blocks() -> tuple[Ints, Ints, int]:
    rng = np.random.default_rng(3)
    n, columns, size = 10_000, 5, 8
    entity = np.repeat(np.arange(n), columns)
    return entity, entity // size * size + rng.integers(0, size, len(entity)), n


def _one_matching(n: int, entity: Ints, answer: Ints, count: Ints) -> int:
    """The plain reference: one sparse matching, a private column for each entity."""
    top = int(count.max()) + 1
    said, col = np.unique(answer, return_inverse=True)
    rows = np.concatenate([entity, np.arange(n)])
    cols = np.concatenate([col, len(said) + np.arange(n)])
    cost = np.concatenate([top - count, np.full(n, top)]).astype(np.float64)
    graph = csr_array((cost, (rows, cols)), shape=(n, len(said) + n))
    return int((top - graph[min_weight_full_bipartite_matching(graph)]).sum())


if __name__ == "__main__":
    results = measure()
    for name, ratio, limit in results:
        print(f"{name}: {ratio:.2f} (limit {limit})")
    sys.exit(any(ratio > limit for _, ratio, limit in results))
