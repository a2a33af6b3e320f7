"""Noise on input embeddings: its best level, and whether a certificate can find it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trueness.contract.serial import Json
from trueness.study.asked import Asked, ask_declared, declared_conditions, found_of
from trueness.study.found import Found
from trueness.study.partitions import (
    accuracy_of,
    mean_record,
    part_of,
    reading_of,
    right,
    right_by_entity,
    surplus,
)
from trueness.study.results import Record
from trueness.study.second_model import with_second_model
from trueness.study.task import Task
from trueness.study.views import voted
from trueness.table import AnswerTable

Floats = NDArray[np.float64]

EDGE = "still falling at the edge of the grid; extend it"


@with_second_model
def run(task: Task) -> Found:
    """Votes of many noisy draws at each level; the best level is tested on other draws.

    Parameters
    ----------
    task : Task
        ``repeats``: at most so many entities of each relation.
    """
    draws = int(task.declaration.table("draws")["k"])
    declared, _ = declared_conditions(task.declaration)
    used = tuple(replace(c, draws=draws) if c.noise else c for c in declared)
    asked = ask_declared(task, conditions=used)
    if isinstance(asked, Found):
        return asked
    levels = {c.name: c.noise for c in used}
    rows: list[Record] = []
    contrasts = dict[str, Record]()
    for relation in asked.relations:
        found = [_row(asked, relation, name, sigma) for name, sigma in levels.items()]
        chosen = _chosen(relation, found)
        rows += [*found, chosen]
        contrasts |= _contrasts(asked, relation, levels, task.seed)
    notes = [str(row["edge"]) for row in rows if row.get("edge")]
    made = found_of(task, asked, rows, contrasts, k=draws)
    return replace(made, notes=(*made.notes, *notes))


def _votes(asked: Asked, relation: str, condition: str, *, half: int | None = None) -> AnswerTable:
    """The vote of all draws, or of every second one."""
    part = part_of(asked, relation, condition)
    if half is not None and len(np.unique(part.epoch)) > 1:
        part = part.take(part.epoch % 2 == half)
    return voted([part], condition)


def _row(asked: Asked, relation: str, condition: str, sigma: float) -> Record:
    table = _votes(asked, relation, condition)
    reading = reading_of(table, asked.relations[relation])
    ties = sum(reason == "tie" for reason in table.reason.values())
    return {
        "name": f"{relation}_sigma_{sigma:g}".replace(".", "_"),
        "relation": relation,
        "condition": condition,
        "sigma": sigma,
        "n": len(table),
        "n_ties": ties,
        "n_orbits": reading.details["n_orbits"],
        "t1": surplus(table),
        "t1_star": reading.details["certified_errors"],
        "not_right_floor": reading.details["not_right_floor"],
        **accuracy_of(right(table)),
    }


def _chosen(relation: str, rows: Sequence[Record]) -> dict[str, Json]:
    """The levels that the floor and accuracy would take, all ties named."""
    floor = {float(str(r["sigma"])): float(str(r["not_right_floor"])) for r in rows}
    accuracy = {float(str(r["sigma"])): float(str(r["accuracy"])) for r in rows}
    by_floor = [s for s, value in floor.items() if value == min(floor.values())]
    best = max(accuracy.values())
    last = max(floor)
    return {
        "name": f"{relation}_choice",
        "relation": relation,
        "sigma_by_floor": list[Json](by_floor),
        "sigma_by_accuracy": list[Json](s for s, value in accuracy.items() if value == best),
        "regret_least": best - max(accuracy[s] for s in by_floor),
        "regret_most": best - min(accuracy[s] for s in by_floor),
        "edge": f"{relation}: {EDGE}" if by_floor == [last] else None,
    }


def _contrasts(
    asked: Asked, relation: str, levels: Mapping[str, float], seed: int
) -> dict[str, Record]:
    """The peak of one half of the draws against no noise and the most, on the other half."""
    entities = asked.relations[relation].entities

    def half(number: int) -> dict[str, Floats]:
        return {
            name: right_by_entity(_votes(asked, relation, name, half=number), entities)
            for name in levels
        }

    chosen_on, tested_on = half(0), half(1)
    means = {name: float(np.nanmean(values)) for name, values in chosen_on.items()}
    peak = max(means, key=lambda name: (means[name], -levels[name]))
    zero, last = (pick(levels, key=lambda n: levels[n]) for pick in (min, max))
    facts: dict[str, Json] = {
        "peak": levels[peak],
        "inside": int(levels[zero] < levels[peak] < levels[last]),
    }
    rng = np.random.default_rng(seed)
    unit = "entities; the level chosen on other draws"

    def less(other: str) -> dict[str, Json]:
        values = tested_on[peak] - tested_on[other]
        return {**mean_record(values[np.newaxis], rng, unit), **facts}

    return {f"peak_zero_{relation}": less(zero), f"peak_last_{relation}": less(last)}
