"""Ratios of the symmetry scores and of the comparison to numpy.unique, in one process."""

from functools import partial

import numpy as np

from timing import seconds
from trueness.stats.comparison import compare_partitions
from trueness.stats.symmetry import symmetry_scores


def ratios(repeats: int = 5) -> list[tuple[str, float, float]]:
    """(name, ratio, limit) of every kernel: median time over the median time of its reference."""
    rng = np.random.default_rng(0)
    found = []
    for name, high in (("few answers", 1_000), ("many answers", 100_000)):
        codes = rng.integers(-1, high, (100_000, 5))
        ratio = seconds(partial(symmetry_scores, codes, scored=0), repeats)
        ratio /= seconds(partial(np.unique, codes), repeats)
        found.append((f"symmetry, n = 100,000, T = 5, {name}", ratio, 10.0))
    for name, high in (("few answers", 1_000), ("many answers", 1_000_000)):
        before, after = rng.integers(0, high, (2, 1_000_000))
        pairs = before * high + after
        ratio = seconds(partial(compare_partitions, before, after), repeats)
        ratio /= seconds(partial(np.unique, pairs, return_inverse=True), repeats)
        found.append((f"comparison, n = 1,000,000, {name}", ratio, 3.0))
    return found


if __name__ == "__main__":
    for name, ratio, limit in ratios():
        print(f"{ratio:6.2f} of at most {limit:4.1f}  {name}")
