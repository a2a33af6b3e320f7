"""Two checkpoints: what is refused, what does not apply, what is listed, and the strata."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from atlas_tables import ERROR, REFUSED, TRUNCATED, Cell, drawn, spread

from trueness import api
from trueness.contract import Reading, State
from trueness.contract.errors import InputError, ProtocolError
from trueness.sensors.atlas import Params, compare, measure
from trueness.sensors.atlas.protocols import compare_protocols
from trueness.table import AnswerTable

QUICK = Params(replicates=200)
CLOUD = ("g", "g", "a", None)
SAMPLED: dict[str, Any] = {"top_p": 1.0, "max_tokens": 64, "template": "t", "condition": "none"}


def compared(one: AnswerTable, two: AnswerTable, **given: Any) -> Reading:
    return compare(one, two, replace(QUICK, **given))


def verdict(found: Reading) -> Mapping[str, Any]:
    said = found.details["verdict"]
    assert isinstance(said, Mapping)
    return said


def part(found: Reading, name: str, order: int = 2) -> Mapping[str, Any]:
    parts: Any = found.details["parts"]
    entry: Mapping[str, Any] = parts[str(order)][name]
    return entry


def said(found: Reading) -> str:
    return json.dumps(found.to_dict()["blocks"], ensure_ascii=False)


# Protocols ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [1.0, 0.70001, "0.7"])
def test_a_field_that_differs_is_refused_with_both_values(value: object) -> None:
    one, two = drawn({"q": CLOUD}), drawn({"q": CLOUD}, protocol={"temperature": value})  # type: ignore[dict-item] # JSON
    message = rf"differ in temperature: 0\.7 before and {json.dumps(value)} after.*--allow-differ"
    with pytest.raises(ProtocolError, match=message):
        compared(one, two)
    found = compared(one, two, allow_differ=("temperature",))
    assert found.details["differs"] == ["temperature"]
    assert found.details["status"] == "exploratory"
    assert "These protocols differ (temperature)" in said(found)


def test_a_field_known_on_one_side_only_is_refused_as_unknown() -> None:
    one, two = drawn({"q": CLOUD}, protocol={"top_p": 0.9}), drawn({"q": CLOUD})
    with pytest.raises(ProtocolError, match=r"top_p: 0\.9 before and unknown after"):
        compared(one, two)
    with pytest.raises(ProtocolError, match=r"top_p: unknown before and 0\.9 after"):
        compared(two, one)
    assert compared(one, two, allow_differ=("top_p",)).details["differs"] == ["top_p"]


def test_fields_unknown_on_both_sides_are_named_and_refuse_nothing() -> None:
    found = compared(drawn({"q": CLOUD}), drawn({"q": CLOUD}))
    names = ["top_p", "max_tokens", "template", "condition"]
    assert found.details["protocol_unverified"] == names
    assert "not verified: top_p, max_tokens" in said(found)
    known = compared(drawn({"q": CLOUD}, protocol=SAMPLED), drawn({"q": CLOUD}, protocol=SAMPLED))
    assert known.details["protocol_unverified"] == []
    assert known.details["status"] == "validated"


def test_another_extractor_is_refused_with_the_way_out() -> None:
    one, two = drawn({"q": CLOUD}), replace(drawn({"q": CLOUD}), extractor="declared@2")
    with pytest.raises(
        ProtocolError, match=r'"verbatim" before and "declared@2" after.*--extractor'
    ):
        compared(one, two)
    assert compared(one, two, allow_differ=("extractor",)).state is State.MEASURED


def test_a_model_a_revision_and_a_seed_may_differ() -> None:
    one = drawn({"q": CLOUD}, protocol={"model": "a", "revision": "1", "seed": 1})
    two = drawn({"q": CLOUD}, protocol={"model": "b", "revision": "2", "seed": 2})
    assert compared(one, two).details["differs"] == []


def test_shared_seeds_void_the_error_of_the_fixed_slice_alone() -> None:
    shared = drawn(spread(3, CLOUD), protocol={"seed": 5})
    found = compared(shared, shared)
    entry = part(found, "total")
    assert (entry["se_fixed_slice"], entry["fixed_slice_state"]) == (None, "NOT_APPLICABLE")
    assert "same seed" in said(found)
    free = compared(drawn(spread(3, CLOUD)), drawn(spread(3, CLOUD)))
    assert part(free, "total")["fixed_slice_state"] != "NOT_APPLICABLE"


# Items -------------------------------------------------------------------------------------------


def test_no_common_item_names_the_first_of_both_sides() -> None:
    one, two = drawn({f"a{i}": CLOUD for i in range(5)}), drawn({f"b{i}": CLOUD for i in range(5)})
    with pytest.raises(InputError, match=r"'a0', 'a1', 'a2' and 'b0', 'b1', 'b2'.*--item"):
        compared(one, two)


def test_too_few_common_items_are_refused_with_both_counts() -> None:
    one, two = drawn(spread(10, CLOUD)), drawn({**spread(8, CLOUD), "other": CLOUD})
    with pytest.raises(InputError, match=r"8 items are in both tables, of 10 before and 9 after"):
        compared(one, two)
    found = compared(one, two, min_overlap=0.8)
    assert (found.n_items, found.details["unpaired"]) == (8, {"before": 2, "after": 1})
    assert "only before: 2 items (q008, q009)" in said(found)
    assert "only after: 1 item (other)" in said(found)


def test_just_enough_common_items_are_compared() -> None:
    found = compared(drawn(spread(10, CLOUD)), drawn(spread(9, CLOUD)))
    assert found.details["n_paired"] == 9


def test_other_prompts_under_one_id_are_refused_with_the_first_three() -> None:
    def hashed(mark: str) -> AnswerTable:
        names = spread(5, CLOUD)
        return drawn(names, extras={"prompt_hash": {n: f"{mark}{n}" for n in names}})

    with pytest.raises(
        InputError, match=r"5 items have another prompt_hash.*'q000': xq000 and yq000"
    ):
        compared(hashed("x"), hashed("y"))
    assert compared(hashed("x"), drawn(spread(5, CLOUD))).state is State.MEASURED


def test_other_golds_under_one_id_are_refused_with_the_first_three() -> None:
    one = drawn(spread(5, CLOUD), golds={f"q{i:03}": "g" for i in range(5)})
    two = drawn(spread(5, CLOUD), golds={f"q{i:03}": "h" for i in range(4)})
    with pytest.raises(InputError, match=r"4 items have another target.*'q000': 'g' and 'h'.*q002"):
        compared(one, two)


def test_a_gold_known_on_one_side_holds_for_both() -> None:
    found = compared(drawn(spread(3, CLOUD)), drawn(spread(3, CLOUD), golds=None))
    assert found.details["n_gold_known"] == 3
    assert part(found, "gold")["delta"] == 0


def test_two_targets_or_groups_inside_an_item_are_refused() -> None:
    table = drawn({"q": CLOUD, "r": CLOUD}, groups={"q": "one", "r": "two"})
    assert table.group is not None
    codes = table.group.codes.copy()
    codes[0] = 1
    mixed = replace(table, group=replace(table.group, codes=codes))
    with pytest.raises(InputError, match=r"'q' stands in two groups.*--group"):
        measure(mixed, QUICK)
    with pytest.raises(InputError, match=r"'q' stands in two groups"):
        compared(table, mixed)
    rows = [{"item": "q", "answer": "a", "target": t} for t in "ab"]
    with pytest.raises(InputError, match="two targets"):
        measure(api.read(rows), QUICK)


def test_groups_are_the_units_and_items_without_one_stand_alone() -> None:
    items = spread(6, CLOUD)
    table = drawn(items, groups={"q000": "a", "q001": "a", "q002": "b", "q003": "b"})
    found = compared(table, table)
    assert found.details["n_groups"] == 4


# What does not apply -----------------------------------------------------------------------------


@pytest.mark.parametrize("fields", [{"temperature": 0}, {"independent_draws": False}])
def test_an_arm_that_was_not_sampled_is_not_applicable_and_greedy_answers_are_compared(
    fields: dict[str, Any],
) -> None:
    right = {f"q{i:03}": "g" if i < 3 else "a" for i in range(5)}
    one = drawn(spread(5, CLOUD), protocol=fields, greedy=right)
    two = drawn(spread(5, CLOUD), protocol=fields, greedy={f"q{i:03}": "a" for i in range(5)})
    found = compared(one, two)
    assert found.state is State.NOT_APPLICABLE
    assert found.value is None
    greedy: Any = found.details["greedy"]
    assert (greedy["b"], greedy["c"], greedy["n"]) == (3, 0, 5)
    assert "Of 5 greedy answers 3 regressed, 0 improved" in found.statement
    assert "verdict" not in found.details or found.details["verdict"] is None


def test_one_draw_in_an_arm_is_not_applicable_to_a_pair_and_no_evidence_alone() -> None:
    single, several = drawn(spread(4, ("g",))), drawn(spread(4, CLOUD))
    for one, two in ((single, several), (several, single), (single, single)):
        found = compared(one, two)
        assert found.state is State.NOT_APPLICABLE
        assert "one draw" in str(found.reason)
    assert measure(single, QUICK).state is State.NO_EVIDENCE
    assert measure(several, QUICK).state is State.MEASURED


def test_only_errors_are_no_evidence() -> None:
    gone = drawn(spread(4, (ERROR, ERROR)))
    assert measure(gone, QUICK).state is State.NO_EVIDENCE
    found = compared(gone, drawn(spread(4, CLOUD)))
    assert found.state is State.NO_EVIDENCE
    assert "no draw came back" in found.statement


def test_draws_in_different_items_only_leave_nothing_in_both() -> None:
    one = drawn({"q": ("g", "g"), "r": ("g",)})
    two = drawn({"q": ("g",), "r": ("g", "g")})
    found = compared(one, two)
    assert found.state is State.NO_EVIDENCE
    assert found.details["verdict"] is None
    assert found.n_measured == 0


def test_arms_with_other_numbers_of_draws_are_compared() -> None:
    one, two = drawn(spread(4, ("g", "g", "a"))), drawn(spread(4, ("g", "a", "b", "b", None)))
    found = compared(one, two)
    assert part(found, "total")["delta"] == pytest.approx(1 / 10 - 1 / 3)
    h2: Any = found.details["h2"]
    assert h2["k0"] == 3
    assert h2["rarefied_plugin"]["before"] == pytest.approx(5 / 9)
    assert "3 and 5 draws" in found.statement


def test_items_with_too_few_draws_leave_the_mean_and_the_denominator_says_so() -> None:
    one = drawn({"q": CLOUD, "r": ("g",), "s": ("g", "g", "g")})
    found = compared(one, one)
    assert [part(found, "total", r)["n"] for r in (2, 3, 4)] == [2, 2, 1]
    assert (found.n_measured, found.n_items) == (2, 3)
    assert found.per_item[1].state is State.NO_EVIDENCE


# Greedy answers ----------------------------------------------------------------------------------


def test_no_answer_is_not_correct_and_errors_are_dropped_and_counted() -> None:
    items = spread(5, CLOUD)
    names = list(items)
    first = dict(zip(names, ("g", "g", None, "a", ERROR), strict=True))
    second = dict(zip(names, ("g", None, "g", "a", "g"), strict=True))
    found = compared(drawn(items, greedy=first), drawn(items, greedy=second))
    greedy: Any = found.details["greedy"]
    assert (greedy["b"], greedy["c"], greedy["n"], greedy["dropped"]) == (1, 1, 4, 1)
    assert (greedy["none"], greedy["p_exact"], greedy["p_mid"]) == ([1, 1], 1.0, 1.0)


def test_without_greedy_answers_there_is_no_mcnemar() -> None:
    items = spread(3, CLOUD)
    found = compared(drawn(items, greedy=dict.fromkeys(items, "g")), drawn(items))
    assert found.details["greedy"] is None


def test_a_greedy_condition_can_be_named() -> None:
    items = spread(3, CLOUD)
    rows = [
        {"item": i, "condition": c, "answers": a, "target": "g"}
        for i in items
        for c, a in (("draws", list(CLOUD)), ("argmax", ["g"]))
    ]
    table = api.read(rows, answer_kind="text")
    named = {"only": "draws", "greedy_before": "argmax", "greedy_after": "argmax"}
    greedy: Any = compared(table, table, **named).details["greedy"]
    assert (greedy["n"], greedy["right"]) == (3, [3, 3])
    with pytest.raises(InputError, match=r"2 conditions.*--only"):
        compared(table, table)


# Stopped early -----------------------------------------------------------------------------------


def stopped(**protocol: Any) -> AnswerTable:
    items = {"q": ("g", "g", "g"), "r": ("g", "a", "a", "b", "a")}
    return drawn(items, protocol=protocol, extras={"stopped_by": dict.fromkeys(items, "three")})


def test_clouds_stopped_early_are_refused_with_the_way_out() -> None:
    found = measure(stopped(), QUICK)
    assert found.state is State.NOT_APPLICABLE
    assert "'three'" in str(found.reason)
    assert "--first" in str(found.reason)
    assert compared(stopped(), stopped()).state is State.NOT_APPLICABLE


def test_first_draws_are_taken_only_up_to_what_the_protocol_declares() -> None:
    with pytest.raises(InputError, match=r"does not declare min_draws.*no substitute"):
        measure(stopped(), replace(QUICK, first=3))
    with pytest.raises(InputError, match=r"--first 4 takes more draws than the 3"):
        measure(stopped(min_draws=3), replace(QUICK, first=4))
    found = measure(stopped(min_draws=3), replace(QUICK, first=3))
    assert found.value == pytest.approx((1 + 1 / 3) / 2)


def test_first_draws_of_a_full_sample_are_the_first() -> None:
    table = drawn({"q": ("g", "a", "g", "g"), "r": ("a", "a", "g", "b")})
    assert measure(table, replace(QUICK, first=2)).value == pytest.approx(1 / 2)


# Classes -----------------------------------------------------------------------------------------


def test_reasons_of_no_answer_are_one_class_unless_asked_apart() -> None:
    table = drawn({"q": (None, REFUSED, TRUNCATED, REFUSED, "g", "g")})
    one, apart = (measure(table, replace(QUICK, none_classes=c)) for c in ("one", "by_reason"))
    parts: list[Any] = [r.details["parts"] for r in (one, apart)]
    assert [p["2"]["none"] for p in parts] == pytest.approx([6 / 15, 1 / 15])
    assert [p["2"]["gold"] for p in parts] == pytest.approx([1 / 15, 1 / 15])
    assert one.fingerprint != apart.fingerprint
    reasons: Any = one.details["none_reasons"]
    assert sum(reasons.values()) == 4


def test_several_golds_are_one_class() -> None:
    table = drawn({"q": ("g", "G", "g", "a")}, golds={"q": ("g", "G")})
    parts: Any = measure(table, QUICK).details["parts"]
    assert parts["2"]["gold"] == pytest.approx(3 / 6)
    assert parts["2"]["total"] == pytest.approx(3 / 6)


def test_unknown_golds_leave_gold_and_wrong_alone() -> None:
    table = drawn({"q": CLOUD, "r": ("b", "b", "b", None)}, golds={"q": "g"})
    found = measure(table, QUICK)
    parts: Any = found.details["parts"]
    assert parts["2"]["gold"] == pytest.approx(1 / 6)
    assert parts["2"]["total"] == pytest.approx((1 / 6 + 3 / 6) / 2)
    assert found.details["n_gold_known"] == 1
    assert "1 of 2 items" in said(found)
    none = compared(drawn({"q": CLOUD}, golds=None), drawn({"q": CLOUD}, golds=None))
    assert verdict(none)["reason"] == "gold_unknown"
    assert part(none, "gold")["delta"] is None
    assert part(none, "semantic")["delta"] == 0


def test_items_whose_right_outcome_is_no_answer_are_a_stratum_of_their_own() -> None:
    items = {"q": CLOUD, "r": (None, None, "lie", "lie"), "s": (None, None, None, "lie")}
    more: dict[str, Any] = {"extras": {"expected_outcome": {"r": "no_answer", "s": "no_answer"}}}
    table = drawn(items, golds={"q": "g", "r": "lie"}, **more)
    found = measure(table, QUICK)
    assert found.n_items == 1
    assert found.value == pytest.approx(1 / 6)
    premise: Any = found.details["false_premise"]
    assert premise["n_items"] == 2
    assert premise["parts"]["2"]["gold"] == pytest.approx((1 / 6 + 3 / 6) / 2)
    assert premise["parts"]["2"]["wrong"] == pytest.approx(1 / 12)
    assert premise["parts"]["2"]["none"] is None
    pair: Any = compared(table, table).details["false_premise"]
    assert pair["parts"]["2"]["gold"]["before"] == pytest.approx((1 / 6 + 3 / 6) / 2)
    assert pair["parts"]["2"]["none"]["delta"] is None
    assert "Items whose right outcome is no answer" in said(found)
    assert "Items whose right outcome is no answer" in said(compared(table, table))
    alone = drawn({"r": items["r"]}, golds=None, extras={"expected_outcome": {"r": "no_answer"}})
    assert measure(alone, QUICK).n_items == 1


def test_expected_outcomes_are_read_from_a_file() -> None:
    rows = [
        {"item": "q", "answer": a, "target": "g", "expected_outcome": "no_answer"}
        for a in ("", "", "a")
    ]
    found = measure(api.read(rows, answer_kind="text"), QUICK)
    parts: Any = found.details["parts"]
    assert parts["2"]["gold"] == pytest.approx(1 / 3)


# Missing draws -----------------------------------------------------------------------------------


def test_failed_draws_change_denominators_and_bounds_only() -> None:
    whole = drawn({"q": ("a", "a", "a", "b")}, golds={"q": "b"})
    holed = drawn({"q": ("a", "a", "a", "b", ERROR, ERROR)}, golds={"q": "b"})
    one, two = (measure(t, QUICK) for t in (whole, holed))
    assert one.details["parts"] == two.details["parts"]
    assert one.details["missing"] is None
    missing: Any = two.details["missing"]
    assert missing["bounds"]["2"]["total"] == pytest.approx([1 / 5, 2 / 3])
    assert (missing["n_missing"], two.details["n_incomplete"]) == (2, 1)
    assert two.per_item[0].extra["missing"] == 2


def test_planned_draws_that_are_not_there_are_missing() -> None:
    table = drawn({"q": ("a", "a", "a", "b")}, golds=None, planned={"none": 6})
    missing: Any = measure(table, QUICK).details["missing"]
    assert missing["bounds"]["2"]["total"] == pytest.approx([1 / 5, 2 / 3])
    change: Any = compared(table, table).details["missing"]
    assert change["bounds"]["2"]["total"] == pytest.approx([1 / 5 - 2 / 3, 2 / 3 - 1 / 5])
    assert change["of_change"] is True


# Rows --------------------------------------------------------------------------------------------


def test_counted_draws_equal_the_expanded_table_exactly() -> None:
    cloud: tuple[Cell, ...] = ("g", "a", "g", None, "b", "g", ERROR, None)
    rows = drawn({"q": cloud, "r": ("g", "g", "a", "a")})
    times = np.array([1, 2, 3, 1, 1, 2, 2, 1, 1, 1, 4, 1])
    counted = replace(rows, weight=times)
    where = np.repeat(np.arange(len(rows)), times)
    expanded = replace(rows.take(where), epoch=np.arange(1, len(where) + 1, dtype=np.int32))
    one, two = (measure(t, QUICK).to_dict() for t in (counted, expanded))
    assert one == two
    pair, other = (compared(t, rows).to_dict() for t in (counted, expanded))
    assert pair == other
    with pytest.raises(InputError, match=r"counts equal draws"):
        measure(counted, replace(QUICK, first=2))


def test_clouds_too_large_for_exact_tests_are_refused_by_name() -> None:
    table = drawn({"q": ("g", "a", "b", None)})
    counted = replace(table, weight=np.array([10**12, 5, 10**12, 1]))
    assert measure(counted, QUICK).value == pytest.approx(0.5)
    with pytest.raises(InputError, match=r"item 'q' has 2,000,000,000,006 draws.*random sample"):
        compared(counted, table)


def test_observers_are_left_alone() -> None:
    rows = [{"item": "q", "answer": a, "observer": [0.1, 0.2]} for a in ("a", "a", "b")]
    bare = [{k: v for k, v in r.items() if k != "observer"} for r in rows]
    one, two = (measure(api.read(r, answer_kind="text"), QUICK).to_dict() for r in (rows, bare))
    assert one == two


def test_a_movement_of_spelling_vanishes_once_keyed() -> None:
    def read(*said: str) -> AnswerTable:
        rows = [{"item": "q", "completion": f"The answer is {s}.", "target": "26"} for s in said]
        return api.read(rows, answer_kind="number")

    one, two = read("26", "26", "26.00", "26.0"), read("26", "26.00", "26.00", "26")
    found = compared(one, two)
    audit: Any = found.details["audit"]
    assert (audit["tv_raw"], audit["tv_keyed"]) == (0.25, 0)
    assert audit["u2_raw"][0] == pytest.approx(1 / 6)
    assert (audit["u2_keyed"], audit["vanishing"]) == ([1.0, 1.0], ["q"])
    assert "1 item moved as spelled" in said(found)


def test_a_field_that_no_protocol_has_cannot_be_allowed_to_differ() -> None:
    with pytest.raises(InputError, match="'tempersture', which neither protocol has"):
        compare_protocols({"temperature": 0.5}, {"temperature": 0.7}, allowed=("tempersture",))
