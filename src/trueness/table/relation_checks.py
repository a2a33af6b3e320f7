"""What a relation must fulfil before a certificate may rest on it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from trueness.contract.errors import InputError

_TEXTS = ("templates", "inverse_templates", "entities")
_KNOWN = frozenset(
    {
        "schema",
        "name",
        "kind",
        "templates",
        "inverse_templates",
        "entities",
        "golds",
        "identity",
        "capacities",
        "rows_per_entity",
        "values",
        "source",
        "notes",
    }
)


class RelationLike(Protocol):
    """The fields that are checked."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def kind(self) -> str:
        """Which declaration it makes."""

    @property
    def templates(self) -> tuple[str, ...]:
        """Questions."""

    @property
    def inverse_templates(self) -> tuple[str, ...]:
        """Questions asked back."""

    @property
    def entities(self) -> tuple[str, ...]:
        """Who is asked about."""

    @property
    def golds(self) -> tuple[tuple[str, ...], ...]:
        """Right answers."""

    @property
    def identity(self) -> Mapping[str, str | tuple[str, ...]]:
        """Whether an entity may be its own answer."""

    @property
    def capacities(self) -> Mapping[str, int] | None:
        """For how many entities an answer may be right."""

    @property
    def rows_per_entity(self) -> tuple[int, ...] | None:
        """How many right answers an entity may have."""


def fields_of(data: Mapping[str, Any], path: Path) -> dict[str, object]:
    """Arguments of a `Relation` from the object of a relation file, types checked."""
    unknown = sorted(set(data) - _KNOWN)
    if unknown:
        raise _error(str(path), f"has the unknown fields {', '.join(unknown)}", "Remove them")
    missing = [f for f in ("name", "kind", "templates", "entities") if f not in data]
    if missing:
        raise _error(str(path), f"lacks {', '.join(missing)}", "Add it")
    out: dict[str, object] = {f: _texts(data.get(f, []), f, path) for f in _TEXTS}
    for name in ("name", "kind", "source", "notes"):
        out[name] = _text(data.get(name, ""), name, path)
    out["golds"] = tuple(
        _texts(gold if isinstance(gold, list) else [gold], f"golds[{i}]", path)
        for i, gold in enumerate(_list(data.get("golds") or [], "golds", path))
    )
    out["identity"] = _identity(data.get("identity") or {}, path)
    out["capacities"] = _counts(data.get("capacities"), path)
    rows = data.get("rows_per_entity")
    if isinstance(rows, int) and not isinstance(rows, bool):
        rows = [rows] * len(data["entities"])
    out["rows_per_entity"] = None if rows is None else tuple(_list(rows, "rows_per_entity", path))
    values = data.get("values")
    if values is not None and not isinstance(values, dict):
        raise _error(str(path), f"has values {values!r}", "Write an object with type, strict, low")
    out["values"] = values
    return out


def check_relation(relation: RelationLike, kinds: Sequence[str]) -> None:
    """Raise `InputError` at the first part of a relation that cannot be meant."""
    what = f"relation {relation.name!r}"
    if relation.kind not in kinds:
        known = ", ".join(kinds)
        raise _error(what, f"is of kind {relation.kind!r}", f"Write one of {known}")
    _check_templates(relation, what)
    _check_entities(relation, what)
    _check_golds(relation, what)
    _check_rows(relation, what)
    _check_capacities(relation, what)


def _check_templates(relation: RelationLike, what: str) -> None:
    if not relation.templates:
        raise _error(what, "has no templates", "Write at least one that holds {e}")
    for slot, templates in (("{e}", relation.templates), ("{a}", relation.inverse_templates)):
        for template in templates:
            if slot not in template:
                raise _error(what, f"has the template {template!r} without {slot}", "Add it")


def _check_entities(relation: RelationLike, what: str) -> None:
    if not relation.entities:
        raise _error(what, "has no entities", "Write at least one")
    blank = [i for i, e in enumerate(relation.entities) if not e.strip()]
    if blank:
        raise _error(what, f"has a blank entity at position {blank[0]}", "Name or remove it")
    twice = [e for e, n in Counter(relation.entities).items() if n > 1]
    if twice:
        raise _error(what, f"names the entity {twice[0]!r} twice", "Remove one")
    known = set(relation.entities)
    for observable, rule in relation.identity.items():
        strangers = [] if isinstance(rule, str) else [e for e in rule if e not in known]
        if strangers or (isinstance(rule, str) and rule not in {"never", "allowed"}):
            given = strangers[0] if strangers else rule
            wanted = 'Write "never", "allowed" or a list of its entities'
            raise _error(what, f"has identity {given!r} at {observable}", wanted)


def _check_golds(relation: RelationLike, what: str) -> None:
    golds = relation.golds
    if not golds:
        return
    if len(golds) != len(relation.entities):
        given = f"has {len(golds)} golds for {len(relation.entities)} entities"
        raise _error(what, given, "Write one gold, or one list of golds, for each entity")
    for entity, gold in zip(relation.entities, golds, strict=True):
        if not gold or any(not g.strip() for g in gold):
            raise _error(what, f"has an empty gold for {entity!r}", "Fill it or drop the entity")
    if relation.kind == "injective":
        owners: dict[str, str] = {}
        for entity, gold in zip(relation.entities, golds, strict=True):
            for g in dict.fromkeys(gold):
                if g in owners:
                    given = f"is injective and {owners[g]!r} and {entity!r} share the gold {g!r}"
                    raise _error(what, given, "Declare it many_to_one or drop one of them")
                owners[g] = entity


def _check_rows(relation: RelationLike, what: str) -> None:
    rows = relation.rows_per_entity
    if rows is None:
        return
    if len(rows) != len(relation.entities):
        given = f"has {len(rows)} rows_per_entity for {len(relation.entities)} entities"
        raise _error(what, given, "Write one whole number for each entity")
    if any(type(r) is not int or r < 1 for r in rows):
        raise _error(what, f"has rows_per_entity {list(rows)}", "Write whole numbers from 1")


def _check_capacities(relation: RelationLike, what: str) -> None:
    capacities = relation.capacities
    if capacities is None or not relation.golds or relation.kind not in _MULTISET:
        return
    multiset = Counter(g for gold in relation.golds for g in set(gold))
    for answer in sorted({*multiset, *capacities}):
        if capacities.get(answer, 0) != multiset.get(answer, 0):
            given = (
                f"has capacity {capacities.get(answer, 0)} for {answer!r}, "
                f"which is the gold of {multiset.get(answer, 0)} entities"
            )
            raise _error(what, given, "Make both equal or leave the capacities out")


_MULTISET = frozenset({"many_to_one", "set_valued", "injective"})


def _identity(value: object, path: Path) -> dict[str, str | tuple[str, ...]]:
    if not isinstance(value, dict):
        wanted = 'Write {"string": "never"}, "allowed" or a list of entities'
        raise _error(str(path), f"has identity {value!r}", wanted)
    return {
        str(name): rule if isinstance(rule, str) else _texts(rule, f"identity.{name}", path)
        for name, rule in value.items()
    }


def _counts(value: object, path: Path) -> dict[str, int] | None:
    if value is None:
        return None
    if isinstance(value, dict) and all(
        isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in value.values()
    ):
        return {str(answer): n for answer, n in value.items()}
    raise _error(str(path), f"has capacities {value!r}", "Write answers with whole numbers from 0")


def _texts(value: object, where: str, path: Path) -> tuple[str, ...]:
    return tuple(_text(v, f"{where}[{i}]", path) for i, v in enumerate(_list(value, where, path)))


def _text(value: object, where: str, path: Path) -> str:
    if isinstance(value, str):
        return value
    raise _error(str(path), f"has {value!r} at {where}", "Write text there")


def _list(value: object, where: str, path: Path) -> list[Any]:
    if isinstance(value, list):
        return value
    raise _error(str(path), f"has {value!r} at {where}", "Write a list there")


def _error(what: str, given: str, remedy: str) -> InputError:
    return InputError(f"{what} {given}. {remedy}.")
