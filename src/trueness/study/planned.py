"""How many items and draws a question needs: the plan, with every assumption named."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from trueness.contract.blocks import Block, Fact, Facts, Notes, Statement, Table
from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.stats import planning
from trueness.stats.allocation import Allocation, draws_for_item
from trueness.stats.mcnemar import mcnemar_power, mcnemar_size
from trueness.stats.permutation import attainable_floor

TAKES: Mapping[str, tuple[str, ...]] = {
    "difference": ("effect",),
    "equivalence": ("margin",),
    "mcnemar": ("regress", "improve"),
    "item": (),
    "auroc": ("auroc",),
    "ceiling": ("width",),
}
"""What a plan can be for, and the numbers that say more about it."""
GOALS = tuple(TAKES)
SPREAD_GOALS = ("difference", "equivalence")
"""Goals that need a spread, assumed or of a pilot."""
MARGIN, EFFECT = 0.10, 0.10
FEW_ITEMS = 25
"""As many as a published comparison had; shown beside every plan of equivalence."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Standard deviation of the change over items, and where it comes from."""

    sd: float
    source: str
    assumed: bool


@dataclass(frozen=True, slots=True)
class Goal:
    """What is wanted, and how surely.

    Parameters
    ----------
    name : str
        One of `GOALS`.
    effect, margin, regress, improve, auroc, width : float or None
        What the goal needs: the change to be seen, the margin of equivalence, shares of items
        that get worse and better, an AUROC to tell from one half, the width of a ceiling.
    alpha, power : float
    """

    name: str
    effect: float | None = None
    margin: float | None = None
    regress: float | None = None
    improve: float | None = None
    auroc: float | None = None
    width: float | None = None
    alpha: float = 0.05
    power: float = 0.8

    def __post_init__(self) -> None:
        if self.name not in GOALS:
            msg = f"goal is {self.name!r}; known are {', '.join(GOALS)}. Name one of these."
            raise InputError(msg)
        takes = TAKES[self.name]
        named = ("effect", "margin", "regress", "improve", "auroc", "width")
        extra = [n for n in named if n not in takes and getattr(self, n) is not None]
        if extra:
            wanted = ", ".join(f"--{n}" for n in takes) or "no number of its own"
            msg = (
                f"--{extra[0]} says nothing about the goal {self.name}, which takes {wanted}. "
                "Leave it out, or name the goal that is meant."
            )
            raise InputError(msg)


@dataclass(frozen=True, slots=True)
class Plan:
    """Numbers of items or draws, and what they rest on."""

    goal: Goal
    figures: Mapping[str, Json]
    sentence: str
    assumptions: tuple[str, ...]
    allocations: tuple[Allocation, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def blocks(self) -> tuple[Block, ...]:
        """The plan as it is shown."""
        shown = tuple(
            Fact(name.replace("_", " "), _shown(value))
            for name, value in self.figures.items()
            if value is not None
        )
        out: list[Block] = [Statement(self.sentence), Facts(f"Plan: {self.goal.name}", shown)]
        if self.allocations:
            out.append(_allocations(self.allocations))
        out.append(Notes("Assumptions", self.assumptions, "assumptions"))
        if self.notes:
            out.append(Notes("Notes", self.notes))
        return tuple(out)

    def to_dict(self) -> dict[str, Json]:
        """Plain JSON types."""
        return {
            "goal": self.goal.name,
            "alpha": self.goal.alpha,
            "power": self.goal.power,
            "figures": dict(self.figures),
            "sentence": self.sentence,
            "assumptions": list(self.assumptions),
            "notes": list(self.notes),
            "allocations": [
                {
                    "draws": a.draws,
                    "items": a.items,
                    "se": a.se,
                    "item_floor": float(a.item_floor),
                }
                for a in self.allocations
            ],
        }


def plan(
    goal: Goal,
    *,
    spread: Spread | None = None,
    allocations: tuple[Allocation, ...] = (),
    notes: tuple[str, ...] = (),
) -> Plan:
    """The plan for a goal.

    Parameters
    ----------
    goal : Goal
    spread : Spread or None
        Of a pilot; None takes the first of `trueness.stats.planning.ASSUMED_SDS` and says so.
    allocations : tuple of Allocation
        Ways to spend a budget, shown beside.
    notes : tuple of str
        What the pilot showed beside its spread.

    Raises
    ------
    InputError
        When a number that the goal needs is missing or lies outside its range.

    Examples
    --------
    >>> plan(Goal("equivalence", margin=0.05)).figures["items"]
    420
    """
    where, sd = planning.ASSUMED_SDS[0]
    used = spread or Spread(sd, where, assumed=True)
    figures, sentence, assumptions, more = _MAKERS[goal.name](goal, used)
    return Plan(goal, figures, sentence, assumptions, allocations, (*more, *notes))


_Made = tuple[dict[str, Json], str, tuple[str, ...], tuple[str, ...]]


def _difference(goal: Goal, spread: Spread) -> _Made:
    effect = EFFECT if goal.effect is None else goal.effect
    n = planning.difference_size(effect, sd=spread.sd, alpha=goal.alpha, power=goal.power)
    sentence = (
        f"{n:,} items show a mean change of {effect:g} with power {goal.power:g} "
        f"(two-sided at {goal.alpha:g}, sd {spread.sd:.3g})."
    )
    return (
        {"items": n, "effect": effect, "sd": spread.sd},
        sentence,
        _normal(spread),
        _others(spread),
    )


def _equivalence(goal: Goal, spread: Spread) -> _Made:
    margin = MARGIN if goal.margin is None else goal.margin
    n = planning.equivalence_size(margin, sd=spread.sd, alpha=goal.alpha, power=goal.power)
    few = FEW_ITEMS
    power = planning.equivalence_power(few, margin, sd=spread.sd, alpha=goal.alpha)
    reach = _margin_of(few, spread, goal)
    sentence = (
        f"{n:,} items show equivalence within ±{margin:g} with power {goal.power:g} when nothing "
        f"changed (one-sided at {goal.alpha:g} each, sd {spread.sd:.3g})."
    )
    figures: dict[str, Json] = {"items": n, "margin": margin, "sd": spread.sd}
    figures[f"power_of_{few}_items"] = power
    figures[f"margin_of_{few}_items"] = reach
    line = f"With the same power {few} items show equivalence within ±{reach:.3g}, not closer."
    assumptions = (*_normal(spread), "the true change is 0")
    return figures, sentence, assumptions, (line, *_others(spread))


def _margin_of(n: int, spread: Spread, goal: Goal) -> float:
    """The margin that so many items suffice for; their number goes with its inverse square."""
    unit = planning.equivalence_size(1e-3, sd=spread.sd, alpha=goal.alpha, power=goal.power)
    return 1e-3 * math.sqrt(unit / n)


def _mcnemar(goal: Goal, spread: Spread) -> _Made:
    del spread
    b = _needed(goal.regress, "--regress", "the share of items that get worse")
    c = _needed(goal.improve, "--improve", "the share of items that get better")
    n = mcnemar_size(b, p_improve=c, alpha=goal.alpha, power=goal.power)
    reached = mcnemar_power(n, b, p_improve=c, alpha=goal.alpha)
    sentence = (
        f"With {n:,} items McNemar's exact test shows the change with power {goal.power:g} if a "
        f"share of {b:g} gets worse and {c:g} better (two-sided at {goal.alpha:g})."
    )
    figures: dict[str, Json] = {"items": n, "regress": b, "improve": c, "power_reached": reached}
    return figures, sentence, ("items change independently at these rates",), ()


def _item(goal: Goal, spread: Spread) -> _Made:
    del spread
    k = draws_for_item(goal.alpha)
    floor = attainable_floor(k, k)
    sentence = (
        f"{k} draws in each arm are the fewest with which one item alone can reach p < "
        f"{goal.alpha:g}; the smallest possible p is then {float(floor):.3g}."
    )
    figures: dict[str, Json] = {"draws": k, "smallest_p": float(floor)}
    why = "One item among many needs a correction, so more draws than these."
    return figures, sentence, ("the permutation test of two clouds of equal size",), (why,)


def _auroc(goal: Goal, spread: Spread) -> _Made:
    del spread
    area = _needed(goal.auroc, "--auroc", "the AUROC to tell from one half")
    n = planning.auroc_test_size(area, alpha=goal.alpha, power=goal.power)
    sentence = (
        f"{n:,} items, half of them wrong, tell an AUROC of {area:g} from one half with power "
        f"{goal.power:g} (two-sided at {goal.alpha:g})."
    )
    figures: dict[str, Json] = {"items": n, "auroc": area}
    return figures, sentence, ("half of the items are wrong", "normal approximation"), ()


def _ceiling(goal: Goal, spread: Spread) -> _Made:
    del spread
    width = _needed(goal.width, "--width", "how far the ceiling may lie above the estimate")
    n = planning.ceiling_width_size(width, delta=goal.alpha)
    sentence = (
        f"{n:,} independent draws give a ceiling within {width:g} of the estimate, exceeded with "
        f"probability {goal.alpha:g} at most."
    )
    return {"draws": n, "width": width}, sentence, ("Hoeffding's inequality; no other",), ()


_MAKERS = {
    "difference": _difference,
    "equivalence": _equivalence,
    "mcnemar": _mcnemar,
    "item": _item,
    "auroc": _auroc,
    "ceiling": _ceiling,
}


def _normal(spread: Spread) -> tuple[str, ...]:
    kind = "assumed, from" if spread.assumed else "measured on"
    return (
        f"standard deviation of an item's change {spread.sd:.3g}: {kind} {spread.source}",
        "normal approximation; items independent",
    )


def _others(spread: Spread) -> tuple[str, ...]:
    if not spread.assumed:
        return ()
    known = "; ".join(f"{sd:g} ({where})" for where, sd in planning.ASSUMED_SDS)
    return (f"Standard deviations seen so far: {known}. A pilot of your own is better.",)


def _needed(value: float | None, flag: str, meaning: str) -> float:
    if value is None:
        msg = f"this goal needs {flag}: {meaning}. Give it as a number between 0 and 1."
        raise InputError(msg)
    return value


def _shown(value: Json) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _allocations(found: tuple[Allocation, ...]) -> Table:
    best = min(found, key=lambda a: a.variance)
    rows = tuple(
        (a.draws, a.items, round(a.se, 4), float(f"{float(a.item_floor):.3g}"), a is best)
        for a in found
    )
    columns = ("draws an item", "items", "standard error", "least p of one item", "best")
    note = "Variances of single items need at least twice the order in draws."
    return Table("Ways to spend the budget of one arm", columns, rows, len(rows), note)
