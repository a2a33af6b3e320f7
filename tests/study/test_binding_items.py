"""Binding items made from templates look like the shipped ones and say what they claim to say."""

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.study.binding_items import (
    binding_kinds,
    edit_of,
    made_binding_items,
    same_words,
)
from trueness.study.slices import binding_items

SHIPPED = binding_items()
MADE = made_binding_items(0, known=[str(item["supported"]) for item in SHIPPED])
WORDS = st.lists(st.sampled_from(["a", "b", "c", "D", "1,450", "x-y"]), min_size=1, max_size=8)


def edited(item: dict[str, Json]) -> str:
    edit = item["edit"]
    assert isinstance(edit, dict)
    start, stop = edit["span_supported"]  # type: ignore[misc, str-unpack] # a pair
    said = str(item["supported"])
    return said[: int(start)] + str(edit["after"]) + said[int(stop) :]  # type: ignore[arg-type]


def test_the_kinds_are_those_of_the_shipped_set() -> None:
    assert set(binding_kinds()) == {str(item["kind"]) for item in SHIPPED}
    assert len(binding_kinds()) == 12


def test_two_hundred_items_of_every_kind_are_made_in_turns() -> None:
    assert set(Counter(item["kind"] for item in MADE).values()) == {200}
    assert [item["kind"] for item in MADE[:12]] == list(binding_kinds())


def test_made_items_have_the_fields_and_types_of_the_shipped_ones() -> None:
    one = SHIPPED[0]
    for item in MADE:
        assert list(item) == list(one)
        assert [type(v) for v in item.values()] == [type(v) for v in one.values()]
        assert list(item["edit"]) == list(one["edit"])  # type: ignore[arg-type] # objects
        assert all(isinstance(text, str) for text in item["evidence"])  # type: ignore[union-attr] # a list


def test_the_edit_and_the_flag_of_every_shipped_item_are_found_again() -> None:
    for item in SHIPPED:
        right, wrong = str(item["supported"]), str(item["wrong"])
        assert edit_of(right, wrong) == item["edit"]
        assert same_words(right, wrong) == item["word_permutation"]


def test_no_supported_sentence_stands_twice_nor_among_the_shipped() -> None:
    every = [str(item["supported"]) for item in (*SHIPPED, *MADE)]
    assert len(set(every)) == len(every)
    assert len({item["id"] for item in (*SHIPPED, *MADE)}) == len(every)


def test_replacing_the_span_gives_the_wrong_claim_exactly() -> None:
    for item in MADE:
        assert edited(item) == item["wrong"]


def test_edits_are_minimal_in_words() -> None:
    for item in MADE:
        edit = item["edit"]
        assert isinstance(edit, dict)
        before, after = str(edit["before"]).split(), str(edit["after"]).split()
        assert before
        assert after
        assert before != after
        if len(before) > 1 and len(after) > 1:
            assert before[0] != after[0]
            assert before[-1] != after[-1]


def test_the_permutation_flag_says_whether_both_use_the_same_words() -> None:
    for item in MADE:
        bags = [
            Counter(re.findall(r"[\w,.'-]*\w", str(item[part]).casefold()))
            for part in ("supported", "wrong")
        ]
        assert (bags[0] == bags[1]) == item["word_permutation"]
        edit = item["edit"]
        assert isinstance(edit, dict)
        assert (edit["op"] == "swap") == item["word_permutation"]


def test_swapped_kinds_are_permutations_and_replaced_ones_are_not() -> None:
    flagged = {
        kind: {item["word_permutation"] for item in MADE if item["kind"] == kind}
        for kind in binding_kinds()
    }
    for kind in ("relation_inversion", "role_swap", "causal", "comparative"):
        assert flagged[kind] == {True}
    for kind in ("recombination", "polarity", "quantity", "scope", "modality", "coreference"):
        assert flagged[kind] == {False}
    assert flagged["temporal"] == flagged["legal_relation"] == {True, False}


def test_a_paraphrase_names_what_the_claim_names_and_is_neither_claim() -> None:
    for item in MADE:
        said = str(item["control_paraphrase"])
        assert said not in {item["supported"], item["wrong"]}
        names = re.findall(r"(?<=\W)(?:[A-Z][a-z]+|[\d.,]*\d)", str(item["supported"]))
        assert all(name in said for name in names), item


def test_no_slot_is_left_open_and_no_sentence_lacks_its_end() -> None:
    for item in MADE:
        texts = [item["supported"], item["control_paraphrase"], item["wrong"], *item["evidence"]]  # type: ignore[misc] # a list
        for text in map(str, texts):
            assert not set("{}[]") & set(text)
            assert re.fullmatch(r"[A-Z].*[a-z0-9]\.", text)


def test_the_same_seed_makes_the_same_items_and_another_seed_others() -> None:
    one, two, other = (made_binding_items(s, per_kind=2) for s in (3, 3, 4))
    assert one == two
    assert one != other


def test_a_sentence_that_is_known_is_not_made_again() -> None:
    first = made_binding_items(5, per_kind=1)
    again = made_binding_items(5, per_kind=1, known=[str(i["supported"]) for i in first])
    assert not {i["supported"] for i in first} & {i["supported"] for i in again}


def test_no_item_of_a_kind_is_refused() -> None:
    with pytest.raises(InputError, match="at least 1 item"):
        made_binding_items(per_kind=0)


def test_templates_that_have_nothing_new_to_say_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trueness.study.binding_items._TRIES", 1)
    with pytest.raises(InputError, match=r"template \d of \w+; ask for fewer"):
        made_binding_items(per_kind=2_000)


@settings(deadline=None)
@given(WORDS, WORDS)
def test_an_edit_leads_from_any_sentence_to_any_other(one: list[str], two: list[str]) -> None:
    right, wrong = " ".join(one), " ".join(two)
    found = edit_of(right, wrong)
    start, stop = found["span_supported"]  # type: ignore[misc, str-unpack] # a pair
    made = right[: int(start)] + str(found["after"]) + right[int(stop) :]  # type: ignore[arg-type]
    assert made.split() == wrong.split()
