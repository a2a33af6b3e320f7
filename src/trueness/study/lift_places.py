"""Where lift ranks were taken, what they came to, and how far walks went."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.contract.states import State
from trueness.stats.fibres import clopper_pearson
from trueness.stats.lift_rank import LiftRank
from trueness.study.fibre_charts import Walked
from trueness.study.results import Record

TARGETS = ("p_gold", "answer_mass", "answer_collision")
CONTROL = "law_collision"
"""A function of one of the observer's numbers: no lift, by construction."""


@dataclass(frozen=True, slots=True)
class Place:
    """One item at one site with one target.

    Parameters
    ----------
    item, site : int
        The site is the entry of the residual stream.
    target : str
    found : LiftRank
    seen : bool
        The target is a function of the observer's numbers there.
    walk : Walked or None
        At the last site, where the target is lifted.
    """

    item: int
    site: int
    target: str
    found: LiftRank
    seen: bool
    walk: Walked | None = None

    @property
    def lifted(self) -> bool:
        """Whether the target moves where the observer does not."""
        return bool(self.found.lift_rank)


@dataclass(frozen=True, slots=True)
class Rules:
    """What was declared: sites as shares of the depth, and what a walk has to do."""

    depths: tuple[float, ...]
    goal: float
    still: float

    def sites(self, n_blocks: int) -> tuple[int, ...]:
        """Entries of the residual stream.

        Raises
        ------
        InputError
            When a share is none.
        """
        if not all(0 <= d <= 1 for d in self.depths):
            msg = f"depths are {self.depths}; wanted shares from 0 to 1. Correct the declaration."
            raise InputError(msg)
        return tuple(round(d * n_blocks) for d in self.depths)


def contrasts_of(places: Sequence[Place], rules: Rules) -> dict[str, Record]:
    """How often a target is lifted, how far walks move it, and whether the control is still."""
    counted = [p for p in places if p.target != CONTROL and not p.seen]
    measured = [p for p in counted if p.found.state is State.MEASURED]
    lifted = [p for p in measured if p.lifted]
    control = [p for p in places if p.target == CONTROL and p.found.state is State.MEASURED]
    walks = [p for p in lifted if p.walk is not None]
    far = [p for p in walks if _moved(p.walk, rules)]
    units, shown = {p.item for p in measured}, {p.item for p in lifted}
    low, high = clopper_pearson(len(shown), len(units)) if units else (None, None)
    changes = [abs(p.walk.moved) for p in far if p.walk is not None]
    return {
        "lifted": {
            "n": len(measured),
            "n_lifted": len(lifted),
            "n_open": len(counted) - len(measured),
            "n_unstable": sum(p.found.state is State.UNSTABLE for p in counted),
            "n_seen": sum(p.seen for p in places),
            "estimate": len(lifted) / len(measured) if measured else None,
            "n_prompts": len(units),
            "n_prompts_lifted": len(shown),
            "prompts_low": low,
            "prompts_high": high,
            "kind": "share of places; ends, of prompts with a lifted target: Clopper-Pearson",
        },
        "walk": {
            "n": len(walks),
            "n_moved": len(far),
            "n_prompts_moved": len({p.item for p in far}),
            "estimate": max(changes, default=None),
            "median": float(np.median(changes)) if changes else None,
            "largest_off": max((p.walk.off for p in far if p.walk is not None), default=None),
            "kind": "largest change of a target among the walks that count",
        },
        "control": {
            "n": len(control),
            "n_lifted": sum(p.lifted for p in control),
            "estimate": sum(p.lifted for p in control) / len(control) if control else None,
        },
    }


def _moved(walk: Walked | None, rules: Rules) -> bool:
    return (
        walk is not None
        and abs(walk.moved) >= rules.goal
        and walk.off <= rules.still
        and walk.same_greedy
    )


def rows_of(places: Sequence[Place], rules: Rules) -> Iterator[Record]:
    """One row a site and target: counts, the spectrum in the middle, and walks."""
    for site in dict.fromkeys(p.site for p in places):
        for target in dict.fromkeys(p.target for p in places):
            here = [p for p in places if (p.site, p.target) == (site, target)]
            measured = [p for p in here if p.found.state is State.MEASURED and not p.seen]
            lifted = sum(p.lifted for p in measured)
            ends = clopper_pearson(lifted, len(measured)) if measured else (None, None)
            walks = [p for p in here if p.walk is not None]
            far = [p for p in walks if _moved(p.walk, rules)]
            yield {
                "name": f"{target}_{site}",
                "site": site,
                "target": target,
                "n": len(measured),
                "n_missing": len(here) - len(measured),
                "n_lifted": lifted,
                "n_seen": sum(p.seen for p in here),
                "n_unstable": sum(p.found.state is State.UNSTABLE for p in here),
                "n_degenerate": sum(p.found.state is State.DEGENERATE for p in here),
                "share": lifted / len(measured) if measured else None,
                "low": ends[0],
                "high": ends[1],
                "kind": "Clopper-Pearson over prompts",
                "median_spectrum": _spectra(here),
                "n_walks": len(walks),
                "n_moved": len(far),
                "median_change": _middle([abs(p.walk.moved) for p in walks if p.walk]),
                "median_variation": _middle([p.walk.variation for p in walks if p.walk]),
            }


def _spectra(places: Sequence[Place]) -> dict[str, Json]:
    """Medians of the singular values of every matrix, rows scaled."""
    held: dict[str, list[tuple[float, ...]]] = {}
    for p in places:
        for one in p.found.spectra:
            if one.scaled:
                held.setdefault(one.matrix, []).append(one.values)
    found: dict[str, Json] = {}
    for name, values in held.items():
        longest = max(map(len, values))
        full = [v for v in values if len(v) == longest]
        found[name] = [float(x) for x in np.median(np.array(full), axis=0)]
    return found


def _middle(values: Sequence[float]) -> float | None:
    return float(np.median(values)) if values else None
