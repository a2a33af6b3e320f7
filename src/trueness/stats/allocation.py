"""More items or more draws: the variance of a mean change, split into its two sources."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.planning import permutation_floor

DRAWS = (2, 4, 5, 8, 16, 32)
"""Draws an item that are compared by default."""
Number = float | Fraction


@dataclass(frozen=True, slots=True)
class Between:
    """Variance over items of the change itself, without the noise of the draws."""

    value: float
    raw: float
    """The unbiased estimate; it may be negative."""
    clipped: bool
    """The raw one is negative, 0 stands for it: say so."""


@dataclass(frozen=True, slots=True)
class DrawNoise:
    """What fixes the noise of the draws at any number of them, a mean over items."""

    power_sums: tuple[Number, ...]
    """Of orders r … 2r - 1."""
    squared: Number
    """Of the power sum of order r."""

    @property
    def order(self) -> int:
        """The order r whose noise it is."""
        return len(self.power_sums)

    def __add__(self, other: "DrawNoise") -> "DrawNoise":
        """The noise of a difference of two independent arms."""
        pairs = zip(self.power_sums, other.power_sums, strict=True)
        return DrawNoise(tuple(a + b for a, b in pairs), self.squared + other.squared)

    def variance(self, draws: int) -> Number | None:
        r"""Variance of :math:`U_r` from so many draws; None for fewer than r.

        :math:`\sum_{c=1}^r w_c\,(P_{2r-c}-P_r^2)` with
        :math:`w_c=\binom{r}{c}\binom{k-r}{r-c}/\binom{k}{r}`.
        """
        r = self.order
        if draws < r:
            return None
        total: Number = Fraction(0)
        for c in range(1, r + 1):
            weight = Fraction(math.comb(r, c) * math.comb(draws - r, r - c), math.comb(draws, r))
            total += weight * (self.power_sums[r - c] - self.squared)
        return total


@dataclass(frozen=True, slots=True)
class Allocation:
    """One way to spend the budget of an arm."""

    draws: int
    items: int
    variance: Number
    """Of the mean change."""
    gives_variance: bool
    """Enough draws for unbiased variances: at least twice the order."""
    item_floor: Fraction
    """Smallest p-value that one item can reach."""

    @property
    def se(self) -> float:
        """Standard error of the mean change."""
        return math.sqrt(max(0.0, self.variance))


def noise_of_masses(masses: Sequence[Number], order: int) -> DrawNoise:
    """The noise of draws from a known law.

    Parameters
    ----------
    masses : sequence of float or Fraction
        Of the classes of the part; fractions stay exact.
    order : int, at least 1

    Examples
    --------
    >>> noise_of_masses([Fraction(1, 2), Fraction(1, 2)], 2).variance(2)
    Fraction(1, 4)
    """
    sums = tuple(sum(p**j for p in masses) for j in range(order, 2 * order))
    return DrawNoise(sums, sums[0] ** 2)


def noise_of_pilot(spectrum: NDArray[np.float64], variance_hat: NDArray[np.float64]) -> DrawNoise:
    r"""The noise of draws of one arm, estimated without bias from a pilot.

    The squared power sum is estimated by :math:`U_r^2-\hat V`.

    Parameters
    ----------
    spectrum : (n_items, r) float
        :math:`U_j` of orders r … 2r - 1.
    variance_hat : (n_items,) float
        Unbiased estimate of the variance of :math:`U_r`; nan below 2r draws, such items are left
        out.

    Raises
    ------
    ShapeError
        If the shapes do not fit.
    InputError
        If no item has enough draws.

    Examples
    --------
    >>> pilot = noise_of_pilot(np.array([[0.5, 0.25]]), np.array([0.0]))
    >>> round(pilot.variance(8), 4)
    0.0089
    """
    if spectrum.ndim != 2 or variance_hat.shape != spectrum.shape[:1]:  # noqa: PLR2004 - a matrix
        msg = (
            f"spectrum has shape {spectrum.shape} and variance_hat {variance_hat.shape}; wanted "
            "(n_items, r) and (n_items,). Give orders r to 2r - 1."
        )
        raise ShapeError(msg)
    good = ~np.isnan(variance_hat)
    _some(int(good.sum()))
    used = spectrum[good]
    squared = float((used[:, 0] ** 2 - variance_hat[good]).mean())
    return DrawNoise(tuple(used.mean(axis=0).tolist()), squared)


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
    noise: DrawNoise,
    between: Number,
    *,
    budget: float,
    draws: Iterable[int] = DRAWS,
    cost_item: float = 0,
    cost_draw: float = 1,
) -> tuple[Allocation, ...]:
    r"""What each number of draws an item makes of the budget of one arm.

    :math:`N=\lfloor budget/(cost_{item}+k\,cost_{draw})\rfloor` items, variance
    :math:`(\sigma_B^2+v_k)/N`.

    Parameters
    ----------
    noise : DrawNoise
        Of both arms together.
    between : float or Fraction, at least 0
    budget, cost_item, cost_draw : float
        In one unit of cost; draws, when the costs are left out.
    draws : iterable of int
        Numbers that leave fewer than two items, or are below the order, are left out.

    Returns
    -------
    tuple of Allocation
        By draws. The best is that of the least variance.

    Raises
    ------
    InputError
        If a cost is negative, or none is left.

    Examples
    --------
    >>> law = noise_of_masses([0.6, 0.3, 0.1], 2)
    >>> rows = allocations(law + law, 0.09, budget=800)
    >>> min(rows, key=lambda row: row.variance).draws
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
    for k in sorted(set(draws)):
        within, items = noise.variance(k), int(budget // (cost_item + k * cost_draw))
        if within is not None and items > 1:
            variance = (between + within) / items
            floor = permutation_floor(k, k)
            found.append(Allocation(k, items, variance, k >= 2 * noise.order, floor))
    if not found:
        msg = (
            f"a budget of {budget} buys fewer than two items at each number of draws from "
            f"{noise.order} on; wanted more. Raise the budget."
        )
        raise InputError(msg)
    return tuple(found)


def _some(n: int, *, least: int = 1) -> None:
    if n < least:
        msg = (
            f"{n} items have the draws for a variance; wanted at least {least}. "
            "Draw at least twice the order from each item of the pilot."
        )
        raise InputError(msg)
