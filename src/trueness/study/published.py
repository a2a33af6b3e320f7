"""Figures that others printed, beside what a study found; never called reproduced or refuted."""

from collections.abc import Mapping

from trueness.contract.errors import InputError
from trueness.contract.serial import Json, plain
from trueness.study.declarations import Declaration
from trueness.study.expressions import look_up
from trueness.study.results import Record

_ANOTHER = "another model or other texts: not comparable"


def published_of(declaration: Declaration, found: Mapping[str, object]) -> tuple[Record, ...]:
    """Every declared figure with ours, where the same place was measured here.

    A figure of another model is not comparable: whether it agrees is left open.

    Parameters
    ----------
    declaration : Declaration
        Its ``[[published]]`` tables: figure, value, source, model, ``at``, the path of ours, and
        ``why`` the two cannot be compared.
    found : mapping
        ``rows`` and more, as they stand in the result.

    """
    document = plain(found)
    return tuple(_figure(entry, document) for entry in declaration.raw.get("published", ()))


def _figure(entry: Mapping[str, Json], document: Json) -> Record:
    where = entry.get("at")
    ours = _at(document, str(where)) if where else None
    return {
        "figure": entry["figure"],
        "value": entry["value"],
        "source": entry["source"],
        "model": entry.get("model"),
        "ours": ours,
        "at": where,
        "comparable": False,
        "agrees": None,
        "why": entry.get("why") or ("not measured here" if ours is None else _ANOTHER),
    }


def _at(document: Json, path: str) -> Json:
    """What stands at a path; None where this run, on other inputs, has no such field."""
    try:
        return look_up(document, path)
    except InputError:
        return None
