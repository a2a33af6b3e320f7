"""Ceilings of sampled answers and of recovery, and colliding golds."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orbit_tables import answer_table, declared

from trueness.contract import State
from trueness.contract.errors import InputError
from trueness.sensors.orbits import (
    Declaration,
    floors_from_counts,
    gold_collisions,
    measure,
)
from trueness.table import AnswerTable, Column, Protocol

VECTORS = json.loads((Path(__file__).parents[1] / "golden" / "orbits.json").read_text("utf-8"))
SAMPLED = declared(relation="injective", delta=0.05)
CEILING = ("accuracy_ceiling", "ceiling_kind", "ceiling_level")


def of(kind: str) -> list[Any]:
    return [pytest.param(v, id=v["name"]) for v in VECTORS if v["kind"] == kind]


def table_with(max_right: int, n_slots: int) -> AnswerTable:
    """One column in which an injective declaration leaves so many answers right."""
    answers = [f"a{i}" for i in range(max_right)] + [None] * (n_slots - max_right)
    return answer_table([f"e{i}" for i in range(n_slots)], [[a] for a in answers])


def asked_at(table: AnswerTable, **fields: Any) -> AnswerTable:
    return replace(table, protocols={"none": Protocol(fields)})


@pytest.mark.parametrize("vector", of("sampled"))
def test_golden_ceiling(vector: dict[str, Any]) -> None:
    given_, want = vector["input"], vector["expected"]
    table = table_with(given_["max_right"], given_["n_slots"])
    d = measure(table, declared(relation="injective", delta=given_["delta"])).details
    wanted = want["ceiling_clopper_pearson_corrected"]
    assert d["accuracy_ceiling"] == pytest.approx(wanted, abs=vector["tolerance"])
    assert d["ceiling_kind"] == "corrected Clopper-Pearson"
    assert d["ceiling_level"] == 0.95


@pytest.mark.parametrize(
    ("probabilities", "delta"),
    [([1.0, 0.95], 0.05), ([0.5, 0.5, 0.5], 0.2), ([1.0, 1.0, 0.8], 0.2), ([0.3, 0.9, 0.6], 0.1)],
)
def test_the_ceiling_fails_no_more_often_than_delta(
    probabilities: list[float], delta: float
) -> None:
    """All outcomes of independent draws, enumerated; wrong draws are inadmissible."""
    params = declared(admissible=[f"g{i}" for i in range(len(probabilities))], delta=delta)
    failed = 0.0
    for right in product([True, False], repeat=len(probabilities)):
        table = answer_table(
            [f"e{i}" for i in range(len(right))],
            [[f"g{i}" if r else "nonsense"] for i, r in enumerate(right)],
        )
        ceiling = measure(table, params).details["accuracy_ceiling"]
        assert isinstance(ceiling, float)
        weight = np.prod([p if r else 1 - p for p, r in zip(probabilities, right, strict=True)])
        failed += float(weight) * (np.mean(probabilities) > ceiling)
    assert failed <= delta + 1e-12


def test_without_delta_there_is_no_ceiling_and_no_reason() -> None:
    reading = measure(table_with(2, 3), declared(relation="injective"))
    assert all(reading.details[name] is None for name in (*CEILING, "ceiling_reason"))
    assert "ceiling" not in json.dumps(reading.to_dict()["blocks"])


def test_the_conditions_are_printed_with_the_ceiling() -> None:
    blocks = json.dumps(measure(table_with(2, 3), SAMPLED).to_dict()["blocks"])
    assert "fixed before any was seen" in blocks
    assert "independent given the prompt" in blocks


def test_contrasts_share_delta() -> None:
    shared = measure(
        table_with(3, 9), declared(relation="injective", delta=0.1, contrasts=4)
    ).details
    alone = measure(table_with(3, 9), declared(relation="injective", delta=0.025)).details
    assert [shared[n] for n in CEILING] == [alone[n] for n in CEILING]


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (asked_at(table_with(2, 3), decoding={"temperature": 0.0}), "temperature 0"),
        (asked_at(table_with(2, 3), doubtful=True), "independence is doubtful"),
        (asked_at(table_with(2, 3), stopped_early=True), "stopped early"),
        (replace(table_with(2, 3), completed=False), "stopped early"),
        (asked_at(table_with(2, 3), unstable="answers moved"), "answers moved"),
        (answer_table(["a"], [["!error"]]), "no draw returned"),
    ],
)
def test_a_table_whose_draws_are_not_draws_has_no_ceiling_and_says_why(
    table: AnswerTable, why: str
) -> None:
    reading = measure(table, SAMPLED)
    assert all(reading.details[name] is None for name in CEILING)
    assert why in str(reading.details["ceiling_reason"])
    assert "no ceiling" in json.dumps(reading.to_dict()["blocks"])


def test_identical_draws_make_independence_doubtful() -> None:
    n = 12
    table = replace(
        answer_table(["a", "b"], [["x"] * 6, ["y"] * 6]),
        item=Column.of(["a"] * 6 + ["b"] * 6),
        template=None,
        epoch=np.array([*range(1, 7)] * 2, dtype=np.int32),
        completion=Column.of(["said x"] * 6 + ["said y"] * 6),
    )
    assert len(table) == n
    assert "doubtful" in str(measure(table, SAMPLED).details["ceiling_reason"])
    varied = replace(table, completion=Column.of([f"said {i}" for i in range(n)]))
    assert measure(varied, SAMPLED).details["ceiling_reason"] is None


@pytest.mark.parametrize("delta", [0.25, 0.3, 0, -0.1, 1, float("nan"), "0.05", True])
def test_delta_outside_of_its_range_is_refused(delta: object) -> None:
    with pytest.raises(InputError, match="delta is"):
        Declaration(delta=delta)  # type: ignore[arg-type] # what a caller may hand in


def test_contrasts_below_one_are_refused() -> None:
    with pytest.raises(InputError, match="contrasts is 0"):
        Declaration(delta=0.05, contrasts=0)


def test_a_ceiling_alone_declares_nothing_about_the_truth() -> None:
    assert Declaration(delta=0.05).declares_nothing


@pytest.mark.parametrize("vector", [v for v in of("recovery") if not v.values[0]["input"]["prior"]])
def test_golden_recovery(vector: dict[str, Any]) -> None:
    given_, want = vector["input"], vector["expected"]
    d = measure(answer_table(given_["entities"], given_["answers"])).details
    wanted = [float(Fraction(c)) for c in want["ceiling_per_template"]]
    assert d["recovery_ceiling_per_column"] == wanted
    assert d["recovery_ceiling_joint"] == float(Fraction(want["ceiling_joint"]))


cells = st.sampled_from(["a", "b", None, "!error"])


@given(rows=st.lists(st.tuples(cells, cells), min_size=1, max_size=7))
def test_recovery_counts_distinct_symbols(rows: list[tuple[str | None, str | None]]) -> None:
    d = measure(answer_table([f"e{i}" for i in range(len(rows))], [list(r) for r in rows])).details
    for t in range(2):
        said = [r[t] for r in rows if r[t] != "!error"]
        wanted = len(set(said)) / len(said) if said else None
        assert d["recovery_ceiling_per_column"][t] == wanted  # type: ignore[index] # plain JSON
    whole = [r for r in rows if "!error" not in r]
    assert d["recovery_ceiling_joint"] == (len(set(whole)) / len(whole) if whole else None)


@pytest.mark.parametrize("vector", of("gold-collisions"))
def test_golden_gold_collisions(vector: dict[str, Any]) -> None:
    want = vector["expected"]
    found = gold_collisions(vector["input"]["encoded_golds"], str)
    assert found.capacities == want["capacities"]
    assert [list(group) for group in found.groups] == want["colliding_groups"]
    assert found.n_pairs == want["n_colliding_pairs"]
    assert found.injective == want["injective"]
    everyone = [p for group in found.groups for p in combinations(group, 2)]
    assert list(found.pairs()) == everyone[:20]


def test_a_gold_without_a_key_is_refused() -> None:
    with pytest.raises(InputError, match="right for 'Peru'"):
        gold_collisions({"Peru": ""}, lambda gold: gold or None)


def test_colliding_golds_are_a_caution_although_the_count_holds() -> None:
    table = answer_table(["a", "b", "c"], [["q"], ["q"], ["z"]], golds=["x", "x", "z"])
    reading = measure(table, declared(relation="injective"))
    assert reading.state is State.MEASURED
    assert "do not keep to the declaration" in json.dumps(reading.to_dict()["blocks"])
    slack = measure(table, declared(relation="injective", slack=1))
    assert "do not keep" not in json.dumps(slack.to_dict()["blocks"])


def test_a_gold_outside_of_the_list_is_a_caution() -> None:
    table = answer_table(["a", "b"], [["q"], ["z"]], golds=["x", "z"])
    blocks = json.dumps(measure(table, declared(admissible=["z", "y"])).to_dict()["blocks"])
    assert "'x' is right for 1 and not in the list" in blocks


def test_golds_within_the_declaration_bring_no_caution() -> None:
    table = answer_table(["a", "b"], [["q"], ["z"]], golds=["x", "z"])
    blocks = json.dumps(measure(table, declared(relation="injective")).to_dict()["blocks"])
    assert "do not keep" not in blocks


def test_floors_from_counts_stand_with_the_sensor() -> None:
    assert floors_from_counts(20, 1, n_in_shared_orbits=20).precision_floor_shared_orbits
