"""More items or more draws: the variance of a mean change, split into its two sources."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.clouds import Clouds
from trueness.stats.permutation import attainable_floor
from trueness.stats.planning import require_open_unit
from trueness.stats.spectrum_variance import Number, planned_variance

DRAWS = (2, 4, 5, 8, 16, 32)
"""Draws an item that are compared by default."""


@dataclass(frozen=True, slots=True)
class Between:
    """Variance over items of the change itself, without the noise of the draws."""

    value: float
    raw: float
    """The unbiased estimate; it may be negative."""
    clipped: bool
    """The raw one is negative, 0 stands for it: say so."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """One way to spend the budget of an arm."""

    draws: int
    items: int
    variance: Number
    """Of the mean change."""
    item_floor: Fraction
    """Smallest p-value that one item can reach."""

    @property
    def se(self) -> float:
        """Standard error of the mean change."""
        return math.sqrt(max(0.0, self.variance))


def draw_noise(
    before: Clouds, after: Clouds, r: int, *, draws: Iterable[int] = DRAWS, part: str = "total"
) -> dict[int, float]:
    """Variance of the change that comes from the draws alone, at each planned number of them.

    Parameters
    ----------
    before, after : Clouds
        A pilot, item by item the same; items with fewer than 2r draws in an arm are left out.
    r : int, at least 1
    draws : iterable of int
        Numbers below r are left out.
    part : str
        One of :data:`~trueness.stats.clouds.PARTS`.

    Returns
    -------
    dict of int to float
        By draws: the mean over items, both arms added, unbiased; it may be negative.

    Raises
    ------
    InputError
        If no item has enough draws.

    Examples
    --------
    >>> aaab = Clouds.of([0] * 4, [0, 0, 0, 1], [0, 0, 0, 1], n_items=1)
    >>> draw_noise(aaab, aaab, 2, draws=(4, 8))
    {4: 0.5, 8: 0.25}
    """
    planned = sorted({k for k in draws if k >= r})
    one, two = (planned_variance(arm, r, draws=planned)[part] for arm in (before, after))
    both = one + two
    good = ~np.isnan(both).any(axis=1)
    _some(int(good.sum()))
    return dict(zip(planned, both[good].mean(axis=0).tolist(), strict=True))


def between_variance(delta: NDArray[np.float64], variance: NDArray[np.float64]) -> Between:
    r"""Variance of the change over items: :math:`s^2(\Delta)-\overline{\hat V}`.

    Parameters
    ----------
    delta : (n_items,) float
        After minus before.
    variance : (n_items,) float
        Unbiased variance estimates, both arms added. Items with nan in either are left out.

    Raises
    ------
    ShapeError
        If the lengths differ.
    InputError
        If fewer than two items are left.

    Examples
    --------
    >>> found = between_variance(np.array([0.0, 0.5, 1.0]), np.array([0.05, 0.05, 0.05]))
    >>> round(found.value, 3), found.clipped
    (0.2, False)
    """
    if delta.ndim != 1 or delta.shape != variance.shape:
        msg = (
            f"delta has shape {delta.shape} and variance {variance.shape}; both must be (n_items,)."
            " Use the same items."
        )
        raise ShapeError(msg)
    good = ~np.isnan(delta + variance)
    _some(int(good.sum()), least=2)
    raw = float(np.var(delta[good], ddof=1) - variance[good].mean())
    return Between(max(0.0, raw), raw, clipped=raw < 0)


def allocations(
    within: Mapping[int, Number],
    between: Number,
    *,
    budget: float,
    cost_item: float = 0,
    cost_draw: float = 1,
) -> tuple[Allocation, ...]:
    r"""What each number of draws an item makes of the budget of one arm.

    :math:`N=\lfloor budget/(cost_{item}+k\,cost_{draw})\rfloor` items, variance of the mean change
    :math:`(\sigma_B^2+v_k)/N`.

    Parameters
    ----------
    within : mapping of int to float or Fraction
        Noise of the draws by their number k, both arms added: of a pilot (:func:`draw_noise`),
        or of a law (:func:`~trueness.stats.spectrum_variance.exact_variance`).
    between : float or Fraction, at least 0
        Variance of the change itself over items.
    budget, cost_item, cost_draw : float
        In one unit of cost; draws, when the costs are left out.

    Returns
    -------
    tuple of Allocation
        By draws; numbers that leave fewer than two items are left out. The best has the least
        variance.

    Raises
    ------
    InputError
        If a cost is negative, or nothing is left.

    Examples
    --------
    >>> from trueness.stats.spectrum_variance import exact_variance
    >>> within = {k: 2 * exact_variance([0.6, 0.3, 0.1], 2, k=k) for k in DRAWS}
    >>> min(allocations(within, 0.09, budget=800), key=lambda row: row.variance).draws
    4
    """
    if not (budget > 0 and cost_item >= 0 and cost_draw > 0 and between >= 0):
        msg = (
            f"budget is {budget}, costs are {cost_item} an item and {cost_draw} a draw, the "
            f"variance between items is {between}; wanted a budget and a cost of a draw above 0, "
            "the others at least 0."
        )
        raise InputError(msg)
    found = []
    for k in sorted(within):
        items = int(budget // (cost_item + k * cost_draw))
        if items > 1:
            variance = (between + within[k]) / items
            found.append(Allocation(k, items, variance, attainable_floor(k, k)))
    if not found:
        msg = (
            f"a budget of {budget} buys fewer than two items at each number of draws of "
            f"{sorted(within)}; wanted more. Raise the budget."
        )
        raise InputError(msg)
    return tuple(found)


def draws_for_item(alpha: float) -> int:
    """Smallest number of draws an arm with which one item can reach a p-value below ``alpha``.

    Parameters
    ----------
    alpha : float in (0, 1)

    Raises
    ------
    InputError
        If it lies outside its range.

    Examples
    --------
    >>> draws_for_item(0.05), draws_for_item(0.01)
    (4, 5)
    """
    require_open_unit(alpha=alpha)
    k = 1
    while attainable_floor(k, k) >= alpha:
        k += 1
    return k


def _some(n: int, *, least: int = 1) -> None:
    if n < least:
        msg = (
            f"{n} items have the draws for a variance; wanted at least {least}. "
            "Draw at least twice the order from each item of the pilot."
        )
        raise InputError(msg)
