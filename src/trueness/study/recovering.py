"""Is the entity still linearly readable when the answer is wrong? Probes at every layer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.contract.serial import Json
from trueness.contract.states import State
from trueness.stats.power import hit_power
from trueness.stats.probes import CONSTANT, Probe, ProbeNull, readers
from trueness.stats.ranks import gold_ranks
from trueness.stats.recoverability import Recoverability, recoverability
from trueness.study.asked import not_applicable
from trueness.study.declarations import Declaration
from trueness.study.embedded_inputs import levels
from trueness.study.found import Found
from trueness.study.inside_inputs import Items, WhiteBox, opened
from trueness.study.published import published_of
from trueness.study.relations import relation_record
from trueness.study.results import Record
from trueness.study.second_model import with_second_model
from trueness.study.spent import Spent
from trueness.study.task import Task

NAMED_ACCURACY = 0.1
"""What the printed power is for."""

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_SHOWS_NOT = (
    "It does not show that the model uses what a probe finds, nor that information is lost where a "
    "linear one does not find it."
)


@with_second_model
def run(task: Task) -> Found:
    """Probes of the entity on wordings left out, and of a shared label on entities left out.

    Parameters
    ----------
    task : Task
        ``inputs``: ``model``.
        ``seed``: of permutations and resamples.
        ``repeats``: at most so many entities.
    """
    task.only("model")
    identity_of, shared = map(str, task.declaration.table("inputs")["relations"])
    with opened(task) as model:
        if isinstance(model, str):
            return not_applicable(task, model)
        sets = [
            Items.of(name, model.tokenizer, most=task.repeats) for name in (identity_of, shared)
        ]
        states = []
        for items in sets:
            task.say(f"states of {items.relation.name}")
            states.append(model.hidden_states(items.prompts)[:, :, 0])
        wrong = _wrong(model, sets[0])
        identity = dict(model.identity)
    rules = Rules.of(task.declaration, task.seed, states[0].shape[1])
    entity = probe_entity(states[0], sets[0], wrong, rules)
    label = probe_shared(states[1], sets[1], rules)
    rows = (*_entity_rows(entity, wrong), *_label_rows(label))
    return Found(
        rows=rows,
        contrasts={
            "wrong_minus_right": _contrast(entity, wrong, rules),
            "shared_label": _shared(label),
        },
        draws={
            "repeats": task.repeats,
            "n_items": len(wrong),
            "n_wrong": int(wrong.sum()),
            "entry": rules.entry,
            "permutations": rules.permutations,
            "resamples": rules.resamples,
        },
        published=published_of(task.declaration, {"rows": list(rows)}),
        spent=Spent(forwards=len(wrong) + sum(len(items.prompts) for items in sets)),
        data=tuple(
            relation_record(name, items.relation)
            for name, items in zip((identity_of, shared), sets, strict=True)
        ),
        model=identity,
        notes=(*_dropped(sets), _SHOWS_NOT),
    )


def _dropped(sets: Sequence[Items]) -> Iterator[str]:
    for items in sets:
        for why, n in items.dropped.items():
            yield f"{n} items of {items.relation.name} left out: {why}."


@dataclass(frozen=True, slots=True)
class Rules:
    """What was declared about the probes.

    Parameters
    ----------
    ridges : tuple of float
        The first one decides; the others are shown beside it.
    entry : int
        Of the residual stream, declared by its share of the depth.
    resamples, permutations, seed : int
    """

    ridges: tuple[float, ...]
    entry: int
    resamples: int
    permutations: int
    seed: int

    @classmethod
    def of(cls, declaration: Declaration, seed: int, n_entries: int) -> "Rules":
        """From the declaration, for a model of so many entries."""
        (depth,) = levels(declaration, "depth", float)
        (permutations,) = levels(declaration, "permutations", int)
        return cls(
            ridges=levels(declaration, "ridge", float),
            entry=round(depth * (n_entries - 1)),
            resamples=int(declaration.table("protocol")["resamples"]),
            permutations=permutations,
            seed=seed,
        )


@dataclass(frozen=True, slots=True, eq=False)
class EntityProbes:
    """Probes of the entity at every entry.

    Parameters
    ----------
    probe : Probe
        With the deciding ridge.
    null : ProbeNull
    beside : mapping of ridge to (n_entries,) accuracy
    recovered : tuple of (Recoverability or None)
        One an entry; None for an entry that varies over no training fold.
    """

    probe: Probe
    null: ProbeNull
    beside: dict[float, Floats]
    recovered: tuple[Recoverability | None, ...]


def probe_entity(
    states: NDArray[np.float32], items: Items, wrong: Bools, rules: Rules
) -> EntityProbes:
    """Probes of the entity on wordings left out, their null, and wrong against right items.

    Parameters
    ----------
    states : (n, n_entries, D) float32
    items : Items
    wrong : (n,) bool
    rules : Rules
    """
    made = [readers(states, items.template, ridge=ridge) for ridge in rules.ridges]
    probes = [m.probe(items.entity) for m in made]
    rng = np.random.default_rng([rules.seed, 0])
    null = made[0].null(
        items.entity, rng=rng, within=items.template, n_permutations=rules.permutations
    )
    recovered = [
        recoverability(
            hits[tested],
            wrong[tested],
            items.template[tested],
            items.entity[tested],
            rng=np.random.default_rng([rules.seed, 1]),
            n_resamples=rules.resamples,
        )
        if tested.any()
        else None
        for hits, tested in zip(probes[0].hits, probes[0].tested, strict=True)
    ]
    beside = {r: p.accuracy for r, p in zip(rules.ridges[1:], probes[1:], strict=True)}
    return EntityProbes(probes[0], null, beside, tuple(recovered))


def probe_shared(
    states: NDArray[np.float32], items: Items, rules: Rules
) -> tuple[Probe, ProbeNull | None]:
    """Probes of a label that entities share, on entities left out; null over whole entities.

    Parameters
    ----------
    states : (n, n_entries, D) float32
    items : Items
    rules : Rules
    """
    names = {golds: i for i, golds in enumerate(dict.fromkeys(items.relation.golds))}
    label = np.array([names[items.relation.golds[e]] for e in items.entity], np.int64)
    made = readers(states, items.entity, ridge=rules.ridges[0])
    probe = made.probe(label)
    if probe.chance is None:
        return probe, None
    rng = np.random.default_rng([rules.seed, 2])
    null = made.null(label, rng=rng, entities=items.entity, n_permutations=rules.permutations)
    return probe, null


def _wrong(model: WhiteBox, items: Items) -> Bools:
    """The chosen token is no gold."""
    logits = model.next_logits(items.requests())
    n_tokens = min(logits.shape[1], model.tokenizer.n_vocabulary)
    chosen = gold_ranks(logits, items.golds, n_tokens=n_tokens).chosen.tolist()
    return np.array([c not in set(g) for c, g in zip(chosen, items.golds, strict=True)], np.bool_)


def _entity_rows(found: EntityProbes, wrong: Bools) -> Iterator[Record]:
    probe = found.probe
    for entry, recovered in enumerate(found.recovered):
        yield {
            "name": f"entity_{entry}",
            "n": int(probe.tested[entry].sum()),
            "n_missing": int((~probe.tested[entry]).sum()),
            "n_wrong": int(wrong.sum()),
            "accuracy": _number(probe.accuracy[entry]),
            "chance": probe.chance,
            "majority": probe.majority,
            "p": _number(found.null.p[entry]),
            "accuracy_other_ridges": {
                f"{ridge:g}": _number(values[entry]) for ridge, values in found.beside.items()
            },
            **_recovered(recovered),
        }


def _recovered(found: Recoverability | None) -> dict[str, Json]:
    if found is None:
        return {"state": State.DEGENERATE.value, "reason": CONSTANT}
    return {
        "state": found.state.value,
        "wrong": found.accuracy_wrong,
        "wrong_low": found.low_wrong,
        "wrong_high": found.high_wrong,
        "right": found.accuracy_right,
        "right_low": found.low_right,
        "right_high": found.high_right,
        "contrast": found.contrast,
        "low": found.low,
        "high": found.high,
        "n_templates_of_one_class": found.n_one_class,
    }


def _label_rows(found: tuple[Probe, ProbeNull | None]) -> Iterator[Record]:
    probe, null = found
    for entry, accuracy in enumerate(probe.accuracy.tolist()):
        yield {
            "name": f"shared_{entry}",
            "n": int(probe.tested[entry].sum()),
            "n_missing": int((~probe.tested[entry]).sum()),
            "state": probe.state.value,
            "reason": probe.reason,
            "accuracy": _number(accuracy),
            "chance": probe.chance,
            "majority": probe.majority,
            "p": None if null is None else _number(null.p[entry]),
        }


def _contrast(found: EntityProbes, wrong: Bools, rules: Rules) -> dict[str, Json]:
    """The declared entry: whether the entity is read worse on wrong items, and above chance."""
    seen, probe = found.recovered[rules.entry], found.probe
    chance, n_wrong = probe.chance, int((wrong & probe.tested[rules.entry]).sum())
    said: dict[str, Json] = {"n": 0, "entry": rules.entry, "p_best_entry": found.null.p_best}
    none = ("estimate", "low", "high", "wrong_above_chance", "right_above_chance")
    if seen is None or chance is None:
        return {**said, **dict.fromkeys(none), "state": State.DEGENERATE.value}
    power = hit_power(n_wrong, chance=chance, accuracy=NAMED_ACCURACY) if n_wrong else None
    return {
        **said,
        "n": seen.n_entities,
        "state": seen.state.value,
        "estimate": seen.contrast,
        "low": seen.low,
        "high": seen.high,
        "kind": f"percentile interval over {seen.n_entities} entities",
        "wrong": seen.accuracy_wrong,
        "right": seen.accuracy_right,
        "wrong_above_chance": _above(seen.low_wrong, chance),
        "right_above_chance": _above(seen.low_right, chance),
        "n_templates_of_one_class": seen.n_one_class,
        "critical_hits": None if power is None else power.critical_hits,
        "power_at_a_tenth": None if power is None else power.power,
    }


def _above(low: float | None, chance: float) -> int | None:
    """1 when the interval lies above chance, else 0; None without one."""
    return None if low is None else int(low > chance)


def _shared(found: tuple[Probe, ProbeNull | None]) -> dict[str, Json]:
    probe, null = found
    known = probe.accuracy[~np.isnan(probe.accuracy)]
    return {
        "n": probe.n_tested,
        "state": probe.state.value,
        "estimate": float(known.max()) if len(known) else None,
        "chance": probe.chance,
        "majority": probe.majority,
        "p_best_entry": None if null is None else null.p_best,
    }


def _number(value: float) -> Json:
    return None if np.isnan(value) else float(value)
