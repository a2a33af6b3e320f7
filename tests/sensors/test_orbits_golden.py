"""The golden vectors, through the sensor."""

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from orbit_tables import answer_table, declared

from trueness.contract import Reading, State
from trueness.sensors.orbits import Params, measure

VECTORS = json.loads((Path(__file__).parents[1] / "golden" / "orbits.json").read_text("utf-8"))


def of(kind: str) -> list[Any]:
    return [pytest.param(v, id=v["name"]) for v in VECTORS if v["kind"] == kind]


def declaration(given: Mapping[str, Any], **more: object) -> Params:
    return declared(**{**given, **more})


def check_floor(found: object, wanted: str | None) -> None:
    assert found == (None if wanted is None else float(Fraction(wanted)))


@pytest.mark.parametrize("vector", of("capacity"))
def test_one_column_agrees_with_every_truth_enumerated(vector: dict[str, Any]) -> None:
    given, want = vector["input"], vector["expected"]
    table = answer_table(
        given["entities"],
        [[a] for a in given["answers"]],
        outcomes=[[o] for o in given["outcomes"]],
    )
    reading = measure(table, declaration(given["declare"]))
    d = reading.details
    assert reading.state is State(want["state"])
    assert d["n_entities"] == want["n"]
    for name in ("n_answered", "n_no_answer", "n_error", "n_orbits", "certified_errors"):
        assert d[name] == want[name], name
    assert d["largest_orbit"] == want["largest_orbit"]
    check_floor(reading.value, want["value"])
    check_floor(d["not_right_floor"], want["not_right_floor"])
    assert d["breakdown"] == {**want["breakdown"]}
    withheld = [i.extra["entity"] for i in reading.per_item if i.state is State.MEASURED]
    if reading.state is State.MEASURED:
        assert set(withheld) == set(want["withheld"])
    assert d["n_withheld"] == len(want["withheld"])
    check_floor(d["precision_floor"], want["precision_floor"])
    check_floor(d["recall_floor"], want["recall_floor"])
    assert d["break_even_slack"] == want["break_even_slack"]
    assert Reading.from_dict(reading.to_dict()) == reading


@pytest.mark.parametrize("vector", of("assignment"))
def test_several_columns_agree_with_every_truth_enumerated(vector: dict[str, Any]) -> None:
    given, want = vector["input"], vector["expected"]
    table = answer_table(given["entities"], given["answers"])
    params = declaration(given["declare"])
    d = measure(table, params).details
    assert d["certified_errors"] == want["certified_errors"]
    assert d["n_answered"] == want["n_slots"]
    for name in ("sum_of_single_column_floors", "some_column_has_at_least"):
        assert d[name] == want.get(name, d[name])
    relaxed = measure(table, declaration(given["declare"], kind="relaxation")).details
    assert float(str(relaxed["certified_errors"])) <= want["certified_errors"]
    alone = {**given["declare"], "capacities": {}, "default_capacity": None, "closed": False}
    alone = {k: v for k, v in alone.items() if k in {"default_capacity", "slack"}}
    if "single_valued_only_floor" in want:
        found = measure(table, declared(**alone)).details["certified_errors"]
        assert found == want["single_valued_only_floor"]


@pytest.mark.parametrize("vector", of("candidates"))
def test_candidates_agree_with_every_truth_enumerated(vector: dict[str, Any]) -> None:
    given, want = vector["input"], vector["expected"]
    table = answer_table(given["entities"], [[a] for a in given["answers"]])
    reading = measure(table, declaration(given["declare"]))
    assert reading.state is State(want["state"])
    if "certified_errors" in want:
        assert reading.details["certified_errors"] == want["certified_errors"]
        simple = reading.details["simple_floor"]
        assert simple == want.get("simple_floor", simple)


@pytest.mark.parametrize("vector", of("increasing"))
def test_ordered_answers_agree_with_every_subset_tested(vector: dict[str, Any]) -> None:
    given, want = vector["input"], vector["expected"]
    rows = [a if isinstance(a, list) else [a] for a in given["answers"]]
    answers = [[None if a is None else str(a) for a in row] for row in rows]
    reading = measure(
        answer_table(given["entities_in_order"], answers), declaration(given["declare"])
    )
    assert reading.state is State(want["state"])
    if reading.state is not State.NOT_APPLICABLE:
        assert reading.details["certified_errors"] == want["certified_errors"]
        assert reading.details["n_no_answer"] == want.get("n_no_answer", 0)


@pytest.mark.parametrize("vector", of("involution"))
def test_involutions_agree_with_all_of_them_enumerated(vector: dict[str, Any]) -> None:
    given, want = vector["input"], vector["expected"]
    answers = given["answers"]
    columns = [a if isinstance(a, list) else [a] for a in answers.values()]
    declare = {k: v for k, v in given["declare"].items() if k != "entities"}
    reading = measure(answer_table(list(answers), columns), declaration(declare))
    assert reading.state is State(want["state"])
    if reading.state is not State.NOT_APPLICABLE:
        assert reading.details["certified_errors"] == want["certified_errors"]


@pytest.mark.parametrize("vector", of("inverse"))
def test_both_directions_agree_with_all_injections_enumerated(vector: dict[str, Any]) -> None:
    given, want = vector["input"], vector["expected"]
    table = answer_table(
        list(given["forward"]), [[a] for a in given["forward"].values()], inverse=given["inverse"]
    )
    declare = dict(given["declare"])
    if declare.get("closed"):
        declare["capacities"] = dict.fromkeys(declare["answers_asked_back"], 1)
    reading = measure(table, declaration(declare))
    assert reading.state is State(want["state"])
    assert reading.details["certified_errors"] == want["certified_errors"]
    assert reading.details["n_answered"] == want["n_slots"]


@pytest.mark.parametrize("vector", of("metric"))
def test_metric_answers_agree_with_independent_sets_enumerated(vector: dict[str, Any]) -> None:
    given, want = vector["input"], vector["expected"]
    answers = given["answers"]
    names = [f"e{i}" for i in range(len(answers))]
    columns = [[str(x) for x in (a if isinstance(a, list) else [a])] for a in answers]
    reading = measure(answer_table(names, columns), declaration(given["declare"]))
    assert reading.state is State(want["state"])
    assert reading.details["certified_errors"] == want["certified_errors"]
