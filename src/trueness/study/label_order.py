"""C17: entailment read by the name of a label, and by a fixed place in the output."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueness.backends.cross_encoder import CrossEncoder
from trueness.backends.entailment import THREE_WAY, Entailer, LabelOrder, judge_pairs, label_order
from trueness.contract.serial import Json
from trueness.contract.states import State
from trueness.study.assessed import above_half, absent
from trueness.study.crossed import Floats, kept
from trueness.study.embedded_inputs import levels
from trueness.study.found import Found
from trueness.study.protocol import Protocol, Scored, scored_from, scored_of
from trueness.study.results import Record
from trueness.study.slices import Slice, slices_of
from trueness.study.task import Task

ENTAILMENT, NEUTRAL, CONTRADICTION = THREE_WAY
ORDERS: Mapping[str, tuple[str, str, str]] = {
    "contradiction_first": (CONTRADICTION, NEUTRAL, ENTAILMENT),
    "entailment_second": (CONTRADICTION, ENTAILMENT, NEUTRAL),
    "entailment_first": (ENTAILMENT, NEUTRAL, CONTRADICTION),
}
"""Orders of labels that are in use, by a name of ours."""
MECHANICS = (
    "mechanics only: no entailment model comes along, so a scripted one stands for it that knows "
    "the labels; name a cross-encoder with --model"
)
_SURE, _SPREAD = 2.0, 1.5
"""Of the scripted model: logit of what it means, and deviation of its errors."""


@dataclass(frozen=True, slots=True)
class Probabilities:
    """What a model gives for each claim, in the model's own order of outputs.

    Parameters
    ----------
    name : str
    labels : mapping of int to str
    outputs : (n, 3) float
    """

    name: str
    labels: Mapping[int, str]
    outputs: Floats


def run(task: Task) -> Found:
    """What each reading of an entailment model's outputs is worth.

    Parameters
    ----------
    task : Task
        ``inputs``: a model is a cross-encoder by name or folder; without one the mechanics run.
        ``seed``: of the scripted model and of resamples.
        ``repeats``: groups of the slice.
    """
    task.only("data", "world", "model")
    (part,) = slices_of(task.declaration.slices, task.inputs, seed=task.seed, most=task.repeats)
    task.say(f"judging {len(part.table)} claims")
    place = levels(task.declaration, "place", int)[0]
    entailer = None if task.inputs.model is None else CrossEncoder(task.inputs.model)
    made = scripted(part, task.seed) if entailer is None else [judged_by(entailer, part, place)]
    table = [scored.to_record() for scored in (_scored(part, one, place) for one in made)]
    rows, contrasts = judged(table, Protocol(seed=task.seed))
    return Found(
        rows=rows,
        contrasts=contrasts,
        draws={"repeats": task.repeats, "place": place},
        notes=() if entailer is not None else (f"{MECHANICS[0].upper()}{MECHANICS[1:]}.",),
        data=(part.record(),),
        model=None if entailer is None else dict(entailer.identity),
        table=tuple(table),
        not_applicable=MECHANICS if entailer is None else None,
    )


def judged(
    table: Sequence[Record], protocol: Protocol
) -> tuple[tuple[Record, ...], dict[str, Record]]:
    """One row an order of labels and reading, and the contrasts, from the table alone.

    Parameters
    ----------
    table : sequence of mapping
        As a run leaves them: risks under each reading.
    protocol : Protocol
    """
    rows = tuple(row for record in table for row in _rows(scored_from(record), protocol))
    by_name = [row for row in rows if row["reading"] == ENTAILMENT]
    by_place = [row for row in rows if row["reading"] == "place"]
    return rows, {
        "by_name": _worst(by_name, "the label's name"),
        "by_place": _worst(by_place, "a fixed place"),
        "spread": _spread(by_place),
        "spread_by_name": _spread(by_name),
    }


def scripted(part: Slice, seed: int) -> list[Probabilities]:
    """A model that knows the labels up to noise, with its outputs in every order in use.

    Parameters
    ----------
    part : Slice
    seed : int
    """
    rng = np.random.default_rng(seed)
    wrong = part.unsupported
    logits = rng.normal(scale=_SPREAD, size=(len(wrong), len(THREE_WAY)))
    logits[~wrong, THREE_WAY.index(ENTAILMENT)] += _SURE
    logits[wrong, THREE_WAY.index(CONTRADICTION)] += _SURE
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return [
        Probabilities(
            name,
            dict(enumerate(order)),
            shares[:, [THREE_WAY.index(label) for label in order]],
        )
        for name, order in ORDERS.items()
    ]


def judged_by(entailer: Entailer, part: Slice, place: int) -> Probabilities:
    """The largest probability of each label over the passages of every claim.

    Parameters
    ----------
    entailer : Entailer
    part : Slice
    place : int
        Whose label the published reading takes.
    """
    labels: Any = entailer.identity["labels"]
    order = {int(where): str(name) for name, where in labels.items() if where is not None}
    outputs = np.zeros((len(part.table), max(*order, place) + 1))
    for row in range(len(part.table)):
        said = str(part.table.claim[row] or "")
        found = judge_pairs(entailer, [(p, said) for p in part.table.passages(row)])
        for where, name in order.items():
            outputs[row, where] = max((getattr(f, name) for f in found), default=0.0)
    return Probabilities(str(entailer.identity["id"]), order, outputs)


def _scored(part: Slice, made: Probabilities, place: int) -> Scored:
    """Risks by name and by place: entailment and the place are taken for support."""
    known: LabelOrder = label_order(made.labels)
    columns = {
        ENTAILMENT: -made.outputs[:, known.entailment],
        "place": -made.outputs[:, place],
    }
    if known.contradiction is not None:
        columns[CONTRADICTION] = made.outputs[:, known.contradiction]
    return scored_of(
        f"{made.name}:{made.labels.get(place)}",
        [str(name) for name in part.table.item.values()],
        part.groups,
        part.unsupported,
        {name: kept(column) for name, column in columns.items()},
        data=part.name,
    )


def _rows(scored: Scored, protocol: Protocol) -> Iterator[dict[str, Json]]:
    name, _, at_place = scored.name.partition(":")
    for reading in scored.columns:
        ranked = above_half(scored, reading, protocol)
        yield {
            "name": f"{name}_{reading}",
            "order": name,
            "reading": reading,
            "label_at_place": at_place,
            "published_is_contradiction": at_place == CONTRADICTION,
            "auroc": ranked["estimate"],
            "low": ranked["low"],
            "high": ranked["high"],
            "n": ranked["n"],
        }


def _worst(rows: Sequence[Mapping[str, Any]], how: str) -> Record:
    """The reading of the order of labels under which it is worth least."""
    known = [row for row in rows if row["auroc"] is not None]
    if not known:
        return absent("a class is empty")
    least = min(known, key=lambda row: float(row["auroc"]))
    return {
        "estimate": least["auroc"],
        "low": least["low"],
        "high": least["high"],
        "n": least["n"],
        "contradiction": int(least["published_is_contradiction"]),
        "state": State.MEASURED.value,
        "where": f"read by {how}, {least['order']}",
    }


def _spread(rows: Sequence[Mapping[str, Any]]) -> Record:
    known = [float(row["auroc"]) for row in rows if row["auroc"] is not None]
    if not known:
        return absent("a class is empty")
    return {
        "estimate": max(known) - min(known),
        "n": len(known),
        "state": State.MEASURED.value,
    }
