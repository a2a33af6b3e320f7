"""Two clouds of an item: against vectors and against every split of their draws."""

import json
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.cloud_pairs import (
    IDENTITY_MOVED,
    NOT_COMPARED,
    SHAPE_MOVED,
    STILL,
    CloudPairs,
    cross_collision,
    exact_pair,
    modal_cells,
    modes_disjoint,
    morisita,
    movements,
    pair_clouds,
    slice_morisita,
    squared_distance,
    total_variation,
    tv_null_mean,
)
from trueness.stats.clouds import GOLD, NONE, OPEN, Clouds

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "atlas_clouds.json").read_text(encoding="utf-8")
)
SIDE = st.text("abc-d", min_size=2, max_size=5)


def golden(*kinds: str) -> list[Any]:
    return [pytest.param(v, id=v["name"]) for v in GOLDEN if v["kind"] in kinds]


def spelled(*pairs: tuple[str, str]) -> CloudPairs:
    """Pairs of clouds, one a couple of texts; - is no answer."""
    sides = []
    for side in (0, 1):
        draws = [(i, a) for i, pair in enumerate(pairs) for a in pair[side]]
        roles = [NONE if a == "-" else OPEN for _, a in draws]
        items, codes = [i for i, _ in draws], [ord(a) for _, a in draws]
        empty = np.empty(0, np.int64)
        columns = (items, codes, roles) if draws else (empty, empty, empty)
        sides.append(Clouds.of(*columns, n_items=len(pairs)))
    return pair_clouds(*sides)


def splits(before: str, after: str) -> Iterator[tuple[str, str]]:
    """Every way to split the pooled draws."""
    pooled = before + after
    for chosen in combinations(range(len(pooled)), len(before)):
        rest = [a for place, a in enumerate(pooled) if place not in chosen]
        yield "".join(pooled[place] for place in chosen), "".join(rest)


def from_vector(vector: dict[str, Any]) -> tuple[CloudPairs, dict[int, str | None]]:
    """The pair of a vector, in which null is no answer, and what its codes mean."""
    clouds = [vector["input"][side] for side in ("before", "after")]
    codes = {a: place for place, a in enumerate(dict.fromkeys(clouds[0] + clouds[1]))}
    sides = [
        Clouds.of(
            [0] * len(c), [codes[a] for a in c], [NONE if a is None else OPEN for a in c], n_items=1
        )
        for c in clouds
    ]
    return pair_clouds(*sides), {place: a for a, place in codes.items()}


def modes(pairs: CloudPairs, names: dict[int, str | None], side: str) -> set[str | None]:
    modal = modal_cells(getattr(pairs, side), pairs.item, 1)
    return {names[code] for code in pairs.answer[modal].tolist()}


@pytest.mark.parametrize("vector", golden("pair"))
def test_golden_pairs(vector: dict[str, Any]) -> None:
    pairs, names = from_vector(vector)
    expected, exact = vector["expected"], exact_pair(pairs)
    found = {
        "tv": (exact.total_variation, total_variation(pairs)),
        "tv_null_mean": (exact.null_mean, tv_null_mean(pairs)),
        "cross_collision": (exact.cross_collision, cross_collision(pairs)),
        "l2_unbiased": (exact.squared_distance, squared_distance(pairs)),
        "morisita": (exact.morisita, morisita(pairs)),
    }
    for name, (fraction, values) in found.items():
        if expected[name] is None:
            assert fraction is None
            assert math.isnan(values[0])
        else:
            assert str(fraction) == expected[name]
            assert values[0] == pytest.approx(float(Fraction(expected[name])), abs=1e-14)
    for side in ("before", "after"):
        assert modes(pairs, names, side) == set(expected[f"modes_{side}"])
    assert modes_disjoint(pairs)[0] == expected["modes_disjoint"]


@pytest.mark.parametrize("vector", golden("modes"))
def test_golden_modes(vector: dict[str, Any]) -> None:
    pairs, names = from_vector(vector)
    expected = vector["expected"]
    for side in ("before", "after"):
        assert modes(pairs, names, side) == set(expected[side])
    assert modes_disjoint(pairs)[0] == expected["disjoint"]
    assert modes_disjoint(pairs, answered_only=True)[0] == expected["disjoint_without_none"]


@pytest.mark.parametrize("vector", golden("spectrum"))
def test_golden_modes_of_one_cloud(vector: dict[str, Any]) -> None:
    cloud = vector["input"]["cloud"]
    pairs, names = from_vector({"input": {"before": cloud, "after": cloud}})
    assert modes(pairs, names, "before") == set(vector["expected"]["modes"])
    answered = np.where(pairs.answered, pairs.before, 0)
    found = pairs.answer[modal_cells(answered, pairs.item, 1)].tolist()
    assert {names[code] for code in found} == set(vector["expected"]["modes_without_none"])


@given(SIDE, SIDE)
def test_over_all_splits_the_distance_averages_to_nought(before: str, after: str) -> None:
    found = [exact_pair(spelled(pair)).squared_distance for pair in splits(before, after)]
    assert sum((x for x in found if x is not None), Fraction(0)) == 0


@given(st.text("abc-", min_size=1, max_size=5), st.text("abc-", min_size=1, max_size=4))
def test_over_all_splits_the_variation_averages_to_its_closed_form(before: str, after: str) -> None:
    several = list(splits(before, after))
    found = [exact_pair(spelled(pair)).total_variation or Fraction(0) for pair in several]
    pairs = spelled((before, after))
    exact = exact_pair(pairs).null_mean
    assert exact == sum(found, Fraction(0)) / len(found)
    assert tv_null_mean(pairs)[0] == pytest.approx(float(exact), abs=1e-14)


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 300)), min_size=1, max_size=6))
def test_the_closed_form_holds_for_many_draws(counts: list[tuple[int, int]]) -> None:
    size = len(counts)
    sides = [
        Clouds.of([0] * size, range(size), [OPEN] * size, n_items=1, weight=[c[s] for c in counts])
        for s in (0, 1)
    ]
    pairs = pair_clouds(*sides)
    exact = exact_pair(pairs).null_mean
    found = tv_null_mean(pairs)[0]
    assert math.isnan(found) if exact is None else found == pytest.approx(float(exact), abs=1e-11)


@given(st.lists(st.tuples(SIDE, SIDE), min_size=1, max_size=4))
def test_items_are_measured_apart(pairs: list[tuple[str, str]]) -> None:
    together = spelled(*pairs)
    for measure in (total_variation, tv_null_mean, squared_distance, cross_collision, morisita):
        alone = [measure(spelled(pair))[0] for pair in pairs]
        np.testing.assert_allclose(measure(together), alone, atol=1e-14)
    assert movements(together).tolist() == [movements(spelled(pair))[0] for pair in pairs]
    wanted = [modes_disjoint(spelled(pair))[0] for pair in pairs]
    np.testing.assert_array_equal(modes_disjoint(together), wanted)


@given(SIDE, SIDE, st.permutations("abc-d"))
def test_names_and_sides_change_no_distance(before: str, after: str, names: list[str]) -> None:
    table = dict(zip(map(ord, "abc-d"), names, strict=True))
    one = exact_pair(spelled((before, after)))
    assert exact_pair(spelled((before.translate(table), after.translate(table)))) == one
    assert exact_pair(spelled((after, before))) == one


@given(SIDE, SIDE)
def test_movements_are_what_they_say(before: str, after: str) -> None:
    one, other = Counter(before), Counter(after)
    wanted = SHAPE_MOVED
    if one == other:
        wanted = STILL
    elif sorted(one.values()) == sorted(other.values()):
        wanted = IDENTITY_MOVED
    assert movements(spelled((before, after)))[0] == wanted


@given(SIDE, SIDE)
def test_how_a_cloud_moved_does_not_depend_on_which_came_first(before: str, after: str) -> None:
    there, back = spelled((before, after)), spelled((after, before))
    assert movements(there).tolist() == movements(back).tolist()
    assert total_variation(there).tolist() == total_variation(back).tolist()


def test_an_empty_cloud_or_a_single_draw_leaves_nan() -> None:
    pairs = spelled(("", "ab"), ("a", "a"), ("", ""))
    for measure in (total_variation, tv_null_mean, cross_collision):
        assert np.isnan(measure(pairs)).tolist() == [True, False, True]
    assert np.isnan(squared_distance(pairs)).all()
    assert np.isnan(morisita(pairs)).all()
    assert movements(pairs).tolist() == [NOT_COMPARED, STILL, NOT_COMPARED]
    assert np.isnan(modes_disjoint(pairs)).tolist() == [True, False, True]
    assert slice_morisita(pairs).n == 0
    assert math.isnan(slice_morisita(pairs).value)


def test_the_overlap_of_a_slice_is_the_ratio_of_sums() -> None:
    pairs = spelled(("aab", "aab"), ("aa", "bb"), ("ab", "cd"), ("a", "a"))
    across = 2 * np.array([5 / 9, 0.0, 0.0])
    within = np.array([2 / 3, 2.0, 0.0])
    overlap = slice_morisita(pairs)
    assert overlap.value == pytest.approx(across.sum() / within.sum())
    assert overlap.n == 3


def test_no_answered_draw_leaves_no_answered_mode_to_compare() -> None:
    pairs = spelled(("--", "ab"))
    assert modes_disjoint(pairs).tolist() == [1.0]
    assert np.isnan(modes_disjoint(pairs, answered_only=True)).all()


def test_clouds_that_do_not_fit_are_refused() -> None:
    cloud = Clouds.of([0], [3], [NONE], n_items=1)
    with pytest.raises(ShapeError, match="clouds of 1 and of 2 items"):
        pair_clouds(cloud, Clouds.of([0], [3], [NONE], n_items=2))
    with pytest.raises(InputError, match="answer 3 of item 0 is no answer in one cloud"):
        pair_clouds(cloud, Clouds.of([0], [3], [GOLD], n_items=1))
