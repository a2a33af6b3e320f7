"""A study from its declaration to its record."""

import time

from trueness.contract.errors import InputError
from trueness.contract.serial import Json, plain
from trueness.study import provenance
from trueness.study.declarations import Declaration, declared_study
from trueness.study.expressions import evaluate
from trueness.study.found import Found
from trueness.study.results import SCHEMA, Decisive, Outcome, Record, Result
from trueness.study.runners import Progress, runner_of


def carry_out(
    name: str,
    *,
    seed: int | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """Run a study that comes along; its record.

    Parameters
    ----------
    name : str
    seed : int, optional
        The declared one when left out.
    limit : int, optional
        At most so many repeats; fewer than declared makes the result partial.
    progress : callable, optional
        Is told what comes next.

    Raises
    ------
    InputError
        If there is no such study, or a limit or seed below its least.
    """
    declaration = declared_study(name)
    seeded = declaration.seed if seed is None else seed
    repeats = planned_repeats(declaration, limit)
    if seeded < 0:
        msg = f"the seed is {seeded}; wanted a whole number from 0 on."
        raise InputError(msg)
    code = provenance.code_of()
    start = time.monotonic()
    found = runner_of(name)(declaration, seed=seeded, repeats=repeats, progress=progress)
    seconds = round(time.monotonic() - start, 1)
    contrasts = _contrasts(declaration, found)
    return Result(
        study=name,
        declaration_sha256=declaration.sha256,
        schema=SCHEMA,
        commit=code.commit,
        dirty=code.dirty,
        partial=repeats < declaration.repeats,
        versions=provenance.versions(),
        utc=provenance.now(),
        machine=provenance.machine(),
        model=None,
        seeds=(seeded,),
        draws=found.draws,
        rows=found.rows,
        contrasts=contrasts,
        published=found.published,
        reading=decide(declaration, {"contrasts": contrasts, "draws": found.draws}),
        cost=_cost(found, seconds),
        notes=found.notes,
    )


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
    outcome = Outcome.UNRESOLVED
    if supported.holds != refuted.holds:
        outcome = Outcome.SUPPORTED if supported.holds else Outcome.REFUTED
    return Decisive(outcome, (supported, refuted))


def _contrasts(declaration: Declaration, found: Found) -> tuple[Record, ...]:
    return tuple(
        {
            "name": c.name,
            "a": c.a,
            "b": c.b,
            "statistic": c.statistic,
            "unit": c.unit,
            "primary": c.primary,
            **found.contrasts[c.name],
        }
        for c in declaration.contrasts
    )


def _cost(found: Found, seconds: float) -> dict[str, Json]:
    return {
        "seconds": seconds,
        "forwards": found.forwards,
        "requests": found.requests,
        "peak_megabytes": provenance.peak_megabytes(),
    }
