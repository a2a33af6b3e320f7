"""From a million keyed draws in JSON lines to a printed atlas: whole processes.

Each figure is (name, value, limit).
"""

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from jsonlines import grouped_shape, long_shape
from processes import run

Figure = tuple[str, float, float]

RUNS = 5
_PLAIN = (
    "import sys, duckdb; duckdb.connect().execute("
    '"CREATE TABLE t AS SELECT * FROM read_json(\'" + sys.argv[1] + "\')")'
)


def figures() -> list[Figure]:
    """``trueness compare FILE`` against a process in which DuckDB merely reads the file."""
    found: list[Figure] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for shape, path in (("long", long_shape(folder)), ("grouped", grouped_shape(folder))):
            pairs = [  # in turn: the machine's speed drifts
                (run("-c", _PLAIN, str(path)), run("-m", "trueness", "compare", str(path)))
                for _ in range(RUNS)
            ]
            title = f"json lines 1e6 keyed draws, {shape}: compare"
            ratio = median(ours[0] / plain[0] for plain, ours in pairs)
            found += [
                (f"{title}, process / DuckDB reading process", ratio, 6.0),
                (f"{title}, MB resident", max(ours[1] for _, ours in pairs), 1000.0),
            ]
    return found


if __name__ == "__main__":
    begun = time.perf_counter()
    for title, value, limit in figures():
        print(f"{'ok  ' if value <= limit else 'OVER'} {value:9.4g} (limit {limit:g}) {title}")
    print(f"{time.perf_counter() - begun:.0f} s", file=sys.stderr)
