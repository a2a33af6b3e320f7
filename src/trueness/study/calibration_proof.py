"""The promise of a threshold, simulated: it holds where it must and fails where it must.

Every calibration draws its items from a known distribution, so the error that its threshold really
makes is computed and not estimated. Three procedures that are often used must be seen to fail.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from trueness.contract.serial import Json
from trueness.decide.promise import share_json
from trueness.stats.acceptance import exact_rank, guarantee, needed
from trueness.stats.order_thresholds import (
    grouped_conformal_threshold,
    least_of_sources,
    one_of_each_source,
)

SIZES = (59, 100, 250, 1000)
BUDGETS = (Fraction(1, 100), Fraction(1, 50), Fraction(1, 20))
DELTAS = (Fraction(1, 20), Fraction(1, 10))
N_SOURCES, PER_SOURCE = 100, 10
_SDS = 3
_BATCH = 1_000_000
_LEVELS = 20
_ATOM = 0.6
_QUADRATURE = 60

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class World:
    """A distribution of risks: how to draw them and what lies strictly below a threshold."""

    name: str
    continuous: bool
    draw: Callable[[np.random.Generator, tuple[int, int]], Floats]
    below: Callable[[Floats], Floats]
    at_or_below: Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True)
class ProofRow:
    """One cell of the study.

    Parameters
    ----------
    rule : str
        How the threshold was found.
    values : str
        Which distribution.
    n : int
        Items, or sources.
    budget, delta : Fraction
    k : int or None
        Rank; None where the rule has none or refuses.
    guarantee : float or None
        What theory says the share within the budget is at least.
    within : float or None
        Share of calibrations whose real error is within the budget; None when refused.
    mean_error : float or None
        Of the real errors.
    calibrations : int
    must : str
        What this cell has to show.
    shown : bool
        Whether it did.
    """

    rule: str
    values: str
    n: int
    budget: Fraction
    delta: Fraction
    k: int | None
    guarantee: float | None
    within: float | None
    mean_error: float | None
    calibrations: int
    must: str
    shown: bool

    def to_dict(self) -> dict[str, Json]:
        """Plain JSON."""
        return {
            "rule": self.rule,
            "values": self.values,
            "n": self.n,
            "budget": share_json(self.budget),
            "delta": share_json(self.delta),
            "k": self.k,
            "guarantee": self.guarantee,
            "within": self.within,
            "mean_error": self.mean_error,
            "calibrations": self.calibrations,
            "must": self.must,
            "shown": self.shown,
        }


@dataclass(frozen=True, slots=True)
class Proof:
    """All cells, and whether every one showed what it has to."""

    rows: tuple[ProofRow, ...]
    seed: int

    @property
    def passed(self) -> bool:
        """Whether the promise held everywhere and the three procedures failed."""
        return all(row.shown for row in self.rows)

    def summary(self) -> str:
        """One line for a person."""
        failing = [row for row in self.rows if row.must == "fail"]
        others = len(self.rows) - len(failing)
        good = sum(row.shown for row in self.rows if row.must != "fail")
        bad = sum(row.shown for row in failing)
        return (
            f"the promise held in {good} of {others} cells; {bad} of {len(failing)} procedures "
            "that must fail did"
        )

    def to_dict(self) -> dict[str, Json]:
        """Plain JSON."""
        return {
            "passed": self.passed,
            "summary": self.summary(),
            "seed": self.seed,
            "rows": [row.to_dict() for row in self.rows],
        }


def calibration_proof(
    *,
    seed: int = 0,
    calibrations: int = 10_000,
    sizes: Sequence[int] = SIZES,
    progress: Callable[[str], None] | None = None,
) -> Proof:
    r"""Thresholds of many calibrations, with the errors they really make.

    Parameters
    ----------
    seed : int
    calibrations : int
        For each cell.
    sizes : sequence of int
        Numbers of calibration items.
    progress : callable, optional
        Is told what comes next.

    Returns
    -------
    Proof
        Passes iff the share within the budget is at least 1 - delta less three standard errors
        everywhere, equals its guarantee within three for continuous values, refusals come exactly
        where :math:`(1 - \alpha)^n > \delta`, and percentile thresholds, "at or below" with atoms
        and pooled items of correlated sources all fail.
    """
    rng = np.random.default_rng(seed)
    rows: list[ProofRow] = []
    for world in WORLDS:
        for n in sizes:
            if progress is not None:
                progress(f"{world.name} values, {n} items")
            rows += _cells(world, n, calibrations, rng)
    if progress is not None:
        progress("items of correlated sources")
    rows += _sources(calibrations, rng)
    return Proof(tuple(rows), seed)


def _cells(world: World, n: int, calibrations: int, rng: np.random.Generator) -> Iterator[ProofRow]:
    asked = [(budget, delta) for budget in BUDGETS for delta in DELTAS]
    ranks = {pair: exact_rank(n, pair[0], delta=pair[1]) for pair in asked}
    wanted = sorted({k for k in ranks.values() if k})
    found: dict[int, list[Floats]] = {k: [] for k in wanted}
    percentiles: list[Floats] = []
    for part in _batches(calibrations, n):
        values = world.draw(rng, (part, n))
        percentiles.append(np.quantile(values, float(BUDGETS[-1]), axis=1))
        if wanted:
            ordered = np.partition(values, [k - 1 for k in wanted], axis=1)
            for k in wanted:
                found[k].append(ordered[:, k - 1])
    taus = {k: np.concatenate(parts) for k, parts in found.items()}
    for (budget, delta), k in ranks.items():
        if not k:
            yield _refused(world, n, budget, delta, calibrations)
        else:
            yield _kept(world, n, budget, delta, k=k, errors=world.below(taus[k]))
            if world.name == ATOMS and (budget, delta) == _SHOWN:
                errors = world.at_or_below(taus[k])
                yield _must_fail("at or below", world.name, n, errors, k=k)
    if world.name == "uniform" and n == _PERCENTILE_N:
        errors = world.below(np.concatenate(percentiles))
        yield _must_fail("percentile", world.name, n, errors, k=None)


def _kept(
    world: World, n: int, budget: Fraction, delta: Fraction, *, k: int, errors: Floats
) -> ProofRow:
    promised, within = guarantee(n, k, budget), float((errors <= float(budget)).mean())
    kept = within >= 1 - float(delta) - _SDS * _sd(1 - float(delta), len(errors))
    must = "hold"
    if world.continuous:
        must = "hold and equal its guarantee"
        kept = kept and abs(within - promised) <= _SDS * _sd(promised, len(errors))
    return ProofRow(
        "exact",
        world.name,
        n,
        budget,
        delta,
        k,
        promised,
        within,
        float(errors.mean()),
        len(errors),
        must,
        kept,
    )


def _refused(
    world: World, n: int, budget: Fraction, delta: Fraction, calibrations: int
) -> ProofRow:
    right = (1 - budget) ** n > delta and n < needed(budget, delta)
    return ProofRow(
        "exact", world.name, n, budget, delta, None, None, None, None, calibrations, "refuse", right
    )


def _must_fail(rule: str, values: str, n: int, errors: Floats, *, k: int | None) -> ProofRow:
    budget, delta = _SHOWN
    within = float((errors <= float(budget)).mean())
    fails = within < 1 - float(delta) - _SDS * _sd(1 - float(delta), len(errors))
    return ProofRow(
        rule,
        values,
        n,
        budget,
        delta,
        k,
        None,
        within,
        float(errors.mean()),
        len(errors),
        "fail",
        fails,
    )


def _sources(calibrations: int, rng: np.random.Generator) -> Iterator[ProofRow]:
    """Items of sources whose risks have intraclass correlation one half."""
    budget, delta = _SHOWN
    codes = np.repeat(np.arange(N_SOURCES), PER_SOURCE)
    pooled = exact_rank(len(codes), budget, delta=delta)
    alone = exact_rank(N_SOURCES, budget, delta=delta)
    taus: dict[str, list[float]] = {rule: [] for rule in ("item", *_SOURCE_RULES)}
    for _ in range(calibrations):
        shared = np.repeat(rng.normal(size=N_SOURCES), PER_SOURCE)
        risks = (shared + rng.normal(size=len(codes))) * math.sqrt(0.5)
        one = risks[one_of_each_source(risks, codes, rng=rng)]
        taus["item"].append(float(np.partition(risks, pooled - 1)[pooled - 1]))
        taus["source_one"].append(float(np.partition(one, alone - 1)[alone - 1]))
        least = least_of_sources(risks, codes)
        taus["source_worst"].append(float(np.partition(least, alone - 1)[alone - 1]))
        grouped = grouped_conformal_threshold(risks, codes, budget=budget)
        taus["grouped_conformal"].append(math.nan if grouped is None else grouped)
    values = f"{N_SOURCES} sources of {PER_SOURCE}, intraclass correlation 0.5"
    yield _must_fail("pooled items", values, N_SOURCES, ndtr(np.array(taus["item"])), k=pooled)
    for rule, error in _SOURCE_RULES.items():
        errors = error(np.array(taus[rule]))
        within = float((errors <= float(budget)).mean())
        if rule == "grouped_conformal":
            mean, spread = float(errors.mean()), float(errors.std()) / math.sqrt(calibrations)
            must, kept = "hold on average", mean <= float(budget) + _SDS * spread
        else:
            least_share = 1 - float(delta) - _SDS * _sd(1 - float(delta), calibrations)
            must, kept = "hold", within >= least_share
        yield ProofRow(
            rule,
            values,
            N_SOURCES,
            budget,
            delta,
            None if rule == "grouped_conformal" else alone,
            None if rule == "grouped_conformal" else guarantee(N_SOURCES, alone, budget),
            within,
            float(errors.mean()),
            calibrations,
            must,
            kept,
        )


def _any_of_source(tau: Floats) -> Floats:
    """Probability that a source has any item below a threshold."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(_QUADRATURE)
    above = 1 - ndtr((tau[:, None] - nodes * math.sqrt(0.5)) / math.sqrt(0.5))
    found: Floats = 1 - (above**PER_SOURCE) @ (weights / weights.sum())
    return found


def _normal_below(tau: Floats) -> Floats:
    found: Floats = np.asarray(ndtr(tau), dtype=np.float64)
    return found


_SOURCE_RULES: Mapping[str, Callable[[Floats], Floats]] = {
    "source_one": _normal_below,
    "source_worst": _any_of_source,
    "grouped_conformal": _normal_below,
}


def _levels(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.integers(0, _LEVELS, shape).astype(np.float64)


def _atom(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Six of ten risks are 0, the others uniform above."""
    drawn = rng.random(shape)
    return np.maximum(drawn - _ATOM, 0.0) / (1 - _ATOM)


def _atom_below(tau: Floats) -> Floats:
    found: Floats = np.where(tau > 0, _ATOM + (1 - _ATOM) * np.clip(tau, 0, 1), 0.0)
    return found


def _atom_at_or_below(tau: Floats) -> Floats:
    found: Floats = np.where(tau >= 0, _ATOM + (1 - _ATOM) * np.clip(tau, 0, 1), 0.0)
    return found


ATOMS = "60 % atom"
WORLDS = (
    World(
        "uniform",
        continuous=True,
        draw=lambda r, s: r.random(s),
        below=lambda t: t,
        at_or_below=lambda t: t,
    ),
    World(
        "normal",
        continuous=True,
        draw=lambda r, s: r.normal(size=s),
        below=_normal_below,
        at_or_below=_normal_below,
    ),
    World(
        "20 levels",
        continuous=False,
        draw=_levels,
        below=lambda t: t / _LEVELS,
        at_or_below=lambda t: (t + 1) / _LEVELS,
    ),
    World(ATOMS, continuous=False, draw=_atom, below=_atom_below, at_or_below=_atom_at_or_below),
)
_SHOWN = (Fraction(1, 20), Fraction(1, 20))
_PERCENTILE_N = 100


def _batches(calibrations: int, n: int) -> Iterator[int]:
    size = max(1, _BATCH // n)
    for start in range(0, calibrations, size):
        yield min(size, calibrations - start)


def _sd(share: float, n: int) -> float:
    return math.sqrt(share * (1 - share) / n)
