"""Ratios and limits of the gate: calibrating, deciding, tracing, replaying, resampled AUROCs."""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from timing import seconds
from trueness.contract import Direction
from trueness.decide.columns import columns_of_values
from trueness.decide.deciding import decide_columns
from trueness.decide.gate import Gate
from trueness.decide.lines import Context
from trueness.decide.retracing import replay
from trueness.decide.trace import write_trace
from trueness.stats.cluster_auroc import resampled_aurocs

ROWS = 1_000_000
_GROWTH = f"""
import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})
from gate import growth
print(growth())
"""


def ratios(repeats: int = 5) -> list[tuple[str, float, float]]:
    """(name, value, limit) of every figure."""
    rng = np.random.default_rng(0)
    risks, labels = rng.random(ROWS), np.ones(ROWS, dtype=np.bool_)
    fitting = seconds(lambda: Gate().fit(risks, labels), repeats)
    sorting = seconds(lambda: np.sort(risks), repeats)
    gate = Gate().fit(risks[:10_000], labels[:10_000])
    deciding = seconds(lambda: gate.predict(risks), repeats)
    columns = columns_of_values(risks, Direction.HIGHER_IS_WORSE)
    rulings = decide_columns(gate.fitted.policy, columns)
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.jsonl"
        context = Context(gate.fitted)
        writing = cpu(lambda: write_trace(trace, context, columns, rulings))
        reading = cpu(lambda: replay(trace, gate.fitted))
    return [
        ("gate, fit on 1,000,000 risks over numpy.sort of them", fitting / sorting, 3.0),
        ("gate, deciding a row, microseconds", 1e6 * deciding / ROWS, 1.0),
        ("gate, writing a traced row, microseconds", 1e6 * writing / ROWS, 10.0),
        ("gate, replaying a trace over writing it", reading / writing, 1.1),
        ("gate, 2,000 cluster AUROCs of 10,000 rows over ranking resamples", aurocs(), 0.33),
        ("gate, memory added by a 1,000,000 line trace and its replay, MB", memory(), 64.0),
    ]


def growth() -> float:
    """MB that writing and replaying a long trace add to those of a short one, in this process."""
    rng = np.random.default_rng(0)
    values = rng.random(ROWS)
    gate = Gate().fit(values[:10_000], np.ones(10_000, dtype=np.bool_))
    columns = columns_of_values(values, Direction.HIGHER_IS_WORSE)
    rulings = decide_columns(gate.fitted.policy, columns)
    short = columns_of_values(values[:20_000], Direction.HIGHER_IS_WORSE)
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.jsonl"
        write_trace(trace, Context(gate.fitted), short, decide_columns(gate.fitted.policy, short))
        replay(trace, gate.fitted)
        before = peak()
        write_trace(trace, Context(gate.fitted), columns, rulings)
        replay(trace, gate.fitted)
    return peak() - before


def aurocs(rows: int = 10_000, resamples: int = 2000, plain: int = 100) -> float:
    """Processor time of weighted AUROCs over that of ranking every resample."""
    rng = np.random.default_rng(0)
    scores, wrong = rng.normal(size=rows), rng.random(rows) < 0.5
    clusters = rng.integers(0, rows // 10, rows)
    members = [np.flatnonzero(clusters == c) for c in range(rows // 10)]

    def ranked() -> None:
        for _ in range(plain):
            drawn = rng.integers(0, len(members), len(members))
            picked = np.concatenate([members[c] for c in drawn])
            rankdata(scores[picked])[wrong[picked]].sum()

    weighted = cpu(
        lambda: resampled_aurocs(scores, wrong, clusters, rng=rng, n_resamples=resamples)
    )
    return weighted / (cpu(ranked) * resamples / plain)


def memory() -> float:
    """`growth` in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", _GROWTH], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def peak() -> float:
    """Most memory this process ever held, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def cpu(run: Callable[[], object]) -> float:
    """Processor time of a call: files and neighbours make the clock uneven."""
    start = time.process_time()
    run()
    return time.process_time() - start


if __name__ == "__main__":
    for name, value, limit in ratios():
        print(f"{value:8.3f} of at most {limit:5.1f}  {name}")
