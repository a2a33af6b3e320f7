"""``trueness report``: readings that were written before, in another form."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from trueness.cli import options
from trueness.cli import output as _output
from trueness.cli.exits import Exit, of_readings
from trueness.cli.verb import Verb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trueness.contract.blocks import Block
    from trueness.report import Loaded


_HEAD = 200
"""Bytes in which a gate file says what it is."""


@click.command(cls=Verb, short_help="Readings in another form: page, Markdown, JUnit.")
@click.argument("files", nargs=-1, required=True, type=options.existing_file())
@click.option("--title", metavar="TEXT", help="Of the page.")
@click.option(
    "--show",
    multiple=True,
    metavar="DETAIL",
    help="A detail to show beside others when there are several readings; may be repeated.",
)
@click.option("--full", is_flag=True, help="Print every block of every reading.")
@options.outputs
def report(
    files: tuple[Path, ...],
    *,
    title: str | None,
    show: tuple[str, ...],
    full: bool,
    output: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Turn the readings in FILES (.json, .jsonl) into a page, Markdown, JSON or JUnit XML.

    Result files of studies and gate files of `calibrate` are drawn too.
    """
    _output.check_paths(output)
    gates = [path for path in files if _is_gate(path)]
    loaded = {path: _load(path) for path in files if path not in gates}
    several = len(loaded) > 1
    readings = {
        _name(path, name, several=several): reading
        for path, one in loaded.items()
        for name, reading in one.readings.items()
    }
    decisions = [d for one in loaded.values() for d in one.decisions]
    columns = {name: name.replace("_", " ") for name in show}
    overview = [block for path in gates for block in _drawn(path)]
    _output.write_readings(
        readings,
        output,
        title=title or ", ".join(path.name for path in files[:3]),
        columns=columns,
        decisions=decisions,
        overview=overview,
    )
    if overview and not as_json:
        _output.show_blocks(overview)
    elif overview and not readings:
        _output.show(gates[0].read_text("utf-8") if len(gates) == 1 else _refused(gates))
    if readings:
        _output.show_readings(
            readings, as_json=as_json, full=full, columns=columns, decisions=decisions
        )
    return of_readings(readings.values()) if readings else Exit.DONE


def _is_gate(path: Path) -> bool:
    """Whether a file begins as `calibrate` writes it."""
    if path.suffix.lower() != ".json":
        return False
    with path.open("rb") as file:
        return b'"trueness.gate/' in file.read(_HEAD)


def _refused(gates: "Sequence[Path]") -> str:
    from trueness.contract.errors import InputError

    msg = f"{len(gates)} gate files are JSON already, and --json prints one. Leave the others out."
    raise InputError(msg)


def _drawn(path: Path) -> "Sequence[Block]":
    from trueness.api.gating import gate_blocks

    return gate_blocks(path)


def _load(path: Path) -> "Loaded":
    from trueness.report import Loaded, load
    from trueness.study.results import is_result, read_result

    if not is_result(path):
        return load(path)
    from trueness.study.drawing import reading_of

    result = read_result(path)
    return Loaded({result.study: reading_of(result)})


def _name(path: Path, name: str, *, several: bool) -> str:
    return ": ".join(part for part in (str(path) if several else "", name) if part)
