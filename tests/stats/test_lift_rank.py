"""The lift rank: vectors, exact ranks, cutoffs that decide, and what it does not say."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State
from trueness.stats.lift_rank import SINGLE_TOLERANCE, lift_rank

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "atlas_observers.json").read_text())
VECTORS = [v for v in GOLDEN if v["kind"] == "lift_rank"]


def exact_rank(rows: list[list[int]]) -> int:
    """Rank by elimination in fractions."""
    left = [[Fraction(x) for x in row] for row in rows]
    rank = 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(rank, len(left)) if left[i][column]), None)
        if pivot is None:
            continue
        left[rank], left[pivot] = left[pivot], left[rank]
        for i in range(rank + 1, len(left)):
            factor = left[i][column] / left[rank][column]
            left[i] = [a - factor * b for a, b in zip(left[i], left[rank], strict=True)]
        rank += 1
    return rank


def matrices(n_state: int) -> st.SearchStrategy[list[list[int]]]:
    row = st.lists(st.integers(-3, 3), min_size=n_state, max_size=n_state)
    return st.lists(row, min_size=1, max_size=5)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_golden_vector(vector: dict[str, Any]) -> None:
    found = lift_rank(vector["input"]["observer_jacobian"], vector["input"]["target_jacobian"])
    assert found.state is State.MEASURED
    for name, wanted in vector["expected"].items():
        assert getattr(found, name) == wanted, name


@given(st.integers(1, 6).flatmap(lambda n: st.tuples(matrices(n), matrices(n))))
def test_the_lift_rank_is_the_difference_of_exact_ranks(
    pair: tuple[list[list[int]], list[list[int]]],
) -> None:
    observer, target = pair
    found = lift_rank(observer, target)
    assert found.state is State.MEASURED
    assert found.rank_observer == exact_rank(observer)
    assert found.rank_target == exact_rank(target)
    assert found.rank_joint == exact_rank([*observer, *target])
    assert found.lift_rank == found.rank_joint - found.rank_observer
    assert found.unavoidable == (exact_rank(target) > exact_rank(observer))


@given(st.integers(2, 5).flatmap(lambda n: st.tuples(matrices(n), matrices(n))), st.integers(0, 99))
def test_a_turn_of_the_state_changes_nothing(
    pair: tuple[list[list[int]], list[list[int]]], seed: int
) -> None:
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(pair[0][0]),) * 2))[0]
    one, two = lift_rank(*pair), lift_rank(pair[0] @ turn, pair[1] @ turn)
    assert (one.lift_rank, one.rank_joint) == (two.lift_rank, two.rank_joint)


@given(st.integers(2, 5).flatmap(lambda n: st.tuples(matrices(n), matrices(n))), st.integers(0, 99))
def test_mixing_the_coordinates_of_observer_or_target_changes_nothing(
    pair: tuple[list[list[int]], list[list[int]]], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    mixed = []
    for rows in pair:
        mixing = np.eye(len(rows)) + np.tril(rng.integers(-1, 2, (len(rows),) * 2), -1)
        mixed.append(mixing @ np.array(rows, np.float64))  # of determinant 1
    one, two = lift_rank(*pair), lift_rank(*mixed)
    assert (one.lift_rank, one.rank_joint) == (two.lift_rank, two.rank_joint)


def test_unavoidable_means_lifted() -> None:
    found = lift_rank([[1, 1, 0]], [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert found.unavoidable
    assert found.lift_rank == 2


def test_a_target_that_the_observer_contains_is_not_lifted_up_to_rounding() -> None:
    rng = np.random.default_rng(1)
    observer = rng.normal(size=(6, 300))
    found = lift_rank(observer, rng.normal(size=(3, 6)) @ observer)
    assert (found.state, found.lift_rank) == (State.MEASURED, 0)


@pytest.mark.parametrize("size", [3e-6, 3e-7])
def test_a_direction_at_the_cutoff_is_unstable(size: float) -> None:
    found = lift_rank([[1.0, 0.0]], [[1.0, size]])
    assert found.state is State.UNSTABLE
    assert found.lift_rank is None
    assert found.reason is not None
    assert "tolerance" in found.reason


def test_rows_of_very_different_length_are_unstable() -> None:
    found = lift_rank([[1.0, 0.0, 0.0]], [[0.0, 1e-9, 0.0], [0.0, 0.0, 1.0]])
    assert found.state is State.UNSTABLE
    assert found.reason is not None
    assert "not scaled" in found.reason


def test_the_two_ways_of_computing_may_disagree_where_no_cutoff_does() -> None:
    """Many rows that see one direction drown the joint rank, not the rank on the kernel."""
    observer = np.tile([1.0, 0.0], (90_000, 1))
    found = lift_rank(observer, [[1.0, 2e-5]])
    assert found.state is State.UNSTABLE
    assert found.reason is not None
    assert "0 by the joint rank, 1 on the kernel" in found.reason


@pytest.mark.parametrize("length", [1e-320, 1e-200, 1e200])
def test_a_row_of_any_length_is_scaled(length: float) -> None:
    found = lift_rank([[length, 0.0]], [[0.0, length]])
    assert (found.state, found.lift_rank) == (State.MEASURED, 1)


def test_all_singular_values_and_their_ratios_come_back() -> None:
    found = lift_rank([[1.0, 0.0]], [[1.0, 3e-6]])
    shown = {(s.matrix, s.scaled): s for s in found.spectra}
    assert len(shown) == 8
    joint = shown["joint", False]
    wanted = np.linalg.svd(np.array([[1, 0], [1, 3e-6]]), compute_uv=False)
    np.testing.assert_allclose(np.array(joint.values), wanted)
    assert joint.gap_ratios == (joint.values[1] / joint.values[0],)
    assert len(found.ranks) == 6


def test_rows_that_are_zero_are_dropped_by_name() -> None:
    found = lift_rank([[0, 0], [1, 0]], [[0, 0]], observer_names=["greedy", "max_p"])
    assert found.dropped == ("greedy", "target[0]")
    assert (found.state, found.rank_observer, found.lift_rank) == (State.MEASURED, 1, 0)


def test_an_observer_that_sees_nothing_leaves_the_whole_target() -> None:
    found = lift_rank([[0, 0]], [[1, 0], [0, 1]])
    assert (found.rank_observer, found.lift_rank) == (0, 2)


def test_no_observer_at_all_leaves_the_whole_target() -> None:
    assert lift_rank(np.zeros((0, 2)), [[1, 0]]).lift_rank == 1


def test_single_precision_has_the_wider_tolerance() -> None:
    observer = np.array([[1, 0]], dtype=np.float32)
    assert lift_rank(observer, [[1.0, 1e-5]]).lift_rank == 0
    assert lift_rank(observer, [[1.0, 1e-5]]).ranks[0].tolerance == SINGLE_TOLERANCE


def test_ties_and_what_is_not_finite_are_degenerate() -> None:
    assert lift_rank([[1, 0]], [[0, 1]], tied=True).state is State.DEGENERATE
    found = lift_rank([[1, np.nan]], [[0, 1]])
    assert (found.state, found.lift_rank) == (State.DEGENERATE, None)


def test_it_says_nothing_beyond_first_order() -> None:
    """f = h2 + h1^2 and S = h1 at h = 0: lift rank as for f = h2. And f = h2^2 is not lifted at 0,
    though it moves along the fibre."""
    assert lift_rank([[1, 0]], [[0, 1]]).lift_rank == 1
    assert lift_rank([[1, 0]], [[0, 0]]).lift_rank == 0


@pytest.mark.parametrize(
    ("observer", "target", "kwargs", "error", "word"),
    [
        ([1, 0], [[1, 0]], {}, ShapeError, "by the same state"),
        ([[1, 0]], [[1, 0, 0]], {}, ShapeError, "by the same state"),
        ([[]], [[]], {}, ShapeError, "by the same state"),
        ([[1]], [[1]], {"tolerance": 0.0}, InputError, "tolerance is"),
        ([[1]], [[1]], {"tolerance": 0.5}, InputError, "tolerance is"),
        ([[1]], [[1]], {"target_names": ["a", "b"]}, ShapeError, "one a row"),
    ],
)
def test_bad_input_is_refused(
    observer: Any, target: Any, kwargs: dict[str, Any], error: type[Exception], word: str
) -> None:
    with pytest.raises(error, match=word):
        lift_rank(observer, target, **kwargs)
