"""Plans from assumptions, or from a pilot."""

from typing import Any

import numpy as np

from trueness import sensors
from trueness.api.answers import EXTRACTION, read
from trueness.contract.errors import InputError
from trueness.stats.allocation import DRAWS, Allocation, allocations, between_variance, draw_noise
from trueness.stats.clouds import Clouds
from trueness.stats.spectrum import spectrum
from trueness.stats.spectrum_variance import variance_hat
from trueness.study.planned import Goal, Plan, Spread
from trueness.study.planned import plan as plan_for

ORDER = 2


def plan(
    goal: Goal,
    pilot: tuple[object, object] | None = None,
    *,
    budget: float | None = None,
    cost_item: float = 0.0,
    cost_draw: float = 1.0,
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
    **given
        As in `trueness.api.read`.

    Raises
    ------
    InputError
        When a number is missing or a budget is given without a pilot.
    """
    if pilot is None:
        if budget is not None:
            msg = (
                "a budget was given without a pilot; how it is best spent depends on the noise of "
                "your draws. Give PILOT_BEFORE and PILOT_AFTER."
            )
            raise InputError(msg)
        return plan_for(goal)
    before, after = _clouds(pilot, given)
    spread, ways = _measured(before, after, budget, cost_item=cost_item, cost_draw=cost_draw)
    return plan_for(goal, spread=spread, allocations=ways)


def _clouds(pilot: tuple[object, object], given: dict[str, Any]) -> tuple[Clouds, Clouds]:
    module = sensors.find("atlas")
    how = {"answer_kind": module.ANSWER_KIND, **given} if not _asked(given) else given
    tables = tuple(read(source, **how) for source in pilot)
    one, two = module.clouds_of(tables, module.Params())
    return one, two


def _asked(given: dict[str, Any]) -> bool:
    return any(given.get(name) is not None for name in EXTRACTION[:1])


def _measured(
    before: Clouds, after: Clouds, budget: float | None, *, cost_item: float, cost_draw: float
) -> tuple[Spread, tuple[Allocation, ...]]:
    change = (spectrum(after, (ORDER,))["total"] - spectrum(before, (ORDER,))["total"])[:, 0]
    seen = change[np.isfinite(change)]
    if len(seen) < 2 or not np.ptp(seen):  # noqa: PLR2004 - a spread needs two
        msg = (
            f"the pilot has {len(seen)} items with {ORDER} draws in both arms, and their changes "
            "do not differ; a spread needs items that do. Leave the pilot out to use an assumed "
            "spread."
        )
        raise InputError(msg)
    spread = Spread(float(seen.std(ddof=1)), f"a pilot of {len(seen)} items", assumed=False)
    if budget is None:
        return spread, ()
    noise = sum(variance_hat(c, (ORDER,))["total"] for c in (before, after))
    between = between_variance(change, np.asarray(noise)[:, 0])
    within = draw_noise(before, after, ORDER, draws=DRAWS)
    ways = allocations(
        within, between.value, budget=budget, cost_item=cost_item, cost_draw=cost_draw
    )
    return spread, ways
