"""The largest singular values from one direction at a time: Golub and Kahan's bidiagonal form."""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State
from trueness.stats.block_power import RESIDUAL, Multiply, TopValues

Floats: TypeAlias = NDArray[np.float64]
NOT_FINITE = "a product is not finite"
_WAIT = 0.1
"""The values are looked at again after so many more steps, as a share of those done."""


def bidiagonal_values(
    times: Multiply,
    transposed: Multiply,
    *,
    width: int,
    k: int,
    seed: int = 0,
    residual: float = RESIDUAL,
) -> TopValues:
    r"""The k largest singular values by Golub–Kahan bidiagonalisation.

    :math:`J V_m = U_m B_m` and :math:`J^T U_m = V_m B_m^T + \beta_m v_{m+1} e_m^T`, every vector
    made orthogonal to all before it. With :math:`B_m = P \Sigma Q^T` the residual of a value is
    :math:`|J^T J v_i - \sigma_i^2 v_i| = \sigma_i \beta_m |P_{mi}|`, known without a product. It
    ends when that is small for all k, at the latest after ``width`` steps.

    One start sees one copy of a repeated value: it finds values, not how often they occur.

    Parameters
    ----------
    times, transposed : callable
        From directions (1, width) to J times each, and to its transpose times each.
    width : int
        D.
    k : int from 1 to width
    seed : int
        Of the first direction.
    residual : float in (0, 1)

    Returns
    -------
    TopValues
        ``steps`` counts products with J, and as many with its transpose. ``UNSTABLE`` when the
        directions are used up before k values have converged; ``DEGENERATE`` for a zero matrix or
        one that is not finite.

    Raises
    ------
    InputError
        For a number out of range.
    ShapeError
        When a product has another shape than its direction.

    Examples
    --------
    >>> j = np.diag([5.0, 3.0, 1.0, 0.5])
    >>> found = bidiagonal_values(lambda v: v @ j.T, lambda u: u @ j, width=4, k=2)
    >>> found.sigma.round(9).tolist(), found.state.value
    ([5.0, 3.0], 'MEASURED')
    """
    if not (1 <= k <= width and 0 < residual < 1):
        msg = f"k is {k} of width {width}, residual {residual}; wanted 1 <= k <= width, (0, 1)."
        raise InputError(msg)
    v = np.random.default_rng(seed).standard_normal(width)
    right: list[Floats] = [v / np.linalg.norm(v)]
    left: list[Floats] = []
    b = np.zeros((width, width))
    largest, due, found = 0.0, k, np.inf
    for step in range(width):
        image = _product(times, right[step])
        if not np.isfinite(image).all():
            return _ended(State.DEGENERATE, NOT_FINITE, None, step + 1, seed)
        u, alpha = _next(image, left, largest)
        back = _product(transposed, u)
        if not np.isfinite(back).all():
            return _ended(State.DEGENERATE, NOT_FINITE, None, step + 1, seed)
        w, beta = _next(back, right, largest)
        left.append(u)
        b[step, step] = alpha
        largest = max(largest, alpha, beta)
        if largest == 0:
            return _ended(State.DEGENERATE, "the Jacobian is zero", None, step + 1, seed)
        if step + 1 >= due or beta == 0 or step + 1 == width:
            due = step + 1 + math.ceil(step * _WAIT)
            p, s, _ = np.linalg.svd(b[: step + 1, : step + 1])
            found = float((s * beta * np.abs(p[-1]))[:k].max() / s[0] ** 2)
            if step + 1 >= k and found <= residual:
                return TopValues(State.MEASURED, None, s[:k], found, step + 1, (seed,))
        if beta == 0:
            reason = f"{step + 1} directions reach no further; wanted {k} values"
            return _ended(State.UNSTABLE, reason, found, step + 1, seed)
        if step + 1 < width:
            b[step, step + 1] = beta
            right.append(w)
    return _ended(State.UNSTABLE, "all directions are used up", found, width, seed)


def _next(vector: Floats, before: list[Floats], scale: float) -> tuple[Floats, float]:
    """A unit vector orthogonal to those before it, and its length; 0 for one made of rounding."""
    if before:
        basis = np.array(before)
        for _ in range(2):  # one pass leaves rounding in the span
            vector = vector - basis.T @ (basis @ vector)
    length = float(np.linalg.norm(vector))
    if length <= np.finfo(np.float64).eps * len(vector) * scale or length == 0:
        return np.zeros_like(vector), 0.0
    return vector / length, length


def _product(by: Multiply, direction: Floats) -> Floats:
    found = np.asarray(by(direction[np.newaxis]), dtype=np.float64)
    if found.shape != (1, len(direction)):
        msg = f"a direction of {len(direction)} gave {found.shape}; wanted (1, {len(direction)})."
        raise ShapeError(msg)
    return np.asarray(found[0], np.float64)


def _ended(state: State, reason: str, off: float | None, steps: int, seed: int) -> TopValues:
    return TopValues(state, reason, None, off, steps, (seed,))
