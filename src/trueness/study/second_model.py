"""The same study of two models: the first decides, the second stands beside it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps

from trueness.contract.errors import BackendError, InputError, MissingExtraError
from trueness.contract.serial import Json
from trueness.study.asked import not_applicable
from trueness.study.carrying_out import ONE_MODEL, decide, primary_holm
from trueness.study.declarations import Declaration
from trueness.study.found import Found
from trueness.study.results import Record
from trueness.study.task import Task

SECOND = "second_model"
"""Where a contrast, and what was drawn, say the same of the second model."""
_PREFIX = "second_"

Run = Callable[[Task], Found]


def with_second_model(run: Run) -> Run:
    """A runner that can be given a second model, and asks it what it asked the first.

    One result says both: see `joined`.

    Parameters
    ----------
    run : callable
        From a task without a second model to what is found.
    """

    @wraps(run)
    def both(task: Task) -> Found:
        name = task.inputs.second_model
        alone = replace(task.inputs, second_model=None)
        if name is None:
            return run(task)
        first = run(replace(task, inputs=alone))
        task.say(f"the same of the second model {name}")
        other = replace(task, inputs=replace(alone, model=name))
        try:
            second = run(other)
        except (BackendError, InputError, MissingExtraError) as error:  # the first is not lost
            second = not_applicable(other, str(error))
        if second.not_applicable is not None:
            task.say(f"the second model was not asked: {second.not_applicable}")
        told = task.inputs.given()["second_model"]  # a file without its folder
        return joined(task.declaration, first, second, name=str(told))

    return both


def joined(declaration: Declaration, first: Found, second: Found, *, name: str) -> Found:
    """What was found of two models in one record; what was declared decides on the first alone.

    Rows of both carry ``model``; those of the second are named ``second_…``. Each contrast holds
    the second model's under ``second_model``, corrected within that model; what the declared
    expressions would say of it stands in ``draws.second_model``. None of it is primary.

    Parameters
    ----------
    declaration : Declaration
    first, second : Found
    name : str
        Of the second model, for where it has said none.

    Raises
    ------
    InputError
        Where both are one model.
    """
    if first.not_applicable is not None:
        return first
    names = [str((found.model or {"model": name}).get("model")) for found in (first, second)]
    if _is_one(first.model, second.model):
        raise InputError(ONE_MODEL.format(names[1]))
    if names[0] == names[1]:
        names[1] = f"{names[1]} (second)"
    seconds = _corrected(declaration, second)
    read = _read(declaration, second, seconds)
    said = f"second model {names[1]}: {read['reading']} by the same expressions; it decides nothing"
    return replace(
        first,
        rows=(*_tagged(first.rows, names[0]), *_tagged(second.rows, names[1], _PREFIX)),
        contrasts={
            name: {**record, SECOND: dict(seconds.get(name, {}))}
            for name, record in first.contrasts.items()
        },
        draws={**first.draws, SECOND: read},
        notes=(*first.notes, said, *(f"second model: {note}" for note in second.notes)),
        spent=first.spent + second.spent,
        model={**(first.model or {}), SECOND: dict(second.model or {})},
        protocols=(*first.protocols, *_tagged(second.protocols, names[1])),
        table=(*_tagged(first.table, names[0]), *_tagged(second.table, names[1])),
    )


def _is_one(first: Record | None, second: Record | None) -> bool:
    """Whether two identities are of one model: all of it, or the file that both were read from.

    What scripted models read is what they are told, which may be the same for two that differ.
    """
    if first is None or second is None:
        return False
    keys = ("backend", "file_hash")
    weights = first.get("file_hash") is not None and first.get("backend") != "scripted"
    return first == second or (weights and all(first.get(k) == second.get(k) for k in keys))


def of_model(records: tuple[Record, ...], name: str | None) -> tuple[Record, ...]:
    """The rows of one model, as they were before they were joined; all, where no model is named."""
    if name is None or all("model" not in record for record in records):
        return records
    ours = (record for record in records if record.get("model") == name)
    return tuple({k: v for k, v in record.items() if k != "model"} for record in ours)


def _tagged(records: tuple[Record, ...], model: str, prefix: str = "") -> tuple[Record, ...]:
    return tuple(
        {
            **record,
            **({"name": f"{prefix}{record['name']}"} if prefix and "name" in record else {}),
            "model": model,
        }
        for record in records
    )


def _corrected(declaration: Declaration, found: Found) -> dict[str, Record]:
    """Its contrasts, with Holm's p over those that are primary on the first."""
    adjusted = primary_holm(declaration, found.contrasts)
    return {
        name: {**record, **({"p_holm": adjusted[name]} if name in adjusted else {})}
        for name, record in found.contrasts.items()
    }


def _read(
    declaration: Declaration, found: Found, contrasts: Mapping[str, Record]
) -> dict[str, Json]:
    """What was drawn of it, and what the declared expressions would say."""
    drawn = dict(found.draws)
    if found.not_applicable is not None:
        return {**drawn, "reading": "not_applicable"}
    named = [{"name": name, **record} for name, record in contrasts.items()]
    outcome = decide(declaration, {"contrasts": named, "draws": drawn}).outcome
    return {**drawn, "reading": outcome.value}
