"""All recorded ratios and limits: prints them, compares them, records them.

Run: python bench/run.py [--quick] [--record]
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "bench.json"
WORSE = 2.0
"""A ratio fails when it is so many times its recorded value."""
MODULES = (
    "asking",
    "atlas",
    "bootstrap",
    "certificates",
    "clouds",
    "embedding",
    "energy",
    "extraction",
    "gate",
    "jsonlines",
    "logs",
    "processes",
    "served",
    "symmetry_comparison",
    "tables",
    "whitebox",
)
"""Stand beside this file; loaded after the number of threads is set."""
PACKAGES = ("numpy", "scipy", "duckdb", "trueness")

Measured = Callable[[], Iterable[tuple[str, float, float]]]


@dataclass(frozen=True, slots=True)
class Row:
    """One figure: it must not exceed its limit, and a ratio not twice what was recorded."""

    name: str
    value: float
    limit: float
    unit: str

    def fault(self, recorded: Mapping[str, float]) -> str | None:
        """Why the figure fails; None when it does not."""
        if not self.value <= self.limit:
            return f"above its limit {self.limit:g}"
        before = recorded.get(self.name)
        if self.unit == "ratio" and before is not None and self.value > WORSE * before:
            return f"more than {WORSE:g} times the recorded {before:.3g}"
        return None


def unit_of(name: str) -> str:
    """What a figure is counted in, by its name; a ratio unless it says otherwise."""
    found = (
        u
        for u in ("microseconds", "bytes", "MB", "difference")
        if u in name.replace(",", " ").split()
    )
    return next(found, "ratio")


def measured(group: Measured, recorded: Mapping[str, float]) -> tuple[list[Row], list[str]]:
    """The figures of a group, and notes; a group in which a figure fails is measured once more."""
    rows = _rows(group)
    bad = {row.name: row for row in rows if row.fault(recorded) is not None}
    if not bad:
        return rows, []
    again = {row.name: row for row in _rows(group)}
    notes = [f"measured twice: {n}, {bad[n].value:.3g} then {again[n].value:.3g}" for n in bad]
    return [again[row.name] if row.name in bad else row for row in rows], notes


def _rows(group: Measured) -> list[Row]:
    return [Row(name, float(v), float(limit), unit_of(name)) for name, v, limit in group()]


def table(rows: Sequence[Row], recorded: Mapping[str, float]) -> str:
    """The figures as lines of text: name, value, limit, recorded."""
    lines = [f"{'':5} {'value':>10} {'limit':>10} {'recorded':>10}  name"]
    for row in rows:
        fault = row.fault(recorded)
        before = f"{recorded[row.name]:.4g}" if row.name in recorded else "-"
        lines.append(
            f"{'ok' if fault is None else 'FAILS':5} {row.value:10.4g} {row.limit:10.4g} "
            f"{before:>10}  {row.name}" + (f": {fault}" if fault else "")
        )
    return "\n".join(lines)


def read_record(path: Path) -> dict[str, float]:
    """Recorded values by name; empty where nothing was recorded."""
    if not path.exists():
        return {}
    record = json.loads(path.read_text(encoding="utf-8"))
    return {row["name"]: float(row["value"]) for row in record["rows"]}


def write_record(
    path: Path, rows: Sequence[Row], notes: Sequence[str], *, packages: Sequence[str] = PACKAGES
) -> None:
    """Write the figures, with what they were measured on, as strict JSON."""
    record = {
        "commit": _git("rev-parse", "HEAD"),
        "dirty": bool(_git("status", "--porcelain", "--untracked-files=no")),
        "versions": {"python": platform.python_version(), **{p: version(p) for p in packages}},
        "cores": os.cpu_count(),
        "utc": datetime.now(UTC).isoformat(timespec="seconds"),
        "notes": list(notes),
        "rows": [asdict(row) for row in rows],
    }
    path.parent.mkdir(exist_ok=True)
    text = json.dumps(record, indent=1, allow_nan=False, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def groups(*, quick: bool) -> list[Measured]:
    """Every benchmark; quick leaves the ten million rows out."""
    loaded = {name: import_module(name) for name in MODULES}
    return [
        loaded["certificates"].measure,
        loaded["symmetry_comparison"].ratios,
        loaded["clouds"].ratios,
        loaded["bootstrap"].figures,
        loaded["extraction"].measure,
        loaded["energy"].figures,
        loaded["embedding"].figures,
        loaded["gate"].ratios,
        lambda: loaded["tables"].figures(quick=quick),
        loaded["asking"].figures,
        loaded["served"].figures,
        lambda: loaded["processes"].figures(quick=quick),
        lambda: loaded["jsonlines"].figures(quick=quick),
        loaded["atlas"].figures,
        loaded["whitebox"].ratios,
        lambda: loaded["logs"].figures(quick=quick),
    ]


def run(
    found: Iterable[Measured], *, record: Path, write: bool, packages: Sequence[str] = PACKAGES
) -> int:
    """Measure, print and compare; 1 when a figure fails."""
    recorded = read_record(record)
    rows: list[Row] = []
    notes: list[str] = []
    for group in found:
        new, said = measured(group, recorded)
        print(table(new, recorded), *said, sep="\n", flush=True)
        rows += new
        notes += said
    if write:
        write_record(record, rows, notes, packages=packages)
        print(f"wrote {record}")
    failed = [row.name for row in rows if row.fault(recorded) is not None]
    print(f"{len(rows)} figures, {len(failed)} fail")
    return int(bool(failed))


def main() -> int:
    """Read the options and run everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave the ten million rows out")
    parser.add_argument("--record", action="store_true", help="write results/bench.json")
    options = parser.parse_args()
    return run(groups(quick=options.quick), record=RESULTS, write=options.record)


if __name__ == "__main__":
    sys.exit(main())
