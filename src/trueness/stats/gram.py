"""The spectrum of evidence: unit rows, their Gram matrix, singular values and directions."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from trueness.stats.products import products_among, times
from trueness.stats.span_rules import Floats, Ints

ZERO = 1e-30
"""A vector whose largest entry is below this is zero."""
_PLAIN = (1e-15, 1e15)
_SINGLE_THREADED = 16
"""Passages up to which the usual algebra library decomposes their products in its thread."""
_APART = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class Gram:
    """Sets of n passages each, seen through the products of their unit rows.

    Build it with :func:`gram` or :func:`exact_gram`.

    Attributes
    ----------
    rows : (n_sets, n, d) float
        The passages as given.
    lengths : (n_sets, n) float
        What a row is divided by: its length, over the root of its weight.
    matrix : (n_sets, n, n) float
        Products K of the unit rows.
    lam : (n_sets, n) float, descending, at least 0
        Eigenvalues of K.
    vectors : (n_sets, n, n) float
        Eigenvectors, one a column.
    """

    rows: Floats
    lengths: Floats
    matrix: Floats
    lam: Floats
    vectors: Floats

    @property
    def sigma(self) -> Floats:
        """(n_sets, n): singular values of the unit rows, descending."""
        return np.sqrt(self.lam)

    def rank(self, tolerance: float) -> Ints:
        """(n_sets,): singular values above a fraction of the largest."""
        least = tolerance**2 * self.lam[:, 0]
        above: Ints = np.empty(len(least), np.int64)
        if (self.lam[:, -1] > least).all():
            above.fill(self.lam.shape[1])
        else:
            np.sum(self.lam > least[:, None], axis=1, out=above)
        return above

    def combined(self, weights: Floats) -> Floats:
        """(n_sets, n_sums, d): unit rows added with weights (n_sets, n_sums, n)."""
        return times(weights / self.lengths[:, None, :], self.rows)

    def take(self, sets: Ints) -> "Gram":
        """Some of the sets."""
        parts = (self.rows, self.lengths, self.matrix, self.lam, self.vectors)
        return Gram(*(part[sets] for part in parts))


def gram(rows: Floats, lengths: Floats | None = None, *, among: Floats | None = None) -> Gram:
    r"""The spectrum of sets of passages by :math:`K = E E^T = U \Lambda U^T`.

    Singular values below about 1e-7 of the largest are not told apart from 0, and directions
    whose squared singular values differ by less than 1e-12 of the largest are mixed.

    Parameters
    ----------
    rows : (n_sets, n, d) float
        No zero row; entries between about 1e-150 and 1e150.
    lengths : (n_sets, n) float, optional
        Divisors of the rows; their own lengths when left out.
    among : (n_sets, n, n) float, optional
        Inner products of the rows, where they are known.

    Examples
    --------
    >>> gram(np.array([[[2.0, 0.0], [3.0, 3.0]]])).lam.round(6).tolist()
    [[1.707107, 0.292893]]
    """
    divisor, matrix = _normalised(products_among(rows) if among is None else among, lengths)
    if rows.shape[1] == 1:
        return Gram(rows, divisor, matrix, matrix[:, 0].copy(), np.ones_like(matrix))
    negative, vectors = _decomposed(-matrix)  # ascending, hence descending without the sign
    return Gram(rows, divisor, matrix, np.maximum(0.0 - negative, 0.0), vectors)


def _normalised(products: Floats, lengths: Floats | None) -> tuple[Floats, Floats]:
    """Divisors of the rows, and the products of the rows divided by them."""
    own = np.sqrt(np.diagonal(products, axis1=1, axis2=2))
    divisor = own if lengths is None else lengths
    inverse = 1.0 / divisor
    matrix = np.einsum("si,sj->sij", inverse, inverse)
    matrix *= products
    if lengths is None:
        np.einsum("snn->sn", matrix)[:] = 1.0
    return divisor, matrix


def _decomposed(matrix: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues, ascending, and eigenvectors of symmetric matrices, which are overwritten.

    For matrices of middling size the usual algebra libraries wake threads and wait for them
    longer than the work takes. The steps of the same algorithm, one by one, do not.
    """
    if matrix.shape[1] <= _SINGLE_THREADED:
        return np.linalg.eigh(matrix)
    lam, vectors = np.empty(matrix.shape[:2]), np.empty_like(matrix)
    for s, one in enumerate(matrix):
        reduced, diagonal, beside, scales, _ = lapack.dsytrd(one.T, lower=1, overwrite_a=1)
        lam[s], inner, info = lapack.dstevd(diagonal, beside)
        if info:
            msg = "the eigenvalues of a matrix did not converge; report its passages."
            raise np.linalg.LinAlgError(msg)
        turned = lapack.dorgqr(reduced[1:, :-1], scales)[0]
        vectors[s, 0] = inner[0]
        np.matmul(turned, inner[1:], out=vectors[s, 1:])
    return lam, vectors


def exact_gram(rows: Floats, lengths: Floats | None = None, *, among: Floats | None = None) -> Gram:
    """The same by a singular value decomposition: slower, and exact for weak directions too.

    >>> exact_gram(np.array([[[1.0, 0.0], [1.0, 1e-9]]])).sigma[0, 1].round(12)
    np.float64(7.07e-10)
    """
    divisor, matrix = _normalised(products_among(rows) if among is None else among, lengths)
    n, d = rows.shape[1:]
    vectors, sigma, _ = np.linalg.svd(rows / divisor[:, :, None], full_matrices=n > d)
    lam = np.zeros((len(rows), n))
    lam[:, : min(n, d)] = sigma**2
    return Gram(rows, divisor, matrix, lam, vectors)


def sharpened(rough: Gram, kept: Ints) -> Gram:
    r"""The spectrum with the leading directions told apart from the rest as by a decomposition.

    One step on :math:`B = U^T E`: the products of its rows are found without the loss that K
    has suffered, so :math:`U_{ji}` is corrected by :math:`(b_j \cdot b_i) / (\lambda_i -
    \lambda_j)` for i kept and j not.

    Parameters
    ----------
    rough : Gram
        With the squared singular values on the two sides of the cutoff 1e-10 of the largest apart;
        where they are not, nothing is corrected.
    kept : (n_sets,) int
        How many directions lie before the cutoff.
    """
    between = products_among(rough.combined(rough.vectors.swapaxes(1, 2)))
    before = np.arange(rough.lam.shape[1]) < kept[:, None]
    across = before[:, None, :] & ~before[:, :, None]
    gaps = rough.lam[:, None, :] - rough.lam[:, :, None]
    across &= gaps > _APART * rough.lam[:, :1, None]
    step = np.divide(between, gaps, out=np.zeros_like(between), where=across)
    vectors = rough.vectors + rough.vectors @ (step - step.swapaxes(1, 2))
    lam = np.diagonal(between, axis1=1, axis2=2).copy()
    return Gram(rough.rows, rough.lengths, rough.matrix, lam, vectors)


def plain(vectors: Floats) -> Floats:
    """Vectors whose largest entries are ordinary numbers: extreme ones scaled by powers of two.

    Parameters
    ----------
    vectors : (..., d) float, finite, none of them zero

    Examples
    --------
    >>> plain(np.array([[3e200, 4e200], [1.0, 2.0]])).max(axis=1) < 2
    array([ True, False])
    """
    largest = np.abs(vectors).max(axis=-1)
    extreme = (largest < _PLAIN[0]) | (largest > _PLAIN[1])
    if not extreme.any():
        return vectors
    exponents = np.where(extreme, np.frexp(largest)[1], 0)
    return np.ldexp(vectors, -exponents[..., None])


def unit(vectors: Floats) -> Floats:
    """Vectors scaled to length 1, whatever their size; shape (..., d), none of them zero.

    >>> unit(np.array([3e-20, 4e-20]))
    array([0.6, 0.8])
    """
    scaled = plain(vectors)
    units: Floats = scaled / np.sqrt(np.vecdot(scaled, scaled))[..., None]
    return units
