"""Can the number by which a condition is chosen be gamed? Six objectives, the same candidates."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trueness.contract import Reading
from trueness.contract.serial import Json
from trueness.sensors import orbits
from trueness.sensors.orbits import Declaration
from trueness.stats.mcnemar import mcnemar
from trueness.study.asked import Asked, ask_declared, found_of
from trueness.study.choosing import choose_condition
from trueness.study.declared import params_of
from trueness.study.found import Found
from trueness.study.partitions import (
    measured,
    only_template,
    part_of,
    reading_of,
    right_by_entity,
)
from trueness.study.results import Record
from trueness.study.second_model import with_second_model
from trueness.study.task import Task
from trueness.table import AnswerTable, Column, Relation

GARBAGE = "distinct_garbage"
"""A candidate that no model gave: every entity its own nonsense, the same in every wording."""
_T1, _T1_STAR, _A = "t1", "t1_star", "a"

Floats = NDArray[np.float64]
Measure = Callable[[AnswerTable], Reading]


@dataclass(frozen=True, slots=True)
class Objective:
    """What is minimised, and over which wordings."""

    name: str
    one_template: bool
    measure: Callable[[Relation], Measure]


@with_second_model
def run(task: Task) -> Found:
    """What each objective chooses, and what that does to accuracy.

    Parameters
    ----------
    task : Task
        ``repeats``: at most so many entities of each relation.
    """
    asked = ask_declared(task)
    if isinstance(asked, Found):
        return asked
    rows = [row for name in asked.relations for row in _rows(asked, name)]
    chosen = [row for row in rows if "chosen" in row]
    contrasts = {c.name: _contrast(asked, chosen, c.name) for c in task.declaration.contrasts}
    return found_of(task, asked, rows, contrasts)


def _label_free(identity: str) -> Callable[[Relation], Measure]:
    """Pairwise different right answers, and nothing else, are declared."""

    def of(_relation: Relation) -> Measure:
        declared = Declaration(relation="injective", identity=identity)
        return lambda part: orbits.measure(part, params_of(part, declared))

    return of


def _listed(identity: str) -> Callable[[Relation], Measure]:
    """The relation's right answers are declared, unpaired."""
    return lambda relation: lambda part: reading_of(part, relation, identity=identity)


OBJECTIVES = tuple(
    Objective(f"{name}{suffix}", one, of(identity))
    for suffix, identity in (("", "allowed"), ("_without_echo", "never"))
    for name, one, of in (
        (_T1, True, _label_free),
        (_T1_STAR, True, _listed),
        (_A, False, _label_free),
    )
)


def _rows(asked: Asked, relation: str) -> Iterator[Record]:
    """One row a condition, then one an objective with and without planted garbage."""
    table = _with_garbage(asked, relation)
    entities = asked.relations[relation].entities
    accuracy: dict[str, float] = {}
    for condition in table.conditions:
        part = only_template(table.only(condition), asked.relations[relation])
        accuracy[condition] = float(np.nanmean(right_by_entity(part, entities)))
        if condition != GARBAGE:
            yield {**measured(asked, relation, condition).row, "accuracy": accuracy[condition]}
    for objective in OBJECTIVES:
        for planted in (False, True):
            names = [n for n in table.conditions if n != "none" and (planted or n != GARBAGE)]
            found = _choice(table, asked.relations[relation], objective, names, accuracy)
            suffix = "_with_garbage" if planted else ""
            yield {"name": f"{relation}_{objective.name}{suffix}", "relation": relation, **found}


def _choice(
    table: AnswerTable,
    relation: Relation,
    objective: Objective,
    names: Sequence[str],
    accuracy: Mapping[str, float],
) -> dict[str, Json]:
    shown = only_template(table, relation) if objective.one_template else table
    costs = {name: i for i, name in enumerate(names)}  # declared order breaks ties
    decision = choose_condition(
        shown,
        measure=objective.measure(relation),
        answer_set=True,
        candidates=names,
        added_tokens=costs,
    )
    taken = decision.taken if decision.taken is not None and decision.taken in names else "none"
    best = max(accuracy[name] for name in ("none", *names))
    return {
        "objective": objective.name,
        "garbage_planted": GARBAGE in names,
        "chosen": taken,
        "declined": taken == "none",
        "accuracy": accuracy[taken],
        "accuracy_of_none": accuracy["none"],
        "regret": best - accuracy[taken],
        "scores": decision.details.get("scores"),
        "n": len(relation),
    }


def _with_garbage(asked: Asked, relation: str) -> AnswerTable:
    """The rows of one relation, and those of ``none`` once more with planted garbage."""
    parts = [part_of(asked, relation, name) for name in asked.table.conditions]
    first = next(i for i, name in enumerate(asked.table.conditions) if name == "none")
    order = [np.flatnonzero(np.isin(asked.table.row_number, p.row_number)) for p in parts]
    table = asked.table.take(np.concatenate([*order, order[first]]))
    n = len(order[first])
    names = [str(c) for c in table.condition.values()]
    answers = table.answer.values()
    entity = [] if table.entity is None else table.entity.values()
    for at in range(len(table) - n, len(table)):
        names[at] = GARBAGE
        if answers[at] is not None:
            answers[at] = f"nonsense about {entity[at]}"
    return replace(table, condition=Column.of(names), answer=Column.of(answers))


def _contrast(asked: Asked, chosen: Sequence[Record], name: str) -> dict[str, Json]:
    """Accuracy of the condition that an objective takes, against that without any condition."""
    regressed = improved = n = 0
    where: list[Json] = []
    for row in chosen:
        if row["name"] != f"{row['relation']}_{name}":
            continue
        called, taken = str(row["relation"]), str(row["chosen"])
        where.append(f"{called}: {taken}")
        loaded = asked.relations[called]
        before = _in_order(only_template(part_of(asked, called, "none"), loaded), loaded)
        after = np.zeros_like(before)
        if taken != GARBAGE:
            after = _in_order(only_template(part_of(asked, called, taken), loaded), loaded)
        both = ~np.isnan(before) & ~np.isnan(after)
        n += int(both.sum())
        regressed += int((before[both] > after[both]).sum())
        improved += int((after[both] > before[both]).sum())
    test = mcnemar(regressed, improved)
    return {
        "n": n,
        "estimate": (improved - regressed) / n if n else None,
        "regressed": regressed,
        "improved": improved,
        "kind": "exact McNemar",
        "p": float(test.p_exact),
        "where": where,
    }


def _in_order(table: AnswerTable, relation: Relation) -> Floats:
    """(n_entities,): right answers, entities as the relation lists them."""
    return right_by_entity(table, relation.entities)
