"""Numbers beside the energy: a second axis, and the level that chance would give."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from trueness.contract.states import State
from trueness.sensors.claims import span_item, vectors_of
from trueness.sensors.energy.foreign import foreign_levels
from trueness.sensors.energy.params import Params
from trueness.stats.cluster_auroc import MIN_CLUSTERS
from trueness.stats.span_item import SpanItem
from trueness.study.assessed import (
    PARTIAL,
    assessed,
    difference,
    generator,
    percentile,
    too_few,
)
from trueness.study.claim_features import ENERGY, claim_features, column_of
from trueness.study.control_ranks import ranked
from trueness.study.controls import Control, Numbers, scored
from trueness.study.populations import LABELLED, NEAREST, Bench, Population
from trueness.study.protocol import Floats, Ints, Protocol, Scored, fitted

if TYPE_CHECKING:
    from trueness.contract.serial import Json
    from trueness.study.results import Record

SECOND = ("pr_lambda", "entropy_rank_lambda", "influence", "margin", "cutoff_gap")
ALONE = "alone"
RELATIVE, EMPIRICAL = "relative", "empirical"
_POPULATIONS = (NEAREST, LABELLED)
_FOREIGN = 16

ClaimColumns = Mapping[str, Floats]


def _second_scores(bench: Bench) -> Sequence[Scored]:
    found = []
    for name in _POPULATIONS:
        population = bench.populations.get(name)
        if population is None:
            continue
        bench.task.say(f"second numbers on {name}")
        known, part = claim_features(population.table), scored(population, {})

        def made(*names: str, known: ClaimColumns = known.columns, part: Scored = part) -> Floats:
            columns = [known[each] for each in names]
            return fitted(columns, part.unsupported, part.groups, bench.protocol)

        columns = {ENERGY: made(ENERGY)}
        columns |= {each: made(ENERGY, each) for each in SECOND}
        columns |= {f"{each}_{ALONE}": ranked(known.columns[each]) for each in SECOND}
        found.append(scored(population, columns))
    return found


def _second(parts: Mapping[str, Scored], protocol: Protocol) -> Numbers:
    rows: list[Record] = []
    contrasts: dict[str, Record] = {}
    for name, part in parts.items():
        rows += [
            {"name": f"{name}_{each}", "population": name, **assessed(part, each, protocol)}
            for each in part.columns
        ]
        for each in SECOND:
            contrasts[f"{name}_{each}"] = difference(
                part, each, ENERGY, protocol, statistic=PARTIAL
            )
    return Numbers(rows, contrasts, (_SAID,))


_SAID = (
    "alone: the second number by itself, as dense ranks. All but the margin and the influence are "
    "of the evidence alone: where such a number tells more than one half, the foreign evidence "
    "that was picked differs from the own, whatever the claim says."
)


def _chance_scores(bench: Bench) -> Sequence[Scored]:
    found = []
    for name in (LABELLED, NEAREST):
        population = bench.populations.get(name)
        if population is None:
            continue
        bench.task.say(f"foreign evidence for {name}")
        known = claim_features(population.table, influence=False)
        energy, n = known.columns[ENERGY], known.columns["n"]
        level = foreign_energy(population, seed=bench.protocol.seed)
        usual = by_size(level, n, scored(population, {}).groups)
        columns = {
            ENERGY: energy,
            "chance": known.columns["chance"],
            "foreign": level,
            "n": n,
            RELATIVE: known.columns["relative"],
            EMPIRICAL: energy / usual,
        }
        found.append(scored(population, columns))
    return found


def foreign_energy(population: Population, *, seed: int, m: int = _FOREIGN) -> Floats:
    """(n,) Mean energy of every claim against other sources' evidence of as many passages.

    Parameters
    ----------
    population : Population
    seed : int
    m : int
        Other sources a claim at most; nan where too few have as many passages.
    """
    table = population.table
    found = {row: span_item(table, row) for row in range(len(table))}
    ready = {
        row: item
        for row, item in found.items()
        if isinstance(item, SpanItem) and not item.text_too_long
    }
    params = Params(foreign=m, seed=seed, foreign_claims=len(table))
    levels = foreign_levels(table, ready, params.rules(vectors_of(table).noise), params)
    means = {row: level.mean for row, level in levels.items()}
    return column_of([means.get(row) for row in range(len(table))])


def by_size(level: Floats, n: Floats, groups: Ints) -> Floats:
    """(n,) Mean foreign energy of the other sources' claims with as many passages.

    The own source is left out, so that a row takes no part in what it is measured by.
    """
    out = np.full(len(level), np.nan)
    there = np.isfinite(level)
    for row in range(len(level)):
        alike = there & (n == n[row]) & (groups != groups[row])
        if alike.any():
            out[row] = level[alike].mean()
    return out


def _chance(parts: Mapping[str, Scored], protocol: Protocol) -> Numbers:
    rows: list[Record] = []
    contrasts: dict[str, Record] = {}
    for name, part in parts.items():
        contrasts[name] = _bias(part, ~part.unsupported, protocol)
        sizes = np.unique(part.columns["n"][np.isfinite(part.columns["n"])])
        rows += [
            {
                "name": f"{name}_n_{int(size)}",
                "population": name,
                "passages": int(size),
                **_bias(part, ~part.unsupported & (part.columns["n"] == size), protocol),
            }
            for size in sizes.tolist()
        ]
        for each in (RELATIVE, EMPIRICAL):
            contrasts[f"{name}_{each}"] = difference(part, each, ENERGY, protocol)
        rows += [
            {"name": f"{name}_{each}", "population": name, **assessed(part, each, protocol)}
            for each in (ENERGY, RELATIVE, EMPIRICAL)
        ]
    return Numbers(rows, contrasts)


def _bias(
    part: Scored, rows: np.ndarray[tuple[int], np.dtype[np.bool_]], protocol: Protocol
) -> dict[str, "Json"]:
    """How far 1 - r/d lies above the mean foreign energy, over resampled sources."""
    apart = part.columns["chance"] - part.columns["foreign"]
    there = rows & np.isfinite(apart)
    sums = np.bincount(part.groups[there], weights=apart[there])
    counts = np.bincount(part.groups[there])
    sums, counts = sums[counts > 0], counts[counts > 0]
    head: dict[str, Json] = {
        "unit": "source",
        "n": len(counts),
        "n_unmeasured": int((rows & ~np.isfinite(apart)).sum()),
    }
    if not len(counts):
        gap = dict.fromkeys(("estimate", "low", "high", "p", "p_holm"))
        why = "no supported claim has a number on foreign evidence"
        return {**head, **gap, "state": State.NO_EVIDENCE.value, "where": why}
    estimate = float(sums.sum() / counts.sum())
    head["mean_foreign"] = float(part.columns["foreign"][there].mean())
    head["mean_chance"] = float(part.columns["chance"][there].mean())
    if len(counts) < MIN_CLUSTERS:
        gap = dict.fromkeys(("low", "high", "p", "p_holm"))
        state = {"state": State.NOT_APPLICABLE.value, "where": too_few(len(counts))}
        return {**head, **gap, "estimate": estimate, **state}
    drawn = generator(protocol).integers(0, len(counts), (protocol.resamples, len(counts)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    return {**head, **percentile(means, estimate, 0.0, protocol)}


C14 = Control(_second_scores, _second)
C20 = Control(_chance_scores, _chance)
