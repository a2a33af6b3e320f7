"""A prefix chosen on half of the entities, and what it does to the other half."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from trueness.contract.serial import Json
from trueness.study.asked import Asked, ask_declared, found_of
from trueness.study.choosing import choose_condition
from trueness.study.found import Found
from trueness.study.partitions import matrix, mean_record, measured, part_of, reading_of
from trueness.study.results import Record
from trueness.study.second_model import with_second_model
from trueness.study.task import Task
from trueness.table import AnswerTable

Floats = NDArray[np.float64]

_MIN_COMMON = Fraction(9, 10)


@with_second_model
def run(task: Task) -> Found:
    """Held-out gain of the prefix that the certificate chooses, over many halves.

    Parameters
    ----------
    task : Task
        ``repeats``: at most so many entities of each relation.
    """
    asked = ask_declared(task)
    if isinstance(asked, Found):
        return asked
    splits = int(task.declaration.table("draws")["splits"])
    rng = np.random.default_rng(task.seed)
    rows = list[Record]()
    contrasts = dict[str, Record]()
    for relation in asked.relations:
        conditions = asked.table.conditions
        rows += [measured(asked, relation, name).row for name in conditions]
        gains, row = _halves(asked, relation, splits, rng)
        rows.append(row)
        found = mean_record(gains[np.newaxis], rng, "entities; the prefixes as they are")
        contrasts[f"gain_{relation}"] = {**found, **_moves(gains)}
    return found_of(task, asked, rows, contrasts, splits=splits)


def _halves(
    asked: Asked, relation: str, splits: int, rng: np.random.Generator
) -> tuple[Floats, dict[str, Json]]:
    """(n_entities,): mean gain while held out, and what was chosen how often."""
    names = asked.table.conditions
    right = dict(zip(names, matrix(asked, relation, names), strict=True))
    n = len(asked.relations[relation])
    total, held = np.zeros(n), np.zeros(n)
    chosen = Counter[str]()
    for half in _halved(n, splits, rng):
        taken = _choose(asked, relation, half)
        chosen[taken] += 1
        gain = right[taken] - right["none"]
        out = ~half & ~np.isnan(gain)
        total[out] += gain[out]
        held[out] += 1
    gains = np.divide(total, held, out=np.full(n, np.nan), where=held > 0)
    row: dict[str, Json] = {
        "name": f"{relation}_halves",
        "relation": relation,
        "splits": splits,
        "chosen": dict[str, Json](chosen.most_common()),
        "declined_share": chosen["none"] / splits,
        "held_out_gain": float(np.nanmean(gains)) if held.any() else None,
    }
    return gains, row


def _halved(n: int, splits: int, rng: np.random.Generator) -> Iterator[NDArray[np.bool_]]:
    for _ in range(splits):
        half = np.zeros(n, dtype=np.bool_)
        half[rng.permutation(n)[: n // 2]] = True
        yield half


def _choose(asked: Asked, relation: str, half: NDArray[np.bool_]) -> str:
    """The condition with provably fewest not right on these entities, or ``none``."""
    loaded = asked.relations[relation]
    ours = {entity for entity, taken in zip(loaded.entities, half.tolist(), strict=True) if taken}
    parts = [part_of(asked, relation, name) for name in asked.table.conditions]
    numbers = np.concatenate([part.row_number for part in parts])
    table = asked.table.take(np.isin(asked.table.row_number, numbers))
    entity = [] if table.entity is None else table.entity.values()
    table = table.take(np.array([name in ours for name in entity], dtype=np.bool_))

    def certify(part: AnswerTable) -> object:
        return reading_of(part, loaded, identity="never")

    decision = choose_condition(table, measure=certify, answer_set=True, min_common=_MIN_COMMON)  # type: ignore[arg-type] # a reading
    return decision.taken or "none"


def _moves(gains: Floats) -> dict[str, Json]:
    """How many entities gained and lost, while held out."""
    return {"repaired": int((gains > 0).sum()), "worsened": int((gains < 0).sum())}
