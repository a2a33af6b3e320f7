"""Pairs of clouds with one observer: the vector, brute force, and cells without a draw."""

import json
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import ShapeError
from trueness.stats.cloud_pairs import IDENTITY_MOVED, NOT_COMPARED, SHAPE_MOVED, STILL
from trueness.stats.clouds import WRONG, Clouds
from trueness.stats.fibre_search import FibreSearch, fibre_search

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "atlas_observers.json").read_text())
(VECTOR,) = [v for v in GOLDEN if v["kind"] == "fibre_search"]


def clouds_of(cells: list[list[str]]) -> Clouds:
    draws = [(cell, ord(answer)) for cell, answers in enumerate(cells) for answer in answers]
    item, answer = [c for c, _ in draws], [a for _, a in draws]
    return Clouds.of(item, answer, [WRONG] * len(draws), n_items=len(cells))


def search(observers: Any, cells: list[list[str]], **kwargs: Any) -> FibreSearch:
    return fibre_search(observers, clouds_of(cells), rng=np.random.default_rng(0), **kwargs)


def variation(one: list[str], two: list[str]) -> Fraction:
    shares = (
        abs(Fraction(one.count(a), len(one)) - Fraction(two.count(a), len(two)))
        for a in {*one, *two}
    )
    return sum(shares, Fraction(0)) / 2


def test_golden_vector() -> None:
    given_, wanted = VECTOR["input"], VECTOR["expected"]
    found = search(given_["observers"], given_["clouds"])
    fibres = [np.flatnonzero(found.codes == c).tolist() for c in range(found.codes.max() + 1)]
    assert fibres == wanted["exact_fibres"]
    assert found.witnesses.tolist() == wanted["witness_pairs"]
    near = search(given_["observers"], given_["clouds"], tolerance=wanted["tolerance"])
    assert near.pairs.tolist() == wanted["pairs_within_tolerance"]
    assert near.floors is None


@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.lists(st.sampled_from("abc"), min_size=1, max_size=4)),
        min_size=1,
        max_size=5,
    )
)
def test_every_pair_of_a_fibre_is_compared(cells: list[tuple[int, list[str]]]) -> None:
    observers, clouds = [[float(o)] for o, _ in cells], [c for _, c in cells]
    found = search(observers, clouds)
    wanted = [(i, j) for i, j in combinations(range(len(cells)), 2) if cells[i][0] == cells[j][0]]
    assert [tuple(p) for p in found.pairs.tolist()] == wanted
    distances = [variation(clouds[i], clouds[j]) for i, j in wanted]
    np.testing.assert_allclose(found.distance, [float(d) for d in distances], atol=1e-15)
    assert found.floors is not None
    for fibre, floor in enumerate(found.floors):
        inside = [d for (i, _), d in zip(wanted, distances, strict=True) if found.codes[i] == fibre]
        assert np.isnan(floor) if not inside else abs(floor - max(inside) / 2) < 1e-15


def test_published_witnesses_of_four_draws_prove_no_difference_of_laws() -> None:
    found = search([[0.5]] * 2, [list("aaax"), list("bacd")])
    assert found.movement.tolist() == [SHAPE_MOVED]
    np.testing.assert_allclose(found.permutation.tv, [17 / 35])
    np.testing.assert_allclose(found.permutation.floor, [1 / 35])
    other = search([[0.5]] * 2, [list("bddx"), list("cddx")])
    assert other.movement.tolist() == [IDENTITY_MOVED]
    assert other.distance.tolist() == [0.25]
    assert other.permutation.tv.tolist() == [1.0]


def test_cells_of_different_items_are_never_compared() -> None:
    found = search([[0.5]] * 3, [["a"], ["b"], ["b"]], item=[0, 1, 1])
    assert found.pairs.tolist() == [[1, 2]]
    assert found.movement.tolist() == [STILL]
    assert found.witnesses.tolist() == []


def test_a_cell_without_a_draw_is_listed_and_bounds_nothing() -> None:
    found = search([[0.5]] * 3, [["a"], [], ["b"]])
    assert found.movement.tolist() == [NOT_COMPARED, SHAPE_MOVED - 1, NOT_COMPARED]
    assert np.isnan(found.distance).tolist() == [True, False, True]
    assert found.floors is not None
    assert found.floors.tolist() == [0.5]


def test_no_pair_at_all_is_an_answer() -> None:
    found = search([[0.1], [0.2]], [["a"], ["b"]])
    assert found.pairs.shape == (0, 2)
    assert found.floors is not None
    assert np.isnan(found.floors).tolist() == [True, True]


def test_there_is_one_cloud_a_cell() -> None:
    with pytest.raises(ShapeError, match="one cloud a cell"):
        search([[0.1], [0.2]], [["a"]])
