"""The character of a prefix, at a fixed count of tokens: does it move retrieval."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trueness.collect import Condition
from trueness.contract.serial import Json
from trueness.stats.crossed_means import between_share
from trueness.study.asked import Asked, ask_declared, declared_conditions, found_of
from trueness.study.found import Found
from trueness.study.partitions import matrix, mean_record, measured, part_of
from trueness.study.results import Record
from trueness.study.second_model import with_second_model
from trueness.study.task import Task

Floats = NDArray[np.float64]

PROSE, PERMUTED, NONE = "prose", "permuted", "none"
_PERMUTED, _BARE = "prose_permuted_", "prose_none_"
UNIT = "passages and entities, crossed"
_CHECKED = frozenset({"none", "prose:128@1"})
"""What batches do depends on how long prompts are, not on what stands in them."""
_FILLERS = frozenset({"", "a", "an", "and", "in", "is", "it", "not", "of", "that", "the", "to"})
"""Answers that say nothing, in lower case and without punctuation."""
_MARKS = ".,;:!?-_*()[]'\""


@with_second_model
def run(task: Task) -> Found:
    """Accuracy and orbits by class of prefix, each class with its members.

    Parameters
    ----------
    task : Task
        ``repeats``: at most so many entities of each relation.
    """
    asked = ask_declared(task, conditions=_conditions(task), checked=_CHECKED)
    if isinstance(asked, Found):
        return asked
    rows = [row for relation in asked.relations for row in rows_of_relation(asked, relation)]
    contrasts = {c.name: contrast(asked, c.name, task.seed) for c in task.declaration.contrasts}
    return found_of(task, asked, rows, contrasts)


def _conditions(task: Task) -> tuple[Condition, ...]:
    """The declared conditions; of a run that is cut short, so many of each class too."""
    declared, classes = declared_conditions(task.declaration)
    if task.repeats >= task.declaration.repeats:
        return declared
    seen = Counter[str]()
    kept = list[Condition]()
    for condition in declared:
        kind = classes[condition.name]
        seen[kind] += 1
        kept += [condition] if seen[kind] <= task.repeats else []
    return tuple(kept)


def rows_of_relation(asked: Asked, relation: str) -> list[Record]:
    """A row a condition, then one a class, then how much of the spread lies between classes."""
    held = set(asked.table.conditions)
    names = [name for name in asked.classes if name in held]
    rows = [_row(asked, relation, name) for name in names]
    by_class = {kind: asked.members(kind) for kind in dict.fromkeys(asked.classes.values())}
    classes = [_class_row(relation, kind, rows, members) for kind, members in by_class.items()]
    several = [
        np.nanmean(matrix(asked, relation, members), axis=1)
        for members in by_class.values()
        if len(members) > 1
    ]
    spread: dict[str, Json] = {
        "name": f"{relation}_spread",
        "relation": relation,
        "between_classes_of_prefixes": between_share(several),
        "n_classes": len(several),
    }
    return [*rows, *classes, spread]


def _row(asked: Asked, relation: str, condition: str) -> dict[str, Json]:
    """A condition, and how many of its answers are words that say nothing."""
    said = part_of(asked, relation, condition).completion
    words = [] if said is None else [word for word in said.values() if word is not None]
    fillers = sum(word.strip().strip(_MARKS).strip().casefold() in _FILLERS for word in words)
    return {**measured(asked, relation, condition).row, "n_filler": fillers}


def _class_row(
    relation: str, kind: str, rows: Sequence[Record], members: Sequence[str]
) -> dict[str, Json]:
    ours = [row for row in rows if row["condition"] in members]

    def values(name: str) -> list[float]:
        return [float(v) for row in ours if isinstance(v := row.get(name), int | float)]

    def mean(name: str) -> float | None:
        return float(np.mean(held)) if (held := values(name)) else None

    accuracy, n = values("accuracy"), len(members)
    return {
        "name": f"{relation}_class_{kind}",
        "relation": relation,
        "class": kind,
        "n": n,
        "members": "single" if n == 1 else n,
        "accuracy": mean("accuracy"),
        "accuracy_least": min(accuracy, default=None),
        "accuracy_most": max(accuracy, default=None),
        "n_orbits": mean("n_orbits"),
        "t1": mean("t1"),
        "t1_star": mean("t1_star"),
        "echo": mean("n_echo"),
        "filler": mean("n_filler"),
        "constrained_accuracy": mean("constrained_accuracy"),
        "gold_rank": float(np.median(ranks)) if (ranks := values("gold_rank")) else None,
    }


def contrast(asked: Asked, name: str, seed: int) -> dict[str, Json]:
    """Prose less its own permutations, or less no prefix at all, in the relation that is named."""
    rng = np.random.default_rng(seed)
    kind = _PERMUTED if name.startswith(_PERMUTED) else _BARE
    relation, prose = name.removeprefix(kind), asked.members(PROSE)
    if kind == _PERMUTED:
        values = matrix(asked, relation, prose) - _permuted(asked, relation, prose)
    else:
        values = matrix(asked, relation, prose) - matrix(asked, relation, asked.members(NONE))
    return mean_record(values, rng, UNIT)


def _permuted(asked: Asked, relation: str, prose: Sequence[str]) -> Floats:
    """(n_passages, n_entities): right answers behind each passage's tokens, mean of its orders."""
    orders = asked.members(PERMUTED)
    found = matrix(asked, relation, orders)
    of = np.array([_passage(name) for name in orders])
    return np.array([found[of == _passage(name)].mean(axis=0) for name in prose])


def _passage(condition: str) -> str:
    """The number of a passage.

    >>> _passage("shuffled:128@3#1"), _passage("prose:128@8")
    ('3', '8')
    """
    return condition.partition("@")[2].partition("#")[0]
