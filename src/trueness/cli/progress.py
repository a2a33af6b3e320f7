"""A bar on stderr while rows come in; nothing where nobody looks."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Task

_NONE: Mapping[str, int] = {}


class Advance(Protocol):
    """Moves a bar."""

    def __call__(
        self, safe: int, total: int, what: str, errors: Mapping[str, int] = _NONE, /
    ) -> None:
        """So many are safe of so many wanted; what is under way; failures by reason."""


@contextmanager
def bar(*, wanted: bool, console: "Console | None" = None) -> Iterator[Advance | None]:
    """A function that moves the bar; None when there is no terminal or no bar is wanted.

    It shows what is done, how much a second, the time that remains, and failures by reason.
    ``console`` is stderr unless another one is given.
    """
    if not wanted or not (sys.stderr.isatty() if console is None else console.is_terminal):
        yield None
        return
    from rich import progress as rich
    from rich.console import Console
    from rich.table import Column
    from rich.text import Text

    from trueness.collect.summary import failures

    class Rate(rich.ProgressColumn):
        def render(self, task: "Task") -> Text:
            return Text(rate(task.speed))

    columns = (
        rich.TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True)),
        rich.BarColumn(),
        rich.MofNCompleteColumn(table_column=Column(no_wrap=True)),
        Rate(table_column=Column(no_wrap=True)),
        rich.TimeRemainingColumn(table_column=Column(no_wrap=True)),
        rich.TextColumn("{task.fields[failed]}", markup=False),
    )
    with rich.Progress(
        *columns, console=console or Console(stderr=True), transient=True
    ) as progress:
        task = progress.add_task("asking", total=None, failed="")

        def advance(safe: int, total: int, what: str, errors: Mapping[str, int] = _NONE, /) -> None:
            failed = failures(errors) if errors else ""
            progress.update(task, completed=safe, total=total, description=what, failed=failed)

        yield advance


def rate(speed: float | None) -> str:
    """How many a second, or a minute where a second is too short.

    >>> rate(12.34), rate(0.2), rate(None)
    ('12.3/s', '12.0/min', '')
    """
    if not speed:
        return ""
    return f"{speed:,.1f}/s" if speed >= 1 else f"{60 * speed:.1f}/min"
