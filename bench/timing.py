"""How long a call takes; every benchmark's clock."""

import statistics
import time
from collections.abc import Callable


def seconds(run: Callable[[], object], repeats: int) -> float:
    """Median time of a call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)
