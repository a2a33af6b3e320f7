"""Whether the growth rates of a product have settled, with everything that says so."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.contract.states import State
from trueness.stats.exponents import Growth
from trueness.stats.kaplan_yorke import Dimension

Floats: TypeAlias = NDArray[np.float64]

ASSUMPTIONS = (
    "no invariant measure is shown",
    "no cocycle identity is shown",
    "no integrability is shown",
    "the product is finite: these are mean log growth rates of this product and of nothing else",
)
UNSETTLED = 0.1
"""Share by which two dimensions may differ and still count as one."""


@dataclass(frozen=True, slots=True)
class Settling:
    """Whether the growth rates of a product have settled, with everything that says so.

    Parameters
    ----------
    state : State
        ``UNSTABLE`` when the dimension differs by more than a tenth between half and all of the
        product or between two frames, or the product is shorter than the width.
    reason : str or None
    n_steps, width : int
    last_change : float or None
        Change of the largest rate in the last step. An average changes by about 1/n anyway, so
        a small one proves nothing; None after one step.
    first_half, second_half : float or None
        Largest rate of each half alone.
    top_by_frame : tuple of (float or None)
        Largest rate for each seed of the frame.
    dimension_by_step : mapping of str to Dimension
        After a quarter, half and all of the steps.
    dimension_by_frame : tuple of Dimension
    steps_to_separate : float or None
        1 over the median gap of neighbouring exponents: about so many steps tell them apart.
    assumptions : tuple of str
    """

    state: State
    reason: str | None
    n_steps: int
    width: int
    last_change: float | None
    first_half: float | None
    second_half: float | None
    top_by_frame: tuple[float | None, ...]
    dimension_by_step: dict[str, Dimension]
    dimension_by_frame: tuple[Dimension, ...]
    steps_to_separate: float | None
    assumptions: tuple[str, ...] = ASSUMPTIONS


def settling(grown: Sequence[Growth]) -> Settling:
    """Whether the growth rates of one product, from two frames or more, have settled.

    Parameters
    ----------
    grown : sequence of Growth
        The same product from frames of different seeds; the first one is followed step by step.

    Raises
    ------
    InputError
        When there are fewer than two, or they are of different products.

    Examples
    --------
    >>> from trueness.stats.exponents import Product, growth
    >>> steps = [np.diag([0.25, 2.0])] * 40
    >>> settling([growth(steps, product=Product.BLOCK, seed=s) for s in (0, 1)]).state.value
    'MEASURED'
    """
    alike = {(g.product, g.n_steps, g.trace.shape[1], g.dt) for g in grown}
    if len(grown) < 2 or len(alike) != 1:  # noqa: PLR2004 - two frames
        msg = (
            f"there are {len(grown)} runs of {len(alike)} products; wanted one product from two "
            "frames. Call growth with seed=0 and seed=1."
        )
        raise InputError(msg)
    first = grown[0]
    n, width = first.trace.shape
    half = max(1, n // 2)
    by_step = {"quarter": max(1, n // 4), "half": half, "all": n}
    steps = {name: first.after(at) for name, at in by_step.items()}
    frames = tuple(g.dimension for g in grown)
    reason = _unsettled(n, width, steps, frames)
    late = (n * first.trace[-1] - half * first.trace[half - 1]) / (n - half) if n > half else None
    before = _top(first.trace[-2]) if n > 1 else None
    now = _top(first.trace[-1])
    known = before is not None and now is not None
    return Settling(
        state=State.MEASURED if reason is None else State.UNSTABLE,
        reason=reason,
        n_steps=n,
        width=width,
        last_change=abs(now - before) if known else None,  # type: ignore[operator] # both are known
        first_half=_top(first.trace[half - 1]),
        second_half=None if late is None else _top(late),
        top_by_frame=tuple(_top(g.trace[-1]) for g in grown),
        dimension_by_step=steps,
        dimension_by_frame=frames,
        steps_to_separate=_separation(first.exponents),
    )


def _top(rates: Floats) -> float | None:
    return None if np.isnan(rates).all() else float(np.nanmax(rates))


def _separation(exponents: Floats) -> float | None:
    gaps = -np.diff(exponents)
    middle = float(np.median(gaps)) if len(gaps) else 0.0
    return 1 / middle if middle > 0 else None


def _unsettled(
    n: int, width: int, steps: dict[str, Dimension], frames: tuple[Dimension, ...]
) -> str | None:
    if n < width:
        return f"{n} steps are fewer than the {width} directions"
    if _differ(steps["half"], steps["all"]):
        return "the dimension after half of the steps is another one"
    if any(_differ(frames[0], other) for other in frames[1:]):
        return "the dimension from another frame is another one"
    return None


def _differ(one: Dimension, two: Dimension) -> bool:
    if one.value is None or two.value is None:
        return one.state is not two.state
    return abs(one.value - two.value) > UNSETTLED * max(one.value, two.value)
