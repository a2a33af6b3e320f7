"""``trueness demo``: the main job on the embedded model, end to end."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from trueness.cli import options
from trueness.cli import output as _output
from trueness.cli.certify import SHOWN
from trueness.cli.exits import of_readings
from trueness.cli.verb import Verb

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trueness.contract.serial import Json

AGREEMENT = "twenty sums at temperatures 0.3 and 1"
CLAIMS = "a dozen claims and their evidence"
_STORY = """\
A model is asked one question about many entities, under several conditions. Answers that cannot
all be right are counted. No key is consulted for that; the key is looked at afterwards, to show
beside every proof what it did not see. Then it is asked the same sums several times, at two
temperatures: how often do its answers agree, and about what? Last, a dozen claims are measured
against the passages that are to carry them."""


@click.command(cls=Verb, short_help="The main job on the embedded model, end to end.")
@click.option("--model", metavar="NAME", help="Another model than the embedded one.")
@click.option("--seed", type=int, metavar="N", help="Of everything random.")
@options.outputs
def demo(*, model: str | None, seed: int | None, output: tuple[Path, ...], as_json: bool) -> int:
    """Ask the embedded model, certify its answers, ground a dozen claims, write a page.

    Without `-o` the page is trueness-demo.html in the current folder.
    """
    from trueness import demo as job
    from trueness import report

    paths = output or (Path("trueness-demo.html"),)
    _output.check_paths(paths)
    if not as_json:
        _output.show(f"{_STORY}\n")
    done = job.run(tell=_output.note, **options.given({"model": model, "seed": seed}))
    everything = {**done.readings, AGREEMENT: done.agreement}
    if done.claims is not None:
        everything[CLAIMS] = done.claims
    _output.write_readings(
        everything,
        paths,
        title="A model's answers, certified without a key",
        columns=SHOWN,
        decisions=tuple(done.decisions.values()),
        overview=(done.table, *((done.claims_table,) if done.claims_table else ())),
    )
    if as_json:
        _output.show_readings(everything, as_json=True, decisions=tuple(done.decisions.values()))
        return of_readings(done.readings.values())
    parts = [*done.lines, "", report.block_text(done.table, width=_output.width())]
    parts += [f"{name}: {d.summary()}" for name, d in done.decisions.items()]
    name, column = list(done.readings.items())[-1]
    parts += ["", f"{name}: {column.summary()}", *_withheld(column.details)]
    parts += ["", f"{AGREEMENT}: {done.agreement.summary()}"]
    if done.claims is not None and done.claims_table is not None:
        parts += ["", report.block_text(done.claims_table, width=_output.width())]
        parts.append(f"{CLAIMS}: {done.claims.summary()}")
    _output.show("\n".join(parts))
    return of_readings(done.readings.values())


def _withheld(details: "Mapping[str, Json]") -> tuple[str, ...]:
    from fractions import Fraction

    from trueness.decide.shares import percent_down

    floor = details.get("precision_floor")
    if not isinstance(floor, float):
        return ()
    share = percent_down(Fraction(floor))
    return (f"Withhold {details['n_withheld']} rows: at least {share} of them are wrong (proved).",)
