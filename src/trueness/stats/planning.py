"""How many items a study needs before it can say anything."""

import math
from collections.abc import Callable

from scipy.special import ndtr, ndtri

from trueness.contract.errors import InputError
from trueness.stats.auroc import newcombe_variance

_MOST = 1 << 22  # beyond, a search for a size ends
ASSUMED_SDS = (
    ("the labelled synthetic slices", 0.35),
    ("the published interval on 25 GSM8K items", 0.38),
    ("the published interval on 50 GPQA items", 0.24),
)
"""Standard deviations of the change of an item's pairwise agreement, and where each is from.

Assumptions for plans without a pilot, the first by default; name the one that was used.
"""


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
    require_open_unit(alpha=alpha, power=power, wrong_share=wrong_share)
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
    require_open_unit(auroc=auroc, half_width=half_width, level=level)
    z = float(ndtri((1 + level) / 2))

    def narrow(n: int) -> bool:
        return z * math.sqrt(newcombe_variance(auroc, n, n_right=n)) <= half_width

    return smallest_size(narrow)


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
    require_open_unit(width=width, delta=delta)
    return math.ceil(-math.log(delta) / (2 * width**2))


def difference_size(
    effect: float, *, sd: float = ASSUMED_SDS[0][1], alpha: float = 0.05, power: float = 0.8
) -> int:
    r"""Items that a paired two-sided test needs to see a mean change of ``effect``.

    :math:`\lceil ((z_{1-\alpha/2}+z_{power})\,sd/d)^2 \rceil`, a normal approximation.

    Parameters
    ----------
    effect : float in (0, 1)
    sd : float, above 0
        Standard deviation of the change over items, draw noise included.
    alpha, power : float in (0, 1)

    Raises
    ------
    InputError
        If a number lies outside its range.

    Examples
    --------
    >>> difference_size(0.1)
    97
    """
    require_open_unit(effect=effect, alpha=alpha, power=power)
    _positive(sd=sd)
    return max(2, math.ceil((_z(1 - alpha / 2) + _z(power)) ** 2 * (sd / effect) ** 2))


def equivalence_size(
    margin: float, *, sd: float = ASSUMED_SDS[0][1], alpha: float = 0.05, power: float = 0.8
) -> int:
    r"""Items after which no change at all is shown to lie within ±``margin``.

    :math:`\lceil ((z_{1-\alpha}+z_{1-(1-power)/2})\,sd/\delta)^2 \rceil`, a normal approximation
    for a true change of 0.

    Parameters
    ----------
    margin : float in (0, 1)
    sd, alpha, power
        As in :func:`difference_size`; alpha is that of each of the two one-sided tests.

    Raises
    ------
    InputError
        If a number lies outside its range.

    Examples
    --------
    >>> equivalence_size(0.1), equivalence_size(0.05)
    (105, 420)
    """
    require_open_unit(margin=margin, alpha=alpha, power=power)
    _positive(sd=sd)
    return max(2, math.ceil((_z(1 - alpha) + _z((1 + power) / 2)) ** 2 * (sd / margin) ** 2))


def equivalence_power(
    items: int, margin: float, *, sd: float = ASSUMED_SDS[0][1], alpha: float = 0.05
) -> float:
    r"""Probability that ``items`` items show no change at all to lie within ±``margin``.

    :math:`\max(0,\,2\Phi(\delta\sqrt N/sd - z_{1-\alpha})-1)`: 0 is what a slice that is too small
    can show.

    Parameters and errors as :func:`equivalence_size`.

    Examples
    --------
    >>> round(equivalence_power(105, 0.1), 2), equivalence_power(25, 0.05)
    (0.8, 0.0)
    """
    require_open_unit(margin=margin, alpha=alpha)
    _positive(sd=sd, items=items)
    return max(0.0, 2 * float(ndtr(margin * math.sqrt(items) / sd - _z(1 - alpha))) - 1)


def smallest_size(enough: Callable[[int], bool]) -> int:
    """A size that is enough while one fewer is not, by doubling and halving.

    Parameters
    ----------
    enough : callable
        From a number of items, at least 1, to whether they are enough.

    Raises
    ------
    InputError
        If four million are not enough.

    Examples
    --------
    >>> smallest_size(lambda n: n * n > 50)
    8
    """
    high = 1
    while not enough(high):
        high *= 2
        if high > _MOST:
            msg = (
                f"{high // 2:,} items are not enough; wanted a plan that can be carried out. "
                "Ask for a larger effect or less power."
            )
            raise InputError(msg)
    low = high // 2
    while high - low > 1:
        middle = (high + low) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def require_open_unit(**numbers: float) -> None:
    """Refuse numbers outside of (0, 1), by name.

    Raises
    ------
    InputError
        If a number is not above 0 and below 1.
    """
    for name, value in numbers.items():
        if not 0 < value < 1:
            msg = f"{name} is {value}; it must lie above 0 and below 1. Give it as a fraction."
            raise InputError(msg)


def _z(p: float) -> float:
    return float(ndtri(p))


def _positive(**numbers: float) -> None:
    for name, value in numbers.items():
        if not 0 < value < math.inf:
            msg = f"{name} is {value}; it must be a number above 0. Take it from a pilot."
            raise InputError(msg)
