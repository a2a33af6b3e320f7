import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State
from trueness.stats.auroc import (
    newcombe_interval,
    paired_auroc_difference,
    rank_wrong_above_right,
)

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "orbits.json").read_text())
VECTORS = [v for v in GOLDEN if v["kind"] == "auroc"]


def by_pairs(wrong: list[int], right: list[int]) -> Fraction:
    wins = sum((w > r) - (w < r) + 1 for w in wrong for r in right)
    return Fraction(wins, 2 * len(wrong) * len(right))


@pytest.mark.parametrize("vector", VECTORS, ids=[v["name"] for v in VECTORS])
def test_golden_rankings(vector: dict[str, dict[str, object]]) -> None:
    given_, expected = vector["input"], vector["expected"]
    wrong, right = given_["scores_wrong"], given_["scores_right"]
    assert isinstance(wrong, list)
    assert isinstance(right, list)
    found = rank_wrong_above_right(wrong, right, min_class=5)
    assert (found.n_wrong, found.n_right) == (expected["n_wrong"], expected["n_right"])
    assert found.state == expected["state"]
    assert found.auroc == (expected["auroc"] and Fraction(str(expected["auroc"])))
    if "reason" in expected:
        assert found.reason == expected["reason"]
        assert found.low is None
    if "exact_p_greater" in expected:
        assert found.p_is_exact
        assert found.p_greater == Fraction(str(expected["exact_p_greater"]))
        assert found.p_two_sided == Fraction(str(expected["exact_p_two_sided"]))
    if "newcombe_low" in expected:
        assert found.low == pytest.approx(expected["newcombe_low"], abs=1e-9)
        assert found.high == pytest.approx(expected["newcombe_high"], abs=1e-9)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=4),
    st.lists(st.integers(0, 4), min_size=1, max_size=5),
)
def test_the_point_counts_pairs_and_the_p_value_counts_relabellings(
    wrong: list[int], right: list[int]
) -> None:
    found = rank_wrong_above_right(wrong, right)
    point = by_pairs(wrong, right)
    assert found.auroc == point
    scores = wrong + right
    others = [
        by_pairs([scores[i] for i in chosen], [s for i, s in enumerate(scores) if i not in chosen])
        for chosen in itertools.combinations(range(len(scores)), len(wrong))
    ]
    half = Fraction(1, 2)
    far = sum(abs(a - half) >= abs(point - half) for a in others)
    assert found.p_greater == Fraction(sum(a >= point for a in others), len(others))
    assert found.p_two_sided == Fraction(far, len(others))


def test_permutations_take_over_and_repeat_with_the_seed() -> None:
    rng = np.random.default_rng(0)
    wrong, right = rng.normal(0.8, 1, 30), rng.normal(0, 1, 40)
    found = [
        rank_wrong_above_right(wrong, right, rng=np.random.default_rng(3), n_permutations=500)
        for _ in range(2)
    ]
    assert found[0] == found[1]
    assert found[0].p_is_exact is False
    assert found[0].p_greater is not None
    assert 0 < found[0].p_greater < Fraction(1, 10)
    with pytest.raises(InputError, match="default_rng"):
        rank_wrong_above_right(wrong, right)


def test_permutation_p_values_agree_with_enumeration(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong, right = [1.0, 3, 3, 5, 9], [0.0, 1, 2, 3, 4, 4]
    exact = rank_wrong_above_right(wrong, right)
    monkeypatch.setattr("trueness.stats.auroc.MAX_ENUMERATED", 1)
    drawn = rank_wrong_above_right(wrong, right, rng=np.random.default_rng(1))
    assert exact.p_two_sided is not None
    assert drawn.p_two_sided is not None
    assert float(drawn.p_two_sided) == pytest.approx(float(exact.p_two_sided), abs=0.02)


def test_one_wrong_item_among_many_is_enumerated() -> None:
    found = rank_wrong_above_right([10**6], np.arange(10**5))
    assert found.p_greater == Fraction(1, 10**5 + 1)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.data())
def test_the_interval_holds_the_point_and_is_never_of_zero_width(
    n_wrong: int, n_right: int, data: st.DataObject
) -> None:
    point = data.draw(st.integers(0, 2 * n_wrong * n_right)) / (2 * n_wrong * n_right)
    low, high = newcombe_interval(point, n_wrong, n_right=n_right)
    assert 0 <= low <= point <= high <= 1
    assert low < high


def test_newcombe_covers_small_unbalanced_classes() -> None:
    rng = np.random.default_rng(6)
    missed = 0
    for _ in range(400):
        wrong, right = rng.normal(0, 1, 15), rng.normal(0, 1, 5)
        found = rank_wrong_above_right(wrong, right)
        assert found.low is not None
        assert found.high is not None
        missed += not found.low <= 0.5 <= found.high
    assert missed / 400 < 0.08


def test_paired_differences_need_thirty_in_each_class_and_some_variance() -> None:
    rng = np.random.default_rng(8)
    wrong = np.arange(100) < 40
    good, bad = rng.normal(0, 1, 100) + 2 * wrong, rng.normal(0, 1, 100)
    found = paired_auroc_difference(good, bad, wrong=wrong)
    assert found.state is State.MEASURED
    assert found.low is not None
    assert found.low > 0
    assert found.difference is not None
    one = rank_wrong_above_right(good[wrong], good[~wrong], rng=rng, n_permutations=1).auroc
    two = rank_wrong_above_right(bad[wrong], bad[~wrong], rng=rng, n_permutations=1).auroc
    assert one is not None
    assert two is not None
    assert found.difference == one - two
    few = paired_auroc_difference(good[:60], bad[:60], wrong=wrong[:60])
    assert few.state is State.NO_EVIDENCE
    assert paired_auroc_difference(good, good, wrong=wrong).state is State.DEGENERATE
    with pytest.raises(ShapeError, match="same items"):
        paired_auroc_difference(good, bad[:-1], wrong=wrong)


def test_scores_that_are_not_finite_are_refused() -> None:
    with pytest.raises(InputError, match="not finite"):
        rank_wrong_above_right([1.0, float("nan")], [0.0])
