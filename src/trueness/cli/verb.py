"""What every verb checks first: no result is written over what it is made from."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

OUTPUTS = frozenset({"output", "out", "kept"})
"""Parameters that name files to write; any other may name a file to read."""


class Verb(click.Command):
    """A command that refuses to write over a file that its command line has it read."""

    def invoke(self, ctx: click.Context) -> Any:
        """Check the files that were named, then run."""
        from trueness.cli.output import check_inputs

        written: list[Path] = []
        read: list[Path] = []
        for param in self.params:
            into = written if param.name in OUTPUTS else read
            into.extend(_paths(param, ctx.params.get(param.name or "")))
        check_inputs(written, read)
        return super().invoke(ctx)


def _paths(param: click.Parameter, value: Any) -> Iterator[Path]:
    """The files that a value names: a path, or a text of an option that may be given one."""
    for each in value if isinstance(value, tuple) else (value,):
        if isinstance(each, Path):
            yield each
        elif isinstance(each, str) and _may_name_a_file(param):
            after = each.partition(":")[2]  # as in replay:FILE
            yield from (Path(text) for text in (each, after) if text)


def _may_name_a_file(param: click.Parameter) -> bool:
    return "FILE" in (param.metavar or "") or (param.name or "").endswith("model")
