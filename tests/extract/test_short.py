import json
from pathlib import Path

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trueness.extract.entities import ENTITY_RULE
from trueness.extract.short import full_short_key, short_key, short_rule
from trueness.extract.short_answers import KINDS, Kind, key_rule, reason_rule, short_answer
from trueness.table.column import TextRule

VECTORS = [
    v
    for v in json.loads((Path(__file__).parents[1] / "golden" / "orbits.json").read_text("utf-8"))
    if v["kind"] == "answer-key"
]
TRICKY = st.text(
    st.sampled_from(" \t\n\r.,;:!?\"'“”‘’«»aAzZ09é\u0301\u200b\u200c\u200d\ufeff\u00ad")
)
ANY = st.one_of(TRICKY, st.text(), st.text(st.characters(categories=["L", "M", "Cs", "Zs"])))
PLAIN = st.from_regex(r"\A[ -~]{0,12}\Z")


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_golden_keys(vector: dict[str, dict[str, list[str]]]) -> None:
    fold = bool(vector["input"]["fold_case"])
    keys = [short_key(raw, fold_case=fold) for raw in vector["input"]["raw"]]
    assert keys == vector["expected"]["keys"]


@given(ANY, st.booleans())
@example("\u0345\u0301", True)  # noqa: FBT003 - an example's value
@example("'\u0301'", True)  # noqa: FBT003 - as above
def test_the_key_of_a_key_is_itself(text: str, fold: bool) -> None:  # noqa: FBT001 - drawn
    key = short_key(text, fold_case=fold)
    assert key is None or short_key(key, fold_case=fold) == key


@given(st.one_of(ANY, PLAIN), st.booleans())
def test_the_short_cut_changes_nothing(text: str, fold: bool) -> None:  # noqa: FBT001 - drawn
    assert short_key(text, fold_case=fold) == full_short_key(text, fold_case=fold)


@given(ANY, st.sampled_from(["", " ", "\n", "\u00a0"]), st.sampled_from(["", ".", " !", ".\u200b"]))
def test_blanks_and_stops_around_an_answer_merge(text: str, before: str, after: str) -> None:
    assert short_key(before + text + after) == short_key(text)


def test_case_is_kept_where_it_was_declared_to_matter() -> None:
    assert short_key("Sn", fold_case=False) != short_key("SN", fold_case=False)
    assert short_key("Sn") == short_key("SN")


def test_text_that_reads_like_a_missing_number_is_text() -> None:
    assert short_key("NaN") == "nan"
    assert short_key("null") == "null"


def test_a_long_run_of_what_is_stripped_ends_quickly() -> None:
    for part in ('"', "'", ".", " ", "\u200c", "a ", "a."):
        assert short_key(part * 100_000) is None or part[0] == "a"


RULES: list[TextRule] = [
    short_rule(),
    short_rule(fold_case=False),
    ENTITY_RULE,
    *(key_rule(kind) for kind in KINDS),
    *(reason_rule(kind) for kind in KINDS),
]
PHRASED = st.tuples(
    st.sampled_from(
        ["I can't help", "unknown", "I do not know", "it is unclear", "Can Tho", "won"]
    ),
    st.sampled_from(["", " ", ".", ", ", "\n"]),
    PLAIN,
).map("".join)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(TRICKY, PLAIN, PHRASED), min_size=1, max_size=30))
def test_the_database_applies_every_rule_to_plain_texts_as_python_does(texts: list[str]) -> None:
    with duckdb.connect() as connection:
        for rule in RULES:
            plain, key = (p.replace("{word}", "w") for p in (rule.plain, rule.key))
            rows = connection.execute(
                f"SELECT w, {plain}, {key} FROM (SELECT unnest(?::VARCHAR[]) AS w)",  # noqa: S608 - our rules
                [texts],
            ).fetchall()
            assert all(rule(word) == found for word, is_plain, found in rows if is_plain)


def test_plain_words_are_plain_to_the_database() -> None:
    plain = short_rule().plain.replace("{word}", "w")
    words = ["Paris", "entity number 5", " Paris.", "St. John's", "x", "Washington, D.C."]
    with duckdb.connect() as connection:
        found = connection.execute(
            f"SELECT bool_and({plain}) FROM (SELECT unnest(?) AS w)",  # noqa: S608 - our rule
            [words],
        )
        assert found.fetchall() == [(True,)]


def test_kinds_are_the_ones_that_are_documented() -> None:
    kinds: tuple[Kind, ...] = ("short", "short_cut")
    assert kinds == KINDS


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("St. Louis", "St. Paul"),
        ("J. K. Rowling", "J. R. R. Tolkien"),
        ("Dr. No", "Dr. Strangelove"),
        ("E. coli", "E. albertii"),
        ("No. 5", "No. 6"),
    ],
)
def test_a_stop_of_an_abbreviation_cuts_no_answer_in_two(one: str, two: str) -> None:
    first, second = (short_answer(text, kind="short_cut").key for text in (one, two))
    assert first != second
    assert short_answer(f"{one}! It is", kind="short_cut").key == first
