"""Reading large JSON lines and counted tables: whole processes against DuckDB merely reading.

Each figure is (name, value, limit). Files are generated in a temporary folder.
"""

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import duckdb

from processes import run

Figure = tuple[str, float, float]

DRAWS = 1_000_000
ITEMS = 125_000
COUNTED = 10_000_000
RUNS = 5
_ANSWER = "CASE WHEN hash(i) % 5 = 0 THEN NULL ELSE 'answer ' || hash(i * 7) % 1000 END"
_PLAIN = (
    "import sys, duckdb; duckdb.connect().execute("
    '"CREATE TABLE t AS SELECT * FROM read_json(\'" + sys.argv[1] + "\')")'
)
_READ = (
    "import sys; from trueness.table import read_answers; table = read_answers(sys.argv[1]); "
    "assert table.n_draws == int(sys.argv[2])"
)


def long_shape(folder: Path) -> Path:
    """A million keyed draws, a line each, as this package writes them."""
    select = (
        "SELECT 'item ' || i // 8 AS item, i % 8 + 1 AS epoch, "  # noqa: S608 - constants
        f"CASE WHEN a IS NULL THEN 'no_answer' ELSE 'answered' END AS outcome, "
        "'none' AS condition, a AS answer, "
        "CASE WHEN a IS NULL THEN 'declined' END AS reason "
        f"FROM (SELECT i, {_ANSWER} AS a FROM range({DRAWS}) t(i))"
    )
    header = '{"trueness": 1, "protocols": {"none": {"model": "m"}}, "extractor": "short@1"}\n'
    return _written(folder / "long.jsonl", select, header)


def grouped_shape(folder: Path) -> Path:
    """The same number of draws, a line an item with its golds and eight keys."""
    select = (
        "SELECT 'item ' || i // 8 AS item, 'answer ' || hash(i // 8) % 1000 AS target, "  # noqa: S608 - constants
        f"list({_ANSWER} ORDER BY i) AS answers FROM range({DRAWS}) t(i) GROUP BY i // 8 "
        "ORDER BY i // 8"
    )
    return _written(folder / "grouped.jsonl", select, '{"protocol": {"model": "m"}}\n')


def _written(path: Path, select: str, header: str) -> Path:
    rows = path.with_suffix(".rows")
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"COPY ({select}) TO '{rows}' (FORMAT json)")
    with path.open("w") as out, rows.open() as lines:
        out.write(header)
        out.writelines(lines)
    rows.unlink()
    return path


def reading(folder: Path) -> list[Figure]:
    """Processes that read keyed draws, against processes in which DuckDB reads the same file."""
    figures: list[Figure] = []
    for name, path in (("long", long_shape(folder)), ("grouped", grouped_shape(folder))):
        pairs = [  # in turn: the machine's speed drifts
            (run("-c", _PLAIN, str(path)), run("-c", _READ, str(path), str(DRAWS)))
            for _ in range(RUNS)
        ]
        title = f"json lines 1e6 draws, {name}: read"
        figures += [
            (
                f"{title}, process / DuckDB reading process",
                median(o[0] / p[0] for p, o in pairs),
                3.0,
            ),
            (f"{title}, MB resident", max(ours[1] for _, ours in pairs), 500.0),
        ]
    return figures


def completions(folder: Path) -> list[Figure]:
    """Memory of reading a million completions of 300 characters."""
    select = (
        "SELECT 'item ' || i // 8 AS item, i % 8 + 1 AS epoch, "  # noqa: S608 - constants
        "repeat(hash(i) || ' ', 14) || 'The answer is ' || hash(i) % 7 AS completion "
        f"FROM range({DRAWS}) t(i)"
    )
    path = _written(folder / "completions.jsonl", select, "")
    _, resident = run("-c", _READ, str(path), str(DRAWS))
    return [("json lines 1e6 completions of 300 characters: read, MB resident", resident, 1000.0)]


def counted(folder: Path) -> list[Figure]:
    """Memory of reading a hundred million draws as counts."""
    path = folder / "counts.parquet"
    select = (
        "SELECT 'item ' || i // 4 AS item, 'answer ' || i % 4 AS answer, 10 AS count "  # noqa: S608 - constants
        f"FROM range({COUNTED}) t(i)"
    )
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"COPY ({select}) TO '{path}'")
    _, resident = run("-c", _READ, str(path), str(10 * COUNTED))
    return [("parquet, 1e8 draws as 1e7 counts: read, MB resident", resident, 2000.0)]


GROUPS = (reading, completions, counted)
_SLOW = (completions, counted)


def figures(*, quick: bool = False) -> list[Figure]:
    """All figures of this file; quick leaves the largest files out."""
    groups = [group for group in GROUPS if not (quick and group in _SLOW)]
    with tempfile.TemporaryDirectory() as name:
        return [figure for group in groups for figure in group(Path(name))]


if __name__ == "__main__":
    begun = time.perf_counter()
    for title, value, limit in figures(quick="--quick" in sys.argv):
        print(f"{'ok  ' if value <= limit else 'OVER'} {value:9.4g} (limit {limit:g}) {title}")
    print(f"{time.perf_counter() - begun:.0f} s")
