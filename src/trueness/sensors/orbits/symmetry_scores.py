"""Exploratory scores of entities asked in several columns, and whether they rank wrong first."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trueness.contract import State
from trueness.contract.blocks import Block, Cell, Table
from trueness.contract.serial import Json
from trueness.sensors.orbits.recovery import grid
from trueness.sensors.orbits.slots import Slots
from trueness.sensors.orbits.tally import right_slots
from trueness.stats.multiplicity import holm
from trueness.stats.symmetry import SymmetryScores, symmetry_scores
from trueness.table import AnswerTable

if TYPE_CHECKING:
    from trueness.stats.auroc import Ranking

MAX_ENTITIES = 100_000
MAX_SLOTS = 2_000_000
GRADED = 0
"""The column whose answers are graded: always the first, never picked after looking."""
SEED = 0
"""Of the permutations, where choices are too many to enumerate."""
_PERMUTED_LABELS = 20_000_000
_NOTE = (
    "Exploratory. Entities share a partition, so scores are dependent, and part of the "
    "association is arithmetic: an orbit of several entities holds at most one right answer where "
    "right answers differ. Low invariance and high collision were fixed beforehand to mean wrong."
)


@dataclass(frozen=True, slots=True)
class Symmetry:
    """Scores by entity, and how each ranks the wrong answers of the graded column."""

    scores: SymmetryScores
    rankings: tuple[tuple[str, "Ranking"], ...] = ()
    adjusted: tuple[float | None, ...] = ()
    graded_column: str = ""

    def of_entity(self, entity: int) -> dict[str, Json]:
        """What an item's reading adds; None where nothing can be compared."""
        return {
            "invariance": _number(self.scores.invariance[entity]),
            "collision": _number(self.scores.collision[entity]),
        }

    def blocks(self) -> tuple[Block, ...]:
        """One table, labelled as exploratory."""
        rows: list[tuple[Cell, ...]] = [
            (name, "mean over entities", mean, None, None, None, None)
            for name, mean in _means(self.scores).items()
        ]
        for (name, found), p in zip(self.rankings, self.adjusted, strict=True):
            what = f"AUROC, {found.n_wrong} wrong above {found.n_right} right"
            if found.state is not State.MEASURED:
                what = f"{what}, descriptive"
            rows.append(
                (name, what, _real(found.auroc), found.low, found.high, _real(found.p_two_sided), p)
            )
        head = ("score", "what", "value", "low", "high", "p, two-sided", "p, Holm")
        title = "Symmetry scores (exploratory)"
        return (Table(title, head, tuple(rows), n_rows=len(rows), note=_NOTE),)


def symmetry_of(table: AnswerTable, slots: Slots) -> Symmetry | None:
    """Invariance and collision of every entity; None with one column, or beyond the limits."""
    n, width = len(slots.entities), len(slots.columns)
    if width == 1 or n > MAX_ENTITIES or n * width > MAX_SLOTS or not slots.answered.any():
        return None
    scores = symmetry_scores(grid(slots), scored=GRADED)
    right = right_slots(slots, table)
    if right is None:
        return Symmetry(scores)
    graded = slots.answered & (slots.column == GRADED)
    entity, wrong = slots.entity[graded], ~right[graded]
    rankings = (
        ("low invariance", _ranking(-scores.invariance[entity], wrong)),
        ("high collision", _ranking(scores.collision[entity], wrong)),
    )
    adjusted = _holm([found.p_two_sided for _, found in rankings])
    return Symmetry(scores, rankings, adjusted, slots.columns[GRADED])


def symmetry_details(found: Symmetry | None) -> dict[str, Json]:
    """Named figures, present in every state; None where not defined."""
    means = dict.fromkeys(_SCORES) if found is None else _means(found.scores)
    out: dict[str, Json] = {f"mean_{name}": mean for name, mean in means.items()}
    out["symmetry_graded_column"] = None
    out["symmetry_ranking"] = None
    if found is not None and found.rankings:
        out["symmetry_graded_column"] = found.graded_column
        out["symmetry_ranking"] = {
            name.replace(" ", "_"): _plain(ranking, p)
            for (name, ranking), p in zip(found.rankings, found.adjusted, strict=True)
        }
    return out


def _plain(found: "Ranking", adjusted: float | None) -> dict[str, Json]:
    return {
        "state": found.state.value,
        "reason": found.reason,
        "n_wrong": found.n_wrong,
        "n_right": found.n_right,
        "auroc": _real(found.auroc),
        "low": found.low,
        "high": found.high,
        "p_greater": _real(found.p_greater),
        "p_two_sided": _real(found.p_two_sided),
        "p_holm": adjusted,
        "p_is_exact": found.p_is_exact,
        "seed": SEED if found.p_is_exact is False else None,
    }


def _ranking(scores: NDArray[np.float64], wrong: NDArray[np.bool_]) -> "Ranking":
    """Entities without a score are left out."""
    there = ~np.isnan(scores)
    scores, wrong = scores[there], wrong[there]
    n_permutations = min(10_000, max(199, _PERMUTED_LABELS // max(1, len(scores))))
    from trueness.stats.auroc import rank_wrong_above_right  # noqa: PLC0415 - slow to load, seldom needed

    return rank_wrong_above_right(
        scores[wrong],
        scores[~wrong],
        rng=np.random.default_rng(SEED),
        n_permutations=n_permutations,
    )


def _holm(p_values: list[Fraction | None]) -> tuple[float | None, ...]:
    adjusted = iter(holm([p for p in p_values if p is not None]))
    return tuple(None if p is None else float(next(adjusted)) for p in p_values)


_SCORES = ("invariance", "collision", "collision_scored", "combined")


def _means(scores: SymmetryScores) -> dict[str, float | None]:
    out = {}
    for name in _SCORES:
        values = getattr(scores, name)
        seen = values[~np.isnan(values)]
        out[name] = math.fsum(seen.tolist()) / len(seen) if len(seen) else None  # any order
    return out


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _real(value: Fraction | None) -> float | None:
    return None if value is None else float(value)
