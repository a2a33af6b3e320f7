"""``trueness calibrate``: a threshold from an error budget."""

from pathlib import Path
from typing import Any

import click

from trueness.cli import options
from trueness.cli import output as _output
from trueness.cli.exits import Exit
from trueness.cli.grounding import grounded, grounding
from trueness.cli.verb import Verb


@click.command(cls=Verb, short_help="A threshold from an error budget.")
@click.argument("claims", type=options.existing_file())
@grounding
@click.option("--label", metavar="COLUMN", help="Column: supported or unsupported.")
@click.option("--labels", type=options.existing_file(), help="Labels by item, beside a reading.")
@click.option(
    "--positive",
    type=click.Choice(["supported", "unsupported"]),
    help="What the label 1 means.",
)
@click.option(
    "--unsupported",
    type=click.Choice(["labelled", "nearest", "random"]),
    help="Who they are: as labelled (default), or the supported claims against the nearest other "
    "source's evidence, or any.",
)
@click.option("--sensor", default="energy", show_default=True, metavar="NAME")
@click.option("--budget", required=True, metavar="X", help="Share that may be accepted wrongly.")
@click.option("--level", default="0.95", show_default=True, metavar="X", help="Confidence of that.")
@click.option(
    "--error",
    type=click.Choice(["false_acceptance", "accepted_error"]),
    help="Of the unsupported, the share accepted (default); or of the accepted, the share "
    "unsupported.",
)
@click.option(
    "--method",
    type=click.Choice(["exact", "conformal"]),
    help="With confidence (exact, the default), or on average over calibrations.",
)
@click.option(
    "--unit",
    type=click.Choice(["item", "source_one", "source_worst", "grouped_conformal"]),
    help="What is independent: items (default), or sources (source_one where --unsupported makes "
    "claims).",
)
@click.option(
    "--population",
    type=click.Choice(["measured", "all"]),
    help="Whether claims that could not be measured belong to the promise.",
)
@click.option(
    "--grid",
    metavar="X,Y,…|FILE",
    help="For accepted_error: thresholds fixed beforehand, or unlabelled claims of other sources "
    "whose quantiles they are.",
)
@click.option("--reject-budget", metavar="X", help="Share of supported rejected, at most.")
@click.option("--negatives", metavar="TEXT", help="Who the unsupported are, in words.")
@click.option("--policy", type=options.existing_file(), help="A policy as JSON.")
@click.option("--evaluate", type=options.existing_file(), help="Other sources to look at it on.")
@click.option("--seed", type=click.IntRange(min=0), help="Of everything drawn.")
@click.option("--json", "as_json", is_flag=True, help="Print the gate file.")
@click.option(
    "-o",
    "--output",
    "output",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Gate file to write; .html and .md also write a page. May be repeated.  "
    "[default: gate.json]",
)
def calibrate(claims: Path, *, output: tuple[Path, ...], as_json: bool, **typed: Any) -> int:
    """Calibrate a threshold on labelled CLAIMS, so that an error budget is kept.

    CLAIMS is a table, measured by the sensor, or a reading that `ground` or `measure` wrote.
    Refuses when there are too few claims to promise anything, and says how many are needed.
    """
    from trueness.api.gating import calibrate as calibrate_
    from trueness.contract.serial import dumps

    named, pages = _output.apart(output, what="gate file")
    path = named or Path("gate.json")
    read = (claims, *(typed[name] for name in ("labels", "policy", "evaluate", "corpus")))
    _output.check_inputs((path, *pages), read)
    with grounded(typed) as given:
        made = calibrate_(claims, **given)
    made.write(_output.ready(path))
    if pages:
        from trueness.api.gating import gate_blocks

        title = f"Calibration on {claims.name}"
        _output.write_readings({}, pages, title=title, overview=gate_blocks(made))
    if as_json:
        _output.show(dumps(made.to_dict(), indent=1))
    else:
        _output.show("\n".join(_lines(made)))
    _output.note(f"wrote {path}")
    return Exit.DONE


def _lines(made: Any) -> list[str]:
    """The promise, what the gate does elsewhere, and what must be said beside it."""
    calibration = made.calibration
    rank = calibration.to_dict()["rank"]
    lines = [
        calibration.sentence(),
        f"accept below {calibration.value_threshold:.6g}"
        if calibration.direction.value == "higher_is_worse"
        else f"accept above {calibration.value_threshold:.6g}",
    ]
    if isinstance(rank, dict):
        lines.append(_rank(rank))
    lines.append("counts: " + ", ".join(f"{k} {v}" for k, v in calibration.counts.items()))
    lines += _evaluated(calibration.to_dict()["evaluation"])
    return [*lines, *(f"note: {note}" for note in made.notes())]


def _rank(found: dict[str, Any]) -> str:
    """Which of the unsupported gave the threshold, and what that proves."""
    said = f"n: {found['n']:,}"
    if found.get("k") is not None:  # sources with several items each have no rank
        said += f", k: {found['k']:,}"
    if found.get("guarantee") is not None:
        said += f", guarantee: {found['guarantee']:.6g}"
    if found.get("expected_at_most") is not None:
        said += f", expected at most: {found['expected_at_most']:.6g}"
    return said


def _evaluated(found: Any) -> list[str]:
    """What the gate did on sources that it was not calibrated on."""
    if not isinstance(found, dict) or "supported" not in found:
        why = found.get("why") if isinstance(found, dict) else None
        return [f"not evaluated: {why or 'no other sources'}"]
    lines = [f"on other sources ({found['how']}):"]
    for who in ("supported", "unsupported"):
        shares = [f"{what} {_share(found[who][what])}" for what in found[who]]
        lines.append(f"  {who}: {', '.join(shares)}")
    price = found.get("reviewed_per_accepted")
    if price is not None:
        lines.append(f"  reviewed for each accepted: {price:.2f}")
    return lines + ([f"  {found['says']}"] if found.get("says") else [])


def _share(found: Any) -> str:
    if found["share"] is None:
        return "not measured"
    return f"{found['count']} of {found['of']} [{found['low']:.3f}, {found['high']:.3f}]"
