import hashlib
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from trueness.backends.scripted import ScriptedModel
from trueness.collect.binding import Bound, bind
from trueness.collect.cache import cache_key
from trueness.collect.conditions import Condition
from trueness.collect.prefixes import (
    passage_prefix,
    random_prefix,
    repeated_prefix,
    shuffled_prefix,
)
from trueness.collect.rendering import render
from trueness.collect.seeds import draw_seed
from trueness.collect.selfcheck import positions
from trueness.collect.votes import vote
from trueness.contract.errors import InputError
from trueness.contract.serial import canonical
from trueness.table.journal import read_journal

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "asking.json").read_text("utf-8"), strict=False
)


class _Bos:
    bos = 1
    n_vocabulary = 100
    special = frozenset({1})

    def encode(self, text: str) -> tuple[int, ...]:
        return tuple(map(ord, text))

    def decode(self, ids: Any) -> str:
        return "".join(map(chr, ids))


def _cases(kind: str) -> list[Any]:
    found = [pytest.param(v, id=v["name"]) for v in GOLDEN if v["kind"] == kind]
    assert found
    return found


@pytest.mark.parametrize("vector", _cases("vote"))
def test_a_vote_has_the_winner_of_the_vector(vector: Any) -> None:
    given, wanted = vector["input"], vector["expected"]
    found = vote(given["draws"], given["logprobs"])
    share = None if wanted["share"] is None else Fraction(wanted["share"])
    assert (found.winner, found.outcome, found.reason, found.share) == (
        wanted["winner"],
        wanted["outcome"],
        wanted["reason"],
        share,
    )


def _prefix(given: Any) -> tuple[int, ...]:
    kind, length = given["kind"], given.get("length")
    if kind == "prose":
        return passage_prefix(given["passage_ids"], length)
    if kind == "shuffled":
        return shuffled_prefix(given["passage_ids"], length, seed=given["seed"])
    if kind == "random":
        low, high, excluded = given["low"], given["high"], given["excluded"]
        return random_prefix(low, high, length, seed=given["seed"], excluded=excluded)
    return repeated_prefix(given["token_id"], length)


@pytest.mark.parametrize("vector", _cases("prefix"))
def test_a_prefix_has_the_ids_of_the_vector(vector: Any) -> None:
    given, wanted = vector["input"], vector["expected"]
    if given["kind"] == "text":
        condition = Condition("glued", "text", text=given["text"], join=given["join"])
        with pytest.raises(InputError, match=wanted["error"]):
            bind(condition, ScriptedModel("garbage"))
    elif "error" in wanted:
        with pytest.raises(InputError, match=wanted["error"]):
            _prefix(given)
    elif "ids_sent" in wanted:
        condition = Condition("x", "repeated", length=given["length"])
        bound = Bound(condition, _prefix(given), "", {}, _Bos())
        assert bound.prompt("", tuple(given["prompt_ids"])) == tuple(wanted["ids_sent"])
    else:
        assert list(_prefix(given)) == wanted["ids"]


@pytest.mark.parametrize("vector", _cases("draw-seed"))
def test_a_draw_has_the_seed_of_the_vector(vector: Any) -> None:
    given = vector["input"]
    assert draw_seed(given.pop("seed"), **given) == vector["expected"]["seed"]


@pytest.mark.parametrize("vector", _cases("cache-key"))
def test_a_request_has_the_key_of_the_vector(vector: Any) -> None:
    request, wanted = vector["input"]["request"], vector["expected"]
    assert canonical(request) == wanted["canonical"]
    assert cache_key(request) == wanted["sha256"]
    assert hashlib.sha256(wanted["canonical"].encode()).hexdigest() == wanted["sha256"]


@pytest.mark.parametrize("vector", _cases("render"))
def test_a_template_is_rendered_as_in_the_vector(vector: Any) -> None:
    given, wanted = vector["input"], vector["expected"]
    if "error" in wanted:
        with pytest.raises(InputError, match=r"no \{e\} in template"):
            render(given["template"], given["entity"])
    else:
        assert render(given["template"], given["entity"]) == wanted["prompt"]


@pytest.mark.parametrize("vector", _cases("self-check"))
def test_the_self_check_asks_the_positions_of_the_vector_again(vector: Any) -> None:
    given = vector["input"]
    found = positions(given["token_lengths"], random=given["random"], seed=given["seed"])
    assert list(found) == vector["expected"]["positions"]


@pytest.mark.parametrize("vector", _cases("resume"))
def test_a_journal_is_resumed_as_in_the_vector(vector: Any, tmp_path: Path) -> None:
    given, wanted = vector["input"], vector["expected"]
    path = tmp_path / "t.jsonl"
    path.write_text(given["journal"], "utf-8")
    state = read_journal(path)
    asked = [(item, epoch, condition) for item, epoch, condition in given["asked"]]
    left = [key for key in asked if not state.settled(key)]
    with_errors = [key for key in asked if not state.settled(key, retry_errors=True)]
    assert (state.rows_kept, state.torn_lines) == (wanted["rows_kept"], wanted["torn_lines"])
    assert list(map(list, left)) == wanted["still_to_ask"]
    assert list(map(list, with_errors)) == wanted["still_to_ask_with_retry_errors"]


def test_seeds_of_many_draws_are_pairwise_distinct_but_for_chance() -> None:
    seeds = {
        draw_seed(0, model="m", condition="none", item=f"i{i}", epoch=e)
        for i in range(1000)
        for e in range(1, 11)
    }
    assert len(seeds) > 10_000 - 4  # 2³¹ places: a shared one is possible, many are not
