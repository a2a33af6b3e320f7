"""Permutation tests: against vectors, every split, and streams without a change."""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.stats import permutation, resplits
from trueness.stats.cloud_pairs import CloudPairs, pair_clouds, squared_distance
from trueness.stats.clouds import OPEN, Clouds
from trueness.stats.permutation import (
    attainable_floor,
    exact_permutation_p,
    omnibus,
    permutation_p,
)
from trueness.stats.resplits import SQUARED_DISTANCE, TOTAL_VARIATION, sampled_splits, split_law

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "atlas_clouds.json").read_text(encoding="utf-8")
)
PAIRS = [pytest.param(v, id=v["name"]) for v in GOLDEN if v["kind"] == "pair"]
FLOORS = [v for v in GOLDEN if v["kind"] == "permutation_floor"]
Pair = tuple[list[Any], list[Any]]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def listed(*pairs: Pair) -> CloudPairs:
    codes = {
        a: place for place, a in enumerate(dict.fromkeys(a for p in pairs for a in p[0] + p[1]))
    }
    sides = []
    for side in (0, 1):
        draws = [(i, codes[a]) for i, pair in enumerate(pairs) for a in pair[side]]
        items, answers = np.array(draws, np.int64).reshape(-1, 2).T
        sides.append(Clouds.of(items, answers, np.full(len(items), OPEN), n_items=len(pairs)))
    return pair_clouds(*sides)


@pytest.mark.parametrize("vector", PAIRS)
def test_golden_permutation_tests(vector: dict[str, Any]) -> None:
    before, after = vector["input"]["before"], vector["input"]["after"]
    pairs, expected = listed((before, after)), vector["expected"]
    exact = exact_permutation_p(pairs)
    wanted = [expected["permutation_p_tv"], expected["permutation_p_l2"]]
    assert [str(p) for p in exact] == wanted
    found = permutation_p(pairs, rng=rng())
    assert [found.tv[0], found.l2[0]] == [float(Fraction(p)) for p in wanted]
    assert found.exact.all()
    assert str(attainable_floor(len(before), len(after))) == expected["attainable_p_floor"]
    assert found.floor[0] == float(Fraction(expected["attainable_p_floor"]))
    assert math.comb(len(before) + len(after), len(before)) == expected["splits"]


def test_golden_floors() -> None:
    (vector,) = FLOORS
    sizes = vector["input"]["k"]
    floors = [attainable_floor(k, k) for k in sizes]
    assert [str(p) for p in floors] == vector["expected"]["floor"]
    for level, name in ((0.05, "smallest_k_below_0_05"), (0.01, "smallest_k_below_0_01")):
        least = next(k for k, p in zip(sizes, floors, strict=True) if p < level)
        assert least == vector["expected"][name]


def variation(n: list[Any], m: list[Any]) -> Fraction:
    keys = set(n) | set(m)
    return sum(
        (abs(Fraction(n.count(a), len(n)) - Fraction(m.count(a), len(m))) for a in keys),
        Fraction(0),
    )


def distance(n: list[Any], m: list[Any]) -> Fraction:
    def agree(x: list[Any]) -> Fraction:
        return Fraction(sum(a == b for a, b in combinations(x, 2)), math.comb(len(x), 2))

    across = Fraction(sum(a == b for a, b in product(n, m)), len(n) * len(m))
    return agree(n) + agree(m) - 2 * across


def all_splits(n: list[Any], m: list[Any]) -> list[Pair]:
    pooled = n + m
    places = range(len(pooled))
    return [
        ([pooled[i] for i in chosen], [pooled[i] for i in places if i not in chosen])
        for chosen in combinations(places, len(n))
    ]


def brute(n: list[Any], m: list[Any], statistic: Callable[[Any, Any], Fraction]) -> Fraction:
    observed, several = statistic(n, m), all_splits(n, m)
    return Fraction(sum(statistic(*split) >= observed for split in several), len(several))


SIDE = st.lists(st.sampled_from("abcd"), min_size=2, max_size=5)


@settings(max_examples=40)
@given(SIDE, SIDE)
def test_p_is_the_share_of_all_splits(before: list[str], after: list[str]) -> None:
    pairs = listed((before, after))
    wanted = brute(before, after, variation), brute(before, after, distance)
    assert exact_permutation_p(pairs) == wanted
    found = permutation_p(pairs, rng=rng())
    assert (found.tv[0], found.l2[0]) == (float(wanted[0]), float(wanted[1]))
    assert found.floor[0] <= min(found.tv[0], found.l2[0])


def test_the_floor_is_attained_by_disjoint_clouds() -> None:
    for k, other in ((1, 1), (2, 5), (4, 4), (6, 3), (9, 9)):
        pairs = listed((["a"] * k, ["b"] * other))
        assert exact_permutation_p(pairs)[0] == attainable_floor(k, other)


def test_items_with_too_few_draws_have_no_p() -> None:
    found = permutation_p(
        listed((["a"], ["b", "b"]), ([], ["a"]), (["a"] * 4, ["b"] * 4)), rng=rng()
    )
    assert np.isnan(found.tv).tolist() == [False, True, False]
    assert np.isnan(found.l2).tolist() == [True, True, False]
    assert np.isnan(found.floor).tolist() == [False, True, False]
    assert exact_permutation_p(listed((["a"], ["b", "b"])))[1] is None


def draws(law: list[float], k: int, generator: np.random.Generator) -> list[int]:
    found: list[int] = generator.choice(len(law), k, p=law).tolist()
    return found


def test_sampled_p_is_close_to_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = rng(3)
    several: list[Pair] = [
        (draws([0.5, 0.3, 0.2], 8, generator), draws([0.2, 0.3, 0.5], 8, generator))
        for _ in range(5)
    ]
    exact = permutation_p(listed(*several), rng=rng())
    monkeypatch.setattr(resplits, "LIMIT", 0)
    sampled = permutation_p(listed(*several), rng=rng())
    assert exact.exact.all()
    assert not sampled.exact.any()
    np.testing.assert_allclose(sampled.tv, exact.tv, atol=0.03)
    np.testing.assert_allclose(sampled.l2, exact.l2, atol=0.03)
    again = permutation_p(listed(*several), rng=rng())
    np.testing.assert_array_equal(again.tv, sampled.tv)


def test_a_sampled_p_is_never_nought(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resplits, "LIMIT", 0)
    found = permutation_p(listed(([0] * 30, [1] * 30)), rng=rng(), resplits=99)
    assert found.tv.tolist() == [0.01]


def test_splits_too_many_for_any_float_are_sampled() -> None:
    pairs = listed(([0] * 400 + [1] * 300, [0] * 350 + [1] * 350))
    found, exact = permutation_p(pairs, rng=rng()), exact_permutation_p(pairs)
    assert not found.exact.any()
    assert [found.tv[0], found.l2[0]] == pytest.approx([float(p or 0) for p in exact], abs=0.01)


def test_laws_hold_every_split_once() -> None:
    pooled = np.array([3, 2, 1, 1, 1])
    for statistic in (TOTAL_VARIATION, SQUARED_DISTANCE):
        law = split_law(pooled, 3, statistic)
        assert law is not None
        assert law.ways.sum() == math.comb(8, 3)
        drawn = np.concatenate(
            list(sampled_splits(pooled, 3, statistic, rng=rng(), resplits=20_000))
        )
        assert set(drawn.tolist()) <= set(law.values.tolist())
        share = [float((drawn == v).mean()) for v in law.values]
        np.testing.assert_allclose(share, law.ways / law.ways.sum(), atol=0.02)


def test_random_splits_come_in_parts_of_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resplits, "_CHUNK", 10)
    parts = list(sampled_splits(np.array([2, 2]), 2, TOTAL_VARIATION, rng=rng(), resplits=12))
    assert [len(part) for part in parts] == [5, 5, 2]


def exact_omnibus(pairs: list[Pair]) -> float:
    """Share of all joint splits whose summed distance is at least the observed one."""
    observed = sum(distance(n, m) for n, m in pairs)
    each = [[distance(n, m) for n, m in all_splits(*pair)] for pair in pairs]
    sums = [sum(joint) for joint in product(*each)]
    return sum(x >= observed for x in sums) / len(sums)


@pytest.mark.parametrize(
    "pairs",
    [
        [("aab", "abb"), ("aaa", "bbb")],
        [("aab", "abb"), ("aaa", "bbbb"), ("ab", "ab")],
        [("aaab", "bbba")] * 2,
    ],
)
def test_the_omnibus_p_is_that_over_all_joint_splits(pairs: list[tuple[str, str]]) -> None:
    several: list[Pair] = [(list(n), list(m)) for n, m in pairs]
    found = omnibus(listed(*several), rng=rng(), resplits=40_000)
    assert found.p == pytest.approx(exact_omnibus(several), abs=0.01)
    assert found.statistic == pytest.approx(squared_distance(listed(*several)).sum(), abs=1e-12)
    assert found.n_items == len(pairs)


def test_every_way_to_draw_the_null_gives_the_same_p(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = rng(5)
    law = [0.6, 0.2, 0.2]
    several: list[Pair] = [(draws(law, 4, generator), draws(law, 4, generator)) for _ in range(40)]
    pairs = listed(*several)
    one_by_one = omnibus(pairs, rng=rng()).p
    for module, name, value in (
        (permutation, "_MANY", 0),
        (permutation, "_EXACT_FLOAT", 0),
        (resplits, "LIMIT", 0),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, value)
            assert omnibus(pairs, rng=rng(1)).p == pytest.approx(one_by_one, abs=0.02)


def test_without_a_change_the_omnibus_test_rejects_at_its_level() -> None:
    generator = rng(11)
    law = [0.5, 0.25, 0.125, 0.125]
    rejected = 0
    for _ in range(200):
        several: list[Pair] = [
            (draws(law, 4, generator), draws(law, 4, generator)) for _ in range(10)
        ]
        rejected += omnibus(listed(*several), rng=generator, resplits=199).p <= 0.05
    assert rejected <= 200 * 0.05 + 3 * math.sqrt(200 * 0.05 * 0.95)


def test_a_change_in_many_items_is_seen_where_no_item_can_show_it() -> None:
    pairs = listed(*[(["a", "a", "a"], ["b", "b", "a"])] * 25)
    assert permutation_p(pairs, rng=rng()).tv.min() > 0.1
    assert omnibus(pairs, rng=rng()).p < 0.001


def test_the_order_of_items_changes_no_omnibus_p() -> None:
    generator = rng(2)
    several: list[Pair] = [
        (draws([0.5, 0.5], 4, generator), draws([0.5, 0.5], 5, generator)) for _ in range(12)
    ]
    assert omnibus(listed(*several), rng=rng()) == omnibus(listed(*several[::-1]), rng=rng())


def test_without_two_draws_on_both_sides_there_is_no_omnibus_test() -> None:
    found = omnibus(listed((["a"], ["a", "b"])), rng=rng())
    assert found.n_items == 0
    assert math.isnan(found.p)
    assert math.isnan(found.statistic)


def test_what_cannot_be_tested_is_refused() -> None:
    with pytest.raises(InputError, match="clouds of 0 and 3 draws"):
        attainable_floor(0, 3)
    pairs = listed((["a"] * 2, ["b"] * 2))
    with pytest.raises(InputError, match="resplits is 0"):
        permutation_p(pairs, rng=rng(), resplits=0)
    sides = [Clouds.of([0], [a], [OPEN], n_items=1, weight=[10**5]) for a in (0, 1)]
    with pytest.raises(InputError, match="100000 and 100000 draws are too large"):
        omnibus(pair_clouds(*sides), rng=rng())
