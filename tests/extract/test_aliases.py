"""Aliases and several golds as one class: vectors, closure, order, and every bad table."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.extract.aliases import Aliases, closed_aliases, merged, read_aliases
from trueness.extract.equivalence import aliases_of, equivalence_from_pairs
from trueness.extract.extraction import extract
from trueness.extract.short import short_key
from trueness.table.answers import OUTCOMES, AnswerTable, Outcome
from trueness.table.column import NULL, Column
from trueness.table.protocol import Protocol
from trueness.table.singles import SingleWords

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "extraction_judges.json").read_text("utf-8")
)
VECTORS = [v for v in GOLDEN if v["kind"] == "alias"]

Draws = Mapping[str, Sequence[str | None]]
Golds = Mapping[str, Sequence[str]]


def table_of(draws: Draws, golds: Golds | None = None) -> AnswerTable:
    """A table with keys: item to its draws, None is no answer; item to its golds."""
    rows = [(item, i + 1, key) for item, keys in draws.items() for i, key in enumerate(keys)]
    answered, none = OUTCOMES.index(Outcome.ANSWERED), OUTCOMES.index(Outcome.NO_ANSWER)
    n = len(rows)
    targets = [tuple(golds[item]) if golds and item in golds else None for item, _, _ in rows]
    return AnswerTable(
        item=Column.of(item for item, _, _ in rows),
        epoch=np.array([epoch for _, epoch, _ in rows], dtype=np.int32),
        condition=Column.of(["none"] * n),
        outcome=np.array([none if k is None else answered for _, _, k in rows], dtype=np.int8),
        answer=Column.of(key for _, _, key in rows),
        reason=Column.of("empty" if key is None else None for _, _, key in rows),
        row_number=np.arange(1, n + 1, dtype=np.int64),
        target=Column.of(targets) if golds else None,
        extractor="short@1+0",
    )


def clouds(table: AnswerTable) -> dict[str | None, Counter[str | None]]:
    found: dict[str | None, Counter[str | None]] = {}
    for item, key in zip(table.item.values(), table.answer.values(), strict=True):
        found.setdefault(item, Counter())[key] += 1
    return found


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_golden_vector(vector: dict[str, Any]) -> None:
    given_, wanted = vector["input"], vector["expected"]

    def key(text: str) -> str | None:
        return extract(text, kind=given_["kind"]).key

    golds = [k for k in map(key, given_["targets"]) if k]
    table = table_of({"q": given_["draws"]}, {"q": golds})
    if "error" in wanted:
        with pytest.raises(InputError, match="'x' of item 'q' names two representatives"):
            merged(table, {"q": given_["aliases"]}, key=key)
        return
    new = merged(table, {"q": given_["aliases"]}, key=key)
    assert new.target is not None
    (gold,) = new.target[0] or ()
    counts = {
        {gold: "<gold>", None: "<none>"}.get(said, said): n for said, n in clouds(new)["q"].items()
    }
    assert counts == wanted["counts"]
    assert sorted(golds) == wanted["gold_class"]
    k = len(given_["draws"])
    pairs = {said: Fraction(comb(n, 2), comb(k, 2)) for said, n in counts.items()}
    assert sum(pairs.values(), Fraction(0)) == Fraction(wanted["u2_total"])
    assert pairs["<gold>"] == Fraction(wanted["u2_gold"])


def test_an_alias_holds_in_its_item_alone() -> None:
    table = table_of({"q1": ["nyc", "new york"], "q2": ["nyc", "new york"]})
    new = merged(table, {"q1": {"NYC": "New York"}}, key=short_key)
    assert clouds(new) == {"q1": {"new york": 2}, "q2": {"nyc": 1, "new york": 1}}
    assert table.answer.values() == ["nyc", "new york", "nyc", "new york"]
    assert new.notes == ("Draws that aliases or golds gave another key: 1, in items: 1.",)


def test_a_representative_that_nobody_said_becomes_a_key() -> None:
    new = merged(table_of({"q": ["a", None, "b"]}), {"q": {"a": "c", "b": "c"}}, key=short_key)
    assert new.answer.values() == ["c", None, "c"]
    assert new.reason.values() == [None, "empty", None]


def test_golds_of_an_item_are_one_class_without_any_alias() -> None:
    table = table_of(
        {"q": ["nyc", "new york", "rome"], "r": ["oslo"]},
        {"q": ["new york", "nyc"], "r": ["oslo"]},
    )
    new = merged(table, key=short_key)
    assert new.answer.values() == ["new york", "new york", "rome", "oslo"]
    assert new.target is not None
    assert new.target.values() == [("new york",)] * 3 + [("oslo",)]
    assert new.protocols == {}


def test_an_alias_of_one_gold_joins_all_golds() -> None:
    table = table_of({"q": ["big apple", "nyc", "new york"]}, {"q": ["new york", "nyc"]})
    new = merged(table, {"q": {"big apple": "nyc"}}, key=short_key)
    assert set(new.answer.values()) == {"new york"}


def test_a_gold_that_is_an_alias_becomes_its_representative() -> None:
    table = table_of({"q": ["nyc", "new york"]}, {"q": ["nyc"]})
    new = merged(table, {"q": {"nyc": "new york"}}, key=short_key)
    assert new.answer.values() == ["new york", "new york"]
    assert new.target is not None
    assert new.target[0] == ("new york",)


def test_golds_with_one_word_each_are_read_too() -> None:
    table = table_of({"q": ["nyc", "new york"]})
    single = Column(np.zeros(2, dtype=np.int32), SingleWords(("nyc",)))
    new = merged(replace(table, target=single), {"q": {"nyc": "new york"}}, key=short_key)
    assert new.target is not None
    assert new.target.values() == [("new york",)] * 2


def test_nothing_to_merge_gives_the_same_table() -> None:
    table = table_of({"q": ["a", "b"]}, {"q": ["a"]})
    assert merged(table, key=short_key) is table
    assert merged(table, {}, key=short_key) is table


def test_the_alias_table_stands_in_every_protocol() -> None:
    table = replace(table_of({"q": ["a"]}), protocols={"none": Protocol({"model": "m"})})
    one, same, other = (
        merged(table, {"q": names}, key=short_key).protocols["none"]
        for names in ({"A": "b"}, {"a": "B"}, {"a": "c"})
    )
    assert one.fields["model"] == "m"
    assert one.fingerprint == same.fingerprint
    assert one.differences(other) == ("aliases",)
    assert table.protocols["none"].differences(one) == ("aliases",)


def test_rows_that_stand_for_many_draws_are_counted_as_many() -> None:
    table = replace(table_of({"q": ["a", "b"]}), weight=np.array([7, 2], dtype=np.int64))
    assert "key: 7," in merged(table, {"q": {"a": "b"}}, key=short_key).notes[0]


def test_items_of_the_alias_table_without_rows_are_named() -> None:
    new = merged(table_of({"q": ["a"]}), {i: {"a": "b"} for i in "vwxyz"}, key=short_key)
    assert new.notes == ("Items of the alias table that have no rows here (5): 'v', 'w', 'x' ….",)


def test_a_table_without_keys_is_refused() -> None:
    with pytest.raises(InputError, match="keyed"):
        merged(replace(table_of({"q": ["a"]}), extractor=None), {}, key=short_key)


def test_two_sets_of_golds_for_one_item_are_refused() -> None:
    table = table_of({"q": ["a", "b"]}, {"q": ["a"]})
    target = Column.of([("a", "c"), ("b",)])
    with pytest.raises(InputError, match=r"'q' has the golds \['a', 'c'\]"):
        merged(replace(table, target=target), {}, key=short_key)


def test_the_same_golds_in_another_order_are_one_set() -> None:
    table = replace(table_of({"q": ["a", "b"]}), target=Column.of([("b", "a"), ("a", "b")]))
    assert len(set(merged(table, key=short_key).answer.values())) == 1


def test_chains_are_followed_to_their_end() -> None:
    closed = closed_aliases({"q": {"a": "b", "b": "c", "d": "D"}}, key=short_key)
    assert closed == {"q": {"a": "c", "b": "c"}}


def test_two_representatives_that_are_one_are_no_contradiction() -> None:
    aliases: Aliases = {"q": {"a": ["b", "c"], "b": "c"}}
    assert closed_aliases(aliases, key=short_key) == {"q": {"a": "c", "b": "c"}}


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ({"x": ["a", "b"]}, ["'x'", "'a' and 'b'"]),
        ({"X": "a", "x": "b"}, ["'x'", "'a' and 'b'"]),
        ({"x": "y", "y": ["a", "b"]}, ["'x'", "'a' and 'b'"]),
        ({"a": "b", "b": "a"}, ["'a', 'b'", "name each other"]),
        ({"x": "..."}, ["'...'", "no answer key"]),
        ({" ": "x"}, ["' '", "no answer key"]),
    ],
)
def test_a_table_that_contradicts_itself_is_refused_by_name(
    names: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(InputError) as caught:
        closed_aliases({"q": names}, key=short_key)
    assert all(word in str(caught.value) for word in [*words, "'q'"])


def test_many_ways_to_one_representative_are_walked_once() -> None:
    """Every name has two next ones: 2^200 chains."""
    names = {f"n{i}{side}": [f"n{i + 1}a", f"n{i + 1}b"] for i in range(200) for side in "ab"}
    closed = closed_aliases({"q": {**names, "n200a": "end", "n200b": "end"}}, key=lambda text: text)
    assert set(closed["q"].values()) == {"end"}


keys = st.sampled_from("abcdef")


@given(
    st.dictionaries(keys, keys, max_size=5),
    st.lists(st.none() | keys, min_size=1, max_size=8),
    st.lists(keys, max_size=3, unique=True),
    st.randoms(use_true_random=False),
)
def test_merging_is_an_equivalence_that_joins_every_declared_pair(
    names: dict[str, str], draws: list[str | None], golds: list[str], order: Any
) -> None:
    try:
        closed = closed_aliases({"q": names}, key=short_key)["q"]
    except InputError:
        return
    table = table_of({"q": [*draws, *"bcdef"]}, {"q": golds} if golds else None)
    new = merged(table, {"q": names}, key=short_key)
    where = dict(zip(table.answer.values(), new.answer.values(), strict=True))
    for alias, representative in names.items():
        if {alias, representative} <= set(where):
            assert where[alias] == where[representative]
    said = [where[g] for g in golds if g in where]
    assert len(set(said)) <= 1
    assert (new.answer.codes == NULL).tolist() == (table.answer.codes == NULL).tolist()
    for one, two in combinations(sorted(k for k in where if k), 2):  # and joins nothing else
        ends = {closed.get(one, one), closed.get(two, two)}
        gold_ends = {closed.get(g, g) for g in golds}
        assert (where[one] == where[two]) == (len(ends) == 1 or ends <= gold_ends)
    again = merged(new, {"q": names}, key=short_key)
    assert again.answer.values() == new.answer.values()
    shuffled = list(names.items())
    order.shuffle(shuffled)
    assert merged(table, {"q": dict(shuffled)}, key=short_key).answer.values() == (
        new.answer.values()
    )


def test_classes_of_a_judge_merge_a_table() -> None:
    def judge(one: str, two: str) -> bool:
        return one[:4] == two[:4]

    found = equivalence_from_pairs(["rome", "rome italy", "oslo"], judge)
    table = table_of({"q": ["rome italy", "oslo", "rome"]})
    new = merged(table, {"q": aliases_of(found.components)}, key=short_key)
    assert new.answer.values() == ["rome", "oslo", "rome"]


def test_a_file_of_aliases_is_read(tmp_path: Path) -> None:
    path = tmp_path / "aliases.json"
    path.write_text('\ufeff{"q": {"NYC": "New York", "x": ["y", "y"]}, "r": {}}', "utf-8")
    found = read_aliases(path)
    assert found == {"q": {"NYC": ("New York",), "x": ("y", "y")}, "r": {}}
    assert merged(table_of({"q": ["nyc"]}), found, key=short_key).answer[0] == "new york"


def test_an_alias_that_stands_twice_in_a_file_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "aliases.json"
    path.write_text('{"q": {"x": "a", "x": "b"}}')
    with pytest.raises(InputError, match="'a' and 'b'"):
        closed_aliases(read_aliases(path), key=short_key)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "no JSON"),
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "holds a list"),
        ('"x"', "holds a str"),
        ('{"q": "a"}', "no object at 'q'"),
        ('{"q": {"a": 1}}', "no text for the alias 'a'"),
        ('{"q": {"a": null}}', "no text for the alias 'a'"),
        ('{"q": {"a": []}}', "no text for the alias 'a'"),
        ('{"q": {"a": {"b": "c"}}}', "no text for the alias 'a'"),
        ('{"q": {}, "q": {}}', "item 'q' twice"),
    ],
)
def test_a_file_that_is_no_alias_table_is_refused(tmp_path: Path, text: str, word: str) -> None:
    path = tmp_path / "aliases.json"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=word) as caught:
        read_aliases(path)
    assert "aliases.json" in str(caught.value)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_aliases(tmp_path / "none.json")
    with pytest.raises(InputError, match="folder"):
        read_aliases(tmp_path)
    (tmp_path / "latin.json").write_bytes(b'{"q": {"caf\xe9": "x"}}')
    with pytest.raises(InputError, match="no UTF-8"):
        read_aliases(tmp_path / "latin.json")


def test_a_long_chain_is_walked_once() -> None:
    chain = {f"a{i}": f"a{i + 1}" for i in range(50_000)}
    closed = closed_aliases({"q": chain}, key=str)["q"]
    assert closed == dict.fromkeys(chain, "a50000")
    backwards = dict(reversed(chain.items()))
    assert closed_aliases({"q": backwards}, key=str)["q"] == closed


def test_a_circle_behind_a_chain_is_refused() -> None:
    with pytest.raises(InputError, match="name each other"):
        closed_aliases({"q": {"a": "b", "b": "c", "c": "b"}}, key=str)
