import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueness.extract.entities import ENTITY_RULE
from trueness.extract.short_answers import KINDS, key_rule, reason_rule
from trueness.table import Column, TextRule, stored
from trueness.table.stored import StoredWords, TextStore

TEXTS = st.one_of(
    st.none(),
    st.sampled_from(["Paris", "paris", " Paris.", "I don't know", "é", "É", "x 5", "", "..."]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=6),
)
RULES: list[TextRule] = [ENTITY_RULE]
RULES += [rule for kind in KINDS for rule in (key_rule(kind), reason_rule(kind))]


def column_of(store: TextStore, values: list[str | None]) -> Column[str]:
    table = store.new_table("SELECT ''::VARCHAR AS w LIMIT 0")
    store.rows(f"INSERT INTO {table} SELECT unnest(?::VARCHAR[])", values)
    return store.interned(table, "w", len(values))


@settings(max_examples=80, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=25))
def test_stored_columns_and_their_maps_equal_those_in_memory(values: list[str | None]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored, "IN_MEMORY", 0)
        patch.setattr(stored, "PAGE", 3)
        patch.setattr(stored, "BATCH", 4)
        ours, plain = column_of(TextStore(), values), Column.of(values)
        assert ours.codes.tolist() == plain.codes.tolist()
        assert tuple(ours.words) == plain.words
        assert [ours.words[i] for i in reversed(range(len(ours.words)))] == [*plain.words][::-1]
        for rule in RULES:
            mapped, expected = ours.map(rule), plain.map(rule)
            assert mapped.values() == expected.values()
            assert mapped.codes.tolist() == expected.codes.tolist()
            again = mapped.map(str.upper)
            assert again.values() == expected.map(str.upper).values()


def test_some_words_are_fetched_together() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored, "IN_MEMORY", 0)
        words = column_of(TextStore(), [f"w{i}" for i in range(3000)]).words
    assert isinstance(words, StoredWords)
    assert words.pick([2999, 0, 2999]) == ["w2999", "w0", "w2999"]
    assert list(words[1500:1503]) == ["w1500", "w1501", "w1502"]
    assert words[-1] == "w2999"
    with pytest.raises(IndexError):
        words[3000]


def test_the_folder_goes_with_the_last_column() -> None:
    store = TextStore()
    folder = Path(store.folder)
    column = column_of(store, ["a"])
    assert folder.is_dir()
    assert folder.parent == Path(tempfile.gettempdir())
    del store, column
    assert not folder.exists()


def test_codes_stay_small() -> None:
    assert column_of(TextStore(), ["a", None, "b"]).codes.dtype == np.int32


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=12), st.lists(TEXTS, min_size=1, max_size=12))
def test_codes_in_other_words_are_the_same_however_they_are_kept(
    one: list[str | None], two: list[str | None]
) -> None:
    plain = Column.of(one), Column.of(two)
    expected = plain[0].codes_in(plain[1].words).tolist()
    words = [None if v is None else plain[1].words.index(v) if v in two else -1 for v in one]
    assert expected == [-1 if w is None else w for w in words]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored, "IN_MEMORY", 0)
        store, other = TextStore(), TextStore()
        first, second = column_of(store, one), column_of(store, two)
        elsewhere = column_of(other, two)
        for left, right in (
            (first, second),
            (first, elsewhere),
            (first, plain[1]),
            (plain[0], second),
        ):
            assert left.codes_in(right.words).tolist() == expected


def test_half_a_character_is_in_no_database() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored, "IN_MEMORY", 0)
        words = column_of(TextStore(), ["a"]).words
    assert Column.of(["\ud800", "a"]).codes_in(words).tolist() == [-1, 0]
