"""C15: passages dropped and added after a threshold was calibrated."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness.contract.serial import Json
from trueness.contract.states import State
from trueness.sensors.claims import vectors_of
from trueness.stats.acceptance import reaches
from trueness.stats.rates import Rate
from trueness.stats.span import measure_spans
from trueness.stats.span_item import SpanItem
from trueness.study.accepting import Threshold, threshold
from trueness.study.assessed import absent, generator, percentile
from trueness.study.claim_features import ENERGY, column_of
from trueness.study.crossed import Crossed, Floats, Ints, kept
from trueness.study.declarations import Declaration
from trueness.study.embedded_inputs import levels, ready
from trueness.study.found import Found
from trueness.study.measurable import check_supported
from trueness.study.protocol import Protocol
from trueness.study.results import Record
from trueness.study.searched import hard_centroid
from trueness.study.task import Task

RELATIVE = "relative"
BASE = "base"
DROP, RANDOM, NEAR = "drop", "random", "near"
"""Passages taken away; others' passages added, drawn at random or the nearest to the claim."""
SUPPORTED, UNSUPPORTED = "supported", "unsupported"
_LEAST = 1e-30
_MOST = 1_000
"""Passages that are measured here: no limit of its own."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the declaration fixes."""

    budget: float
    level: float
    dropped: tuple[int, ...]
    added: tuple[int, ...]
    judged: str
    protocol: Protocol

    @classmethod
    def of(cls, declaration: Declaration, seed: int) -> "Settings":
        """As declared."""
        return cls(
            budget=levels(declaration, "budget", float)[0],
            level=levels(declaration, "level", float)[0],
            dropped=levels(declaration, "dropped", int),
            added=levels(declaration, "added", int),
            judged=levels(declaration, "judged", str)[0],
            protocol=Protocol(seed=seed),
        )

    def changes(self) -> tuple[str, ...]:
        """Names of all changes, the unchanged evidence first."""
        kinds = [f"{kind}_{k}" for kind in (RANDOM, NEAR) for k in self.added]
        return (BASE, *(f"{DROP}_{k}" for k in self.dropped), *kinds)


def run(task: Task) -> Found:
    """Energies of claims whose evidence lost or gained passages, and the gate's verdicts.

    Parameters
    ----------
    task : Task
        ``seed``: of the halves and of the passages drawn.
        ``repeats``: groups of the slice.
    """
    settings = Settings.of(task.declaration, task.seed)
    found = ready(task)
    (part,) = found.slices
    check_supported(part)
    crossed = Crossed.of(part.table, ~part.unsupported)
    task.say(f"changing the evidence of {len(crossed)} claims")
    table = tuple(_measured(crossed, settings, task.seed))
    rows, contrasts = judged(table, settings)
    return Found(
        rows=rows,
        contrasts=contrasts,
        draws={"repeats": task.repeats, "budget": settings.budget, "level": settings.level},
        data=found.data(),
        model=found.model(),
        table=table,
    )


def judged(
    table: Sequence[Mapping[str, Any]], settings: Settings
) -> tuple[tuple[Record, ...], dict[str, Record]]:
    """One row a change, and the contrasts, from the rows of the table alone.

    Parameters
    ----------
    table : sequence of mapping
        As a run leaves them.
    settings : Settings
    """
    seen = _Seen.of(table, settings)
    rows: tuple[Record, ...] = tuple(
        {
            "name": change,
            "k": int(change.partition("_")[2] or 0),
            **{side: seen.row(change, side) for side in (SUPPORTED, UNSUPPORTED)},
        }
        for change in settings.changes()
    )
    return rows, _contrasts(seen, settings)


@dataclass(frozen=True, slots=True)
class _Seen:
    """Energies and energies over chance by change and side, and a gate on either."""

    values: Mapping[str, Mapping[tuple[str, str], Floats]]
    gates: Mapping[str, Threshold]
    later: NDArray[np.bool_]
    level: float

    @classmethod
    def of(cls, table: Sequence[Mapping[str, Any]], settings: Settings) -> "_Seen":
        """From the rows of the table; the gates are calibrated on half of the sources."""
        head, dimension = table[0], int(table[0]["dimension"])
        first = np.array(head["calibration"], np.bool_)
        ours = {(str(r["change"]), str(r["side"])): r for r in table if "change" in r}
        values = {
            ENERGY: {key: column_of(r["energy"]) for key, r in ours.items()},
            RELATIVE: {key: _relative(r, dimension) for key, r in ours.items()},
        }
        gates = {
            measure: threshold(
                found[BASE, UNSUPPORTED][first],
                budget=settings.budget,
                level=settings.level,
                population=str(head["population"]),
            )
            for measure, found in values.items()
        }
        return cls(values, gates, ~first, settings.level)

    def accepted(self, change: str, side: str, measure: str = ENERGY) -> Rate:
        """Accepted share of the half that did not calibrate."""
        found = self.values[measure][change, side][self.later]
        return self.gates[measure].share(found, level=self.level)

    def moved(self, change: str, side: str, measure: str = ENERGY) -> Floats:
        """Changes of the claims that are measured before and after."""
        found = self.values[measure]
        each = found[change, side] - found[BASE, side]
        return each[~np.isnan(each)]

    def row(self, change: str, side: str) -> dict[str, Json]:
        """Of one change and one side: means, accepted shares, and the verdicts that turned."""
        energy = self.values[ENERGY]
        now, before = (
            self.gates[ENERGY].accepted(energy[name, side][self.later]) for name in (change, BASE)
        )
        moved = self.moved(change, side)
        return {
            "n": int((~np.isnan(energy[change, side])).sum()),
            "n_unmeasured": int(np.isnan(energy[change, side]).sum()),
            "energy": _mean(energy[change, side]),
            "relative": _mean(self.values[RELATIVE][change, side]),
            "energy_change": _mean(moved),
            "relative_change": _mean(self.moved(change, side, RELATIVE)),
            "largest_rise": float(moved.max()) if len(moved) else None,
            "accepted": self.accepted(change, side).to_dict(),
            "accepted_by_relative": self.accepted(change, side, RELATIVE).to_dict(),
            "turned_to_accept": int((now & ~before).sum()),
            "turned_to_review": int((~now & before).sum()),
        }


def _contrasts(seen: _Seen, settings: Settings) -> dict[str, Record]:
    change = settings.judged
    names = ("false_acceptance", "by_relative", "energy_slope", "relative_slope", "kept")
    gate = seen.gates[ENERGY]
    if gate.tau is None:
        return dict.fromkeys(names, absent(str(gate.why)))
    return {
        "false_acceptance": _share(seen.accepted(change, UNSUPPORTED), settings),
        "by_relative": _share(seen.accepted(change, UNSUPPORTED, RELATIVE), settings),
        "energy_slope": _slope(seen.moved(change, SUPPORTED), settings),
        "relative_slope": _slope(seen.moved(change, SUPPORTED, RELATIVE), settings),
        "kept": {**_share(seen.accepted(f"{DROP}_1", SUPPORTED), settings), "p": None},
    }


def _share(seen: Rate, settings: Settings) -> Record:
    """A share with its interval, and the probability of so much at the budget."""
    if not seen.of:
        return absent("no claim is measured there")
    return {
        "estimate": seen.share,
        "low": seen.low,
        "high": seen.high,
        "kind": f"{100 * settings.level:g}% Clopper-Pearson",
        "n": seen.of,
        "p": float(reaches(seen.of, seen.count, Fraction(str(settings.budget)))),
        "state": State.MEASURED.value,
    }


def _slope(moved: Floats, settings: Settings) -> Record:
    """Change of the mean a passage added, over resampled sources."""
    if not len(moved):
        return absent("no claim is measured with the added passages")
    each = moved / int(settings.judged.partition("_")[2])
    rng = generator(settings.protocol)
    drawn = rng.integers(len(each), size=(settings.protocol.resamples, len(each)))
    found = percentile(each[drawn].mean(axis=1), float(each.mean()), 0.0, settings.protocol)
    return {**found, "unit": "source", "n": len(each)}


def _measured(crossed: Crossed, settings: Settings, seed: int) -> Iterator[Record]:
    """A head with the halves, then a list a column for every change and side."""
    near = hard_centroid(crossed.pool(), crossed.claims(), crossed.centroids())
    places = near.matched
    rng = np.random.default_rng(seed)
    first = np.zeros(len(places), dtype=np.bool_)
    first[rng.permutation(len(places))[: len(places) // 2]] = True
    yield {
        "population": near.population,
        "dimension": vectors_of(crossed.table).dimension,
        "item": [crossed.items[i] for i in places.tolist()],
        "calibration": list(first.astype(int).tolist()),
    }
    changed = _Changed.of(crossed, places, near.evidence_from[places], settings, seed)
    for side, evidence in ((SUPPORTED, places), (UNSUPPORTED, near.evidence_from[places])):
        for change in settings.changes():
            yield {"change": change, "side": side, **changed.record(change, evidence)}


@dataclass(frozen=True, slots=True)
class _Changed:
    """Claims, every passage there is, and which others' passages each claim may get."""

    crossed: Crossed
    places: Ints
    texts: tuple[str, ...]
    vectors: Floats
    of_place: tuple[Ints, ...]
    others: Mapping[str, tuple[Ints, ...]]
    order: tuple[Ints, ...]

    @classmethod
    def of(
        cls, crossed: Crossed, places: Ints, foreign: Ints, settings: Settings, seed: int
    ) -> "_Changed":
        texts: list[str] = []
        of_place = []
        for place in range(len(crossed)):
            here = crossed.texts(place)
            of_place.append(np.arange(len(texts), len(texts) + len(here)))
            texts += here
        vectors = vectors_of(crossed.table).evidence.rows(texts)
        most = max(settings.added)
        owner = np.repeat(np.arange(len(crossed)), [len(rows) for rows in of_place])
        unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _LEAST)
        claims = crossed.claims()
        rng = np.random.default_rng([seed, 1])
        drawn, nearest, order = [], [], []
        groups = np.array(crossed.groups)
        for claim, other in zip(places.tolist(), foreign.tolist(), strict=True):
            shut = np.isin(groups[owner], [groups[claim], groups[other]])
            free = np.flatnonzero(~shut)
            drawn.append(rng.permutation(free)[:most])
            nearest.append(free[np.argsort(-(unit[free] @ claims[claim]), kind="stable")[:most]])
            order.append(rng.permutation(max(len(rows) for rows in of_place)))
        others = {RANDOM: tuple(drawn), NEAR: tuple(nearest)}
        return cls(crossed, places, tuple(texts), vectors, tuple(of_place), others, tuple(order))

    def record(self, change: str, evidence: Ints) -> dict[str, Any]:
        """Energies of the claims, and the directions that were kept."""
        kind, _, k = change.partition("_")
        claims = self.crossed.claims()
        items, empty = [], []
        for i, (claim, other) in enumerate(
            zip(self.places.tolist(), evidence.tolist(), strict=True)
        ):
            own = self.of_place[other]
            if kind == DROP:
                order = self.order[i]
                own = own[order[order < len(own)]][: max(len(own) - int(k), 0)]
            elif kind != BASE:
                own = np.concatenate([own, self.others[kind][i][: int(k)]])
            empty.append(not len(own))
            items.append(SpanItem(claims[claim], self.vectors[own], [self.texts[j] for j in own]))
        rules = replace(self.crossed.rules, max_passages=_MOST)
        spans = measure_spans(items, rules=rules, influence=False)
        energy = kept(column_of([s.energy for s in spans]))
        return {
            "energy": [None if np.isnan(v) else v for v in energy.tolist()],
            "r": [None if s.energy is None else s.r for s in spans],
            "n_without_evidence": sum(empty),
        }


def _relative(record: Mapping[str, Any], dimension: int) -> Floats:
    energy, r = column_of(record["energy"]), column_of(record["r"])
    found: Floats = energy / (1 - r / dimension)
    return found


def _mean(values: Floats) -> float | None:
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else None
