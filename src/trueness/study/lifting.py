"""Can a target move where six numbers of one pass stand still? Ranks at three sites, and walks."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.contract.serial import Json
from trueness.contract.states import State
from trueness.stats.lift_rank import LiftRank, lift_rank
from trueness.stats.observer_gradients import (
    Slopes,
    collision_slope,
    mass_slope,
    observer_slopes,
    top_is_tied,
)
from trueness.stats.observers import NUMBERS
from trueness.study.asked import not_applicable
from trueness.study.embedded_inputs import levels
from trueness.study.fibre_charts import Readout, Target, Walked, walked
from trueness.study.found import Found
from trueness.study.inside_inputs import Items, WhiteBox, opened
from trueness.study.lift_places import (
    CONTROL,
    TARGETS,
    Place,
    Rules,
    contrasts_of,
    rows_of,
)
from trueness.study.published import published_of
from trueness.study.relations import relation_record
from trueness.study.results import Record
from trueness.study.second_model import with_second_model
from trueness.study.spent import Spent
from trueness.study.task import Task

NOT_FINITE = "a logit of this item is not finite"
_LOCAL = (
    "The lift rank is local and of first order: 0 proves nothing beyond a neighbourhood, and 1 "
    "gives no size. The walks give sizes, and no bound on what could be reached."
)
_NOT_SHOWN = (
    "It does not show that a model ever comes to such a state, nor that an answer is right."
)
_WHOLE_LAW = (
    "Six numbers against the whole next-token law are lifted at every state: there are more tokens "
    "than numbers. That is not counted."
)
_SEEN = (
    "Where gold is the most probable token or the second one, its probability is among the six "
    "numbers; such places are counted as seen, and in no share."
)
_SINGLE = (
    "Before the last site derivatives come in single precision, so ranks are cut at a thousandth "
    "and not at a millionth of the largest singular value; walks start at the last site only."
)
NOTES = (_LOCAL, _NOT_SHOWN, _WHOLE_LAW, _SEEN, _SINGLE)

Floats: TypeAlias = NDArray[np.float64]


class Derivable(WhiteBox, Protocol):
    """A white box that gives derivatives of logits by states, and its read-out in float64."""

    def logit_vjp(
        self, prompt: str, layer: int, weights: Floats, *, position: int = ...
    ) -> NDArray[np.float32]:
        """(s, D)."""
        ...

    def exact_readout(self) -> Readout:
        """Final norm and unembedding in double precision."""
        ...


@with_second_model
def run(task: Task) -> Found:
    """Lift ranks of every item, site and target, and walks from the last site.

    Parameters
    ----------
    task : Task
        ``inputs``: ``model``.
        ``seed``: nothing is random here.
        ``repeats``: at most so many entities.
    """
    task.only("model")
    inputs = task.declaration.table("inputs")
    name, templates = str(inputs["relations"][0]), [int(t) for t in inputs["templates"]]
    goal, still = levels(task.declaration, "walk", float)
    rules = Rules(levels(task.declaration, "depth", float), goal, still)
    with opened(task) as model:
        if isinstance(model, str):
            return not_applicable(task, model)
        white: Any = model
        items = Items.of(name, white.tokenizer, most=task.repeats, templates=templates)
        places = look(white, items, rules, say=task.say)
        identity = dict(model.identity)
    rows = tuple(rows_of(places, rules))
    return Found(
        rows=rows,
        contrasts=contrasts_of(places, rules),
        draws={"repeats": task.repeats, "n_items": len(items.prompts)},
        published=published_of(task.declaration, {"rows": list(rows)}),
        spent=Spent(forwards=len(items.prompts) * (2 + len(rules.depths))),
        data=(relation_record(name, items.relation),),
        model=identity,
        notes=(*NOTES, *(f"{n} items left out: {why}." for why, n in items.dropped.items())),
        table=tuple(_table(items, places)),
    )


def look(
    model: Derivable,
    items: Items,
    rules: Rules,
    *,
    say: Callable[[str], None],
) -> list[Place]:
    """Lift ranks and walks of every item.

    Parameters
    ----------
    model : Derivable
    items : Items
    rules : Rules
    say : callable
        Is told what comes next.
    """
    logits = model.next_logits(items.requests())
    states = model.hidden_states(items.prompts)[:, :, 0]
    last = states.shape[1] - 1
    sites = rules.sites(last)
    readout = model.exact_readout()
    found: list[Place] = []
    for i, prompt in enumerate(items.prompts):
        say(f"item {i + 1} of {len(items.prompts)}")
        answers = sorted({t for golds in items.golds for t in golds})
        targets = targets_of(items.golds[i], answers)
        for site in sites:
            exact = site == last
            z = readout(states[i, last]) if exact else logits[i].astype(np.float64)
            if not np.isfinite(z).all():
                found += [Place(i, site, t, _none(), seen=False) for t in (*TARGETS, CONTROL)]
                continue
            rows = {name: slope(z) for name, slope in targets.items()}
            stacked = np.vstack(
                [observer_slopes(z).gradients, *(r.gradients for r in rows.values())]
            )
            if exact:
                moved: NDArray[Any] = readout.vjp(states[i, last], stacked)
            else:
                moved = model.logit_vjp(prompt, site, stacked)
            for name, ranks, seen in ranks_of(z, moved, list(targets), items.golds[i]):
                walk = None
                if exact and ranks.lift_rank and not seen and name != CONTROL:
                    walk = walked(
                        readout, states[i, last], targets[name], tokens=answers, goal=rules.goal
                    )
                found.append(Place(i, site, name, ranks, seen, walk))
    return found


def targets_of(gold: Sequence[int], answers: Sequence[int]) -> dict[str, Target]:
    """The three targets and the control, as functions of logits (V,)."""

    def p_gold(z: Floats) -> Slopes:
        return mass_slope(z, gold)

    def answer_mass(z: Floats) -> Slopes:
        return mass_slope(z, answers)

    def answer_collision(z: Floats) -> Slopes:
        return collision_slope(z, answers)

    made = (p_gold, answer_mass, answer_collision, collision_slope)
    return dict(zip((*TARGETS, CONTROL), made, strict=True))


def ranks_of(
    logits: Floats, jacobian: NDArray[Any], targets: Sequence[str], gold: Sequence[int]
) -> Iterator[tuple[str, LiftRank, bool]]:
    """Each target with its lift rank at one site, and whether the observer reads it.

    Parameters
    ----------
    logits : (V,) float64
    jacobian : (6 + n_targets, D) float
        Derivatives of the observer's numbers, then of the targets; single precision is known by
        its type.
    targets : sequence of str
    gold : sequence of int
    """
    tied = top_is_tied(logits)
    top = set(np.argsort(-logits, kind="stable")[:2].tolist())
    n = len(NUMBERS)
    for t, name in enumerate(targets):
        ranks = lift_rank(
            jacobian[:n],
            jacobian[n + t : n + t + 1],
            tied=tied,
            observer_names=NUMBERS,
            target_names=(name,),
        )
        yield name, ranks, name == "p_gold" and set(gold) <= top


def _none() -> LiftRank:
    return LiftRank(State.DEGENERATE, NOT_FINITE, None, None, None, None, None)


def _table(items: Items, places: Sequence[Place]) -> Iterator[Record]:
    for p in places:
        row: dict[str, Json] = {
            "entity": items.relation.entities[int(items.entity[p.item])],
            "template": int(items.template[p.item]),
            "site": p.site,
            "target": p.target,
            "seen": p.seen,
            "state": p.found.state.value,
            "reason": p.found.reason,
            "lift_rank": p.found.lift_rank,
            "rank_observer": p.found.rank_observer,
            "rank_joint": p.found.rank_joint,
            "spectra": [_spectrum(s) for s in p.found.spectra],
        }
        if p.walk is not None:
            row["walk"] = _walk(p.walk)
        yield row


def _spectrum(found: Any) -> Json:
    return {"matrix": found.matrix, "scaled": found.scaled, "values": list(found.values)}


def _walk(found: Walked) -> dict[str, Json]:
    return {
        "moved": found.moved,
        "off": found.off,
        "variation": found.variation,
        "same_greedy": found.same_greedy,
        "length": float(np.linalg.norm(found.delta)),
        "n_steps": found.walk.n_steps,
        "why": found.walk.why,
    }
