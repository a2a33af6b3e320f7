"""Item bootstraps as weights times a matrix, against gathering rows, in one process.

Run it as a script, or import ``figures`` for a list of (name, value, limit).
"""

import statistics
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from trueness.stats.paired_means import paired_means, units_of
from trueness.stats.sup_t import resampled_means, sup_t_band

ITEMS, PARTS, REPLICATES = 1_000, 15, 10_000
MANY_ITEMS = 100_000
MEGABYTE = 2**20


def figures() -> list[tuple[str, float, float]]:
    """The ratio to gathering rows, then peak memory in MB, each with its limit."""
    rng = np.random.default_rng(0)
    delta = rng.choice([0.0, 0.0, 0.25, -0.5, 1 / 28], (ITEMS, PARTS))
    ratio = seconds(lambda: ours(delta)) / seconds(lambda: gathered(delta))
    many = rng.choice([0.0, 0.0, 0.25, -0.5, 1 / 28], (MANY_ITEMS, PARTS))
    return [
        ("10,000 item bootstraps, 1,000 items x 15 parts, to gathering rows", ratio, 0.5),
        ("MB at most, 10,000 item bootstraps of 1,000 items", peak(delta, REPLICATES), 300.0),
        ("MB at most, 200 item bootstraps of 100,000 items", peak(many, 200), 300.0),
        ("memory, 800 item bootstraps of 100,000 items to 200", growth(many), 1.2),
    ]


def ours(delta: NDArray[np.float64], replicates: int = REPLICATES) -> NDArray[np.float64]:
    rng = np.random.default_rng(1)
    drawn = resampled_means(units_of(delta), replicates=replicates, rng=rng)
    sup_t_band(drawn, paired_means(delta))
    return drawn


def gathered(delta: NDArray[np.float64]) -> NDArray[np.float64]:
    """The plain way, in chunks so that it fits into memory."""
    rng = np.random.default_rng(1)
    rows = 1_000
    return np.concatenate(
        [
            delta[rng.integers(0, len(delta), (rows, len(delta)))].mean(axis=1)
            for _ in range(REPLICATES // rows)
        ]
    )


def peak(delta: NDArray[np.float64], replicates: int) -> float:
    tracemalloc.start()
    ours(delta, replicates)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found / MEGABYTE


def growth(delta: NDArray[np.float64]) -> float:
    return peak(delta, 800) / peak(delta, 200)


def seconds(run: Callable[[], object], repeats: int = 3) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


if __name__ == "__main__":
    for name, value, limit in figures():
        print(f"{value:8.3f} of at most {limit:6.1f}  {name}")
