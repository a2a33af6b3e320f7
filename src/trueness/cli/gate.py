"""``trueness gate`` and ``trueness replay``: decide by a calibrated gate; derive it again."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trueness.cli import options
from trueness.cli import output as _output
from trueness.cli.exits import Exit
from trueness.cli.grounding import columns, grounded, grounding, kinds
from trueness.cli.verb import Verb

if TYPE_CHECKING:
    from trueness.contract import Decision


@click.command(cls=Verb, short_help="Accept, review or reject by a calibrated gate, with a trace.")
@click.argument("claims", type=options.existing_file())
@grounding
@click.option("--gate", "gate_file", type=options.existing_file(), required=True)
@click.option("--key", type=options.existing_file(), help="Secret that signs the trace.")
@kinds
@click.option("--fail-on", metavar="VERDICT,…", help="Exit 1 when an item gets one of these.")
@click.option("--json", "as_json", is_flag=True, help="Print the decision.")
@click.option(
    "-o",
    "--output",
    "output",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Trace to write, one decision a line (.jsonl); .html and .md also write a page. May be "
    "repeated.",
)
def gate(
    claims: Path,
    *,
    gate_file: Path,
    key: Path | None,
    kind: str | None,
    relation_check: str | None,
    fail_on: str | None,
    as_json: bool,
    output: tuple[Path, ...],
    **typed: Any,
) -> int:
    """Decide about CLAIMS by the gate file that `calibrate` wrote.

    What could not be measured is reviewed, never accepted. A reading that was made otherwise
    than the calibration's is refused.
    """
    from trueness.api.gating import gate as gate_
    from trueness.api.gating import ground_by

    failing = _verdicts(fail_on)
    path, pages = _output.apart(output, what="trace")
    how: dict[str, Any] = {"key": key, "kind": kind, "relation_check": relation_check}
    with grounded(typed) as given:
        how["trace"] = None if path is None else _output.ready(path)
        if pages:
            reading, decision = ground_by(claims, gate_file, **how, **given)
            _output.write_readings({"": reading}, pages, title=claims.name, decisions=(decision,))
        else:
            decision = gate_(claims, gate_file, **how, **given)
    _output.show(decision.to_json() if as_json else _text(decision))
    if path is not None:
        _output.note(f"wrote {path}")
    return _exit(decision, failing, claims.name)


@click.command(cls=Verb, short_help="Derive every decision of a trace again.")
@click.argument("trace", type=options.existing_file())
@click.option("--gate", "gate_file", type=options.existing_file(), required=True)
@click.option("--reading", type=options.existing_file(), help="The reading it was about.")
@click.option("--key", type=options.existing_file(), help="Secret that signed the trace.")
@click.option("--claims", type=options.existing_file(), help="Table with the column of kinds.")
@columns
@click.option("--kind", metavar="COLUMN", help="As gate was given it, beside a reading.")
@click.option("--relation-check", metavar="COLUMN", help="As gate was given it.")
@click.option("--json", "as_json", is_flag=True, help="Print strict JSON.")
def replay(trace: Path, *, gate_file: Path, as_json: bool, **given: Any) -> int:
    """Derive every decision of TRACE again from its own inputs and list what does not fit.

    Exits 1 when anything does not.
    """
    from trueness.api.replaying import replay as replay_
    from trueness.contract.serial import dumps

    found = replay_(trace, gate_file, **options.given(given))
    if as_json:
        _output.show(dumps(found.to_dict(), indent=2))
    else:
        _output.show("\n".join(_replayed(found)))
    return Exit.DONE if found.ok else Exit.ASSERTION_FAILED


def _verdicts(fail_on: str | None) -> tuple[str, ...]:
    from trueness.api.asserting import RULINGS, words

    if not fail_on:
        return ()
    return words(fail_on, RULINGS, name="--fail-on", what="verdicts")


def _exit(decision: "Decision", failing: tuple[str, ...], title: str) -> Exit:
    """A failed assertion is 1; one that items without a measurement leave open is 5."""
    from trueness.api.asserting import rulings
    from trueness.report import Outcome

    if failing:
        check = rulings(title, decision, failing)
        if check.outcome is not Outcome.PASSED:
            _output.note(f"{title}: {check.message}")
        if check.outcome is Outcome.FAILED:
            return Exit.ASSERTION_FAILED
        if check.outcome is Outcome.UNDECIDED:
            return Exit.NOTHING_MEASURED
    return Exit.DONE if decision.details.get("n_measured") else Exit.NOTHING_MEASURED


def _text(decision: Any) -> str:
    from trueness import report

    return report.decision_text(decision, width=_output.width(), color=_output.in_color())


def _replayed(found: Any) -> list[str]:
    n = found.n_problems
    lines = [f"{found.n_rows:,} decisions derived again, {n:,} problem{'' if n == 1 else 's'}."]
    lines += [f"{kind}: {count:,}" for kind, count in found.by_kind.items()]
    for problem in found.problems[:50]:
        where = "" if problem.seq is None else f"row {problem.seq}: "
        lines.append(f"- {where}{problem.kind}: {problem.detail}")
    return [*lines, *(f"note: {limit}" for limit in found.limits)]
