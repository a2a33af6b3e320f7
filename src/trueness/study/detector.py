"""A partition of entities against one pass as finders of wrong answers, at matched coverage."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import MissingExtraError
from trueness.contract.serial import Json
from trueness.contract.states import State
from trueness.stats.auroc import rank_wrong_above_right
from trueness.stats.multiplicity import holm
from trueness.study.asked import (
    Asked,
    collected,
    declared_conditions,
    declared_relations,
    found_of,
    lacking,
    not_applicable,
    opened,
)
from trueness.study.coverage import (
    COLLAPSE,
    DISPERSED,
    Rules,
    contest_of,
    open_to_contest,
    outcome_of,
)
from trueness.study.declarations import Declaration
from trueness.study.detecting import (
    ANSWER_SET,
    LABEL_FREE,
    PARTITION,
    Cell,
    Guard,
    cell_of,
    kept,
    kept_accuracy,
)
from trueness.study.embedded_inputs import levels
from trueness.study.found import Found
from trueness.study.one_pass_scores import BASELINES, Looked, look
from trueness.study.results import Record
from trueness.study.second_model import with_second_model
from trueness.study.spent import Spent
from trueness.study.task import Task

_SIDES = {
    "collapse": (COLLAPSE, LABEL_FREE),
    "dispersed": (DISPERSED, LABEL_FREE),
    "collapse_answer_set": (COLLAPSE, ANSWER_SET),
    "dispersed_answer_set": (DISPERSED, ANSWER_SET),
}
_CLASS = 5
"""Of right and of wrong answers, below which a ranking is no evidence."""
_TOLD = (
    "The guard s is told that right answers differ, and stands where their first tokens do. The "
    "guard s_star is told the list of right answers, without whose they are; one pass is not."
)
_FIXED = (
    "Partitions are held fixed while entities are resampled; part of what a partition finds is "
    "arithmetic: an orbit holds at most as many right answers as the relation allows."
)
_WHOLE = (
    "Where everything is withheld nothing is kept, by any score: such tables are counted and are "
    "in no contest."
)

Floats = NDArray[np.float64]


@with_second_model
def run(task: Task) -> Found:
    """Withhold as many answers by each score as a certificate names; what is left, and how right.

    Parameters
    ----------
    task : Task
        ``inputs``: ``model``.
        ``seed``: of requests and resamples.
        ``repeats``: at most so many entities of each relation.
    """
    task.only("model")
    try:
        return _run(task)
    except MissingExtraError as error:
        return not_applicable(task, str(error))


def _run(task: Task) -> Found:
    relations = declared_relations(task.declaration, task.repeats)
    with opened(task, list(relations.values())) as model:
        if (missing := lacking(task.declaration, model)) is not None:
            return not_applicable(task, missing)
        asked = collected(task, model, relations, beside=False)
        conditions = [
            c
            for c in declared_conditions(task.declaration)[0]
            if c.name in set(asked.table.conditions)
        ]
        (depth,) = levels(task.declaration, "depth", float)
        deep = _worth_a_look(asked, levels(task.declaration, "deep", str))
        looked = look(
            model,
            relations,
            conditions,
            deep=deep,
            depth=depth,
            say=task.say,
        )
    cells = cells_of(asked, looked)
    rows, contrasts = contest(task.declaration, asked, cells, seed=task.seed)
    found = found_of(
        task,
        asked,
        rows,
        contrasts,
        resamples=int(task.declaration.table("protocol")["resamples"]),
        n_below_floor=sum(_below(cell, g) for cell in cells for g in cell.guards.values()),
        prices_in_forwards=looked.prices(),
    )
    table = tuple(looked.beside(row, relations) for row in asked.rows())
    notes = (*found.notes, *_missing(cells), *looked.notes(), _TOLD, _FIXED, _WHOLE)
    return replace(
        found, notes=notes, table=table, spent=found.spent + Spent(forwards=looked.n_passes)
    )


def _worth_a_look(asked: Asked, conditions: Sequence[str]) -> frozenset[tuple[str, str]]:
    """Tables in which what is dear could tell: a contest is open, or there are two classes."""
    cells = [cell_of(asked, r, c, Looked()) for r in asked.relations for c in conditions]
    return frozenset(
        (c.relation, c.condition)
        for c in cells
        if any(open_to_contest(c, guard) for guard in c.guards.values())
        or _CLASS <= int(c.right.sum()) <= len(c) - _CLASS
    )


def _missing(cells: Sequence[Cell]) -> tuple[str, ...]:
    """Which rivals were not read, and which not everywhere."""
    held = [sum(name in cell.scores for cell in cells) for name in BASELINES]
    never = [name for name, n in zip(BASELINES, held, strict=True) if not n]
    some = [f"{name} {n}" for name, n in zip(BASELINES, held, strict=True) if 0 < n < len(cells)]
    said = (f"Not read of this model, and in no contest: {', '.join(never)}.",) if never else ()
    few = f"Of {len(cells)} tables so many have it: {', '.join(some)}."
    return (*said, few) if some else said


def cells_of(asked: Asked, looked: Looked) -> list[Cell]:
    """Every relation under every condition."""
    return [cell_of(asked, r, c, looked) for r in asked.relations for c in asked.table.conditions]


def contest(
    declaration: Declaration, asked: Asked, cells: Sequence[Cell], *, seed: int
) -> tuple[list[Record], dict[str, Record]]:
    """Rows and contrasts of tables that were asked."""
    (share,) = levels(declaration, "collapse_share", float)
    said = declaration.table("protocol")
    rules = Rules(share, seed, int(said["resamples"]), float(said["level"]))
    rng = np.random.default_rng([seed, 0])
    rows = [_row(cell, asked.classes[cell.condition], rules, rng) for cell in cells]
    contrasts: dict[str, Record] = {
        c.name: contest_of(cells, *_SIDES[c.name], rules) for c in declaration.contrasts
    }
    return [*rows, *_by_score(rows, 1 - rules.level)], contrasts


def _below(cell: Cell, guard: Guard) -> bool:
    """Fewer of the withheld answers are wrong than was proved: a bug, or a false declaration."""
    return int((1 - cell.right)[guard.withheld].sum()) < guard.guaranteed


def _row(cell: Cell, kind: str, rules: Rules, rng: np.random.Generator) -> dict[str, Json]:
    n = len(cell)
    return {
        "name": re.sub(r"\W+", "_", f"{cell.relation}_{cell.condition}"),
        "relation": cell.relation,
        "condition": cell.condition,
        "class": kind,
        "side": rules.side(cell),
        "n": n,
        "n_wrong": int((cell.right == 0).sum()),
        "largest_orbit": cell.largest,
        "auroc": {name: _auroc(cell, values, rng) for name, values in cell.scores.items()},
        "guards": {name: _guarded(cell, guard) for name, guard in cell.guards.items()},
        "forwards": {
            "one_pass": n,
            "guard": n,
            "collision": n,
            "collision_mean": n * cell.n_wordings,
            "invariance": n * cell.n_wordings,
        },
    }


def _auroc(cell: Cell, values: Floats, rng: np.random.Generator) -> Json:
    """Wrong above right within one relation; never pooled over relations."""
    top = values[np.isfinite(values)].max(initial=0.0) + 1.0
    finite = np.where(np.isfinite(values), values, top)
    wrong = cell.right == 0
    found = rank_wrong_above_right(finite[wrong], finite[~wrong], rng=rng, min_class=_CLASS)
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
    if not open_to_contest(cell, guard):
        why = "nothing is withheld" if not size else "everything is withheld: nothing is kept"
        return {**said, "state": State.NOT_APPLICABLE.value, "reason": why}
    left = kept_accuracy(cell, np.where(guard.withheld, 0.0, 1.0))
    by = {name: kept_accuracy(cell, kept(v, size)) for name, v in cell.scores.items()}
    return {
        **said,
        "state": State.MEASURED.value,
        "kept_accuracy": {"guard": left, **by},
        "without_withholding": float(cell.right.mean()),
        "against": {name: outcome_of(left - by[name]) for name in BASELINES if name in by},
    }


def _by_score(rows: Sequence[Record], alpha: float) -> Iterator[Record]:
    """Each score over the tables: how often it ranks wrong answers above right ones."""
    for name in (*PARTITION, *BASELINES):
        every = [row["auroc"].get(name) for row in rows if isinstance(row["auroc"], dict)]
        seen = [e for e in every if isinstance(e, dict) and e["state"] == State.MEASURED.value]
        if not seen:
            continue
        values = np.array([float(str(e["auroc"])) for e in seen])
        p = np.array(holm([float(str(e["p"])) for e in seen]), np.float64)
        yield {
            "name": f"score_{name}",
            "score": name,
            "n": len(seen),
            "n_no_evidence": len(every) - len(seen),
            "median_auroc": float(np.median(values)),
            "lowest": float(values.min()),
            "highest": float(values.max()),
            "n_above_half": int(((p <= alpha) & (values > 0.5)).sum()),  # noqa: PLR2004 - chance
            "n_below_half": int(((p <= alpha) & (values < 0.5)).sum()),  # noqa: PLR2004 - chance
        }
