"""The fact lost, or only its form: free answers beside a choice among the right ones."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trueness.backends.protocol import Model
from trueness.backends.scoring import Continuation, scorer_of
from trueness.collect.binding import bind
from trueness.collect.questions import Quiz, questions
from trueness.collect.rendering import joined, render
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
from trueness.study.partitions import mean_record, measured
from trueness.study.results import Record
from trueness.study.second_model import with_second_model
from trueness.study.spent import Spent
from trueness.study.task import Task
from trueness.table import Relation

Floats = NDArray[np.float64]

CONTENT_FREE = "it"
PERMUTED, REPEATED = "permuted", "repeated"


@dataclass(frozen=True, slots=True)
class Chosen:
    """Of one relation under one condition: which right answer is likeliest for each entity.

    Parameters
    ----------
    scores : (n_entities, n_answers) float
        Log-probabilities of whole answers; nan where there is none.
    prior : (n_answers,) float
        The same behind a prompt that names nobody.
    gold : (n_entities,) int
        Which answer is right.
    """

    scores: Floats
    prior: Floats
    gold: NDArray[np.int64]

    def right(self, *, corrected: bool = False) -> Floats:
        """(n_entities,): 1 where the likeliest answer is right; nan where it ties or is missing."""
        values = self.scores - self.prior if corrected else self.scores
        whole = ~np.isnan(values).any(axis=1)
        best = np.where(np.isnan(values), -np.inf, values)
        top = best.max(axis=1, keepdims=True)
        single = (best == top).sum(axis=1) == 1
        found: Floats = (best.argmax(axis=1) == self.gold).astype(np.float64)
        found[~(whole & single)] = np.nan
        return found


@with_second_model
def run(task: Task) -> Found:
    """Free and constrained accuracy; the latter is multiple choice: never in one ranking.

    Parameters
    ----------
    task : Task
        ``repeats``: at most so many entities of each relation.
    """
    task.only("model")
    relations = declared_relations(task.declaration, task.repeats)
    try:
        with opened(task, list(relations.values())) as model:
            if (missing := lacking(task.declaration, model)) is not None:
                return not_applicable(task, missing)
            asked = collected(task, model, relations)
            chosen = {
                (name, condition.name): _score(model, relation, condition, task.declaration.id)
                for name, relation in relations.items()
                for condition in declared_conditions(task.declaration)[0]
            }
    except MissingExtraError as error:
        return not_applicable(task, str(error))
    rows = [_row(asked, *pair, each) for pair, each in chosen.items()]
    contrasts = {
        f"permuted_the_{r}": _contrast(asked, r, rows, chosen, task.seed) for r in relations
    }
    scored = sum(each.scores.size + each.prior.size for each in chosen.values())
    found = found_of(task, asked, rows, contrasts, n_scored=scored)
    return replace(found, spent=found.spent + Spent(requests=scored))


def _score(model: Model, relation: Relation, condition: object, study: str) -> Chosen:
    """Every distinct right answer behind every question, and behind one that names nobody."""
    scorer = scorer_of(model, what=f"the study {study}")
    bound = bind(condition, model)  # type: ignore[arg-type] # a condition
    quiz = Quiz(relation.name, relation.templates[:1], relation.entities, relation.golds)
    asked = questions(quiz)
    answers = list(dict.fromkeys(q.golds[0] for q in asked))
    free = render(relation.templates[0], CONTENT_FREE)
    prompts = [*(q.prompt for q in asked), free]
    encode = None if model.tokenizer is None else model.tokenizer.encode
    wanted = [
        Continuation(
            (str(i), answer),
            bound.prompt(prompt, None if encode is None else encode(prompt)),
            joined(prompt, answer),
        )
        for i, prompt in enumerate(prompts)
        for answer in answers
    ]
    table = np.full((len(prompts), len(answers)), np.nan)
    place = {answer: j for j, answer in enumerate(answers)}
    for found in scorer.score(wanted):
        if found.logprob is not None and np.isfinite(found.logprob):
            table[int(found.key[0]), place[found.key[1]]] = found.logprob
    gold = np.array([place[q.golds[0]] for q in asked], dtype=np.int64)
    return Chosen(table[:-1], table[-1], gold)


def _row(asked: Asked, relation: str, condition: str, chosen: Chosen) -> Record:
    row = measured(asked, relation, condition).row
    plain, corrected = chosen.right(), chosen.right(corrected=True)
    return {
        **row,
        "constrained_accuracy": _mean(plain),
        "prior_corrected_accuracy": _mean(corrected),
        "n_constrained": int((~np.isnan(plain)).sum()),
        "chance": 1 / chosen.scores.shape[1],
    }


def _mean(values: Floats) -> float | None:
    held = values[~np.isnan(values)]
    return float(held.mean()) if len(held) else None


def _contrast(
    asked: Asked,
    relation: str,
    rows: Sequence[Record],
    chosen: dict[tuple[str, str], Chosen],
    seed: int,
) -> dict[str, Json]:
    """Two conditions, partitioned alike or not: the constrained difference."""
    one, other = (asked.members(kind)[0] for kind in (PERMUTED, REPEATED))
    values = chosen[relation, one].right() - chosen[relation, other].right()
    by = {row["condition"]: row for row in rows if row["relation"] == relation}
    alike = all(by[one][key] == by[other][key] for key in ("n_orbits", "largest_orbit"))
    found = mean_record(values[np.newaxis], np.random.default_rng(seed), "entities")
    return {**found, "equal_partitions": int(alike)}
