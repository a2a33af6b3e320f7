"""The arms of two checkpoints: repeated draws and a greedy answer of every item, as stored rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trueness.collect.conditions import NONE
from trueness.collect.questions import questions as every_question
from trueness.contract.serial import Json
from trueness.extract import keyed
from trueness.study.asked import Asked, collected, opened
from trueness.study.results import Record
from trueness.study.task import Task
from trueness.table import AnswerTable, Protocol, Relation, read_answers
from trueness.table.native import rows_of

FIRST, SECOND, OTHER = "first", "second", "other_decoding"
"""Arms of the table: the first model, the second, and the first at the second temperature."""
GREEDY = "greedy"
_KEPT = frozenset({"answered", "no_answer", "refused"})
"""Outcomes that the text alone decides, so that the rules for numbers decide them again."""
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Arm:
    """The rows of one arm, how they came about, and what they cost."""

    rows: tuple[Record, ...]
    asked: tuple[Asked, ...]
    protocols: Mapping[str, Mapping[str, Json]]


def arms_of(
    task: Task,
    questions: Relation,
    *,
    draws: int,
    temperatures: tuple[float, float],
    other_draws: int,
) -> dict[str, Arm]:
    """Draws and greedy answers of the first model, and of the second or else of other decoding.

    Parameters
    ----------
    task : Task
    questions : Relation
    draws : int
        Of each item.
    temperatures : pair of float
        Of the draws, and of the second decoding.
    other_draws : int
        Of the second decoding.

    Raises
    ------
    MissingExtraError
        When a model cannot be opened.
    """
    one, two = temperatures
    found: dict[str, Arm] = {}
    plain, sampled = [(GREEDY, 1, 0.0), ("none", draws, one)], [("none", other_draws, two)]
    with opened(task, [questions]) as model:
        found[FIRST] = _asked(task, model, questions, FIRST, plain)
        if task.inputs.second_model is None:
            found[OTHER] = _asked(_reseeded(task, 1), model, questions, OTHER, sampled)
            return found
    inputs = replace(task.inputs, model=task.inputs.second_model)
    with opened(replace(task, inputs=inputs), [questions]) as model:
        found[SECOND] = _asked(_reseeded(task, 2), model, questions, SECOND, plain)
    return found


def _reseeded(task: Task, more: int) -> Task:
    """The task with a seed of its own, so that two arms share no stream."""
    return replace(task, seed=task.seed + more)


def _asked(
    task: Task,
    model: Any,
    questions: Relation,
    arm: str,
    wanted: Sequence[tuple[str, int, float]],
) -> Arm:
    """The draws of one arm: condition, how many of each item, and at which temperature.

    Batches are checked on the greedy answers; the draws rest on that check.
    """
    rows: list[Record] = []
    asked: list[Asked] = []
    protocols: dict[str, Mapping[str, Json]] = {}
    for condition, k, heat in wanted:
        task.say(f"{arm}, {condition}: {k} answers to each of {len(questions)} items")
        found = collected(
            task,
            model,
            {questions.name: questions},
            conditions=(NONE,),
            epochs=k,
            temperature=heat,
            checked=frozenset(() if heat else ("none",)),
            beside=False,
        )
        rows += _drawn(found, questions, arm, condition)
        asked.append(found)
        protocols[condition] = found.table.protocols["none"].fields
    return Arm(tuple(rows), tuple(asked), protocols)


def _drawn(asked: Asked, questions: Relation, arm: str, condition: str) -> Iterator[Record]:
    """Rows as they lie beside the result: the text and how it ended, not what was read in it."""
    known = {q.item: (i + 1, q.golds[0]) for i, q in enumerate(every_question(questions))}
    for row in rows_of(asked.table):
        number, gold = known[str(row["item"])]
        outcome = str(row["outcome"])
        yield {
            "arm": arm,
            "item": f"gsm8k-{number:04d}",
            "epoch": row["epoch"],
            "condition": condition,
            "outcome": "answered" if outcome in _KEPT else outcome,
            "completion": row.get("completion"),
            "reason": None if outcome in _KEPT else row.get("reason"),
            "stop_reason": row.get("stop_reason"),
            "target": gold,
        }


def table_of(table: Rows, arm: str, protocols: Mapping[str, Mapping[str, Json]]) -> AnswerTable:
    """One arm's rows, keyed as numbers."""
    rows = [{k: v for k, v in row.items() if k != "arm"} for row in table if row["arm"] == arm]
    found = keyed(read_answers(rows), kind="number")
    return replace(found, protocols={name: Protocol(of) for name, of in protocols.items()})
