"""What is asked: a relation's entities in its templates, and golds asked back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from trueness.collect.rendering import ANSWER, ENTITY, render
from trueness.contract.errors import InputError

INVERSE = "^-1"
"""Ends the relation's name in the rows of inverse questions."""


class Questionable(Protocol):
    """The part of a relation that asking needs."""

    @property
    def name(self) -> str:
        """Becomes the column ``relation``."""
        ...

    @property
    def templates(self) -> Sequence[str]:
        """Wordings with ``{e}``."""
        ...

    @property
    def inverse_templates(self) -> Sequence[str]:
        """Wordings with ``{a}``."""
        ...

    @property
    def entities(self) -> Sequence[str]:
        """Whom the questions are about."""
        ...

    @property
    def golds(self) -> Sequence[str | Sequence[str]] | None:
        """Right answers, aligned with the entities, several where there are; none: not known."""
        ...


@dataclass(frozen=True, slots=True)
class Quiz:
    """The smallest relation that can be asked."""

    name: str
    templates: tuple[str, ...]
    entities: tuple[str, ...]
    golds: tuple[str | tuple[str, ...], ...] | None = None
    inverse_templates: tuple[str, ...] = ()


def facts_of(relation: Questionable) -> dict[str, str]:
    """Entity to its first gold and back: what a scripted model is told.

    >>> facts_of(Quiz("capital", ("{e}",), ("Peru",), ("Lima",)))
    {'Peru': 'Lima', 'Lima': 'Peru'}
    """
    known = ((e, _golds(relation, i)) for i, e in enumerate(relation.entities))
    pairs = {entity: golds[0] for entity, golds in known if golds}
    back = {gold: entity for entity, gold in pairs.items() if gold not in pairs}
    return {**pairs, **back}


@dataclass(frozen=True, slots=True)
class Question:
    """One item: a name in a template.

    ``golds`` are the right answers as texts, empty where none are known.
    """

    item: str
    relation: str
    entity: str
    template: str
    prompt: str
    golds: tuple[str, ...] = ()


def questions(
    relation: Questionable,
    templates: Sequence[int] | None = None,
    *,
    inverse: bool = False,
) -> tuple[Question, ...]:
    """Every entity in every chosen template, then every distinct gold in every inverse template.

    Parameters
    ----------
    relation : Questionable
    templates : sequence of int or None
        Indices of the wordings, from 0; None means all of them.
    inverse : bool
        Whether the golds are asked back.

    Raises
    ------
    InputError
        For no entities, no templates, an index out of range, a template without its slot, or
        golds to be asked back that are not declared.
    """
    if not relation.entities or not relation.templates:
        missing = "entities" if not relation.entities else "templates"
        msg = f"relation {relation.name!r} has no {missing}; give at least one."
        raise InputError(msg)
    golds = [_golds(relation, i) for i in range(len(relation.entities))]
    found = [
        Question(
            item=f"{relation.name}|{entity}|{i}",
            relation=relation.name,
            entity=entity,
            template=relation.templates[i],
            prompt=render(relation.templates[i], entity, slot=ENTITY),
            golds=golds[e],
        )
        for i in _chosen(relation, templates)
        for e, entity in enumerate(relation.entities)
    ]
    return (*found, *(_asked_back(relation, golds) if inverse else ()))


def _asked_back(relation: Questionable, golds: Sequence[tuple[str, ...]]) -> tuple[Question, ...]:
    owners: dict[str, list[str]] = {}
    for entity, answers in zip(relation.entities, golds, strict=True):
        for answer in answers:
            owners.setdefault(answer, []).append(entity)
    if not owners or not relation.inverse_templates:
        missing = "inverse templates" if owners else "golds"
        msg = f"relation {relation.name!r} has no {missing}; asking back needs both."
        raise InputError(msg)
    return inverse_questions(relation, {answer: tuple(asked) for answer, asked in owners.items()})


def inverse_questions(
    relation: Questionable, answers: Mapping[str, tuple[str, ...]]
) -> tuple[Question, ...]:
    """Every inverse template asked about every answer, given with the entities it belongs to.

    Parameters
    ----------
    answers : mapping of str to tuple of str
        Entities that are right of an answer; none where nobody knows.
    """
    name = f"{relation.name}{INVERSE}"
    return tuple(
        Question(
            item=f"{name}|{answer}|{i}",
            relation=name,
            entity=answer,
            template=template,
            prompt=render(template, answer, slot=ANSWER),
            golds=golds,
        )
        for i, template in enumerate(relation.inverse_templates)
        for answer, golds in answers.items()
    )


def _chosen(relation: Questionable, templates: Sequence[int] | None) -> Sequence[int]:
    n = len(relation.templates)
    chosen = range(n) if templates is None else list(dict.fromkeys(templates))
    if not chosen or not all(0 <= i < n for i in chosen):
        msg = f"templates {list(chosen)} of relation {relation.name!r}; choose from 0 to {n - 1}."
        raise InputError(msg)
    return chosen


def _golds(relation: Questionable, i: int) -> tuple[str, ...]:
    if not relation.golds:
        return ()
    gold = relation.golds[i]
    return (gold,) if isinstance(gold, str) else tuple(gold)
