"""What asking costs beside the model: overhead a request, resuming, the shared prefix."""

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from trueness.backends import Request, open_model
from trueness.backends.scripted import ScriptedModel
from trueness.collect import NONE, Quiz, ask, facts_of, parse_conditions
from trueness.table.journal import read_journal

T = TypeVar("T")
Figure = tuple[str, float, float]
"""(name, value, limit): the value must not exceed the limit."""

N_REQUESTS, BATCH, LATENCY = 10_000, 32, 0.01
N_ROWS = 1_000_000


def overhead() -> list[Figure]:
    """Seconds beyond the model's own, a request; and the whole against the ideal."""
    quiz = _quiz(N_REQUESTS)
    model = ScriptedModel("right", facts_of(quiz), 0.0)
    with tempfile.TemporaryDirectory() as folder:
        total, _ = _timed(
            lambda: ask(quiz, model, [NONE], out=Path(folder) / "a", batch_size=BATCH)
        )
    replies = _replies(quiz)
    with tempfile.TemporaryDirectory() as folder:
        slow = ScriptedModel("right", facts_of(quiz), LATENCY)
        slept, _ = _timed(lambda: ask(quiz, slow, [NONE], out=Path(folder) / "a", batch_size=BATCH))
    ideal = N_REQUESTS * LATENCY / BATCH
    spent = max(total - replies, 0.0) / N_REQUESTS * 1e6
    return [
        ("journal and key overhead, microseconds a request", spent, 100.0),
        ("10^4 requests of 10 ms in batches of 32, against the ideal", slept / ideal, 1.5),
    ]


def resuming() -> list[Figure]:
    """Reading a journal against plain json.loads for each line."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.jsonl"
        with path.open("w", encoding="utf-8") as file:
            file.write('{"trueness":1,"protocols":{}}\n')
            for i in range(N_ROWS):
                row = {"item": f"capital|e{i}|0", "epoch": 1, "condition": "none"}
                more = {"completion": " Paris. It is", "outcome": "answered", "answer": "paris"}
                file.write(json.dumps({**row, **more}) + "\n")
        plain, _ = _timed(lambda: _loads(path))
        read, state = _timed(lambda: read_journal(path))
    if state.rows_kept != N_ROWS:
        msg = f"{state.rows_kept} rows read, {N_ROWS} written"
        raise AssertionError(msg)
    return [("resuming 10^6 rows, against json.loads for each line", read / plain, 3.0)]


def shared_prefix() -> list[Figure]:
    """Time of a question with the prefix reused against read anew; at most a fifth is wanted."""
    with tempfile.TemporaryDirectory() as folder:
        places = (
            *("France", "Italy", "Japan", "Germany", "Spain", "Greece", "Egypt", "China"),
            *("Russia", "Canada", "Norway", "Sweden", "Poland", "Austria", "Ireland", "Cuba"),
            *("Peru", "Chile", "Thailand", "Turkey"),
        )
        quiz = Quiz("capital", ("The capital of {e} is",), places)
        model = open_model("embedded")
        conditions = parse_conditions("prose:128")
        out = Path(folder) / "t"
        summary = ask(quiz, model, conditions, out=out, observable="first_token")
        model.close()
    reuse = summary.reuse["prose:128"]
    ratio = reuse.seconds_shared / reuse.seconds_alone
    return [("a question behind a shared prefix, against alone", ratio, 0.2)]


def figures() -> list[Figure]:
    """Everything this file measures."""
    return [*overhead(), *resuming(), *shared_prefix()]


def _quiz(n: int) -> Quiz:
    names = tuple(f"entity {i:05d}" for i in range(n))
    return Quiz("made", ("The mark of {e} is",), names)


def _replies(quiz: Quiz) -> float:
    """Seconds that the scripted model itself needs."""
    model = ScriptedModel("right", facts_of(quiz), 0.0)
    tokenizer = model.tokenizer
    requests = [
        Request((e, 1, "none"), (1, *tokenizer.encode(f"The mark of {e} is")))
        for e in quiz.entities
    ]
    return _timed(lambda: list(model.complete(requests)))[0]


def _loads(path: Path) -> int:
    with path.open("rb") as file:
        return sum(json.loads(line) is not None for line in file)


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


if __name__ == "__main__":
    for name, value, limit in figures():
        print(f"{'ok ' if value <= limit else 'BAD'} {name}: {value:.3g} (limit {limit:g})")
