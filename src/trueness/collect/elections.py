"""Votes over stored rows: draws, conditions or wordings become one answer, and nothing is asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trueness.collect.votes import Vote, vote
from trueness.contract.errors import InputError
from trueness.contract.serial import canonical
from trueness.table import OUTCOMES, AnswerTable, Column, Outcome
from trueness.table.shards import concat

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
    ballots = _Ballots.of([(part, part.item) for part in parts])
    items = list(dict.fromkeys(str(i) for part in parts for i in part.item.values()))
    return _elected(one_row_an_item(parts), ballots, items, name)


def voted_wordings(part: AnswerTable, name: str) -> AnswerTable:
    """Every row with the most frequent key of all wordings and draws about its entity.

    The vote answers however the question is worded: an entity has the same answer in each of its
    wordings, so the view has the slots of the rows that it was made of.

    Raises
    ------
    InputError
        When the rows name no entity, or no template, or ask about each entity once.
    """
    if part.template is None:
        msg = "a vote over wordings needs a template in every row. Name its column with --template."
        raise InputError(msg)
    rows = one_row_an_item([part])
    about, voters = _subjects(rows), _subjects(part)
    if len(part) == len(np.unique(voters.codes)):
        msg = (
            f"the ensemble {name!r} has a single row about each entity, so there is nothing to "
            "put together; several wordings are wanted. Ask with more templates."
        )
        raise InputError(msg)
    return _elected(rows, _Ballots.of([(part, voters)]), [str(s) for s in about.values()], name)


def with_answers(
    rows: AnswerTable,
    answers: Sequence[str | None],
    name: str,
    *,
    missing: Sequence[bool] = (),
    reasons: Sequence[str | None] = (),
) -> AnswerTable:
    """The rows with other answers, under another name of the condition; None is no answer.

    What was recorded of single draws, their texts and what was seen beside them, is left out.
    """
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
        epoch=np.ones(len(rows), dtype=np.int32),
        completion=None,
        logprob=None,
        observer=None,
        extras={},
        arrays={},
    )


@dataclass(frozen=True, slots=True)
class _Ballots:
    """Keys and log-probabilities of all rows that vote on one thing."""

    keys: Mapping[str, Sequence[str | None]]
    likely: Mapping[str, Sequence[float | None]]

    @classmethod
    def of(cls, parts: Sequence[tuple[AnswerTable, Column[str]]]) -> "_Ballots":
        """Rows by what they vote on; missing rows do not vote."""
        keys: dict[str, list[str | None]] = {}
        likely: dict[str, list[float | None]] = {}
        for part, about in parts:
            answers, logprobs = part.answer.values(), part.logprob
            for at, what in enumerate(map(str, about.values())):
                if part.outcome[at] == _ERROR:
                    continue
                keys.setdefault(what, []).append(answers[at])
                known = None if logprobs is None or np.isnan(logprobs[at]) else float(logprobs[at])
                likely.setdefault(what, []).append(known)
        return cls(keys, likely)


def _elected(rows: AnswerTable, ballots: _Ballots, about: Sequence[str], name: str) -> AnswerTable:
    """The rows with the outcome of the vote on what each is about."""
    found = {
        what: vote(ballots.keys[what], ballots.likely[what]) if what in ballots.keys else None
        for what in dict.fromkeys(about)
    }
    votes = [found[what] for what in about]
    return with_answers(
        rows,
        [None if v is None else v.winner for v in votes],
        name,
        missing=[v is None for v in votes],
        reasons=[_reason(v) for v in votes],
    )


def _reason(found: Vote | None) -> str | None:
    """Why a vote gave no answer; that nothing came back where there was none."""
    if found is None:
        return "missing_completion"
    return None if found.winner is not None else found.reason


def one_row_an_item(parts: Sequence[AnswerTable]) -> AnswerTable:
    """The first row of each item of all parts, in order of first appearance."""
    seen: set[str] = set()
    firsts: list[AnswerTable] = []
    for part in parts:
        first = {item: at for at, item in reversed(list(enumerate(map(str, part.item.values()))))}
        fresh = sorted(at for item, at in first.items() if item not in seen)
        seen.update(first)
        if fresh:
            firsts.append(part.take(np.array(fresh, dtype=np.intp)))
    return firsts[0] if len(firsts) == 1 else concat([bare(first) for first in firsts])


def bare(rows: AnswerTable) -> AnswerTable:
    """Rows without what single draws left, so that rows of several conditions stand together."""
    return replace(rows, extras={}, arrays={}, completion=None, protocols={}, planned={})


def _subjects(part: AnswerTable) -> Column[str]:
    """What each row asks about: relation and entity."""
    if part.entity is None:
        msg = "a vote over wordings needs an entity in every row. Name its column with --entity."
        raise InputError(msg)
    relations = [None] * len(part) if part.relation is None else part.relation.values()
    pairs = zip(relations, part.entity.values(), strict=True)
    return Column.of([canonical([relation, entity]) for relation, entity in pairs])


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
