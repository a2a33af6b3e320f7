"""What a longer search for foreign evidence does to a threshold, with and without knowing of it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.decide.calibrating import calibrate
from trueness.decide.promise import Promise
from trueness.stats.rates import Rate
from trueness.study.searched import SearchCurve


@dataclass(frozen=True, slots=True)
class SearchRow:
    """One K.

    Parameters
    ----------
    k : int
    mean : float or None
        Mean risk of the evaluation items.
    exhausted : int
        Evaluation items with fewer than K admissible candidates.
    tau_without, tau_with : float
        Thresholds from calibration items searched with the smallest K, and with this K.
    without, with_k : Rate
        Accepted share of the evaluation items of this K at either.
    """

    k: int
    mean: float | None
    exhausted: int
    tau_without: float
    tau_with: float
    without: Rate
    with_k: Rate

    def to_dict(self) -> dict[str, Json]:
        """Plain JSON."""
        return {
            "k": self.k,
            "mean": self.mean,
            "exhausted": self.exhausted,
            "tau_without": self.tau_without,
            "tau_with": self.tau_with,
            "accepted_without": self.without.to_dict(),
            "accepted_with": self.with_k.to_dict(),
        }


def search_budget(
    calibration: SearchCurve,
    evaluation: SearchCurve,
    promise: Promise,
    *,
    calibration_sources: Mapping[str, str],
    evaluation_sources: Mapping[str, str],
) -> tuple[SearchRow, ...]:
    """Accepted shares against K at thresholds that knew of the search and that did not.

    Parameters
    ----------
    calibration, evaluation : SearchCurve
        Of the same score, guard and K, on items of different sources.
    promise : Promise
        With unit ``item`` or ``source_one``.
    calibration_sources, evaluation_sources : mapping of item to str

    Raises
    ------
    InputError
        When the two were not searched alike or share a source.
    TooFewCalibrationItems
        When the promise cannot be made.
    """
    if calibration.budgets != evaluation.budgets or calibration.population != evaluation.population:
        msg = (
            f"calibration items were searched as {calibration.population!r} with K "
            f"{calibration.budgets} and evaluation items as {evaluation.population!r} with K "
            f"{evaluation.budgets}; wanted the same. Search both alike."
        )
        raise InputError(msg)
    common = sorted(set(calibration_sources.values()) & set(evaluation_sources.values()))
    if common:
        msg = f"source {common[0]!r} stands in both splits; split by source."
        raise InputError(msg)
    groups = [calibration_sources[item] for item in calibration.items]
    taus = {
        k: _tau(calibration, place, groups, promise) for place, k in enumerate(calibration.budgets)
    }
    first = taus[calibration.budgets[0]]
    level = float(promise.level)
    without = evaluation.accepted(dict.fromkeys(taus, first), level=level)
    knowing = evaluation.accepted(taus, level=level)
    return tuple(
        SearchRow(k, mean, evaluation.exhausted[k], first, taus[k], without[k], knowing[k])
        for k, mean in zip(evaluation.budgets, evaluation.mean(), strict=True)
    )


def _tau(curve: SearchCurve, place: int, groups: list[str], promise: Promise) -> float:
    values = [None if np.isnan(v) else v for v in curve.value[:, place].tolist()]
    return calibrate(values, [True] * len(values), promise, groups=groups).calibration.tau
