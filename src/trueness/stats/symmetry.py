"""Exploratory scores: whether an answer survives rewording, and is not everybody's."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError

NO_ANSWER = -1


@dataclass(frozen=True, slots=True)
class SymmetryScores:
    """Four numbers an entity, each (n_entities,) float; ``nan`` where there is nothing to compare.

    Low ``invariance`` and high ``collision`` point to wrong; the direction is fixed beforehand.
    """

    invariance: NDArray[np.float64]
    """Share of column pairs, both answered, with equal answers."""
    collision: NDArray[np.float64]
    """Mean over columns of the share of other entities with the same answer."""
    collision_scored: NDArray[np.float64]
    """The same for the one column whose answers are graded."""
    combined: NDArray[np.float64]
    """``invariance - collision``."""


def symmetry_scores(codes: NDArray[np.integer], *, scored: int | None = None) -> SymmetryScores:
    r"""Stability across columns and coincidence across entities.

    Invariance is :math:`\sum_a \binom{n_a}{2} / \binom{m}{2}` over the m answered columns of an
    entity; collision the mean of :math:`(c_t(a) - 1)/(n_t - 1)` over its answered columns with
    :math:`n_t \ge 2` answers. Linear in the table, from counts.

    Parameters
    ----------
    codes : (n_entities, n_columns) int
        Answer codes, one code space for all columns; negative where there is no answer.
    scored : int, optional
        The column whose answers are graded; without it ``collision_scored`` is ``nan``.

    Raises
    ------
    ShapeError
        If ``codes`` is not two-dimensional.
    InputError
        If ``codes`` are not whole numbers or ``scored`` is no column.

    Examples
    --------
    >>> scores = symmetry_scores(np.array([[0, 0], [1, 0], [1, -1]]))
    >>> scores.invariance
    array([ 1.,  0., nan])
    >>> scores.collision
    array([0.5 , 0.75, 0.5 ])
    """
    _check(codes, scored)
    invariance = _invariance(codes)
    shares = _shares(codes)
    seen = ~np.isnan(shares)
    total, columns = np.where(seen, shares, 0.0).sum(axis=1), seen.sum(axis=1)
    collision = _ratio(total, columns)
    graded = np.full(len(codes), np.nan) if scored is None else shares[:, scored].copy()
    return SymmetryScores(invariance, collision, graded, invariance - collision)


def _invariance(codes: NDArray[np.integer]) -> NDArray[np.float64]:
    """Equal pairs over pairs, by the lengths of runs in each sorted row."""
    ordered = np.sort(codes, axis=1)
    n, width = ordered.shape
    run, equal = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    for t in range(1, width):
        same = (ordered[:, t] == ordered[:, t - 1]) & (ordered[:, t] >= 0)
        run = (run + 1) * same
        equal += run
    answered = (codes >= 0).sum(axis=1)
    return _ratio(equal, answered * (answered - 1) // 2)


def _shares(codes: NDArray[np.integer]) -> NDArray[np.float64]:
    """Per slot the share of the column's other answers that are equal; nan if none can be."""
    dense, size = _dense(codes)
    out = np.full(codes.shape, np.nan)
    for t in range(codes.shape[1]):
        answered = np.flatnonzero(codes[:, t] >= 0)
        if len(answered) > 1:
            column = dense[answered, t]
            same = np.bincount(column, minlength=size)[column]
            out[answered, t] = (same - 1) / (len(answered) - 1)
    return out


def _dense(codes: NDArray[np.integer]) -> tuple[NDArray[np.integer], int]:
    """Codes that a count array can be indexed with, and how many there are."""
    largest = int(codes.max(initial=NO_ANSWER))
    if largest <= 4 * codes.size:
        return codes, largest + 1
    words, inverse = np.unique(codes, return_inverse=True)
    return inverse.reshape(codes.shape), len(words)


def _ratio(above: NDArray[np.generic], below: NDArray[np.integer]) -> NDArray[np.float64]:
    out = np.full(below.shape, np.nan)
    np.divide(above, below, out=out, where=below > 0)
    return out


def _check(codes: NDArray[np.integer], scored: int | None) -> None:
    if codes.ndim != 2:  # noqa: PLR2004 - entities by columns
        msg = (
            f"codes has shape {codes.shape}; it must be (n_entities, n_columns). "
            "Pass one row an entity."
        )
        raise ShapeError(msg)
    if not np.issubdtype(codes.dtype, np.integer):
        msg = f"codes is of type {codes.dtype}; answer codes are whole numbers. Intern the answers."
        raise InputError(msg)
    if scored is not None and not 0 <= scored < codes.shape[1]:
        msg = (
            f"scored is {scored} and there are {codes.shape[1]} columns; it must be one of them, "
            "counted from 0. Name the column whose answers are graded."
        )
        raise InputError(msg)
