"""Reading and keying large tables: time against DuckDB alone, and memory.

Each figure is (name, value, limit). Files are generated in a temporary folder.
"""

import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import duckdb

from processes import run
from trueness.extract import keyed
from trueness.table import read_answers

Figure = tuple[str, float, float]

ROWS = 1_000_000
LARGE = 10_000_000
_COUNT = """
import sys, duckdb
q = "SELECT count(DISTINCT answer) FROM read_csv('" + sys.argv[1] + "')"
duckdb.connect().execute(q).fetchall()
"""
_READ = """
import sys
from trueness.extract import keyed, normalise_entities
from trueness.table import read_answers
table = keyed(read_answers(sys.argv[1]))
normalise_entities(table.entity, table.row_number)
"""


def generated(folder: Path, rows: int, suffix: str) -> Path:
    """A file of unique entities and mostly distinct answers."""
    path = folder / f"answers{rows}.{suffix}"
    select = (
        "SELECT 'Entity number ' || i AS entity, "
        "'Answer ' || (hash(i) % (? * 9 // 10)) || ' of town' AS answer FROM range(?) t(i)"
    )
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"CREATE TABLE answers AS {select}", [rows, rows])
        connection.execute(f"COPY answers TO '{path}'")
    return path


def reading(folder: Path) -> list[Figure]:
    """A process that reads and keys a CSV, against one that counts its answers in DuckDB."""
    path = str(generated(folder, ROWS, "csv"))
    count = median(lambda: run("-c", _COUNT, path)[0])
    runs = [run("-c", _READ, path) for _ in range(5)]
    read = sorted(seconds for seconds, _ in runs)[2]
    return [
        ("csv 1e6: read and key, process / DuckDB count process", read / count, 6.0),
        ("csv 1e6: read and key, MB resident", max(peak for _, peak in runs), 700.0),
    ]


def parquet_memory(folder: Path) -> list[Figure]:
    """Memory of reading and keying ten million rows."""
    path = str(generated(folder, LARGE, "parquet"))
    return [("parquet 1e7: read and key, MB resident", run("-c", _READ, path)[1], 1e3)]


def counting(folder: Path) -> list[Figure]:
    """Certificate and withheld count of string answers by GROUP BY, against a Counter."""
    path = str(generated(folder, ROWS, "parquet"))
    grouped = (
        "SELECT sum(c) - count(*), sum(c) FILTER (c > 1) FROM (SELECT count(*) AS c "
        "FROM read_parquet(?) GROUP BY answer)"
    )

    def by_counter() -> None:
        with duckdb.connect() as connection:
            found = connection.execute(f"SELECT answer FROM read_parquet('{path}')").fetchall()  # noqa: S608 - as above
        Counter(row[0] for row in found)

    def by_group() -> None:
        with duckdb.connect() as connection:
            connection.execute(grouped, [path]).fetchall()

    def ours() -> None:
        keyed(read_answers(path))

    plain = median(lambda: timed(by_counter))
    return [
        (
            "parquet 1e6: GROUP BY / Counter and reading",
            median(lambda: timed(by_group)) / plain,
            0.5,
        ),
        (
            "parquet 1e6: read and key / Counter and reading",
            median(lambda: timed(ours)) / plain,
            2.0,
        ),
    ]


def timed(work: Callable[[], None]) -> float:
    """Seconds of a call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def median(measure: Callable[[], float], *, repeats: int = 5) -> float:
    """The middle of a few measurements."""
    return sorted(measure() for _ in range(repeats))[repeats // 2]


GROUPS = (reading, counting, parquet_memory)


def figures(*, quick: bool = False) -> list[Figure]:
    """All figures of this file; quick leaves the ten million rows out."""
    found = [group for group in GROUPS if not (quick and group is parquet_memory)]
    with tempfile.TemporaryDirectory() as name:
        return [figure for group in found for figure in group(Path(name))]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        for measured in GROUPS:
            for title, value, limit in measured(Path(scratch)):
                print(
                    f"{'ok  ' if value <= limit else 'OVER'} {value:9.2f} (limit {limit:g}) {title}"
                )
