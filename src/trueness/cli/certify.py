"""``trueness certify``: at least how many answers are wrong, without a key."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trueness.cli import options
from trueness.cli import output as _output
from trueness.cli.exits import of_readings
from trueness.cli.verb import Verb

if TYPE_CHECKING:
    from trueness.contract import Reading

SHOWN = {
    "n_answered": "Answered",
    "n_no_answer": "No answer",
    "n_orbits": "Distinct answers",
    "certified_errors": "Proved wrong",
    "not_right_floor": "Not right, at least",
    "true_errors": "Wrong by the targets",
}
"""Details that stand beside one another when there are several conditions."""


@click.command(cls=Verb, short_help="At least how many answers are wrong, without a key.")
@click.argument("answers", type=options.existing_log())
@options.columns
@options.extraction
@options.ensembles
@options.declaration
@options.ceiling
@click.option("--only", multiple=True, metavar="NAME", help="Only this condition; may be repeated.")
@click.option(
    "--max-error-floor",
    type=options.Finite(0, 1),
    metavar="X",
    help="Exit 1 when more than this share is proved wrong.",
)
@click.option(
    "--kept",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the rows that are not withheld (.csv, .parquet, .jsonl).",
)
@click.option("--full", is_flag=True, help="Print every block of every condition.")
@options.outputs
def certify(
    answers: Path,
    *,
    only: tuple[str, ...],
    max_error_floor: float | None,
    kept: tuple[Path, ...],
    full: bool,
    output: tuple[Path, ...],
    as_json: bool,
    **typed: Any,
) -> int:
    """Prove how many ANSWERS are wrong, without a key.

    Reads CSV, JSON, JSON lines or Parquet, one row an answer. Say what you know about right
    answers: `--relation injective` when different entities have different ones. Files of
    declarations are JSON, text with one entry a line, or CSV with a head and two columns.

    `-o` writes .html, .md, .json, .jsonl (every item) or .junit.xml; with .csv or .parquet it
    writes the rows that are not withheld, as `--kept` does.
    """
    from trueness import api
    from trueness.api.asserting import error_floor
    from trueness.cli.declarations import declared
    from trueness.cli.kept import write_kept

    tables = [*kept, *(p for p in output if p.suffix.lower() in _output.TABLES)]
    _output.check_paths(output, tables=True)
    columns, words = options.reading(typed), options.declaring(typed)
    table = api.read(answers, **columns, **({"keep": True} if tables else {}))
    readings = _only(api.certify_each(table, **declared(words)), only)
    most = max_error_floor
    checks = () if most is None else [error_floor(n, r, most) for n, r in readings.items()]
    if tables:
        write_kept(table, readings, tables)
    shown = _shown(readings)
    _output.write_readings(readings, output, title=answers.name, columns=shown, checks=checks)
    _output.show_readings(readings, as_json=as_json, full=full, columns=shown)
    for check in checks:
        if check.outcome != "passed":
            _output.note(f"{check.reading or answers.name}: {check.message}")
    return of_readings(readings.values(), checks)


def _only(readings: Mapping[str, "Reading"], names: tuple[str, ...]) -> Mapping[str, "Reading"]:
    from trueness.contract.errors import InputError

    missing = [n for n in names if n not in readings]
    if missing:
        msg = (
            f"no condition is called {missing[0]!r}; the table holds "
            f"{', '.join(map(repr, readings))}. Name one of these after --only."
        )
        raise InputError(msg)
    return {n: r for n, r in readings.items() if not names or n in names}


def _shown(readings: Mapping[str, "Reading"]) -> dict[str, str]:
    found = readings.values()
    return {k: v for k, v in SHOWN.items() if any(r.details.get(k) is not None for r in found)}
