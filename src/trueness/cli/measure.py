"""``trueness measure``: any sensor by name."""

from pathlib import Path
from typing import Any

import click

from trueness.cli import options
from trueness.cli import output as _output
from trueness.cli.exits import of_readings
from trueness.cli.verb import Verb


@click.command(cls=Verb, short_help="Any sensor by name; with two files, compare.")
@click.argument("sensor")
@click.argument("answers", type=options.existing_log())
@click.argument("after", type=options.existing_log(), required=False)
@options.columns
@options.extraction
@options.claims
@click.option(
    "-P",
    "--param",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the sensor; JSON or text. May be repeated.",
)
@options.outputs
def measure(
    sensor: str,
    answers: Path,
    after: Path | None,
    *,
    param: tuple[str, ...],
    output: tuple[Path, ...],
    as_json: bool,
    **typed: Any,
) -> int:
    """Apply SENSOR to ANSWERS; with a second file, compare before and AFTER.

    Exits 5 when nothing could be measured; the text says why.
    """
    from trueness import api, sensors

    _output.check_paths(output)
    claims = getattr(sensors.find(sensor), "TABLE", "answers") == "evidence"
    about = options.about_claims(typed)
    if about and not (claims and after is None):
        msg = f"--{next(iter(about))} is for sensors of claims with evidence, on one file."
        raise click.UsageError(msg)
    columns = options.reading(typed) | about
    params = options.assignments(param, flag="-P")
    if claims and after is None:
        reading = api.measure(sensor, answers, **columns, **params)
    elif after is None:
        reading = api.measure(sensor, api.read(answers, **columns), **params)
    else:
        table = api.read(answers, **columns)
        reading = api.compare(table, api.read(after, **columns), sensor=sensor, **params)
    _output.write_readings({"": reading}, output, title=f"{sensor}: {answers.name}")
    _output.show_readings({"": reading}, as_json=as_json)
    return of_readings([reading])
