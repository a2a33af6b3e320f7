"""Which risks a gate would accept that was calibrated on negatives of a study."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import TooFewCalibrationItems
from trueness.contract.serial import Json
from trueness.decide.calibrating import calibrate
from trueness.decide.promise import promise_of
from trueness.stats.rates import Rate, rate

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold of a gate, or why there is none.

    Parameters
    ----------
    tau : float or None
        Risks strictly below are accepted.
    n : int
        Measured negatives.
    why : str or None
        Why there is no threshold.
    """

    tau: float | None
    n: int
    why: str | None = None

    def accepted(self, risks: Floats) -> NDArray[np.bool_]:
        """(n,) Which risks are accepted; none without a threshold, and never nan."""
        below: NDArray[np.bool_] = risks < (-np.inf if self.tau is None else self.tau)
        return below

    def share(self, risks: Floats, *, level: float = 0.95) -> Rate:
        """Accepted share of the measured risks; without a trial where there is no threshold."""
        there = risks[~np.isnan(risks)]
        if self.tau is None:
            return rate(0, 0, level=level)
        return rate(int(self.accepted(there).sum()), len(there), level=level)

    def to_dict(self) -> dict[str, Json]:
        """Plain JSON."""
        return {"tau": self.tau, "n": self.n, "why": self.why}


def threshold(negatives: Floats, *, budget: float, level: float, population: str) -> Threshold:
    """The threshold that keeps a budget on negatives, one an independent source.

    Parameters
    ----------
    negatives : (n,) float
        Risks; nan where not measured.
    budget, level : float
    population : str
        Who they are.
    """
    there = negatives[~np.isnan(negatives)]
    promise = promise_of(budget=budget, level=level, negatives=population)
    try:
        made = calibrate(there, ["unsupported"] * len(there), promise)
    except TooFewCalibrationItems as error:
        return Threshold(None, len(there), f"not run: {error}")
    return Threshold(made.calibration.tau, len(there))
