"""Answers on a scale: two right answers cannot lie nearer than their true values allow."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.rationals import Exact, Number, rational, rational_table


@dataclass(frozen=True, slots=True)
class Spacing:
    """The most answers that can be right, summed over the columns."""

    n_answered: int
    max_right: int
    no_value_count: int
    """Answered slots that are no number: never right."""
    withheld: NDArray[np.bool_]
    """(n_entities, n_columns): slots that contradict another of their column, or no number."""

    @property
    def certified_errors(self) -> int:
        """At least this many answers are wrong."""
        return self.n_answered - self.max_right


def spaced_answers(
    values: Sequence[Sequence[Number | None]],
    *,
    separation: Number,
    radius: Number = 0,
    answered: NDArray[np.bool_] | None = None,
) -> Spacing:
    """The most answers on a line that no two true values are too near for; sound.

    Right is within ``radius`` of the truth, and true values are *more* than ``separation`` apart,
    so two answers of one column at most ``separation - 2 radius`` apart are not both right. A
    column is sorted and swept; nothing follows where ``separation < 2 radius``.

    Parameters
    ----------
    values : (n_entities, n_columns) of int, Fraction, Decimal or None
        ``None`` is an answer that is never right, or no answer.
    separation, radius : int, Fraction or Decimal, at least 0
    answered : (n_entities, n_columns) bool, optional
        Which slots were answered; all by default.

    Returns
    -------
    Spacing
        Not always the best bound: three answers can be possible in pairs and not together.

    Raises
    ------
    InputError
        If a value is no exact number, or a length is negative.
    ShapeError
        If the rows or ``answered`` do not fit together.

    Examples
    --------
    >>> near = spaced_answers([[0], [1], [10]], separation=3, radius=1)
    >>> near.max_right, near.withheld[:, 0].tolist()
    (2, [True, True, False])
    """
    reach = _reach(separation, radius)
    table = rational_table(values)
    counted = _counted((len(table), len(table[0]) if table else 0), answered)
    withheld, right = np.zeros(counted.shape, dtype=np.bool_), 0
    for t in range(counted.shape[1]):
        column = [row[t] for row in table]
        usable = [(v, e) for e, v in enumerate(column) if v is not None and counted[e, t]]
        kept, clashing = _sweep(sorted(usable), reach)
        right += kept
        withheld[clashing, t] = True
        withheld[:, t] |= counted[:, t] & [v is None for v in column]
    absent = np.array([[v is None for v in row] for row in table]).reshape(counted.shape)
    return Spacing(int(counted.sum()), right, int((counted & absent).sum()), withheld)


def spaced_points(
    points: Sequence[Sequence[Number] | None], *, separation: Number, radius: Number = 0
) -> Spacing:
    """The same for one column of points in space, Euclidean, from a cover by cliques.

    Answers at most ``separation - 2 radius`` apart contradict each other; every set of mutually
    contradicting answers holds at most one right answer. Quadratic in the crowding of the points.

    Parameters
    ----------
    points : (n_entities,) sequence of (d,) exact numbers, or None
        ``None`` is an answer that is never right.
    separation, radius : int, Fraction or Decimal, at least 0

    Returns
    -------
    Spacing
        Sound, not always tight; ``withheld`` is (n_entities, 1).

    Raises
    ------
    InputError
        If a coordinate is no exact number, or a length is negative.
    ShapeError
        If the points differ in dimension.

    Examples
    --------
    >>> spaced_points([(0, 0), (1, 1), (9, 9)], separation=2).max_right
    2
    """
    reach = _reach(separation, radius)
    usable = [e for e, p in enumerate(points) if p is not None]
    table = rational_table([p for p in points if p is not None], "points")
    whole, limit = _whole([[v for v in row if v is not None] for row in table], reach)
    withheld = np.array([[p is None] for p in points], dtype=np.bool_).reshape(len(points), 1)
    n_cliques, clashing = _cover(whole, limit)
    withheld[[usable[i] for i in clashing], 0] = True
    return Spacing(len(points), n_cliques, len(points) - len(usable), withheld)


def _reach(separation: Number, radius: Number) -> Exact:
    """Answers this near or nearer contradict each other; negative: none do."""
    apart, around = rational(separation, "separation"), rational(radius, "radius")
    if apart < 0 or around < 0:
        msg = (
            f"separation is {apart} and radius is {around}; both are lengths of at least 0. "
            "Give how far true values are apart and how near a right answer is."
        )
        raise InputError(msg)
    return apart - 2 * around


def _counted(shape: tuple[int, int], answered: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    if answered is None:
        return np.ones(shape, dtype=np.bool_)
    if answered.shape != shape:
        msg = (
            f"answered has shape {answered.shape} and values has shape {shape}; "
            "they must be equal. Pass one truth value a slot."
        )
        raise ShapeError(msg)
    return answered


def _sweep(ordered: list[tuple[Exact, int]], reach: Exact) -> tuple[int, list[int]]:
    """Largest set that keeps its distance, and everyone with a neighbour too near."""
    kept, clashing = 0, []
    last: Exact | None = None
    for place, (value, e) in enumerate(ordered):
        if last is None or value - last > reach:
            kept, last = kept + 1, value
        near_left = place > 0 and value - ordered[place - 1][0] <= reach
        right = ordered[place + 1][0] if place + 1 < len(ordered) else None
        if near_left or (right is not None and right - value <= reach):
            clashing.append(e)
    return kept, clashing


def _whole(points: list[list[Exact]], reach: Exact) -> tuple[list[tuple[int, ...]], int]:
    """Points and reach in one unit that makes them whole numbers; a negative reach stays so."""
    scale = lcm(*(Fraction(v).denominator for row in points for v in (*row, reach)))
    return [tuple(int(v * scale) for v in row) for row in points], int(reach * scale)


def _cover(points: list[tuple[int, ...]], reach: int) -> tuple[int, list[int]]:
    """Number of greedy cliques that cover all points, and the points with a conflict."""
    if reach < 0:
        return len(points), []
    order = sorted(range(len(points)), key=points.__getitem__)
    free = dict.fromkeys(order)
    n_cliques, clashing = 0, set[int]()
    for place, i in enumerate(order):
        near = list(_window(points, order, place, reach))
        clashing.update(near, [i] if near else [])
        if i not in free:
            continue
        clique = [i]
        clique.extend(
            j
            for j in near
            if j in free and all(_near(points[j], points[member], reach) for member in clique)
        )
        for member in clique:
            free.pop(member, None)
        n_cliques += 1
    return n_cliques, sorted(clashing)


def _window(points: list[tuple[int, ...]], order: list[int], place: int, reach: int) -> list[int]:
    """Later points in conflict with the one at this place; the first coordinate ends the scan."""
    here, found = points[order[place]], []
    for j in order[place + 1 :]:
        if points[j][0] - here[0] > reach:
            break
        if _near(points[j], here, reach):
            found.append(j)
    return found


def _near(a: tuple[int, ...], b: tuple[int, ...], reach: int) -> bool:
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) <= reach * reach
