"""Noise on input embeddings: its best level, and whether a certificate can find it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from trueness.collect.elections import voted
from trueness.contract.serial import Json
from trueness.stats.held_out_peaks import held_out_peaks
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
from trueness.table import AnswerTable

_DIGITS = 12
"""Means that differ by rounding alone are equal."""
EDGE = "still falling at the edge of the grid; extend it"


@dataclass(frozen=True, slots=True)
class Draws:
    """How often each level is drawn: so many draws, in so many groups that vote apart."""

    k: int
    groups: int


@with_second_model
def run(task: Task) -> Found:
    """Votes of many noisy draws at each level; the best level is tested on other draws.

    Draws come in as many groups as seeds are declared; each group votes by itself.

    Parameters
    ----------
    task : Task
        ``repeats``: at most so many entities of each relation.
    """
    said = task.declaration.table("draws")
    draws = Draws(int(said["k"]), len(said["seeds"]))
    declared, _ = declared_conditions(task.declaration)
    used = tuple(replace(c, draws=draws.k * draws.groups) if c.noise else c for c in declared)
    asked = ask_declared(task, conditions=used, beside=False)
    if isinstance(asked, Found):
        return asked
    levels = {c.name: c.noise for c in used}
    rows: list[Record] = []
    contrasts = dict[str, Record]()
    for relation in asked.relations:
        votes = {name: _votes(asked, relation, name, draws) for name in levels}
        found = [_row(asked, relation, name, sigma, votes[name]) for name, sigma in levels.items()]
        chosen = _chosen(relation, found)
        rows += [*found, chosen]
        by_level = {levels[name]: tables for name, tables in votes.items()}
        entities = asked.relations[relation].entities
        contrasts |= _contrasts(relation, entities, by_level, task.seed)
    notes = [str(row["edge"]) for row in rows if row.get("edge")]
    made = found_of(task, asked, rows, contrasts, k=draws.k, groups=draws.groups)
    return replace(made, notes=(*made.notes, *notes))


def _votes(asked: Asked, relation: str, condition: str, draws: Draws) -> list[AnswerTable]:
    """The vote of each group of draws; what was drawn once is the same in every group."""
    part = part_of(asked, relation, condition)
    if len(np.unique(part.epoch)) == 1:
        return [voted([part], condition)] * draws.groups
    of = (part.epoch - 1) // draws.k
    return [voted([part.take(of == group)], condition) for group in range(draws.groups)]


def _row(
    asked: Asked, relation: str, condition: str, sigma: float, votes: Sequence[AnswerTable]
) -> Record:
    """One level: means over the groups of draws, and the accuracy of each."""
    readings = [reading_of(table, asked.relations[relation]) for table in votes]
    accuracies = [accuracy_of(right(table)) for table in votes]
    ties = [sum(reason == "tie" for reason in table.reason.values()) for table in votes]

    def mean(name: str) -> float:
        return fmean(float(str(reading.details[name])) for reading in readings)

    by_group = [float(str(a["accuracy"])) for a in accuracies if a["accuracy"] is not None]
    return {
        "name": f"{relation}_sigma_{sigma:g}".replace(".", "_"),
        "relation": relation,
        "condition": condition,
        "sigma": sigma,
        "n": len(votes[0]),
        "n_groups": len(votes),
        "n_ties": fmean(ties),
        "n_orbits": mean("n_orbits"),
        "t1": fmean(surplus(table) for table in votes),
        "t1_star": mean("certified_errors"),
        "not_right_floor": mean("not_right_floor"),
        "accuracy": fmean(by_group) if by_group else None,
        "accuracy_by_group": list[Json](by_group),
    }


def _chosen(relation: str, rows: Sequence[Record]) -> dict[str, Json]:
    """The levels that the floor and accuracy would take, all ties named."""
    floor = {float(str(r["sigma"])): round(float(str(r["not_right_floor"])), _DIGITS) for r in rows}
    accuracy = {float(str(r["sigma"])): round(float(str(r["accuracy"])), _DIGITS) for r in rows}
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
    relation: str, entities: Sequence[str], votes: Mapping[float, Sequence[AnswerTable]], seed: int
) -> dict[str, Record]:
    """The peak against no noise and against the most.

    For every entity in every group of draws the peak is chosen on the other entities in the other
    groups.
    """
    levels = sorted(votes)
    found = np.array([[right_by_entity(t, entities) for t in votes[s]] for s in levels])
    peaks = held_out_peaks(found)
    facts: dict[str, Json] = {
        "peak": fmean(levels[i] for i in peaks.ravel().tolist()),
        "peaks": [levels[i] for i in np.unique(peaks).tolist()],
        "inside": int(((peaks > 0) & (peaks < len(levels) - 1)).all()),
    }
    at_peak = np.take_along_axis(found, peaks[np.newaxis], axis=0)[0]
    rng = np.random.default_rng(seed)
    unit = "entities; the level chosen on other entities and draws"

    def less(other: int) -> dict[str, Json]:
        values = (at_peak - found[other]).mean(axis=0, keepdims=True)
        return {**mean_record(values, rng, unit), **facts}

    return {f"peak_zero_{relation}": less(0), f"peak_last_{relation}": less(-1)}
