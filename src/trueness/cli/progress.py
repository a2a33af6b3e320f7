"""A bar on stderr while rows come in; nothing where nobody looks."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int, int, str], None]
"""(rows that are safe, rows wanted, condition)."""


@contextmanager
def bar(*, wanted: bool) -> Iterator[Advance | None]:
    """A function that moves the bar; None when there is no terminal or no bar is wanted."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        Remaining(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("asking", total=None)

        def advance(safe: int, total: int, condition: str) -> None:
            progress.update(task, completed=safe, total=total, description=condition)

        yield advance
