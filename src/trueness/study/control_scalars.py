"""One number a claim: the energy alone, beside simpler measures, and between twins."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from trueness.study.assessed import above_half, assessed, auroc, difference, paired
from trueness.study.claim_features import ENERGY, RIVALS, claim_features
from trueness.study.controls import Control, Numbers, scored
from trueness.study.populations import BARE, LABELLED, NEAREST, Bench
from trueness.study.protocol import Protocol, Scored
from trueness.study.words import term_weights

if TYPE_CHECKING:
    from trueness.contract.serial import Json
    from trueness.study.results import Record

CLAIM = "claim"
LEVELS = {
    CLAIM: ENERGY,
    "max": "max_energy",
    "mean": "mean_energy",
    "p90": "p90_energy",
}
"""The whole claim as one vector, and aggregates over its sentences."""
TF_IDF = "tf_idf"
CHARACTERS = "char_count"
_ALL = (*RIVALS, TF_IDF)


def _single_scores(bench: Bench) -> Sequence[Scored]:
    found = []
    for population in bench.populations.values():
        bench.task.say(f"energy of {population.name}")
        known = claim_features(population.table, influence=False)
        several = population.name in (LABELLED, NEAREST)
        levels = LEVELS if several else {CLAIM: ENERGY}
        columns = {level: known.risk(name) for level, name in levels.items()}
        found.append(scored(population, columns))
    return found


def _single(parts: Mapping[str, Scored], protocol: Protocol) -> Numbers:
    rows: list[Record] = [
        {
            "name": f"{name}_{level}",
            "population": name,
            "level": level,
            **assessed(part, level, protocol),
        }
        for name, part in parts.items()
        for level in part.columns
    ]
    found = {name: above_half(part, CLAIM, protocol) for name, part in parts.items()}
    return Numbers(rows, found)


def _rival_scores(bench: Bench) -> Sequence[Scored]:
    found = []
    for name in (LABELLED, BARE, NEAREST):
        population = bench.populations.get(name)
        if population is None:
            continue
        bench.task.say(f"energy and rivals of {name}")
        known = claim_features(population.table, influence=False)
        columns = {each: known.risk(each) for each in (ENERGY, *RIVALS)}
        columns[TF_IDF] = term_weights(population, bench.protocol)
        found.append(scored(population, columns))
    return found


def _rivals(parts: Mapping[str, Scored], protocol: Protocol) -> Numbers:
    rows: list[Record] = []
    contrasts: dict[str, Record] = {}
    for name, part in parts.items():
        rows += [
            {"name": f"{name}_{each}", "population": name, **assessed(part, each, protocol)}
            for each in part.columns
        ]
        apart = {each: difference(part, ENERGY, each, protocol) for each in _ALL}
        rows += [
            {"name": f"{name}_energy_minus_{each}", "population": name, **record}
            for each, record in apart.items()
        ]
        best = _best(part)
        contrasts[name] = {**apart[best or _ALL[0]], "rival": best}
    said = "The best rival is picked on the rows that it is compared on, which favours it."
    return Numbers(rows, contrasts, (said,))


def _best(part: Scored) -> str | None:
    """The rival with the largest AUROC on the rows that all of them have; None without both."""
    there = np.isfinite(np.stack([part.columns[each] for each in _ALL])).all(axis=0)
    wrong = part.unsupported[there]
    if wrong.all() or not wrong.any():
        return None
    return max(_ALL, key=lambda each: auroc(part.columns[each][there], wrong))


def _twin_scores(bench: Bench) -> Sequence[Scored]:
    found = []
    for population in bench.populations.values():
        bench.task.say(f"twins of {population.name}")
        known = claim_features(population.table, influence=False)
        names = (ENERGY, "centroid", CHARACTERS)
        found.append(scored(population, {name: known.risk(name) for name in names}))
    return found


def _twins(parts: Mapping[str, Scored], protocol: Protocol) -> Numbers:
    found: dict[str, dict[str, Json]] = {
        f"{name}_{each}": paired(part, each, level=protocol.level)
        for name, part in parts.items()
        for each in part.columns
    }
    rows = [{"name": name, **record} for name, record in found.items()]
    return Numbers(rows, {name: found[f"{name}_{ENERGY}"] for name in parts})


C1 = Control(_single_scores, _single)
C2 = Control(_rival_scores, _rivals)
C5 = Control(_twin_scores, _twins)
