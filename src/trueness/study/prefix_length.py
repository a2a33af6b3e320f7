"""Length of a prefix against its character: which of the two moves answers."""

import numpy as np
from numpy.typing import NDArray

from trueness.contract.serial import Json
from trueness.sensors import orbits
from trueness.stats.crossed_means import log_slopes
from trueness.study.asked import Asked, ask_declared, found_of
from trueness.study.declared import declared_by, params_of
from trueness.study.found import Found
from trueness.study.partitions import matrix, mean_record, measured, part_of
from trueness.study.results import Record
from trueness.study.second_model import with_second_model
from trueness.study.task import Task

Floats = NDArray[np.float64]

UNIT = "passages and entities, crossed"
_MOVED = ("pairs_merged", "pairs_split", "churn", "variation_of_information", "adjusted_rand")


@with_second_model
def run(task: Task) -> Found:
    """Accuracy at each length of prose and of its permutations, and its slope per doubling.

    Parameters
    ----------
    task : Task
        ``repeats``: at most so many entities of each relation.
    """
    asked = ask_declared(task)
    if isinstance(asked, Found):
        return asked
    rows = [_row(asked, r, c) for r in asked.relations for c in asked.table.conditions]
    lengths = sorted({length(c) for c in asked.table.conditions} - {0})
    rng = np.random.default_rng(task.seed)
    prose = {n: _block(asked, "prose", n) for n in lengths}
    permuted = {n: _block(asked, "shuffled", n) for n in lengths}
    slopes = log_slopes([prose[n] for n in lengths], lengths)
    between = np.nanmean([prose[n] - permuted[n] for n in lengths], axis=0)
    contrasts = {
        "slope": mean_record(slopes, rng, UNIT),
        "character": mean_record(between, rng, UNIT),
    }
    return found_of(task, asked, rows, contrasts, lengths=list[Json](lengths))


def length(condition: str) -> int:
    """How many tokens stand in front.

    >>> length("prose:128@3"), length("none")
    (128, 0)
    """
    return int(condition.partition(":")[2].partition("@")[0] or 0)


def _block(asked: Asked, kind: str, tokens: int) -> Floats:
    """(n_passages, n_entities of all relations): right answers behind one kind and length."""
    held = asked.table.conditions
    names = [c for c in asked.classes if c in held and c.startswith(f"{kind}:{tokens}@")]
    return np.hstack([matrix(asked, relation, names) for relation in asked.relations])


def _row(asked: Asked, relation: str, condition: str) -> Record:
    found = measured(asked, relation, condition)
    row: dict[str, Json] = {**found.row, "length": length(condition)}
    if condition == "none":
        return row
    before, after = (part_of(asked, relation, name) for name in ("none", condition))
    params = params_of(*declared_by(after, asked.relations[relation]))
    moved = orbits.compare(before, after, params, rand=True).details
    degenerate = row["n_orbits"] in {1, row["n"]} or _orbits(asked, relation) in {1, row["n"]}
    return {
        **row,
        **{name: moved.get(name) for name in _MOVED},
        "adjusted_rand_is_degenerate": degenerate,
    }


def _orbits(asked: Asked, relation: str) -> Json:
    return measured(asked, relation, "none").row["n_orbits"]
