"""What each run of asking cost: one line of JSON a run, in a file beside the table.

The table is only ever appended to, so its header cannot say what was not known when it was written,
and a line of another kind between rows would be a row to whoever reads the file with other tools.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trueness.collect.tally import Tally
from trueness.contract.serial import Json, dumps

SUFFIX = ".cost"


def cost_of(table: Path) -> Path:
    """Where the costs of a table lie: beside it, under its name.

    >>> cost_of(Path("answers.jsonl")).name
    'answers.jsonl.cost'
    """
    return table.with_name(table.name + SUFFIX)


@contextmanager
def recorded(table: Path, tally: Tally, *, begun: bool) -> Iterator[None]:
    """Write what the run inside cost, however it ends; nothing when it did nothing.

    Parameters
    ----------
    table : Path
        Its costs go to `cost_of` it. Where it is no regular file there is no place beside it.
    tally : Tally
        Of the run; hears a warning when the line cannot be written. No row depends on it.
    begun : bool
        Whether the table was there before; the lines of one that is gone are not kept.
    """
    start, completed = time.perf_counter(), False
    try:
        yield
        completed = True
    finally:
        line = _line(tally, time.perf_counter() - start, completed=completed)
        if table.is_file() and tally.n_asked + tally.n_cached + tally.n_checks:
            _append(cost_of(table), dumps(line) + "\n", tally, begun=begun)


def _line(tally: Tally, seconds: float, *, completed: bool) -> dict[str, Json]:
    return {
        "completed": completed,
        "rows": tally.n_written,
        "requests": tally.n_asked + tally.n_checks,
        "of_self_check": tally.n_checks,
        "attempts_of_rows": tally.n_attempts,
        "cached": tally.n_cached,
        "errors": dict(sorted(tally.errors.items())),
        "tokens_in": tally.tokens_in,
        "tokens_out": tally.tokens_out,
        "tokens_reused": tally.tokens_reused,
        "seconds": round(seconds, 3),
    }


def _append(path: Path, line: str, tally: Tally, *, begun: bool) -> None:
    try:
        with path.open("a" if begun else "w", encoding="utf-8", newline="\n") as file:
            file.write(line)
    except OSError as error:
        why = error.strerror or error
        tally.warnings.append(f"what the run cost could not be written to {path}: {why}")
