"""Extraction against one pass of a last-number pattern, and its growth on adversarial texts.

Run it as a script, or import ``measure`` for a list of (name, ratio, limit).
"""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time

from trueness.extract import extract

Row = tuple[str, float, float]

TEXTS = Path(__file__).parents[1] / "tests/data/clouds" / "gsm8k_example_model_solutions.jsonl"
MODELS = ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")
LAST_NUMBER = re.compile(r"(-?[$0-9.,]{2,})|(-?[0-9]+)")
RUNS = 5
LONG, SHORT = 100_000, 10_000
ADVERSARIAL = (
    "{", "1,", "**", "1", "(", "$", "\\(", "\\boxed{", "\\frac{", '{"answer": "', "answer is ",
    "5-", "1 234 ", "- ", "twenty-one ", "<think>", "\n", "(1,2)", "A ",
)  # fmt: skip
KINDS = ("number", "option", "text", "set", "tuple", "auto")


def measure() -> list[Row]:
    """All ratios, each with its limit."""
    return [*against_a_pattern(), *growth()]


def seconds(run: Callable[[], object]) -> float:
    """The fastest of a few runs: the others share the machine."""
    times = []
    for _ in range(RUNS):
        start = perf_counter()
        run()
        times.append(perf_counter() - start)
    return min(times)


def solutions() -> list[str]:
    with TEXTS.open(encoding="utf-8") as file:
        return [line[model]["solution"] for line in map(json.loads, file) for model in MODELS]


def against_a_pattern() -> list[Row]:
    """GSM8K solutions: every extraction over one ``findall`` a text."""
    texts = solutions()
    plain = seconds(lambda: [LAST_NUMBER.findall(text) for text in texts])
    rows = []
    for kind in ("number", "auto"):
        ours = seconds(lambda k=kind: [extract(text, kind=k) for text in texts])  # type: ignore[misc] # mypy cannot infer a lambda with defaults
        rows.append((f"GSM8K texts as {kind} / one last-number pass", ours / plain, 12.0))
    return rows


def growth() -> list[Row]:
    """The worst growth of time from ten thousand characters of one piece to a hundred thousand."""
    worst = 0.0
    for kind in KINDS:
        for piece in ADVERSARIAL:
            short, long = (piece * length for length in (SHORT, LONG))
            few = _seconds(short[:SHORT], kind)
            worst = max(worst, _seconds(long[:LONG], kind) / few)
    return [("adversarial texts, 10^5 characters / 10^4", worst, 50.0)]


def _seconds(text: str, kind: str) -> float:
    """The fastest of a few runs, in the process's own time."""
    times = []
    for _ in range(RUNS):
        start = process_time()
        extract(text, kind=kind)  # type: ignore[arg-type] # one of the kinds
        times.append(process_time() - start)
    return min(times)


if __name__ == "__main__":
    results = measure()
    for name, ratio, limit in results:
        print(f"{name}: {ratio:.2f} (limit {limit})")
    sys.exit(any(ratio > limit for _, ratio, limit in results))
