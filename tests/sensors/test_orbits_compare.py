"""Two tables compared: golden vectors, recounts by listing pairs, states."""

import json
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orbit_tables import answer_table, declared

from trueness.contract import Reading, State
from trueness.contract.errors import InputError
from trueness.sensors.orbits import Params, compare, measure

GOLDEN = Path(__file__).parents[1] / "golden"
COMPARISONS = [
    v for v in json.loads((GOLDEN / "orbits.json").read_text("utf-8")) if v["kind"] == "comparison"
]
REPAIRS = [
    v for v in json.loads((GOLDEN / "asking.json").read_text("utf-8")) if v["kind"] == "repair"
]
INJECTIVE = declared(relation="injective")
Cells = list[str | None]


def one_column(
    before: Cells, after: Cells, params: Params | None = None, **more: Any
) -> dict[str, Any]:
    names = [f"e{i}" for i in range(len(before))]
    one, two = (answer_table(names, [[a] for a in side]) for side in (before, after))
    return dict(compare(one, two, params, **more).details)


@pytest.mark.parametrize("vector", COMPARISONS, ids=lambda v: v["name"])
def test_golden_comparison(vector: dict[str, Any]) -> None:
    want = vector["expected"]
    d = one_column(vector["input"]["before"], vector["input"]["after"], rand=True)
    for name in ("pairs_merged", "pairs_split", "pairs_together_in_both"):
        assert d[name] == want[name]
    assert d["churn"] == float(Fraction(want["churn"]))
    for name in ("split_information", "merge_information", "variation_of_information"):
        assert d[name] == pytest.approx(want[f"{name}_bits"], abs=vector["tolerance"])
    index = want["adjusted_rand"]
    assert d["adjusted_rand"] == (None if index is None else float(Fraction(index)))
    assert (d["adjusted_rand_warning"] is not None) == want["adjusted_rand_degenerate"]


@pytest.mark.parametrize("vector", REPAIRS, ids=lambda v: v["name"])
def test_golden_repair_verdict(vector: dict[str, Any]) -> None:
    want = vector["expected"]
    d = one_column(vector["input"]["before"], vector["input"]["after"])
    assert d["verdict"] == want["verdict"]
    assert d["pairs_merged"] == want["pairs_merged"]
    assert d["pairs_split"] == want["pairs_split"]


cells = st.sampled_from(["a", "b", "c", None, "!error"])


@given(
    rows=st.lists(
        st.tuples(st.tuples(cells, cells), st.tuples(cells, cells)), min_size=1, max_size=6
    )
)
def test_pairs_lie_within_columns_and_agree_with_listing_them(
    rows: list[tuple[tuple[str | None, ...], tuple[str | None, ...]]],
) -> None:
    names = [f"e{i}" for i in range(len(rows))]
    before = answer_table(names, [list(b) for b, _ in rows])
    after = answer_table(names, [list(a) for _, a in rows])
    reading = compare(before, after, INJECTIVE)
    merged = split = changed = 0
    for t in range(2):
        said = [(b[t], a[t]) for b, a in rows if {b[t], a[t]}.isdisjoint({None, "!error"})]
        changed += sum(b != a for b, a in said)
        for (b, a), (c, d) in combinations(said, 2):
            merged += b != c and a == d
            split += b == c and a != d
    d_ = reading.details
    assert (d_["pairs_merged"], d_["pairs_split"], d_["n_changed"]) == (merged, split, changed)
    assert sum(map(sum, d_["outcomes"])) == 2 * len(rows)  # type: ignore[arg-type] # a wrong value on purpose
    assert Reading.from_dict(reading.to_dict()) == reading
    json.dumps(d_)


@given(rows=st.lists(st.tuples(cells, cells), min_size=1, max_size=7), seed=st.integers(0, 9))
def test_turned_round_and_reordered_it_is_the_same_change_backwards(
    rows: list[tuple[str | None, str | None]], seed: int
) -> None:
    names = [f"e{i}" for i in range(len(rows))]
    before = answer_table(names, [[b] for b, _ in rows])
    after = answer_table(names, [[a] for _, a in rows])
    shuffled = after.take(np.random.default_rng(seed).permutation(len(rows)))
    there, back = compare(before, after, INJECTIVE), compare(shuffled, before, INJECTIVE)
    assert there.state is back.state
    assert there.details["pairs_merged"] == back.details["pairs_split"]
    assert there.details["merge_information"] == pytest.approx(back.details["split_information"])
    one, two = (r.details["certified_errors_change"] for r in (there, back))
    assert one == -two  # type: ignore[operator] # a wrong value on purpose
    if there.value is not None:
        assert back.value is not None
        assert there.value == pytest.approx(-back.value)


def test_the_change_counts_slots_that_came_back_on_both_sides_only() -> None:
    d = one_column(["x", "x", "y", "!error"], ["x", "z", None, "w"], INJECTIVE)
    assert d["n_common"] == 3
    assert (d["certified_errors_before"], d["certified_errors_after"]) == (1, 0)
    assert d["not_right_floor_change"] == 0.0  # one wrong before, one without an answer after


def test_entities_of_one_side_are_left_out_and_said() -> None:
    before = answer_table(["a", "b", "c"], [["x"], ["x"], ["x"]])
    after = answer_table(["c", "a"], [["x"], ["y"]])
    reading = compare(before, after, INJECTIVE)
    assert reading.details["n_common"] == 2
    assert reading.details["certified_errors_change"] == -1
    assert "1 slots stand before only" in json.dumps(reading.to_dict())


def test_without_a_proof_on_either_side_the_change_is_silent() -> None:
    names = ["a", "b"]
    reading = compare(
        answer_table(names, [["x"], ["y"]]), answer_table(names, [["y"], ["x"]]), INJECTIVE
    )
    assert reading.state is State.SILENT
    assert reading.value is None
    assert reading.details["verdict"] == "relabelled"


def test_nothing_that_came_back_twice_is_no_evidence() -> None:
    names = ["a", "b"]
    reading = compare(
        answer_table(names, [["x"], ["!error"]]), answer_table(names, [["!error"], ["x"]])
    )
    assert reading.state is State.NO_EVIDENCE
    assert reading.details["verdict"] is None


def test_an_impossible_declaration_is_named_with_its_side() -> None:
    names = ["a", "b"]
    table = answer_table(names, [["x"], ["x"]])
    reading = compare(table, table, declared(admissible=["x"]))
    assert reading.state is State.NOT_APPLICABLE
    assert str(reading.reason).startswith("before: ")


def test_tables_without_a_common_slot_are_refused() -> None:
    with pytest.raises(InputError, match="no slot is in both tables"):
        compare(answer_table(["a"], [["x"]]), answer_table(["b"], [["x"]]))


def test_accuracy_and_its_exact_p_need_golds_on_both_sides() -> None:
    names = [f"e{i}" for i in range(8)]
    golds = [f"g{i}" for i in range(8)]
    wrong = answer_table(names, [[f"q{i}"] for i in range(8)], golds=golds)
    right = answer_table(names, [[g] for g in golds], golds=golds)
    d = compare(wrong, right).details
    assert (d["accuracy_before"], d["accuracy_after"]) == (0.0, 1.0)
    assert d["mcnemar_p"] == pytest.approx(2 / 2**8)
    unknown = answer_table(names, [[g] for g in golds])
    assert compare(wrong, unknown).details["accuracy_before"] is None


def test_the_floors_are_those_of_the_tables_when_both_hold_the_same_slots() -> None:
    names = ["a", "b", "c"]
    before = answer_table(names, [["x", "y"], ["x", "x"], ["z", None]])
    after = answer_table(names, [["x", "x"], ["x", "x"], ["x", "x"]])
    d = compare(before, after, INJECTIVE).details
    for side, table in (("before", before), ("after", after)):
        alone = measure(table, INJECTIVE).details
        assert d[f"certified_errors_{side}"] == alone["certified_errors"]
        assert d[f"not_right_floor_{side}"] == alone["not_right_floor"]
