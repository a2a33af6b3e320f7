"""Sets of answers of which only so many can be right: how many are wrong at least."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array

from trueness.contract.errors import InputError

MAX_MEMBERSHIPS = 200_000
"""Above so many slots in conflicts, counted with repeats, only the packing is tried."""
MAX_EXACT_SLOTS = 2_000
_FINE = 1_000_000  # largest denominator of a rounded dual price
_SLACK = 1e-6  # how far a solver's bound may be off before it is believed


@dataclass(frozen=True, slots=True)
class Conflict:
    """Of these slots at most ``at_most_right`` can be right."""

    slots: tuple[int, ...]
    at_most_right: int

    @property
    def wrong(self) -> int:
        """At least so many of the slots are wrong."""
        return len(self.slots) - self.at_most_right


@dataclass(frozen=True, slots=True)
class ConflictFloor:
    """At least ``certified_errors`` slots are wrong, by the strongest of the bounds tried."""

    certified_errors: int
    packing: int
    """From disjoint conflicts picked greedily."""
    linear: Fraction | None
    """A lower bound of the linear relaxation in exact arithmetic; ``None`` when not tried."""
    exact: bool
    """Whether some set of that many slots meets every conflict."""
    hitting_set: tuple[int, ...] | None
    """Slots whose being wrong explains every conflict; ``None`` when none was looked for."""


def conflict_floor(
    n_slots: int,
    conflicts: Sequence[Conflict],
    *,
    exact: bool = False,
    max_memberships: int = MAX_MEMBERSHIPS,
) -> ConflictFloor:
    r"""Slots that are wrong at least, given sets of which not all can be right.

    Hitting number :math:`\ge \lceil` linear relaxation :math:`\rceil \ge` disjoint packing. The
    relaxation is bounded by its dual prices y, rounded to fractions and evaluated exactly:
    :math:`\sum_C y_C(|C| - q_C) - \sum_s \max(0, \sum_{C \ni s} y_C - 1)`.

    Parameters
    ----------
    n_slots : int
    conflicts : sequence of Conflict
        Those that allow all their slots to be right say nothing and are dropped.
    exact : bool
        Also look for the hitting number by integer programming, up to 2,000 slots in conflict.
    max_memberships : int
        Above so many memberships only the packing is tried.

    Returns
    -------
    ConflictFloor

    Raises
    ------
    InputError
        If a slot does not exist or stands twice in a conflict, or a number is negative.

    Examples
    --------
    >>> pairs = [Conflict((0, 1), 1), Conflict((1, 2), 1), Conflict((0, 2), 1)]
    >>> floor_ = conflict_floor(3, pairs)
    >>> floor_.certified_errors, floor_.packing, str(floor_.linear)
    (2, 1, '3/2')
    """
    for conflict in conflicts:
        _check(n_slots, conflict)
    useful = [c for c in conflicts if c.wrong > 0]
    packing = _packing(useful)
    if not useful:
        return ConflictFloor(0, 0, Fraction(0), exact=True, hitting_set=())
    if sum(len(c.slots) for c in useful) > max_memberships:
        return ConflictFloor(packing, packing, None, exact=False, hitting_set=None)
    slots = sorted({s for c in useful for s in c.slots})
    matrix, needed = _programme(useful, slots)
    linear = _dual_value(useful, _prices(matrix, needed))
    floor_ = max(packing, ceil(linear))
    if not exact or len(slots) > MAX_EXACT_SLOTS:
        return ConflictFloor(floor_, packing, linear, exact=False, hitting_set=None)
    proved, hitting = _hitting(useful, slots, (matrix, needed))
    floor_ = max(floor_, proved)
    attained = hitting is not None and len(hitting) == floor_
    return ConflictFloor(floor_, packing, linear, exact=attained, hitting_set=hitting)


def _packing(conflicts: Iterable[Conflict]) -> int:
    """Disjoint conflicts, those first that prove most a slot."""
    taken, total = set[int](), 0
    for conflict in sorted(conflicts, key=lambda c: Fraction(len(c.slots), c.wrong)):
        if taken.isdisjoint(conflict.slots):
            taken.update(conflict.slots)
            total += conflict.wrong
    return total


def _programme(
    conflicts: list[Conflict], slots: list[int]
) -> tuple[csr_array, NDArray[np.float64]]:
    """Membership (n_conflicts, n_slots) and how many of each conflict are wrong."""
    place = {s: i for i, s in enumerate(slots)}
    columns = [place[s] for c in conflicts for s in c.slots]
    starts = np.cumsum([0, *(len(c.slots) for c in conflicts)])
    shape = (len(conflicts), len(slots))
    matrix = csr_array((np.ones(len(columns)), columns, starts), shape=shape)
    return matrix, np.array([c.wrong for c in conflicts], dtype=np.float64)


def _prices(matrix: csr_array, needed: NDArray[np.float64]) -> list[Fraction]:
    """Dual prices as fractions of at least 0; whatever they are, the bound they give is true."""
    ones = np.ones(matrix.shape[1])
    found = linprog(  # type: ignore[call-overload] # sparse is accepted, the stubs forget it
        ones, A_ub=-matrix, b_ub=-needed, bounds=(0, 1), method="highs"
    )
    if found.status != 0:
        return [Fraction(0)] * len(needed)
    prices = -np.asarray(found.ineqlin.marginals, dtype=np.float64)
    return [max(Fraction(0), Fraction(p).limit_denominator(_FINE)) for p in prices.tolist()]


def _dual_value(conflicts: list[Conflict], prices: list[Fraction]) -> Fraction:
    load: dict[int, Fraction] = {}
    for conflict, price in zip(conflicts, prices, strict=True):
        if price:
            for s in conflict.slots:
                load[s] = load.get(s, Fraction(0)) + price
    gain = sum((p * c.wrong for c, p in zip(conflicts, prices, strict=True)), Fraction(0))
    return max(
        Fraction(0), gain - sum((max(Fraction(0), x - 1) for x in load.values()), Fraction(0))
    )


def _hitting(
    conflicts: list[Conflict], slots: list[int], programme: tuple[csr_array, NDArray[np.float64]]
) -> tuple[int, tuple[int, ...] | None]:
    """The solver's lower bound, and a hitting set that was checked in whole numbers."""
    matrix, needed = programme
    found = milp(
        np.ones(len(slots)),
        constraints=LinearConstraint(matrix, needed, np.inf),
        integrality=np.ones(len(slots), dtype=np.int64),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0.0},
    )
    bound = found.mip_dual_bound
    proved = 0 if bound is None or not np.isfinite(bound) else ceil(_less_rounding(bound))
    if found.x is None:
        return proved, None
    chosen = {s for s, x in zip(slots, found.x.tolist(), strict=True) if x > 0.5}  # noqa: PLR2004 - rounding
    hits = all(len(chosen.intersection(c.slots)) >= c.wrong for c in conflicts)
    return proved, tuple(sorted(chosen)) if hits else None


def _less_rounding(bound: float) -> float:
    """A solver's lower bound, less what its arithmetic may have added."""
    return max(0.0, bound - _SLACK * max(1.0, abs(bound)))


def _check(n_slots: int, conflict: Conflict) -> None:
    slots = conflict.slots
    if conflict.at_most_right < 0:
        msg = (
            f"a conflict of slots {slots[:5]} allows {conflict.at_most_right} right answers; "
            "wanted at least 0. Correct the number."
        )
        raise InputError(msg)
    if len(set(slots)) < len(slots) or any(not 0 <= s < n_slots for s in slots):
        msg = (
            f"a conflict holds slots {slots[:5]}; wanted different numbers from 0 to "
            f"{n_slots - 1}. Number the slots in the order of the table."
        )
        raise InputError(msg)
