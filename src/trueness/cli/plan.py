"""``trueness plan``: how many items and draws a question needs."""

from pathlib import Path
from typing import Any

import click

from trueness.cli import options
from trueness.cli import output as _output
from trueness.cli.verb import Verb

GOALS = ("difference", "equivalence", "mcnemar", "item", "auroc", "ceiling")
_SHARE = options.Finite(0, 1, min_open=True, max_open=True)


@click.command(cls=Verb, short_help="How many items and draws a comparison needs.")
@click.argument("pilot", nargs=-1, type=options.existing_log())
@click.option("--goal", type=click.Choice(GOALS), required=True, help="What should be shown.")
@click.option("--effect", type=_SHARE, help="difference: the mean change.  [default: 0.10]")
@click.option("--margin", type=_SHARE, help="equivalence: the margin.  [default: 0.10]")
@click.option("--regress", type=options.Finite(0, 1), help="mcnemar: share that gets worse.")
@click.option("--improve", type=options.Finite(0, 1), help="mcnemar: share that gets better.")
@click.option("--auroc", type=_SHARE, help="auroc: the value to tell from one half.")
@click.option("--width", type=_SHARE, help="ceiling: how far above the estimate it may lie.")
@click.option("--power", type=_SHARE, default=0.8, show_default=True)
@click.option("--level", type=_SHARE, default=0.95, show_default=True, help="1 - alpha.")
@click.option("--budget", type=options.Finite(0, min_open=True), help="Cost of one arm.")
@click.option("--cost-item", type=options.Finite(0), default=0.0, show_default=True)
@click.option("--cost-draw", type=options.Finite(0, min_open=True), default=1.0, show_default=True)
@click.option(
    "--allow-differ",
    multiple=True,
    metavar="FIELD",
    help="A pilot's arms may differ in this field of the protocol; may be repeated.",
)
@options.columns
@options.extraction
@click.option("--json", "as_json", is_flag=True, help="Print strict JSON.")
def plan(
    pilot: tuple[Path, ...],
    *,
    goal: str,
    power: float,
    level: float,
    budget: float | None,
    cost_item: float,
    cost_draw: float,
    allow_differ: tuple[str, ...],
    as_json: bool,
    **typed: Any,
) -> None:
    """Say how many items and draws are needed, from assumptions or from a PILOT (before, after).

    Every assumption is named. With `--budget` and a pilot: more items, or more draws of each?
    """
    from trueness import report
    from trueness.api.planning import plan as planned
    from trueness.contract.serial import dumps
    from trueness.study.planned import Goal

    if len(pilot) not in {0, 2}:
        msg = f"{len(pilot)} file given; a pilot has two: BEFORE and AFTER."
        raise click.UsageError(msg)
    wanted = ("effect", "margin", "regress", "improve", "auroc", "width")
    said = {k: v for k, v in typed.items() if k in wanted}
    found = planned(
        Goal(goal, alpha=round(1 - level, 12), power=power, **said),
        (pilot[0], pilot[1]) if pilot else None,
        budget=budget,
        cost_item=cost_item,
        cost_draw=cost_draw,
        allow_differ=allow_differ,
        **options.reading(typed),
    )
    if as_json:
        _output.show(dumps(found.to_dict(), indent=2))
        return
    wide, color = _output.width(), _output.in_color()
    parts = [report.block_text(b, width=wide, color=color) for b in found.blocks()]
    _output.show("\n".join(parts))
