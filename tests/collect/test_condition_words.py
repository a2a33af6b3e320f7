"""The grammar of conditions: prefixes by number and seed, noise, allowed answers."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from trueness.backends.scripted import ScriptedModel
from trueness.collect import parse_conditions, read_conditions
from trueness.collect.binding import bind, names_in
from trueness.collect.condition_words import TOKENS
from trueness.collect.conditions import Condition, catalogue, passages
from trueness.contract.errors import InputError
from trueness.table import bundled_relation, bundled_relations

MODEL = ScriptedModel("garbage")


def one(word: str) -> Condition:
    (found,) = parse_conditions(word)[1:]
    return found


def test_eight_passages_hold_no_entity_and_no_answer_of_a_built_in_relation() -> None:
    relations = [bundled_relation(name) for name in bundled_relations()]
    names = {e for r in relations for e in r.entities}
    names |= {gold for r in relations for golds in r.golds for gold in golds}
    assert len(passages()) == len(set(passages())) == 8
    for text in (*passages(), catalogue()["neutral_passage"]):
        assert not names_in(str(text), names)


@pytest.mark.real
def test_every_passage_holds_at_least_520_tokens_of_the_embedded_model() -> None:
    from trueness.backends import open_model  # noqa: PLC0415 - the real model

    model = open_model("embedded")
    try:
        assert model.tokenizer is not None
        assert min(len(model.tokenizer.encode(text)) for text in passages()) >= 520
    finally:
        model.close()


def test_a_passage_is_named_by_its_number_and_a_shuffle_by_its_seed() -> None:
    assert one("prose:16@3").text == passages()[2]
    assert one("shuffled:16@3#7").seed == 7
    plain, seeded = (bind(one(w), MODEL).ids for w in ("shuffled:64@3", "shuffled:64@3#7"))
    prose = bind(one("prose:64@3"), MODEL).ids
    assert plain is not None
    assert seeded is not None
    assert prose is not None
    assert plain != seeded
    assert sorted(plain) == sorted(seeded) == sorted(prose)


def test_random_ids_follow_their_own_seed() -> None:
    first, second, usual = (
        bind(c, MODEL).ids for c in parse_conditions("random:8#1,random:8#2,random:8", seed=2)[1:]
    )
    assert second == usual != first


@pytest.mark.parametrize("word", sorted(TOKENS))
def test_a_repeated_token_has_a_name(word: str) -> None:
    assert one(f"{word}:3").text == TOKENS[word]
    assert one(f"{word}:3").kind == "repeated"


def test_a_system_prompt_has_three_wordings_and_can_be_plain_text() -> None:
    for name, text in catalogue()["system_prompts"].items():
        if text:
            wordings = {one(f"system:{name}@{i}").text for i in (1, 2, 3)}
            assert len(wordings) == 3
            assert text in wordings
    assert one("text:json@2").text == one("system:json@2").text
    assert one("text:json").kind == "text"


def test_noise_is_added_to_a_prefix_and_a_grid_is_every_level() -> None:
    grid = parse_conditions("noise:grid")[1:]
    levels = [c.noise for c in grid]
    assert levels == catalogue()["noise_sigmas"]
    assert all(a < b for a, b in pairwise(levels))
    assert grid[0].is_empty  # asked as `none`, once
    assert {c.epochs(None) for c in grid[1:]} == {catalogue()["noise_draws"]}
    both = one("prose:32@2+noise:0.4@table+allowed:string")
    assert (both.kind, both.noise, both.scale, both.allowed) == ("prose", 0.4, "table", "string")
    assert one("noise:0.4").epochs(3) == 3


def test_ordinary_conditions_are_asked_once() -> None:
    assert [c.epochs(None) for c in parse_conditions("prose:8,allowed:string")] == [1, 1, 1]


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("prose:16@9", "there are 1 to 8"),
        ("prose:16@x", "the passage 'x'"),
        ("prose:16#2", "takes no #2"),
        ("the:16@2", "takes no @2"),
        ("random:16@2", "takes no @2"),
        ("system:json@4", "wordings 1 to 3"),
        ("system:json#1", "takes no #1"),
        ("text:2@2", "takes no @2"),
        ("noise:much", "number of standard"),
        ("noise:-1", "noise from 0"),
        ("noise:inf", "finite noise"),
        ("noise:nan", "finite noise"),
        ("noise:1@mine", "@prompt or @table"),
        ("allowed:all", "first_token or string"),
        ("allowed:string@2", "takes no @2"),
        ("prose:16+the:4", "only noise and allowed can be added"),
        ("prose:16+", "KIND:L"),
        ("+noise:1", "KIND:L"),
    ],
)
def test_what_means_nothing_is_one_clear_error(word: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_conditions(word)


def test_a_file_names_passages_noise_and_allowed_answers(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    rows = [
        {"name": "third", "kind": "prose", "length": 16, "passage": 3},
        {"name": "noisy", "kind": "noise", "noise": 0.5, "scale": "table"},
        {"name": "listed", "kind": "prose", "length": 8, "allowed": "string", "draws": 2},
    ]
    path.write_text(json.dumps({"conditions": rows}), "utf-8")
    _, third, noisy, listed = read_conditions(path)
    assert third.text == passages()[2]
    assert (noisy.noise, noisy.scale, noisy.draws) == (0.5, "table", catalogue()["noise_draws"])
    assert (listed.allowed, listed.epochs(None)) == ("string", 1)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"name": "x", "kind": "prose", "passage": 9}, "there are 1 to 8"),
        ({"name": "x", "kind": "noise", "noise": "much"}, "noise of condition 'x' is 'much'"),
        ({"name": "x", "kind": "noise", "noise": True}, "a number wanted"),
        ({"name": "x", "kind": "noise", "noise": 1, "scale": "mine"}, "scales are prompt, table"),
        ({"name": "x", "kind": "allowed"}, "allows no form"),
        ({"name": "none", "kind": "none", "noise": 1}, "names the empty one alone"),
        ({"name": "x", "kind": "noise", "noise": 1, "draws": 0}, "at least 1 draw"),
    ],
)
def test_a_row_that_means_nothing_is_one_clear_error(
    row: dict[str, object], words: str, tmp_path: Path
) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps([row]), "utf-8")
    with pytest.raises(InputError, match=words):
        read_conditions(path)
