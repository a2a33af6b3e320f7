"""What is declared about the answers of a table, in the keys of that table."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from trueness.api.answers import COLUMNS, EXTRACTION, VIEWS, read
from trueness.api.asking import find_relation
from trueness.contract.errors import InputError
from trueness.sensors.orbits import Declaration
from trueness.study.declared import declared_by
from trueness.table import AnswerTable, Relation

_FIELDS = frozenset(f.name for f in fields(Declaration))
_READING = COLUMNS | {*EXTRACTION, VIEWS}


def prepared(source: object, given: dict[str, Any]) -> tuple[AnswerTable, Declaration]:
    """The keyed table, and what was declared about it."""
    given = {k: v for k, v in given.items() if v is not None}
    file = given.pop("relation_file", None)
    unknown = sorted(set(given) - _FIELDS - _READING)
    if unknown:
        msg = (
            f"{unknown[0]!r} is neither a column nor part of a declaration. Columns are "
            f"{', '.join(sorted(COLUMNS))}; a declaration has {', '.join(sorted(_FIELDS))}."
        )
        raise InputError(msg)
    reading = {k: v for k, v in given.items() if k in _READING}
    table = read(source, **reading)
    words = {k: v for k, v in given.items() if k in _FIELDS}
    if file is None:
        return table, Declaration(**words)
    relation = find_relation(file)
    return declared_by(_overridden(table, relation, words), relation, words)


def _overridden(table: AnswerTable, relation: Relation, words: Mapping[str, Any]) -> AnswerTable:
    if "relation" in words:
        _check_kind(relation, str(words["relation"]))
    if not words:
        return table
    note = f"declared by hand, not by the relation file {relation.name!r}: {', '.join(words)}."
    return replace(table, notes=(*table.notes, note))


def _check_kind(relation: Relation, said: str) -> None:
    if said == "injective" and relation.kind != "injective":
        msg = (
            f"relation is declared injective and the relation file {relation.name!r} is of kind "
            f"{relation.kind!r}. Leave one of the two out."
        )
        raise InputError(msg)
