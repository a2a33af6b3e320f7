"""The largest singular values of a matrix that is only multiplied with, and how sure they are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State

Floats: TypeAlias = NDArray[np.float64]
Multiply: TypeAlias = Callable[[Floats], ArrayLike]
"""From directions (m, D), one a row, to J times each; or to its transpose times each."""

SPARE = 8
"""Columns carried beyond those that are wanted."""
RESIDUAL = 1e-4
MAX_STEPS = 100


@dataclass(frozen=True, slots=True, eq=False)
class TopValues:
    r"""The k largest singular values, or how far from them the iteration stopped.

    Parameters
    ----------
    state : State
        ``UNSTABLE`` when the residual was not reached or two starts disagree; ``DEGENERATE`` for a
        zero matrix or one that is not finite.
    reason : str or None
    sigma : (k,) float64 or None
        Descending; None unless measured.
    residual : float or None
        Largest :math:`|J^T J v_i - \sigma_i^2 v_i| / \sigma_1^2`. Each :math:`\sigma_i^2` lies
        within so much, times :math:`\sigma_1^2`, of *some* true value.
    steps : int
        Multiplications by J and by its transpose, of the start that took most.
    seeds : tuple of int
    """

    state: State
    reason: str | None
    sigma: Floats | None
    residual: float | None
    steps: int
    seeds: tuple[int, ...]


def top_values(
    times: Multiply,
    transposed: Multiply,
    *,
    width: int,
    k: int,
    seeds: Sequence[int] = (0, 1),
    residual: float = RESIDUAL,
    max_steps: int = MAX_STEPS,
) -> TopValues:
    r"""The k largest singular values by block power iteration on :math:`J^T J`.

    k + 8 random columns, orthonormal again in every step; singular values of :math:`JQ`. It ends
    when the residual is small, never because two steps look alike. A start from which a direction
    is missing converges to other values: every further seed guards against that.

    Parameters
    ----------
    times, transposed : callable
        From several directions (m, width) to J times each, and to its transpose times each: the
        ``jvp`` and ``vjp`` of a row map.
    width : int
        D.
    k : int from 1 to width
    seeds : sequence of int
        One whole run each; disagreement is ``UNSTABLE``.
    residual : float in (0, 1)
    max_steps : int, at least 1

    Raises
    ------
    InputError
        For a number out of range, or no seed.
    ShapeError
        When a product has another shape than its columns.

    Examples
    --------
    >>> j = np.diag([5.0, 3.0, 1.0, 0.5])
    >>> found = top_values(lambda v: v @ j.T, lambda u: u @ j, width=4, k=2)
    >>> found.sigma.round(9).tolist(), found.state.value
    ([5.0, 3.0], 'MEASURED')
    """
    if not (1 <= k <= width and 0 < residual < 1 and max_steps >= 1 and len(seeds)):
        msg = (
            f"k is {k} of width {width}, residual {residual}, max_steps {max_steps}, seeds "
            f"{tuple(seeds)}; wanted 1 <= k <= width, a residual in (0, 1), a step and a seed."
        )
        raise InputError(msg)
    rules = (residual, max_steps)
    runs = [_run(times, transposed, _start(width, k, seed), k, rules) for seed in seeds]
    steps = max(r.steps for r in runs)
    worst = next((r for r in runs if r.state is not State.MEASURED), None)
    if worst is not None:
        return TopValues(worst.state, worst.reason, None, worst.residual, steps, tuple(seeds))
    sigmas = np.array([r.sigma for r in runs])
    largest = max(r.residual or 0.0 for r in runs)
    apart = float(np.ptp(sigmas**2, axis=0).max() / sigmas.max() ** 2)
    if apart > 2 * residual:
        reason = f"two starts end {apart:.1e} of the largest squared value apart"
        return TopValues(State.UNSTABLE, reason, None, largest, steps, tuple(seeds))
    return TopValues(State.MEASURED, None, sigmas.max(axis=0), largest, steps, tuple(seeds))


def _start(width: int, k: int, seed: int) -> Floats:
    columns = np.random.default_rng(seed).standard_normal((width, min(k + SPARE, width)))
    return np.linalg.qr(columns)[0]


def _run(
    times: Multiply, transposed: Multiply, start: Floats, k: int, rules: tuple[float, int]
) -> TopValues:
    """One start, to the residual or the last step."""
    q, bound, found = start, rules[0], np.inf
    for step in range(1, rules[1] + 1):
        y = _product(times, q)
        z = _product(transposed, y)
        if not (np.isfinite(y).all() and np.isfinite(z).all()):
            return TopValues(State.DEGENERATE, "a product is not finite", None, None, step, ())
        _, s, turn = np.linalg.svd(y, full_matrices=False)
        if s[0] == 0:
            return TopValues(State.DEGENERATE, "the Jacobian is zero", None, None, step, ())
        v, image = q @ turn.T, z @ turn.T
        off = np.linalg.norm(image - v * s**2, axis=0)[:k]
        found = float(off.max() / s[0] ** 2)
        if found <= bound:
            return TopValues(State.MEASURED, None, s[:k], found, step, ())
        q = np.linalg.qr(z)[0]
    reason = f"residual {found:.1e} after {rules[1]} steps; wanted {bound:.0e}"
    return TopValues(State.UNSTABLE, reason, None, found, rules[1], ())


def _product(by: Multiply, columns: Floats) -> Floats:
    """Columns times the matrix, through a map of rows."""
    found = np.asarray(by(columns.T), dtype=np.float64)
    if found.shape != columns.T.shape:
        msg = f"directions of shape {columns.T.shape} gave {found.shape}; wanted the same shape."
        raise ShapeError(msg)
    return found.T
