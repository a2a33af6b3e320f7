"""C16: three ways to a threshold, on the same sources split anew a thousand times."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from trueness.contract.serial import Json
from trueness.contract.states import State
from trueness.stats.acceptance import conformal_rank, exact_rank
from trueness.stats.rates import rate
from trueness.study.assessed import absent
from trueness.study.binding import made_slice
from trueness.study.binding_risks import foreign_risks
from trueness.study.claim_features import ENERGY, column_of
from trueness.study.crossed import Floats
from trueness.study.declarations import Declaration
from trueness.study.embedded_inputs import levels, ready
from trueness.study.found import Found
from trueness.study.results import Record
from trueness.study.task import Task

EXACT, CONFORMAL, PERCENTILE = "exact", "conformal", "percentile"
METHODS = (EXACT, CONFORMAL, PERCENTILE)
_KEPT = 100
"""Sources that are left to look at, at the least."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the declaration fixes."""

    budget: Fraction
    level: Fraction
    sizes: tuple[int, ...]
    resplits: int
    judged_at: float
    seed: int

    @classmethod
    def of(cls, declaration: Declaration, seed: int) -> "Settings":
        """As declared."""
        return cls(
            budget=Fraction(str(levels(declaration, "budget", float)[0])),
            level=Fraction(str(levels(declaration, "level", float)[0])),
            sizes=levels(declaration, "n", int),
            resplits=levels(declaration, "resplits", int)[0],
            judged_at=levels(declaration, "judged_at", float)[0],
            seed=seed,
        )


def run(task: Task) -> Found:
    """False acceptance of thresholds from n sources, on the sources that were left.

    Parameters
    ----------
    task : Task
        ``repeats``: groups of each slice.
    """
    settings = Settings.of(task.declaration, task.seed)
    made = made_slice(
        task.seed, per_kind=levels(task.declaration, "per_kind", int)[0], most=task.repeats
    )
    found = ready(task, more=[made])
    table = [
        record
        for part in found.slices
        for record in foreign_risks(part, task.seed, measures=(ENERGY,))
    ]
    task.say(f"splitting {settings.resplits} times")
    rows = tuple(row for record in table for row in rows_of(record, settings))
    return Found(
        rows=rows,
        contrasts=contrasts_of(rows, settings),
        draws={
            "repeats": task.repeats,
            "resplits": settings.resplits,
            "budget": float(settings.budget),
            "level": float(settings.level),
        },
        data=found.data(),
        model=found.model(),
        table=tuple(table),
    )


def rows_of(record: Mapping[str, Any], settings: Settings) -> Iterator[Record]:
    """One row a method and size, from the risks of one population of negatives.

    Parameters
    ----------
    record : mapping
        With ``risk``: one number a source.
    settings : Settings
    """
    risks = column_of(record["risk"])
    risks = risks[~np.isnan(risks)]
    head = {"data": record["data"], "negatives": record["negatives"], "sources": len(risks)}
    for n in settings.sizes:
        seen = resplit(risks, n, settings) if len(risks) >= n + _KEPT else {}
        for method in METHODS:
            name = f"{record['data']}_{record['negatives']}_{method}_{n}"
            where = {"name": name, **head, "method": method, "n": n}
            if method in seen:
                yield {**where, **_judged(seen[method], method, settings)}
            else:
                yield {**where, **_not_run(len(risks), n, method, settings)}


def resplit(risks: Floats, n: int, settings: Settings) -> dict[str, Floats]:
    """False acceptance of every method's threshold on the rest, split after split.

    Parameters
    ----------
    risks : (n_sources,) float
    n : int
        Sources that calibrate.
    settings : Settings

    Returns
    -------
    mapping of method to (n_resplits, 2) float
        Accepted share of the sources left over, and of all; a method that gives no threshold
        from n sources is not in it.
    """
    rng = np.random.default_rng([settings.seed, n])
    ranks = {
        EXACT: exact_rank(n, settings.budget, delta=1 - settings.level),
        CONFORMAL: conformal_rank(n, settings.budget),
    }
    found: dict[str, list[tuple[float, float]]] = {m: [] for m in METHODS if ranks.get(m, 1)}
    for _ in range(settings.resplits):
        order = rng.permutation(len(risks))
        chosen, rest = np.sort(risks[order[:n]]), risks[order[n:]]
        for method, shares in found.items():
            if method == PERCENTILE:
                cut = np.quantile(chosen, float(settings.budget))
                shares.append((float((rest <= cut).mean()), float((risks <= cut).mean())))
            else:
                tau = chosen[ranks[method] - 1]
                shares.append((float((rest < tau).mean()), float((risks < tau).mean())))
    return {method: np.array(shares) for method, shares in found.items()}


def contrasts_of(rows: Sequence[Mapping[str, Any]], settings: Settings) -> dict[str, Record]:
    """Each method's cells in which it does not do what it promises.

    The exact threshold promises that at most a share ``1 - level`` of calibrations breaks the
    budget; so the percentile is asked, which promises nothing. The conformal one promises a mean.
    """
    found: dict[str, Record] = {}
    for method in METHODS:
        cells = [r for r in rows if r["method"] == method and r["state"] == State.MEASURED.value]
        broken = [str(r["name"]) for r in cells if r["broken"]]
        worst = max((float(r["over"]["share"]) for r in cells), default=None)
        found[method] = {
            "estimate": worst,
            "n": len(cells),
            "beyond": len(broken),
            "where": list[Json](broken),
            "state": State.MEASURED.value,
        }
        if not cells:
            wanted = min(settings.sizes) + _KEPT
            there = max((int(r["sources"]) for r in rows), default=0)
            why = f"too few sources with a number: {there}; wanted {wanted}"
            found[method] = {**absent(why), "beyond": None}
    found["resplits"] = {"n": settings.resplits, "state": State.MEASURED.value}
    return found


def _judged(shares: Floats, method: str, settings: Settings) -> dict[str, Json]:
    """Mean and spread of what is accepted, and how often the budget is broken.

    Judged on the whole slice as the population: there the share is known, and sources drawn
    without replacement are less spread than independent ones, so the promise must hold.
    """
    rest, whole = shares[:, 0], shares[:, 1]
    budget = float(settings.budget)
    over = rate(int((whole > budget).sum()), len(whole), level=settings.judged_at)
    mean = float(rest.mean())
    spread = float(rest.std(ddof=1) / np.sqrt(len(rest)))
    broken = over.low > 1 - float(settings.level)
    if method == CONFORMAL:
        broken = mean - 3 * spread > budget
    return {
        "state": State.MEASURED.value,
        "mean": mean,
        "sd": float(rest.std(ddof=1)),
        "over": over.to_dict(),
        "over_on_the_rest": float((rest > budget).mean()),
        "broken": broken,
    }


def _not_run(sources: int, n: int, method: str, settings: Settings) -> dict[str, Json]:
    budget = float(settings.budget)
    why = f"{n} sources carry no {method} threshold for a budget of {budget:g}"
    if sources < n + _KEPT:
        why = f"not run: {sources} sources; wanted {n} and {_KEPT} more to look at"
    return {"state": State.NOT_APPLICABLE.value, "where": why}
