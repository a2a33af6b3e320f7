"""``trueness choose``: the condition with provably fewest answers not right, or none."""

from pathlib import Path
from typing import Any

import click

from trueness.cli import options
from trueness.cli import output as _output
from trueness.cli.certify import SHOWN
from trueness.cli.exits import Exit
from trueness.cli.verb import Verb


@click.command(cls=Verb, short_help="The condition with provably fewest not right.")
@click.argument("answers", type=options.existing_log())
@options.columns
@options.extraction
@options.ensembles
@options.declaration
@click.option("--baseline", metavar="NAME", help="The condition to beat (default: none).")
@click.option(
    "--accept-label-free",
    is_flag=True,
    help="Without an answer set: choose by paraphrases, although stable garbage would win.",
)
@click.option(
    "--min-common",
    type=options.Finite(0, 1),
    metavar="SHARE",
    help="Exclude a condition with less in common with the baseline (default: 0.9).",
)
@options.outputs
def choose(
    answers: Path,
    *,
    baseline: str | None,
    accept_label_free: bool,
    min_common: float | None,
    output: tuple[Path, ...],
    as_json: bool,
    **typed: Any,
) -> int:
    """Choose the condition of ANSWERS with provably fewest not right, or decline.

    Scores are shares proved not right plus no-answers, on slots that all conditions have. An
    answer set (`--admissible`, `--relation-file` …) makes the choice worth most. Declining is an
    answer too: exit 0. `-o` writes .html, .md or .json with readings and decision.
    """
    from trueness import api, report
    from trueness.cli.declarations import declared
    from trueness.contract import State

    _output.check_paths(output)
    columns, words = options.reading(typed), options.declaring(typed)
    asked = options.given({"baseline": baseline, "min_common": min_common})
    table, known = api.read(answers, **columns), declared(words)
    decision = api.choose(table, accept_label_free=accept_label_free, **asked, **known)
    if output:
        readings = api.certify_each(table, **known)
        _output.write_readings(
            readings, output, title=answers.name, columns=SHOWN, decisions=(decision,)
        )
    if as_json:
        _output.show(decision.to_json())
    else:
        wide, color = _output.width(), _output.in_color()
        _output.show(report.decision_text(decision, width=wide, color=color))
    return Exit.DONE if decision.state is State.MEASURED else Exit.NOTHING_MEASURED
