"""Several prefixes at once: a vote, mean logits, mean probabilities, an assignment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from trueness.backends.protocol import Model, Request
from trueness.collect.binding import bind
from trueness.collect.conditions import Condition
from trueness.collect.elections import as_wordings, voted, with_answers
from trueness.collect.ensembles import LOGITS, PROBABILITIES, VOTE
from trueness.collect.means import likeliest
from trueness.collect.questions import questions
from trueness.contract.errors import MissingExtraError
from trueness.contract.serial import Json
from trueness.study.asked import (
    Asked,
    collected,
    declared_conditions,
    declared_relations,
    found_of,
    lacking,
    not_applicable,
    opened,
)
from trueness.study.found import Found
from trueness.study.partitions import (
    accuracy_of,
    mean_record,
    measured,
    part_of,
    reading_of,
    right,
    right_by_entity,
)
from trueness.study.results import Record
from trueness.study.second_model import with_second_model
from trueness.study.spent import Spent
from trueness.study.task import Task
from trueness.study.views import decoded
from trueness.table import AnswerTable, Relation

Floats = NDArray[np.float64]

ASSIGNMENT = "assignment"


@dataclass(frozen=True, slots=True)
class _Members:
    """Rows and logits of one relation behind every prefix."""

    rows: Mapping[str, AnswerTable]
    logits: Mapping[str, NDArray[np.float32]]
    items: tuple[str, ...]

    def mean(self, names: Sequence[str], *, probabilities: bool = False) -> AnswerTable:
        """The likeliest token of the mean over some prefixes; a tie is no answer."""
        wide = [self.logits[name].astype(np.float64) for name in names]
        laws = [log_softmax(z, axis=1) for z in wide] if probabilities else wide
        tokens = likeliest(laws, probabilities=probabilities)
        said = [None if t is None else f"tok:{t}" for t in tokens]
        first = self.rows[names[0]]
        place = {str(item): at for at, item in enumerate(first.item.values())}
        rows = first.take(np.array([place[item] for item in self.items], dtype=np.intp))
        return with_answers(rows, said, PROBABILITIES if probabilities else LOGITS)


@with_second_model
def run(task: Task) -> Found:
    """Each prefix alone and all together, and what is left of a gap without one of them.

    Parameters
    ----------
    task : Task
        ``repeats``: at most so many entities of each relation.
    """
    task.only("model")
    relations = declared_relations(task.declaration, task.repeats)
    conditions, _ = declared_conditions(task.declaration)
    used = [c for c in conditions if c.name != "none"]
    try:
        with opened(task, list(relations.values())) as model:
            if (missing := lacking(task.declaration, model)) is not None:
                return not_applicable(task, missing)
            asked = collected(task, model, relations)
            held = {r: _members(model, asked, r, used) for r in relations}
    except MissingExtraError as error:
        return not_applicable(task, str(error))
    rows: list[Record] = []
    contrasts = dict[str, Record]()
    for relation, members in held.items():
        rows += [measured(asked, relation, name).row for name in asked.table.conditions]
        views = _views(members)
        loaded = asked.relations[relation]
        rows += [_row(relation, loaded, name, view) for name, view in views.items()]
        rows.append(_assigned(relation, loaded, members))
        contrasts[f"vote_logits_{relation}"] = _contrast(loaded, members, views, task.seed)
    n = sum(z.shape[0] for members in held.values() for z in members.logits.values())
    found = found_of(task, asked, rows, contrasts, n_logits=n)
    note = "logits over the vocabulary were read and not kept: the views alone stand in the rows"
    return replace(found, spent=found.spent + Spent(requests=n), notes=(*found.notes, note))


def _members(model: Any, asked: Asked, relation: str, conditions: Sequence[Condition]) -> _Members:
    loaded = asked.relations[relation]
    listed = questions(loaded, (0,))
    return _Members(
        {c.name: part_of(asked, relation, c.name) for c in conditions},
        {c.name: model.next_logits(_requests(model, c, listed)) for c in conditions},
        tuple(q.item for q in listed),
    )


def _requests(model: Model, condition: Condition, listed: Sequence[Any]) -> list[Request]:
    bound = bind(condition, model)
    encode = None if model.tokenizer is None else model.tokenizer.encode
    return [
        Request(
            (q.item, 1, condition.name),
            bound.prompt(q.prompt, None if encode is None else encode(q.prompt)),
            max_tokens=1,
            shared=bound.n_shared,
        )
        for q in listed
    ]


def _views(members: _Members) -> dict[str, AnswerTable]:
    names = list(members.rows)
    return {
        VOTE: voted(list(members.rows.values()), VOTE),
        LOGITS: members.mean(names),
        PROBABILITIES: members.mean(names, probabilities=True),
    }


def _row(relation: str, loaded: Relation, name: str, view: AnswerTable) -> Record:
    reading = reading_of(view, loaded)
    return {
        "name": f"{relation}_{name}",
        "relation": relation,
        "condition": name,
        "class": "ensemble",
        "n": len(view),
        "n_ties": sum(answer is None for answer in view.answer.values()),
        "n_orbits": reading.details["n_orbits"],
        "largest_orbit": reading.details["largest_orbit"],
        "t1_star": reading.details["certified_errors"],
        **accuracy_of(right(view)),
    }


def _assigned(relation: str, loaded: Relation, members: _Members) -> Record:
    """The prefixes as wordings of one question: what an assignment of answers decodes."""
    table = as_wordings(members.rows, ASSIGNMENT)
    reading = reading_of(table, loaded)
    return {
        "name": f"{relation}_{ASSIGNMENT}",
        "relation": relation,
        "condition": ASSIGNMENT,
        "class": "ensemble",
        "n": len(loaded),
        "t1_star": reading.details["certified_errors"],
        "accuracy": decoded(table, loaded),
    }


def _contrast(
    loaded: Relation, members: _Members, views: Mapping[str, AnswerTable], seed: int
) -> dict[str, Json]:
    """Vote less mean logits; how much of the gap one member's absence closes."""
    by = {name: right_by_entity(view, loaded.entities) for name, view in views.items()}
    gap = by[VOTE] - by[LOGITS]
    found = mean_record(gap[np.newaxis], np.random.default_rng(seed), "entities")
    whole = float(np.nanmean(gap))
    names = list(members.rows)
    without = {
        left: float(np.nanmean(right_by_entity(members.mean(rest), loaded.entities)))
        for left in names
        if (rest := [name for name in names if name != left])
    }
    best = max(without, key=lambda name: without[name])
    closed = without[best] - float(np.nanmean(by[LOGITS]))
    return {
        **found,
        "closed_by_leaving_out": best,
        "closed_share": closed / whole if whole > 0 else None,
    }
