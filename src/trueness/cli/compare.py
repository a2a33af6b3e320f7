"""``trueness compare``: what repeated answers agree about, before and after."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trueness.cli import options
from trueness.cli import output as _output
from trueness.cli.exits import of_readings
from trueness.cli.verb import Verb

if TYPE_CHECKING:
    from trueness.api.sensitivity import Sensitivity, Verdicts
    from trueness.contract import Reading
    from trueness.contract.blocks import Block

SENSOR = "atlas"
SHOWN = {"verdict": "Verdict", "p_holm": "p (Holm)"}


class Whole(click.ParamType[tuple[int, ...]]):
    """Whole numbers with commas: 2,3,4."""

    name = "orders"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """The numbers, or a usage error."""
        try:
            return tuple(int(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} are no whole numbers with commas, such as 2,3,4.", param, ctx)


@click.command(cls=Verb, short_help="What repeated answers agree about; two checkpoints compared.")
@click.argument("before", type=options.existing_log())
@click.argument("after", nargs=-1, type=options.existing_log())
@options.columns
@options.extraction
@click.option("--only", metavar="NAME", help="The condition whose draws are compared.")
@click.option("--orders", type=Whole(), metavar="R,…", help="Draws that agree.  [default: 2,3,4]")
@click.option(
    "--margin",
    type=options.Finite(0, 1, min_open=True, max_open=True),
    help="Largest change that counts as none.  [default: 0.10]",
)
@click.option("--level", type=options.Finite(0.5, 1, max_open=True), help="[default: 0.95]")
@click.option("--greedy-before", metavar="NAME", help="Condition with the greedy answers.")
@click.option("--greedy-after", metavar="NAME", help="The same of AFTER.")
@click.option(
    "--allow-differ",
    multiple=True,
    metavar="FIELD",
    help="A protocol field in which the two may differ; may be repeated.",
)
@click.option("--min-overlap", type=options.Finite(0, 1, min_open=True), help="[default: 0.9]")
@click.option("--first", type=click.IntRange(min=1), metavar="K", help="Only the first K draws.")
@click.option("--strict", is_flag=True, help="Half the error rate for every clause.")
@click.option(
    "--none-classes",
    type=click.Choice(["one", "by_reason"]),
    help="Whether all answers that are none are one class (the default).",
)
@click.option(
    "--votes",
    type=click.Choice(["votes", "abstains"]),
    help="Whether no answer is a candidate in a vote (the default).",
)
@click.option(
    "--sequential",
    type=click.Choice(["shuffled", "as_drawn"]),
    help="Also watch item by item, for those who stop early; items in the file's own order only "
    "if that was drawn at random before looking.",
)
@click.option(
    "--near",
    type=options.Finite(min=0),
    metavar="X",
    help="Where numbers of one pass were recorded: pairs of conditions nearer than X in all of "
    "them, not only equal ones.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Of bootstrap and permutations.")
@click.option("--replicates", type=click.IntRange(min=100), help="[default: 10000]")
@click.option(
    "--sensitivity", is_flag=True, help="Also under every other extractor: does the verdict hold?"
)
@click.option(
    "--fail-on",
    metavar="VERDICT,…",
    help="Exit 1 when the verdict is one of these.",
)
@click.option("--full", is_flag=True, help="Print every block, the verdict clause by clause too.")
@options.outputs
def compare(
    before: Path,
    after: tuple[Path, ...],
    *,
    only: str | None,
    sensitivity: bool,
    fail_on: str | None,
    full: bool,
    output: tuple[Path, ...],
    as_json: bool,
    **typed: Any,
) -> int:
    """Compare repeated answers BEFORE and AFTER, paired on the item.

    Reads our tables, CSV, JSON lines, Parquet, and the logs of inspect_ai,
    lm-evaluation-harness, OpenAI evals, HELM and simple-evals. With one file: the atlas of that
    file. With several AFTER files each is a contrast, corrected for their number.

    The verdict is unresolved unless the data decide. Exits 5 when nothing could be measured.
    """
    from trueness import api
    from trueness.api.asserting import verdict

    _output.check_paths(output)
    verdicts = _verdicts(fail_on, pairs=bool(after))
    reading = options.reading(typed)
    params = {k: v for k, v in options.given(typed).items() if k not in reading}
    params |= {"only": only} if only else {}
    title = " → ".join(p.name for p in (before, *after))
    found: Mapping[str, Reading]
    if not after:
        found = api.measure_each(SENSOR, before, **reading, **params)
        found = {"": next(iter(found.values()))} if len(found) == 1 else found
    elif len(after) == 1:
        found = {"": api.compare(before, after[0], sensor=SENSOR, **reading, **params)}
    else:
        names = dict(zip(_names(after), after, strict=True))
        found = api.compare_each(before, names, sensor=SENSOR, **reading, **params)
    others = _sensitivity(before, after, reading | params, tuple(found)) if sensitivity else {}
    found = {name: _with_others(one, others.get(name)) for name, one in found.items()}
    checks = tuple(verdict(name, one, verdicts) for name, one in found.items() if verdicts)
    _output.write_readings(found, output, title=title, columns=SHOWN, checks=checks)
    shown = found if full or as_json else {name: _short(one) for name, one in found.items()}
    _output.show_readings(shown, as_json=as_json, full=full, columns=_columns(found))
    if len(found) > 1 and not as_json:
        for name, other in others.items():
            _show_blocks(other.blocks(), f"\n[{name}]" if after else "")
    for check in checks:
        if check.outcome != "passed":
            _output.note(f"{check.reading or title}: {check.message}")
    return of_readings(found.values(), checks)


def _sensitivity(
    before: Path, after: tuple[Path, ...], given: dict[str, Any], names: tuple[str, ...]
) -> dict[str, "Sensitivity | Verdicts"]:
    """What other extractors would have said, by the reading that it stands with."""
    from trueness.api.sensitivity import sensitivity, verdicts

    if not after:
        how = {k: v for k, v in given.items() if k in {*options.EXTRACTION, *options.NAMES}}
        return {names[0]: sensitivity(before, **how)}
    return {
        name: verdicts(before, path, sensor=SENSOR, **given)
        for name, path in zip(names, after, strict=True)
    }


def _with_others(reading: "Reading", others: "Sensitivity | Verdicts | None") -> "Reading":
    """A reading with what other extractors would have said, in its details and at its end."""
    from dataclasses import replace

    if others is None:
        return reading
    details = {**reading.details, "sensitivity": others.to_dict()}
    return replace(reading, details=details, blocks=(*reading.blocks, *others.blocks()))


def _show_blocks(blocks: "Sequence[Block]", heading: str) -> None:
    from trueness import report

    wide, color = _output.width(), _output.in_color()
    text = "\n".join(report.block_text(b, width=wide, color=color) for b in blocks)
    _output.show(f"{heading}\n{text}")


def _short(reading: "Reading") -> "Reading":
    """The reading without what takes a page to read; files and ``--full`` have all of it."""
    from dataclasses import replace

    from trueness.contract.blocks import Clauses, Curve, SimplexArrows

    long = (Clauses, Curve, SimplexArrows)
    return replace(
        reading, blocks=tuple(block for block in reading.blocks if not isinstance(block, long))
    )


def _names(paths: tuple[Path, ...]) -> list[str]:
    short = [p.name for p in paths]
    return short if len(set(short)) == len(short) else [str(p) for p in paths]


def _columns(found: Mapping[str, "Reading"]) -> dict[str, str]:
    return {"p_holm": "p (Holm)"} if any("p_holm" in r.details for r in found.values()) else {}


def _verdicts(fail_on: str | None, *, pairs: bool) -> tuple[str, ...]:
    """The verdicts that fail, or an error that names those there are."""
    from trueness.api.asserting import words
    from trueness.contract.errors import InputError
    from trueness.stats.verdicts import VERDICTS

    if fail_on is None:
        return ()
    names = words(fail_on, VERDICTS, name="--fail-on", what="verdicts")
    if not pairs:
        msg = "--fail-on needs a verdict, and one file alone has none. Give BEFORE and AFTER."
        raise InputError(msg)
    return names
