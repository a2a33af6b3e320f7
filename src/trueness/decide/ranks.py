"""The threshold that stored risks give for a promise: one rule for calibration and replay."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import TooFewCalibrationItems
from trueness.decide.promise import Promise, Unit, share_json
from trueness.stats.acceptance import (
    conformal_needed,
    conformal_rank,
    exact_rank,
    guarantee,
    needed,
    smallest_budget,
)
from trueness.stats.order_thresholds import grouped_conformal_threshold, order_statistic

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Threshold:
    """Where stored risks put tau, and what that is worth.

    Parameters
    ----------
    n, k : int
        Independent items or sources; the rank used, None where shares of sources are added.
    tau : float
        Accept strictly below.
    guarantee : float or None
        Probability that the budget is kept; None in expectation.
    expected : float or None
        What the error is at most on average; None with confidence.
    """

    n: int
    k: int | None
    tau: float
    guarantee: float | None
    expected: float | None


def threshold_of(
    risks: Floats,
    sources: Ints | None,
    *,
    budget: Fraction,
    promise: Promise,
    what: str = "unsupported",
) -> Threshold:
    """The threshold that a budget gives on sorted risks: the one rule of calibration and replay.

    Parameters
    ----------
    risks : (n,) float, ascending
        Of items, or the one of each source; infinite where an item is never accepted.
    sources : (n,) int or None
        Codes, for shares of sources.
    budget : Fraction
        alpha, or beta for the mirrored rule on negated risks.
    promise : Promise
    what : str
        What the items are, for the error.

    Raises
    ------
    TooFewCalibrationItems
        With every number, when the budget cannot be promised on so few.
    """
    if not np.isfinite(risks).any():
        raise _too_few(0, budget, promise, what)
    if promise.unit is Unit.GROUPED_CONFORMAL:
        codes = np.zeros(len(risks), dtype=np.int64) if sources is None else sources
        n = len(np.unique(codes))
        tau = grouped_conformal_threshold(risks, codes, budget=budget)
        if tau is None:
            raise _too_few(n, budget, promise, what)
        return Threshold(n, None, tau, None, float(budget))
    n = len(risks)
    if promise.in_expectation:
        k = conformal_rank(n, budget)
    else:
        k = exact_rank(n, budget, delta=promise.delta)
    if k == 0:
        raise _too_few(n, budget, promise, what)
    tau = order_statistic(risks, k)
    if promise.in_expectation:
        return Threshold(n, k, tau, None, float(Fraction(k, n + 1)))
    return Threshold(n, k, tau, guarantee(n, k, budget), None)


def _too_few(n: int, budget: Fraction, promise: Promise, what: str) -> TooFewCalibrationItems:
    things = "items" if promise.unit is Unit.ITEM else "sources"
    head = f"{n} {what} {things} are there"
    if promise.in_expectation:
        wanted = conformal_needed(budget)
        msg = (
            f"{head} and a budget of {share_json(budget)} in expectation needs {wanted}; so many "
            f"could carry 1/{n + 1}. Label {max(0, wanted - n)} more, or raise the budget."
        )
        return TooFewCalibrationItems(msg, n=n, n_needed=wanted, smallest_budget=1 / (n + 1))
    wanted, smallest = needed(budget, promise.delta), smallest_budget(n, promise.delta)
    msg = (
        f"{head} and {wanted} needed for a budget of {share_json(budget)} at level "
        f"{share_json(promise.level)}; the smallest budget that {n} could carry is {smallest:.4f}. "
        f"Label {max(0, wanted - n)} more, raise the budget, or ask for method='conformal', which "
        f"needs {conformal_needed(budget)} and promises less: the budget on average over "
        "calibrations, with no confidence."
    )
    return TooFewCalibrationItems(msg, n=n, n_needed=wanted, smallest_budget=smallest)
