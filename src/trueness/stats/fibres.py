"""Conditions that an observer cannot tell apart, and how much a target moves among them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.ceilings import textbook_ceiling
from trueness.stats.cloud_pairs import (
    IDENTITY_MOVED,
    MOVEMENTS,
    NOT_COMPARED,
    SHAPE_MOVED,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_Number = TypeVar("_Number", float, Fraction)


def fibre_codes(observers: ArrayLike, *, item: ArrayLike | None = None) -> Ints:
    """The fibre of every cell: equal codes where the observer's numbers are equal to the byte.

    Parameters
    ----------
    observers : (n_cells, n_numbers) float
        What the observer sees of each cell. Negative zero is zero; nothing else is rounded.
    item : (n_cells,) int, optional
        Cells of different items are never in one fibre.

    Returns
    -------
    (n_cells,) int64
        Numbered in order of first appearance.

    Raises
    ------
    ShapeError
        When lengths do not fit.
    InputError
        When a number is not finite.

    Examples
    --------
    >>> fibre_codes([[0.5, 0.0], [0.5, -0.0], [0.5, 1e-300]]).tolist()
    [0, 0, 1]
    """
    seen, items = _checked(observers, item)
    index: dict[tuple[int, bytes], int] = {}
    keys = ((i, row.tobytes()) for i, row in zip(items.tolist(), seen, strict=True))
    return np.array([index.setdefault(key, len(index)) for key in keys], dtype=np.int64)


def fibre_pairs(codes: ArrayLike) -> Ints:
    """All pairs of cells that share a fibre.

    Parameters
    ----------
    codes : (n_cells,) int
        As `fibre_codes` gives them.

    Returns
    -------
    (n_pairs, 2) int64
        Each pair once, the earlier cell first, in ascending order.

    Examples
    --------
    >>> fibre_pairs([0, 1, 0, 0]).tolist()
    [[0, 2], [0, 3], [2, 3]]
    """
    c = np.asarray(codes, dtype=np.int64)
    later = [i + 1 + np.flatnonzero(c[i + 1 :] == c[i]) for i in range(len(c))]
    return _as_pairs(later)


def tolerance_pairs(
    observers: ArrayLike, tolerance: float, *, item: ArrayLike | None = None
) -> Ints:
    """All pairs of cells whose numbers differ by at most a tolerance: pairs, never classes.

    Nearness is not transitive: a pair may be missing between two cells near a third one.

    Parameters
    ----------
    observers, item
        As for `fibre_codes`.
    tolerance : float, at least 0
        Largest difference in any number.

    Returns
    -------
    (n_pairs, 2) int64
        As `fibre_pairs` orders them; with tolerance 0 the pairs of the exact fibres.

    Raises
    ------
    ShapeError, InputError
        As `fibre_codes`, and for a negative or non-finite tolerance.

    Examples
    --------
    >>> tolerance_pairs([[0.0], [0.75], [1.5]], 1.0).tolist()
    [[0, 1], [1, 2]]
    """
    if not 0 <= tolerance < math.inf:
        msg = f"tolerance is {tolerance}; wanted a finite number of at least 0. Use 1e-9, say."
        raise InputError(msg)
    seen, items = _checked(observers, item)
    later = []
    for i, row in enumerate(seen):
        near = np.abs(seen[i + 1 :] - row).max(axis=1, initial=0.0) <= tolerance
        later.append(i + 1 + np.flatnonzero(near & (items[i + 1 :] == items[i])))
    return _as_pairs(later)


def error_floor(distance: _Number) -> _Number:
    """Half the distance of two targets that an observer cannot tell apart.

    Any estimator that reads the observer alone errs by at least so much on one of the two cells;
    a randomised one in expectation.

    Parameters
    ----------
    distance : float or Fraction, at least 0
        In a metric: total variation, or the absolute difference of a number.

    Raises
    ------
    InputError
        When it is negative or not finite.

    Examples
    --------
    >>> error_floor(0.75)
    0.375
    """
    if not 0 <= distance < math.inf:
        msg = f"distance is {distance}; wanted a finite number of at least 0. Measure it again."
        raise InputError(msg)
    return distance / 2


def error_floors(codes: ArrayLike, pairs: ArrayLike, distances: ArrayLike) -> Floats:
    """Half the largest distance within every fibre: for these recorded cells, no population.

    Parameters
    ----------
    codes : (n_cells,) int
        Fibres, numbered from 0.
    pairs : (n_pairs, 2) int
        Cells of one fibre.
    distances : (n_pairs,) float, at least 0
        How far their targets lie apart.

    Returns
    -------
    (n_fibres,) float64
        nan for a fibre without a pair: nothing was compared.

    Raises
    ------
    ShapeError
        When lengths do not fit.
    InputError
        When a pair is not in one fibre or a distance is negative or not finite.

    Examples
    --------
    >>> error_floors([0, 0, 1], [[0, 1]], [0.5]).tolist()
    [0.25, nan]
    """
    c = np.asarray(codes, dtype=np.int64)
    p = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    d = np.asarray(distances, dtype=np.float64)
    if d.shape != (len(p),):
        msg = f"{len(p)} pairs have distances of shape {d.shape}; give one distance a pair."
        raise ShapeError(msg)
    if (c[p[:, 0]] != c[p[:, 1]]).any():
        msg = "a pair of cells is not in one fibre; the floor holds only there. Use fibre_pairs."
        raise InputError(msg)
    if not (np.isfinite(d) & (d >= 0)).all():
        msg = "a distance is negative or not finite; wanted numbers of at least 0. Drop that pair."
        raise InputError(msg)
    largest = np.full(int(c.max(initial=-1)) + 1, np.nan)
    np.fmax.at(largest, c[p[:, 0]], d)
    return largest / 2


def half_ranges(codes: ArrayLike, values: ArrayLike) -> Floats:
    """Half the range of a number over every fibre: the least worst-case error of any estimator.

    Parameters
    ----------
    codes : (n_cells,) int
        Fibres, numbered from 0 without a gap.
    values : (n_cells,) float
        The target of each cell.

    Returns
    -------
    (n_fibres,) float64

    Raises
    ------
    ShapeError
        When lengths do not fit.
    InputError
        When a value is not finite.

    Examples
    --------
    >>> half_ranges([0, 1, 0], [0.25, 0.5, 1.0]).tolist()
    [0.375, 0.0]
    """
    c, v = np.asarray(codes, dtype=np.int64), np.asarray(values, dtype=np.float64)
    if c.ndim != 1 or c.shape != v.shape:
        msg = f"codes have shape {c.shape} and values {v.shape}; give one value a cell."
        raise ShapeError(msg)
    if not np.isfinite(v).all():
        msg = "a value is nan or infinite; wanted a finite target of every cell. Drop that cell."
        raise InputError(msg)
    n_fibres = int(c.max(initial=-1)) + 1
    low, high = np.full(n_fibres, np.inf), np.full(n_fibres, -np.inf)
    np.minimum.at(low, c, v)
    np.maximum.at(high, c, v)
    half: Floats = (high - low) / 2
    return half


def clopper_pearson(count: int, of: int, *, level: float = 0.95) -> tuple[float, float]:
    """Exact interval of a probability from independent trials that share it.

    Parameters
    ----------
    count, of : int
        Successes, trials.
    level : float in (0.5, 1)

    Raises
    ------
    InputError
        For impossible counts, no trial, or another level.

    Examples
    --------
    >>> [round(end, 3) for end in clopper_pearson(5, 7)]
    [0.29, 0.963]
    """
    if not 0.5 < level < 1:  # noqa: PLR2004 - each tail below one quarter
        msg = f"level is {level}; wanted a number between 0.5 and 1. Use 0.95."
        raise InputError(msg)
    tail = (1 - level) / 2
    high = textbook_ceiling(count, of, delta=tail)
    return 1 - textbook_ceiling(of - count, of, delta=tail), high


def population_gap(
    first: tuple[int, int], second: tuple[int, int], *, n_pairs: int, alpha: float = 0.05
) -> float:
    r"""How far apart two probabilities are at least, however many pairs were looked at.

    The gap between Clopper-Pearson intervals at level :math:`1 - \alpha / (2 n_{pairs})`; 0 where
    they overlap. With probability at least :math:`1 - \alpha` no gap of any pair exceeds the true
    distance, so half of it bounds errors beyond the recorded clouds. For a number only: there is
    no such bound for total variation here.

    Parameters
    ----------
    first, second : (count, of)
        Successes and draws in the two cells.
    n_pairs : int
        All pairs that are compared, also those that show nothing.
    alpha : float in (0, 1)

    Raises
    ------
    InputError
        For impossible counts, no pair, or an alpha out of range.

    Examples
    --------
    >>> round(population_gap((0, 20), (19, 20), n_pairs=1), 3)
    0.524
    >>> population_gap((3, 8), (5, 8), n_pairs=1)
    0.0
    """
    if n_pairs < 1 or not 0 < alpha < 1:
        msg = f"n_pairs is {n_pairs} and alpha {alpha}; wanted a pair and 0 < alpha < 1. Count all."
        raise InputError(msg)
    level = 1 - alpha / (2 * n_pairs)
    one, two = clopper_pearson(*first, level=level), clopper_pearson(*second, level=level)
    return max(0.0, two[0] - one[1], one[0] - two[1])


@dataclass(frozen=True, slots=True)
class Share:
    """A count out of a number of cells, with its Clopper-Pearson interval.

    ``low`` and ``high`` are None when there is no cell.
    """

    count: int
    of: int
    low: float | None
    high: float | None

    @staticmethod
    def among(chosen: NDArray[np.bool_], cells: NDArray[np.bool_], *, level: float) -> "Share":
        """The share of some cells that are chosen too."""
        count, of = int((chosen & cells).sum()), int(cells.sum())
        return Share(count, of, *(clopper_pearson(count, of, level=level) if of else (None, None)))


@dataclass(frozen=True, slots=True)
class FibreCounts:
    """What became of all cells; incomplete ones are in no rate.

    Parameters
    ----------
    n_cells, auditable, incomplete : int
        The last two add up to the first.
    flat : Share of the auditable cells
        The observer did not move, to the byte.
    moved, shape, identity : Share of the flat cells
        The cloud moved; to other counts; to the same counts under other labels.
    """

    n_cells: int
    auditable: int
    incomplete: int
    flat: Share
    moved: Share
    shape: Share
    identity: Share


def fibre_counts(
    auditable: ArrayLike, flat: ArrayLike, movement: ArrayLike, *, level: float = 0.95
) -> FibreCounts:
    """Counts of auditable, flat and moved cells.

    Parameters
    ----------
    auditable : (n_cells,) bool
        Everything that an audit needs was recorded.
    flat : (n_cells,) bool
        The observer's bytes are those of the baseline.
    movement : (n_cells,) int
        As `movements` of two clouds gives them; ``NOT_COMPARED`` is for incomplete cells.
    level : float
        Of every interval; nothing is corrected for there being several.

    Raises
    ------
    ShapeError
        When lengths differ.
    InputError
        For a movement that is not known, or clouds not compared in an auditable flat cell.

    Examples
    --------
    >>> counts = fibre_counts([1, 1, 0], [1, 1, 1], [0, SHAPE_MOVED, NOT_COMPARED])
    >>> counts.moved.count, counts.moved.of, counts.incomplete
    (1, 2, 1)
    """
    whole, still = np.asarray(auditable, dtype=np.bool_), np.asarray(flat, dtype=np.bool_)
    moves = np.asarray(movement, dtype=np.int64)
    if whole.ndim != 1 or not whole.shape == still.shape == moves.shape:
        msg = (
            f"auditable, flat and movement have shapes {whole.shape}, {still.shape} and "
            f"{moves.shape}; give one of each a cell."
        )
        raise ShapeError(msg)
    held = whole & still
    if not np.isin(moves, (*range(len(MOVEMENTS)), NOT_COMPARED)).all():
        msg = f"a movement is none of {list(range(len(MOVEMENTS)))}; wanted what movements() gives."
        raise InputError(msg)
    if (moves[held] == NOT_COMPARED).any():
        msg = "an auditable cell has clouds that were not compared. Mark it incomplete."
        raise InputError(msg)
    identity, shape = moves == IDENTITY_MOVED, moves == SHAPE_MOVED
    return FibreCounts(
        n_cells=len(whole),
        auditable=int(whole.sum()),
        incomplete=int((~whole).sum()),
        flat=Share.among(still, whole, level=level),
        moved=Share.among(identity | shape, held, level=level),
        shape=Share.among(shape, held, level=level),
        identity=Share.among(identity, held, level=level),
    )


def _checked(observers: ArrayLike, item: ArrayLike | None) -> tuple[Floats, Ints]:
    """Numbers without a negative zero, and the item of every cell."""
    seen = np.ascontiguousarray(observers, dtype=np.float64) + 0.0
    items = np.zeros(len(seen), np.int64) if item is None else np.asarray(item, dtype=np.int64)
    if seen.ndim != 2 or items.shape != (len(seen),):  # noqa: PLR2004 - cells by numbers
        msg = (
            f"observers have shape {seen.shape} and items {items.shape}; wanted "
            "(n_cells, n_numbers) and one item a cell."
        )
        raise ShapeError(msg)
    if not np.isfinite(seen).all():
        msg = (
            "an observer holds nan or infinity; wanted finite numbers. Mark such cells incomplete."
        )
        raise InputError(msg)
    return seen, items


def _as_pairs(later: Sequence[NDArray[np.integer]]) -> Ints:
    second = np.concatenate([np.zeros(0, np.int64), *later])
    first = np.repeat(np.arange(len(later)), [len(j) for j in later])
    return np.column_stack([first, second]).astype(np.int64)
