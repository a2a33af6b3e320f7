"""Does the right token hang on the entity more than the chosen one? Gradients beside logits."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.contract.serial import Json
from trueness.contract.states import State
from trueness.stats.couplings import (
    CouplingContest,
    RatioSummary,
    coupling_contest,
    ratio_summary,
)
from trueness.stats.paired_means import Units
from trueness.stats.sign_flip import sign_flip
from trueness.study.asked import not_applicable
from trueness.study.coupling_items import CHOSEN, CONTROLS, GOLD, OTHER, SCORES, Seen, look
from trueness.study.found import Found
from trueness.study.inside_inputs import Items, opened
from trueness.study.published import published_of
from trueness.study.relations import relation_record
from trueness.study.results import Record
from trueness.study.second_model import with_second_model
from trueness.study.spent import Spent
from trueness.study.task import Task

Floats: TypeAlias = NDArray[np.float64]

_SHOWS_NOT = (
    "It does not show what a finite change of the entity would do, nor that the answer to which "
    "the entity is coupled is the right one."
)


@with_second_model
def run(task: Task) -> Found:
    """Norms of gradients on the entity's tokens, for gold, chosen and other candidates.

    Parameters
    ----------
    task : Task
        ``inputs``: ``model``.
        ``seed``: of directions, resamples and signs.
        ``repeats``: at most so many entities of each relation.
    """
    task.only("model")
    names = [str(name) for name in task.declaration.table("inputs")["relations"]]
    templates = [int(t) for t in task.declaration.table("inputs")["templates"]]
    resamples = int(task.declaration.table("protocol")["resamples"])
    seen: list[Seen] = []
    sets: list[Items] = []
    with opened(task) as model:
        if isinstance(model, str):
            return not_applicable(task, model)
        white: Any = model
        for name in names:
            items = Items.of(name, white.tokenizer, most=task.repeats, templates=templates)
            sets.append(items)
            task.say(f"{name}: {len(items.prompts)} items")
            seen += look(white, items, seed=task.seed)
        identity = dict(model.identity)
    rows = tuple(_rows(names, seen, seed=task.seed, resamples=resamples))
    return Found(
        rows=rows,
        contrasts=_contrasts(seen, seed=task.seed, resamples=resamples),
        draws={
            "repeats": task.repeats,
            "resamples": resamples,
            "n_items": len(seen),
            "n_wrong": sum(s.wrong for s in seen),
            "n_unstable": sum(s.state is not State.MEASURED for s in seen),
        },
        published=published_of(task.declaration, {"rows": list(rows)}),
        spent=Spent(forwards=sum(4 + 2 * len(s.tokens) for s in seen)),
        data=tuple(relation_record(n, s.relation) for n, s in zip(names, sets, strict=True)),
        model=identity,
        notes=(
            *(f"{n} items left out: {w}." for s in sets for w, n in s.dropped.items()),
            _SHOWS_NOT,
        ),
        table=tuple(_table(seen)),
    )


def _rows(
    names: Sequence[str], seen: Sequence[Seen], *, seed: int, resamples: int
) -> Iterator[Record]:
    """Ratios of entity over control by relation, side, score and control; attention; splits."""
    for name in ("all", *names):
        here = [s for s in seen if name in ("all", s.relation) and s.state is State.MEASURED]
        for side, wrong in (("wrong", True), ("right", False)):
            items = [s for s in here if s.wrong is wrong]
            row: dict[str, Json] = {"name": f"{name}_{side}", "n": len(items), "n_missing": 0}
            for of in SCORES:
                for control in CONTROLS:
                    row[f"{of}_{control}"] = {
                        who: _ratio(items, (of, control), place, seed, resamples)
                        for who, place in (("chosen", CHOSEN), ("gold", GOLD), ("other", OTHER))
                    }
            yield {**row, "attention": _attended(items), "split": _split(items)}


def _ratio(
    items: Sequence[Seen], kind: tuple[str, str], place: int, seed: int, resamples: int
) -> Json:
    above = [s.couplings[kind].entity_per_token[place] for s in items]
    below = [s.couplings[kind].control_per_token[place] for s in items]
    rng = np.random.default_rng([seed, 1])
    found: RatioSummary = ratio_summary(
        above, below, [s.unit for s in items], rng=rng, n_resamples=resamples
    )
    return {
        "state": found.state.value,
        "n": found.n,
        "n_without": found.n_without,
        "geometric_mean": found.geometric_mean,
        "low": found.low,
        "high": found.high,
        "ratio_of_means": found.ratio_of_means,
    }


def _attended(items: Sequence[Seen]) -> Json:
    """Medians of attention, over all layers and over the last third."""
    if not items:
        return None
    names = ("first_token", "entity_per_token", "control_per_token", "entropy")
    parts: dict[str, Json] = {}
    for place, part in enumerate(("all", "last_third")):
        values = {n: [getattr(s.attention[place], n) for s in items] for n in names}
        known = {n: [v for v in vs if v is not None] for n, vs in values.items()}
        parts[part] = {n: float(np.median(vs)) if vs else None for n, vs in known.items()}
    return parts


def _split(items: Sequence[Seen]) -> Json:
    """How often gold lies above the widest gap, and how often a random split puts it there."""
    made = [s.split for s in items if s.split.state is State.MEASURED]
    return {
        "n": len(made),
        "gold_above": sum(split.upper[GOLD] for split in made),
        "at_random": float(sum(split.random_upper or 0.0 for split in made)),
    }


def _contrasts(seen: Sequence[Seen], *, seed: int, resamples: int) -> dict[str, Record]:
    wrong = [s for s in seen if s.wrong and s.state is State.MEASURED]
    kind = ("logit", "nearest")
    norms = np.array([s.couplings[kind].entity_per_token[[GOLD, CHOSEN]] for s in wrong])
    norms = norms.reshape(-1, 2)
    units = [s.unit for s in wrong]
    rng = np.random.default_rng([seed, 2])
    paired = ratio_summary(norms[:, 0], norms[:, 1], units, rng=rng, n_resamples=resamples)
    logits = np.array([s.logits[[GOLD, CHOSEN]] for s in wrong]).reshape(-1, 2)
    contest: CouplingContest = coupling_contest(
        norms, logits, units, seed=seed, n_resamples=resamples
    )
    ends = paired.low, paired.geometric_mean, paired.high
    low, estimate, high = (None if v is None else math.log(v) for v in ends)
    return {
        "gold_over_chosen": {
            "n": paired.n,
            "n_without": paired.n_without,
            "state": paired.state.value,
            "estimate": estimate,
            "low": low,
            "high": high,
            "kind": "percentile interval over entities; sign flip of entities",
            "p": _sign_p(norms, units, seed),
            "p_holm": None,
        },
        "coupling_over_logit": {
            "n": contest.n_pairs,
            "state": contest.state.value,
            "estimate": contest.difference,
            "low": contest.low,
            "high": contest.high,
            "kind": "percentile interval over entities, paired",
            "p": contest.p,
            "p_holm": None,
            "auroc_by_coupling": contest.by_coupling,
            "auroc_by_logit": contest.by_logit,
        },
    }


def _sign_p(norms: Floats, units: Sequence[str], seed: int) -> float | None:
    """Sign flips of entities' summed log ratios."""
    there = (norms > 0).all(axis=1)
    if not there.any():
        return None
    logs = np.log(norms[there, 0]) - np.log(norms[there, 1])
    codes = np.unique(np.array(units)[there], return_inverse=True)[1]
    sums = np.bincount(codes, logs).astype(np.float64)
    counts = np.bincount(codes).astype(np.float64)
    found = sign_flip(Units(sums[:, None], counts[:, None]), rng=np.random.default_rng([seed, 3]))
    return float(found.p_adjusted[0])


def _table(seen: Sequence[Seen]) -> Iterator[Record]:
    for s in seen:
        coupling = s.couplings["logit", "nearest"]
        yield {
            "unit": s.unit,
            "wrong": s.wrong,
            "state": s.state.value,
            "logits": [float(z) for z in s.logits],
            "entity_per_token": [float(v) for v in coupling.entity_per_token],
            "control_per_token": [
                None if np.isnan(v) else float(v) for v in coupling.control_per_token
            ],
        }
