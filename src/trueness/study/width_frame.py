"""What compares across widths: ratios of lengths, plain and projected; arrangements of items."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from trueness.contract.serial import Json
from trueness.stats.frames import (
    Similarity,
    distance_matrix_correlation,
    linear_cka,
    permuted_similarities,
    similarity_p,
)
from trueness.study.asked import not_applicable
from trueness.study.found import Found
from trueness.study.frame_cells import (
    Cell,
    Floats,
    Rules,
    contrast_of,
    entry_of,
    measured_cells,
    planted_cells,
    ratio_rows,
)
from trueness.study.inside_inputs import Items, opened
from trueness.study.published import published_of
from trueness.study.relations import relation_record
from trueness.study.results import Record
from trueness.study.spent import Spent
from trueness.study.task import Task

LEAST = 3
"""Items without which distances of pairs do not correlate."""
NO_SECOND = "two models are compared: name the other one with --second-model"
FEW = "arrangements of fewer than three items say nothing; raise --limit"
_RATIO = (
    "A plain ratio of lengths has no unit and is the quantity itself, so its error is rounding. "
    "What is measured is how much projecting takes from it."
)
_FRAME = (
    "One seed does not give one frame for two widths: coordinates, lengths with a unit, exponents "
    "a layer and Kaplan-Yorke dimensions do not compare across widths, projected or not."
)
_NOT_SHOWN = (
    "It does not show that the two models compute alike: CKA and distances say how alike they "
    "arrange these items, and items of one wording are alike in much."
)
NOTES = (_RATIO, _FRAME, _NOT_SHOWN)


def run(task: Task) -> Found:
    """Planted and measured ratios in every frame, and how alike two models arrange items.

    Parameters
    ----------
    task : Task
        ``inputs``: ``model``, ``second_model``.
        ``seed``: of planted vectors and permutations.
        ``repeats``: at most so many entities.
    """
    task.only("model", "second_model")
    declared = task.declaration.table("inputs")
    name, templates = str(declared["relations"][0]), [int(t) for t in declared["templates"]]
    if task.inputs.second_model is None:
        return not_applicable(task, NO_SECOND)
    states: list[Floats] = []
    identities: list[Any] = []
    prompts: tuple[str, ...] = ()
    relation = None
    for given in (None, task.inputs.second_model):
        task.say(given or "the first model")
        with opened(task, given) as model:
            if isinstance(model, str):
                return not_applicable(task, model)
            if relation is None:
                items = Items.of(name, model.tokenizer, most=task.repeats, templates=templates)
                prompts, relation = items.prompts, items.relation
            if len(prompts) < LEAST:
                return not_applicable(task, FEW)
            states.append(model.hidden_states(prompts)[:, :, 0].astype(np.float64))
            identities.append(dict(model.identity))
    rules = Rules.of(task)
    cells = [*planted_cells(len(prompts), rules), *measured_cells(states[0], states[1], rules)]
    alike = [likeness(states[0], states[1], depth, rules) for depth in rules.depths]
    rows = (*ratio_rows(cells, states, rules), *alike)
    return Found(
        rows=rows,
        contrasts={
            "projection": contrast_of(cells),
            "alike": _likeness(alike, "cka"),
            "distances": _likeness(alike, "distances"),
        },
        draws={
            "repeats": task.repeats,
            "n_items": len(prompts),
            "frames": rules.n_frames,
            "permutations": rules.permutations,
        },
        published=published_of(task.declaration, {"rows": list(rows)}),
        spent=Spent(forwards=2 * len(prompts)),
        data=() if relation is None else (relation_record(name, relation),),
        model={**identities[0], "second": identities[1]},
        notes=NOTES,
        table=tuple(_table(cells)),
    )


def likeness(first: Floats, second: Floats, depth: float, rules: Rules) -> Record:
    """How alike two models arrange the same items at one share of their depths.

    Parameters
    ----------
    first, second : (n, L + 1, D) float64
    depth : float from 0 to 1
    rules : Rules
    """
    x, y = (states[:, entry_of(states, depth)] for states in (first, second))
    rng = np.random.default_rng([rules.seed, 1])
    null = permuted_similarities(x, y, rng=rng, n_permutations=rules.permutations)
    return {
        "name": f"alike_{round(100 * depth)}",
        "depth": depth,
        "n": len(x),
        "n_missing": 0,
        "cka": _tested(linear_cka(x, y), null.cka),
        "distances": _tested(distance_matrix_correlation(x, y), null.distances),
    }


def _tested(found: Similarity, null: Floats) -> dict[str, Json]:
    """A similarity beside those of permuted items."""
    known = found.value is not None
    return {
        "state": found.state.value,
        "reason": found.reason,
        "value": found.value,
        "p": None if found.value is None else similarity_p(found.value, null),
        "null_mean": float(null.mean()) if known else None,
    }


def _likeness(rows: Sequence[Record], what: str) -> Record:
    """The row half way up."""
    middle: Any = min(rows, key=lambda row: abs(float(str(row["depth"])) - 0.5))
    found = middle[what]
    return {
        "n": middle["n"],
        "state": found["state"],
        "estimate": found["value"],
        "null_mean": found["null_mean"],
        "p": found["p"],
        "kind": "permuted items",
    }


def _table(cells: Sequence[Cell]) -> Iterator[Record]:
    for c in cells:
        yield {
            "what": c.what,
            "k": c.k,
            "seed": c.seed,
            "n": c.n,
            "plain_mean": c.plain_mean,
            "projected_mean": c.projected_mean,
            "plain_error": c.plain_error,
            "projected_error": c.projected_error,
        }
