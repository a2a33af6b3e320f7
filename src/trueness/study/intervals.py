"""Do the printed tests keep their level and the intervals their coverage? On clouds of known laws.

Everything that a comparison prints is worked out by the code that prints it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness.contract.serial import Json
from trueness.stats.betting import bet
from trueness.stats.cloud_pairs import pair_clouds
from trueness.stats.clouds import PARTS
from trueness.stats.item_laws import Population
from trueness.stats.mcnemar import mcnemar
from trueness.stats.multiplicity import benjamini_hochberg
from trueness.stats.paired_means import ROUNDING
from trueness.stats.paired_slice import Comparison, compare_deltas
from trueness.stats.permutation import omnibus, permutation_p
from trueness.stats.verdicts import UNRESOLVED, Clause, Relation
from trueness.study.declarations import Declaration
from trueness.study.found import Found
from trueness.study.levels import Claim, Judge, Tally, contrast_record
from trueness.study.simulated_clouds import (
    SimulatedPair,
    agreement,
    clouds_of,
    draw_pair,
    population_of,
)
from trueness.study.task import Task

EXACT, NOMINAL, COVERAGE = "exact", "nominal", "coverage"
WATCHED = ("total", "gold")
_EXCHANGEABLE = ("no law changes", "arms exchangeable")
_DIRECTIONS = (Relation.UP, Relation.DOWN)


@dataclass(frozen=True, slots=True)
class _Setting:
    """One row: a population, so many items, and what a comparison is asked for."""

    population: Population
    exchangeable: bool
    n_items: int
    k: int
    orders: tuple[int, ...]
    margin: float
    alpha: float
    replicates: int
    resplits: int

    @property
    def truth(self) -> NDArray[np.float64]:
        """(5 n_orders,): the true mean changes."""
        return self.population.true_change(self.orders)

    def true_of(self, part: str) -> NDArray[np.float64]:
        """(n_orders,): the true mean changes of a part, the primary order first."""
        return self.truth[PARTS.index(part) :: len(PARTS)]


def run(task: Task) -> Found:
    """Simulated comparisons, each condition at each number of items.

    Parameters
    ----------
    task : Task
        ``seed``: each row has a generator of its own, made of the seed and its place.
        ``repeats``: comparisons of each row.
    """
    task.only()
    knobs = task.declaration.table("simulation")
    judge = Judge(float(knobs["judged_at"]), float(knobs["slack"]))
    rows: list[Mapping[str, Json]] = []
    for place, (name, condition, setting) in enumerate(_settings(task.declaration)):
        task.say(name)
        rng = np.random.default_rng([task.seed, place])
        tally, verdicts = _simulate(setting, rng, task.repeats)
        found = tally.records(judge)
        rows.append(_row(name, condition, setting, readings=found, verdicts=verdicts))
    readings = [
        (f"{row['name']}.{name}", record)
        for row in rows
        if isinstance(judged := row["readings"], dict)
        for name, record in judged.items()
        if isinstance(record, dict)
    ]
    made = int(knobs["replicates"]) * 10
    return Found(
        rows=tuple(rows),
        contrasts={c.name: contrast_record(c.name, readings) for c in task.declaration.contrasts},
        draws={"repeats": task.repeats, "k": int(task.declaration.table("draws")["k"])},
        notes=(
            f"Band and sign flip: {made} resamples or patterns; defaults make up to 100,000.",
            "Greedy answers are one further draw of each item's law.",
            "A comparison without any band (no item moved) is in no coverage of the band.",
        ),
    )


def _settings(declaration: Declaration) -> Iterator[tuple[str, Mapping[str, Any], _Setting]]:
    protocol, knobs = declaration.table("protocol"), declaration.table("simulation")
    for condition in declaration.raw["condition"]:
        population = population_of(condition, protocol["classes"])
        for n_items in declaration.table("inputs")["items"]:
            setting = _Setting(
                population,
                condition["class"] in _EXCHANGEABLE,
                n_items=int(n_items),
                k=int(declaration.table("draws")["k"]),
                orders=tuple(protocol["orders"]),
                margin=float(protocol["margin"]),
                alpha=round(1 - float(protocol["level"]), 12),
                replicates=int(knobs["replicates"]),
                resplits=int(knobs["resplits"]),
            )
            yield f"{condition['name']}_{n_items}", condition, setting


def _simulate(
    setting: _Setting, rng: np.random.Generator, repeats: int
) -> tuple[Tally, Counter[str]]:
    tally, verdicts = Tally(), Counter[str]()
    kept: list[SimulatedPair] = []
    for _ in range(repeats):
        pair = draw_pair(setting.population, rng, n_items=setting.n_items, k=setting.k)
        found = _compare(pair, setting, rng, tally)
        verdicts[found.verdict.name] += 1
        if setting.population.still:
            kept.append(pair)
    if kept:
        _single_items(kept, setting, tally, rng)
    return tally, verdicts


def _compare(
    pair: SimulatedPair, setting: _Setting, rng: np.random.Generator, tally: Tally
) -> Comparison:
    """One comparison, everything about it put into the tally."""
    alpha, roles = setting.alpha, setting.population.roles
    before, after = clouds_of(pair.before, roles), clouds_of(pair.after, roles)
    delta = agreement(after, setting.orders) - agreement(before, setting.orders)
    found = compare_deltas(
        delta,
        orders=setting.orders,
        rng=rng,
        margin=setting.margin,
        level=1 - alpha,
        replicates=setting.replicates,
    )
    if setting.population.still:
        test = omnibus(pair_clouds(before, after), rng=rng, resplits=setting.resplits)
        tally.add(Claim("omnibus", EXACT, alpha), test.p <= alpha)
    if setting.exchangeable:
        least = min(e.p_adjusted for e in found.entries if e.p_adjusted is not None)
        tally.add(Claim("sign_flip", EXACT, alpha), least <= alpha)
        _greedy(pair, alpha, tally)
    _watch(delta, setting, tally)
    _claims(found, setting, tally)
    _cover(found, setting, tally)
    return found


def _greedy(pair: SimulatedPair, alpha: float, tally: Tally) -> None:
    one, two = pair.right_before, pair.right_after
    test = mcnemar(int((one & ~two).sum()), int((two & ~one).sum()))
    tally.add(Claim("mcnemar_exact", EXACT, alpha), float(test.p_exact) <= alpha)
    tally.add(Claim("mcnemar_mid", NOMINAL, alpha), float(test.p_mid) <= alpha)


def _watch(delta: NDArray[np.float64], setting: _Setting, tally: Tally) -> None:
    """The monitor item by item: wrong stops, and its interval at the end."""
    alpha = setting.alpha
    for part in WATCHED:
        true = float(setting.true_of(part)[0])
        seen = bet(delta[:, PARTS.index(part)], margin=setting.margin, alpha=alpha)
        if abs(true) <= ROUNDING:
            tally.add(Claim(f"monitor_{part}", EXACT, alpha), seen.stopped_after is not None)
        if abs(true) >= setting.margin - ROUNDING:
            wrong = seen.equivalent_after is not None
            tally.add(Claim(f"monitor_equivalent_{part}", EXACT, alpha), wrong)
        covers = seen.low - ROUNDING <= true <= seen.high + ROUNDING
        tally.add(Claim(f"anytime_{part}", EXACT, 1 - alpha, error=False), covers)


def _claims(found: Comparison, setting: _Setting, tally: Tally) -> None:
    """Arrows, equivalence and the verdict against the truth."""
    alpha, clauses = setting.alpha, found.verdict.clauses
    arrows = [c for c in clauses if c.relation in _DIRECTIONS and c.holds]
    tally.add(Claim("arrow", NOMINAL, alpha), any(not _true(c, setting) for c in arrows))
    for clause in clauses:
        same = clause.row == 0 and clause.relation is Relation.EQUIVALENT
        if same and not _true(clause, setting):
            tally.add(Claim(f"equivalence_{clause.part}", NOMINAL, alpha), clause.holds)
    name = found.verdict.name
    said = [c for c in clauses if c.verdict == name and name != UNRESOLVED]
    tally.add(Claim("verdict", NOMINAL, 2 * alpha), any(not _true(c, setting) for c in said))


def _true(clause: Clause, setting: _Setting) -> bool:
    """Whether what a clause says of the population is so; not showing something says nothing."""
    if clause.part not in PARTS:
        return True
    true = setting.true_of(clause.part)
    if clause.relation is Relation.UP:
        return bool(true[0] > ROUNDING)
    if clause.relation is Relation.DOWN:
        return bool(true[0] < -ROUNDING)
    if clause.relation is Relation.BELOW_MARGIN:
        return bool(true[0] < setting.margin - ROUNDING)
    if clause.relation is Relation.EQUIVALENT:
        return bool((np.abs(true) < setting.margin - ROUNDING).all())
    return True


def _cover(found: Comparison, setting: _Setting, tally: Tally) -> None:
    """Whether the intervals hold the true means."""
    within = []
    for entry, true in zip(found.entries, setting.truth.tolist(), strict=True):
        if entry.band is not None:
            within.append(entry.band[0] - ROUNDING <= true <= entry.band[1] + ROUNDING)
        if entry.t90 is not None:
            held = entry.t90[0] - ROUNDING <= true <= entry.t90[1] + ROUNDING
            name = f"t90_{entry.part}_{entry.order}"
            tally.add(Claim(name, COVERAGE, 1 - 2 * setting.alpha, error=False), held)
    if within:
        tally.add(Claim("band", COVERAGE, 1 - setting.alpha, error=False), all(within))


def _single_items(
    kept: list[SimulatedPair], setting: _Setting, tally: Tally, rng: np.random.Generator
) -> None:
    """The p of every item, and whether any is said to have moved; no law did."""
    alpha, width = setting.alpha, len(setting.population.roles)
    both = np.hstack([np.concatenate([getattr(p, arm) for p in kept]) for arm in _ARMS])
    alike, place = np.unique(both, axis=0, return_inverse=True)
    roles = setting.population.roles
    pairs = pair_clouds(clouds_of(alike[:, :width], roles), clouds_of(alike[:, width:], roles))
    tested = permutation_p(pairs, rng=rng)
    for name, p in (("item_p_tv", tested.tv), ("item_p_l2", tested.l2)):
        found = p[place.reshape(-1)]
        tally.add(Claim(name, EXACT, alpha), int((found <= alpha).sum()), len(found))
    for run_p in tested.tv[place.reshape(-1)].reshape(len(kept), -1):
        said = min(benjamini_hochberg(run_p.tolist())) <= alpha
        tally.add(Claim("items_moved", EXACT, alpha), said)


_ARMS = ("before", "after")


def _row(
    name: str,
    condition: Mapping[str, Any],
    setting: _Setting,
    *,
    readings: dict[str, Json],
    verdicts: Counter[str],
) -> dict[str, Json]:
    names = [f"{part}_{order}" for order in setting.orders for part in PARTS]
    return {
        "name": name,
        "condition": str(condition["name"]),
        "class": str(condition["class"]),
        "n_items": setting.n_items,
        "k": setting.k,
        "n": verdicts.total(),
        "n_missing": 0,
        "truth": dict(zip(names, setting.truth.round(12).tolist(), strict=True)),
        "verdicts": dict(sorted(verdicts.items())),
        "readings": readings,
    }
