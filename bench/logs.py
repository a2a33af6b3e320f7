"""Logs of a million draws of 300 characters: peak memory of reading, extracting and counting.

Each figure is (name, value, limit). Files are generated in a temporary folder.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from processes import Figure, run

DRAWS, REPEATS, LENGTH = 1_000_000, 8, 300
LIMIT = 1000.0
_COUNT = """
import sys
import numpy as np
from trueness.extract.keying import keyed
from trueness.table import read_answers

table = keyed(read_answers(sys.argv[1]), kind=sys.argv[2])
pairs = np.stack([table.item.codes, table.answer.codes], axis=1)
cells, counts = np.unique(pairs, axis=0, return_counts=True)
if int(counts.sum()) != int(sys.argv[3]) or len(table) != int(sys.argv[3]):
    sys.exit(f"{len(table)} draws, {int(counts.sum())} counted")
"""


def completion(item: int, epoch: int) -> str:
    """A text of its own of 300 characters; half of an item's draws agree."""
    answer = item % 1000 if epoch % 2 else (item * 7 + epoch) % 100_000
    head = f"Draw {epoch} of item {item}: first take the sum, then halve it, "
    tail = f" so the answer is {answer}."
    filler = "carrying what is left over to the next place " * 8
    return (head + filler)[: LENGTH - len(tail)] + tail


def lm_eval(file: Path, n_draws: int) -> None:
    """Samples of lm-evaluation-harness, two lines a document: one a filter."""
    with file.open("w", encoding="utf-8") as out:
        for name in ("strict-match", "flexible-extract"):
            out.writelines(_lm_eval_lines(name, n_draws))


def _lm_eval_lines(name: str, n_draws: int) -> Iterator[str]:
    for doc in range(n_draws // REPEATS):
        texts = [completion(doc, epoch) for epoch in range(REPEATS)]
        settings = {"do_sample": True, "temperature": 0.7}
        arguments = {"gen_args_0": {"arg_0": f"Question {doc}", "arg_1": settings}}
        row = {"doc_id": doc, "target": str(doc % 1000), "arguments": arguments, "resps": [texts]}
        row |= {"filtered_resps": [str(doc)], "filter": name, "metrics": ["exact_match"]}
        yield json.dumps(row | {"exact_match": 0.0}) + "\n"


def inspect_ai(file: Path, n_draws: int) -> None:
    """A JSON log of inspect_ai, a sample a draw."""
    config = {"epochs": REPEATS}
    head = {"version": 2, "status": "success", "eval": {"task": "t", "config": config}}
    with file.open("w", encoding="utf-8") as out:
        out.write(json.dumps(head)[:-1] + ', "samples": [')
        for i in range(n_draws):
            item, epoch = divmod(i, REPEATS)
            message = {"role": "assistant", "content": completion(item, epoch)}
            output = {"choices": [{"message": message, "stop_reason": "stop"}]}
            row = {"id": item, "epoch": epoch + 1, "input": f"Question {item}", "output": output}
            out.write((", " if i else "") + json.dumps(row | {"target": str(item % 1000)}))
        out.write("]}")


def long_lines(file: Path, n_draws: int) -> None:
    """Generic JSON lines, one a draw."""
    with file.open("w", encoding="utf-8") as out:
        for i in range(n_draws):
            item, epoch = divmod(i, REPEATS)
            row = {"id": f"item {item}", "epoch": epoch + 1, "response": completion(item, epoch)}
            out.write(json.dumps(row | {"target": str(item % 1000)}) + "\n")


def grouped_lines(file: Path, n_draws: int) -> None:
    """Generic JSON lines, one an item."""
    with file.open("w", encoding="utf-8") as out:
        for item in range(n_draws // REPEATS):
            texts = [completion(item, epoch) for epoch in range(REPEATS)]
            row = {"item": f"item {item}", "target": str(item % 1000), "completions": texts}
            out.write(json.dumps(row) + "\n")


SHAPES: dict[str, Callable[[Path, int], None]] = {
    "lm-evaluation-harness": lm_eval,
    "inspect_ai": inspect_ai,
    "JSON lines, a draw each": long_lines,
    "JSON lines, an item each": grouped_lines,
}


def figures(*, quick: bool = False, kind: str = "number") -> list[Figure]:
    """Peak memory for every shape; quick takes a tenth of the draws."""
    n_draws = DRAWS // 10 if quick else DRAWS
    found: list[Figure] = []
    for shape, write in SHAPES.items():
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "log.jsonl"
            write(file, n_draws)
            begun = time.perf_counter()
            _, resident = run("-c", _COUNT, str(file), kind, str(n_draws))
            print(f"{time.perf_counter() - begun:.0f} s for {shape}")
        name = f"{n_draws:.0e} draws of {LENGTH}, {shape}: read and counted, MB resident"
        found.append((name, resident, LIMIT))
    return found


if __name__ == "__main__":
    chosen = next(
        (a.removeprefix("--kind=") for a in sys.argv if a.startswith("--kind=")), "number"
    )
    for title, value, limit in figures(quick="--quick" in sys.argv, kind=chosen):
        print(f"{'ok  ' if value <= limit else 'OVER'} {value:9.4g} (limit {limit:g}) {title}")
