"""Choosing and withholding with the real certificate in the place of the plain scorers."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trueness import api
from trueness.contract import Reading, State, Verdict
from trueness.decide.replay import replay_choice
from trueness.decide.withhold import replay_withhold, withhold
from trueness.extract.keying import keyed
from trueness.extract.short import short_key
from trueness.sensors.orbits import Declaration, Params, measure
from trueness.study.choosing import choose_condition, for_choosing, lists_answers
from trueness.table import OUTCOMES, AnswerTable, Column, Outcome

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "asking.json"
VECTORS = [v for v in json.loads(GOLDEN.read_text("utf-8")) if v["kind"] == "choose"]


def table_of(conditions: list[dict[str, Any]], entities: list[str]) -> AnswerTable:
    rows = [
        (c["name"], entity, str(t), answer)
        for c in conditions
        for entity, said in zip(entities, c["answers"], strict=True)
        for t, answer in enumerate(said)
    ]
    outcome = [
        Outcome.ERROR if a == "!error" else Outcome.NO_ANSWER if a is None else Outcome.ANSWERED
        for *_, a in rows
    ]
    said = [short_key(a) if a and a != "!error" else None for *_, a in rows]
    return AnswerTable(
        item=Column.of(f"r|{e}|{t}" for _, e, t, _ in rows),
        epoch=np.ones(len(rows), dtype=np.int32),
        condition=Column.of(r[0] for r in rows),
        outcome=np.array([OUTCOMES.index(o) for o in outcome], dtype=np.int8),
        answer=Column.of(said),
        reason=Column.of(None if a else "empty" for a in said),
        row_number=np.arange(1, len(rows) + 1),
        entity=Column.of(r[1] for r in rows),
        entity_key=Column.of(short_key(r[1]) for r in rows),
        template=Column.of(r[2] for r in rows),
        extractor="test",
    )


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_golden_vector_with_the_certificate(vector: dict[str, Any]) -> None:
    given, expected = vector["input"], vector["expected"]
    declaration = for_choosing(Declaration(relation="injective", admissible=given["answer_set"]))
    params = Params.of(declaration, key=short_key)
    names = [c["name"] for c in given["conditions"]]
    decision = choose_condition(
        table_of(given["conditions"], given["entities"]),
        measure=lambda table: measure(table, params),
        answer_set=lists_answers(declaration),
        candidates=[n for n in names if n != "none"],
        accept_label_free=given["accept_label_free"],
        min_common=given["min_common"],
        answer_spaces={c["name"]: c["answer_space"] for c in given["conditions"]},
        added_tokens={c["name"]: c["tokens"] for c in given["conditions"]},
    )
    found = {**decision.details, "state": decision.state.value, "reason": decision.reason}
    assert {k: found[k] for k in expected} == expected
    assert replay_choice(decision) == ()


@pytest.mark.parametrize("templates", [("t",), ("t", "u")])
def test_a_refusal_names_the_options_that_lift_it(templates: Sequence[str]) -> None:
    rows = [
        {"entity": entity, "condition": condition, "template": template, "answer": entity[0]}
        for entity in ("Peru", "Chad")
        for condition in ("none", "prose")
        for template in templates
    ]
    decision = api.choose(rows)
    assert decision.state is State.NOT_APPLICABLE
    said = str(decision.details["to_do"])
    assert all(f"--{o}" in said for o in ("relation-file", "admissible", "accept-label-free"))


def test_identity_is_never_unless_declared_and_open_limits_are_no_answer_set() -> None:
    assert for_choosing(Declaration()).identity == "never"
    assert for_choosing(Declaration(identity="allowed")).identity == "allowed"
    assert not lists_answers(Declaration(relation="injective", capacities={"Paris": 1}))
    assert lists_answers(Declaration(admissible=["Paris"]))


def filled_column() -> AnswerTable:
    where = ROOT / "src" / "trueness" / "data" / "filled_column.csv"
    with where.open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    n = len(cells)
    said = Column.of(r["support_email"] for r in cells)
    return keyed(
        AnswerTable(
            item=Column.of(r["company"] for r in cells),
            epoch=np.ones(n, dtype=np.int32),
            condition=Column.of(["none"] * n),
            outcome=np.zeros(n, dtype=np.int8),
            answer=Column.of([None] * n),
            reason=Column.of([None] * n),
            row_number=np.arange(1, n + 1),
            completion=said,
            epochs_numbered=True,
        )
    )


def certified() -> Reading:
    declared = Params.of(Declaration(relation="injective"), key=short_key)
    return measure(filled_column(), declared)


@pytest.mark.parametrize("coverage", [None, 0.9, 0.75, 0.5])
def test_what_is_withheld_keeps_its_floors_against_the_truth(coverage: float | None) -> None:
    with (ROOT / "tests" / "data" / "filled_column_truth.csv").open(encoding="utf-8") as file:
        truth = {r["company"]: r["support_email"] for r in csv.DictReader(file)}
    reading = certified()
    assert reading.details["certified_errors"] == 463
    decision = withhold(reading, coverage=coverage)
    assert decision.details["n_withheld_by_outcome"] == 200
    said = {i.item: i.extra["answer"] for i in reading.per_item}
    wrong = {c for c, a in said.items() if a is not None and a != truth[c]}
    withheld = {c for c in decision.items(Verdict.WITHHOLD) if said[c] is not None}
    caught = len(withheld & wrong)
    precision, recall = (decision.details[f"{n}_floor"] for n in ("precision", "recall"))
    assert isinstance(precision, float)
    assert isinstance(recall, float)
    assert 0 < precision <= caught / len(withheld)
    assert 0 < recall <= caught / len(wrong)
    assert replay_withhold(decision, reading) == ()


@pytest.mark.parametrize("n_withheld", range(1, 11))
def test_the_order_proves_what_its_own_first_items_prove(n_withheld: int) -> None:
    """Three A for one entity, seven B for two: the best set of three is no start of the order."""
    answers = [*["a"] * 3, *["b"] * 7]
    names = [f"e{i}" for i in range(10)]
    table = table_of([{"name": "none", "answers": [[a] for a in answers]}], names)
    declared = Declaration(capacities={"a": 1, "b": 2}, default_capacity=1)
    reading = measure(table, Params.of(declared, key=short_key))
    decision = withhold(reading, coverage=f"{10 - n_withheld}/10")
    said = {i.item: i.extra["answer"] for i in reading.per_item}
    kinds = [said[i] for i in decision.items(Verdict.WITHHOLD)]
    proved = max(0, kinds.count("a") - 1) + max(0, kinds.count("b") - 2)
    assert len(kinds) == n_withheld
    assert decision.details["guaranteed_wrong_count"] == proved
