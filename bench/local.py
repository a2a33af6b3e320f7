"""What a model of transformers saves: the shared prefix, the row alone, batches of draws.

Seconds of the processor, so that a busy machine changes no ratio. Needs the extra ``local``.
Run: python bench/local.py [--record]
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import run as benchmarks
from trueness.backends import Request, open_white_box
from trueness.table import bundled_relation

if TYPE_CHECKING:
    from trueness.backends.local.model import LocalModel

Figure = tuple[str, float, float]
"""(name, value, limit): the value must not exceed the limit."""

RESULTS = benchmarks.ROOT / "results" / "local.json"
N_PREFIX, RUNS = 128, 3
LAYER, POSITION, N_TOKENS = 15, 30, 52
TEXT = "Wool is sorted by length and softness before it is carded and spun. " * 16


def sharing(model: "LocalModel") -> list[Figure]:
    """Twenty questions behind one prefix, against one padded batch of the whole prompts."""
    front = model.ids_of(TEXT)[:N_PREFIX]
    names = bundled_relation("capital").entities
    shared = [
        Request((e, 1, "p"), (*front, *model.ids_of(f"The capital of {e} is")), shared=N_PREFIX)
        for e in names
    ]
    padded = [replace(one, shared=0) for one in shared]
    other = replace(shared[0], prompt=(*front[::-1], *front[:4]))

    def cold() -> object:
        model.next_logits([other])  # so that the prefix is read again
        start = time.process_time()
        found = model.next_logits(shared)
        spent.append(time.process_time() - start)
        return found

    spent: list[float] = []
    apart = _seconds(lambda: model.next_logits(padded))
    for _ in range(RUNS):
        cold()
    difference = abs(model.next_logits(shared) - model.next_logits(padded)).max()
    return [
        (
            "20 questions behind 128 tokens, prefix shared / one padded batch",
            median(spent) / apart,
            0.2,
        ),
        ("the same, largest difference of a logit, nats", float(difference), 1e-3),
    ]


def rows(model: "LocalModel") -> list[Figure]:
    """The Jacobian of one row alone, against the same through the whole sequence."""
    ids = model.ids_of(TEXT)[:N_TOKENS]
    alone = model.row_map(ids, LAYER, POSITION)
    whole = model.row_map(ids, LAYER, POSITION, method="sequence")
    wanted, found = whole.jacobian(), alone.jacobian()
    slow = _seconds(whole.jacobian, runs=1)
    return [
        (
            "Jacobian of one row of a block, alone / whole sequence",
            _seconds(alone.jacobian) / slow,
            0.1,
        ),
        ("the same, largest difference of an entry", float(abs(wanted - found).max()), 1e-5),
    ]


def draws(model: "LocalModel") -> list[Figure]:
    """Thirty-two draws in one batch, against four one by one."""
    asked = [
        Request((f"{i:02}", 1, "s"), "Once upon a time", temperature=1.0, seed=i, max_tokens=12)
        for i in range(32)
    ]
    together = _seconds(lambda: list(model.complete(asked))) / len(asked)
    alone = _seconds(lambda: [list(model.complete([one])) for one in asked[:4]]) / 4
    return [("a draw in a batch of 32 / a draw alone", together / alone, 0.6)]


def _seconds(work: Callable[[], object], *, runs: int = RUNS) -> float:
    spent = []
    for _ in range(runs):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return median(spent)


def main() -> int:
    """Open the embedded model through transformers and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true", help=f"write {Path(*RESULTS.parts[-2:])}")
    options = parser.parse_args()
    model = open_white_box("embedded", needs=["row_map"])
    groups = [lambda: sharing(model), lambda: rows(model), lambda: draws(model)]
    packages = (*benchmarks.PACKAGES, "torch", "transformers")
    return benchmarks.run(groups, record=RESULTS, write=options.record, packages=packages)


if __name__ == "__main__":
    sys.exit(main())
