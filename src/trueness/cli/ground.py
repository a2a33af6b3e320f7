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
    from trueness.contract.blocks import Table

_MANY, _FEW = 20, 10
"""Beyond so many claims, so many are printed."""
_TEXT = 26
"""Characters of a text that is printed beside the numbers of a claim."""
_LEFT_OUT = frozenset({"most support", "best contradiction"})
"""Columns of further texts: a page, a file and ``--full`` have them."""


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
    shown = reading if full or as_json else _short(reading, output)
    _output.show_readings({"": shown}, as_json=as_json, decisions=decisions)
    return of_readings([reading])


def _short(reading: "Reading", written: tuple[Path, ...]) -> "Reading":
    """The reading without its tables of passages, and with a line for each of the first claims."""
    from dataclasses import replace

    from trueness.contract.blocks import Curve, MarkedTexts, Table

    kept = tuple(
        _brief(block, written) if isinstance(block, Table) else block
        for block in reading.blocks
        if not isinstance(block, (Curve, MarkedTexts))
        and not (isinstance(block, Table) and not block.per_item)
    )
    return replace(reading, blocks=kept)


def _brief(block: "Table", written: tuple[Path, ...]) -> "Table":
    """A row a line: of few claims all, of many the first, and where the others are."""
    from dataclasses import replace
    from textwrap import shorten

    many = block.n_rows > _MANY
    kept = [i for i, head in enumerate(block.columns) if head not in _LEFT_OUT]
    rows = tuple(
        tuple(
            shorten(cell, _TEXT, placeholder="…") if isinstance(cell := row[i], str) else cell
            for i in kept
        )
        for row in block.rows[: _FEW if many else _MANY]
    )
    left = block.n_rows - len(rows)
    note = f"{left:,} more claims are not shown; {_where(written)}." if left else block.note
    columns = tuple(block.columns[i] for i in kept)
    return replace(block, columns=columns, rows=rows, note=note)


def _where(written: tuple[Path, ...]) -> str:
    """Where every claim stands."""
    whole = [str(path) for path in written if path.name.endswith((".json", ".jsonl"))]
    if whole:
        return f"all of them are in {' and '.join(whole)}"
    return "-o FILE.jsonl or -o FILE.json writes all of them, --full prints more"
