from random import Random

from hypothesis import given
from hypothesis import strategies as st

from trueness.extract import extract, keyed
from trueness.table import OUTCOMES, Outcome, read_answers

TEXTS = st.one_of(
    st.none(),
    st.sampled_from(["Paris", " paris.", "Rome", "", "I don't know", "unknown"]),
    st.text(),
)


@given(st.lists(TEXTS, min_size=1, max_size=20))
def test_a_table_is_keyed_as_each_of_its_texts_is(texts: list[str | None]) -> None:
    table = keyed(read_answers([{"item": str(i), "answer": t} for i, t in enumerate(texts)]))
    for i, text in enumerate(texts):
        one = extract(text)
        assert OUTCOMES[table.outcome[i]] is one.outcome
        assert (table.answer[i], table.reason[i]) == (one.key, one.reason)


@given(st.lists(TEXTS, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_keys_do_not_depend_on_the_other_rows_or_their_order(
    texts: list[str | None], random: Random
) -> None:
    rows = [{"item": str(i), "answer": t} for i, t in enumerate(texts)]
    first = keyed(read_answers(rows))
    random.shuffle(rows)
    second = keyed(read_answers(rows))
    one = dict(zip(first.item.values(), first.answer.values(), strict=True))
    two = dict(zip(second.item.values(), second.answer.values(), strict=True))
    assert one == two


def test_golds_go_through_the_same_rules() -> None:
    rows = [
        {"item": "a", "answer": "Paris. It", "target": "PARIS, France"},
        {"item": "b", "answer": "x", "target": ["Rome!", "roma", "..."]},
        {"item": "c", "answer": "x", "target": "..."},
    ]
    table = keyed(read_answers(rows), kind="short_cut")
    assert table.target is not None
    assert table.target.values() == [("paris",), ("rome", "roma"), None]
    assert any("1 rows have a target without a key" in note for note in table.notes)


def test_recorded_outcomes_stay() -> None:
    rows = [
        {"item": "a", "answer": "Paris", "outcome": "answered"},
        {"item": "b", "outcome": "error", "reason": "timeout"},
        {"item": "c", "outcome": "truncated", "reason": "truncated"},
    ]
    table = keyed(read_answers(rows))
    assert [OUTCOMES[o] for o in table.outcome] == [
        Outcome.ANSWERED,
        Outcome.ERROR,
        Outcome.TRUNCATED,
    ]
    assert table.reason.values() == [None, "timeout", "truncated"]
    assert table.answer.values() == ["paris", None, None]


def test_a_keyed_table_is_not_keyed_again() -> None:
    table = keyed(read_answers([{"item": "a", "answer": "Paris"}]))
    assert keyed(table, kind="short_cut") is table


def test_nothing_after_the_rules_is_no_answer_and_nothing_at_all_is_missing() -> None:
    rows = [{"item": "a", "answer": "..."}, {"item": "b", "answer": None}]
    table = keyed(read_answers(rows))
    assert table.reason.values() == ["empty", "missing_completion"]
