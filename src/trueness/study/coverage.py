"""The contest at matched coverage: what a guard leaves against what each rival leaves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.contract.serial import Json
from trueness.contract.states import State
from trueness.stats.multiplicity import holm
from trueness.stats.weighted_shares import TwoArms, drawn_units, resampled_differences
from trueness.study.assessed import two_sided
from trueness.study.detecting import Cell, Guard, kept, kept_accuracy
from trueness.study.one_pass_scores import BASELINES

Floats: TypeAlias = NDArray[np.float64]

ROUNDING = 1e-12
"""Differences of accuracies no farther than this from 0 are ties."""
COLLAPSE, DISPERSED = "collapse", "dispersed"
_NONE = (
    "estimate", "low", "high", "p", "wins", "losses", "ties", "best_rival", "n_not_beaten",
    "n_ahead",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rules:
    """How tables are told apart and entities resampled.

    Parameters
    ----------
    share : float
        Of the entities in one orbit, from which on a table counts as collapsed.
    seed, resamples : int
    level : float
        Of each interval. A rival counts as beaten at what is left of 1, after Holm; as ahead at
        half of it, since being ahead on either side refutes.
    """

    share: float
    seed: int
    resamples: int
    level: float

    def side(self, cell: Cell) -> str:
        """Whether one answer was given to so large a share of the entities."""
        return COLLAPSE if len(cell) and cell.largest >= self.share * len(cell) else DISPERSED


def open_to_contest(cell: Cell, guard: Guard) -> bool:
    """Whether something is withheld and something kept: else every score leaves the same."""
    return 0 < int(guard.withheld.sum()) < len(cell)


def outcome_of(difference: float) -> str:
    """Win, loss or tie of the guard.

    >>> outcome_of(0.1), outcome_of(0.0)
    ('win', 'tie')
    """
    if abs(difference) <= ROUNDING:
        return "tie"
    return "win" if difference > 0 else "loss"


def contest_of(cells: Sequence[Cell], side: str, guard: str, rules: Rules) -> dict[str, Json]:
    """Kept accuracy of a guard less that of every rival, over the tables of one side.

    Means over tables; entities are resampled within their relation, in all its tables at once.
    Each rival is compared on the tables where it was read.

    Parameters
    ----------
    cells : sequence of Cell
    side : {"collapse", "dispersed"}
    guard : {"s", "s_star"}
    rules : Rules

    Returns
    -------
    dict
        ``against``: a record a rival, Holm's p over them. ``estimate``, ``low``, ``high``: those
        of the best rival, which is the one that the guard leads least. ``p``: the largest, so that
        a small one speaks of all. ``n_not_beaten``, ``n_ahead``: rivals that the guard does not
        lead, and that lead it, after Holm. All None without a table in which there is a contest.
    """
    here = [c for c in cells if rules.side(c) == side and guard in c.guards]
    used = [c for c in here if open_to_contest(c, c.guards[guard])]
    said: dict[str, Json] = {
        "n": len(used),
        "n_nothing_withheld": sum(not c.guards[guard].withheld.any() for c in here),
        "n_all_withheld": sum(bool(c.guards[guard].withheld.all()) for c in here),
    }
    against = _against(used, guard, rules)
    if not against:
        return {**said, **dict.fromkeys(_NONE), "against": [], "state": State.NO_EVIDENCE.value}
    best = min(against, key=lambda each: float(str(each["estimate"])))
    p = np.array([float(str(each["p_holm"])) for each in against])
    ahead = np.array([float(str(each["estimate"])) for each in against])
    alpha = 1 - rules.level
    return {
        **said,
        "state": State.MEASURED.value,
        **{name: best[name] for name in ("estimate", "low", "high", "wins", "losses", "ties")},
        "best_rival": best["name"],
        "kept_accuracy": best["kept_accuracy"],
        "kept_accuracy_of_rival": best["kept_accuracy_of_rival"],
        "kind": f"percentile interval at {rules.level:g} over entities within their relation",
        "p": max(float(str(each["p"])) for each in against),
        "n_units": len({(c.relation, e) for c in used for e in c.entities.tolist()}),
        "n_rivals": len(against),
        "n_not_beaten": int((~((p <= alpha) & (ahead > 0))).sum()),
        "n_ahead": int(((p <= alpha / 2) & (ahead < 0)).sum()),
        "against": list[Json](against),
    }


def _against(cells: Sequence[Cell], guard: str, rules: Rules) -> list[dict[str, Json]]:
    rng = np.random.default_rng([rules.seed, 1])
    units = [(c.relation, c.entities) for c in cells]
    drawn = drawn_units(units, rng, rules.resamples)
    found = []
    for name in BASELINES:
        used = [c for c in cells if name in c.scores]
        if used:
            found.append(_one(used, guard, name, drawn, rules))
    corrected = holm([float(str(each["p"])) for each in found])
    return [{**each, "p_holm": float(p)} for each, p in zip(found, corrected, strict=True)]


def _one(
    cells: Sequence[Cell], guard: str, rival: str, drawn: dict[str, Floats], rules: Rules
) -> dict[str, Json]:
    arms = [_arms(c, c.guards[guard], rival) for c in cells]
    pairs = [
        (kept_accuracy(c, each.first), kept_accuracy(c, each.second))
        for c, each in zip(cells, arms, strict=True)
    ]
    ours, theirs = np.array(pairs).T
    seen = [outcome_of(d) for d in (ours - theirs).tolist()]
    means = resampled_differences(arms, drawn)
    tail = (1 - rules.level) / 2
    low, high = np.quantile(means, [tail, 1 - tail]).tolist() if len(means) else (None, None)
    return {
        "name": rival,
        "n": len(cells),
        "estimate": float((ours - theirs).mean()),
        "low": low,
        "high": high,
        # accuracies that differ by rounding alone are tied
        "p": two_sided(np.where(np.abs(means) <= ROUNDING, 0.0, means), 0.0),
        "kept_accuracy": float(ours.mean()),
        "kept_accuracy_of_rival": float(theirs.mean()),
        "wins": seen.count("win"),
        "losses": seen.count("loss"),
        "ties": seen.count("tie"),
    }


def _arms(cell: Cell, guard: Guard, rival: str) -> TwoArms:
    """What the guard keeps, and the probability that the rival keeps it."""
    ours = np.where(guard.withheld, 0.0, 1.0)
    theirs = kept(cell.scores[rival], int(guard.withheld.sum()))
    return TwoArms(cell.relation, cell.entities, cell.right, ours, theirs)
