"""What compares across models of different widths, and what a random projection costs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.serial import Json
from trueness.contract.states import State

_ROUNDING = 1e-10

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """A random Gaussian map, for storage; its coordinates mean nothing in another width.

    Parameters
    ----------
    matrix : (k, D) float64
        Entries of variance 1/k.
    seed, k, width : int
    """

    matrix: Floats
    seed: int
    k: int
    width: int

    def apply(self, states: ArrayLike) -> Floats:
        """(..., k): states (..., D) in the frame.

        Raises
        ------
        ShapeError
            For another width.
        """
        h = np.asarray(states, dtype=np.float64)
        if h.ndim == 0 or h.shape[-1] != self.width:
            msg = f"states have shape {h.shape}; wanted (..., {self.width}), the projected width."
            raise ShapeError(msg)
        projected: Floats = h @ self.matrix.T
        return projected

    def to_dict(self) -> dict[str, Json]:
        """What is needed to make the map again."""
        return {"seed": self.seed, "k": self.k, "width": self.width, "numpy": np.__version__}


def gaussian_projection(width: int, k: int, *, seed: int) -> Projection:
    """A map from D to k dimensions that keeps lengths on average.

    One seed does not give one frame for two widths.

    Parameters
    ----------
    width : int
        D.
    k : int from 1 to width
    seed : int

    Raises
    ------
    InputError
        When the target is above the width or below 1.

    Examples
    --------
    >>> gaussian_projection(576, 64, seed=0).apply(np.ones((3, 576))).shape
    (3, 64)
    """
    if not 1 <= k <= width:
        msg = f"the target is {k} for width {width}; wanted a number from 1 to the width. Lower it."
        raise InputError(msg)
    drawn = np.random.default_rng(seed).standard_normal((k, width)) / math.sqrt(k)
    return Projection(drawn, seed, k, width)


@dataclass(frozen=True, slots=True)
class Distortion:
    """How far a projection moves lengths.

    Parameters
    ----------
    state : State
        ``NOT_APPLICABLE`` when the bound is vacuous.
    reason : str or None
    eps : float or None
        Relative error that no pairwise distance exceeds, but with the named probability.
    norm_relative_sd, ratio_relative_sd : float
        First-order relative standard deviation of one length, and of the ratio of two independent
        ones: what projecting *adds* to a ratio that had no error.
    """

    state: State
    reason: str | None
    eps: float | None
    norm_relative_sd: float
    ratio_relative_sd: float


def jl_eps(n_points: int, k: int, *, failure: float = 0.01) -> Distortion:
    r"""The Johnson-Lindenstrauss error :math:`\sqrt{8\ln(n/\delta)/k}` of k dimensions.

    Parameters
    ----------
    n_points : int, at least 2
    k : int, at least 1
    failure : float in (0, 1)
        Probability that it does not hold.

    Raises
    ------
    InputError
        When a number is out of range.

    Examples
    --------
    >>> round(jl_eps(20, 256).eps, 3), jl_eps(2, 16).state.value
    (0.487, 'NOT_APPLICABLE')
    """
    if n_points < 2 or k < 1 or not 0 < failure < 1:  # noqa: PLR2004 - a pair
        msg = (
            f"n_points is {n_points}, k {k} and failure {failure}; wanted 2 points, 1 dimension "
            "and a probability in (0, 1)."
        )
        raise InputError(msg)
    eps = math.sqrt(8 * math.log(n_points / failure) / k)
    sds = 1 / math.sqrt(2 * k), 1 / math.sqrt(k)
    if eps >= 1:
        reason = f"the bound is {eps:.3g}: so few dimensions promise nothing"
        return Distortion(State.NOT_APPLICABLE, reason, None, *sds)
    return Distortion(State.MEASURED, None, eps, *sds)


@dataclass(frozen=True, slots=True)
class Similarity:
    """A similarity of two sets of states over the same items.

    ``value`` is None when one of them does not vary.
    """

    state: State
    reason: str | None
    value: float | None


def linear_cka(x: ArrayLike, y: ArrayLike) -> Similarity:
    r"""Linear CKA :math:`|Y^TX|_F^2 / (|X^TX|_F\,|Y^TY|_F)` of centred states; widths may differ.

    Unchanged by rotation and by scale of either side. It says how alike the two arrange *these*
    items, and nothing about single coordinates.

    Parameters
    ----------
    x : (n, D1) float
    y : (n, D2) float
        The same items in the same order.

    Raises
    ------
    ShapeError
        When the items differ in number, or there are fewer than two.
    InputError
        When a number is not finite.

    Examples
    --------
    >>> round(linear_cka([[1.0], [2.0], [4.0]], [[2.0, 0.0], [4.0, 0.0], [8.0, 0.0]]).value, 12)
    1.0
    """
    one, two = _pair(x, y)
    if not one.any() or not two.any():
        return Similarity(State.DEGENERATE, "the states of one side do not vary", None)
    k, m = one @ one.T, two @ two.T
    value = float((k * m).sum() / (np.linalg.norm(k) * np.linalg.norm(m)))
    return Similarity(State.MEASURED, None, min(value, 1.0))


def distance_matrix_correlation(x: ArrayLike, y: ArrayLike) -> Similarity:
    """Pearson correlation of the pairwise distances of the same items in two spaces.

    Parameters, errors as :func:`linear_cka`; three items at least.

    Examples
    --------
    >>> round(distance_matrix_correlation([[0.0], [1.0], [3.0]], [[0.0], [2.0], [6.0]]).value, 12)
    1.0
    """
    one, two = _pair(x, y, least=3)
    a, b = _distances(one), _distances(two)
    if a.max() == a.min() or b.max() == b.min():
        return Similarity(State.DEGENERATE, "the distances of one side are equal", None)
    a, b = a - a.mean(), b - b.mean()
    value = float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))
    return Similarity(State.MEASURED, None, max(-1.0, min(1.0, value)))


@dataclass(frozen=True, slots=True, eq=False)
class PermutedSimilarities:
    """Similarities of two sets of states whose items were matched at random.

    Parameters
    ----------
    cka, distances : (n_permutations,) float64
        nan where one side does not vary.
    """

    cka: Floats
    distances: Floats


def permuted_similarities(
    x: ArrayLike, y: ArrayLike, *, rng: np.random.Generator, n_permutations: int
) -> PermutedSimilarities:
    """What :func:`linear_cka` and :func:`distance_matrix_correlation` give for items at random.

    Parameters
    ----------
    x, y
        As for both; three items at least.
    rng : numpy.random.Generator
    n_permutations : int, at least 1

    Raises
    ------
    ShapeError, InputError
        As both, and for no permutation.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(9, 4))
    >>> null = permuted_similarities(x, x, rng=np.random.default_rng(1), n_permutations=99)
    >>> bool((null.cka < linear_cka(x, x).value).all())
    True
    """
    if n_permutations < 1:
        msg = f"n_permutations is {n_permutations}; wanted at least one. Give 999."
        raise InputError(msg)
    one, two = _pair(x, y, least=3)
    n = len(one)
    grams = one @ one.T, two @ two.T
    apart = _centred_distances(one), _centred_distances(two)
    orders = [rng.permutation(n) for _ in range(n_permutations)]
    found = [_matched(a, b, orders) for a, b in (grams, apart)]
    return PermutedSimilarities(*found)


def similarity_p(value: float, null: ArrayLike) -> float:
    """Share of permutations that come as far as a value, the given order among them.

    An order that gives the value again, as among equal items, counts, whatever its last bits.

    Parameters
    ----------
    value : float
    null : (n_permutations,) float
        As `permuted_similarities` gives them.

    Examples
    --------
    >>> similarity_p(0.5, [0.5 - 1e-15, 0.1, 0.2])
    0.5
    """
    drawn = np.asarray(null, dtype=np.float64)
    return (int((drawn >= value - _ROUNDING).sum()) + 1) / (len(drawn) + 1)


def _centred_distances(states: Floats) -> Floats:
    """Distances of all pairs around their mean, as a symmetric matrix with 0 on its diagonal."""
    found = np.zeros((len(states), len(states)))
    rows, columns = np.triu_indices(len(states), 1)
    apart = _distances(states)
    found[rows, columns] = found[columns, rows] = apart - apart.mean()
    return found


def _matched(one: Floats, two: Floats, orders: Sequence[NDArray[np.intp]]) -> Floats:
    """Cosines of one matrix with another whose rows and columns go in other orders."""
    scale = float(np.linalg.norm(one) * np.linalg.norm(two))
    if scale == 0:
        return np.full(len(orders), np.nan)
    return np.array([(one * two[np.ix_(o, o)]).sum() / scale for o in orders])


def norm_ratios(above: ArrayLike, below: ArrayLike) -> Floats:
    """Ratios of lengths, item by item: without a unit, so they compare across widths as they are.

    Parameters
    ----------
    above, below : (n, D) float
        Such as an item's states after and before a block.

    Returns
    -------
    (n,) float64
        nan where the lower one has no length.

    Raises
    ------
    ShapeError
        When the items differ in number.
    InputError
        When a number is not finite.

    Examples
    --------
    >>> norm_ratios([[3.0, 4.0]], [[0.0, 2.0]]).tolist()
    [2.5]
    """
    one, two = (np.linalg.norm(_states(v), axis=1) for v in (above, below))
    if len(one) != len(two):
        msg = f"there are {len(one)} and {len(two)} states; wanted the same items on both sides."
        raise ShapeError(msg)
    out: Floats = np.divide(one, two, out=np.full(len(one), np.nan), where=two > 0)
    return out


def _pair(x: ArrayLike, y: ArrayLike, *, least: int = 2) -> tuple[Floats, Floats]:
    one, two = _states(x), _states(y)
    if len(one) != len(two) or len(one) < least:
        msg = (
            f"there are {len(one)} and {len(two)} items; wanted the same ones on both sides, at "
            f"least {least}. Align them first."
        )
        raise ShapeError(msg)
    return _centred(one), _centred(two)


def _centred(states: Floats) -> Floats:
    """Columns around their means; a constant column is exactly 0."""
    constant = (states == states[0]).all(axis=0)
    centred: Floats = np.where(constant, 0.0, states - states.mean(axis=0))
    return centred


def _states(values: ArrayLike) -> Floats:
    h = np.asarray(values, dtype=np.float64)
    if h.ndim != 2 or not h.size:  # noqa: PLR2004 - items by width
        msg = f"states have shape {h.shape}; wanted (n_items, width)."
        raise ShapeError(msg)
    if not np.isfinite(h).all():
        msg = "a state holds nan or infinity; wanted finite numbers. Leave that item out."
        raise InputError(msg)
    return h


def _distances(states: Floats) -> Floats:
    """Distances of all pairs."""
    rows = [np.linalg.norm(states[i + 1 :] - states[i], axis=1) for i in range(len(states) - 1)]
    return np.concatenate(rows)
