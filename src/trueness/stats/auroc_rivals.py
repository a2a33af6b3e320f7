"""Usual intervals and tests of an AUROC, many tables at once, to be held against their level."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from trueness.contract.errors import InputError, ShapeError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_CELLS = 1 << 22  # comparisons or permuted labels held at once


def wins(wrong: ArrayLike, right: ArrayLike) -> Ints:
    """How many pairs of each table have the wrong item above the right one.

    Parameters
    ----------
    wrong, right : (n_tables, n_wrong), (n_tables, n_right) float
        Without ties between them: drawn from continuous laws.

    Raises
    ------
    ShapeError
        When the tables do not fit.
    InputError
        For a tie, or a score that is not finite.

    Examples
    --------
    >>> wins([[3.0, 1.0]], [[2.0]]).tolist()
    [1]
    """
    one, two = _tables(wrong, right)
    found = np.zeros(len(one), np.int64)
    for rows in _parts(len(one), one.shape[1] * two.shape[1]):
        above, level = one[rows, :, np.newaxis], two[rows, np.newaxis, :]
        if (above == level).any():
            msg = "a wrong and a right score are equal; wanted none. Use rank_wrong_above_right."
            raise InputError(msg)
        found[rows] = (above > level).sum(axis=(1, 2))
    return found


def delong_intervals(wrong: ArrayLike, right: ArrayLike, *, level: float = 0.95) -> Floats:
    r"""DeLong's intervals :math:`A \pm z\sqrt{S_{10}/n_w + S_{01}/n_r}`, clipped to [0, 1].

    A rival: it is too narrow where a class is small, and has no width at perfect separation.

    Parameters
    ----------
    wrong, right : (n_tables, n_wrong), (n_tables, n_right) float
    level : float in (0, 1)

    Returns
    -------
    (n_tables, 2) float64
        nan where a class has one item: its variance is unknown.

    Raises
    ------
    ShapeError, InputError
        As :func:`wins`.

    Examples
    --------
    >>> delong_intervals([[3.0, 2.0]], [[1.0, 0.0]]).tolist()
    [[1.0, 1.0]]
    """
    one, two = _tables(wrong, right)
    z = _normal(level)
    n_wrong, n_right = one.shape[1], two.shape[1]
    if min(n_wrong, n_right) < 2:  # noqa: PLR2004 - a variance needs two
        return np.full((len(one), 2), np.nan)
    found = np.empty((len(one), 2))
    for rows in _parts(len(one), n_wrong * n_right):
        won = one[rows, :, np.newaxis] > two[rows, np.newaxis, :]
        auroc = won.mean(axis=(1, 2))
        spread = won.mean(axis=2).var(axis=1, ddof=1) / n_wrong
        spread += won.mean(axis=1).var(axis=1, ddof=1) / n_right
        reach = z * np.sqrt(spread)
        found[rows] = np.clip(np.stack([auroc - reach, auroc + reach], axis=1), 0, 1)
    return found


def bootstrap_intervals(
    wrong: ArrayLike,
    right: ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = 500,
    level: float = 0.95,
) -> Floats:
    """Percentile intervals over items resampled within their class.

    A rival: a class of one is always itself, so its uncertainty is not seen at all.

    Parameters
    ----------
    wrong, right : (n_tables, n_wrong), (n_tables, n_right) float
    rng : numpy.random.Generator
    n_resamples : int
    level : float in (0, 1)

    Returns
    -------
    (n_tables, 2) float64

    Raises
    ------
    ShapeError, InputError
        As :func:`wins`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> bootstrap_intervals([[3.0, 2.0]], [[1.0, 0.0]], rng=rng, n_resamples=9).tolist()
    [[1.0, 1.0]]
    """
    one, two = _tables(wrong, right)
    _normal(level)
    tails = [(1 - level) / 2, (1 + level) / 2]
    found = np.empty((len(one), 2))
    for i, (above, below) in enumerate(zip(one, two, strict=True)):
        won = (above[:, np.newaxis] > below).astype(np.float64)
        drawn = [_resampled(n, n_resamples, rng) for n in won.shape]
        found[i] = np.quantile(((drawn[0] @ won) * drawn[1]).sum(axis=1), tails)
    return found


def permutation_ps(
    won: Ints, *, n_wrong: int, n_right: int, rng: np.random.Generator, n_permutations: int = 499
) -> Floats:
    r"""Two-sided p :math:`(1 + b)/(1 + m)` of each table from m random labellings of its own.

    Parameters
    ----------
    won : (n_tables,) int
        From `wins`; without ties the labelling of ranks is all that matters.
    n_wrong, n_right : int
    rng : numpy.random.Generator
    n_permutations : int

    Returns
    -------
    (n_tables,) float64

    Raises
    ------
    InputError
        When a number is out of range.

    Examples
    --------
    >>> permutation_ps(np.array([2]), n_wrong=1, n_right=4, rng=np.random.default_rng(0)).tolist()
    [1.0]
    """
    pairs, n = n_wrong * n_right, n_wrong + n_right
    if min(n_wrong, n_right, n_permutations) < 1 or (won < 0).any() or (won > pairs).any():
        msg = f"{n_wrong} and {n_right} items, {n_permutations} permutations; wanted 1 of each."
        raise InputError(msg)
    seen = np.abs(2 * won - pairs)
    found = np.empty(len(won))
    for rows in _parts(len(won), n * n_permutations):
        ranks = np.arange(n_wrong + n_right)
        shape = (len(seen[rows]), n_permutations, n)
        drawn = rng.permuted(np.broadcast_to(ranks, shape), axis=2)[:, :, :n_wrong].sum(axis=2)
        beaten = drawn - n_wrong * (n_wrong - 1) // 2
        far = np.abs(2 * beaten - pairs) >= seen[rows, np.newaxis]
        found[rows] = (1 + far.sum(axis=1)) / (1 + n_permutations)
    return found


def _tables(wrong: ArrayLike, right: ArrayLike) -> tuple[Floats, Floats]:
    one, two = np.asarray(wrong, np.float64), np.asarray(right, np.float64)
    if one.ndim != 2 or two.ndim != 2 or len(one) != len(two) or not one.size * two.size:  # noqa: PLR2004 - tables by items
        msg = (
            f"wrong scores have shape {one.shape} and right ones {two.shape}; wanted "
            "(n_tables, n_wrong) and (n_tables, n_right), no class empty."
        )
        raise ShapeError(msg)
    if not (np.isfinite(one).all() and np.isfinite(two).all()):
        msg = "a score is not finite; wanted finite scores. Leave out items without a score."
        raise InputError(msg)
    return one, two


def _resampled(n: int, n_resamples: int, rng: np.random.Generator) -> Floats:
    """(n_resamples, n): the share of each of n items among n drawn with replacement."""
    drawn = rng.integers(0, n, (n_resamples, n)) + n * np.arange(n_resamples)[:, np.newaxis]
    counts = np.bincount(drawn.ravel(), minlength=n * n_resamples)
    shares: Floats = counts.reshape(n_resamples, n) / n
    return shares


def _normal(level: float) -> float:
    if not 0 < level < 1:
        msg = f"level is {level}; wanted a number between 0 and 1, such as 0.95."
        raise InputError(msg)
    return float(ndtri((1 + level) / 2))


def _parts(n: int, cells: int) -> list[slice]:
    """Slices of tables that hold a limited number of cells each."""
    step = max(1, _CELLS // cells)
    return [slice(at, min(at + step, n)) for at in range(0, n, step)]
