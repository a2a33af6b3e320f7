"""Kinds of claims that no threshold on a measure catches: they go to a person, unless checked."""

import json
import os
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from trueness.api.labelling import CLAIMS
from trueness.api.readings import is_reading
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


def flags_of(
    source: object,
    *,
    sensor: str,
    kind: str | None,
    relation_check: str | None,
    given: Mapping[str, Any],
) -> dict[str, tuple[str, ...]]:
    """Why claims go to a person, by item; nothing where no column of kinds is named.

    Parameters
    ----------
    source : path, data frame, list of dicts or table
    sensor, kind, relation_check :
        As in `kind_routes`.
    given : mapping
        How the table is read, among whatever else.

    Raises
    ------
    InputError
        When a check stands without kinds, or the source is a reading, which has no columns.
    """
    if kind is None:
        if relation_check is not None:
            msg = "a relation check stands beside a kind; name the column of kinds as well."
            raise InputError(msg)
        return {}
    if is_reading(source):
        msg = f"the column {kind!r} of kinds is read from the table of claims; hand in the table."
        raise InputError(msg)
    columns = {name: given[name] for name in CLAIMS if given.get(name) is not None}
    return kind_routes(
        source, sensor=sensor, kind=kind, relation_check=relation_check, columns=columns
    )


def kind_routes(
    source: object,
    *,
    sensor: str,
    kind: str,
    relation_check: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> dict[str, tuple[str, ...]]:
    """Flags for the claims of a table that are of a blind kind and were not checked.

    Parameters
    ----------
    source : path, data frame, list of dicts or table
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


def _column(extras: Mapping[str, Column[str]], name: str, source: object) -> Column[str]:
    if name not in extras:
        known = ", ".join(sorted(extras)) or "none"
        table = Path(source).name if isinstance(source, (str, os.PathLike)) else "the table"
        msg = f"{table} has no column {name!r} beside its claims; it has {known}. Name one."
        raise InputError(msg)
    return extras[name]
