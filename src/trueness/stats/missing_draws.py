"""Between which values agreement lies when some planned draws are missing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.clouds import GOLD, NONE, OPEN, ORDERS, PARTS, WRONG, Clouds, Floats, Ints
from trueness.stats.spectrum import check_orders, chosen, counts_by_part, falling_ratio, fits, top

_ROLES = {
    "total": (GOLD, WRONG, NONE, OPEN),
    "gold": (GOLD,),
    "wrong": (WRONG,),
    "none": (NONE,),
    "semantic": (GOLD, WRONG, OPEN),
}


@dataclass(frozen=True, slots=True)
class Bounds:
    """Least and greatest value by part, whatever the missing draws were."""

    low: Mapping[str, Floats]
    """Part to (n_items, n_orders)."""
    high: Mapping[str, Floats]


@dataclass(frozen=True, slots=True)
class ExactBounds:
    """The same of one item and order as fractions."""

    low: Fraction | None
    high: Fraction | None


def missing_bounds(clouds: Clouds, missing: ArrayLike, orders: Sequence[int] = ORDERS) -> Bounds:
    r"""Between which values the spectrum would lie had no draw been lost.

    With m draws lost of an item, low is :math:`\sum_{a \in S} \binom{n_a}{r} / \binom{k+m}{r}`, as
    if all lost draws were new and distinct; high has all of them in the largest class of the part,
    a new one if none was drawn.

    Parameters
    ----------
    clouds : Clouds
    missing : (n_items,) int, at least 0
        Planned draws of each item that were not measured.
    orders : (n_orders,) sequence of int, at least 1

    Returns
    -------
    Bounds
        Equal to the spectrum where nothing is missing. nan where even k + m draws are fewer than
        r and, for ``gold`` and ``wrong``, where the right answer is unknown.

    Raises
    ------
    ShapeError, InputError
        If ``missing`` does not hold one whole number of at least 0 an item.

    Examples
    --------
    >>> clouds = Clouds.of([0] * 4, [0, 0, 0, 1], [WRONG] * 4, n_items=1)
    >>> bounds = missing_bounds(clouds, [2], (2,))
    >>> bounds.low["total"].round(3).tolist(), bounds.high["total"].round(3).tolist()
    ([[0.2]], [[0.667]])
    """
    check_orders(orders)
    lost = _lost(missing, clouds.n_items)
    planned = clouds.draws + lost
    low = {part: np.full((clouds.n_items, len(orders)), np.nan) for part in PARTS}
    high = {part: values.copy() for part, values in low.items()}
    largest = {part: _largest(clouds, part) for part in PARTS}
    for place, r in enumerate(orders):
        tuples = partial(_tuples, r=r, exact=fits(top(planned), r))
        every = np.where(planned < r, np.nan, tuples(planned, planned))
        for part, agree in clouds.by_part(tuples(clouds.count, planned[clouds.item])).items():
            most = largest[part]
            gained = tuples(most + lost, planned) - tuples(most, planned)
            low[part][:, place] = agree / every
            high[part][:, place] = (agree + gained) / every
    return Bounds(low, high)


def change_bounds(before: Bounds, after: Bounds) -> Bounds:
    """Between which values the change lies: low after - high before, high after - low before.

    Examples
    --------
    >>> clouds = Clouds.of([0] * 4, [0, 0, 0, 1], [WRONG] * 4, n_items=1)
    >>> one, other = (missing_bounds(clouds, [m], (2,)) for m in (0, 2))
    >>> change = change_bounds(one, other)
    >>> change.low["total"].round(3).tolist(), change.high["total"].round(3).tolist()
    ([[-0.3]], [[0.167]])
    """
    return Bounds(
        {part: after.low[part] - before.high[part] for part in PARTS},
        {part: after.high[part] - before.low[part] for part in PARTS},
    )


def exact_missing_bounds(
    clouds: Clouds, missing: int, r: int, *, item: int = 0
) -> dict[str, ExactBounds]:
    """The bounds of one item and order as fractions; None where they are not defined.

    Examples
    --------
    >>> clouds = Clouds.of([0] * 4, [0, 0, 0, 1], [WRONG] * 4, n_items=1)
    >>> bounds = exact_missing_bounds(clouds, 2, 2)["total"]
    >>> str(bounds.low), str(bounds.high)
    ('1/5', '2/3')
    """
    check_orders((r,))
    lost = int(_lost([missing], 1)[0])
    tuples = comb(int(clouds.draws[item]) + lost, r)
    parts = counts_by_part(clouds, item)
    return {part: _exact(counts, lost, r, tuples) for part, counts in parts.items()}


def _exact(counts: Sequence[int] | None, lost: int, r: int, tuples: int) -> ExactBounds:
    if counts is None or not tuples:
        return ExactBounds(None, None)
    agree = sum(comb(n, r) for n in counts)
    most = max(counts, default=0)
    above = agree + comb(most + lost, r) - comb(most, r)
    return ExactBounds(Fraction(agree, tuples), Fraction(above, tuples))


def _tuples(n: Ints, planned: Ints, *, r: int, exact: bool) -> Floats:
    """Tuples of n draws: their number, or where that is too large their share of the planned."""
    if exact:
        return chosen(n, r).astype(np.float64)
    return np.where(planned < r, 0.0, falling_ratio(n, planned, r))


def _largest(clouds: Clouds, part: str) -> Ints:
    """Draws of the largest class of a part; 0 where it has none."""
    most = np.zeros(clouds.n_items, np.int64)
    here = np.isin(clouds.role, _ROLES[part])
    np.maximum.at(most, clouds.item[here], clouds.count[here])
    return most


def _lost(missing: ArrayLike, n_items: int) -> Ints:
    lost = np.asarray(missing)
    if lost.shape != (n_items,):
        msg = f"missing has shape {lost.shape}; it must be ({n_items},), one number an item."
        raise ShapeError(msg)
    if lost.size and (not np.issubdtype(lost.dtype, np.integer) or lost.min() < 0):
        msg = f"missing holds {lost.dtype} from {lost.min()}; give whole numbers of at least 0."
        raise InputError(msg)
    return lost.astype(np.int64)
