"""The spectrum of evidence: unit rows, their Gram matrix, singular values and directions."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.stats.span_rules import Floats, Ints

Bools: TypeAlias = NDArray[np.bool_]

ZERO = 1e-30
"""A vector whose largest entry is below this is zero."""
_PLAIN = (1e-15, 1e15)


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
        above: Ints = (self.lam > tolerance**2 * self.lam[:, :1]).sum(axis=1)
        return above

    def products(self, claims: Floats) -> Floats:
        """(n_sets, n_claims, n): unit rows times vectors of shape (n_sets, n_claims, d)."""
        return claims @ self.rows.swapaxes(1, 2) / self.lengths[:, None, :]

    def combined(self, weights: Floats) -> Floats:
        """(n_sets, n_claims, d): unit rows added with weights (n_sets, n_claims, n)."""
        scaled = weights / self.lengths[:, None, :]
        if scaled.shape[2] == 1:
            return scaled * self.rows
        return scaled @ self.rows

    def take(self, sets: Ints) -> "Gram":
        """Some of the sets."""
        parts = (self.rows, self.lengths, self.matrix, self.lam, self.vectors)
        return Gram(*(part[sets] for part in parts))


def gram(rows: Floats, lengths: Floats | None = None) -> Gram:
    r"""The spectrum of sets of passages by :math:`K = E E^T = U \Lambda U^T`.

    Singular values below about 1e-7 of the largest are not told apart from 0, and directions
    whose squared singular values differ by less than 1e-12 of the largest are mixed.

    Parameters
    ----------
    rows : (n_sets, n, d) float
        No zero row; entries between about 1e-150 and 1e150.
    lengths : (n_sets, n) float, optional
        Divisors of the rows; their own lengths when left out.

    Examples
    --------
    >>> gram(np.array([[[2.0, 0.0], [3.0, 3.0]]])).lam.round(6).tolist()
    [[1.707107, 0.292893]]
    """
    products = rows @ rows.swapaxes(1, 2)
    own = np.sqrt(np.diagonal(products, axis1=1, axis2=2))
    divisor = own if lengths is None else lengths
    matrix = products / divisor[:, :, None]
    matrix /= divisor[:, None, :]
    n = rows.shape[1]
    if lengths is None:
        matrix[:, np.arange(n), np.arange(n)] = 1.0
    if n == 1:
        return Gram(rows, divisor, matrix, matrix[:, 0].copy(), np.ones_like(matrix))
    lam, vectors = np.linalg.eigh(matrix)
    lam = np.maximum(lam[:, ::-1], 0.0)
    return Gram(rows, divisor, matrix, lam, np.ascontiguousarray(vectors[:, :, ::-1]))


def exact_gram(rows: Floats, lengths: Floats | None = None) -> Gram:
    """The same by a singular value decomposition: slower, and exact for weak directions too.

    >>> exact_gram(np.array([[[1.0, 0.0], [1.0, 1e-9]]])).sigma[0, 1].round(12)
    np.float64(7.07e-10)
    """
    divisor = np.sqrt(np.einsum("snd,snd->sn", rows, rows)) if lengths is None else lengths
    unit = rows / divisor[:, :, None]
    n, d = rows.shape[1:]
    vectors, sigma, _ = np.linalg.svd(unit, full_matrices=n > d)
    lam = np.zeros((len(rows), n))
    lam[:, : min(n, d)] = sigma**2
    return Gram(rows, divisor, unit @ unit.swapaxes(1, 2), lam, vectors)


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
    units: Floats = scaled / np.sqrt(np.einsum("...d,...d->...", scaled, scaled))[..., None]
    return units
