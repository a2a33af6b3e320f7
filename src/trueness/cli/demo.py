"""``trueness demo``: the main job on the embedded model, end to end."""

from pathlib import Path

import click

from trueness.cli import options
from trueness.cli import output as _output
from trueness.cli.certify import SHOWN
from trueness.cli.exits import of_readings

_STORY = """\
The embedded model is asked one question about many entities, under several conditions.
Answers that cannot all be right are counted. No key is consulted for that; the key is
looked at afterwards, to show that the proof was right."""


@click.command(short_help="The main job on the embedded model, end to end.")
@click.option("--model", metavar="NAME", help="Another model than the embedded one.")
@click.option("--seed", type=int, metavar="N", help="Of everything random.")
@options.outputs
def demo(*, model: str | None, seed: int | None, output: tuple[Path, ...], as_json: bool) -> int:
    """Ask the embedded model, certify its answers, choose a condition, write a page.

    Without `-o` the page is trueness-demo.html in the current folder.
    """
    from trueness.study import demo as job

    paths = output or (Path("trueness-demo.html"),)
    _output.check_paths(paths)
    if not as_json:
        _output.show(_STORY + "\n")
    done = job.run(**options.given({"model": model, "seed": seed}))
    _output.write_readings(
        done.readings,
        paths,
        title="Answers of the embedded model, certified without a key",
        columns=SHOWN,
        decisions=(done.decision,),
    )
    _output.show_readings(done.readings, as_json=as_json, columns=SHOWN, decisions=(done.decision,))
    return of_readings(done.readings.values())
