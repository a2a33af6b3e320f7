"""How many items a study needs before it can say anything."""

import math

from scipy.special import ndtri

from trueness.contract.errors import InputError
from trueness.stats.auroc import newcombe_variance


def auroc_test_size(
    auroc: float, *, alpha: float = 0.05, power: float = 0.8, wrong_share: float = 0.5
) -> int:
    r"""Items that a two-sided test of an AUROC against one half needs, both classes together.

    :math:`\lceil (z_{1-\alpha/2} + z_{power})^2 / (12\,w(1-w)(A-\frac12)^2) \rceil` (Noether).

    Parameters
    ----------
    auroc : float in [0, 1], not one half
        What the test should be able to see.
    alpha : float in (0, 1)
        Probability of a false alarm.
    power : float in (0, 1)
        Probability of seeing it.
    wrong_share : float in (0, 1)
        Share of items that are wrong.

    Raises
    ------
    InputError
        If a number lies outside its range.

    Examples
    --------
    >>> auroc_test_size(0.7)
    66
    """
    _open_unit(alpha=alpha, power=power, wrong_share=wrong_share)
    if not 0 <= auroc <= 1 or auroc == 0.5:  # noqa: PLR2004 - chance has no test size
        msg = (
            f"auroc is {auroc}; wanted a number in [0, 1] other than one half: no number of items "
            "tells one half from itself. Say what the test should be able to see, such as 0.7."
        )
        raise InputError(msg)
    z = float(ndtri(1 - alpha / 2) + ndtri(power))
    return math.ceil(z**2 / (12 * wrong_share * (1 - wrong_share) * (auroc - 0.5) ** 2))


def auroc_half_width_size(auroc: float, *, half_width: float, level: float = 0.95) -> int:
    r"""Items **per class** for an interval of the given half width.

    The smallest n with :math:`z\sqrt{V(A)} \le h`, V of
    :func:`~trueness.stats.auroc.newcombe_variance` with n items in each class.

    Parameters
    ----------
    auroc, half_width, level : float in (0, 1)

    Raises
    ------
    InputError
        If a number lies outside its range.

    Examples
    --------
    >>> auroc_half_width_size(0.7, half_width=0.05)
    208
    """
    _open_unit(auroc=auroc, half_width=half_width, level=level)
    z = float(ndtri((1 + level) / 2))

    def narrow(n: int) -> bool:
        return z * math.sqrt(newcombe_variance(auroc, n, n_right=n)) <= half_width

    enough = 1
    while not narrow(enough):
        enough *= 2
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        too_few, enough = (too_few, middle) if narrow(middle) else (middle, enough)
    return enough


def ceiling_width_size(width: float, *, delta: float = 0.05) -> int:
    r"""Draws after which the accuracy ceiling lies at most ``width`` above the plug-in share.

    :math:`\lceil \ln(1/\delta) / 2h^2 \rceil`, from Hoeffding's inequality.

    Parameters
    ----------
    width, delta : float in (0, 1)

    Raises
    ------
    InputError
        If a number lies outside its range.

    Examples
    --------
    >>> ceiling_width_size(0.05)
    600
    """
    _open_unit(width=width, delta=delta)
    return math.ceil(-math.log(delta) / (2 * width**2))


def _open_unit(**numbers: float) -> None:
    for name, value in numbers.items():
        if not 0 < value < 1:
            msg = f"{name} is {value}; it must lie above 0 and below 1. Give it as a fraction."
            raise InputError(msg)
