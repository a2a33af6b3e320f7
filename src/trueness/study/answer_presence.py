"""Is the right answer near the top when a wrong one is given? Ranks, two controls, the lens."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.contract.serial import Json
from trueness.stats.lens import lens_curve, rank_summary
from trueness.stats.mcnemar import mcnemar
from trueness.stats.multiplicity import holm
from trueness.stats.ranks import (
    GoldRanks,
    gold_ranks,
    ranks_in_answers,
    ranks_of_others,
    token_ranks,
)
from trueness.study.asked import not_applicable
from trueness.study.found import Found
from trueness.study.inside_inputs import Items, WhiteBox, opened
from trueness.study.published import published_of
from trueness.study.relations import relation_record
from trueness.study.results import Record
from trueness.study.second_model import with_second_model
from trueness.study.spent import Spent
from trueness.study.task import Task

FEWEST = 10
"""Wrong items of a wording below which nothing is tested on it."""
ALPHA = 0.05

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_SHOWS_NOT = (
    "It does not show that the right answer would win under any change that can be made, nor "
    "anything about items that were answered right."
)


@with_second_model
def run(task: Task) -> Found:
    """Ranks of gold on every item, beside the ranks of other golds, and layer by layer.

    Parameters
    ----------
    task : Task
        ``inputs``: ``model``.
        ``seed``: nothing is random here.
        ``repeats``: at most so many entities.
    """
    task.only("model")
    name = str(task.declaration.table("inputs")["relations"][0])
    with opened(task) as model:
        if isinstance(model, str):
            return not_applicable(task, model)
        items = Items.of(name, model.tokenizer, most=task.repeats)
        seen = look(model, items, say=task.say)
        identity = dict(model.identity)
    rows = (*_rows(items, seen), *_lens_rows(seen))
    tests = _tests(items, seen)
    return Found(
        rows=rows,
        contrasts={"gold_above_others": _contrast(tests)},
        draws={
            "repeats": task.repeats,
            "n_items": len(items.prompts),
            "n_wrong": int(seen.wrong.sum()),
            "n_surplus_rows": seen.gold.n_surplus,
            "last_lens_column_is_the_rank": int(seen.agrees),
        },
        published=published_of(task.declaration, {"rows": list(rows)}),
        spent=Spent(forwards=2 * len(items.prompts)),
        data=(relation_record(name, items.relation),),
        model=identity,
        notes=(*(f"{n} items left out: {w}." for w, n in items.dropped.items()), _SHOWS_NOT),
        table=tuple(_table(items, seen)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """Ranks of every item.

    Parameters
    ----------
    gold : GoldRanks
    wrong : (n,) bool
        The chosen token is no gold.
    in_answers, others : (n,) float64
        Rank among the relation's answers; median rank of other entities' golds.
    lens, lens_other : (n, L + 1) float64
        Rank of gold, and of another entity's gold, at every entry.
    n_answers : int
    """

    gold: GoldRanks
    wrong: Bools
    in_answers: Floats
    others: Floats
    lens: Floats
    lens_other: Floats
    n_answers: int

    @property
    def agrees(self) -> bool:
        """The last entry of the lens gives the very ranks of the model's logits."""
        return bool(np.array_equal(self.lens[:, -1], self.gold.rank, equal_nan=True))


def look(model: WhiteBox, items: Items, *, say: Callable[[str], None]) -> Seen:
    """Ranks of a model's logits and of every entry of its residual stream.

    Parameters
    ----------
    model : WhiteBox
    items : Items
    say : callable
        Is told what comes next.
    """
    logits = model.next_logits(items.requests())
    n_tokens = min(logits.shape[1], model.tokenizer.n_vocabulary)
    gold = gold_ranks(logits, items.golds, n_tokens=n_tokens)
    in_answers, others = np.full((2, len(logits)), np.nan)
    n_answers = 0
    for t in np.unique(items.template):  # answers as they follow this wording
        mine = np.flatnonzero(items.template == t)
        own = [items.golds[i] for i in mine]
        local = sorted({token for tokens in own for token in tokens})
        in_answers[mine] = ranks_in_answers(logits[mine], own, local, n_tokens=n_tokens)
        n_answers = max(n_answers, len(local))
        others[mine] = ranks_of_others(logits[mine], own, n_tokens=n_tokens)
    states = model.hidden_states(items.prompts)[:, :, 0]
    strange = items.others()
    lens = np.full((2, *states.shape[:2]), np.nan)
    for entry in range(states.shape[1]):
        say(f"lens, entry {entry} of {states.shape[1] - 1}")
        found = model.readout(states[:, entry])
        for side, golds in enumerate((items.golds, strange)):
            lens[side, :, entry] = token_ranks(found, golds, n_tokens=n_tokens)
    right = [c in set(g) for c, g in zip(gold.chosen.tolist(), items.golds, strict=True)]
    return Seen(gold, ~np.array(right), in_answers, others, lens[0], lens[1], n_answers)


def _rows(items: Items, seen: Seen) -> tuple[Record, ...]:
    """Ranks of wrong and of right items, over all wordings and in each."""
    parts: dict[str, Bools] = {"all": np.ones(len(items.prompts), np.bool_)}
    parts |= {f"template_{t}": items.template == t for t in np.unique(items.template).tolist()}
    return tuple(
        _row(f"{name}_{side}", mask & chosen, items, seen)
        for name, mask in parts.items()
        for side, chosen in (("wrong", seen.wrong), ("right", ~seen.wrong))
    )


def _row(name: str, mask: Bools, items: Items, seen: Seen) -> Record:
    gold = seen.gold
    return {
        "name": name,
        "n": int(mask.sum()),
        "n_missing": int(np.isnan(gold.rank[mask]).sum()),
        "rank": _ranks(gold.rank, mask),
        "rank_in_answers": _ranks(seen.in_answers, mask),
        "chance_in_answers": (seen.n_answers + 1) / 2,
        "rank_of_others": _ranks(seen.others, mask),
        "gap": _median(gold.gap[mask]),
        "gap_sd": _median(gold.gap_sd[mask]),
        "p_chosen": _median(gold.p_chosen[mask]),
        "p_gold": _median(gold.p_gold[mask]),
        "effective_support": _median(gold.effective_support[mask]),
        "n_shared_first_token": int(items.shared[mask].sum()),
        "n_gold_of_one_token": int((items.n_gold_tokens[mask] == 1).sum()),
    }


def _ranks(ranks: Floats, mask: Bools) -> Json:
    found = rank_summary(ranks, mask)
    return {
        "state": found.state.value,
        "n": found.n,
        "median": found.median,
        "lower": found.lower,
        "upper": found.upper,
        "within": {str(top): n for top, n in found.within.items()},
    }


def _median(values: Floats) -> Json:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else None


def _lens_rows(seen: Seen) -> tuple[Record, ...]:
    every = np.ones(len(seen.wrong), np.bool_)
    sides = {
        "all": (seen.lens, every),
        "right": (seen.lens, ~seen.wrong),
        "wrong": (seen.lens, seen.wrong),
        "other_gold": (seen.lens_other, every),
    }
    found: list[Record] = []
    for name, (ranks, mask) in sides.items():
        curve = lens_curve(ranks, mask)
        there = curve.n > 0
        found.append(
            {
                "name": f"lens_{name}",
                "n": curve.n,
                "state": curve.state.value,
                "median": list[Json](curve.median.tolist()) if there else [],
                "lower": list[Json](curve.lower.tolist()) if there else [],
                "upper": list[Json](curve.upper.tolist()) if there else [],
                "emergence": curve.emergence,
            }
        )
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Test:
    """Wrong items of one wording on which gold ranks above, and below, the other golds."""

    template: int
    above: int
    below: int

    @property
    def p(self) -> float:
        """Of the exact two-sided sign test; level items say nothing."""
        return float(mcnemar(self.above, self.below).p_exact)


def _tests(items: Items, seen: Seen) -> list[_Test]:
    found = []
    for t in np.unique(items.template).tolist():
        mask = (items.template == t) & seen.wrong & ~np.isnan(seen.others)
        if mask.sum() < FEWEST:
            continue
        own, others = seen.gold.rank[mask], seen.others[mask]
        found.append(_Test(t, int((own < others).sum()), int((own > others).sum())))
    return found


def _contrast(tests: Sequence[_Test]) -> dict[str, Json]:
    """In how many wordings gold stands above the golds of others on wrong items, by Holm."""
    adjusted = [float(p) for p in holm([t.p for t in tests])]
    shown = [p <= ALPHA for p in adjusted]
    above = sum(s and t.above > t.below for s, t in zip(shown, tests, strict=True))
    below = sum(s and t.above < t.below for s, t in zip(shown, tests, strict=True))
    each: list[Mapping[str, Json]] = [
        {"template": t.template, "above": t.above, "below": t.below, "p": t.p, "p_holm": p}
        for t, p in zip(tests, adjusted, strict=True)
    ]
    return {
        "n": len(tests),
        "estimate": above,
        "kind": "exact sign test in each wording, Holm",
        "above": above,
        "below": below,
        "open": len(tests) - above - below,
        "templates": list[Json](dict(e) for e in each),
    }


def _table(items: Items, seen: Seen) -> list[Record]:
    gold = seen.gold
    return [
        {
            "entity": items.relation.entities[int(items.entity[i])],
            "template": int(items.template[i]),
            "wrong": bool(seen.wrong[i]),
            "state": gold.states[i].value,
            "rank": _number(gold.rank[i]),
            "rank_in_answers": _number(seen.in_answers[i]),
            "rank_of_others": _number(seen.others[i]),
            "gap": _number(gold.gap[i]),
            "gap_sd": _number(gold.gap_sd[i]),
            "p_chosen": _number(gold.p_chosen[i]),
            "p_gold": _number(gold.p_gold[i]),
            "lens": [_number(rank) for rank in seen.lens[i]],
        }
        for i in range(len(items.prompts))
    ]


def _number(value: float) -> Json:
    return None if np.isnan(value) else float(value)
