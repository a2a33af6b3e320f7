"""Inner products of claims and passages, in pieces that fit a cache and wake no thread."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.stats.span_rules import Floats, Ints

Bools: TypeAlias = NDArray[np.bool_]

_CACHE_BYTES = 2_000_000
"""Vectors that are worked on together: they stay in a processor's own cache."""
_STRIP = 8
_ONE_THREAD, _ONE_THREAD_VECTOR = 262_144, 9_216
"""Multiplications up to which the usual algebra library stays in its thread."""
_PLAIN_SQUARES = (1e-30, 1e30)


@dataclass(frozen=True, slots=True, eq=False)
class Products:
    """Sets of passages with their claims, and the inner products of all of them.

    Build it with :func:`inner_products`.

    Attributes
    ----------
    rows : (n_sets, n, d) float
    claims : (n_sets, n_claims, d) float
    among : (n_sets, n, n) float
        Of the rows with one another.
    between : (n_sets, n_claims, n) float
        Of the claims with the rows.
    squares : (n_sets, n_claims) float
        Of the claims with themselves.
    plain : (n_sets,) bool
        Sets without zeros, extreme or non-finite numbers.
    """

    rows: Floats
    claims: Floats
    among: Floats
    between: Floats
    squares: Floats
    plain: Bools

    def residuals(self, weights: Floats) -> Floats:
        """(n_sets, n_claims): squared lengths of the claims minus weighted sums of the rows.

        ``weights`` are of shape (n_sets, n_claims, n).
        """
        found = np.empty_like(self.squares)
        space = np.empty_like(self.claims[: _at_once(self.rows, self.claims)])
        for part in reversed(_parts(self.rows, self.claims)):  # the last are likely in the cache
            claims = self.claims[part]
            rest = times(weights[part], self.rows[part], out=space[: len(claims)])
            rest -= claims
            np.vecdot(rest, rest, out=found[part])
        return found

    def take(self, sets: Ints) -> "Products":
        """Some of the sets."""
        among, between, squares = self.among[sets], self.between[sets], self.squares[sets]
        vectors = self.rows[sets], self.claims[sets]
        return Products(*vectors, among, between, squares, self.plain[sets])


def inner_products(rows: Floats, claims: Floats, *, order: Ints | None = None) -> Products:
    """The inner products of each set's passages and claims.

    Parameters
    ----------
    rows : (n_sets, n, d) float
    claims : (n_sets, n_claims, d) float
    order : (n_sets, n) int, optional
        Takes the rows of each set in another order.

    Examples
    --------
    >>> found = inner_products(np.array([[[1.0, 2.0], [0.0, 1.0]]]), np.array([[[3.0, 1.0]]]))
    >>> found.among.tolist(), found.between.tolist(), found.squares.tolist()
    ([[[5.0, 2.0], [2.0, 1.0]]], [[[5.0, 1.0]]], [[10.0]])
    """
    n_sets, n, d = rows.shape
    taken, flat, places = rows, rows.reshape(-1, d), None
    if order is not None and n > 1:
        places = order + np.arange(0, n_sets * n, n)[:, None]
        taken = np.empty(rows.shape)
    sizes, among = np.empty((n_sets, n)), np.empty((n_sets, n, n))
    between, squares = np.empty((*claims.shape[:2], n)), np.empty(claims.shape[:2])
    for part in _parts(rows, claims):
        here = rows[part]
        np.vecdot(here, here, out=sizes[part])  # in the order of memory: it is in the cache then
        if places is not None:
            here = np.take(flat, places[part], axis=0, out=taken[part], mode="clip")
        if n > 1:
            _among(here, among[part])
        asked = claims[part]
        _between(asked, here, between[part])
        np.vecdot(asked, asked, out=squares[part])
    if n == 1:
        among[:, 0] = sizes
    for a, b in _strips(n, d):
        among[:, :a, a:b] = among[:, a:b, :a].swapaxes(1, 2)
    return Products(taken, claims, among, between, squares, _plain(sizes, squares))


def times(left: Floats, right: Floats, *, out: Floats | None = None) -> Floats:
    """Matrix products of shapes (s, m, k) and (s, k, p), in pieces that wake no thread.

    >>> times(np.ones((1, 1, 2)), np.ones((1, 2, 3))).tolist()
    [[[2.0, 2.0, 2.0]]]
    """
    m, k, p = left.shape[1], left.shape[2], right.shape[2]
    found = np.empty((len(left), m, p)) if out is None else out
    if k == 1:
        return np.multiply(left, right, out=found)
    if m == 1:
        step = max(1, _ONE_THREAD_VECTOR // k)
        for a in range(0, p, step):
            np.matmul(left, right[:, :, a : a + step], out=found[:, :, a : a + step])
        return found
    step = max(1, _ONE_THREAD // (k * p))
    for a in range(0, m, step):
        np.matmul(left[:, a : a + step], right, out=found[:, a : a + step])
    return found


def products_among(rows: Floats) -> Floats:
    """(n_sets, n, n): products of the rows of each set with one another."""
    return inner_products(rows, rows[:, :0]).among


def _at_once(rows: Floats, claims: Floats) -> int:
    """Sets whose vectors fit the cache together."""
    vectors = rows.shape[1] + claims.shape[1]
    return max(1, int(_CACHE_BYTES // (8 * vectors * rows.shape[2])))


def _parts(rows: Floats, claims: Floats) -> list[slice]:
    step = _at_once(rows, claims)
    return [slice(start, start + step) for start in range(0, len(rows), step)]


def _strips(n: int, d: int) -> Iterator[tuple[int, int]]:
    """Rows after the first whose products with all before them are found together."""
    step = max(1, min(_STRIP, _ONE_THREAD // (n * d)))
    return ((a, a + step) for a in range(1, n, step))


def _among(rows: Floats, found: Floats) -> None:
    """On and below the diagonal, by strips that are no product of a matrix with itself.

    The usual algebra library has a way of its own for those, slow at this size.
    """
    columns = rows.swapaxes(1, 2)
    np.vecdot(rows[:, 0], rows[:, 0], out=found[:, 0, 0])
    for a, b in _strips(*rows.shape[1:]):
        np.matmul(rows[:, a:b], columns[:, :, :b], out=found[:, a:b, :b])


def _between(claims: Floats, rows: Floats, found: Floats) -> None:
    if claims.shape[1] == 1:
        np.vecdot(rows, claims, out=found[:, 0])
    elif claims.shape[1]:
        times(claims, rows.swapaxes(1, 2), out=found)


def _plain(*squares: Floats) -> Bools:
    """Sets whose vectors all have squares of ordinary size."""
    low, high = _PLAIN_SQUARES
    plain = np.ones(len(squares[0]), np.bool_)
    for some in squares:
        plain &= ((some > low) & (some < high)).all(axis=1)
    return plain
