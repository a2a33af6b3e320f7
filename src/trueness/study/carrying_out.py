"""A study from its declaration to its record."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from trueness.backends.registry import check_model
from trueness.contract.errors import InputError
from trueness.contract.serial import Json, plain
from trueness.contract.states import State
from trueness.stats.multiplicity import holm
from trueness.study import provenance
from trueness.study.asked import not_applicable
from trueness.study.declarations import Declaration, declared_study
from trueness.study.expressions import evaluate
from trueness.study.found import Found
from trueness.study.inputs import Inputs
from trueness.study.measurable import NothingToMeasureError
from trueness.study.results import SCHEMA, Decisive, Outcome, Record, Result, outcome_of
from trueness.study.runners import runner_of
from trueness.study.saying import said
from trueness.study.task import Progress, Task

_MEASURED = State.MEASURED.value
ONE_MODEL = "the second model is {}, as the first is; name another, or leave it out."


@dataclass(frozen=True, slots=True)
class Carried:
    """A result, and the rows from which it can be computed again."""

    result: Result
    table: tuple[Record, ...]


def carry_out(
    name: str,
    *,
    inputs: Inputs | None = None,
    seed: int | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
) -> Carried:
    """Run a study that comes along; its record.

    Parameters
    ----------
    name : str
    inputs : Inputs, optional
        Data, embedder or model in place of the declared ones.
    seed : int, optional
        The declared one when left out.
    limit : int, optional
        At most so many repeats or groups of data; fewer than declared makes the result partial.
    progress : callable, optional
        Is told what comes next.

    Raises
    ------
    InputError
        If there is no such study, a limit or seed is below its least, no second model has the name
        that was given, or it is the first.
    """
    declaration = declared_study(name)
    seeded = declaration.seed if seed is None else seed
    repeats = planned_repeats(declaration, limit)
    if seeded < 0:
        msg = f"the seed is {seeded}; wanted a whole number from 0 on."
        raise InputError(msg)
    chosen = inputs or Inputs()
    _check_second(declaration, chosen)
    code = provenance.code_of()
    start = time.monotonic()
    task = Task(
        declaration=declaration, inputs=chosen, seed=seeded, repeats=repeats, progress=progress
    )
    try:
        found = runner_of(name)(task)
    except NothingToMeasureError as error:
        found = not_applicable(task, str(error))
    seconds = round(time.monotonic() - start, 1)
    contrasts = _contrasts(declaration, found)
    found = _applicable(found, contrasts)
    reading = _reading(declaration, found, contrasts)
    sentence = said(declaration, reading, {"contrasts": contrasts, "draws": found.draws})
    result = Result(
        study=name,
        declaration_sha256=declaration.sha256,
        schema=SCHEMA,
        commit=code.commit,
        dirty=code.dirty,
        partial=repeats < declaration.repeats,
        versions=provenance.versions(),
        utc=provenance.now(),
        machine=provenance.machine(),
        model=found.model,
        seeds=(seeded,),
        draws=found.draws,
        rows=found.rows,
        contrasts=contrasts,
        published=found.published,
        reading=reading,
        cost=_cost(found, seconds),
        notes=_notes(sentence, found, chosen),
        data=found.data,
        protocols=found.protocols,
    )
    return Carried(result, found.table)


def planned_repeats(declaration: Declaration, limit: int | None) -> int:
    """How many repeats a limit leaves.

    Raises
    ------
    InputError
        If the limit is below 1.
    """
    if limit is not None and limit < 1:
        msg = f"the limit is {limit}; wanted at least 1 repeat. Leave it out to run all."
        raise InputError(msg)
    return declaration.repeats if limit is None else min(limit, declaration.repeats)


def decide(declaration: Declaration, fields: object) -> Decisive:
    """What the declared expressions amount to on the fields of a result.

    Raises
    ------
    InputError
        If an expression names a field that is absent.
    """
    document = plain(fields)
    supported = evaluate(declaration.supported, document)
    refuted = evaluate(declaration.refuted, document)
    outcome = outcome_of((supported, refuted))
    lesser = () if outcome is Outcome.SUPPORTED else declaration.also
    tried = tuple(evaluate(each.when, document) for each in lesser)
    return Decisive(outcome, (supported, refuted, *tried))


def _check_second(declaration: Declaration, inputs: Inputs) -> None:
    """Refuse a second model that there is not, or that is the first, before one is asked."""
    name = inputs.second_model
    if name is None:
        return
    check_model(name)
    if name == (inputs.model or declaration.table("inputs").get("model")):
        raise InputError(ONE_MODEL.format(name))


def _applicable(found: Found, contrasts: tuple[Record, ...]) -> Found:
    """The same, or not applicable where every contrast says why it holds no number."""
    states = [c.get("state") for c in contrasts]
    known = any(c.get(name) is not None for c in contrasts for name in ("estimate", "beyond"))
    if found.not_applicable is not None or known or not all(states) or _MEASURED in states:
        return found
    reasons: dict[str, list[str]] = {}
    for c in contrasts:
        where = c.get("where")
        why = where if isinstance(where, str) and where else str(c["state"]).lower()
        reasons.setdefault(why.removeprefix("not run: "), []).append(str(c["name"]))
    said = "; ".join(f"{why} ({', '.join(names)})" for why, names in reasons.items())
    why = f"no contrast could be measured: {said}"
    return replace(found, not_applicable=why, notes=(f"{why}.", *found.notes))


def _notes(sentence: tuple[str, ...], found: Found, inputs: Inputs) -> tuple[str, ...]:
    """The declared sentence, or why there is none, before what else must be said."""
    if found.not_applicable is not None:
        return (*found.notes, *_swapped(inputs))
    return (*sentence, *_swapped(inputs), *found.notes)


def _reading(declaration: Declaration, found: Found, contrasts: tuple[Record, ...]) -> Decisive:
    if found.not_applicable is not None:
        return Decisive(Outcome.NOT_APPLICABLE, ())
    return decide(declaration, {"contrasts": contrasts, "draws": found.draws})


def _swapped(inputs: Inputs) -> tuple[str, ...]:
    """What took the place of what was declared."""
    return tuple(f"Run with {name} = {value}." for name, value in inputs.given().items())


def primary_holm(declaration: Declaration, contrasts: Mapping[str, Record]) -> dict[str, float]:
    """Holm's p by name, over the primary contrasts that have a p.

    Parameters
    ----------
    declaration : Declaration
    contrasts : mapping of name to record
        As they were found.
    """
    primary = {c.name: contrasts[c.name].get("p") for c in declaration.contrasts if c.primary}
    tested = {name: float(p) for name, p in primary.items() if isinstance(p, int | float)}
    return dict(zip(tested, map(float, holm(list(tested.values()))), strict=True))


def _contrasts(declaration: Declaration, found: Found) -> tuple[Record, ...]:
    """The declared contrasts with what was found; Holm's p over the primary ones."""
    corrected = primary_holm(declaration, found.contrasts)
    return tuple(
        {
            "name": c.name,
            "a": c.a,
            "b": c.b,
            "statistic": c.statistic,
            "unit": c.unit,
            "primary": c.primary,
            **found.contrasts[c.name],
            **({"p_holm": corrected[c.name]} if c.name in corrected else {}),
        }
        for c in declaration.contrasts
    )


def _cost(found: Found, seconds: float) -> dict[str, Json]:
    return {
        "seconds": seconds,
        **found.spent.to_dict(),
        "peak_megabytes": provenance.peak_megabytes(),
    }
