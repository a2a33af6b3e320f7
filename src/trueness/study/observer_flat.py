"""Can answers move while the observer of one pass stands still? Cells by class, audited."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueness.contract.serial import Json
from trueness.stats.cloud_pairs import MOVEMENTS, NOT_COMPARED
from trueness.stats.fibres import Share, error_floor, fibre_codes, fibre_counts
from trueness.stats.permutation import attainable_floor
from trueness.study.asked import not_applicable
from trueness.study.declarations import Declaration
from trueness.study.embedded_inputs import levels
from trueness.study.found import Found
from trueness.study.inside_inputs import Items, opened
from trueness.study.observer_audit import (
    ALPHA,
    Cell,
    Counts,
    Floats,
    Tests,
    cell_of,
    contrasts_of,
    largest_pair,
    most_of,
    tests_of,
)
from trueness.study.observer_cells import (
    CLASSES,
    OTHER,
    Answers,
    Asking,
    Changeable,
    Strengths,
    answered,
    changes,
    provenance,
)
from trueness.study.published import published_of
from trueness.study.relations import relation_record
from trueness.study.results import Record
from trueness.study.second_model import with_second_model
from trueness.study.spent import Spent
from trueness.study.task import Task

_NOT_SHOWN = (
    "It does not show how often a model comes to stand where its observer is blind: permuted and "
    "kernel cells are built to be there. A share is given of random changes alone."
)
_KERNEL = (
    "A kernel cell stands still to 1e-9 in double precision. The model computes in single "
    "precision, where its six numbers differ in the last digits: it is not flat to the byte."
)
_RECORDED = (
    "Half of the largest total variation within a fibre bounds the error of any estimator that "
    "reads the observer alone: for recorded clouds on these draws, for next-token laws exactly."
)
_SHARED = "Two random changes of one prompt share it, so the interval counts them as more than one."
_SEEDS = "Draws with shared seeds are coupled: movement there is by draw, and has no permutation p."
NOTES = (_NOT_SHOWN, _KERNEL, _RECORDED, _SHARED, _SEEDS)


@dataclass(frozen=True, slots=True)
class Rules:
    """What was declared."""

    strengths: Strengths
    asking: Asking
    counts: Counts

    @classmethod
    def of(cls, declaration: Declaration, seed: int) -> "Rules":
        """From the declaration."""
        still, moves = levels(declaration, "counts", float)
        draws = declaration.table("draws")
        return cls(
            Strengths(
                random=levels(declaration, "random", float),
                inert=levels(declaration, "inert", float),
                unreached=levels(declaration, "unreached", float),
                permuted=levels(declaration, "permuted", int),
                kernel=levels(declaration, "kernel", float),
            ),
            Asking(
                k=int(draws["k"]),
                temperature=float(draws["temperature"]),
                max_tokens=int(declaration.table("protocol")["max_tokens"]),
                seed=seed,
            ),
            Counts(still, moves, int(draws["k"])),
        )


@with_second_model
def run(task: Task) -> Found:
    """Cells of every prompt, their classes, and what moved.

    Parameters
    ----------
    task : Task
        ``inputs``: ``model``.
        ``seed``: of draws and random changes.
        ``repeats``: at most so many entities.
    """
    task.only("model")
    inputs = task.declaration.table("inputs")
    name, templates = str(inputs["relations"][0]), [int(t) for t in inputs["templates"]]
    rules = Rules.of(task.declaration, task.seed)
    with opened(task) as model:
        if isinstance(model, str):
            return not_applicable(task, model)
        white: Any = model
        items = Items.of(name, white.tokenizer, most=task.repeats, templates=templates)
        cells = look(white, items, rules, progress=task.progress)
        identity = dict(model.identity)
    entities = [items.relation.entities[int(e)] for e in items.entity]
    tests = tests_of(cells, seed=task.seed)
    rows = (*_class_rows(cells, tests, rules.counts), *_fibre_rows(cells, tests, entities))
    n = 2 * len(items.prompts) + sum(c.record["delta"] is not None for c in cells)
    return Found(
        rows=rows,
        contrasts=contrasts_of(cells, tests, rules.counts),
        draws={
            "repeats": task.repeats,
            "k": rules.asking.k,
            "n_items": len(items.prompts),
            "least_p": float(attainable_floor(rules.asking.k, rules.asking.k)),
        },
        published=published_of(task.declaration, {"rows": list(rows)}),
        spent=Spent(forwards=n, requests=2 * rules.asking.k * n),
        data=(relation_record(name, items.relation),),
        model=identity,
        notes=(*NOTES, *(f"{n} items left out: {why}." for why, n in items.dropped.items())),
        table=tuple(_table(cells, tests, entities)),
    )


def look(
    model: Changeable,
    items: Items,
    rules: Rules,
    *,
    progress: Callable[[str], None] | None = None,
) -> list[Cell]:
    """Baselines, twice, and every change of every prompt.

    Parameters
    ----------
    model : Changeable
    items : Items
    rules : Rules
    progress : callable, optional
    """
    readout = model.exact_readout()
    found: list[Cell] = []
    for i, prompt in enumerate(items.prompts):
        if progress is not None:
            progress(f"prompt {i + 1} of {len(items.prompts)}")
        base = answered(model, prompt, None, rules.asking, item=i, arm=1)
        again = answered(model, prompt, None, rules.asking, item=i, arm=1)
        stable = _same(base, again)
        rng = np.random.default_rng([rules.asking.seed, i])
        made = changes(
            model, readout, prompt, rules.strengths, max_tokens=rules.asking.max_tokens, rng=rng
        )
        for arm, change in enumerate(made, start=2):
            after = base
            if change.delta.size:
                after = answered(model, prompt, change, rules.asking, item=i, arm=arm)
            record = provenance(model, prompt, change, after, rules.asking, arm=arm)
            cell = cell_of(
                i, change, (base, after), record, rules.counts, last=made[0].site, stable=stable
            )
            found.append(cell)
    return found


def _class_rows(cells: Sequence[Cell], tests: Tests, counts: Counts) -> Iterator[Record]:
    for name in (*CLASSES, OTHER):
        here = np.array([c.found == name for c in cells], np.bool_)
        mine = [c for c, own in zip(cells, here, strict=True) if own]
        found = fibre_counts(
            [c.auditable for c in mine], [c.flat for c in mine], tests.movement[here]
        )
        yield {
            "name": name,
            "n": found.auditable,
            "n_missing": found.incomplete,
            "n_cells": found.n_cells,
            "n_built_otherwise": sum(c.built != name for c in mine),
            "auditable": found.auditable,
            "incomplete": found.incomplete,
            "flat": _share(found.flat),
            "moved": _share(found.moved),
            "identity_moved": found.identity.count,
            "shape_moved": found.shape.count,
            "n_raw_equal": sum(c.raw_equal for c in mine),
            "n_still_in_double": sum(
                c.exact_off is not None and c.exact_off <= counts.still for c in mine if c.auditable
            ),
            "n_greedy_changed": sum(not c.same_greedy for c in mine if c.auditable),
            "n_changed_with_shared_seeds": sum(c.changed > 0 for c in mine if c.auditable),
            "n_shown": int((here & (tests.p_holm <= ALPHA)).sum()),
            "largest_off": most_of([c.off for c in mine if c.auditable and c.off is not None]),
            "largest_law_variation": most_of([c.law_variation for c in mine if c.auditable]),
        }


def _share(found: Share) -> dict[str, Json]:
    return {"count": found.count, "of": found.of, "low": found.low, "high": found.high}


def _fibre_rows(cells: Sequence[Cell], tests: Tests, entities: Sequence[str]) -> Iterator[Record]:
    """One row a prompt: the cells that the observer cannot tell from its baseline."""
    for item in dict.fromkeys(c.item for c in cells):
        places = [i for i, c in enumerate(cells) if c.item == item and c.auditable and c.flat]
        mine = [cells[i] for i in places]
        largest = largest_pair(mine)
        laws = [c.law_variation for c in mine]
        yield {
            "name": f"fibre_{entities[item]}",
            "entity": entities[item],
            "n": len(mine),
            "n_missing": sum(c.item == item and not c.auditable for c in cells),
            "members": [f"{c.found} {c.strength:g}" for c in mine],
            "n_fibres": _n_fibres([c for c in cells if c.item == item]),
            "largest_variation": largest,
            "error_floor_recorded": None if largest is None else error_floor(largest),
            "largest_law_variation": most_of(laws),
            "error_floor_law": error_floor(max(laws)) if laws else None,
            "movements": {
                name: sum(int(tests.movement[i]) == code for i in places)
                for code, name in enumerate(MOVEMENTS)
            },
            "least_p": _least(tests.p[places]),
        }


def _n_fibres(cells: Sequence[Cell]) -> int:
    seen = [c.numbers for c in cells if c.numbers]
    return len(set(fibre_codes(np.array(seen)).tolist())) if seen else 0


def _table(cells: Sequence[Cell], tests: Tests, entities: Sequence[str]) -> Iterator[Record]:
    for i, c in enumerate(cells):
        yield {
            "entity": entities[c.item],
            "built": c.built,
            "class": c.found,
            "strength": c.strength,
            "auditable": c.auditable,
            "missing": list(c.missing),
            "raw_equal": c.raw_equal,
            "flat": c.flat,
            "same_greedy": c.same_greedy,
            "off": c.off,
            "off_in_double": c.exact_off,
            "law_variation": c.law_variation,
            "changed_raw": c.changed_raw,
            "changed": c.changed,
            "movement": _movement(int(tests.movement[i])),
            "raw_movement": _movement(int(tests.raw_movement[i])),
            "variation": _number(tests.variation[i]),
            "p": _number(tests.p[i]),
            "p_holm": _number(tests.p_holm[i]),
            "numbers": list(c.numbers),
            **c.record,
        }


def _same(one: Answers, other: Answers) -> bool:
    return (
        one.logits.tobytes() == other.logits.tobytes()
        and [r.text for r in one.shared] == [r.text for r in other.shared]
        and [r.text for r in one.independent] == [r.text for r in other.independent]
    )


def _movement(code: int) -> Json:
    return None if code == NOT_COMPARED else MOVEMENTS[code]


def _number(value: float) -> Json:
    return None if np.isnan(value) else float(value)


def _least(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.min()) if len(known) else None
