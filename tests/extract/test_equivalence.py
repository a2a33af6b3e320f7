"""Classes from a judge of pairs: vectors, partitions, order, and what a judge cannot promise."""

import json
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.extract.equivalence import (
    MAX_LISTED,
    Classes,
    Judge,
    aliases_of,
    equivalence_from_pairs,
)

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "extraction_judges.json").read_text("utf-8")
)
VECTORS = [v for v in GOLDEN if v["kind"] == "judge"]

Yes = set[tuple[str, str]]


def says(yes: Yes) -> Judge:
    return lambda one, two: (one, two) in yes


@st.composite
def judged(draw: st.DrawFn) -> tuple[list[str], Yes]:
    """A few keys and any answers of a judge, symmetric or not."""
    keys = sorted(draw(st.sets(st.sampled_from("abcdefg"), min_size=1)))
    ordered = list(permutations(keys, 2))
    one_way = draw(st.sets(st.sampled_from(ordered))) if ordered else set()
    if draw(st.booleans()):
        one_way |= {(b, a) for a, b in one_way}
    return keys, one_way


def edges_of(keys: list[str], yes: Yes) -> Yes:
    return {(a, b) for a, b in combinations(keys, 2) if {(a, b), (b, a)} <= yes}


def flat(classes: Classes) -> list[str]:
    return sorted(key for members in classes for key in members)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_golden_vector(vector: dict[str, Any]) -> None:
    keys, wanted = vector["input"]["keys"], vector["expected"]
    yes = {(a, b) for a, b in vector["input"]["judged_equal"]}
    for order in permutations(keys):
        found = equivalence_from_pairs(order, says(yes))
        assert [list(c) for c in found.components] == wanted["components"]
        assert found.complete_linkage is not None
        assert [list(c) for c in found.complete_linkage] == wanted["complete_linkage"]
        assert found.intransitive_triples == wanted["intransitive_triples"]
        assert [list(p) for p in found.asymmetric_pairs] == wanted["asymmetric_pairs"]


@given(judged(), st.randoms(use_true_random=False))
def test_nothing_depends_on_the_order_of_keys_or_on_repeats(
    case: tuple[list[str], Yes], order: Any
) -> None:
    keys, yes = case
    shuffled = [*keys, *keys[:2]]
    order.shuffle(shuffled)
    assert equivalence_from_pairs(shuffled, says(yes)) == equivalence_from_pairs(keys, says(yes))


@given(judged())
def test_both_results_are_partitions_and_one_refines_the_other(
    case: tuple[list[str], Yes],
) -> None:
    keys, yes = case
    found = equivalence_from_pairs(keys, says(yes))
    assert found.complete_linkage is not None
    assert flat(found.components) == flat(found.complete_linkage) == keys
    for tight in found.complete_linkage:
        assert sum(set(tight) <= set(loose) for loose in found.components) == 1


@given(judged())
def test_components_are_the_finest_equivalence_that_honours_every_edge(
    case: tuple[list[str], Yes],
) -> None:
    keys, yes = case
    reach = {k: {k} for k in keys}
    for _ in keys:
        for a, b in edges_of(keys, yes):
            reach[a] = reach[b] = reach[a] | reach[b]
            for k in reach[a]:
                reach[k] = reach[a]
    wanted = sorted({tuple(sorted(r)) for r in reach.values()})
    assert list(equivalence_from_pairs(keys, says(yes)).components) == wanted


@given(judged())
def test_complete_linkage_never_joins_what_is_no_edge(case: tuple[list[str], Yes]) -> None:
    keys, yes = case
    edges, found = edges_of(keys, yes), equivalence_from_pairs(keys, says(yes))
    assert found.complete_linkage is not None
    for members in found.complete_linkage:
        assert all(pair in edges for pair in combinations(members, 2))
    for one, two in combinations(found.complete_linkage, 2):  # and nothing is left to join
        assert not all(((min(a, b), max(a, b)) in edges) for a in one for b in two)


@given(judged())
def test_triples_and_one_way_verdicts_are_all_found(case: tuple[list[str], Yes]) -> None:
    keys, yes = case
    edges, found = edges_of(keys, yes), equivalence_from_pairs(keys, says(yes))
    broken = [t for t in combinations(keys, 3) if sum(p in edges for p in combinations(t, 2)) == 2]
    assert found.intransitive_triples == len(broken)
    assert sorted(tuple(sorted(t)) for t in found.triples) == broken
    one_way = sorted((a, b) for a, b in yes if (b, a) not in yes)
    assert list(found.asymmetric_pairs) == one_way
    assert found.n_calls == len(keys) * (len(keys) - 1)
    assert found.ambiguous == bool(broken)


@given(judged())
def test_skipping_connected_keys_keeps_the_components_and_loses_the_rest(
    case: tuple[list[str], Yes],
) -> None:
    keys, yes = case
    full = equivalence_from_pairs(keys, says(yes))
    short = equivalence_from_pairs(keys, says(yes), skip_connected=True)
    assert short.components == full.components
    assert short.n_calls <= full.n_calls
    assert (short.complete_linkage, short.intransitive_triples, short.ambiguous) == (None,) * 3


def test_one_direction_is_no_edge() -> None:
    found = equivalence_from_pairs(["paris", "city of paris"], says({("paris", "city of paris")}))
    assert found.components == (("city of paris",), ("paris",))
    assert found.asymmetric_pairs == (("paris", "city of paris"),)


def test_a_judge_declared_symmetric_is_asked_once_a_pair() -> None:
    asked: list[tuple[str, str]] = []

    def judge(one: str, two: str) -> bool:
        asked.append((one, two))
        return True

    found = equivalence_from_pairs(["b", "a"], judge, "once")
    assert asked == [("a", "b")]
    assert found.components == (("a", "b"),)
    assert found.protocol["judge_mode"] == "once"


def test_the_judge_stands_in_the_protocol() -> None:
    found = equivalence_from_pairs(["a"], says(set()), judge_name="nli", prompt_hash="f00d")
    assert found.protocol == {
        "judge": "nli",
        "judge_prompt_hash": "f00d",
        "judge_mode": "both",
    }
    assert equivalence_from_pairs(["a"], says(set())).protocol["judge"] == "unknown"


def test_many_triples_are_counted_and_the_first_are_named() -> None:
    spokes = [f"{i:03}" for i in range(30)]
    yes = {(a, b) for s in spokes for a, b in (("hub", s), (s, "hub"))}
    found = equivalence_from_pairs(["hub", *spokes], says(yes))
    assert found.intransitive_triples == 30 * 29 // 2
    assert len(found.triples) == MAX_LISTED
    assert found.triples[0] == ("000", "hub", "001")


def test_no_key_has_no_class() -> None:
    found = equivalence_from_pairs([], says(set()))
    assert (found.components, found.complete_linkage, found.n_calls) == ((), (), 0)


def test_classes_make_an_alias_table() -> None:
    assert aliases_of((("a", "b", "c"), ("d",))) == {"b": "a", "c": "a"}


@pytest.mark.parametrize("verdict", [None, 1, "yes", 0.7])
def test_a_verdict_that_does_not_decide_is_refused(verdict: Any) -> None:
    with pytest.raises(InputError, match="Make it decide"):
        equivalence_from_pairs(["a", "b"], lambda _one, _two: verdict)


def test_what_a_judge_raises_is_not_swallowed() -> None:
    def judge(_one: str, _two: str) -> bool:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        equivalence_from_pairs(["a", "b"], judge)


def test_an_unknown_mode_and_a_key_that_is_no_text_are_refused() -> None:
    mode: Any = "either"
    with pytest.raises(InputError, match="'once'"):
        equivalence_from_pairs(["a"], says(set()), mode)
    keys: Any = ["a", None]
    with pytest.raises(InputError, match="without an answer"):
        equivalence_from_pairs(keys, says(set()))


def test_a_judge_may_compare_with_arrays() -> None:
    found = equivalence_from_pairs(
        ["1", "2"], lambda one, two: np.float64(one) == np.float64(two), judge_name="equal"
    )
    assert found.components == (("1",), ("2",))
