"""Ensembles as views of rows that are there: several draws or conditions become one answer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from trueness.collect import vote
from trueness.contract.errors import InputError
from trueness.sensors.orbits.certificate import Certificate
from trueness.sensors.orbits.certify import certify
from trueness.sensors.orbits.slots import slots_of
from trueness.study.declared import declared_by, params_of
from trueness.table import OUTCOMES, AnswerTable, Column, Outcome, Relation

_ERROR = OUTCOMES.index(Outcome.ERROR)


def voted(parts: Sequence[AnswerTable], name: str) -> AnswerTable:
    """One row an item: the most frequent key of all its rows in all parts.

    Ties are broken by log-probabilities where all are recorded, and are no answer otherwise.
    Missing rows do not vote; an item of which nothing came back stays missing.

    Parameters
    ----------
    parts : sequence of AnswerTable
        Rows of the same items: draws of one condition, or several conditions.
    name : str
        The condition of the view.

    Raises
    ------
    InputError
        Without parts.
    """
    if not parts:
        msg = "there are no rows to vote; give the rows of one condition or more."
        raise InputError(msg)
    first = parts[0]
    items = list(dict.fromkeys(str(i) for i in first.item.values()))
    place = {item: at for at, item in reversed(list(enumerate(map(str, first.item.values()))))}
    keys: dict[str, list[str | None]] = {item: [] for item in items}
    likely: dict[str, list[float | None]] = {item: [] for item in items}
    for part in parts:
        answers, logprobs = part.answer.values(), part.logprob
        for at, item in enumerate(map(str, part.item.values())):
            if item in keys and part.outcome[at] != _ERROR:
                keys[item].append(answers[at])
                known = None if logprobs is None or np.isnan(logprobs[at]) else float(logprobs[at])
                likely[item].append(known)
    found = [vote(keys[i], likely[i]) if keys[i] else None for i in items]
    return with_answers(
        first.take(np.array([place[i] for i in items], dtype=np.intp)),
        [None if v is None else v.winner for v in found],
        name,
        missing=[v is None for v in found],
        reasons=[None if v is None or v.winner is not None else v.reason for v in found],
    )


def with_answers(
    rows: AnswerTable,
    answers: Sequence[str | None],
    name: str,
    *,
    missing: Sequence[bool] = (),
    reasons: Sequence[str | None] = (),
) -> AnswerTable:
    """The rows with other answers, under another name of the condition; None is no answer."""
    lost = list(missing) or [False] * len(rows)
    words = [
        Outcome.ERROR if gone else Outcome.NO_ANSWER if answer is None else Outcome.ANSWERED
        for answer, gone in zip(answers, lost, strict=True)
    ]
    return replace(
        rows,
        answer=Column.of(answers),
        outcome=np.array([OUTCOMES.index(word) for word in words], dtype=np.int8),
        reason=Column.of(list(reasons) or [None] * len(rows)),
        condition=Column.of([name] * len(rows)),
        logprob=None,
    )


def as_wordings(parts: Mapping[str, AnswerTable], name: str) -> AnswerTable:
    """The rows of several conditions as one condition asked in several ways.

    Parameters
    ----------
    parts : mapping of condition to AnswerTable
        Rows of the same table.
    name : str
        The condition of the view.
    """
    first = next(iter(parts.values()))
    columns: dict[str, object] = {
        "condition": Column.of([name] * sum(map(len, parts.values()))),
        "template": Column.of([n for n, part in parts.items() for _ in range(len(part))]),
        "item": Column.of([str(i) for part in parts.values() for i in part.item.values()]),
        "extras": {},
        "completion": None,
        "logprob": None,
    }
    for each in ("answer", "reason", "entity", "entity_key", "relation", "target"):
        if getattr(first, each) is not None:
            columns[each] = Column.of(
                [value for part in parts.values() for value in getattr(part, each).values()]
            )
    for each in ("epoch", "outcome", "row_number"):
        columns[each] = np.concatenate([getattr(part, each) for part in parts.values()])
    return replace(first, **columns)  # type: ignore[arg-type] # same types as the fields


def decoded(table: AnswerTable, relation: Relation) -> float | None:
    """Share of entities whose answer in the witness truth is right; None without golds.

    The decoder sees all entities and the relation's answers: it can do better than the ceiling of
    naming the entity by its own answers.
    """
    part, declared = declared_by(table, relation)
    params = params_of(part, declared)
    slots = slots_of(part, params)
    found = certify(slots, params)
    if not isinstance(found, Certificate) or found.witness is None or part.target is None:
        return None
    golds: dict[str, Sequence[str]] = {}
    for name, keys in zip(
        [] if part.entity is None else part.entity.values(), part.target.values(), strict=True
    ):
        golds.setdefault(str(name), keys or ())
    said = [(golds.get(str(e), ()), found.witness(i)) for i, e in enumerate(slots.entities)]
    return sum(any(a in right for a in answers) for right, answers in said) / max(1, len(said))
