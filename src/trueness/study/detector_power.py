"""What tables of few wrong or few right items can say about an AUROC, on scores of known law."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from trueness.contract.serial import Json
from trueness.stats.auroc import MAX_ENUMERATED, newcombe_interval, rank_wrong_above_right
from trueness.stats.auroc_rivals import (
    bootstrap_intervals,
    delong_intervals,
    permutation_ps,
    wins,
)
from trueness.stats.planning import auroc_half_width_size
from trueness.stats.power import auroc_floor
from trueness.stats.rates import rate
from trueness.study.declarations import Declaration
from trueness.study.embedded_inputs import levels
from trueness.study.found import Found
from trueness.study.levels import Claim, Judge, contrast_record
from trueness.study.published import published_of
from trueness.study.task import Task

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

METHODS = ("exact", "permutation", "newcombe", "delong", "bootstrap")
_CHANCE, _NAMED, _HALF_WIDTH = 0.5, 0.7, 0.05


@dataclass(frozen=True, slots=True)
class Setting:
    """One row: how many of each class, and how well the score ranks them.

    Parameters
    ----------
    n_wrong, n_right : int
    auroc : float
    level : float
        Of every interval; a test is significant at the rest.
    replicates, resplits : int
        Of the bootstrap; of the permutation test.
    """

    n_wrong: int
    n_right: int
    auroc: float
    level: float
    replicates: int
    resplits: int

    @property
    def name(self) -> str:
        """Such as ``15_1_auroc_50``."""
        return f"{self.n_wrong}_{self.n_right}_auroc_{round(100 * self.auroc)}"


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """What a method made of every table; a table for which it gives nothing is in no rate.

    Parameters
    ----------
    given : (n_tables,) bool
    beyond_chance : (n_tables,) bool
        It calls the score better or worse than chance.
    covers : (n_tables,) bool or None
        Its interval holds the true AUROC; None for a test without one.
    """

    given: Bools
    beyond_chance: Bools
    covers: Bools | None


_SHOWS_NOT = (
    "It does not show how good any detector is, nor that a table on which nothing is found holds "
    "nothing to find."
)


def run(task: Task) -> Found:
    """Type I error, power and coverage of tests and intervals of an AUROC.

    Parameters
    ----------
    task : Task
        ``inputs``: none is of use.
        ``seed``: each row has a generator of its own, made of the seed and its place.
        ``repeats``: simulated tables of each row.
    """
    task.only()
    knobs = task.declaration.table("simulation")
    judge = Judge(float(knobs["judged_at"]), float(knobs["slack"]))
    (worst,) = levels(task.declaration, "type_one_error", float)
    rows: list[Mapping[str, Json]] = []
    for place, setting in enumerate(settings_of(task.declaration)):
        task.say(setting.name)
        rng = np.random.default_rng([task.seed, place])
        rows.append(_row(setting, outcomes(setting, rng, task.repeats), judge, worst))
    draws: dict[str, Json] = {
        "repeats": task.repeats,
        "half_width_items": 2 * auroc_half_width_size(_NAMED, half_width=_HALF_WIDTH),
        "largest_power_at_070": _largest_power(rows),
    }
    return Found(
        rows=tuple(rows),
        contrasts={c.name: _contrast(c.name, rows) for c in task.declaration.contrasts},
        draws=draws,
        published=published_of(task.declaration, {"rows": rows, "draws": draws}),
        notes=(
            f"Exact: only tables with at most {MAX_ENUMERATED:,} labellings.",
            "DeLong gives no interval where a class has one item.",
            _SHOWS_NOT,
        ),
    )


def settings_of(declaration: Declaration) -> Iterator[Setting]:
    """The declared splits at each declared AUROC."""
    knobs = declaration.table("simulation")
    splits = zip(
        levels(declaration, "n_wrong", int), levels(declaration, "n_right", int), strict=True
    )
    for n_wrong, n_right in splits:
        for auroc in levels(declaration, "auroc", float):
            yield Setting(
                n_wrong=n_wrong,
                n_right=n_right,
                auroc=auroc,
                level=float(declaration.table("protocol")["level"]),
                replicates=int(knobs["replicates"]),
                resplits=int(knobs["resplits"]),
            )


def outcomes(setting: Setting, rng: np.random.Generator, repeats: int) -> dict[str, Outcomes]:
    """What each method made of simulated tables: the same tables for all.

    Parameters
    ----------
    setting : Setting
    rng : numpy.random.Generator
    repeats : int
    """
    apart = math.sqrt(2) * float(ndtri(setting.auroc))
    wrong = rng.normal(apart, 1.0, (repeats, setting.n_wrong))
    right = rng.normal(0.0, 1.0, (repeats, setting.n_right))
    won, alpha = wins(wrong, right), round(1 - setting.level, 12)
    classes = {"n_wrong": setting.n_wrong, "n_right": setting.n_right}
    exact = _exact(wrong, right, won)
    permuted = permutation_ps(won, **classes, rng=rng, n_permutations=setting.resplits)
    intervals = {
        "newcombe": _newcombe(won, setting),
        "delong": delong_intervals(wrong, right, level=setting.level),
        "bootstrap": bootstrap_intervals(
            wrong, right, rng=rng, n_resamples=setting.replicates, level=setting.level
        ),
    }
    return {
        "exact": Outcomes(~np.isnan(exact), exact <= alpha, None),
        "permutation": Outcomes(~np.isnan(permuted), permuted <= alpha, None),
        **{name: _of_interval(ends, setting.auroc) for name, ends in intervals.items()},
    }


def _exact(wrong: Floats, right: Floats, won: NDArray[np.int64]) -> Floats:
    """Two-sided p as a sensor prints it; nan where there are too many labellings."""
    n_wrong, n_right = wrong.shape[1], right.shape[1]
    if math.comb(n_wrong + n_right, n_wrong) > MAX_ENUMERATED:
        return np.full(len(won), np.nan)
    first = dict(zip(won.tolist(), range(len(won)), strict=True))  # one table for each count
    known = {
        u: float(rank_wrong_above_right(wrong[i], right[i]).p_two_sided or 0)
        for u, i in first.items()
    }
    return np.array([known[u] for u in won.tolist()])


def _newcombe(won: NDArray[np.int64], setting: Setting) -> Floats:
    """The interval that sensors print."""
    n_wrong, n_right = setting.n_wrong, setting.n_right
    known = {
        u: newcombe_interval(u / (n_wrong * n_right), n_wrong, n_right=n_right, level=setting.level)
        for u in set(won.tolist())
    }
    return np.array([known[u] for u in won.tolist()])


def _of_interval(ends: Floats, auroc: float) -> Outcomes:
    low, high = ends.T
    return Outcomes(
        given=~np.isnan(low),
        beyond_chance=(low > _CHANCE) | (high < _CHANCE),
        covers=(low <= auroc) & (auroc <= high),
    )


def _row(
    setting: Setting, found: Mapping[str, Outcomes], judge: Judge, worst: float
) -> dict[str, Json]:
    floor = auroc_floor(setting.n_wrong, setting.n_right)
    chance = setting.auroc == _CHANCE
    return {
        "name": setting.name,
        "n_wrong": setting.n_wrong,
        "n_right": setting.n_right,
        "auroc": setting.auroc,
        "n": len(found["newcombe"].given),
        "n_missing": 0,
        "least_two_sided_p": float(floor.two_sided),
        "type_one_error" if chance else "power": {
            name: _seen(name, one, judge if chance else None, worst) for name, one in found.items()
        },
        "coverage": {
            name: rate(int((one.covers & one.given).sum()), int(one.given.sum())).to_dict()
            for name, one in found.items()
            if one.covers is not None
        },
    }


def _seen(name: str, found: Outcomes, judge: Judge | None, worst: float) -> Json:
    """How often a method speaks against chance; judged where chance is the truth."""
    count, of = int((found.beyond_chance & found.given).sum()), int(found.given.sum())
    if judge is None or not of:
        return rate(count, of).to_dict()
    return judge.record(Claim(name, name, worst), count, of)


def _contrast(name: str, rows: list[Mapping[str, Json]]) -> dict[str, Json]:
    """Splits at which a method breaks the level, and whether it may be used."""
    judged: list[tuple[str, Mapping[str, Json]]] = []
    without: list[Json] = []
    for row in rows:
        table = row.get("type_one_error")
        entry = table.get(name) if isinstance(table, dict) else None
        if isinstance(entry, dict) and "finding" in entry:
            judged.append((str(row["name"]), entry))
        elif isinstance(entry, dict):
            without.append(row["name"])
    shares = [s for _, e in judged if isinstance(s := e["share"], float)]
    found = contrast_record(name, judged)
    kept = found["beyond"] == 0 and found["open"] == 0 and bool(judged)
    return {**found, "largest": max(shares, default=None), "without": without, "allowed": kept}


def _largest_power(rows: list[Mapping[str, Json]]) -> Json:
    """Of the exact test at the named AUROC, over the splits that it is made for."""
    found: list[float] = []
    for row in rows:
        power = row.get("power")
        entry = power.get("exact") if isinstance(power, dict) and row["auroc"] == _NAMED else None
        share = entry.get("share") if isinstance(entry, dict) else None
        if isinstance(share, float):
            found.append(share)
    return max(found, default=None)
