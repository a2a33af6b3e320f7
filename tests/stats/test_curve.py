"""The guaranteed curve, proved floors and floors from published counts."""

import json
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.capacity import UNLIMITED, over_capacity
from trueness.stats.curve import (
    floors_from_counts,
    guaranteed_curve,
    guaranteed_wrong_in_column,
    precision_floor,
    recall_floor,
)

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "orbits.json").read_text("utf-8"))


def golden(kind: str) -> list[Any]:
    return [pytest.param(v, id=v["name"]) for v in GOLDEN if v["kind"] == kind]


def fraction(text: str | None) -> Fraction | None:
    return None if text is None else Fraction(text)


def classes(vector: dict[str, Any]) -> tuple[list[int], list[int]]:
    answers, declare = vector["input"]["answers"], vector["input"]["declare"]
    keys = sorted(set(answers))
    counts = [answers.count(key) for key in keys]
    return counts, [declare["capacities"].get(key, declare["default_capacity"]) for key in keys]


@pytest.mark.parametrize("vector", golden("curve"))
def test_the_curve_of_the_golden_vectors_is_met(vector: dict[str, Any]) -> None:
    counts, upper = (np.array(x, dtype=np.int64) for x in classes(vector))
    expected = vector["expected"]
    best = guaranteed_curve(counts, upper)
    greedy = guaranteed_curve(counts, upper, exact=False)
    assert best.guaranteed_wrong.tolist() == expected["guaranteed_wrong_best"]
    assert greedy.guaranteed_wrong.tolist() == expected["guaranteed_wrong_greedy"]
    assert greedy.is_optimal == expected["greedy_is_optimal"]
    assert best.is_optimal
    assert best.precision_floors() == [fraction(x) for x in expected["precision_floor"]]
    assert best.recall_floors() == [fraction(x) for x in expected["recall_floor"]]


@pytest.mark.parametrize("vector", golden("published-counts"))
def test_floors_from_published_counts_are_met(vector: dict[str, Any]) -> None:
    counts, expected = dict(vector["input"]), vector["expected"]
    floors = floors_from_counts(counts.pop("n"), counts.pop("n_orbits"), **counts)
    assert floors.floor_injective == expected["floor_injective"]
    assert floors.floor_with_answer_set == expected["floor_with_answer_set"]
    assert floors.floor_with_answer_set <= expected["true_errors_published"]
    wanted = fraction(expected["precision_floor_shared_orbits"])
    assert floors.precision_floor_shared_orbits == wanted


@pytest.mark.parametrize("vector", golden("impossible-counts"))
def test_counts_that_no_table_has_are_refused(vector: dict[str, Any]) -> None:
    counts = dict(vector["input"])
    with pytest.raises(InputError, match=vector["expected"]["error"].replace("(", r"\(")[:40]):
        floors_from_counts(counts.pop("n"), counts.pop("n_orbits"), **counts)


def test_counts_are_refused_exactly_when_no_partition_has_them() -> None:
    for n in range(1, 9):
        possible = {(len(p), sum(s for s in p if s > 1)) for p in partitions(n)}
        for m in range(n + 2):
            for shared in range(n + 2):
                if (m, shared) in possible:
                    floors_from_counts(n, m, n_in_shared_orbits=shared)
                else:
                    with pytest.raises(InputError):
                        floors_from_counts(n, m, n_in_shared_orbits=shared)


def partitions(n: int, largest: int | None = None) -> list[tuple[int, ...]]:
    if n == 0:
        return [()]
    top = n if largest is None else min(n, largest)
    return [(k, *rest) for k in range(1, top + 1) for rest in partitions(n - k, k)]


def best_subset(counts: list[int], upper: list[int], n_certain: int, t: int, slack: int) -> int:
    slots = [-1] * n_certain + [a for a, c in enumerate(counts) for _ in range(c)]
    best = 0
    for chosen in combinations(slots, t):
        taken = np.array([chosen.count(a) for a in range(len(counts))], dtype=np.int64)
        limit = np.array(upper, dtype=np.int64)
        certain = chosen.count(-1)
        wrong = guaranteed_wrong_in_column(taken, limit, n_certain=certain, slack=slack)
        best = max(best, wrong)
    return best


def test_the_curve_is_the_best_over_all_subsets() -> None:
    rng = np.random.default_rng(11)
    for _ in range(120):
        counts = rng.integers(0, 5, int(rng.integers(1, 4))).tolist()
        upper = [int(u) for u in rng.integers(0, 4, len(counts))]
        if rng.random() < 0.3:
            upper[0] = UNLIMITED
        certain, slack = int(rng.integers(0, 2)), int(rng.integers(0, 2))
        limit = np.array(upper, dtype=np.int64)
        sizes = np.array(counts, dtype=np.int64)
        curve = guaranteed_curve(sizes, limit, n_certain=certain, slack=slack)
        greedy = guaranteed_curve(sizes, limit, n_certain=certain, slack=slack, exact=False)
        for t in range(sum(counts) + certain + 1):
            best = best_subset(counts, upper, certain, t, slack)
            assert curve.guaranteed_wrong[t] == best, (counts, upper, certain, slack, t)
            assert greedy.guaranteed_wrong[t] <= best
            assert not greedy.is_optimal or greedy.guaranteed_wrong[t] == best


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 6)), min_size=1, max_size=8),
    st.integers(0, 3),
)
@settings(max_examples=200, deadline=None)
def test_greedy_never_proves_more_and_both_rise_by_at_most_one(
    pairs: list[tuple[int, int]], certain: int
) -> None:
    counts, upper = (np.array(x, dtype=np.int64) for x in zip(*pairs, strict=True))
    best = guaranteed_curve(counts, upper, n_certain=certain).guaranteed_wrong
    greedy = guaranteed_curve(counts, upper, n_certain=certain, exact=False).guaranteed_wrong
    assert (greedy <= best).all()
    assert set(np.diff(best).tolist()) <= {0, 1}
    assert best[-1] == greedy[-1] == certain + over_capacity(counts, upper)
    assert len(best) == counts.sum() + certain + 1


@given(st.lists(st.tuples(st.integers(1, 15), st.integers(0, 9)), min_size=1, max_size=6))
@settings(max_examples=200, deadline=None)
def test_the_knapsack_is_the_plain_dynamic_programme(pairs: list[tuple[int, int]]) -> None:
    best = [0]
    for c, k in pairs:
        merged = [0] * (len(best) + c)
        for t, gain in enumerate(best):
            for taken in range(c + 1):
                merged[t + taken] = max(merged[t + taken], gain + max(0, taken - k))
        best = merged
    counts, upper = (np.array(x, dtype=np.int64) for x in zip(*pairs, strict=True))
    assert guaranteed_curve(counts, upper).guaranteed_wrong.tolist() == best


def test_the_knapsack_takes_part_of_one_class() -> None:
    curve = guaranteed_curve(np.array([4, 4]), np.array([2, 3]))
    assert curve.guaranteed_wrong.tolist() == [0, 0, 0, 1, 2, 2, 2, 2, 3]


def test_a_long_column_keeps_the_greedy_curve_and_says_so() -> None:
    curve = guaranteed_curve(np.array([4000, 4000]), np.array([2, 3]))
    assert not curve.is_optimal
    assert curve.guaranteed_wrong[-1] == 7995


def test_floors_are_fractions_and_absent_where_nothing_is_withheld() -> None:
    assert precision_floor(0, 0) is None
    assert recall_floor(0, 3, 3) is None
    assert recall_floor(0, 0, 6) == 0
    assert recall_floor(3, 3, 3) == 1
    with pytest.raises(InputError, match="must contain"):
        recall_floor(4, 3, 5)


def test_counts_and_limits_of_different_length_are_refused() -> None:
    with pytest.raises(ShapeError, match="one limit for each count"):
        guaranteed_curve(np.array([1, 2]), np.array([1]))


def test_a_negative_slack_is_refused() -> None:
    with pytest.raises(InputError, match="negative"):
        guaranteed_curve(np.array([1]), np.array([1]), slack=-1)


@pytest.mark.parametrize("bad", [True, 2.0, -1, "3"])
def test_counts_must_be_whole_numbers(bad: Any) -> None:
    with pytest.raises(InputError, match="whole numbers"):
        floors_from_counts(bad, 1)
