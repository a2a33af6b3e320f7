import itertools
import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.metric import spaced_answers, spaced_points

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "orbits.json").read_text())
VECTORS = [v for v in GOLDEN if v["kind"] == "metric"]


def possible(right: list[Fraction], apart: Fraction, around: Fraction) -> bool:
    """Whether true values more than ``apart`` apart exist, each within ``around`` of its answer."""
    place: Fraction | None = None  # the infimum of the last true value; approached, not reached
    open_ = False
    for value in sorted(right):
        least = value - around
        if place is not None and place + apart >= least:
            place, open_ = place + apart, True
        else:
            place, open_ = least, False
        if place > value + around or (open_ and place == value + around):
            return False
    return True


@pytest.mark.parametrize("vector", VECTORS, ids=[v["name"] for v in VECTORS])
def test_golden_spacing(vector: dict[str, dict[str, object]]) -> None:
    answers, declare = vector["input"]["answers"], vector["input"]["declare"]
    assert isinstance(answers, list)
    assert isinstance(declare, dict)
    found = spaced_answers(
        [[Decimal(str(a))] for a in answers],
        separation=declare["separation"],
        radius=declare["tolerance_radius"],
    )
    assert found.max_right == vector["expected"]["max_right_at_most"]
    assert found.certified_errors == vector["expected"]["certified_errors"]


def test_no_truth_has_fewer_errors_on_thousands_of_small_columns() -> None:
    rng = np.random.default_rng(2)
    for _ in range(3000):
        n = int(rng.integers(1, 6))
        column = [Fraction(int(k), 2) for k in rng.integers(0, 10, n)]
        apart, around = Fraction(int(rng.integers(0, 7)), 2), Fraction(int(rng.integers(0, 4)), 2)
        found = spaced_answers([[v] for v in column], separation=apart, radius=around)
        best = max(
            size
            for size in range(n + 1)
            for chosen in itertools.combinations(column, size)
            if possible(list(chosen), apart, around)
        )
        assert found.max_right >= best
        pairs = max(
            size
            for size in range(n + 1)
            for chosen in itertools.combinations(column, size)
            if all(abs(a - b) > apart - 2 * around for a, b in itertools.combinations(chosen, 2))
        )
        assert found.max_right == pairs
        again = spaced_answers(
            [[v] for v in column], separation=apart, radius=around, answered=found.withheld
        )
        assert again.certified_errors == found.certified_errors


def test_points_are_covered_soundly() -> None:
    rng = np.random.default_rng(4)
    for _ in range(800):
        n = int(rng.integers(1, 7))
        points = [tuple(int(x) for x in p) for p in rng.integers(0, 5, (n, 2))]
        reach = int(rng.integers(0, 4))
        found = spaced_points(points, separation=reach)
        best = max(
            size
            for size in range(n + 1)
            for chosen in itertools.combinations(points, size)
            if all(
                (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 > reach**2
                for a, b in itertools.combinations(chosen, 2)
            )
        )
        assert best <= found.max_right <= n
        kept = [p for p, out in zip(points, found.withheld[:, 0].tolist(), strict=True) if out]
        assert spaced_points(kept, separation=reach).certified_errors == found.certified_errors


def test_fractional_reach_of_points_is_exact_and_the_boundary_is_a_conflict() -> None:
    points: list[tuple[Fraction | int, ...]] = [(Fraction(1, 3), 0), (0, 0)]
    assert spaced_points(points, separation=Fraction(1, 3)).max_right == 1
    assert spaced_points(points, separation=Fraction(33, 100)).max_right == 2
    assert spaced_points(points, separation=0, radius=Fraction(1, 10)).max_right == 2


def test_several_columns_add_up_and_what_is_no_number_is_never_right() -> None:
    found = spaced_answers([[0, 5], [1, None], [9, 5]], separation=2)
    assert (found.n_answered, found.max_right, found.no_value_count) == (6, 3, 1)
    assert found.withheld.tolist() == [[True, True], [True, True], [False, True]]


def test_far_apart_and_wrong_is_silent() -> None:
    assert spaced_answers([[0], [100], [200]], separation=3, radius=1).certified_errors == 0


def test_negative_lengths_and_ragged_rows_are_refused() -> None:
    with pytest.raises(InputError, match="lengths of at least 0"):
        spaced_answers([[1]], separation=-1)
    with pytest.raises(ShapeError, match="same number of columns"):
        spaced_answers([[1], [1, 2]], separation=1)
