"""A few coordinates around a final state, in which a fibre of the observer can be walked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.stats.fibre_walk import Look, Walk, fibre_walk
from trueness.stats.low_rank import row_space
from trueness.stats.observer_gradients import Slopes, law_variation, observer_slopes
from trueness.stats.observers import observe_logits

Floats: TypeAlias = NDArray[np.float64]
Target: TypeAlias = Callable[[Floats], Slopes]
"""From logits to one number and its derivative by them."""

MOST_PROBABLE = 12
"""Tokens whose logits the coordinates reach, beside those that are named."""
SHARE = 0.02
"""First step, as a share of the state's length."""
_CUT = 1e-8


class Chart(Protocol):
    """A read-out in few coordinates."""

    def logits(self, y: Floats) -> Floats:
        """(V,)."""
        ...

    def pulled(self, y: Floats, weights: Floats) -> Floats:
        """(s, m)."""
        ...


class Readout(Protocol):
    """A read-out in double precision."""

    def __call__(self, h: ArrayLike) -> Floats:
        """(V,)."""
        ...

    def vjp(self, h: ArrayLike, weights: ArrayLike) -> Floats:
        """(s, D)."""
        ...

    def chart(self, h: ArrayLike, basis: ArrayLike) -> Chart:
        """States h + y·basis."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Walked:
    """A walk, looked at again with the whole read-out.

    Parameters
    ----------
    walk : Walk
    delta : (D,) float64
        From the state to the furthest point.
    off : float
        Largest difference of any of the six canonical numbers between the two.
    moved : float
        Change of the target, as the whole read-out has it.
    variation : float
        Total variation of the two next-token laws.
    same_greedy : bool
    """

    walk: Walk
    delta: Floats
    off: float
    moved: float
    variation: float
    same_greedy: bool


def walked(
    readout: Readout,
    state: ArrayLike,
    target: Target,
    *,
    tokens: Sequence[int],
    goal: float,
) -> Walked:
    """How far a target moves from a final state while the six numbers stand still.

    Both directions are tried, and the longer way is kept. The walk keeps to the span of the
    derivatives of observer, target and the logits of some tokens at the state.

    Parameters
    ----------
    readout : Readout
    state : (D,) float
    target : Target
    tokens : sequence of int
        Whose logits the walk reaches, beside the most probable ones.
    goal : float, above 0
    """
    h = np.asarray(state, np.float64)
    basis = _basis(readout, h, target, tokens)
    chart = readout.chart(h, basis)

    def look(y: Floats) -> Look:
        z = chart.logits(y)
        observer, wanted = observer_slopes(z), target(z)
        pulled = chart.pulled(y, np.vstack([observer.gradients, wanted.gradients]))
        return Look(
            observer.values, float(wanted.values[0]), pulled[:-1], pulled[-1], int(z.argmax())
        )

    ways = [
        fibre_walk(
            look, np.zeros(len(basis)), goal=goal, upward=up, step=SHARE * float(np.linalg.norm(h))
        )
        for up in (True, False)
    ]
    best = max(ways, key=lambda w: abs(w.moved))
    return _again(readout, h, target, best, best.at @ basis)


def _basis(readout: Readout, h: Floats, target: Target, tokens: Sequence[int]) -> Floats:
    """Orthonormal directions (m, D)."""
    z = readout(h)
    top = np.argsort(-z, kind="stable")[:MOST_PROBABLE].tolist()
    chosen = sorted({*tokens, *top})
    single = np.zeros((len(chosen), len(z)))
    single[np.arange(len(chosen)), chosen] = 1.0
    rows = readout.vjp(h, np.vstack([observer_slopes(z).gradients, target(z).gradients, single]))
    return row_space(rows, tolerance=_CUT)


def _again(readout: Readout, h: Floats, target: Target, walk: Walk, delta: Floats) -> Walked:
    before, after = readout(h), readout(h + delta)
    one, two = observe_logits(before), observe_logits(after)
    return Walked(
        walk,
        delta,
        float(np.abs(one.numbers - two.numbers).max()),
        float(target(after).values[0] - target(before).values[0]),
        law_variation(before, after),
        int(one.greedy) == int(two.greedy),
    )
