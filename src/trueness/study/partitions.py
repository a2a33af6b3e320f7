"""What the certificate, the golds and the classes of answers say of one relation's rows."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.contract import Reading
from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.sensors import orbits
from trueness.sensors.orbits.certificate import Certificate
from trueness.sensors.orbits.certify import certify
from trueness.sensors.orbits.slots import slots_of
from trueness.stats.crossed_means import KIND, crossed_mean
from trueness.study.asked import Asked
from trueness.study.declared import declared_by, params_of
from trueness.study.results import Record
from trueness.table import NULL, OUTCOMES, AnswerTable, Column, Outcome, Relation

Floats = NDArray[np.float64]

_BESIDE = ("gold_rank", "logit_gap", "logit_gap_sd", "constrained_accuracy")
_OF_MEANS = ("estimate", "low", "high", "p", "p_holm", "detectable")
_ERROR = OUTCOMES.index(Outcome.ERROR)
_ANSWERED = OUTCOMES.index(Outcome.ANSWERED)


def part_of(asked: Asked, relation: str, condition: str) -> AnswerTable:
    """The rows of one relation under one condition, forward questions only."""
    part = asked.table.only(condition)
    if part.relation is None:
        msg = "the table has no column relation; only tables that `ask` wrote are measured here."
        raise InputError(msg)
    return part.take(part.relation.codes == _code(part.relation, asked.relations[relation].name))


def reading_of(table: AnswerTable, relation: Relation, **words: object) -> Reading:
    """The certificate of rows under what a relation declares; keywords win.

    An entity's own name counts as nobody's answer only where the relation says so.
    """
    part, declared = declared_by(table, relation, words)
    return orbits.measure(part, params_of(part, declared))


def right(table: AnswerTable) -> Floats:
    """(n_rows,): 1 where the answer is among the golds, 0 where not or no answer, nan if missing.

    Rows without golds are nan too.
    """
    if table.target is None:
        return np.full(len(table), np.nan)
    pairs = zip(table.answer.values(), table.target.values(), strict=True)
    found = np.array(
        [np.nan if not golds else float(answer in golds) for answer, golds in pairs], np.float64
    )
    found[table.outcome == _ERROR] = np.nan
    return found


def right_by_entity(table: AnswerTable, entities: Sequence[str]) -> Floats:
    """(n_entities,): mean of `right` over each entity's rows; nan where none came back."""
    values = right(table)
    held = [] if table.entity is None else list(table.entity.values())
    place = {name: i for i, name in enumerate(entities)}
    at = np.array([place.get(str(name), -1) for name in held], dtype=np.intp)
    seen = (at >= 0) & ~np.isnan(values)
    total = np.bincount(at[seen], values[seen], minlength=len(entities))
    n = np.bincount(at[seen], minlength=len(entities))
    mean: Floats = np.divide(total, n, out=np.full(len(entities), np.nan), where=n > 0)
    return mean


def certified_shares(table: AnswerTable, relation: Relation, entities: Sequence[str]) -> Floats:
    """(n_entities,): each answer's share of what is certified wrong in its orbit.

    In one wording the shares add up to the certified errors of the relation's answer set. nan
    where nothing came back; a no-answer has 0.
    """
    part, declared = declared_by(table, relation)
    params = params_of(part, declared)
    slots = slots_of(part, params)
    found = certify(slots, params)
    place = {name: i for i, name in enumerate(entities)}
    shares = np.full(len(entities), np.nan)
    for slot in np.flatnonzero(~slots.missing).tolist():
        at = place.get(str(slots.entities[int(slots.entity[slot])]))
        if at is None or not isinstance(found, Certificate):
            continue
        proved = bool(found.withheld[slot]) and found.share is not None
        shares[at] = np.nan_to_num(shares[at]) + (found.share_of(slot) or 0.0 if proved else 0.0)
    return shares


@dataclass(frozen=True, slots=True)
class Measured:
    """One relation under one condition."""

    row: Record
    reading: Reading

    @property
    def violated(self) -> bool:
        """Whether more was certified wrong than is wrong: a bug, or a false declaration."""
        found = self.reading.details
        certified, true = found["certified_errors"], found["true_errors"]
        return isinstance(certified, int) and isinstance(true, int) and certified > true


def measured(asked: Asked, relation: str, condition: str) -> Measured:
    """The row of a result: counts, orbits, certified and true errors, shares of the classes.

    ``t1`` are the errors certified by coincidence alone, ``t1_star`` those with the relation's
    answers declared.
    """
    part = part_of(asked, relation, condition)
    reading = reading_of(part, asked.relations[relation])
    d = reading.details
    values = right(part)
    row: dict[str, Json] = {
        "name": re.sub(r"\W+", "_", f"{relation}_{condition}"),
        "relation": relation,
        "condition": condition,
        "class": asked.classes.get(condition, condition),
        "n": len(part),
        "n_missing": int((part.outcome == _ERROR).sum()),
        "outcomes": _outcomes(part),
        "state": str(reading.state),
        "n_orbits": d["n_orbits"],
        "largest_orbit": d["largest_orbit"],
        "t1": surplus(part),
        "t1_star": d["certified_errors"],
        "true_errors": d["true_errors"],
        "n_not_right": d["n_not_right"],
        "not_right_floor": d["not_right_floor"],
        "n_echo": d["n_echo"],
        "n_other_entity": d["n_other_entity"],
        **accuracy_of(values),
        **{name: d[name] for name in _BESIDE if name in d},
    }
    return Measured(row, reading)


def accuracy_of(values: Floats) -> dict[str, Json]:
    """Accuracy over rows that came back; with missing rows also its two worst cases."""
    n, missing = int((~np.isnan(values)).sum()), int(np.isnan(values).sum())
    hits = float(np.nansum(values))
    found: dict[str, Json] = {"accuracy": hits / n if n else None, "n_scored": n}
    if missing:
        found |= {
            "accuracy_if_missing_wrong": hits / (n + missing),
            "accuracy_if_missing_right": (hits + missing) / (n + missing),
        }
    return found


def only_template(table: AnswerTable, relation: Relation, number: int = 0) -> AnswerTable:
    """The rows of one wording of a relation, by its place in the relation's file."""
    if table.template is None:
        return table
    return table.take(table.template.codes == _code(table.template, relation.templates[number]))


def matrix(
    asked: Asked, relation: str, conditions: Sequence[str], *, less: Sequence[str] = ()
) -> Floats:
    """(n_conditions, n_entities): right answers; with ``less``, those of a partner subtracted."""
    entities = asked.relations[relation].entities

    def rows(names: Sequence[str]) -> Floats:
        found = [right_by_entity(part_of(asked, relation, name), entities) for name in names]
        return np.array(found, dtype=np.float64)

    return rows(conditions) - rows(less) if less else rows(conditions)


def mean_record(values: Floats, rng: np.random.Generator, unit: str) -> dict[str, Json]:
    """The mean of differences as a contrast's fields; state ``NO_EVIDENCE`` without any."""
    found = crossed_mean(values, rng=rng)
    if found is None:
        nothing: dict[str, Json] = dict.fromkeys(_OF_MEANS)
        return {**nothing, "n": 0, "state": "NO_EVIDENCE"}
    return {
        "n": found.n,
        "estimate": found.estimate,
        "low": found.low,
        "high": found.high,
        "kind": KIND,
        "p": found.p,
        "n_units": [found.n_rows, found.n_columns],
        "resampled": unit,
        "detectable": found.detectable,
        "state": "MEASURED",
    }


def _code(column: Column[str], word: str) -> int:
    words = list(column.words)
    return words.index(word) if word in words else NULL - 1


def surplus(table: AnswerTable) -> int:
    """Answers beyond the first of each orbit, over the columns of templates."""
    ok = table.outcome == _ANSWERED
    column = np.zeros(len(table), np.int64) if table.template is None else table.template.codes
    pairs = {(int(t), int(a)) for t, a in zip(column[ok], table.answer.codes[ok], strict=True)}
    return int(ok.sum()) - len({p for p in pairs if p[1] != NULL})


def _outcomes(table: AnswerTable) -> dict[str, Json]:
    counts = np.bincount(table.outcome, minlength=len(OUTCOMES))
    return {str(o): int(n) for o, n in zip(OUTCOMES, counts, strict=True) if n}
