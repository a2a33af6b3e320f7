"""Two checkpoints on one slice: every interval, test and the verdict, from paired differences."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State
from trueness.stats.clouds import PARTS
from trueness.stats.judging import judge
from trueness.stats.paired_means import (
    FixedSlice,
    PairedMeans,
    equivalence_intervals,
    fixed_slice,
    paired_means,
    units_of,
)
from trueness.stats.sign_flip import SignFlip, sign_flip
from trueness.stats.sup_t import Band, resampled_means, steady_order, sup_t_band
from trueness.stats.verdicts import Entry, Interval, Verdict

_CHEAP = 25_000_000  # item draws that take a fraction of a second

Variances = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything a slice says about the change from one checkpoint to the next."""

    entries: tuple[Entry, ...]
    """Order by order, in each the five parts."""
    verdict: Verdict
    critical: float | None
    """Standard errors that the simultaneous band reaches; None when no entry has a spread."""
    level: float
    """Of the simultaneous band: as asked, or half as much error when strict."""
    replicates: int
    flips_enumerated: bool
    n_flips: int
    n_items: int
    n_groups: int | None

    def entry(self, order: int, part: str) -> Entry:
        """The entry of one order and part.

        Raises
        ------
        InputError
            If there is none.
        """
        for entry in self.entries:
            if (entry.order, entry.part) == (order, part):
                return entry
        msg = (
            f"no entry of order {order}, part {part!r}; wanted a declared order and one of {PARTS}."
        )
        raise InputError(msg)


def compare_deltas(
    delta: NDArray[np.float64],
    *,
    orders: Sequence[int],
    rng: np.random.Generator,
    groups: NDArray[np.integer] | None = None,
    variance: Variances | None = None,
    margin: float = 0.10,
    level: float = 0.95,
    replicates: int = 10_000,
    strict: bool = False,
    gold_known: bool = True,
    omnibus_p: float | None = None,
) -> Comparison:
    """Estimates, both standard errors, band, equivalence, sign flip and verdict.

    Parameters
    ----------
    delta : (n_items, 5 n_orders) float in [-1, 1]
        After minus before; column ``5 j + p`` is order ``orders[j]``, part ``PARTS[p]``; nan where
        an item is not measured in both arms.
    orders : sequence of int
        Different orders, each at least 1.
    rng : numpy.random.Generator
        Moves only the band, the pointwise intervals and drawn p-values.
    groups : (n_items,) int, optional
        Items of one group are resampled and flipped as one.
    variance : pair of (n_items, 5 n_orders) float, optional
        Unbiased variance estimates of the arms, before and after; nan where there is none.
    margin, level : float
        Of equivalence; of the band. ``1 - level`` is the error of each clause.
    replicates : int
        Resamples, and sign patterns where these are drawn, at least; up to ten times as many
        while they are cheap: the band's quantile lies among atoms where most differences are 0,
        and would move with the seed. The result says how many were made.
    strict : bool
        Halve the error of every clause, so that a verdict is wrong with probability 1 - level.
    gold_known, omnibus_p
        As in :func:`~trueness.stats.judging.judge`.

    Returns
    -------
    Comparison
        The same for shuffled items and mirrored for swapped arms, from equal seeds.

    Raises
    ------
    ShapeError
        If the shapes do not fit.
    InputError
        If a number lies outside its range.

    Examples
    --------
    >>> found = compare_deltas(np.zeros((40, 5)), orders=(2,), rng=np.random.default_rng(0))
    >>> found.verdict.name, round(found.entry(2, "total").epsilon_star, 3)
    ('unchanged', 0.072)
    """
    _check(delta, orders, level)
    replicates = max(replicates, min(10 * replicates, _CHEAP // max(1, len(delta))))
    alpha = round((1 - level) / (2 if strict else 1), 12)  # 1 - 0.95 is not 0.05
    means = paired_means(delta, groups)
    units = units_of(delta, groups)
    units = units.take(steady_order(units, means.estimate))
    if len(delta):
        drawn = resampled_means(units, replicates=replicates, rng=rng)
    else:
        drawn = np.full((replicates, delta.shape[1]), np.nan)
    band = sup_t_band(drawn, means, level=1 - alpha)
    flips = sign_flip(units, rng=rng, draws=replicates)
    slice_error = None
    if variance is not None:
        slice_error = fixed_slice(delta, variance[0], variance_after=variance[1])
    margins = equivalence_intervals(means, alpha=alpha)
    entries = _entries(orders, means, band, flips=flips, slice_error=slice_error, margins=margins)
    verdict = judge(entries, margin=margin, alpha=alpha, gold_known=gold_known, omnibus_p=omnibus_p)
    return Comparison(
        entries=entries,
        verdict=verdict,
        critical=band.critical,
        level=1 - alpha,
        replicates=replicates,
        flips_enumerated=flips.enumerated,
        n_flips=flips.n_patterns,
        n_items=len(delta),
        n_groups=None if groups is None else len(units.sums),
    )


def _entries(
    orders: Sequence[int],
    means: PairedMeans,
    band: Band,
    *,
    flips: SignFlip,
    slice_error: FixedSlice | None,
    margins: NDArray[np.float64],
) -> tuple[Entry, ...]:
    found = []
    for j, (order, part) in enumerate((order, part) for order in orders for part in PARTS):
        ends = _interval(margins[j])
        found.append(
            Entry(
                order=order,
                part=part,
                estimate=_number(means.estimate[j]),
                state=_state(means, j),
                n=int(means.n[j]),
                n_units=int(means.n_units[j]),
                n_movers=int(means.n_movers[j]),
                se=_number(means.se[j]),
                se_fixed_slice=None if slice_error is None else _number(slice_error.se[j]),
                fixed_slice_state=(
                    State.NOT_APPLICABLE if slice_error is None else slice_error.states[j]
                ),
                band=_interval(band.simultaneous[j]),
                pointwise=_interval(band.pointwise[j]),
                t90=ends,
                epsilon_star=None if ends is None else max(-ends[0], ends[1]),
                p_adjusted=_number(flips.p_adjusted[j]),
            )
        )
    return tuple(found)


def _state(means: PairedMeans, j: int) -> State:
    if np.isnan(means.se[j]):
        return State.NO_EVIDENCE
    return State.DEGENERATE if means.se[j] == 0 else State.MEASURED


def _number(value: np.float64) -> float | None:
    return None if np.isnan(value) else float(value)


def _interval(ends: NDArray[np.float64]) -> Interval | None:
    return None if np.isnan(ends).any() else (float(ends[0]), float(ends[1]))


def _check(delta: NDArray[np.float64], orders: Sequence[int], level: float) -> None:
    if not orders or len(set(orders)) != len(orders) or min(orders) < 1:
        msg = (
            f"orders are {list(orders)}; wanted different whole numbers from 1 on, such as 2, 3, 4."
        )
        raise InputError(msg)
    if delta.ndim != 2 or delta.shape[1] != len(orders) * len(PARTS):  # noqa: PLR2004 - a matrix
        msg = (
            f"delta has shape {delta.shape}; wanted (n_items, {len(orders) * len(PARTS)}): "
            f"{len(PARTS)} parts at each of {len(orders)} orders."
        )
        raise ShapeError(msg)
    if not 0 < level < 1:
        msg = f"level is {level}; wanted a number between 0 and 1, such as 0.95."
        raise InputError(msg)
