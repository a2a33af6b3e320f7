"""Thresholds tested from strict to lax, each at the full level, until one fails."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr

from trueness.contract.errors import InputError
from trueness.stats.acceptance import EXACT_UP_TO, GIVEN_UP, at_most


@dataclass(frozen=True, slots=True)
class GridPoint:
    """One threshold of a grid: how many items it accepts, how many of them are wrong."""

    accepted: int
    wrong: int
    p: float
    """Probability of so few wrong ones if the budget were just exceeded."""
    rejected: bool
    """Whether "more than the budget is wrong" was rejected here."""


@dataclass(frozen=True, slots=True)
class FixedSequence:
    """The points that were tested, up to the first that failed, and the last that did not."""

    points: tuple[GridPoint, ...]
    index: int | None
    """Of the last rejected point; None when the first already failed."""


def fixed_sequence(
    accepted: Sequence[int], wrong: Sequence[int], *, budget: Fraction, delta: Fraction
) -> FixedSequence:
    r"""How far down a fixed grid the share of wrong accepted items stays within a budget.

    :math:`p_j = P(\mathrm{Bin}(m_j, \alpha) \le w_j)`; testing stops at the first
    :math:`p_j > \delta`, which keeps the level over all points without a correction.

    Parameters
    ----------
    accepted, wrong : sequence of int
        :math:`m_j` and :math:`w_j`, from the strictest threshold to the laxest.
    budget, delta : Fraction in (0, 1)

    Raises
    ------
    InputError
        When counts are impossible or there is no point.

    Examples
    --------
    >>> fixed_sequence([60, 100], [1, 12], budget=Fraction(1, 10), delta=Fraction(1, 20)).index
    0
    """
    if not accepted or len(accepted) != len(wrong):
        msg = (
            f"{len(accepted)} counts of accepted and {len(wrong)} of wrong items; wanted one of "
            "each for every threshold of the grid, and at least one threshold."
        )
        raise InputError(msg)
    points: list[GridPoint] = []
    for m, w in zip(accepted, wrong, strict=True):
        points.append(_point(m, w, budget, delta))
        if not points[-1].rejected:
            break
    last = len(points) - 1 if points[-1].rejected else len(points) - 2
    return FixedSequence(tuple(points), last if last >= 0 else None)


def counts_below(
    grid: ArrayLike, risks: NDArray[np.float64], *, wrong: NDArray[np.bool_]
) -> tuple[list[int], list[int]]:
    """How many risks lie strictly below each threshold, and how many of those are wrong.

    Examples
    --------
    >>> counts_below([2, 5], np.array([1.0, 2.0, 3.0]), wrong=np.array([True, False, False]))
    ([1, 3], [1, 1])
    """
    below = np.searchsorted(np.sort(risks), grid, side="left")
    below_wrong = np.searchsorted(np.sort(risks[wrong]), grid, side="left")
    return below.tolist(), below_wrong.tolist()


def _point(m: int, w: int, budget: Fraction, delta: Fraction) -> GridPoint:
    if not 0 <= w <= m:
        msg = f"{w} of {m} accepted items are wrong; wanted a count of at most {m}. Count again."
        raise InputError(msg)
    if m <= EXACT_UP_TO:
        exact = at_most(m, w, budget)
        return GridPoint(m, w, float(exact), exact <= delta)
    p = float(bdtr(w, m, float(budget)))
    return GridPoint(m, w, p, p <= float(delta) - GIVEN_UP)
