"""Fibres of an observer on recorded tables: equal numbers, what vouches for them, what is told."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueness import api
from trueness.backends.scripted import ScriptedModel
from trueness.collect import Quiz, ask, facts_of, parse_conditions
from trueness.contract import Reading, State
from trueness.contract.blocks import Notes, Table
from trueness.sensors.atlas import Params, fibre_search
from trueness.sensors.atlas.fibres import has_observers
from trueness.stats.fibres import clopper_pearson
from trueness.table import OUTCOMES, AnswerTable, Outcome, read_answers, write
from trueness.table.column import Column
from trueness.table.protocol import Protocol

PROTOCOL: dict[str, Any] = {
    "model": "m",
    "file_hash": "abc",
    "backend_version": "1",
    "dtype": "float32",
    "seed": 0,
    "decoding": {"temperature": 1.0},
}
OBSERVED: dict[str, Any] = {"one_pass": {"numbers": []}, "code_path": {}}


def drawn(
    clouds: dict[str, dict[str, str]],
    numbers: dict[str, list[float]],
    *,
    target: str | None = None,
    protocol: dict[str, Any] | None = None,
    **changed: Any,
) -> AnswerTable:
    """A table of one letter a draw: item, then condition, then its answers; ``-`` is no answer."""
    rows = [
        {
            "item": item,
            "condition": condition,
            "epoch": epoch,
            "completion": said,
            "answer": None if said == "-" else said,
            "outcome": "no_answer" if said == "-" else "answered",
            "observer": numbers[condition],
            **({} if target is None else {"target": [target]}),
        }
        for item, conditions in clouds.items()
        for condition, answers in conditions.items()
        for epoch, said in enumerate(answers, start=1)
    ]
    table = read_answers(rows)
    held = {
        name: Protocol({**(protocol or PROTOCOL), "condition": {"kind": name}})
        for name in table.conditions
    }
    given = {"protocols": held, "extractor": "x@1", "observed": OBSERVED, **changed}
    return replace(table, **given)


def searched(table: AnswerTable, **params: Any) -> Reading:
    return fibre_search(table, Params(**params))


FLAT = {"none": [0.5, 0.2], "other": [0.5, 0.2]}


def test_the_published_witnesses_move_and_no_test_says_so() -> None:
    table = drawn(
        {"q": {"none": "aaa-", "other": "bacd"}, "r": {"none": "bdd-", "other": "cdd-"}}, FLAT
    )
    found = searched(table)
    assert (found.value, found.state) == (1.0, State.MEASURED)
    p = {i.item: Fraction(str(i.extra["p_tv"])).limit_denominator(70) for i in found.per_item}
    tv = {i.item: i.value for i in found.per_item}
    assert p == {"q": Fraction(17, 35), "r": Fraction(1)}
    assert tv == {"q": 0.75, "r": 0.25}
    assert [i.extra["movement"] for i in found.per_item] == ["shape_moved", "identity_moved"]
    assert found.details["can_tell_from_chance"] is False
    assert found.details["draws_needed"] == 5  # 2 / C(10, 5) over two pairs is below .05
    assert "No pair of 4 draws can be told from one law drawn twice" in found.statement
    (told,) = [b for b in found.blocks if isinstance(b, Notes) and b.title.startswith("What these")]
    assert "5 draws of each would do" in told.lines[0]


def test_with_draws_enough_a_pair_is_told_from_one_law() -> None:
    found = searched(drawn({"q": {"none": "a" * 8, "other": "b" * 8}}, FLAT, target="a"))
    (pair,) = found.per_item
    assert pair.extra["p_holm"] == pytest.approx(2 / 12870)
    assert found.details["n_told_from_chance"] == 1
    assert (pair.value, pair.extra["error_floor"]) == (1.0, 0.5)
    assert pair.extra["right_shares"] == [1.0, 0.0]
    low, _ = clopper_pearson(8, 8, level=0.975)
    assert pair.extra["right_gap_beyond_draws"] == pytest.approx(low - (1 - low))
    assert (found.low, found.high) == clopper_pearson(1, 1)


def test_right_answers_are_one_class_however_they_are_written() -> None:
    table = drawn({"q": {"none": "aaaa", "other": "AAAA"}}, FLAT, target="a")
    assert searched(table).value == 1.0
    both = replace(table, target=Column.of([("a", "A")] * len(table)))
    assert searched(both).value == 0.0


@pytest.mark.parametrize(
    ("changed", "missing"),
    [
        ({"protocols": {}}, "a protocol"),
        ({"extractor": None}, "name and version of the extractor"),
        ({"observed": {}}, "how the numbers were read"),
        ({"completion": None}, "raw completions"),
        ({"protocol": {**PROTOCOL, "file_hash": None}}, "hash or revision of the weights"),
        ({"protocol": {**PROTOCOL, "seed": None}}, "the protocol's seed"),
    ],
)
def test_a_cell_that_nothing_vouches_for_is_in_no_rate(
    changed: dict[str, Any], missing: str
) -> None:
    found = searched(drawn({"q": {"none": "aaaa", "other": "bbbb"}}, FLAT, **changed))
    assert (found.state, found.value) == (State.NO_EVIDENCE, None)
    assert found.details["incomplete"] == 1
    lacking = found.details["missing"]
    assert isinstance(lacking, dict)
    assert missing in lacking
    assert missing in (found.reason or "")
    (pair,) = found.per_item  # it is shown all the same
    assert pair.extra["auditable"] is False


def test_another_protocol_than_the_baselines_is_no_cell_of_the_same_run() -> None:
    table = drawn({"q": {"none": "aaaa", "other": "bbbb"}}, FLAT)
    other = Protocol({**table.protocols["other"].fields, "seed": 1})
    found = searched(replace(table, protocols={**table.protocols, "other": other}))
    assert found.details["missing"] == {"the baseline's seed": 1}


def test_failed_and_fewer_draws_make_a_cell_incomplete() -> None:
    short = searched(drawn({"q": {"none": "aaaa", "other": "bb"}}, FLAT))
    assert short.details["missing"] == {"as many draws as the item's other conditions": 1}
    table = drawn({"q": {"none": "aaaa", "other": "bbbb"}}, FLAT)
    table.outcome[5] = OUTCOMES.index(Outcome.ERROR)
    found = searched(table)
    assert "draws that failed" in found.details["missing"]  # type: ignore[operator] # a mapping


def test_greedy_answers_are_one_answer_and_nothing_is_tested() -> None:
    protocol = {**PROTOCOL, "decoding": {"temperature": 0.0}}
    found = searched(drawn({"q": {"none": "a" * 8, "other": "b" * 8}}, FLAT, protocol=protocol))
    (pair,) = found.per_item
    assert (pair.value, pair.extra["p_tv"], pair.extra["p_holm"]) == (1.0, None, None)
    assert pair.extra["right_gap_beyond_draws"] is None
    assert "greedy answers are one answer" in found.statement


NEAR = {"none": [0.5, 0.2], "other": [0.5, 0.21], "far": [0.9, 0.2]}


def test_near_pairs_are_pairs_and_no_classes() -> None:
    clouds = {"q": {"none": "aaaa", "other": "aaab", "far": "cccc"}}
    exact = searched(drawn(clouds, NEAR))
    assert exact.state is State.NO_EVIDENCE
    assert exact.details["nearest"] == pytest.approx(0.01)
    assert "nearest two conditions of an item differ by 0.01" in exact.blocks[0].follow_up[0]  # type: ignore[union-attr]
    found = searched(drawn(clouds, NEAR), near=0.02)
    (pair,) = found.per_item
    assert pair.extra["distance"] == pytest.approx(0.01)
    assert (found.value, found.low, found.interval_kind) == (1.0, None, None)
    (table,) = [b for b in found.blocks if isinstance(b, Table)]
    assert table.title == "Pairs within the tolerance"
    assert "within 0.02 of one another" in found.statement
    assert searched(drawn(clouds, NEAR), near=0.001).state is State.NO_EVIDENCE
    assert len(searched(drawn(clouds, NEAR), near=1.0).per_item) == 3


@given(st.lists(st.sampled_from("ab-"), min_size=2, max_size=6), st.integers(0, 3))
@settings(max_examples=25, deadline=None)
def test_near_zero_finds_the_very_pairs_of_the_exact_search(answers: list[str], n: int) -> None:
    numbers = {"none": [0.5, 0.2], "other": [0.5, 0.2 if n else 0.3], "third": [0.5, 0.2]}
    table = drawn({"q": dict.fromkeys(numbers, "".join(answers))}, numbers)
    exact, near = searched(table), searched(table, near=0.0)
    assert exact.details["n_pairs"] == near.details["n_pairs"] == (3 if n else 1)
    assert len(exact.per_item) == len(near.per_item) == exact.details["n_pairs"]
    (one,), (other,) = ([b for b in r.blocks if isinstance(b, Table)] for r in (exact, near))
    assert [row[:3] for row in one.rows] == [row[:3] for row in other.rows]


def test_a_real_table_is_searched_from_the_file(tmp_path: Path) -> None:
    quiz = Quiz("capital", ("The capital of {e} is",), ("France", "Peru"), ("Paris", "Lima"))
    out = tmp_path / "t.jsonl"
    ask(
        quiz,
        ScriptedModel("collapse", facts_of(quiz)),
        parse_conditions("none,the:8"),
        out=out,
        epochs=8,
        temperature=0.4,
        observable="one_pass",
    )
    found = api.measure_each("atlas", out)["observer fibres"]
    assert found.details["incomplete"] == 0
    low, high = clopper_pearson(2, 2)
    assert found.details["flat"] == {"n": 2, "of": 2, "low": low, "high": high}
    assert found.state is State.MEASURED
    largest = found.per_item[0]
    assert largest.item == "capital|Peru|0"  # told Paris behind the prefix
    assert largest.extra["right_shares"] == [1.0, 0.0]
    copied = tmp_path / "copy.jsonl"
    write(read_answers(out), copied)
    assert api.measure_each("atlas", copied)["observer fibres"].details == found.details


def test_items_with_one_law_are_answered_right_and_wrong() -> None:
    clouds = {f"i{n}": {"none": 32 * ("a" if n < 2 else "b")} for n in range(4)}
    numbers = {"none": [0.5, 0.2], "other": [0.9, 0.2]}
    for cloud in clouds.values():
        cloud["other"] = 32 * "b"
    found = searched(drawn(clouds, numbers, target="a"))
    truth = found.details["items"]
    assert isinstance(truth, dict)
    # six pairs of items under each condition; two right ones beside two wrong ones under the first
    assert (truth["n_pairs"], truth["n_opposite"], truth["error_floor"]) == (12, 4, 0.5)
    low, _ = clopper_pearson(32, 32, level=1 - 0.05 / 24)
    assert truth["error_floor_beyond_draws"] == pytest.approx((2 * low - 1) / 2)
    assert "Of 12 pairs of items whose numbers are as alike, 4 are one mostly right" in (
        found.statement
    )
    (table,) = [b for b in found.blocks if isinstance(b, Table)]
    assert table.n_rows == 12
    assert table.rows[0][4:7] == (1.0, 0.0, 0.5)
    unknown = searched(drawn(clouds, numbers))
    assert "mostly right" not in unknown.statement


def test_near_items_are_compared_within_the_tolerance_alone() -> None:
    clouds = {"one": {"none": "aaaa", "other": "bbbb"}, "two": {"none": "bbbb", "other": "bbbb"}}
    table = drawn(clouds, FLAT, target="a")
    numbers = [(0.5, 0.2 + 0.01 * (str(i) == "two")) for i in table.item.values()]
    table = replace(table, observer=Column.of(numbers))
    for near, n in ((None, 0), (0.005, 0), (0.02, 2)):
        truth = searched(table, near=near).details["items"]
        assert isinstance(truth, dict)
        assert truth["n_pairs"] == n


def test_more_items_than_can_be_compared_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trueness.sensors.atlas.fibre_truths.MOST_ITEMS", 3)
    clouds = {f"i{n}": {"none": "aa", "other": "ab"} for n in range(5)}
    truth = searched(drawn(clouds, FLAT, target="a")).details["items"]
    assert isinstance(truth, dict)
    assert (truth["n_pairs"], truth["n_left_out"]) == (6, 4)


def test_one_condition_alone_has_no_fibres() -> None:
    assert not has_observers(drawn({"q": {"none": "aa"}}, FLAT))
    assert has_observers(drawn({"q": {"none": "aa", "other": "aa"}}, FLAT))
