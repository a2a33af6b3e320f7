"""Upper limits of the accuracy of sampled answers, from the most that can be right."""

import math

from trueness.contract.errors import InputError

MAX_DELTA = 0.25
"""The corrected limit is proved for every failure probability below this, and false above."""


def corrected_ceiling(max_right: int, n_slots: int, *, delta: float = 0.05) -> float:
    r"""Accuracy exceeds this with probability at most ``delta``: corrected Clopper-Pearson.

    With A the most slots that can be right and N slots, 1 if :math:`A = N`,
    :math:`1 - \delta / N` if :math:`A = N - 1`, else the :math:`1 - \delta` quantile of
    :math:`\mathrm{Beta}(A + 1, N - A)`. Slots may be right with unequal probabilities, which the
    textbook interval does not survive at :math:`A = N - 1`.

    Parameters
    ----------
    max_right : int
        The most draws that can be right under any allowed truth.
    n_slots : int
        Draws, answered or not; draws that failed to return left out.
    delta : float in (0, 1/4)
        Probability of failing, over the draws.

    Returns
    -------
    float in [0, 1]
        Holds if draws are independent and their number was fixed beforehand. Divide ``delta``
        by the number of conditions that are compared.

    Raises
    ------
    InputError
        If the counts are impossible or ``delta`` is not in (0, 1/4).

    Examples
    --------
    >>> corrected_ceiling(99, 100)
    0.9995
    >>> corrected_ceiling(100, 100)
    1.0
    """
    _check(max_right, n_slots, delta)
    if max_right == n_slots - 1:
        return 1.0 - delta / n_slots
    return _beta_quantile(max_right, n_slots, delta)


def textbook_ceiling(max_right: int, n_slots: int, *, delta: float = 0.05) -> float:
    """Clopper-Pearson for equal probabilities: **not** valid here, kept for comparison.

    Parameters, errors as :func:`corrected_ceiling`; it fails more often than ``delta`` when all
    slots but one are certain.

    Examples
    --------
    >>> textbook_ceiling(99, 100) < corrected_ceiling(99, 100)
    True
    """
    _check(max_right, n_slots, delta)
    return _beta_quantile(max_right, n_slots, delta)


def hoeffding_ceiling(max_right: int, n_slots: int, *, delta: float = 0.05) -> float:
    r"""Accuracy exceeds this with probability at most ``delta``: Hoeffding's inequality.

    :math:`\min(1, A/N + \sqrt{\ln(1/\delta) / 2N})`; parameters, errors as
    :func:`corrected_ceiling`.

    Examples
    --------
    >>> round(hoeffding_ceiling(38, 100), 4)
    0.5024
    """
    _check(max_right, n_slots, delta)
    return min(1.0, max_right / n_slots + math.sqrt(-math.log(delta) / (2 * n_slots)))


def kl_ceiling(max_right: int, n_slots: int, *, delta: float = 0.05) -> float:
    r"""Accuracy exceeds this with probability at most ``delta``: relative entropy.

    The largest q with :math:`\mathrm{kl}(A/N \,\|\, q) \le \ln(1/\delta)/N`; parameters, errors as
    :func:`corrected_ceiling`.

    Examples
    --------
    >>> round(kl_ceiling(38, 100), 4)
    0.5018
    """
    _check(max_right, n_slots, delta)
    if max_right == n_slots:
        return 1.0
    share, budget = max_right / n_slots, -math.log(delta) / n_slots
    inside, outside = share, 1.0
    while True:  # ends when no float lies between the two sides
        middle = (inside + outside) / 2
        if middle in (inside, outside):
            return outside
        if _relative_entropy(share, middle) <= budget:
            inside = middle
        else:
            outside = middle


def _relative_entropy(p: float, q: float) -> float:
    """Of a coin p to a coin q, 0 <= p < 1, q in (0, 1)."""
    tails = (1 - p) * (math.log1p(-p) - math.log1p(-q))
    return tails if p == 0 else p * math.log(p / q) + tails


def _beta_quantile(max_right: int, n_slots: int, delta: float) -> float:
    if max_right == n_slots:
        return 1.0
    from scipy.special import betaincinv  # noqa: PLC0415 - slow to load, seldom needed

    return float(betaincinv(max_right + 1, n_slots - max_right, 1 - delta))


def _check(max_right: int, n_slots: int, delta: float) -> None:
    if n_slots < 1 or not 0 <= max_right <= n_slots:
        msg = (
            f"max_right is {max_right} and n_slots is {n_slots}; wanted 0 <= max_right <= n_slots "
            "and at least one slot. Count the slots again."
        )
        raise InputError(msg)
    if not 0 < delta < MAX_DELTA:
        msg = (
            f"delta is {delta}; it must be above 0 and below 1/4, where the ceiling is proved. "
            "Use 0.05, or 0.05 divided by the number of conditions compared."
        )
        raise InputError(msg)
