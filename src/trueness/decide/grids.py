"""Thresholds of a grid that was fixed beforehand, tested from strict to lax."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.contract import Direction
from trueness.contract.errors import InputError, TooFewCalibrationItems
from trueness.contract.serial import Json
from trueness.decide.columns import risk_of
from trueness.decide.promise import Error, Promise, share_json
from trueness.stats.acceptance import needed
from trueness.stats.fixed_sequence import FixedSequence, counts_below, fixed_sequence

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sequenced:
    """A grid in risk units, strict to lax, and the labelled risks it was tested on.

    Parameters
    ----------
    grid : (m,) float, ascending
    risks : (n,) float, ascending
        Infinite where an item is never accepted.
    wrong : (n,) bool
    """

    grid: Floats
    risks: Floats
    wrong: NDArray[np.bool_]

    def tested(self, promise: Promise) -> FixedSequence:
        """The points that were tested."""
        accepted, wrong = counts_below(self.grid, self.risks, wrong=self.wrong)
        return fixed_sequence(accepted, wrong, budget=promise.budget, delta=promise.delta)

    def rederived(self, promise: Promise) -> float:
        """The laxest threshold reached.

        Raises
        ------
        TooFewCalibrationItems
            When the strictest threshold accepts too few to reject anything.
        InputError
            When it accepts too many wrong ones. Both with the table.
        """
        found = self.tested(promise)
        if found.index is not None:
            return float(self.grid[found.index])
        first, wanted = found.points[0], needed(promise.budget, promise.delta)
        table = (
            f"threshold {float(self.grid[0])!r}: {first.accepted} accepted, {first.wrong} wrong, "
            f"p = {first.p:.4g}"
        )
        if first.accepted < wanted:
            msg = (
                f"the grid begins where too few are accepted ({table}); with fewer than {wanted} "
                f"accepted items a budget of {share_json(promise.budget)} can never be shown. "
                "Begin the grid at a laxer threshold, or label more items."
            )
            raise TooFewCalibrationItems(msg, n=first.accepted, n_needed=wanted)
        msg = (
            f"no threshold of the grid keeps {share_json(promise.budget)} ({table}). Begin at a "
            "stricter threshold, or raise the budget."
        )
        raise InputError(msg)

    def to_dict(self) -> dict[str, Json]:
        """Plain JSON: null stands for a risk that ranks last."""
        return {
            "thresholds": self.grid.tolist(),
            "risks": [r if math.isfinite(r) else None for r in self.risks.tolist()],
            "wrong": self.wrong.tolist(),
        }


def sequenced(
    risks: Floats,
    wrong: NDArray[np.bool_],
    grid: Sequence[float] | None,
    direction: Direction,
) -> Sequenced:
    """A checked grid with the labelled risks in order.

    Parameters
    ----------
    risks : (n,) float
    wrong : (n,) bool
    grid : sequence of float
        In the value's units.
    direction : Direction
        Of the value.

    Raises
    ------
    InputError
        Without a grid, or with one that is no list of finite numbers.
    """
    try:
        given = np.asarray([] if grid is None else grid, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        given = np.array([np.nan])
    if not given.size:
        msg = (
            "accepted_error needs a grid of thresholds fixed beforehand and none was given. Pass "
            "numbers, or quantiles of an unlabelled split that holds none of these items "
            "(quantile_grid; --grid on the command line)."
        )
        raise InputError(msg)
    if given.ndim != 1 or not np.isfinite(given).all():
        msg = f"the grid holds {grid!r}; wanted a list of finite thresholds. Take the others out."
        raise InputError(msg)
    thresholds = np.unique(risk_of(given, direction))
    order = np.lexsort((wrong, risks))
    return Sequenced(thresholds, risks[order], wrong[order])


def check_grid(grid: object, promise: Promise) -> None:
    """Refuse a grid that no promise tests: it would change nothing.

    Raises
    ------
    InputError
    """
    if grid is not None and promise.error is not Error.ACCEPTED_ERROR:
        msg = (
            f"a grid is given, and only accepted_error tests one; the error is "
            f"{promise.error.value}. Leave the grid out, or name --error accepted_error."
        )
        raise InputError(msg)


def quantile_grid(values: Floats, *, points: int = 50) -> tuple[float, ...]:
    """A grid at equally spaced ranks of an unlabelled split, each once.

    The items of that split must not be among those that test the grid.

    Parameters
    ----------
    values : (n,) float
        Measured values of the split.
    points : int
        At most so many thresholds.

    Raises
    ------
    InputError
        Without a finite value, or for no point.

    Examples
    --------
    >>> quantile_grid(np.arange(10.0), points=3)
    (0.0, 4.0, 9.0)
    """
    if points < 1 or not len(values) or not np.isfinite(values).all():
        msg = (
            f"{points} points from {len(values)} values; wanted a point or more and finite values "
            "only. Leave out what was not measured."
        )
        raise InputError(msg)
    ranks = np.linspace(0, len(values) - 1, points).astype(np.int64)
    return tuple(np.unique(np.sort(values)[ranks]).tolist())
