"""What a risk does near the point where it is used: coverage, partial areas, separations, twins.

Risks are low where it is safe. Curves are about *strictly below* a threshold and include their
end points.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.mcnemar import mcnemar

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Coverage:
    """The most supported items below a threshold that lets few unsupported ones through.

    ``threshold`` is None where any threshold will do; ``coverage`` where no item is supported.
    """

    coverage: Fraction | None
    threshold: float | None
    false_acceptance: Fraction | None


@dataclass(frozen=True, slots=True)
class PartialArea:
    """Area of supported coverage over false acceptance in [0, f]."""

    area: float
    normalised: float
    """Divided by f."""
    mcclish: float
    """1/2 for a risk that tells nothing, 1 for one that tells all."""


@dataclass(frozen=True, slots=True)
class Separation:
    """Distances of the means; None where a class is too small or does not vary.

    Neither is an operating point.
    """

    supported_sd: float | None
    """In population standard deviations of the supported."""
    d_prime: float | None
    """In pooled sample standard deviations."""


@dataclass(frozen=True, slots=True)
class Paired:
    """Twins: how often the wrong one of a pair has the higher risk."""

    accuracy: Fraction | None
    """Wins and half of the ties, of all pairs."""
    wins: int
    losses: int
    ties: int
    p_two_sided: Fraction
    """Exact sign test without ties."""


def coverage_at(supported: ArrayLike, unsupported: ArrayLike, *, far: Fraction) -> Coverage:
    """Largest share of supported below a threshold with at most ``far`` of the unsupported below.

    Empirical: it promises nothing about other items.

    Parameters
    ----------
    supported, unsupported : (n,), (m,) float
        Risks.
    far : Fraction in [0, 1]

    Examples
    --------
    >>> coverage_at([1, 2, 6], [5, 8], far=Fraction(0)).threshold
    5.0
    """
    right, wrong = _finite(supported, "supported"), np.sort(_finite(unsupported, "unsupported"))
    allowed = math.floor(far * len(wrong))
    if allowed >= len(wrong):
        whole = Fraction(1) if len(right) else None
        return Coverage(whole, None, Fraction(1) if len(wrong) else None)
    threshold = float(wrong[allowed])
    below = int((right < threshold).sum())
    return Coverage(
        Fraction(below, len(right)) if len(right) else None,
        threshold,
        Fraction(int((wrong < threshold).sum()), len(wrong)),
    )


def partial_area(
    supported: ArrayLike, unsupported: ArrayLike, *, max_far: float
) -> PartialArea | None:
    r"""Area under supported coverage over false acceptance up to a limit.

    Trapezoids between the points of all thresholds, interpolated at the limit f; McClish's form is
    :math:`\frac12\left(1 + \frac{A - f^2/2}{f - f^2/2}\right)`.

    Parameters
    ----------
    supported, unsupported : (n,), (m,) float
    max_far : float in (0, 1]

    Returns
    -------
    PartialArea or None
        None without both classes.

    Examples
    --------
    >>> partial_area([1.0, 2.0], [3.0, 4.0], max_far=0.5)
    PartialArea(area=0.5, normalised=1.0, mcclish=1.0)
    """
    if not 0 < max_far <= 1:
        msg = f"max_far is {max_far}; wanted above 0 and at most 1, such as 0.05."
        raise InputError(msg)
    right = np.sort(_finite(supported, "supported"))
    wrong = np.sort(_finite(unsupported, "unsupported"))
    if not len(right) or not len(wrong):
        return None
    at = np.unique(np.concatenate([right, wrong]))
    far = np.concatenate([[0.0], np.searchsorted(wrong, at, side="right") / len(wrong)])
    cover = np.concatenate([[0.0], np.searchsorted(right, at, side="right") / len(right)])
    end = int(np.searchsorted(far, max_far, side="right"))
    x, y = far[:end], cover[:end]
    if end < len(far):
        share = (max_far - far[end - 1]) / (far[end] - far[end - 1])
        x = np.append(x, max_far)
        y = np.append(y, cover[end - 1] + share * (cover[end] - cover[end - 1]))
    area = float(np.trapezoid(y, x))
    chance = max_far**2 / 2
    return PartialArea(area, area / max_far, (1 + (area - chance) / (max_far - chance)) / 2)


def separation(supported: ArrayLike, unsupported: ArrayLike) -> Separation:
    r"""How far the mean risks are apart.

    :math:`(\bar u - \bar s)/\mathrm{SD}_s` with the population SD, the published convention, and
    :math:`d' = (\bar u - \bar s)/\sqrt{(s_u^2 + s_s^2)/2}` with sample SDs.

    Parameters
    ----------
    supported, unsupported : (n,), (m,) float

    Examples
    --------
    >>> round(separation([1, 2, 3], [4, 6, 8]).d_prime, 3)
    2.53
    """
    right, wrong = _finite(supported, "supported"), _finite(unsupported, "unsupported")
    if not len(right) or not len(wrong):
        return Separation(None, None)
    apart, spread = float(wrong.mean() - right.mean()), float(right.std())
    by_supported = apart / spread if spread > 0 else None
    if min(len(right), len(wrong)) < 2:  # noqa: PLR2004 - one item has no spread
        return Separation(by_supported, None)
    pooled = math.sqrt((float(wrong.var(ddof=1)) + float(right.var(ddof=1))) / 2)
    return Separation(by_supported, apart / pooled if pooled > 0 else None)


def paired_accuracy(wrong: ArrayLike, right: ArrayLike) -> Paired:
    """How often the wrong one of two twins of a source has the higher risk.

    Parameters
    ----------
    wrong, right : (n,) float
        Of the same source at the same place.

    Raises
    ------
    ShapeError
        When they differ in length.

    Examples
    --------
    >>> str(paired_accuracy([5, 4, 1], [2, 4, 3]).accuracy)
    '1/2'
    """
    one, two = _finite(wrong, "wrong"), _finite(right, "right")
    if one.shape != two.shape:
        msg = f"{len(one)} wrong and {len(two)} right twins; wanted one of each a source."
        raise ShapeError(msg)
    wins, losses = int((one > two).sum()), int((one < two).sum())
    ties = len(one) - wins - losses
    share = Fraction(2 * wins + ties, 2 * len(one)) if len(one) else None
    return Paired(share, wins, losses, ties, mcnemar(losses, wins).p_exact)


def _finite(values: ArrayLike, what: str) -> Floats:
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1 or not np.isfinite(found).all():
        msg = (
            f"{what} risks have shape {found.shape}, {int((~np.isfinite(found)).sum())} not "
            "finite; wanted (n,) finite numbers. Count the unmeasured apart."
        )
        raise InputError(msg)
    return found
