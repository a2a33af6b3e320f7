import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.backends.scripted import ScriptedModel
from trueness.collect import Condition, parse_conditions, read_conditions
from trueness.collect.binding import bind, check_bos, names_in
from trueness.collect.prefixes import random_prefix
from trueness.contract.errors import InputError, ProtocolError

MODEL = ScriptedModel("garbage")


@pytest.mark.parametrize("word", ["prose", "shuffled", "the", "random"])
@given(length=st.integers(1, 300))
def test_a_prefix_has_exactly_the_wanted_length(word: str, length: int) -> None:
    condition = parse_conditions(f"{word}:{length}")[1]
    bound = bind(condition, MODEL)
    assert bound.ids is not None
    assert len(bound.ids) == bound.facts["n_tokens"] == length


@given(st.integers(0, 50), st.integers(1, 20), st.sets(st.integers(0, 69)), st.integers(0, 9))
def test_random_ids_lie_in_range_and_are_never_excluded(
    low: int, width: int, excluded: set[int], seed: int
) -> None:
    if set(range(low, low + width)) <= excluded:
        with pytest.raises(InputError, match="no id between"):
            random_prefix(low, low + width, 5, excluded=excluded)
        return
    ids = random_prefix(low, low + width, 5, seed=seed, excluded=excluded)
    assert all(low <= i < low + width and i not in excluded for i in ids)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("prose", "KIND:L"),
        ("prose:x", "whole number"),
        ("prose:-1", "whole number from 0"),
        ("gas:3", "kinds are none"),
        ("system:nobody", "Shipped: cautious"),
        ("text:99", "text:1 to text:8"),
        ("the:8,the:8", "two conditions are called 'the:8'"),
    ],
)
def test_a_condition_that_cannot_be_read_is_one_clear_error(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_conditions(text)


def test_conditions_come_from_a_file_too(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    row = {"name": "wool", "kind": "prose", "length": 9, "text": "Wool is", "tile": True}
    path.write_text(json.dumps([row]), "utf-8")
    none, wool = read_conditions(path)
    assert none.name == "none"
    assert bind(wool, MODEL).facts["n_tokens"] == 9
    path.write_text(json.dumps([{"name": "x", "kind": "prose", "colour": 1}]), "utf-8")
    with pytest.raises(InputError, match="give an object with name, kind"):
        read_conditions(path)


def test_joined_text_records_whether_the_seam_holds() -> None:
    bound = bind(Condition("t", "text", text="See ", join="text"), MODEL)
    assert bound.seam("Paris") == "differs"  # the space joins the next letter
    assert bind(Condition("t", "text", text="See\n", join="text"), MODEL).seam("Paris") == "equal"


def test_a_system_prompt_without_a_system_role_is_a_text_prefix_and_says_so() -> None:
    assert bind(parse_conditions("system:json")[1], MODEL).facts["given_as"] == "text_prefix"


def test_names_are_found_as_words_whatever_their_case() -> None:
    assert names_in("from PARIS, in Cote d'Azur", ["Paris", "Par", "Cote d'Azur", ""]) == (
        "Paris",
        "Cote d'Azur",
    )


class _Spelled:
    bos = 0
    n_vocabulary = 256
    special = frozenset({0})

    def encode(self, text: str) -> tuple[int, ...]:
        return tuple(text.encode())

    def decode(self, ids: object) -> str:
        return "<s>" if ids == (0,) else ""


def test_two_bos_tokens_are_refused() -> None:
    with pytest.raises(ProtocolError, match="two BOS tokens"):
        check_bos(["<s>The capital"], _Spelled())
    check_bos(["The capital"], _Spelled())
