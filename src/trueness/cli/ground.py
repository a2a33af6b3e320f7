"""``trueness ground``: which claims lie outside their evidence."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trueness.cli import options
from trueness.cli import output as _output
from trueness.cli.exits import of_readings
from trueness.cli.grounding import grounded, grounding, kinds
from trueness.cli.verb import Verb

if TYPE_CHECKING:
    from trueness.contract import Decision, Reading


@click.command(cls=Verb, short_help="Which claims lie outside their evidence.")
@click.argument("claims", type=options.existing_file())
@grounding
@click.option("--label", metavar="COLUMN", help="Column: what is known; no sensor reads it.")
@click.option(
    "--sensor",
    metavar="NAME",
    help="energy (default), a variant such as energy.cone, a baseline such as baseline.top1, or "
    "contrast.",
)
@options.engine
@click.option(
    "--gate",
    "gate_file",
    type=options.existing_file(),
    help="Draw the threshold of a gate in, and say what it decides.",
)
@kinds
@click.option("--full", is_flag=True, help="Print every block.")
@options.outputs
def ground(
    claims: Path,
    *,
    gate_file: Path | None,
    kind: str | None,
    relation_check: str | None,
    full: bool,
    output: tuple[Path, ...],
    as_json: bool,
    engine: str | None,
    workers: int | None,
    **typed: Any,
) -> int:
    """Measure how far CLAIMS lie outside the span of their evidence.

    Reads JSON lines, JSON, CSV or Parquet, one row a claim. Evidence is a list of passages, in CSV
    as JSON; one text is split into sentences. A claim without evidence is not measured; nothing
    here says whether a claim is right.

    Exits 5 when no claim could be measured.
    """
    from trueness.api.grounding import ground as ground_
    from trueness.backends.registry import open_embedder_on

    routes = {"kind": kind, "relation_check": relation_check}
    if gate_file is None and any(routes.values()):
        msg = "kinds send claims to review, and no gate decides here; name one: --gate FILE."
        raise click.UsageError(msg)
    _output.check_paths(output)
    if engine is not None:
        name = typed["embedder"] or "embedded"
        typed["embedder"] = open_embedder_on(engine, name, workers=workers or 2)
    decisions: tuple[Decision, ...] = ()
    with grounded(typed) as given:
        if gate_file is None:
            reading = ground_(claims, **given)
        else:
            from trueness.api.gating import ground_by

            reading, decision = ground_by(claims, gate_file, **routes, **given)
            decisions = (decision,)
    _output.write_readings({"": reading}, output, title=claims.name, decisions=decisions)
    shown = reading if full or as_json else _short(reading)
    _output.show_readings({"": shown}, as_json=as_json, decisions=decisions)
    return of_readings([reading])


def _short(reading: "Reading") -> "Reading":
    """The reading without its tables of passages; files and ``--full`` have all of it."""
    from dataclasses import replace

    from trueness.contract.blocks import Curve, MarkedTexts, Table

    kept = tuple(
        block
        for block in reading.blocks
        if not isinstance(block, (Curve, MarkedTexts))
        and not (isinstance(block, Table) and not block.per_item)
    )
    return replace(reading, blocks=kept)
