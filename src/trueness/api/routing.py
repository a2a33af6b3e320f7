"""Kinds of claims that no threshold on a measure catches: they go to a person, unless checked."""

import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from trueness.contract.errors import InputError
from trueness.table.column import Column
from trueness.table.evidence_reading import read_evidence

PASSED = "passed"
"""What a column of relation checks says of a claim whose relation was checked and holds."""


def blind_kinds(sensor: str) -> tuple[str, ...]:
    """Kinds whose wrong claims a gate on this measure accepted at more than twice its budget.

    Parameters
    ----------
    sensor : str

    Raises
    ------
    InputError
        When no study has looked at the measure.

    Examples
    --------
    >>> "polarity" in blind_kinds("energy")
    True
    """
    source = resources.files("trueness").joinpath("data", "policies", "blind_kinds.json")
    found: Mapping[str, list[str]] = json.loads(source.read_text("utf-8"))["kinds"]
    if sensor not in found:
        msg = (
            f"no study says to which kinds of claims {sensor} is blind; known are those of "
            f"{', '.join(found)}. Leave the column of kinds out."
        )
        raise InputError(msg)
    return tuple(found[sensor])


def kind_routes(
    source: Path,
    *,
    sensor: str,
    kind: str,
    relation_check: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> dict[str, tuple[str, ...]]:
    """Flags for the claims of a table that are of a blind kind and were not checked.

    Parameters
    ----------
    source : Path
    sensor : str
        Whose blind kinds.
    kind : str
        Column with the kind of each claim; kinds that no study names are no reason.
    relation_check : str, optional
        Column that says ``passed`` where the relation was checked and holds.
    columns : mapping of str to str, optional
        Names of the columns ``claim``, ``evidence``, ``item``, ``group`` and ``label``.

    Raises
    ------
    InputError
        When a column is not there, or no study has looked at the measure.
    """
    blind = frozenset(blind_kinds(sensor))
    named: dict[str, Any] = dict(columns or {})
    table = read_evidence(source, **named)
    kinds = _column(table.extras, kind, source)
    checks = None if relation_check is None else _column(table.extras, relation_check, source)
    return {
        str(table.item[row]): (f"no threshold catches this kind: {kinds[row]}",)
        for row in range(len(table))
        if kinds[row] in blind and (checks is None or checks[row] != PASSED)
    }


def _column(extras: Mapping[str, Column[str]], name: str, source: Path) -> Column[str]:
    if name not in extras:
        known = ", ".join(sorted(extras)) or "none"
        msg = f"{source.name} has no column {name!r} beside its claims; it has {known}. Name one."
        raise InputError(msg)
    return extras[name]
