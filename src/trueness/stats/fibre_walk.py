"""Walking where an observer stands still: along its kernel, and back onto its fibre by Newton."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError

Floats: TypeAlias = NDArray[np.float64]

ON_FIBRE = 1e-10
"""Largest difference of any number of the observer that still counts as standing still."""
_CUT = 1e-9
_NEWTON = 12
_LEAST = 1e-4
"""Of the first step: a shorter one ends the walk."""
_GROWN, _SHRUNK = 1.6, 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """What stands at one point.

    Parameters
    ----------
    numbers : (s,) float64
        Of the observer.
    target : float
    observer_jacobian : (s, m) float64
    target_gradient : (m,) float64
    label : int
        What must not change beside the numbers: the greedy token.
    """

    numbers: Floats
    target: float
    observer_jacobian: Floats
    target_gradient: Floats
    label: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """How far a target could be moved.

    Parameters
    ----------
    at : (m,) float64
        The furthest point on the fibre.
    moved : float
        Target there minus target at the start.
    off : float
        Largest difference of any number of the observer there.
    n_steps : int
        Accepted ones.
    reached : bool
        Whether the goal was.
    why : str
        What ended the walk.
    """

    at: Floats
    moved: float
    off: float
    n_steps: int
    reached: bool
    why: str


def fibre_walk(
    look: Callable[[Floats], Look],
    start: ArrayLike,
    *,
    goal: float,
    upward: bool = True,
    step: float = 0.1,
    max_steps: int = 60,
) -> Walk:
    """The furthest that a target moves in one direction while the observer's numbers stand still.

    Each step goes along the target's gradient within the kernel of the observer's Jacobian, then
    back by Newton steps of minimum norm until no number differs by more than `ON_FIBRE`. A step
    that fails, moves the target back or changes the label is halved. It gives what was reached, no
    bound on what could be.

    Parameters
    ----------
    look : callable
        From a point (m,) to a `Look`.
    start : (m,) float
    goal : float, above 0
        Change of the target at which the walk ends.
    upward : bool
        Whether the target is to grow.
    step : float, above 0
        Length of the first step.
    max_steps : int, at least 1

    Raises
    ------
    InputError
        For a goal, a step or a number of steps out of range, or a start that is not finite.

    Examples
    --------
    >>> def look(y):
    ...     return Look(np.array([y[0] ** 2 + y[1] ** 2]), y[1], 2 * y[None], np.array([0.0, 1.0]))
    >>> found = fibre_walk(look, [1.0, 0.0], goal=0.5)
    >>> found.reached, found.off <= 1e-10
    (True, True)
    """
    y = np.array(start, np.float64)
    if not (goal > 0 and step > 0 and max_steps >= 1 and np.isfinite(y).all()):
        msg = f"goal {goal}, step {step}, {max_steps} steps; wanted a finite start and all above 0."
        raise InputError(msg)
    first = here = look(y)
    sign, n_steps, why = (1.0 if upward else -1.0), 0, "the steps are used up"
    least = _LEAST * step
    for _ in range(4 * max_steps):
        along = _within(here, sign)
        if along is None:
            why = "no direction within the kernel moves the target"
            break
        found = _returned(look, y + step * along, first)
        if found is None or sign * (found[1].target - here.target) <= 0:
            step *= _SHRUNK
            if step < least:
                why = "no step, however short, stays on the fibre"
                break
            continue
        (y, here), n_steps, step = found, n_steps + 1, step * _GROWN
        if sign * (here.target - first.target) >= goal:
            why = "the goal is reached"
            break
        if n_steps == max_steps:
            break
    moved = here.target - first.target
    off = float(np.abs(here.numbers - first.numbers).max(initial=0.0))
    return Walk(y, float(moved), off, n_steps, bool(sign * moved >= goal), why)


def _within(here: Look, sign: float) -> Floats | None:
    """The unit direction of the target's gradient within the kernel; None where there is none."""
    gradient = here.target_gradient
    scaled = _scaled(here.observer_jacobian)
    values, rows = np.linalg.svd(scaled, full_matrices=False)[1:]
    seen = rows[values > _CUT * values.max(initial=0.0)]
    rest = gradient - (seen @ gradient) @ seen
    rest = rest - (seen @ rest) @ seen
    length = float(np.linalg.norm(rest))
    if length <= _CUT * float(np.linalg.norm(gradient)):
        return None
    direction: Floats = sign * rest / length
    return direction


def _returned(look: Callable[[Floats], Look], y: Floats, first: Look) -> tuple[Floats, Look] | None:
    """The point back on the fibre and what stands there; None where Newton does not get there."""
    before = np.inf
    for _ in range(_NEWTON):
        here = look(y)
        if here.label != first.label:
            return None
        off = here.numbers - first.numbers
        worst = float(np.abs(off).max(initial=0.0))
        if worst <= ON_FIBRE:
            return y, here
        if not worst < before:
            return None
        before = worst
        size = np.linalg.norm(here.observer_jacobian, axis=1)
        there = size > 0
        rows = here.observer_jacobian[there] / size[there, np.newaxis]
        y = y - np.linalg.lstsq(rows, off[there] / size[there], rcond=_CUT)[0]
    return None


def _scaled(matrix: Floats) -> Floats:
    size = np.linalg.norm(matrix, axis=1, keepdims=True)
    scaled: Floats = matrix / np.where(size > 0, size, 1.0)
    return scaled
