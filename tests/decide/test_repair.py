"""The verdict of one intervention: golden vectors and what it does not say."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError, ShapeError
from trueness.decide.repair import RepairVerdict, outcome_moves, repair_verdict

GOLDEN = Path(__file__).parents[1] / "golden" / "asking.json"
VECTORS = [v for v in json.loads(GOLDEN.read_text("utf-8")) if v["kind"] == "repair"]


def counts(before: list[str | None], after: list[str | None]) -> dict[str, int]:
    """Pairs and changes by listing all pairs of entities answered on both sides."""
    both = [(b, a) for b, a in zip(before, after, strict=True) if b is not None and a is not None]
    pairs = [(p[0] == q[0], p[1] == q[1]) for p, q in combinations(both, 2)]
    return {
        "pairs_merged": pairs.count((False, True)),
        "pairs_split": pairs.count((True, False)),
        "answers_changed": sum(b != a for b, a in both),
    }


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_golden_vector(vector: dict[str, Any]) -> None:
    before, after = vector["input"]["before"], vector["input"]["after"]
    found = counts(before, after)
    moves = outcome_moves(
        *(["no_answer" if a is None else "answered" for a in side] for side in (before, after))
    )
    expected = vector["expected"]
    assert repair_verdict(**found) == expected["verdict"]
    assert moves == expected["outcome_moves"]
    assert found == {k: expected[k] for k in found}


def test_an_echo_prompt_separates_and_that_is_not_called_better() -> None:
    before: list[str | None] = ["Paris", "Paris", "Paris", "Paris"]
    echo: list[str | None] = ["France", "Italy", "Japan", "Spain"]
    assert repair_verdict(**counts(before, echo)) is RepairVerdict.SEPARATED


def test_an_equal_largest_group_is_no_separation() -> None:
    found = counts(["a", "a", "b", "c", "d"], ["a", "a", "b", "b", "c"])
    assert repair_verdict(**found) is RepairVerdict.MERGED


keys = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=7)


@given(pairs=keys)
def test_backwards_separated_is_merged(pairs: list[tuple[str, str]]) -> None:
    before: list[str | None] = [b for b, _ in pairs]
    after: list[str | None] = [a for _, a in pairs]
    mirror = {"separated": "merged", "merged": "separated"}
    there = repair_verdict(**counts(before, after)).value
    back = repair_verdict(**counts(after, before)).value
    assert back == mirror.get(there, there)


@pytest.mark.parametrize("bad", [-1, 1.0, True, "1"])
def test_counts_must_be_whole_numbers(bad: Any) -> None:
    with pytest.raises(InputError, match="a whole number of at least 0"):
        repair_verdict(pairs_merged=bad, pairs_split=0, answers_changed=1)


def test_pairs_cannot_move_when_no_answer_changed() -> None:
    with pytest.raises(InputError, match="although no answer changed"):
        repair_verdict(pairs_merged=1, pairs_split=0, answers_changed=0)


def test_outcomes_of_different_entities_are_refused() -> None:
    with pytest.raises(ShapeError, match="2 outcomes before and 1 after"):
        outcome_moves(["answered", "answered"], ["answered"])
