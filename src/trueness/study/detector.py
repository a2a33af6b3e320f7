"""A partition of entities against one pass as finders of wrong answers, at matched coverage."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trueness.contract.serial import Json
from trueness.contract.states import State
from trueness.stats.auroc import rank_wrong_above_right
from trueness.study.asked import Asked, ask_declared, found_of
from trueness.study.declarations import Declaration
from trueness.study.detecting import (
    ANSWER_SET,
    LABEL_FREE,
    MAX_P,
    Cell,
    Guard,
    cell_of,
    kept,
    kept_accuracy,
)
from trueness.study.embedded_inputs import levels
from trueness.study.found import Found
from trueness.study.results import Record
from trueness.study.task import Task

ROUNDING = 1e-12
"""Differences of accuracies no farther than this from 0 are ties."""
COLLAPSE, DISPERSED = "collapse", "dispersed"
_SIDES = {
    "collapse": (COLLAPSE, ANSWER_SET),
    "dispersed": (DISPERSED, ANSWER_SET),
    "collapse_label_free": (COLLAPSE, LABEL_FREE),
    "dispersed_label_free": (DISPERSED, LABEL_FREE),
}
_RIVALS = (
    "Of one-pass scores only the probability of the answered token is here; entropies, distances "
    "of hidden states, Jacobians and couplings need a white box and are in no contrast."
)
_TOLD = (
    "The guard s_star is told the list of right answers, without whose they are; one pass is not. "
    "The guard s is told only that right answers differ, and stands where their first tokens do."
)
_FIXED = (
    "Partitions are held fixed while entities are resampled; part of what a partition finds is "
    "arithmetic: an orbit holds at most as many right answers as the relation allows."
)

Floats = NDArray[np.float64]


def run(task: Task) -> Found:
    """Withhold as many answers by each score as a certificate names; what is left, and how right.

    Parameters
    ----------
    task : Task
        ``inputs``: ``model``.
        ``seed``: of requests and resamples.
        ``repeats``: at most so many entities of each relation.
    """
    asked = ask_declared(task)
    if isinstance(asked, Found):
        return asked
    cells = cells_of(asked)
    rows, contrasts = contest(task.declaration, asked, cells, seed=task.seed)
    found = found_of(
        task,
        asked,
        rows,
        contrasts,
        resamples=int(task.declaration.table("protocol")["resamples"]),
        n_below_floor=sum(_below(cell, g) for cell in cells for g in cell.guards.values()),
    )
    notes = (*found.notes, _RIVALS, _TOLD, _FIXED)
    return replace(found, notes=notes, table=_table(asked))


def cells_of(asked: Asked) -> list[Cell]:
    """Every relation under every condition."""
    return [cell_of(asked, r, c) for r in asked.relations for c in asked.table.conditions]


def contest(
    declaration: Declaration, asked: Asked, cells: Sequence[Cell], *, seed: int
) -> tuple[list[Record], dict[str, Record]]:
    """Rows and contrasts of tables that were asked."""
    (share,) = levels(declaration, "collapse_share", float)
    resamples = int(declaration.table("protocol")["resamples"])
    level = float(declaration.table("protocol")["level"])
    rng = np.random.default_rng([seed, 0])
    rows = [_row(cell, asked.classes[cell.condition], share, rng) for cell in cells]
    contrasts: dict[str, Record] = {
        c.name: _contrast(cells, _SIDES[c.name], share, _Rules(seed, resamples, level))
        for c in declaration.contrasts
    }
    return rows, contrasts


def _table(asked: Asked) -> tuple[Record, ...]:
    """The rows, each with the log-probability that one pass is judged by."""
    values = asked.table.logprob
    rows = asked.rows()
    if values is None:
        return rows
    known = [None if np.isnan(v) else float(v) for v in values]
    return tuple({**row, "logprob": v} for row, v in zip(rows, known, strict=True))


@dataclass(frozen=True, slots=True)
class _Rules:
    seed: int
    resamples: int
    level: float


def _side(cell: Cell, share: float) -> str:
    """Whether one answer was given to so large a share of the entities."""
    return COLLAPSE if len(cell) and cell.largest >= share * len(cell) else DISPERSED


def _below(cell: Cell, guard: Guard) -> bool:
    """Fewer of the withheld answers are wrong than was proved: a bug, or a false declaration."""
    return int((1 - cell.right)[guard.withheld].sum()) < guard.guaranteed


def _row(cell: Cell, kind: str, share: float, rng: np.random.Generator) -> Record:
    return {
        "name": re.sub(r"\W+", "_", f"{cell.relation}_{cell.condition}"),
        "relation": cell.relation,
        "condition": cell.condition,
        "class": kind,
        "side": _side(cell, share),
        "n": len(cell),
        "n_wrong": int((cell.right == 0).sum()),
        "largest_orbit": cell.largest,
        "auroc": {name: _auroc(cell, values, rng) for name, values in cell.scores.items()},
        "guards": {name: _guarded(cell, guard) for name, guard in cell.guards.items()},
        "forwards": {
            MAX_P: len(cell),
            "guard": len(cell),
            "collision": len(cell),
            "collision_mean": len(cell) * cell.n_wordings,
            "invariance": len(cell) * cell.n_wordings,
        },
    }


def _auroc(cell: Cell, values: Floats, rng: np.random.Generator) -> Json:
    """Wrong above right within one relation; never pooled over relations."""
    top = values[np.isfinite(values)].max(initial=0.0) + 1.0
    finite = np.where(np.isfinite(values), values, top)
    wrong = cell.right == 0
    found = rank_wrong_above_right(finite[wrong], finite[~wrong], rng=rng)
    return {
        "state": found.state.value,
        "n_wrong": found.n_wrong,
        "n_right": found.n_right,
        "auroc": None if found.auroc is None else float(found.auroc),
        "p": None if found.p_two_sided is None else float(found.p_two_sided),
        "low": found.low,
        "high": found.high,
    }


def _guarded(cell: Cell, guard: Guard) -> Json:
    """What the guard withholds, and the accuracy of what each score leaves at the same size."""
    size = int(guard.withheld.sum())
    said: dict[str, Json] = {
        "n_withheld": size,
        "guaranteed": guard.guaranteed,
        "wrong": int((1 - cell.right)[guard.withheld].sum()),
    }
    if not 0 < size < len(cell):
        why = "nothing is withheld" if not size else "everything is withheld"
        return {**said, "state": State.NOT_APPLICABLE.value, "reason": why}
    left = kept_accuracy(cell, _arms(cell, guard)[0])
    by = {name: kept_accuracy(cell, kept(v, size)) for name, v in cell.scores.items()}
    ahead = left - by[MAX_P]
    outcome = "tie" if abs(ahead) <= ROUNDING else "win" if ahead > 0 else "loss"
    return {
        **said,
        "state": State.MEASURED.value,
        "kept_accuracy": {"guard": left, **by},
        "without_withholding": float(cell.right.mean()),
        "against_one_pass": outcome,
    }


def _contrast(
    cells: Sequence[Cell], side: tuple[str, str], share: float, rules: _Rules
) -> dict[str, Json]:
    """Kept accuracy of the guard less that of one pass: mean over cells, entities resampled."""
    wanted, name = side
    here = [c for c in cells if _side(c, share) == wanted and name in c.guards]
    used = [c for c in here if 0 < c.guards[name].withheld.sum() < len(c)]
    said: dict[str, Json] = {
        "n": len(used),
        "n_nothing_withheld": sum(not c.guards[name].withheld.any() for c in here),
        "n_all_withheld": sum(bool(c.guards[name].withheld.all()) for c in here),
    }
    if not used:
        none = ("estimate", "low", "high", "wins", "losses", "ties")
        return {**said, **dict.fromkeys(none), "state": State.NO_EVIDENCE.value}
    by_cell = np.array([_difference(c, c.guards[name]) for c in used])
    drawn = _resampled(used, name, rules)
    tail = (1 - rules.level) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail]).tolist()
    return {
        **said,
        "state": State.MEASURED.value,
        "estimate": float(by_cell.mean()),
        "low": low,
        "high": high,
        "kind": f"percentile interval at {rules.level:g} over entities within their relation",
        "n_units": len({(c.relation, e) for c in used for e in c.entities.tolist()}),
        "wins": int((by_cell > ROUNDING).sum()),
        "losses": int((by_cell < -ROUNDING).sum()),
        "ties": int((np.abs(by_cell) <= ROUNDING).sum()),
    }


def _arms(cell: Cell, guard: Guard) -> tuple[Floats, Floats]:
    """(n,) twice: what the guard keeps, and the probability that one pass keeps it."""
    ours = np.where(guard.withheld, 0.0, 1.0)
    return ours, kept(cell.scores[MAX_P], int(guard.withheld.sum()))


def _difference(cell: Cell, guard: Guard) -> float:
    ours, theirs = _arms(cell, guard)
    return kept_accuracy(cell, ours) - kept_accuracy(cell, theirs)


def _resampled(cells: Sequence[Cell], name: str, rules: _Rules) -> Floats:
    """Mean difference over cells; entities of a relation are drawn once for all its conditions.

    A cell of which nothing that is kept was drawn is left out of that resample.
    """
    rng = np.random.default_rng([rules.seed, 1])
    weights: dict[str, Floats] = {}
    found = []
    for cell in cells:
        size = int(max(c.entities.max() for c in cells if c.relation == cell.relation)) + 1
        if cell.relation not in weights:
            law = np.full(size, 1 / size)
            weights[cell.relation] = rng.multinomial(size, law, rules.resamples).astype(np.float64)
        w = weights[cell.relation][:, cell.entities]
        arms = []
        for arm in _arms(cell, cell.guards[name]):
            mass = w @ arm
            right = w @ (arm * cell.right)
            arms.append(np.divide(right, mass, out=np.full(len(w), np.nan), where=mass > 0))
        found.append(arms[0] - arms[1])
    table = np.array(found)
    there = ~np.isnan(table)
    n = there.sum(axis=0)
    mean: Floats = np.where(there, table, 0.0).sum(axis=0)[n > 0] / n[n > 0]
    return mean
