import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.comparison import compare_partitions, outcome_table

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "orbits.json").read_text())
VECTORS = [v for v in GOLDEN if v["kind"] == "comparison"]
CODES = st.lists(
    st.tuples(st.integers(-2, 3), st.sampled_from([-2, -1, 0, 1, 2, 10**12])), max_size=9
)


@pytest.mark.parametrize("vector", VECTORS, ids=[v["name"] for v in VECTORS])
def test_golden_comparisons(vector: dict[str, dict[str, object]]) -> None:
    before, after = vector["input"]["before"], vector["input"]["after"]
    assert isinstance(before, list)
    assert isinstance(after, list)
    words = {w: i for i, w in enumerate(dict.fromkeys(before + after))}
    found = compare_partitions(
        np.array([words[w] for w in before]), np.array([words[w] for w in after])
    )
    expected = vector["expected"]
    for name in ("pairs_merged", "pairs_split", "pairs_together_in_both", "partition_unchanged"):
        assert getattr(found, name) == expected[name]
    assert str(found.churn) == expected["churn"]
    for name in ("split_information", "merge_information", "variation_of_information"):
        assert getattr(found, name) == pytest.approx(expected[f"{name}_bits"], abs=1e-12)
    rand, wanted = found.adjusted_rand(), expected["adjusted_rand"]
    assert rand == (None if wanted is None else Fraction(str(wanted)))
    assert found.adjusted_rand_is_degenerate is expected["adjusted_rand_degenerate"]


def entropy(labels: list[tuple[int, ...]]) -> float:
    shares = [labels.count(x) / len(labels) for x in set(labels)]
    return -sum(p * math.log2(p) for p in shares)


@settings(max_examples=300, deadline=None)
@given(CODES)
def test_counts_are_the_pairs_and_the_entropies(rows: list[tuple[int, int]]) -> None:
    table = np.array(rows, dtype=np.int64).reshape(-1, 2)
    found = compare_partitions(table[:, 0], table[:, 1])
    both = [r for r in rows if min(r) >= 0]
    together = [(a[0] == b[0], a[1] == b[1]) for a, b in itertools.combinations(both, 2)]
    assert found.n_compared == len(both)
    assert found.pairs_merged == together.count((False, True))
    assert found.pairs_split == together.count((True, False))
    assert found.pairs_together_in_both == together.count((True, True))
    assert found.churn == (Fraction(sum(a != b for a, b in both), len(both)) if both else None)
    assert sum(map(sum, found.outcomes)) == len(rows)
    assert found.outcomes[0][0] == len(both)
    if both:
        joint = entropy(list(both))
        assert found.split_information == pytest.approx(joint - entropy([(a,) for a, _ in both]))
        assert found.merge_information == pytest.approx(joint - entropy([(b,) for _, b in both]))
    assert (found.variation_of_information == 0) == found.partition_unchanged


def test_a_relabelling_changes_every_answer_and_no_group() -> None:
    before = np.array([0, 0, 1, 2])
    found = compare_partitions(before, before + 7)
    assert found.churn == 1
    assert found.partition_unchanged


def test_outcomes_stand_before_down_and_after_across() -> None:
    table = outcome_table(np.array([0, 0, -1, -2]), np.array([-1, -2, 4, -2]))
    assert table == ((0, 1, 1), (1, 0, 0), (0, 0, 1))


@pytest.mark.parametrize("codes", [np.array([0.0]), np.array([-3])])
def test_what_is_no_code_is_refused(codes: NDArray[np.int64]) -> None:
    with pytest.raises(InputError, match="whole codes"):
        compare_partitions(codes, np.array([0]))
    with pytest.raises(ShapeError, match="Join them"):
        compare_partitions(np.array([0]), np.array([0, 1]))
