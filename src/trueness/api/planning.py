"""Plans from assumptions, or from a pilot."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness import sensors
from trueness.api.answers import read_by_rule
from trueness.contract.errors import InputError
from trueness.stats.allocation import DRAWS, Allocation, allocations, between_variance, draw_noise
from trueness.stats.clouds import Clouds
from trueness.stats.spectrum import spectrum
from trueness.stats.spectrum_variance import variance_hat
from trueness.study.planned import SPREAD_GOALS, Goal, Plan, Spread
from trueness.study.planned import plan as plan_for

ORDER = 2


def plan(
    goal: Goal,
    pilot: tuple[object, object] | None = None,
    *,
    budget: float | None = None,
    cost_item: float = 0.0,
    cost_draw: float = 1.0,
    allow_differ: tuple[str, ...] = (),
    **given: Any,
) -> Plan:
    """How many items and draws a goal needs.

    Parameters
    ----------
    goal : Goal
    pilot : pair of sources, optional
        Before and after; the spread of its items replaces the assumed one.
    budget, cost_item, cost_draw : float
        What one arm may cost in all, one item once, one draw; shown as ways to spend it.
    allow_differ : tuple of str
        Protocol fields in which the arms of the pilot may differ.
    **given
        As in `trueness.api.read`.

    Raises
    ------
    InputError
        When a number is missing or a budget is given without a pilot.
    ProtocolError
        When the arms of the pilot were not drawn under one protocol: their changes would be
        differences of the protocols, and so would their spread.
    """
    if pilot is None:
        if budget is not None:
            msg = (
                "a budget was given without a pilot; how it is best spent depends on the noise of "
                "your draws. Give PILOT_BEFORE and PILOT_AFTER."
            )
            raise InputError(msg)
        return plan_for(goal)
    if goal.name not in SPREAD_GOALS:
        msg = (
            f"the goal {goal.name} needs no pilot; {' and '.join(SPREAD_GOALS)} do. "
            "Leave the files out."
        )
        raise InputError(msg)
    before, after = _clouds(pilot, allow_differ, given)
    spread = _spread(before, after)
    if budget is None:
        return plan_for(goal, spread=spread)
    ways, notes = _ways(before, after, budget, cost_item=cost_item, cost_draw=cost_draw)
    return plan_for(goal, spread=spread, allocations=ways, notes=notes)


def _clouds(
    pilot: tuple[object, object], allow_differ: tuple[str, ...], given: dict[str, Any]
) -> tuple[Clouds, Clouds]:
    module = sensors.find("atlas")
    tables = tuple(read_by_rule(source, module.ANSWER_KIND, **given) for source in pilot)
    one, two = module.clouds_of(tables, module.Params(allow_differ=allow_differ))
    return one, two


def _spread(before: Clouds, after: Clouds) -> Spread:
    """The standard deviation of the change over the items of a pilot."""
    change = _change(before, after)
    seen = change[np.isfinite(change)]
    if len(seen) < 2 or not np.ptp(seen):  # noqa: PLR2004 - a spread needs two
        same = " that all changed alike" if len(seen) > 1 else ""
        msg = (
            f"the pilot has {len(seen)} items with {ORDER} draws in both arms{same}; a spread "
            "needs at least two items that changed differently. Leave the pilot out to use an "
            "assumed spread."
        )
        raise InputError(msg)
    return Spread(float(seen.std(ddof=1)), f"a pilot of {len(seen)} items", assumed=False)


def _change(before: Clouds, after: Clouds) -> NDArray[np.float64]:
    """(n_items,): change of the total at order 2; nan where not measured."""
    one, two = (spectrum(c, (ORDER,))["total"][:, 0] for c in (before, after))
    found: NDArray[np.float64] = two - one
    return found


def _ways(
    before: Clouds, after: Clouds, budget: float, *, cost_item: float, cost_draw: float
) -> tuple[tuple[Allocation, ...], tuple[str, ...]]:
    """Ways to spend a budget, and what had to be clipped to find them."""
    noise = sum(variance_hat(c, (ORDER,))["total"][:, 0] for c in (before, after))
    between = between_variance(_change(before, after), np.asarray(noise))
    within = draw_noise(before, after, ORDER, draws=DRAWS)
    ways = allocations(
        within, between.value, budget=budget, cost_item=cost_item, cost_draw=cost_draw
    )
    line = (
        f"The variance between items came out at {between.raw:.3g} and was clipped at 0: the noise "
        "of the draws explains all of the pilot's spread."
    )
    return ways, ((line,) if between.clipped else ())
