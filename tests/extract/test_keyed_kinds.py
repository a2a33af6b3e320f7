"""Whole tables by any kind: once a text, golds by the same rules, options by what was shown."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.extract import check_rule, extract, extractor_name, keyed, named, rule_of
from trueness.extract.audit import extraction_audit
from trueness.extract.naming import VERBATIM
from trueness.extract.sensitivity import sensitivity
from trueness.extract.settings import Settings
from trueness.table import OUTCOMES, AnswerTable, Outcome, read_answers
from trueness.table.column import Column
from trueness.table.stored import TextStore

TEXTS = st.sampled_from(
    [
        "The answer is 5.",
        "5",
        "#### 5",
        "x",
        "",
        "I cannot help with that.",
        "5 or 7",
        None,
        "**7**",
    ]
)


def table(rows: Sequence[Mapping[str, Any]]) -> AnswerTable:
    return read_answers([{"item": str(i), **row} for i, row in enumerate(rows)])


def completions(*texts: str | None) -> AnswerTable:
    return table([{"completion": text} for text in texts])


def with_extras(base: AnswerTable, **columns: list[str | None]) -> AnswerTable:
    return replace(base, extras={**base.extras, **{k: Column.of(v) for k, v in columns.items()}})


@given(st.lists(TEXTS, min_size=1, max_size=20))
def test_a_table_is_keyed_as_each_of_its_texts_is(texts: list[str | None]) -> None:
    found = keyed(completions(*texts), kind="number")
    for row, text in enumerate(texts):
        one = extract(text, kind="number")
        assert OUTCOMES[found.outcome[row]] is one.outcome
        assert (found.answer[row], found.reason[row]) == (one.key, one.reason)
    assert found.extractor == extractor_name("number")


@given(st.lists(TEXTS, min_size=2, max_size=12), st.randoms(use_true_random=False))
def test_no_key_depends_on_the_other_rows(texts: list[str | None], random: Random) -> None:
    first = keyed(completions(*texts), kind="number")
    order = list(range(len(texts)))
    random.shuffle(order)
    second = keyed(completions(*(texts[i] for i in order)), kind="number")
    assert [first.answer[i] for i in order] == second.answer.values()
    assert [first.reason[i] for i in order] == second.reason.values()


def test_codes_are_numbered_by_rows_whatever_order_the_texts_came_in() -> None:
    base = completions("#### 5", "#### 6", "#### 5.0", "x 1 2")
    texts = ("x 1 2", "#### 5.0", "#### 6", "#### 5")
    other = replace(base, completion=Column(np.array([3, 2, 1, 0], dtype=np.int32), texts))
    one, two = keyed(base, kind="number"), keyed(other, kind="number")
    assert one.answer.codes.tolist() == two.answer.codes.tolist() == [0, 1, 0, -1]
    assert one.answer.words == two.answer.words == ("5", "6")


def test_golds_go_through_the_same_extractor_and_those_without_a_key_are_listed() -> None:
    rows: list[dict[str, Any]] = [
        {"completion": "5", "target": "2 + 3 = 5\n#### 5"},
        {"completion": "5", "target": "\\frac{10}{2}"},
        {"completion": "5", "target": ["5.0", "five", "?"]},
        {"completion": "5", "target": "..."},
        {"completion": "5", "target": "So the answer is 5."},
        {"completion": "5", "target": "Nobody can say how many there are"},
    ]
    found = keyed(table(rows), kind="number")
    assert found.target is not None
    assert found.target.values() == [("5",), ("5",), ("5",), None, ("5",), None]
    assert found.notes[-1].startswith("2 items have a target without a key (gold_unparsed)")
    assert "'3'" in found.notes[-1]


def test_the_stop_reason_of_a_row_is_used() -> None:
    base = with_extras(
        completions("The answer is 5", "The answer is 5", "The answer is 5"),
        stop_reason=["stop", "length", "content_filter"],
    )
    found = keyed(base, kind="number")
    assert [OUTCOMES[o] for o in found.outcome] == [
        Outcome.ANSWERED,
        Outcome.TRUNCATED,
        Outcome.ERROR,
    ]


def test_permuted_options_are_counted_by_their_texts() -> None:
    shown = [["Rome", "Oslo"], ["Oslo", "Rome"]]
    base = table([{"completion": "Answer: A", "target": "Rome"}] * 2)
    base = with_extras(base, choices=[json.dumps(order) for order in shown])
    found = keyed(base, kind="option")
    assert found.answer.values() == ["Rome", "Oslo"]
    assert found.target is not None
    assert found.target.values() == [("Rome",), ("Rome",)]
    by_letter = table([{"completion": "Answer: A", "target": "B"}] * 2)
    by_letter = with_extras(by_letter, choices=[json.dumps(order) for order in shown])
    golds = keyed(by_letter, kind="option").target
    assert golds is not None
    assert golds.values() == [("Oslo",), ("Rome",)]


@pytest.mark.parametrize(
    ("by_position", "with_choices"), [(True, True), (False, True), (False, False)]
)
def test_the_order_that_a_row_showed_decides_what_its_letters_are(
    *, by_position: bool, with_choices: bool
) -> None:
    options, orders = ["Rome", "Oslo", "Lima"], [[0, 1, 2], [1, 2, 0], [1, 2, 0]]
    shown = [order if by_position else [options[i] for i in order] for order in orders]
    base = table([{"completion": f"Answer: {x}", "target": "Rome"} for x in "AAC"])
    base = with_extras(base, choice_order=[json.dumps(order) for order in shown])
    if with_choices:
        base = with_extras(base, choices=[json.dumps(options)] * 3)
    found = keyed(base, kind="option")
    assert found.answer.values() == ["Rome", "Oslo", "Rome"]
    assert found.target is not None
    assert set(found.target.values()) == {("Rome",)}


def test_options_that_are_numbers_are_their_texts_before_they_are_positions() -> None:
    base = with_extras(completions("A", "A"), choices=['["1", "0"]'] * 2)
    base = with_extras(base, choice_order=['["0", "1"]', '["1", "0"]'])
    assert keyed(base, kind="option").answer.values() == ["0", "1"]


@pytest.mark.parametrize("order", [[0, 0], [0, 2], [1], ["Rome", "Lima"], [True, False], "ab"])
def test_an_order_that_does_not_fit_its_choices_is_refused(order: object) -> None:
    base = with_extras(completions("A"), choices=['["Rome", "Oslo"]'])
    base = with_extras(base, choice_order=[json.dumps(order)])
    with pytest.raises(InputError, match="choice_order"):
        keyed(base, kind="option")


def test_choices_that_are_no_list_are_refused() -> None:
    base = with_extras(completions("A"), choices=["A) Rome"])
    with pytest.raises(InputError, match="wanted is a JSON list"):
        keyed(base, kind="option")


def test_answers_handed_in_as_keys_stay_as_they_are() -> None:
    base = replace(table([{"answer": "5.0", "target": "5"}]), completion=None)
    base = replace(base, answer=Column.of(["5.0"]))
    found = keyed(base, kind="number")
    assert (found.answer.values(), found.extractor) == (["5.0"], VERBATIM)


def test_recorded_outcomes_stay() -> None:
    rows = [
        {"completion": "5", "outcome": "answered"},
        {"completion": "6", "outcome": "truncated", "reason": "time limit"},
    ]
    found = keyed(table(rows), kind="number")
    assert found.answer.values() == ["5", None]
    assert found.reason.values() == [None, "time limit"]


def test_the_tools_own_answers_are_read_on_request_only() -> None:
    base = with_extras(completions("#### 5", "#### 6", None), tool_answer=["7", None, "[invalid]"])
    assert keyed(base, kind="number").answer.values() == ["5", "6", None]
    tool = keyed(base, kind="number", extractor="tool")
    assert tool.answer.values() == ["7", None, None]
    assert (tool.extractor or "").startswith("tool@")
    with pytest.raises(InputError, match="no tool_answer column"):
        keyed(completions("5"), kind="number", extractor="tool")


def test_texts_on_disk_give_the_same_keys() -> None:
    texts = [f"text {i}\n#### {i % 7}" for i in range(9_000)]
    store = TextStore()
    stored = store.interned(store.list_table(texts), "w", len(texts))
    from trueness.table.stored import StoredWords  # noqa: PLC0415 - this test alone looks inside

    words = StoredWords(store, store.list_table(texts), "w", None, len(texts))
    base = completions(*texts)
    plain = keyed(base, kind="number")
    for column in (stored, Column(np.arange(len(texts), dtype=np.int32), words)):
        found = keyed(replace(base, completion=column), kind="number")
        assert found.answer.values() == plain.answer.values()


def test_rules_of_long_kinds_key_listed_answers() -> None:
    rule = check_rule(extractor_name("number"))
    assert rule("1,234") == "1234"
    assert rule_of("made@1+000000000000") is None
    by_text = check_rule(Settings("option", choices_by_text=True).name)
    assert (by_text("**Rome**"), by_text("B")) == ("Rome", "B")
    base = read_answers([{"entity": "2.50", "completion": "The answer is 5/2"}])
    found = named(keyed(base, kind="number"))
    assert found.entity_key is not None
    assert found.entity_key.values() == ["5/2"]


def test_the_audit_lists_what_was_merged_and_what_was_kept_apart() -> None:
    rows = [
        {"item": "a", "completion": "#### 50%"},
        {"item": "a", "completion": "#### 50"},
        {"item": "a", "completion": "#### 1/2"},
        {"item": "b", "completion": "#### $5"},
        {"item": "b", "completion": "#### €5"},
        {"item": "c", "completion": "#### 5"},
        {"item": "c", "completion": "Error: 429"},
        {"item": "c", "completion": "The answer is about 5."},
    ]
    for units in ("ignore", "keep"):
        audit = extraction_audit(keyed(read_answers(rows), kind="number", units=units))
        assert [(x.item, x.key, x.units) for x in audit.two_units] == [
            ("a", "50", ("", "%")),
            ("b", "5", ("EUR", "USD")),
        ]
        assert [(x.item, x.percent, x.share) for x in audit.percent_and_share] == [
            ("a", "50", "1/2")
        ]
        assert (audit.infrastructure_texts, audit.approximate) == (1, 1)


def test_the_audit_counts_labels_beside_another_options_text() -> None:
    base = with_extras(
        completions("Answer: B) Paris", "Answer: A) Paris"), choices=['["Paris", "Rome"]'] * 2
    )
    assert extraction_audit(keyed(base, kind="option")).label_text_mismatches == 1


def test_sensitivity_says_what_every_extractor_makes_of_the_same_texts() -> None:
    base = with_extras(
        table(
            [
                {"completion": "It is 18. I used 3 steps. The answer is 18", "target": "18"},
                {"completion": "#### 18", "target": "18"},
                {"completion": None, "target": "18"},
                {"completion": "none", "target": "18"},
            ]
        ),
        tool_answer=["3", "18", None, "[invalid]"],
    )
    found = {share.extractor: share for share in sensitivity(base, kind="number")}
    assert list(found) == ["declared", "strict", "last_number", "tool"]
    declared, strict = found["declared"], found["strict"]
    assert declared.outcomes == {"answered": 0.5, "no_answer": 0.25, "error": 0.25}
    assert declared.accuracy == 2 / 3
    assert (declared.n_changed, declared.changes) == (0, ())
    assert (strict.n_changed, strict.changed) == (1, 0.25)
    assert (strict.changes[0].declared, strict.changes[0].other) == ("18", None)
    assert strict.changes[0].tail.endswith("The answer is 18")
    assert strict.reasons == {"no_candidate": 0.5, "missing_completion": 0.25}
    assert found["tool"].n_correct == 1


def test_sensitivity_needs_completions() -> None:
    with pytest.raises(InputError, match="holds keys only"):
        sensitivity(keyed(completions("5"), kind="number"), kind="number")
