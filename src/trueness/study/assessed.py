"""What scores of a population are worth, and how far two of them are apart on the same rows."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol as Shape

import numpy as np
from scipy.stats import rankdata

from trueness.contract.serial import Json
from trueness.contract.states import State
from trueness.stats.cluster_auroc import MIN_CLUSTERS, resampled_aurocs
from trueness.stats.cluster_partial import resampled_partial_areas
from trueness.stats.fibres import clopper_pearson
from trueness.stats.operating_points import (
    coverage_at,
    paired_accuracy,
    partial_area,
    separation,
)
from trueness.study.protocol import Bools, Floats, Ints, Protocol, Scored

MAX_FAR = 0.05
FARS = (Fraction(1, 100), Fraction(1, 50), Fraction(1, 20))
_BOOTSTRAP = 0x9E
"""Keeps the generator of resamples apart from the one that deals folds."""


class Resampled(Shape):
    """A statistic of resampled sources."""

    def __call__(
        self,
        scores: Floats,
        wrong: Bools,
        clusters: Ints,
        *,
        rng: np.random.Generator,
        n_resamples: int,
    ) -> Floats:
        """(n_resamples,) values, nan where a class is missing."""
        ...


@dataclass(frozen=True, slots=True)
class Statistic:
    """A number of scores with labels, and the same of resampled sources."""

    name: str
    point: Callable[[Floats, Bools], float]
    resampled: Resampled


def auroc(scores: Floats, wrong: Bools) -> float:
    """Probability that an unsupported row scores above a supported one, ties one half.

    >>> auroc(np.array([0.1, 0.4, 0.4]), np.array([False, True, False]))
    0.75
    """
    n_wrong = int(wrong.sum())
    n_right = len(wrong) - n_wrong
    above = rankdata(scores)[wrong].sum() - n_wrong * (n_wrong + 1) / 2
    return float(above / (n_wrong * n_right))


def partial(scores: Floats, wrong: Bools) -> float:
    """Area of supported coverage up to a false acceptance of `MAX_FAR`, divided by it."""
    found = partial_area(scores[~wrong], scores[wrong], max_far=MAX_FAR)
    return np.nan if found is None else found.normalised


AUROC = Statistic("AUROC", auroc, resampled_aurocs)
PARTIAL = Statistic("partial AUROC", partial, resampled_partial_areas)


def assessed(scored: Scored, column: str, protocol: Protocol) -> dict[str, Json]:
    """Everything of gate section 9 about one column of a population, with the AUROC's interval.

    Parameters
    ----------
    scored : Scored
    column : str
    protocol : Protocol
    """
    risk, there = _measured(scored, column)
    risk, wrong = risk[there], scored.unsupported[there]
    head = {**_counted(scored, there), **above_half(scored, column, protocol)}
    if head["estimate"] is None:
        return head
    right, gone = risk[~wrong], risk[wrong]
    area = partial_area(right, gone, max_far=MAX_FAR)
    apart = separation(right, gone)
    return {
        **head,
        "auroc_bounds": list(auroc_bounds(scored, column)),
        "partial_area": None if area is None else area.area,
        "partial_normalised": None if area is None else area.normalised,
        "partial_mcclish": None if area is None else area.mcclish,
        **{f"coverage_far_{int(100 * f):02}": _cover(right, gone, f) for f in FARS},
        "separation_supported_sd": apart.supported_sd,
        "d_prime": apart.d_prime,
        "mean_supported": float(right.mean()),
        "mean_unsupported": float(gone.mean()),
        "paired_accuracy": paired(scored, column)["estimate"],
    }


def above_half(scored: Scored, column: str, protocol: Protocol) -> dict[str, Json]:
    """The AUROC of one column against one half, over resampled sources."""
    risk, there = _measured(scored, column)
    rows = (risk[there], scored.unsupported[there], scored.groups[there])
    return _tested(rows, AUROC, protocol, null=0.5)


def difference(
    scored: Scored, a: str, b: str, protocol: Protocol, *, statistic: Statistic = AUROC
) -> dict[str, Json]:
    """How much more one column has of a statistic than another, on the same rows and resamples.

    Parameters
    ----------
    scored : Scored
        Rows that either lacks are left out of both, counted, and bounded both ways.
    a, b : str
        Columns.
    protocol : Protocol
    statistic : Statistic
    """
    one, two = scored.columns[a], scored.columns[b]
    there = np.isfinite(one) & np.isfinite(two)
    rows = (one[there], scored.unsupported[there], scored.groups[there])
    found = _tested(rows, statistic, protocol, null=0.0, other=two[there])
    missing = int((~there).sum())
    if found["estimate"] is not None and missing and statistic is AUROC:
        (low_a, high_a), (low_b, high_b) = (auroc_bounds(scored, name) for name in (a, b))
        found["bounds"] = [low_a - high_b, high_a - low_b]
    return {**found, "n_unmeasured": missing}


def paired(scored: Scored, column: str, *, level: float = 0.95) -> dict[str, Json]:
    """How often the unsupported row of a source has the higher risk than its supported twin.

    A source with several of both pairs them in their order. The interval is that of the share of
    wins among pairs without tie, exact; the estimate counts ties one half.
    """
    risk, there = _measured(scored, column)
    first: dict[int, tuple[list[int], list[int]]] = {}
    for row in np.flatnonzero(there).tolist():
        kinds = first.setdefault(int(scored.groups[row]), ([], []))
        kinds[int(scored.unsupported[row])].append(row)
    pairs = [p for right, wrong in first.values() for p in zip(right, wrong, strict=False)]
    right, wrong = ([p[side] for p in pairs] for side in (0, 1))
    found = paired_accuracy(risk[wrong], risk[right])
    decided = found.wins + found.losses
    low, high = clopper_pearson(found.wins, decided, level=level) if decided else (0.0, 1.0)
    return {
        "estimate": None if found.accuracy is None else float(found.accuracy),
        "low": low if pairs else None,
        "high": high if pairs else None,
        "kind": "exact interval of wins among untied pairs",
        "unit": "pair of a source",
        "n": len(pairs),
        "n_left_over": len(scored.items) - 2 * len(pairs),
        "wins": found.wins,
        "losses": found.losses,
        "ties": found.ties,
        "p": float(found.p_two_sided) if pairs else None,
        "state": (State.MEASURED if pairs else State.NO_EVIDENCE).value,
        **({} if pairs else {"where": "no source has a measured claim of either label"}),
    }


def auroc_bounds(scored: Scored, column: str) -> tuple[float, float]:
    """The least and the greatest AUROC that rows without a number leave open."""
    risk, there = _measured(scored, column)
    wrong = scored.unsupported
    low = np.where(there, risk, np.where(wrong, -np.inf, np.inf))
    high = np.where(there, risk, np.where(wrong, np.inf, -np.inf))
    return auroc(low, wrong), auroc(high, wrong)


def absent(why: str) -> dict[str, Json]:
    """A contrast that could not be made, with the reason: it decides nothing."""
    gap = dict.fromkeys(("estimate", "low", "high", "p", "p_holm"))
    return {**gap, "n": 0, "state": State.NOT_APPLICABLE.value, "where": f"not run: {why}"}


def two_sided(resampled: Floats, null: float) -> float:
    """Twice the smaller share of resamples at or beyond the null, counting one more; at most 1.

    >>> two_sided(np.array([1.0, 2.0, 3.0]), 0.0)
    0.5
    """
    n = len(resampled) + 1
    below, above = int((resampled <= null).sum()) + 1, int((resampled >= null).sum()) + 1
    return min(1.0, 2 * min(below, above) / n)


def percentile(
    resampled: Floats, estimate: float, null: float, protocol: Protocol
) -> dict[str, Json]:
    """Estimate, percentile interval and p of resamples; those without a number are counted."""
    there = resampled[~np.isnan(resampled)]
    if not len(there):
        return {**_none(State.NO_EVIDENCE, "no resample holds both classes"), "estimate": estimate}
    tail = (1 - protocol.level) / 2
    low, high = np.quantile(there, [tail, 1 - tail]).tolist()
    return {
        "estimate": estimate,
        "low": min(low, estimate),
        "high": max(high, estimate),
        "kind": f"{100 * protocol.level:g}% bootstrap over sources, {len(resampled):,} resamples",
        "p": two_sided(there, null),
        "n_one_class": len(resampled) - len(there),
        "state": State.MEASURED.value,
    }


def generator(protocol: Protocol) -> np.random.Generator:
    """The generator of resamples: the same at every call, so that differences are paired."""
    return np.random.default_rng([protocol.seed, _BOOTSTRAP])


def too_few(n_groups: int) -> str:
    """Why so few sources have no interval."""
    return f"{n_groups} sources are fewer than {MIN_CLUSTERS}: no interval"


def _tested(
    rows: tuple[Floats, Bools, Ints],
    statistic: Statistic,
    protocol: Protocol,
    *,
    null: float,
    other: Floats | None = None,
) -> dict[str, Json]:
    risk, wrong, groups = rows
    n_groups = len(np.unique(groups))
    size: dict[str, Json] = {"unit": "source", "n": n_groups, "n_rows": len(risk)}
    if wrong.all() or not wrong.any():
        return {**_none(State.NO_EVIDENCE, "a class is empty"), **size}
    estimate = statistic.point(risk, wrong)
    estimate -= 0.0 if other is None else statistic.point(other, wrong)
    if n_groups < MIN_CLUSTERS:
        return {
            **_none(State.NOT_APPLICABLE, too_few(n_groups)),
            "estimate": estimate,
            **size,
        }
    made = [
        statistic.resampled(
            column, wrong, groups, rng=generator(protocol), n_resamples=protocol.resamples
        )
        for column in (risk, other)
        if column is not None
    ]
    resampled = made[0] if other is None else made[0] - made[1]
    return {**percentile(resampled, estimate, null, protocol), **size}


def _none(state: State, why: str) -> dict[str, Json]:
    gap = dict.fromkeys(("estimate", "low", "high", "p", "p_holm"))
    return {**gap, "state": state.value, "where": why}


def _measured(scored: Scored, column: str) -> tuple[Floats, Bools]:
    risk = scored.columns[column]
    return risk, np.isfinite(risk)


def _counted(scored: Scored, there: Bools) -> dict[str, Json]:
    return {
        "n_missing": int((~there).sum()),
        "n_supported": int((there & ~scored.unsupported).sum()),
        "n_unsupported": int((there & scored.unsupported).sum()),
    }


def _cover(right: Floats, gone: Floats, far: Fraction) -> float | None:
    found = coverage_at(right, gone, far=far).coverage
    return None if found is None else float(found)
