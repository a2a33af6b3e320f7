"""Matrices of lower rank: the nearest one, and one that keeps directions drawn at random."""

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError

Floats: TypeAlias = NDArray[np.float64]


def truncated(matrix: ArrayLike, rank: int) -> Floats:
    """The nearest matrix of a rank, in Frobenius norm: the largest singular values, the rest 0.

    Parameters
    ----------
    matrix : (m, n) float
    rank : int, at least 1
        At or above the smaller side the matrix comes back as it is.

    Raises
    ------
    ShapeError, InputError
        For another shape, a number that is not finite, or a rank below 1.

    Examples
    --------
    >>> truncated([[3.0, 0.0], [0.0, 1.0]], 1).tolist()
    [[3.0, 0.0], [0.0, 0.0]]
    """
    w = _checked(matrix, rank)
    if rank >= min(w.shape):
        return w
    u, s, vt = np.linalg.svd(w, full_matrices=False)
    kept: Floats = (u[:, :rank] * s[:rank]) @ vt[:rank]
    return kept


def random_rank(matrix: ArrayLike, rank: int, *, rng: np.random.Generator) -> Floats:
    """The matrix on a subspace of its inputs drawn at random, of a dimension; 0 across it.

    What a truncation is compared with: as much is kept, and not what is largest.

    Parameters
    ----------
    matrix : (m, n) float
    rank : int, at least 1
    rng : numpy.random.Generator

    Raises
    ------
    ShapeError, InputError
        As :func:`truncated`.

    Examples
    --------
    >>> found = random_rank(np.eye(4), 2, rng=np.random.default_rng(0))
    >>> int(np.linalg.matrix_rank(found)), bool(np.allclose(found @ found, found))
    (2, True)
    """
    w = _checked(matrix, rank)
    if rank >= min(w.shape):
        return w
    q = np.linalg.qr(rng.normal(size=(w.shape[1], rank)))[0]
    kept: Floats = (w @ q) @ q.T
    return kept


def row_space(rows: ArrayLike, *, tolerance: float) -> Floats:
    """Orthonormal directions that span some rows, each taken at unit length.

    Parameters
    ----------
    rows : (k, D) float
        A row of zeros spans nothing.
    tolerance : float
        A direction whose singular value is not above this share of the largest is dropped.

    Returns
    -------
    (m, D) float64
    """
    made = np.asarray(rows, np.float64)
    size = np.linalg.norm(made, axis=1, keepdims=True)
    values, directions = np.linalg.svd(made / np.where(size > 0, size, 1.0), full_matrices=False)[
        1:
    ]
    kept: Floats = directions[values > tolerance * values[0]]
    return kept


def _checked(matrix: ArrayLike, rank: int) -> Floats:
    w = np.asarray(matrix, np.float64)
    if w.ndim != 2 or not w.size:  # noqa: PLR2004 - a matrix
        msg = f"a matrix of shape {w.shape}; (m, n) is wanted. Give one matrix."
        raise ShapeError(msg)
    if rank < 1:
        msg = f"the rank is {rank}; wanted 1 or more."
        raise InputError(msg)
    if not np.isfinite(w).all():
        msg = "the matrix holds nan or infinity; wanted finite numbers. Look at the weights."
        raise InputError(msg)
    return w
