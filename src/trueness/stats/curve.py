"""Which slots to withhold: proved floors of precision and recall, for one set and every size."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.capacity import over_capacity

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

EXACT_SLOTS = 5_000


@dataclass(frozen=True, slots=True)
class Curve:
    """The guaranteed number of wrong slots among the best t, for every t.

    Attributes
    ----------
    guaranteed_wrong : (n_slots + 1,) int
        At entry t: some set of t slots has at least so many wrong ones, under every truth.
    is_optimal : bool
        Whether no set of t slots guarantees more; otherwise the curve is sound, not optimal.
    order : (n_answers,) int
        Classes in greedy order; certain errors, which have no class, come before all of them.
    """

    guaranteed_wrong: Ints
    is_optimal: bool
    order: Ints

    def precision_floors(self) -> list[Fraction | None]:
        """Proved precision at each size, ``None`` at 0."""
        return [precision_floor(int(g), t) for t, g in enumerate(self.guaranteed_wrong)]

    def recall_floors(self) -> list[Fraction | None]:
        """Proved recall at each size; ``None`` where all is taken and nothing is proved."""
        n = len(self.guaranteed_wrong) - 1
        return [recall_floor(int(g), t, n) for t, g in enumerate(self.guaranteed_wrong)]


def guaranteed_curve(
    counts: Ints, upper: Ints, *, n_certain: int = 0, slack: int = 0, exact: bool = True
) -> Curve:
    r"""The guaranteed curve of one column: :math:`G(t) = \max_{|S| = t} g(S)`.

    Taking :math:`t_a` slots of a class proves :math:`(t_a - cap(a))^+` of them wrong. Greedy
    order: certain errors, then cap/c ascending, larger first, code order. It is optimal at every
    size when capacities are 0 or 1; otherwise a knapsack over the classes is solved.

    Parameters
    ----------
    counts, upper : (n_answers,) int
        How often each answer was said and for how many entities it may be right. Order the
        codes by key: ties are broken by code.
    n_certain : int
        Echo and filler slots, which are not in ``counts``.
    slack : int
        How many entities may break a limit; only for one column without candidates.
    exact : bool
        Solve the knapsack where greedy may miss and there are at most 5,000 slots.

    Examples
    --------
    >>> curve = guaranteed_curve(np.array([3, 2, 1]), np.array([1, 1, 1]))
    >>> curve.guaranteed_wrong.tolist(), curve.is_optimal
    ([0, 0, 1, 2, 2, 3, 3], True)
    """
    if counts.shape != upper.shape:
        msg = f"{counts.shape} counts and {upper.shape} limits; give one limit for each count."
        raise ShapeError(msg)
    if min(n_certain, slack, int(upper.min(initial=0)), int(counts.min(initial=0))) < 0:
        msg = "a count, a limit or the slack is negative; give whole numbers from 0."
        raise InputError(msg)
    cap = np.minimum(counts, upper)
    order = _greedy_order(counts, cap)
    simple = not ((cap > 1) & (cap < counts)).any()
    small = int(counts.sum()) <= EXACT_SLOTS
    if simple or not (small and exact):
        gains = _greedy(counts[order], cap[order])
    else:
        gains = _knapsack(counts[order], cap[order])
    curve = np.concatenate([np.arange(n_certain), n_certain + gains])
    is_optimal = bool(simple or (small and exact))
    return Curve(np.maximum(curve - slack, 0), is_optimal, order)


def guaranteed_wrong_in_column(
    counts: Ints, upper: Ints, *, n_certain: int = 0, slack: int = 0
) -> int:
    """Certified errors g(S) of a set S of slots of one column, from the counts within S.

    Upper limits survive the restriction to S, lower ones do not.

    >>> guaranteed_wrong_in_column(np.array([3, 1]), np.array([1, 1]), n_certain=2, slack=1)
    3
    """
    return max(0, n_certain + over_capacity(counts, upper) - slack)


def precision_floor(wrong: int, size: int) -> Fraction | None:
    """Proved precision of a withheld set, wrong/size; ``None`` for the empty set.

    >>> precision_floor(19, 20)
    Fraction(19, 20)
    """
    return Fraction(wrong, size) if size else None


def recall_floor(wrong: int, size: int, n_answered: int) -> Fraction | None:
    r"""Proved recall of a withheld set: :math:`g / (g + N - |S|)`.

    At most :math:`N - |S|` wrong answers are outside. ``None`` where all is withheld and
    nothing proved.

    >>> recall_floor(2, 4, 5)
    Fraction(2, 3)
    """
    if not 0 <= wrong <= size <= n_answered:
        msg = f"{wrong} wrong of {size} withheld of {n_answered}; each must contain the one before."
        raise InputError(msg)
    total = wrong + n_answered - size
    return Fraction(wrong, total) if total else None


@dataclass(frozen=True, slots=True)
class CountedFloors:
    """Floors from published counts. ``None`` where a count they need was not given or is 0."""

    floor_injective: int
    floor_with_answer_set: int | None
    precision_floor_shared_orbits: Fraction | None


def floors_from_counts(
    n: int,
    n_orbits: int,
    *,
    n_in_shared_orbits: int | None = None,
    n_admissible_orbits: int | None = None,
) -> CountedFloors:
    r"""Floors from counts alone: :math:`n - m`, :math:`n - m^*` and :math:`(n - m)/|S|`.

    Parameters
    ----------
    n : int
        Entities with an answer, one right answer each, all different.
    n_orbits : int
        Distinct answers, m.
    n_in_shared_orbits : int or None
        Entities whose answer somebody else got too, |S|.
    n_admissible_orbits : int or None
        Distinct answers that are in the answer set, m*.

    Raises
    ------
    InputError
        For counts that are not whole or that no table has.

    Examples
    --------
    >>> floors_from_counts(20, 15, n_in_shared_orbits=7).precision_floor_shared_orbits
    Fraction(5, 7)
    """
    given: dict[str, object] = {
        "n": n,
        "n_orbits": n_orbits,
        "n_in_shared_orbits": n_in_shared_orbits,
        "n_admissible_orbits": n_admissible_orbits,
    }
    _check_whole(given)
    if not min(n, 1) <= n_orbits <= n:
        msg = f"n_orbits is {n_orbits} and n is {n}; n_orbits must lie between 1 and n."
        raise InputError(msg)
    if n_admissible_orbits is not None and n_admissible_orbits > n_orbits:
        msg = f"n_admissible_orbits is {n_admissible_orbits}, above n_orbits {n_orbits}; recount."
        raise InputError(msg)
    shared = n_in_shared_orbits
    if shared is not None:
        _check_shared(n, n_orbits, shared)
    return CountedFloors(
        floor_injective=n - n_orbits,
        floor_with_answer_set=None if n_admissible_orbits is None else n - n_admissible_orbits,
        precision_floor_shared_orbits=precision_floor(n - n_orbits, shared or 0),
    )


def _check_whole(given: dict[str, object]) -> None:
    for name, value in given.items():
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            msg = f"{name} is {value!r}; counts are whole numbers from 0."
            raise InputError(msg)


def _check_shared(n: int, m: int, shared: int) -> None:
    low, high = (n - m + 1, min(n, 2 * (n - m))) if m < n else (0, 0)
    if not low <= shared <= high:
        msg = (
            f"n_in_shared_orbits is {shared} with n = {n} and m = {m}; "
            "n_in_shared_orbits must lie between n - m + 1 and 2(n - m), at most n, "
            f"and be 0 when m = n: here {low} to {high}."
        )
        raise InputError(msg)


def _greedy_order(counts: Ints, cap: Ints) -> Ints:
    """Classes by cap/c ascending, larger first, code order; empty classes last."""
    ratio = np.full(len(counts), 2.0)  # exact as an order: equal fractions round alike
    np.divide(cap, counts, out=ratio, where=counts > 0)
    return np.lexsort((np.arange(len(counts)), -counts, ratio))


def _greedy(counts: Ints, cap: Ints) -> Ints:
    """Wrong ones among the first t slots, class after class: a class first costs its capacity."""
    starts = np.cumsum(counts) - counts
    within = np.arange(int(counts.sum())) - np.repeat(starts, counts)
    gains = np.cumsum(within >= np.repeat(cap, counts))
    return np.concatenate([np.zeros(1, dtype=np.int64), gains]).astype(np.int64)


def _knapsack(counts: Ints, cap: Ints) -> Ints:
    """Best number of wrong ones at every t: whole classes and at most one part of a class.

    The loss Σ min(taken, cap) is concave in each class, so some best choice takes every class
    whole or not at all, but for one.
    """
    n = int(counts.sum())
    never = -n - 1
    whole = np.zeros(n + 1, dtype=np.int64)  # best gain of at most t slots, whole classes only
    part = whole.copy()  # the same, with at most one class in part
    size = np.arange(n + 1)
    for c, k in zip(counts.tolist(), cap.tolist(), strict=True):
        if k >= c:
            continue
        part[c:] = np.maximum(part[c:], part[: n + 1 - c] + (c - k))
        if c - k > 1:
            part = np.maximum(part, _one_part(whole - size, c, k, never) + size - k)
        whole[c:] = np.maximum(whole[c:], whole[: n + 1 - c] + (c - k))
    return np.maximum(whole, part)


def _one_part(slope: Ints, c: int, k: int, never: int) -> Ints:
    """Greatest slope[t - s] over k < s < c, where t - s is at least 0."""
    from scipy.ndimage import maximum_filter1d  # noqa: PLC0415 - slow to load, seldom needed

    width = c - k - 1
    padded = np.concatenate([np.full(c - 1, never), slope])  # entry t + c - 1 is slope[t]
    best = maximum_filter1d(padded, width, mode="constant", cval=never, origin=-(width // 2))
    return np.asarray(best[: len(slope)], dtype=np.int64)  # window t - c + 1 … t - k - 1
