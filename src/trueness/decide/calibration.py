"""Calibration: the risks a threshold rests on, kept so that it can be derived again."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from trueness.contract import Direction
from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.decide.grids import Sequenced
from trueness.decide.hashing import hash_json
from trueness.decide.promise import Error, Promise, Unit, share_json
from trueness.decide.ranks import Threshold, threshold_of
from trueness.stats.order_thresholds import next_above

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
        return tau, max(tau, rho_of(self.supported, self.promise.reject_budget, self.promise)[1])

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


def with_evaluation(
    calibration: Calibration,
    evaluation: Mapping[str, Json],
    curve: Mapping[str, Json] | None = None,
) -> Calibration:
    """The same calibration with what was observed beside it."""
    return replace(calibration, evaluation=evaluation, curve=curve or {})


def rho_of(side: Side, budget: Fraction, promise: Promise) -> tuple[Threshold, float]:
    """The mirrored threshold of negated risks, and rho: the next number above it, in risks."""
    found = threshold_of(side.risks, side.sources, budget=budget, promise=promise, what="supported")
    return found, next_above(-found.tau)


def _rank_json(threshold: Threshold) -> dict[str, Json]:
    return {
        "n": threshold.n,
        "k": threshold.k,
        "tau": threshold.tau,
        "guarantee": threshold.guarantee,
        "expected_at_most": threshold.expected,
    }
