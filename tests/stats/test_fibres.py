"""Fibres of an observer: vectors, partitions, bounds that hold, and what nearness is not."""

import json
import math
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.cloud_pairs import IDENTITY_MOVED, NOT_COMPARED, SHAPE_MOVED, STILL
from trueness.stats.fibres import (
    clopper_pearson,
    error_floor,
    error_floors,
    fibre_codes,
    fibre_counts,
    fibre_pairs,
    half_ranges,
    population_gap,
    tolerance_pairs,
)
from trueness.stats.observers import observe

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "atlas_observers.json").read_text())
BOUNDS = [v for v in GOLDEN if v["kind"] == "fibre_bound"]
SEARCHES = [v for v in GOLDEN if v["kind"] == "fibre_search"]

numbers = st.sampled_from([0.0, -0.0, 0.1, 0.1 + 1e-17, 0.2, 0.3, 0.1 + 0.2])
rows = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=9)


def variation(one: list[str], two: list[str]) -> Fraction:
    names = {*one, *two}
    gaps = (abs(Fraction(one.count(a), len(one)) - Fraction(two.count(a), len(two))) for a in names)
    return sum(gaps, Fraction(0)) / 2


def binomial(n: int, p: float) -> NDArray[np.float64]:
    return np.array([math.comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(n + 1)])


@pytest.mark.parametrize("vector", BOUNDS, ids=lambda v: v["name"])
def test_golden_bound(vector: dict[str, Any]) -> None:
    floor = error_floor(Fraction(vector["input"]["distance"]))
    assert floor == Fraction(vector["expected"]["worst_case_error_at_least"])


@pytest.mark.parametrize("vector", SEARCHES, ids=lambda v: v["name"])
def test_golden_search(vector: dict[str, Any]) -> None:
    observers, clouds = vector["input"]["observers"], vector["input"]["clouds"]
    wanted = vector["expected"]
    codes = fibre_codes(observers)
    fibres = [np.flatnonzero(codes == c).tolist() for c in range(codes.max() + 1)]
    assert fibres == wanted["exact_fibres"]
    pairs = fibre_pairs(codes).tolist()
    witnesses = [[i, j] for i, j in pairs if variation(clouds[i], clouds[j]) > 0]
    assert witnesses == wanted["witness_pairs"]
    near = tolerance_pairs(observers, wanted["tolerance"])
    assert near.tolist() == wanted["pairs_within_tolerance"]


@given(rows, st.data())
def test_fibres_are_the_classes_of_equal_numbers_within_an_item(
    cells: list[tuple[float, float]], data: st.DataObject
) -> None:
    items = data.draw(st.lists(st.integers(0, 2), min_size=len(cells), max_size=len(cells)))
    codes = fibre_codes(cells, item=items)
    for i, j in combinations(range(len(cells)), 2):
        assert (codes[i] == codes[j]) == (cells[i] == cells[j] and items[i] == items[j])
    first = [int(np.argmax(codes == c)) for c in range(codes.max() + 1)]
    assert first == sorted(first)
    together = [(i, j) for i, j in combinations(range(len(cells)), 2) if codes[i] == codes[j]]
    assert [tuple(p) for p in fibre_pairs(codes).tolist()] == together
    assert tolerance_pairs(cells, 0.0, item=items).tolist() == fibre_pairs(codes).tolist()


@given(rows, st.sampled_from([0.0, 0.05, 0.1, 0.15]))
def test_pairs_within_a_tolerance_are_all_of_them(
    cells: list[tuple[float, float]], tolerance: float
) -> None:
    near = [
        [i, j]
        for i, j in combinations(range(len(cells)), 2)
        if max(abs(a - b) for a, b in zip(cells[i], cells[j], strict=True)) <= tolerance
    ]
    assert tolerance_pairs(cells, tolerance).tolist() == near


def test_nearness_is_not_transitive_so_it_makes_no_classes() -> None:
    assert tolerance_pairs([[0.0], [1.0], [2.0]], 1.0).tolist() == [[0, 1], [1, 2]]


def test_a_last_bit_separates_fibres() -> None:
    assert fibre_codes([[0.3], [0.1 + 0.2]]).tolist() == [0, 1]


def test_permuted_labels_share_a_fibre_of_the_six_numbers() -> None:
    """What a symmetric observer is blind to: the label that the mass goes to."""
    laws = [[0.5, 0.3, 0.2, 0.0], [0.5, 0.0, 0.2, 0.3], [0.5, 0.3, 0.1, 0.1]]
    assert fibre_codes(observe(laws).numbers).tolist() == [0, 0, 1]


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 8)), min_size=1, max_size=7),
    st.lists(st.integers(-8, 16), min_size=3, max_size=3),
)
def test_no_estimator_that_reads_the_fibre_errs_less_than_half_its_range(
    cells: list[tuple[int, int]], estimates: list[int]
) -> None:
    index: dict[int, int] = {}
    codes = [index.setdefault(fibre, len(index)) for fibre, _ in cells]
    targets = [value for _, value in cells]
    floors = half_ranges(codes, targets)
    for fibre, floor in enumerate(floors):
        errors = [
            abs(estimates[fibre] / 2 - t) for c, t in zip(codes, targets, strict=True) if c == fibre
        ]
        assert max(errors) >= floor
        members = [t for c, t in zip(codes, targets, strict=True) if c == fibre]
        middle = (max(members) + min(members)) / 2
        assert max(abs(middle - t) for t in members) == floor


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=3, max_size=3), min_size=2, max_size=5))
def test_no_guessed_law_is_nearer_than_the_floor_to_all_clouds(clouds: list[list[str]]) -> None:
    pairs = fibre_pairs([0] * len(clouds))
    distances = [float(variation(clouds[i], clouds[j])) for i, j in pairs.tolist()]
    floor = error_floors([0] * len(clouds), pairs, distances)[0]
    for guess in combinations("aaabbbccc", 3):
        assert max(float(variation(list(guess), c)) for c in clouds) >= floor - 1e-15


def test_a_fibre_without_a_pair_has_no_floor() -> None:
    floors = error_floors([0, 1, 1, 1], [[1, 2], [1, 3], [2, 3]], [0.25, 0.75, 0.5])
    np.testing.assert_array_equal(floors, [np.nan, 0.375])
    assert error_floors([], np.zeros((0, 2)), []).shape == (0,)


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [(5, 7, 0.290, 0.963), (0, 8, 0.0, 0.369), (41, 50, 0.686, 0.914), (8, 8, 0.631, 1.0)],
)
def test_published_intervals_are_clopper_pearson(
    count: int, of: int, low: float, high: float
) -> None:
    assert clopper_pearson(count, of) == pytest.approx((low, high), abs=5e-4)


@pytest.mark.parametrize("n", [1, 4, 9])
@pytest.mark.parametrize("level", [0.6, 0.95, 1 - 1e-6])
def test_the_interval_covers_every_probability(n: int, level: float) -> None:
    intervals = [clopper_pearson(x, n, level=level) for x in range(n + 1)]
    for p in np.linspace(0, 1, 401):
        mass = binomial(n, float(p)).tolist()
        covered = sum(m for m, (low, high) in zip(mass, intervals, strict=True) if low <= p <= high)
        assert covered >= level - 1e-12


def test_the_gap_of_the_population_is_never_more_than_that_of_the_clouds() -> None:
    for x, y in [(0, 8), (1, 8), (2, 5), (8, 0)]:
        gap = population_gap((x, 8), (y, 8), n_pairs=1)
        assert 0 <= gap <= abs(x - y) / 8
        assert population_gap((x, 8), (y, 8), n_pairs=50) <= gap
        assert population_gap((y, 8), (x, 8), n_pairs=1) == gap
    assert population_gap((0, 4), (1, 4), n_pairs=1) == 0.0


def test_every_interval_has_its_share_of_the_error() -> None:
    for n_pairs, level in [(1, 0.975), (3, 1 - 0.05 / 6)]:
        low = clopper_pearson(9, 9, level=level)[0]
        high = clopper_pearson(0, 8, level=level)[1]
        assert population_gap((0, 8), (9, 9), n_pairs=n_pairs) == pytest.approx(low - high)


def test_the_gap_exceeds_the_true_distance_with_the_declared_probability_at_most() -> None:
    n, alpha = 8, 0.05
    gaps = np.array(
        [[population_gap((x, n), (y, n), n_pairs=1) for y in range(n + 1)] for x in range(n + 1)]
    )
    for p in np.linspace(0, 1, 21):
        for q in np.linspace(0, 1, 21):
            one, two = binomial(n, float(p)), binomial(n, float(q))
            assert float(one @ (gaps > abs(p - q) + 1e-12) @ two) <= alpha


def test_published_counts_of_flat_and_moved_cells() -> None:
    flat = [True] * 7 + [False] * 11
    moves = [SHAPE_MOVED] * 4 + [IDENTITY_MOVED] + [STILL] * 2 + [SHAPE_MOVED] * 11
    counts = fibre_counts([True] * 18, flat, moves)
    assert (counts.flat.count, counts.flat.of) == (7, 18)
    assert (counts.moved.count, counts.moved.of) == (5, 7)
    assert (counts.moved.low, counts.moved.high) == pytest.approx((0.290, 0.963), abs=5e-4)
    assert (counts.shape.count, counts.identity.count) == (4, 1)


def test_incomplete_cells_are_in_no_rate() -> None:
    counts = fibre_counts([True, False, False], [True] * 3, [STILL, SHAPE_MOVED, NOT_COMPARED])
    assert (counts.auditable, counts.incomplete, counts.n_cells) == (1, 2, 3)
    assert (counts.flat.of, counts.moved.of, counts.moved.count) == (1, 1, 0)


def test_nothing_flat_leaves_no_rate_of_movement() -> None:
    counts = fibre_counts([True], [False], [SHAPE_MOVED])
    assert (counts.moved.of, counts.moved.low, counts.moved.high) == (0, None, None)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: fibre_codes([[np.nan]]), "incomplete"),
        (lambda: fibre_codes([0.5]), "one item a cell"),
        (lambda: fibre_codes([[0.5]], item=[0, 1]), "one item a cell"),
        (lambda: tolerance_pairs([[0.5]], -1.0), "at least 0"),
        (lambda: tolerance_pairs([[0.5]], np.nan), "at least 0"),
        (lambda: error_floor(-0.5), "at least 0"),
        (lambda: error_floor(float("nan")), "at least 0"),
        (lambda: error_floors([0, 1], [[0, 1]], [0.5]), "not in one fibre"),
        (lambda: error_floors([0, 0], [[0, 1]], [np.nan]), "Drop that pair"),
        (lambda: error_floors([0, 0], [[0, 1]], [0.5, 0.5]), "one distance a pair"),
        (lambda: half_ranges([0], [0.5, 0.5]), "one value a cell"),
        (lambda: half_ranges([0], [np.inf]), "Drop that cell"),
        (lambda: clopper_pearson(1, 2, level=0.3), "level is"),
        (lambda: clopper_pearson(3, 2), "max_right"),
        (lambda: population_gap((0, 1), (1, 1), n_pairs=0), "n_pairs"),
        (lambda: fibre_counts([True], [True], [7]), "a movement is none of"),
        (lambda: fibre_counts([True], [True], [NOT_COMPARED]), "incomplete"),
        (lambda: fibre_counts([True], [True], []), "of each a cell"),
    ],
)
def test_bad_input_is_refused(call: Any, word: str) -> None:
    with pytest.raises(InputError, match=word):
        call()
    assert issubclass(ShapeError, InputError)
