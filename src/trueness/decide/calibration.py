"""Calibration: the risks a threshold rests on, kept so that it can be derived again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from trueness.contract import Direction
from trueness.contract.errors import DependentItems, InputError, TooFewCalibrationItems
from trueness.contract.serial import Json
from trueness.decide.columns import Columns
from trueness.decide.grids import Sequenced, sequenced
from trueness.decide.hashing import hash_json
from trueness.decide.promise import (
    Error,
    Population,
    Promise,
    Threshold,
    Unit,
    share_json,
    threshold_of,
)
from trueness.stats.order_thresholds import least_of_sources, next_above, one_of_each_source

SCHEMA = "trueness.calibration/1"

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Side:
    """The sorted risks of one class that a threshold rests on.

    Parameters
    ----------
    risks : (n,) float, ascending
        Of items, or the one of each source; infinite where an item is never accepted.
    sources : (n,) int or None
        Codes, only where the shares of sources are added.
    """

    risks: Floats
    sources: Ints | None = None

    def to_dict(self) -> dict[str, Json]:
        """Plain JSON: null stands for a risk that ranks last."""
        finite = np.isfinite(self.risks)
        risks: list[Json] = list(self.risks.tolist())
        for place in np.flatnonzero(~finite).tolist():
            risks[place] = None
        return {"risks": risks, "sources": None if self.sources is None else self.sources.tolist()}


@dataclass(frozen=True, slots=True)
class Calibration:
    """A threshold, what it promises about whom, and everything it follows from.

    Parameters
    ----------
    promise : Promise
    direction : Direction
        Which way the value gets worse.
    tau : float
        Accept iff the risk is strictly below.
    threshold : Threshold or None
        Rank and guarantee; None where a grid was tested instead.
    unsupported : Side or None
    grid : Sequenced or None
        The tested grid of ``accepted_error``.
    rho : float or None
        Reject iff the risk is at or above.
    reject : Threshold or None
        In negated risks.
    supported : Side or None
        In negated risks; None when nothing is rejected.
    counts : mapping of str to int
        Items by class, measured and not; sources.
    independence : str
        Why the n are taken to be independent.
    notes : tuple of str
        What else must be said.
    fingerprint : mapping
        What a reading must agree with, key by key.
    versions : mapping
        Recorded, not matched.
    evaluation : mapping
        Accepted, reviewed and rejected shares on items that chose no threshold.
    curve : mapping
        Counts below every threshold, see `trueness.decide.curves.curve_of`; empty where none was
        drawn.
    """

    promise: Promise
    direction: Direction
    tau: float
    threshold: Threshold | None
    unsupported: Side | None
    grid: Sequenced | None
    rho: float | None
    reject: Threshold | None
    supported: Side | None
    counts: Mapping[str, int]
    independence: str
    notes: tuple[str, ...] = ()
    fingerprint: Mapping[str, Json] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    evaluation: Mapping[str, Json] = field(default_factory=dict)
    curve: Mapping[str, Json] = field(default_factory=dict)

    @property
    def hash(self) -> str:
        """sha256 of the canonical JSON."""
        return hash_json(self.to_dict())

    @property
    def fingerprint_hash(self) -> str:
        """sha256 of the canonical JSON of the fingerprint."""
        return hash_json(dict(self.fingerprint))

    @property
    def value_threshold(self) -> float:
        """Tau in the value's own units."""
        return self.tau if self.direction is Direction.HIGHER_IS_WORSE else -self.tau

    def rederived(self) -> tuple[float, float | None]:
        """Tau and rho as the stored risks, counts and budgets give them.

        Raises
        ------
        TooFewCalibrationItems
            When they give none.
        InputError
            When what is stored is no basis for a threshold.
        """
        if self.grid is not None:
            tau = self.grid.rederived(self.promise)
        elif self.unsupported is not None:
            side = self.unsupported
            tau = threshold_of(
                side.risks, side.sources, budget=self.promise.budget, promise=self.promise
            ).tau
        else:
            msg = "a calibration without risks and without a grid; calibrate again."
            raise InputError(msg)
        if self.promise.reject_budget is None or self.supported is None:
            return tau, None
        return tau, max(tau, _rho(self.supported, self.promise.reject_budget, self.promise)[1])

    def sentence(self) -> str:
        """The promise in words, with its n and its population."""
        said = f"at most {share_json(self.promise.budget)} of {_QUANTITY[self.promise.error]}"
        n = self.threshold.n if self.threshold is not None else self.counts["n_labelled"]
        things = "items" if self.promise.unit is Unit.ITEM else "sources"
        if self.promise.in_expectation:
            lead = f"On average over calibrations of {n} {things}, {said}"
        else:
            lead = f"With confidence {share_json(self.promise.level)}, from {n} {things}, {said}"
        return f"{lead} ({self.promise.who})."

    def to_dict(self) -> dict[str, Json]:
        """Plain JSON, as `trueness.decide.stored.calibration_of` reads it."""
        return {
            "schema": SCHEMA,
            "promise": self.promise.to_dict(),
            "holds": "in_expectation" if self.promise.in_expectation else "with_confidence",
            "says": self.sentence(),
            "direction": self.direction.value,
            "tau": self.tau,
            "threshold": self.value_threshold,
            "rank": None if self.threshold is None else _rank_json(self.threshold),
            "unsupported": None if self.unsupported is None else self.unsupported.to_dict(),
            "grid": None if self.grid is None else self.grid.to_dict(),
            "rho": self.rho,
            "reject_rank": None if self.reject is None else _rank_json(self.reject),
            "supported_negated": None if self.supported is None else self.supported.to_dict(),
            "counts": dict(self.counts),
            "independence": self.independence,
            "notes": list(self.notes),
            "fingerprint": dict(self.fingerprint),
            "versions": dict(self.versions),
            "evaluation": dict(self.evaluation),
            **({"curve": dict(self.curve)} if self.curve else {}),
        }


_QUANTITY = {
    Error.FALSE_ACCEPTANCE: "the unsupported are accepted",
    Error.ACCEPTED_ERROR: "the accepted are unsupported",
}


def calibrate_columns(
    columns: Columns,
    unsupported: Codes,
    promise: Promise,
    *,
    groups: Sequence[str] | None = None,
    grid: Sequence[float] | None = None,
    fingerprint: Mapping[str, Json] | None = None,
    versions: Mapping[str, str] | None = None,
) -> Calibration:
    """The threshold that keeps the promise, from labelled items.

    Parameters
    ----------
    columns : Columns
    unsupported : (n,) int8
        1 unsupported, 0 supported, -1 without a label and left out.
    promise : Promise
    groups : (n,) sequence of str, optional
        Source of every item.
    grid : sequence of float, optional
        Thresholds in the value's units, fixed beforehand; needed for ``accepted_error``.
    fingerprint, versions : mapping, optional
        Of the reading.

    Raises
    ------
    TooFewCalibrationItems
        When the promise needs more, with every number.
    DependentItems
        When items share sources and the unit is ``item``, or a source unit has no sources.
    InputError
        When lengths differ, or no threshold of a grid keeps the budget.
    """
    sources = _sources(columns, unsupported, groups)
    _check_independent(sources, unsupported >= 0, promise)
    draws = np.random.default_rng(promise.seed)
    counts = _counts(columns, unsupported, sources)
    notes: list[str] = []
    threshold, side, tested = None, None, None
    if promise.error is Error.ACCEPTED_ERROR:
        tested = _grid(columns, unsupported, sources, promise, grid=grid, rng=draws)
        tau = tested.rederived(promise)
    else:
        side = _side(columns, unsupported == 1, sources, promise, rng=draws, sign=1)
        threshold = threshold_of(side.risks, side.sources, budget=promise.budget, promise=promise)
        tau = threshold.tau
    rho, reject, supported = None, None, None
    if promise.reject_budget is not None:
        supported = _side(columns, unsupported == 0, sources, promise, rng=draws, sign=-1)
        reject, rho = _rho(supported, promise.reject_budget, promise)
        notes += _reject_notes(promise, rho, tau)
        rho = max(rho, tau)
    return Calibration(
        promise,
        columns.direction,
        tau,
        threshold,
        side,
        tested,
        rho,
        reject,
        supported,
        counts,
        "assumed" if sources is None else f"unit {promise.unit}, sources given",
        tuple(notes),
        dict(fingerprint or {}),
        dict(versions or {}),
    )


def with_evaluation(
    calibration: Calibration,
    evaluation: Mapping[str, Json],
    curve: Mapping[str, Json] | None = None,
) -> Calibration:
    """The same calibration with what was observed beside it."""
    return replace(calibration, evaluation=evaluation, curve=curve or {})


def source_codes(groups: Sequence[str]) -> tuple[Ints, list[str]]:
    """Sources as whole numbers in the order of their names, and the names."""
    names, codes = np.unique(np.asarray(groups, dtype=np.str_), return_inverse=True)
    return codes.astype(np.int64), [str(name) for name in names]


def _sources(
    columns: Columns, unsupported: Codes, groups: Sequence[str] | None
) -> "_Sources | None":
    if len(unsupported) != len(columns) or (groups is not None and len(groups) != len(columns)):
        given = "" if groups is None else f" and {len(groups)} sources"
        msg = f"{len(unsupported)} labels{given} for {len(columns)} items; wanted one an item."
        raise InputError(msg)
    if groups is None:
        return None
    missing = [i for i, g in enumerate(groups) if not g]
    if missing:
        msg = (
            f"{len(missing)} of {len(groups)} items have no source, first "
            f"{columns.items[missing[0]]!r}. Name the source of every item, or pass no sources."
        )
        raise InputError(msg)
    return _Sources(*source_codes(groups))


@dataclass(frozen=True, slots=True)
class _Sources:
    codes: Ints
    names: list[str]


def _side(
    columns: Columns,
    of_class: NDArray[np.bool_],
    sources: _Sources | None,
    promise: Promise,
    *,
    rng: np.random.Generator,
    sign: int,
) -> Side:
    """The risks of one class, in the promise's unit; negated for the mirrored rule."""
    measured = columns.measured
    chosen = of_class & measured if promise.population is Population.MEASURED else of_class
    risks = columns.risk[chosen]
    if sign < 0:
        risks = -risks
    if promise.population is Population.ALL:
        risks = np.where(measured[chosen], risks, np.inf)
    codes = _unit_codes(sources, chosen, promise)
    match promise.unit:
        case Unit.ITEM:
            return Side(np.sort(risks))
        case Unit.SOURCE_ONE:
            return Side(np.sort(risks[one_of_each_source(risks, codes, rng=rng)]))
        case Unit.SOURCE_WORST:
            return Side(np.sort(least_of_sources(risks, codes)))
        case Unit.GROUPED_CONFORMAL:
            order = np.lexsort((codes, risks))
            return Side(risks[order], codes[order])


def _unit_codes(sources: _Sources | None, chosen: NDArray[np.bool_], promise: Promise) -> Ints:
    """Codes from 0 of the sources that occur; refused where a source unit has none."""
    if sources is None:
        if promise.unit is not Unit.ITEM:
            msg = (
                f"unit {promise.unit} needs the source of every item and none was given. Name the "
                "column of sources, or use unit 'item', which assumes independent items."
            )
            raise DependentItems(msg)
        return np.zeros(0, dtype=np.int64)
    dense: Ints = np.unique(sources.codes[chosen], return_inverse=True)[1].astype(np.int64)
    return dense


def _check_independent(
    sources: _Sources | None, labelled: NDArray[np.bool_], promise: Promise
) -> None:
    """Twins count: a supported and an unsupported item of one source depend on one another."""
    if sources is None or promise.unit is not Unit.ITEM:
        return
    sizes = np.bincount(sources.codes[labelled], minlength=len(sources.names))
    if sizes.max(initial=0) > 1:
        worst = int(sizes.argmax())
        msg = (
            f"{int((sizes > 1).sum())} sources have two or more of the {int(labelled.sum())} "
            f"labelled items, most {sources.names[worst]!r} with {int(sizes[worst])}; items of one "
            "source are not independent. Use unit 'source_one' (for twins the same threshold), "
            "'source_worst' or 'grouped_conformal'."
        )
        raise DependentItems(msg)


def _rho(side: Side, budget: Fraction, promise: Promise) -> tuple[Threshold, float]:
    found = threshold_of(side.risks, side.sources, budget=budget, promise=promise, what="supported")
    return found, next_above(-found.tau)


def _reject_notes(promise: Promise, rho: float, tau: float) -> list[str]:
    notes = []
    if rho < tau:
        notes.append(
            f"the supported items would be rejected from {rho!r}, below tau; nothing below tau is "
            "rejected, which rejects less and accepts the same"
        )
    if not promise.in_expectation:
        both = 1 - 2 * promise.delta
        notes.append(
            f"each of the two promises holds at level {share_json(1 - promise.delta)}, both "
            f"together at {share_json(both)}"
        )
    return notes


def _grid(
    columns: Columns,
    unsupported: Codes,
    sources: _Sources | None,
    promise: Promise,
    *,
    grid: Sequence[float] | None,
    rng: np.random.Generator,
) -> Sequenced:
    labelled = unsupported >= 0
    if promise.population is Population.MEASURED:
        labelled &= columns.measured
    risks = np.where(columns.measured, columns.risk, np.inf)[labelled]
    wrong = (unsupported == 1)[labelled]
    codes = _unit_codes(sources, labelled, promise)
    if promise.unit is Unit.SOURCE_ONE:
        order = np.lexsort((wrong, risks))
        place = np.empty(len(order), dtype=np.float64)
        place[order] = np.arange(len(order))  # by risk, then label: ties are drawn alike
        drawn = one_of_each_source(place, codes, rng=rng)
        risks, wrong = risks[drawn], wrong[drawn]
    if not np.isfinite(risks).any():
        msg = "no labelled item is measured; wanted labelled items with values. Measure them."
        raise TooFewCalibrationItems(msg, n=0)
    return sequenced(risks, wrong, grid, columns.direction)


def _counts(columns: Columns, unsupported: Codes, sources: _Sources | None) -> dict[str, int]:
    measured = columns.measured
    wrong, right = unsupported == 1, unsupported == 0
    counts = {
        "n_items": len(columns),
        "n_labelled": int((wrong | right).sum()),
        "n_unsupported": int(wrong.sum()),
        "n_supported": int(right.sum()),
        "n_unsupported_unmeasured": int((wrong & ~measured).sum()),
        "n_supported_unmeasured": int((right & ~measured).sum()),
    }
    if sources is not None:
        counts["n_sources"] = len(sources.names)
    return counts


def _rank_json(threshold: Threshold) -> dict[str, Json]:
    return {
        "n": threshold.n,
        "k": threshold.k,
        "tau": threshold.tau,
        "guarantee": threshold.guarantee,
        "expected_at_most": threshold.expected,
    }
