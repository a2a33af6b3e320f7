"""What is declared about the answers of a table, in the keys of that table."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from trueness.contract.errors import InputError
from trueness.extract import check_rule, exact_number, normalise_entity, rule_of
from trueness.sensors.orbits import Declaration, Params, slots
from trueness.table import AnswerTable, Relation

_TOKENS = "first_token"


def declared_by(
    table: AnswerTable, relation: Relation, words: Mapping[str, Any] | None = None
) -> tuple[AnswerTable, Declaration]:
    """What a relation file declares about a table, and the rows that it is about.

    Parameters
    ----------
    table : AnswerTable
    relation : Relation
    words : mapping, optional
        Fields of a `Declaration` that win over the file.
    """
    given = dict(words or {})
    if is_tokens(table) and table.target is not None:
        table = _without_inverse(table)
        return table, _declared_tokens(table, relation, given)
    return table, Declaration.from_relation(relation, **given)


def _declared_tokens(
    table: AnswerTable, relation: Relation, words: Mapping[str, Any]
) -> Declaration:
    """What a relation's golds declare about first tokens, whatever its kind.

    First tokens are neither numbers nor names, and several golds may share one: a token may be
    right for as many entities as have a gold that begins with it.
    """
    begun: dict[str, set[str]] = {}
    if table.entity is not None and table.target is not None:
        for name, keys in zip(table.entity.values(), table.target.values(), strict=True):
            if name is not None:
                begun.setdefault(name, set()).update(keys or ())
    said = relation.identity.get(_TOKENS)
    derived: dict[str, Any] = {
        "relation": "capacity",
        "entities": tuple(begun),
        "capacities": dict(Counter(key for keys in begun.values() for key in keys)),
        "closed": True,
        "rows_per_entity": {name: max(1, len(keys)) for name, keys in begun.items()},
    }
    if said is not None:
        named = () if isinstance(said, str) else tuple(map(normalise_entity, said))
        derived["identity"] = said if said == "allowed" else (*named, *own_beginnings(table))
    return Declaration(**{**derived, **words})


def own_beginnings(table: AnswerTable) -> tuple[str, ...]:
    """Entities with a right answer that begins as their own name does."""
    if table.entity is None or table.target is None or table.entity_key is None:
        return ()
    rows = zip(table.entity.values(), table.entity_key.values(), table.target.values(), strict=True)
    return tuple(dict.fromkeys(name for name, own, keys in rows if name and own in (keys or ())))


def _without_inverse(table: AnswerTable) -> AnswerTable:
    """The table without questions asked back: a first token does not tell whom it names."""
    forward = slots.forward(table)
    if len(forward) == len(table):
        return table
    note = (
        f"{len(table) - len(forward)} answers to inverse questions are not used: a first token "
        "does not tell whom it names."
    )
    return replace(forward, notes=(*forward.notes, note))


def is_tokens(table: AnswerTable) -> bool:
    """Whether first tokens are the answers."""
    return (table.extractor or "").startswith(_TOKENS)


def params_of(table: AnswerTable, declared: Declaration) -> Params:
    """The declaration in the keys of a table, whatever rules made them."""
    params = Params.of(
        declared,
        key=_key_rule(table),
        entity=lambda name: normalise_entity(name) or name,
        number=exact_number,
    )
    return _checked_names(table, params)


def _checked_names(table: AnswerTable, params: Params) -> Params:
    """The parameters, unless they name entities that the table does not have."""
    if not params.identity and not params.candidates:
        return params
    named = table.item if table.entity is None else table.entity
    known = {*named.words, *(params.entities or ())}
    there = f"entities are {', '.join(map(repr, named.words[:3]))} …"
    strangers = sorted((params.identity or frozenset()) - known)
    if strangers:
        msg = (
            f"identity names {strangers[0]!r}, which is no entity of the table; {there} Choose "
            "allowed, never, or entities that may be their own answer."
        )
        raise InputError(msg)
    strangers = sorted(set(params.candidates) - known)
    if strangers and len(strangers) == len(params.candidates):
        msg = (
            f"candidates are given for {strangers[0]!r}, and no such entity is in the table; "
            f"{there} Name entities as the table does."
        )
        raise InputError(msg)
    if not strangers:
        return params
    note = (
        f"Candidates of {len(strangers):,} that are no entities of the table, "
        f"{strangers[0]!r} first, are not used."
    )
    return replace(params, notes=(*params.notes, note))


def _key_rule(table: AnswerTable) -> Callable[[str], str | None]:
    if is_tokens(table):
        return _token_rule(table)
    rule = rule_of(table.extractor)
    return _refused(table.extractor) if rule is None else rule


def _refused(extractor: str | None) -> Callable[[str], str | None]:
    """A rule that says why there is none, once there is something to key."""

    def rule(text: str) -> str | None:
        return check_rule(extractor)(text)

    return rule


def _token_rule(table: AnswerTable) -> Callable[[str], str | None]:
    """First tokens are their own keys; any other text has none without the tokenizer."""

    def rule(text: str) -> str | None:
        return text if text.startswith("tok:") else check_rule(table.extractor)(text)

    return rule
