"""``trueness export``: an answer table in another form."""

from pathlib import Path
from typing import Any

import click

from trueness.cli import options
from trueness.cli import output as _output
from trueness.cli.exits import Exit
from trueness.cli.kept import lost
from trueness.cli.verb import Verb


@click.command(cls=Verb, short_help="An answer table as CSV, Parquet or JSON lines.")
@click.argument("answers", type=options.existing_log())
@options.columns
@options.extraction
@options.ensembles
@click.option(
    "-o",
    "--output",
    "output",
    multiple=True,
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write (.csv, .parquet, .jsonl); may be repeated.",
)
def export(answers: Path, *, output: tuple[Path, ...], **typed: Any) -> int:
    """Write ANSWERS as CSV, Parquet or JSON lines, keys and outcomes filled in."""
    from trueness import api
    from trueness.table import write

    columns = options.reading(typed)
    table = api.read(answers, **columns)
    for path in output:
        write(table, _output.ready(path))
        _output.note(f"wrote {path}: {len(table):,} rows{lost(table, path)}")
    return Exit.DONE
