"""What a system prompt costs: in its role and as plain text, each in three wordings."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import entropy

from trueness.contract.serial import Json
from trueness.sensors import orbits
from trueness.sensors.orbits import Params
from trueness.study.asked import Asked, ask_declared, found_of
from trueness.study.declared import declared_by, params_of
from trueness.study.found import Found
from trueness.study.partitions import (
    certified_shares,
    matrix,
    mean_record,
    measured,
    part_of,
)
from trueness.study.results import Record
from trueness.study.second_model import with_second_model
from trueness.study.task import Task

Floats = NDArray[np.float64]

UNIT = "wordings and entities, crossed; the share of an orbit that is certified, entity by entity"
_MOVED = (
    "pairs_merged", "pairs_split", "churn", "split_information", "merge_information",
)  # fmt: skip


@with_second_model
def run(task: Task) -> Found:
    """Every prompt against none: answers changed, pairs merged and split, errors certified.

    Parameters
    ----------
    task : Task
        ``repeats``: at most so many entities of each relation.
    """
    asked = ask_declared(task)
    if isinstance(asked, Found):
        return asked
    rows = [_row(asked, r, c) for r in asked.relations for c in asked.table.conditions]
    contrasts = {c.name: _contrast(asked, c.name, task.seed) for c in task.declaration.contrasts}
    return found_of(task, asked, rows, contrasts)


def _row(asked: Asked, relation: str, condition: str) -> Record:
    """A condition, and what it did to the answers given without any."""
    found = measured(asked, relation, condition)
    row: dict[str, Json] = {
        **found.row,
        "given_as": "text" if condition.startswith("text:") else "role",
        "refused": found.row["outcomes"].get("refused", 0)
        if isinstance(found.row["outcomes"], dict)
        else 0,
        "entropy": _entropy(asked, relation, condition),
    }
    if condition == "none":
        return row
    before, after = (part_of(asked, relation, name) for name in ("none", condition))
    moved = orbits.compare(before, after, _params(asked, relation, condition)).details
    return {**row, **{name: moved.get(name) for name in _MOVED}}


def _params(asked: Asked, relation: str, condition: str) -> Params:
    part, declared = declared_by(part_of(asked, relation, condition), asked.relations[relation])
    return params_of(part, declared)


def _entropy(asked: Asked, relation: str, condition: str) -> float:
    """Of the answers of a condition over its entities, in bits."""
    codes = part_of(asked, relation, condition).answer.codes
    counts = np.bincount(codes[codes >= 0], minlength=1)
    return float(entropy(counts, base=2)) if counts.sum() else 0.0


def _contrast(asked: Asked, name: str, seed: int) -> dict[str, Json]:
    """A prompt's wordings less none: errors certified by the answer set, or accuracy."""
    what, _, kind = name.partition("_")
    members = asked.members(kind)
    rng = np.random.default_rng(seed)
    blocks = [_differences(asked, relation, members, what) for relation in asked.relations]
    found = mean_record(np.hstack(blocks), rng, UNIT)
    return {**found, "wordings": list[Json](members)}


def _differences(asked: Asked, relation: str, members: Sequence[str], what: str) -> Floats:
    """(n_wordings, n_entities): after less before."""
    if what == "accuracy":
        return matrix(asked, relation, members) - matrix(asked, relation, ("none",))
    entities = asked.relations[relation].entities

    def shares(condition: str) -> Floats:
        part = part_of(asked, relation, condition)
        return certified_shares(part, asked.relations[relation], entities)

    return np.array([shares(name) - shares("none") for name in members])
