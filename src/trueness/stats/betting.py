"""Looking after every item: a test and an interval that stay valid whenever one stops."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError
from trueness.stats.paired_means import ROUNDING

BET_CAP = 0.5
"""Largest share of the wealth that one bet may lose."""
_STEPS = 60  # halvings: the bracket ends below the spacing of floats near 1
_LARGEST_LOG = 700.0  # exp of it is still a float


@dataclass(frozen=True, slots=True)
class Betting:
    """What was seen of the mean difference after each item."""

    log_e_values: NDArray[np.float64]
    """(n,) logarithm of the evidence that the mean is not the null mean."""
    low: float
    """Of the interval after the last item."""
    high: float
    stopped_after: int | None
    """Items after which the null mean was first rejected; None if never."""
    equivalent_after: int | None
    """Items after which the interval first lay inside of ±margin; None if never or no margin."""

    @property
    def e_values(self) -> NDArray[np.float64]:
        """(n,) the evidence itself, held below 1e304."""
        return np.exp(np.minimum(self.log_e_values, _LARGEST_LOG))


def bet(
    differences: ArrayLike,
    *,
    null_mean: float = 0.0,
    margin: float | None = None,
    alpha: float = 0.05,
) -> Betting:
    r"""Evidence against a mean difference, item by item, and a sequence of intervals.

    :math:`E_t(m)=\frac12(\prod(1+\lambda^+_i(\Delta_i-m))+\prod(1-\lambda^-_i(\Delta_i-m)))`.
    The mean m is rejected once :math:`E_t(m)\ge 1/\alpha`: under m that happens, at any time at
    all, with probability at most alpha (Ville). The bets
    :math:`\lambda_i=\sqrt{2\ln(2/\alpha)/(v_i\,i\,\ln(1+i))}` look at earlier differences only,
    capped so that none loses more than half of the wealth. The interval keeps the means that
    neither product alone rejects at :math:`2/\alpha`.

    Parameters
    ----------
    differences : (n,) float in [-1, 1]
        After minus before, in an order drawn at random **before** looking: sorted by difficulty,
        nothing here holds.
    null_mean : float in [-1, 1]
    margin : float in (0, 1], optional
        To watch for equivalence to 0.
    alpha : float in (0, 1)

    Returns
    -------
    Betting

    Raises
    ------
    InputError
        If a number lies outside its range.

    Examples
    --------
    >>> found = bet([1.0] * 12)
    >>> found.e_values[:3].round(9).tolist(), found.stopped_after
    ([1.0, 1.25, 1.75], 10)
    """
    seen = _checked(differences, null_mean=null_mean, margin=margin, alpha=alpha)
    sizes = bet_sizes(seen, alpha=alpha)
    up, down = _log_wealth(seen, sizes, null_mean)
    log_e = np.logaddexp(up, down) - math.log(2)
    inside = np.zeros(len(seen), dtype=np.bool_)
    if margin is not None:
        enough = math.log(2 / alpha)
        above_low = _log_wealth(seen, sizes, -margin)[0] >= enough
        inside = above_low & (_log_wealth(seen, sizes, margin)[1] >= enough)
    low, high = _interval(seen, sizes, alpha)
    stopped = log_e >= -math.log(alpha)
    return Betting(log_e, low, high, _first(stopped), _first(inside))


def bet_sizes(differences: NDArray[np.float64], *, alpha: float = 0.05) -> NDArray[np.float64]:
    r"""Bets before their cap, each from the differences before it.

    :math:`v_i=(1+\sum_{j<i}(\Delta_j-\mu_j)^2)/i` with :math:`\mu_j=\sum_{l\le j}\Delta_l/(j+1)`.

    Parameters
    ----------
    differences : (n,) float
    alpha : float in (0, 1)

    Returns
    -------
    (n,) float
    """
    i = np.arange(1, len(differences) + 1)
    mean = np.cumsum(differences) / (i + 1)
    before = np.concatenate([[0.0], np.cumsum((differences - mean) ** 2)[:-1]])[: len(i)]
    variance = (1 + before) / i
    return np.sqrt(2 * math.log(2 / alpha) / (variance * i * np.log1p(i)))


def _log_wealth(
    seen: NDArray[np.float64], sizes: NDArray[np.float64], mean: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Running log products of the bets that the mean is larger, and that it is smaller."""
    up = np.minimum(sizes, BET_CAP / (1 + mean) if mean > -1 else math.inf)
    down = np.minimum(sizes, BET_CAP / (1 - mean) if mean < 1 else math.inf)
    off = seen - mean
    return np.cumsum(np.log1p(up * off)), np.cumsum(np.log1p(-down * off))


def _interval(
    seen: NDArray[np.float64], sizes: NDArray[np.float64], alpha: float
) -> tuple[float, float]:
    """Means that neither half alone rejects at twice the threshold, ends rounded outwards."""
    enough = math.log(2 / alpha)

    def lower(sign: float) -> float:
        def rejected(mean: float) -> bool:
            return len(seen) > 0 and bool(_log_wealth(sign * seen, sizes, mean)[0][-1] >= enough)

        if not rejected(-1.0):
            return -1.0
        outside, inside = -1.0, 1.0  # the wealth falls in the mean: at 1 no bet on larger can win
        for _ in range(_STEPS):
            middle = (outside + inside) / 2
            outside, inside = (middle, inside) if rejected(middle) else (outside, middle)
        return outside

    return lower(1.0), -lower(-1.0)


def _first(flags: NDArray[np.bool_]) -> int | None:
    return int(np.argmax(flags)) + 1 if flags.any() else None


def _checked(
    differences: ArrayLike, *, null_mean: float, margin: float | None, alpha: float
) -> NDArray[np.float64]:
    seen = np.asarray(differences, dtype=np.float64)
    inside = seen.ndim == 1 and bool((np.abs(seen) <= 1 + ROUNDING).all())  # nan is not inside
    if not inside or not -1 <= null_mean <= 1:
        msg = (
            f"differences have shape {seen.shape} and null_mean is {null_mean}; wanted (n,) "
            "numbers in [-1, 1] and a mean in [-1, 1]. Leave out items that are not measured."
        )
        raise InputError(msg)
    if not 0 < alpha < 1 or (margin is not None and not 0 < margin <= 1):
        msg = (
            f"alpha is {alpha} and margin {margin}; wanted alpha between 0 and 1 and a margin in "
            "(0, 1]. Declare them before looking."
        )
        raise InputError(msg)
    return np.clip(seen, -1.0, 1.0)
