"""Mean of a table whose rows and columns are both samples: passages by entities."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.paired_means import units_of
from trueness.stats.sign_flip import sign_flip

REPLICATES = 10_000
KIND = "crossed percentile bootstrap"
_POWER = 0.8


@dataclass(frozen=True, slots=True)
class CrossedMean:
    """A mean with what rows and columns, both drawn anew, would make of it.

    Parameters
    ----------
    estimate, low, high : float
        The mean of the entries and its percentile interval.
    p : float
        Two-sided, of mean 0: the largest of the bootstrap's and of the sign flips of rows and of
        columns, where there are two or more.
    sd : float
        Of the replicates.
    detectable : float
        Smallest true mean that the test at this level sees with power .8, by the normal law.
    n, n_rows, n_columns : int
        Entries that are measured, and the units.
    """

    estimate: float
    low: float
    high: float
    p: float
    sd: float
    detectable: float
    n: int
    n_rows: int
    n_columns: int


def crossed_mean(
    values: NDArray[np.float64],
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    replicates: int = REPLICATES,
) -> CrossedMean | None:
    r"""Mean entry of a table, with rows and columns resampled independently.

    A replicate draws rows and columns with replacement and takes
    :math:`\sum_{ij} u_i v_j d_{ij} / \sum_{ij} u_i v_j m_{ij}`, u and v the times each was drawn, m
    1 where an entry is measured. Its variance is at least that of the mean (Owen 2007, the
    pigeonhole bootstrap), so the interval is wide rather than narrow. One row, or one column, is
    kept as it is: then the interval speaks about that one.

    Parameters
    ----------
    values : (n_rows, n_columns) float in [-1, 1]
        Differences; nan where an entry is missing.
    rng : numpy.random.Generator
    level : float
    replicates : int, at least 1

    Returns
    -------
    CrossedMean or None
        None where nothing is measured.

    Raises
    ------
    ShapeError
        If it is no table.
    InputError
        For a level outside (0, 1), no replicates, or a difference outside of [-1, 1].

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = crossed_mean(np.full((8, 6), 0.5), rng=rng)
    >>> found.estimate, found.low, found.p
    (0.5, 0.5, 0.03125)
    """
    if values.ndim != 2:  # noqa: PLR2004 - rows by columns
        msg = f"values have shape {values.shape}; wanted (n_rows, n_columns)."
        raise ShapeError(msg)
    if not 0 < level < 1 or replicates < 1:
        msg = f"level {level} and {replicates} replicates; wanted a level in (0, 1) and 1 or more."
        raise InputError(msg)
    seen = ~np.isnan(values)
    if not seen.any():
        return None
    held = values[seen.any(axis=1)][:, seen.any(axis=0)]
    estimate = float(np.nanmean(held))
    drawn = _replicates(held, rng, replicates)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]).tolist()
    sd = float(drawn.std())
    z = float(ndtri((1 + level) / 2) + ndtri(_POWER))
    return CrossedMean(
        estimate=estimate,
        low=min(float(low), estimate),
        high=max(float(high), estimate),
        p=max(
            _tail(drawn), *(_flipped(part, rng) for part in (held, held.T) if len(part) > 1), 0.0
        ),
        sd=sd,
        detectable=z * sd,
        n=int(seen.sum()),
        n_rows=held.shape[0],
        n_columns=held.shape[1],
    )


def log_slopes(blocks: Sequence[NDArray[np.float64]], at: Sequence[float]) -> NDArray[np.float64]:
    r"""Slope of every entry over doublings: least squares on :math:`\log_2` of where it was seen.

    Parameters
    ----------
    blocks : sequence of (n_rows, n_columns) float
        One table for each place; nan where an entry is missing.
    at : sequence of float
        Places, each above 0.

    Returns
    -------
    (n_rows, n_columns) float
        nan where an entry is missing in any table.

    Raises
    ------
    InputError
        With fewer than two different places, or one that is not above 0.

    Examples
    --------
    >>> log_slopes([np.array([[0.0]]), np.array([[0.5]])], [32, 128]).tolist()
    [[0.25]]
    """
    if len(set(at)) < 2 or min(at) <= 0 or len(blocks) != len(at):  # noqa: PLR2004 - a slope
        msg = f"places are {list(at)}; wanted two different ones or more, above 0, a table each."
        raise InputError(msg)
    x = np.log2(np.asarray(at, dtype=np.float64))
    x = x - x.mean()
    slopes: NDArray[np.float64] = np.tensordot(x, np.asarray(blocks), axes=1) / float(x @ x)
    return slopes


def between_share(groups: Sequence[NDArray[np.float64]]) -> float | None:
    r"""Share of the sum of squares that lies between groups: :math:`\eta^2`.

    Parameters
    ----------
    groups : sequence of (n_members,) float
        nan where a member has no number.

    Returns
    -------
    float or None
        None with fewer than two groups that hold a number, or when all numbers are equal.

    Examples
    --------
    >>> between_share([np.array([0.0, 0.0]), np.array([1.0, 1.0])])
    1.0
    """
    held = [g[~np.isnan(g)] for g in groups]
    held = [g for g in held if len(g)]
    if len(held) < 2:  # noqa: PLR2004 - nothing lies between one group
        return None
    every = np.concatenate(held)
    total = float(((every - every.mean()) ** 2).sum())
    between = sum(len(g) * float(g.mean() - every.mean()) ** 2 for g in held)
    return between / total if total > 0 else None


def _replicates(
    held: NDArray[np.float64], rng: np.random.Generator, replicates: int
) -> NDArray[np.float64]:
    rows, columns = held.shape
    seen = (~np.isnan(held)).astype(np.float64)
    filled = np.nan_to_num(held)
    u, v = _times(rows, rng, replicates), _times(columns, rng, replicates)
    total = np.einsum("br,rc,bc->b", u, filled, v, optimize=True)
    weight = np.einsum("br,rc,bc->b", u, seen, v, optimize=True)
    drawn: NDArray[np.float64] = total[weight > 0] / weight[weight > 0]
    return drawn


def _times(n: int, rng: np.random.Generator, replicates: int) -> NDArray[np.float64]:
    """How often each of n units is drawn in each replicate; once where there is only one."""
    if n == 1:
        return np.ones((replicates, 1))
    return rng.multinomial(n, np.full(n, 1 / n), size=replicates).astype(np.float64)


def _tail(drawn: NDArray[np.float64]) -> float:
    fewer = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    return min(1.0, 2 * (fewer + 1) / (len(drawn) + 1))


def _flipped(part: NDArray[np.float64], rng: np.random.Generator) -> float:
    """Sign flip of the rows' means."""
    means = np.nanmean(part, axis=1)[:, np.newaxis]
    return float(sign_flip(units_of(means), rng=rng).p_adjusted[0])
