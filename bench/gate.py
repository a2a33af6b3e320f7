"""Ratios and limits of the gate: calibrating, deciding, tracing, replaying."""

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from trueness.contract import Direction
from trueness.decide.columns import columns_of_values
from trueness.decide.deciding import decide_columns
from trueness.decide.gate import Gate
from trueness.decide.lines import Context
from trueness.decide.retracing import replay
from trueness.decide.trace import write_trace

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


def seconds(run: Callable[[], object], repeats: int) -> float:
    """Median time of a call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


if __name__ == "__main__":
    for name, value, limit in ratios():
        print(f"{value:8.3f} of at most {limit:5.1f}  {name}")
