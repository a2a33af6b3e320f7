"""Kinds of claims that no threshold on a measure catches: they go to a person, unless checked."""

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from trueness.api.labelling import CLAIMS
from trueness.api.readings import is_reading
from trueness.contract.errors import InputError
from trueness.table.column import Column
from trueness.table.evidence_reading import check_names, read_evidence

PASSED = "passed"
"""What a column of relation checks says of a claim whose relation was checked and holds."""

_LISTED = 5
"""Unknown kinds that a note names."""


@dataclass(frozen=True, slots=True)
class Routes:
    """Why claims go to a person, by item, and what has to be said beside it."""

    flags: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...] = ()


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
    found = _studied()
    if sensor not in found:
        msg = (
            f"no study says to which kinds of claims {sensor} is blind; known are those of "
            f"{', '.join(found)}. Leave the column of kinds out."
        )
        raise InputError(msg)
    return tuple(found[sensor])


def _studied() -> Mapping[str, list[str]]:
    """Blind kinds by measure."""
    source = resources.files("trueness").joinpath("data", "policies", "blind_kinds.json")
    found: Mapping[str, list[str]] = json.loads(source.read_text("utf-8"))["kinds"]
    return found


def flags_of(
    source: object,
    *,
    sensor: str,
    kind: str | None,
    relation_check: str | None,
    given: Mapping[str, Any],
) -> Routes:
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
        return Routes({})
    check_names(kind=kind, relation_check=relation_check)
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
) -> Routes:
    """Flags for the claims of a table that are of a blind kind and were not checked.

    Parameters
    ----------
    source : path, data frame, list of dicts or table
    sensor : str
        Whose blind kinds.
    kind : str
        Column with the kind of each claim, in any case, its words apart or joined: ``role_swap``,
        ``Role swap``. Kinds that no study names are no reason, and are counted in a note.
    relation_check : str, optional
        Column that says ``passed`` where the relation was checked and holds.
    columns : mapping of str to str, optional
        Names of the columns ``claim``, ``evidence``, ``item``, ``group`` and ``label``.

    Raises
    ------
    InputError
        When a column is not there or names no known kind, or no study has looked at the measure.

    Examples
    --------
    >>> rows = [{"claim": "a", "evidence": ["b"], "what": "Role swap"}]
    >>> kind_routes(rows, sensor="energy", kind="what").flags
    {'1': ('no threshold catches this kind: role_swap',)}
    """
    blind = frozenset(blind_kinds(sensor))
    named: dict[str, Any] = dict(columns or {})
    table = read_evidence(source, **named)
    words = _column(table.extras, kind, source)
    checks = None if relation_check is None else _column(table.extras, relation_check, source)
    kinds = [_joined(words[row]) for row in range(len(table))]
    flags = {
        str(table.item[row]): (f"no threshold catches this kind: {kinds[row]}",)
        for row in range(len(table))
        if kinds[row] in blind and (checks is None or checks[row] != PASSED)
    }
    return Routes(flags, _strange(kinds, kind))


def _joined(kind: str | None) -> str:
    """A kind as studies write it; empty where a claim has none."""
    return "_".join((kind or "").casefold().replace("-", " ").replace("_", " ").split())


def _strange(kinds: Sequence[str], column: str) -> tuple[str, ...]:
    """What has to be said of kinds that no study names.

    Raises
    ------
    InputError
        When no claim is of a known kind: most likely it is another column, or another spelling.
    """
    known = {kind for names in _studied().values() for kind in names}
    strange = Counter(kind for kind in kinds if kind and kind not in known)
    listed = ", ".join(kind for kind, _ in strange.most_common(_LISTED)) or "nothing"
    if known.isdisjoint(kinds):
        msg = (
            f"no claim has a known kind in the column {column!r}, which says {listed}; known are "
            f"{', '.join(sorted(known))}. Write these, or leave the column of kinds out."
        )
        raise InputError(msg)
    if not strange:
        return ()
    note = (
        f"{strange.total():,} of {len(kinds):,} claims are of a kind that no study names, such as "
        f"{listed}; they go to nobody for it."
    )
    return (note,)


def _column(extras: Mapping[str, Column[str]], name: str, source: object) -> Column[str]:
    if name not in extras:
        known = ", ".join(sorted(extras)) or "none"
        table = Path(source).name if isinstance(source, (str, os.PathLike)) else "the table"
        msg = f"{table} has no column {name!r} beside its claims; it has {known}. Name one."
        raise InputError(msg)
    return extras[name]
