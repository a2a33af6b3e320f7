"""Whole processes on large files: time against plain processes, peak memory, size of output.

Each figure is (name, value, limit). Files are generated in a temporary folder.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import duckdb

Figure = tuple[str, float, float]

RUNS = 5
ROWS, LARGE = 1_000_000, 10_000_000
KINDS = {
    "mostly distinct": "'Answer ' || CASE WHEN hash(i) % 100 = 0 THEN hash(i) % 1000 ELSE i END",
    "one answer": "'Paris'",
    "all distinct": "'Answer ' || i",
}
_CERTIFY = ("-m", "trueness", "certify")
_INJECTIVE = ("--relation", "injective")
_COUNT = (
    "import sys, duckdb; duckdb.connect().execute("
    '"SELECT count(DISTINCT answer) FROM read_csv(\'" + sys.argv[1] + "\')").fetchall()'
)


def starting() -> list[Figure]:
    """``trueness --help`` against an empty Python process."""
    empty = median(run("-c", "pass")[0] for _ in range(RUNS))
    helped = median(run("-m", "trueness", "--help")[0] for _ in range(RUNS))
    return [("trueness --help, process / empty Python process", helped / empty, 10.0)]


def certifying(folder: Path) -> list[Figure]:
    """``trueness certify`` on CSV files of a million rows, against counting in DuckDB."""
    figures: list[Figure] = []
    for kind in KINDS:
        path = str(generated(folder, ROWS, "csv", kind))
        pairs = [  # in turn: the machine's speed drifts
            (run("-c", _COUNT, path), run(*_CERTIFY, path, *_INJECTIVE)) for _ in range(RUNS)
        ]
        ratio = median(ours[0] / count[0] for count, ours in pairs)
        name = f"csv 1e6, {kind}: certify"
        figures += [
            (f"{name}, process / DuckDB count process", ratio, 6.0),
            (f"{name}, MB resident", max(ours[1] for _, ours in pairs), 700.0),
        ]
    return figures


def page(folder: Path) -> list[Figure]:
    """Size of the page of a million answers."""
    path = generated(folder, ROWS, "csv", "mostly distinct")
    html = folder / "page.html"
    run(*_CERTIFY, str(path), *_INJECTIVE, "-o", str(html))
    return [("csv 1e6: page, bytes", float(html.stat().st_size), 1e6)]


def large(folder: Path) -> list[Figure]:
    """Memory of certifying ten million rows of Parquet."""
    path = generated(folder, LARGE, "parquet", "mostly distinct")
    _, resident = run(*_CERTIFY, str(path), *_INJECTIVE)
    return [("parquet 1e7: certify, MB resident", resident, 1000.0)]


def figures(*, quick: bool = False) -> list[Figure]:
    """Everything this file measures; quick leaves the ten million rows out."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = [*starting(), *certifying(folder), *page(folder)]
        return found if quick else [*found, *large(folder)]


def generated(folder: Path, rows: int, suffix: str, kind: str) -> Path:
    """A file of unique entities; made once."""
    path = folder / f"{kind.replace(' ', '-')}-{rows}.{suffix}"
    if not path.exists():
        with duckdb.connect() as connection:
            connection.execute("SET enable_progress_bar = false")
            select = f"SELECT 'Entity number ' || i AS entity, {KINDS[kind]} AS answer"
            connection.execute(f"COPY ({select} FROM range({rows}) t(i)) TO '{path}'")
    return path


# A process between ours and the one that is measured: a child's peak starts at its parent's size.
_CHILD = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
spent = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(json.dumps([spent, peak, done.returncode]))
"""


def run(*arguments: str) -> tuple[float, float]:
    """Seconds and peak MB of a Python process; one that fails stops the benchmark."""
    one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, sys.executable, *arguments],
        check=True,
        stdout=subprocess.PIPE,
        env={**inherited, **one_thread},  # modules are compiled once, as where they are installed
    )
    seconds, peak, code = json.loads(done.stdout)
    if code:
        msg = f"{' '.join(arguments)} ended with {code}"
        raise RuntimeError(msg)
    return float(seconds), float(peak)


if __name__ == "__main__":
    begun = time.perf_counter()
    for title, value, limit in figures(quick="--quick" in sys.argv):
        print(f"{'ok  ' if value <= limit else 'OVER'} {value:9.4g} (limit {limit:g}) {title}")
    print(f"{time.perf_counter() - begun:.0f} s")
