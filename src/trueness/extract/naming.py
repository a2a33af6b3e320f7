"""Entities and their own answer keys, by the rules that keyed a table's answers."""

from collections.abc import Callable
from dataclasses import replace

from trueness.contract.errors import InputError
from trueness.extract.entities import normalise_entities
from trueness.extract.extraction import answerer
from trueness.extract.settings import settings_of
from trueness.extract.short import short_rule
from trueness.extract.short_answers import KINDS, key_rule, short_name
from trueness.table.answers import AnswerTable

VERBATIM = "verbatim"
"""Names a table whose keys were made by hand: every text is its own key."""


def rule_of(extractor: str | None) -> Callable[[str], str | None] | None:
    """The rule from a name or a listed answer to its key; None where no rule of ours made the keys.

    For kinds that read answers out of longer texts it is the rule for golds: a marked answer, else
    the whole text.

    Parameters
    ----------
    extractor : str or None
        As a table records it.
    """
    if extractor == VERBATIM:
        return str
    for kind in KINDS:
        for fold_case in (True, False):
            if extractor == short_name(kind, fold_case=fold_case):
                return key_rule(kind, fold_case=fold_case)
    settings = None if extractor is None else settings_of(extractor)
    return None if settings is None else answerer(settings).gold


def named(table: AnswerTable) -> AnswerTable:
    """The table with its entities normalised and each entity's own answer key beside it.

    Raises
    ------
    InputError
        When two spellings are one entity or a name is blank.
    """
    if table.entity is None or table.named:
        return table
    table = replace(table, entity=normalise_entities(table.entity, table.row_number), named=True)
    if table.entity_key is not None or table.entity is None:
        return table
    rule = rule_of(table.extractor)
    if rule is None:
        return table
    return replace(table, entity_key=table.entity.map(_name_rule(table.extractor, rule)))


def _name_rule(
    extractor: str | None, rule: Callable[[str], str | None]
) -> Callable[[str], str | None]:
    """An entity's name is a whole answer: short kinds do not cut it."""
    if not (extractor or "").startswith(tuple(f"{kind}@" for kind in KINDS)):
        return rule
    return short_rule(fold_case=extractor in {short_name(kind) for kind in KINDS})


def check_rule(extractor: str | None) -> Callable[[str], str | None]:
    """The rule of `rule_of`, or an error that says why listed answers cannot be keyed."""
    rule = rule_of(extractor)
    if rule is None:
        msg = (
            f"the answers were keyed by {extractor!r}, so a list of answers cannot be compared "
            "with them here. Use a relation file whose golds were asked about, or read the table "
            "again from its completions."
        )
        raise InputError(msg)
    return rule
