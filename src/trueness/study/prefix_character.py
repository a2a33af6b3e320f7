"""The character of a prefix, at a fixed count of tokens: does it move retrieval."""

from collections.abc import Sequence

import numpy as np

from trueness.contract.serial import Json
from trueness.stats.crossed_means import between_share
from trueness.study.asked import Asked, ask_declared, found_of
from trueness.study.found import Found
from trueness.study.partitions import matrix, mean_record, measured
from trueness.study.results import Record
from trueness.study.second_model import with_second_model
from trueness.study.task import Task

PROSE, PERMUTED, NONE = "prose", "permuted", "none"
_PERMUTED, _BARE = "prose_permuted_", "prose_none_"
UNIT = "passages and entities, crossed"


@with_second_model
def run(task: Task) -> Found:
    """Accuracy and orbits by class of prefix, each class with its members.

    Parameters
    ----------
    task : Task
        ``repeats``: at most so many entities of each relation.
    """
    asked = ask_declared(task)
    if isinstance(asked, Found):
        return asked
    rows = [row for relation in asked.relations for row in rows_of_relation(asked, relation)]
    contrasts = {c.name: contrast(asked, c.name, task.seed) for c in task.declaration.contrasts}
    return found_of(task, asked, rows, contrasts)


def rows_of_relation(asked: Asked, relation: str) -> list[Record]:
    """A row a condition, then one a class, then how much of the spread lies between classes."""
    held = set(asked.table.conditions)
    names = [name for name in asked.classes if name in held]
    rows = [measured(asked, relation, name).row for name in names]
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


def _class_row(
    relation: str, kind: str, rows: Sequence[Record], members: Sequence[str]
) -> dict[str, Json]:
    ours = [row for row in rows if row["condition"] in members]

    def values(name: str) -> list[float]:
        return [float(v) for row in ours if isinstance(v := row[name], int | float)]

    accuracy, n = values("accuracy"), len(members)
    return {
        "name": f"{relation}_class_{kind}",
        "relation": relation,
        "class": kind,
        "n": n,
        "members": "single" if n == 1 else n,
        "accuracy": float(np.mean(accuracy)) if accuracy else None,
        "accuracy_least": min(accuracy, default=None),
        "accuracy_most": max(accuracy, default=None),
        "n_orbits": float(np.mean(values("n_orbits"))) if values("n_orbits") else None,
        "t1": float(np.mean(values("t1"))) if values("t1") else None,
        "t1_star": float(np.mean(values("t1_star"))) if values("t1_star") else None,
        "echo": float(np.mean(values("n_echo"))) if values("n_echo") else None,
    }


def contrast(asked: Asked, name: str, seed: int) -> dict[str, Json]:
    """Prose less its own permutations, or less no prefix at all, in the relation that is named."""
    rng = np.random.default_rng(seed)
    kind = _PERMUTED if name.startswith(_PERMUTED) else _BARE
    relation, prose = name.removeprefix(kind), asked.members(PROSE)
    if kind == _PERMUTED:
        values = matrix(asked, relation, prose, less=asked.members(PERMUTED))
    else:
        values = matrix(asked, relation, prose) - matrix(asked, relation, asked.members(NONE))
    return mean_record(values, rng, UNIT)
