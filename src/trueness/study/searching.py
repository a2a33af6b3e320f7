"""C10: a search for foreign evidence that looks safe, against thresholds that knew of it or not."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from trueness.contract.errors import TooFewCalibrationItems
from trueness.contract.states import State
from trueness.decide.promise import promise_of
from trueness.stats.acceptance import reaches
from trueness.stats.mcnemar import mcnemar
from trueness.stats.rates import rate
from trueness.study.assessed import absent, generator, percentile
from trueness.study.claim_features import column_of
from trueness.study.crossed import Crossed
from trueness.study.declarations import Declaration
from trueness.study.embedded_inputs import levels, ready
from trueness.study.found import Found
from trueness.study.measurable import check_supported
from trueness.study.negatives import rate_name, sample_to_read
from trueness.study.protocol import Protocol
from trueness.study.published import published_of
from trueness.study.results import Record
from trueness.study.search_budget import SearchRow, search_budget
from trueness.study.searched import SearchCurve, value_aware
from trueness.study.task import Task

CALIBRATION, EVALUATION = "calibration", "evaluation"
UNREAD = 50
"""Accepted pairs that are written out for a person to read."""
_UNREAD_NOTE = (
    "The accepted shares are of foreign evidence nobody has read yet: some of it may truly "
    "support its claim. The pairs to read stand in the table."
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the declaration fixes."""

    budget: float
    level: float
    ks: tuple[int, ...]
    protocol: Protocol

    @classmethod
    def of(cls, declaration: Declaration, seed: int) -> "Settings":
        """As declared."""
        return cls(
            budget=levels(declaration, "budget", float)[0],
            level=levels(declaration, "level", float)[0],
            ks=levels(declaration, "search_budget", int),
            protocol=Protocol(seed=seed),
        )


def run(task: Task) -> Found:
    """Accepted share of the safest foreign evidence among the K nearest, for growing K.

    All sources are the corpus that is searched; the claims of one half calibrate, those of the
    other are judged.

    Parameters
    ----------
    task : Task
        ``seed``: of the halves and of what is written out.
        ``repeats``: groups of the slice.
    """
    settings = Settings.of(task.declaration, task.seed)
    found = ready(task)
    (part,) = found.slices
    check_supported(part)
    crossed = Crossed.of(part.table, ~part.unsupported)
    task.say(f"measuring {len(crossed)} claims against {len(crossed)} sources")
    grid = crossed.grid()
    curve = value_aware(
        crossed.pool(),
        crossed.claims(),
        crossed.centroids(),
        score=lambda claim, rows: grid[claim, rows],
        budgets=settings.ks,
    )
    table = [*_halves(curve, crossed.groups, task.seed)]
    rows, contrasts = judged(table, settings)
    taus: list[Any] = [row["tau_without"] for row in rows]
    unread = list(_unread(crossed, curve, table[1], taus[-1], task.seed)) if taus else []
    return Found(
        rows=rows,
        contrasts=contrasts,
        draws={
            "repeats": task.repeats,
            "budget": settings.budget,
            "level": settings.level,
            "rate": rate_name(unread),
            "population": curve.population,
            "excluded": dict(curve.excluded),
        },
        notes=(_UNREAD_NOTE,),
        published=published_of(task.declaration, {"rows": rows}),
        data=found.data(),
        model=found.model(),
        table=(*table, *unread),
    )


def judged(
    table: Sequence[Record], settings: Settings
) -> tuple[tuple[Record, ...], dict[str, Record]]:
    """Rows by K and the contrasts, from the rows of the table alone.

    Parameters
    ----------
    table : sequence of mapping
        As a run leaves them.
    settings : Settings
    """
    halves = {str(r["split"]): r for r in table if "split" in r}
    curves = {name: _curve(record) for name, record in halves.items()}
    sources = {name: _sources(record) for name, record in halves.items()}
    promise = promise_of(
        budget=settings.budget,
        level=settings.level,
        unit="source_one",
        negatives=curves[CALIBRATION].population,
    )
    try:
        made = search_budget(
            curves[CALIBRATION],
            curves[EVALUATION],
            promise,
            calibration_sources=sources[CALIBRATION],
            evaluation_sources=sources[EVALUATION],
        )
    except TooFewCalibrationItems as error:
        names = ("without", "growth", "recalibrated", "slope", *(f"K{k}" for k in settings.ks))
        return (), dict.fromkeys(names, absent(str(error)))
    rows = tuple({"name": f"K{row.k}", **row.to_dict()} for row in made)
    return rows, _contrasts(curves[EVALUATION], made, settings)


def _contrasts(
    curve: SearchCurve, made: Sequence[SearchRow], settings: Settings
) -> dict[str, Record]:
    last = made[-1]
    n = last.without.of
    more = last.without.count - made[0].without.count
    grown = rate(more, n, level=settings.level)
    return {
        "without": _against_budget(last, settings, knowing=False),
        "recalibrated": _against_budget(last, settings, knowing=True),
        "growth": {
            "estimate": grown.share,
            "low": grown.low,
            "high": grown.high,
            "kind": _kind(settings),
            "n": n,
            "p": float(mcnemar(0, more).p_exact),
            "state": grown.state.value,
        },
        "slope": _slope(curve, made[0].tau_without, settings),
        **{f"K{row.k}": _at(row, settings) for row in made},
    }


def _at(row: SearchRow, settings: Settings) -> Record:
    """One point of the curve, as it is printed."""
    knowing = "none" if row.with_k.share is None else f"{row.with_k.share:.3f}"
    return {
        **_against_budget(row, settings, knowing=False),
        "p": None,
        "where": f"exhausted {row.exhausted} of {row.without.of}; recalibrated {knowing}",
    }


def _against_budget(row: SearchRow, settings: Settings, *, knowing: bool) -> Record:
    seen = row.with_k if knowing else row.without
    tail = reaches(seen.of, seen.count, Fraction(str(settings.budget)))
    return {
        "estimate": seen.share,
        "low": seen.low,
        "high": seen.high,
        "kind": _kind(settings),
        "n": seen.of,
        "p": float(tail),
        "state": seen.state.value,
        "exhausted": row.exhausted,
    }


def _slope(curve: SearchCurve, tau: float, settings: Settings) -> Record:
    """Accepted share per doubling of K, over resampled claims."""
    below = (curve.value < tau).astype(np.float64)
    x = np.log2(np.array(curve.budgets, np.float64))
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    each = below @ weights
    rng = generator(settings.protocol)
    drawn = rng.integers(len(each), size=(settings.protocol.resamples, len(each)))
    resampled = each[drawn].mean(axis=1)
    return {
        **percentile(resampled, float(each.mean()), 0.0, settings.protocol),
        "unit": "source",
        "n": len(each),
        "state": State.MEASURED.value,
    }


def _kind(settings: Settings) -> str:
    return f"{100 * settings.level:g}% Clopper-Pearson"


def _halves(curve: SearchCurve, groups: Sequence[str], seed: int) -> Iterator[Record]:
    """The curve of either half of the sources, column by column."""
    names = sorted(set(groups))
    order = np.random.default_rng(seed).permutation(len(names))
    first = {names[i] for i in order[: len(names) // 2].tolist()}
    for split, wanted in ((CALIBRATION, True), (EVALUATION, False)):
        rows = [i for i, group in enumerate(groups) if (group in first) is wanted]
        there = curve.at(np.array(rows, np.int64))
        yield {
            "split": split,
            "population": there.population,
            "budgets": list(there.budgets),
            "item": list(there.items),
            "group": [groups[i] for i in rows],
            "admissible": list(there.admissible.tolist()),
            "value": [[_number(v) for v in line] for line in there.value.tolist()],
        }


def _curve(record: Mapping[str, Any]) -> SearchCurve:
    value = np.array([column_of(line) for line in record["value"]], np.float64)
    ks = tuple(record["budgets"])
    value = value.reshape(len(record["item"]), len(ks))
    admissible = np.array(record["admissible"], np.int64)
    return SearchCurve(
        population=record["population"],
        items=record["item"],
        budgets=ks,
        chosen=np.full(value.shape, -1, np.int64),
        value=value,
        exhausted={k: int((admissible < k).sum()) for k in ks},
        excluded={},
        relaxations={},
        admissible=admissible,
    )


def _sources(record: Mapping[str, Any]) -> dict[str, str]:
    return dict(zip(record["item"], record["group"], strict=True))


def _unread(
    crossed: Crossed, curve: SearchCurve, half: Mapping[str, Any], tau: float, seed: int
) -> Iterator[Record]:
    """Accepted pairs of one half and the largest K in full, each unread."""
    place = {item: int(row) for item, row in zip(curve.items, crossed.rows, strict=True)}
    mine = np.array([item in set(half["item"]) for item in curve.items])
    accepted = mine & (curve.value[:, -1] < tau)
    negatives = curve.negatives(curve.budgets[-1])
    for pair in sample_to_read(negatives, accepted, seed=seed, size=UNREAD):
        claim, other = (place[str(pair[name])] for name in ("claim", "evidence_from"))
        yield {
            **pair,
            "text": crossed.table.claim[claim],
            "evidence": list(crossed.table.passages(other)),
        }


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
