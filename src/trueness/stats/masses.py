"""Which probabilities lie behind an agreement spectrum, as far as it says."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.optimize import LinearConstraint, minimize

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.clouds import Clouds, Floats
from trueness.stats.polynomials import square_free
from trueness.stats.spectrum import check_orders

_IMAGINARY = 1e-7
_NEGATIVE = -1e-9
_RATIOS = (1.0, 0.7, 0.4, 0.15)
"""Starting points of the fit: geometric masses, from uniform to concentrated."""


@dataclass(frozen=True, slots=True)
class MassFit:
    """One list of masses whose power sums come closest; never *the* masses."""

    masses: tuple[float, ...]
    """(m,), descending, summing to 1."""
    residual: float
    """Weighted sum of squared differences that remains."""


def sorted_masses(clouds: Clouds, *, item: int = 0) -> tuple[Fraction, ...]:
    """Recorded shares of the classes of an item, descending; empty where nothing was drawn.

    Examples
    --------
    >>> [str(p) for p in sorted_masses(Clouds.of([0] * 4, [1, 2, 2, 2], [1] * 4, n_items=1))]
    ['3/4', '1/4']
    """
    counts = sorted(clouds.take([item]).count.tolist(), reverse=True)
    return tuple(Fraction(n, sum(counts)) for n in counts)


def elementary_symmetric(power_sums: Sequence[Fraction], *, m: int) -> tuple[Fraction, ...]:
    r"""Elementary symmetric functions of m masses from their power sums (Newton).

    :math:`e_0 = 1`, :math:`e_j = \frac1j \sum_{i=1}^{j} (-1)^{i-1} e_{j-i} C_i`.

    Parameters
    ----------
    power_sums : (at least m,) sequence of Fraction
        :math:`C_1, C_2, \dots`, exact.
    m : int, at least 1
        Bound on the number of masses.

    Returns
    -------
    (m + 1,) tuple of Fraction

    Raises
    ------
    InputError
        If there are fewer than m power sums, or one is not exact.

    Examples
    --------
    >>> sums = [Fraction(1), Fraction(23, 50), Fraction(61, 250)]
    >>> [str(e) for e in elementary_symmetric(sums, m=3)]
    ['1', '1', '27/100', '9/500']
    """
    exact = _exact(power_sums, m)
    found = [Fraction(1)]
    for j in range(1, m + 1):
        terms = ((-1) ** (i - 1) * found[j - i] * exact[i - 1] for i in range(1, j + 1))
        found.append(sum(terms, Fraction(0)) / j)
    return tuple(found)


def masses_from_power_sums(power_sums: Sequence[Fraction], *, m: int) -> tuple[float, ...]:
    r"""The multiset of m masses that has declared, exact power sums.

    The roots of :math:`\sum_j (-1)^j e_j x^{m-j}`. Repeated roots are divided out exactly before
    any root is sought, since they are ill-conditioned. m too large gives masses 0.

    Parameters
    ----------
    power_sums : (at least m,) sequence of Fraction
        :math:`C_1 = 1, C_2, \dots`, exact. Never estimates: use :func:`fit_masses`.
    m : int, at least 1
        Bound on the number of masses.

    Returns
    -------
    (m,) tuple of float
        Descending. Which class has which mass is lost.

    Raises
    ------
    InputError
        If there are fewer than m power sums, which leaves the masses not identified; if one is
        not exact; or if no m masses have them.

    Examples
    --------
    >>> masses_from_power_sums([Fraction(1), Fraction(1, 2)], m=2)
    (0.5, 0.5)
    """
    elementary = elementary_symmetric(power_sums, m=m)
    _check_consistent([Fraction(c) for c in power_sums], elementary)
    roots: list[complex] = []
    for factor, times in square_free([(-1) ** j * e for j, e in enumerate(elementary)]):
        roots += times * np.roots([float(c) for c in factor]).tolist()
    if any(abs(x.imag) > _IMAGINARY or x.real < _NEGATIVE for x in map(complex, roots)):
        msg = (
            f"no {m} masses have these power sums: a root is negative or not real. Give exact "
            "power sums of a law with at most m outcomes, or fit estimates with fit_masses()."
        )
        raise InputError(msg)
    return tuple(sorted((max(complex(x).real, 0.0) for x in roots), reverse=True))


def fit_masses(
    agreement: Sequence[float],
    *,
    orders: Sequence[int],
    m: int,
    k: int,
    variances: Sequence[float] | None = None,
) -> MassFit:
    r"""Masses whose power sums come closest to an estimated spectrum.

    Minimises :math:`\sum_r w_r (\sum_i x_i^r - U_r)^2` over :math:`x_1 \ge \dots \ge x_m \ge 0`
    that sum to 1, with :math:`w_r = 1 / \max(\hat V_r, 1/k^2)`.

    Parameters
    ----------
    agreement : (n_orders,) sequence of float
        :math:`U_r` of all classes.
    orders : (n_orders,) sequence of int, at least 2
    m : int, at least 1
        Bound on the number of masses. Open-ended answers have none.
    k : int
        Draws.
    variances : (n_orders,) sequence of float, optional
        :math:`\hat V_r`; counted as 0 when left out or nan.

    Returns
    -------
    MassFit

    Raises
    ------
    ShapeError
        If the lengths differ.
    InputError
        If the masses are not identified (fewer draws than m, or fewer than m - 1 orders), or an
        entry of the spectrum is not a number.

    Examples
    --------
    >>> fit = fit_masses([0.5, 0.25], orders=(2, 3), m=2, k=1000)
    >>> [round(x, 2) for x in fit.masses], fit.residual < 1e-6
    ([0.5, 0.5], True)
    """
    check_orders(orders)
    wanted = np.asarray(agreement, np.float64)
    noise = np.zeros(len(wanted)) if variances is None else np.nan_to_num(np.asarray(variances))
    _check_fit(wanted, noise, orders, m, k)
    weights = 1.0 / np.maximum(noise, 1.0 / k**2)
    powers = np.asarray(orders, np.float64)[:, None]
    found = [_closest(start, wanted, weights, powers) for start in _starts(m)]
    return min(found, key=lambda fit: fit.residual)


def _closest(start: Floats, wanted: Floats, weights: Floats, powers: Floats) -> MassFit:
    """The best masses that are reached from one starting point."""

    def loss(x: Floats) -> float:
        return float(weights @ ((x**powers).sum(1) - wanted) ** 2)

    def slope(x: Floats) -> Floats:
        misfit = weights * ((x**powers).sum(1) - wanted)
        steep: Floats = 2 * misfit @ (powers * x ** (powers - 1))
        return steep

    reached = minimize(
        loss,
        start,
        jac=slope,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * len(start),
        constraints=LinearConstraint(np.ones((1, len(start))), 1.0, 1.0),
        options={"ftol": 1e-14, "maxiter": 500},
    )
    x = np.clip(reached.x, 0.0, 1.0)
    x = np.sort(x / x.sum())[::-1]
    return MassFit(tuple(x.tolist()), loss(x))


def _starts(m: int) -> list[Floats]:
    powers = [ratio ** np.arange(m) for ratio in _RATIOS]
    return [p / p.sum() for p in powers]


def _exact(power_sums: Sequence[Fraction], m: int) -> list[Fraction]:
    if m < 1 or len(power_sums) < m:
        msg = (
            f"{len(power_sums)} power sums and a bound of {m} masses: not identified. "
            "Give C_1 to C_m, with m at least 1."
        )
        raise InputError(msg)
    for c in power_sums:
        if not isinstance(c, Fraction | int):
            msg = f"a power sum is {c!r}; give exact fractions, or fit estimates with fit_masses()."
            raise InputError(msg)
    return [Fraction(c) for c in power_sums[:m]]


def _check_consistent(power_sums: Sequence[Fraction], elementary: Sequence[Fraction]) -> None:
    """C_1 is 1, and power sums beyond the m-th follow from the others."""
    if power_sums[0] != 1:
        msg = f"C_1 is {power_sums[0]}; masses sum to 1. Give the power sums from the first on."
        raise InputError(msg)
    m = len(elementary) - 1
    for r in range(m, len(power_sums)):
        follows = sum(
            ((-1) ** (i - 1) * elementary[i] * power_sums[r - i] for i in range(1, m + 1)),
            Fraction(0),
        )
        if power_sums[r] != follows:
            msg = f"C_{r + 1} is {power_sums[r]}, but {m} masses would make it {follows}; raise m."
            raise InputError(msg)


def _check_fit(wanted: Floats, noise: Floats, orders: Sequence[int], m: int, k: int) -> None:
    if not len(wanted) == len(noise) == len(orders):
        msg = (
            f"{len(wanted)} values, {len(noise)} variances and {len(orders)} orders; give as many."
        )
        raise ShapeError(msg)
    if not np.isfinite(wanted).all():
        msg = "an entry of the spectrum is nan; leave out the orders that were not measured."
        raise InputError(msg)
    n_equations = len({r for r in orders if r > 1})
    if m < 1 or k < m or n_equations < m - 1:
        msg = (
            f"{m} masses from {k} draws and {n_equations} orders above 1: not identified. "
            "Wanted: m at least 1, at least m draws and m - 1 orders."
        )
        raise InputError(msg)
