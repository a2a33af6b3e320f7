"""``trueness study``: an experiment declared as data, and the file that it leaves."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trueness.cli import options
from trueness.cli import output as _output
from trueness.cli.exits import Exit
from trueness.cli.verb import Verb

if TYPE_CHECKING:
    from trueness.contract.blocks import Table
    from trueness.study.declarations import Declaration
    from trueness.study.results import Result

_FOLDER = Path("results")
_MOST_SHOWN = 12
_SHOWN = {
    "name": "contrast",
    "estimate": "estimate",
    "low": "low",
    "high": "high",
    "p_holm": "p (Holm)",
    "n": "n",
    "beyond": "beyond",
    "open": "open",
    "state": "state",
    "where": "where",
}
"""Fields of a contrast that are printed, where it has them."""


@click.command(cls=Verb, short_help="Run a declared experiment; it leaves one result file.")
@click.argument("name", metavar="[ID]", required=False)
@click.option("--list", "listed", is_flag=True, help="Show every study, its needs and estimate.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="At most N repeats, or N groups of data: quick, and marked partial.",
)
@click.option(
    "--data",
    type=options.existing_file(),
    help="Claims of your own: claim, evidence, label, group.",
)
@click.option("--embedder", metavar="NAME", help="As for ground; the declared one when left out.")
@click.option("--model", metavar="NAME", help="As for ask; the declared one when left out.")
@click.option("--second-model", metavar="NAME", help="Where a study compares two.")
@click.option("--world", type=click.Choice(["synthetic"]), help="A made world in place of data.")
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Of everything random.")
@options.outputs
def study(
    name: str | None,
    *,
    listed: bool,
    dry_run: bool,
    limit: int | None,
    seed: int | None,
    output: tuple[Path, ...],
    as_json: bool,
    **swapped: Any,
) -> int:
    """Run the study ID and write its result, with commit, seed, intervals and cost.

    The result is the first .json of -o, results/ID.json when there is none, and with --limit
    results/ID.partial.json; TRUENESS_LOG_DIR names another folder. Other files of -o show it: a
    page, Markdown.

    What decides was declared beforehand, and the declaration's hash is in the result. A study that
    refutes its question has done its work: exit 0. One that does not apply to this model,
    or whose model is not there: exit 5.
    """
    from trueness import report
    from trueness.contract.errors import BackendError, MissingExtraError
    from trueness.contract.serial import dumps
    from trueness.study.carrying_out import carry_out, planned_repeats
    from trueness.study.declarations import declared_studies, declared_study
    from trueness.study.drawing import reading_of
    from trueness.study.inputs import Inputs
    from trueness.study.results import Outcome, write_result

    if listed == (name is not None):
        msg = "give either the ID of a study, or --list."
        raise click.UsageError(msg)
    if name is None:
        known = [_line(declared_study(each)) for each in declared_studies()]
        _output.show(dumps(known, indent=2) if as_json else "\n".join(map(_described, known)))
        return Exit.DONE
    declaration = declared_study(name)
    if dry_run:
        plan = _planned(declaration, planned_repeats(declaration, limit))
        _output.show(dumps(plan, indent=2) if as_json else "\n".join(_words(plan)))
        return Exit.DONE
    _output.check_paths(output)
    path, *shown = _paths(name, output, partial=limit is not None)
    inputs = Inputs(**swapped)
    _output.check_inputs((path, path.with_suffix(".table.jsonl")), (inputs.data,))
    _output.check_writable((path, *shown))
    try:
        carried = carry_out(name, inputs=inputs, seed=seed, limit=limit, progress=_output.note)
    except (BackendError, MissingExtraError) as error:
        _output.note(f"Error: {error}")
        return Exit.NOTHING_MEASURED
    result = carried.result
    write_result(result, path, table=carried.table)
    _output.note(f"wrote {path}")
    reading = reading_of(result)
    _output.write_readings(
        {name: reading}, shown, title=f"{result.mark}{name}: {declaration.question}"
    )
    applies = result.reading.outcome is not Outcome.NOT_APPLICABLE
    done = Exit.DONE if applies else Exit.NOTHING_MEASURED
    if as_json:
        _output.show(dumps(result.to_dict(), indent=2))
        return done
    table = report.block_text(_contrasts(result), width=_output.width(), color=_output.in_color())
    _output.show(f"{_sentence(result, declaration)}\n\n{table}")
    return done


def _paths(name: str, output: tuple[Path, ...], *, partial: bool) -> list[Path]:
    """Where the result goes, and after it the files that show it."""
    results = [path for path in output if path.suffix.lower() == ".json"]
    ending = ".partial.json" if partial else ".json"
    first = results[0] if results else (_output.log_dir() or _FOLDER) / f"{name}{ending}"
    return [first, *(path for path in output if path != first)]


def _line(declaration: "Declaration") -> dict[str, object]:
    return {
        "id": declaration.id,
        "question": declaration.question,
        "needs": list(declaration.requires),
        "repeats": declaration.repeats,
        "seconds": declaration.seconds,
        "requests": declaration.requests,
    }


def _described(line: dict[str, object]) -> str:
    needs = line["needs"]
    words = ", ".join(map(str, needs)) if isinstance(needs, list) and needs else "nothing"
    return f"{line['id']}: {line['question']}\n  needs {words}; about {line['seconds']:g} s"


def _planned(declaration: "Declaration", repeats: int) -> dict[str, object]:
    share = repeats / declaration.repeats
    return {**_line(declaration), "repeats": repeats, "seconds": round(share * declaration.seconds)}


def _words(plan: dict[str, object]) -> list[str]:
    cost = f"{plan['requests']} requests, about {plan['seconds']} s"
    return [
        f"{plan['id']}: {plan['question']}",
        f"{plan['repeats']} repeats of each row, {cost}",
    ]


def _sentence(result: "Result", declaration: "Declaration") -> str:
    if not result.reading.expressions:
        return f"not applicable: {result.notes[0] if result.notes else 'see its notes'}"
    marks = [] if result.citable else ["not citable"]
    marks += ["partial"] if result.partial else []
    marks += ["code differs from its commit"] if result.dirty else []
    marks += ["no commit known"] if result.commit is None else []
    said = f" ({', '.join(marks)})" if marks else ""
    filled = [n for n in result.notes[:1] if declaration.says(result.reading.outcome.value)]
    head = f"{result.mark}{result.reading.outcome.value}{said} — {declaration.question}"
    return "\n".join((head, *filled))


def _contrasts(result: "Result") -> "Table":
    from trueness.contract.blocks import Table

    given = [key for key in _SHOWN if any(key in record for record in result.contrasts)]
    rows = tuple(tuple(_cell(record.get(key)) for key in given) for record in result.contrasts)
    names = tuple(_SHOWN[key] for key in given)
    return Table(f"{result.mark}The declared contrasts", names, rows, len(rows))


def _cell(value: object) -> str:
    """A field of a contrast as it is read."""
    if isinstance(value, list):
        named = ", ".join(map(str, value[:_MOST_SHOWN]))
        return named + (" …" if len(value) > _MOST_SHOWN else "")
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else str(value)
