"""Repeated answers counted item by item."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.clouds import GOLD, NONE, OPEN, PARTS, WRONG, Clouds

Draws = list[tuple[int, int]]
DRAWS = st.lists(st.tuples(st.integers(0, 4), st.integers(-3, 5)), max_size=40)


def role_of(answer: int) -> int:
    return NONE if answer < 0 else GOLD if answer == 0 else WRONG


def of(draws: Draws, *, scale: int = 1) -> Clouds:
    items, answers = [i for i, _ in draws], [a * scale for _, a in draws]
    return Clouds.of(items, answers, [role_of(a) for a in answers], n_items=5)


def cells(clouds: Clouds) -> dict[tuple[int, int], int]:
    keys = zip(clouds.item.tolist(), clouds.answer.tolist(), strict=True)
    return dict(zip(keys, clouds.count.tolist(), strict=True))


@given(DRAWS)
def test_cells_are_the_counts_of_the_draws_in_order(draws: Draws) -> None:
    clouds = of(draws)
    assert cells(clouds) == Counter(draws)
    assert list(cells(clouds)) == sorted(set(draws))
    assert clouds.role.tolist() == [role_of(a) for a in clouds.answer.tolist()]
    assert clouds.draws.tolist() == [sum(i == j for j, _ in draws) for i in range(5)]


@given(DRAWS, st.randoms())
def test_the_order_of_draws_changes_nothing(draws: Draws, random: object) -> None:
    shuffled = sorted(draws, key=lambda _: random.random())  # type: ignore[attr-defined] # of Hypothesis
    assert cells(of(shuffled)) == cells(of(draws))


@given(DRAWS)
def test_codes_too_wide_to_pack_are_counted_all_the_same(draws: Draws) -> None:
    wide = cells(of(draws, scale=2**60 // 3))
    assert wide == {(i, a * (2**60 // 3)): n for (i, a), n in cells(of(draws)).items()}


@given(DRAWS, DRAWS)
def test_shards_add_up_to_the_whole(first: Draws, second: Draws) -> None:
    assert cells(of(first).merged(of(second))) == cells(of(first + second))


def test_weights_are_multiplicities_and_nought_leaves_no_class() -> None:
    clouds = Clouds.of([0, 0, 0], [4, 5, 4], [WRONG] * 3, n_items=1, weight=[2, 0, 3])
    assert cells(clouds) == {(0, 4): 5}


@given(DRAWS, st.lists(st.integers(0, 4), max_size=6))
def test_items_are_taken_in_any_order_and_twice(draws: Draws, items: list[int]) -> None:
    taken = of(draws).take(np.array(items, np.int64))
    assert taken.n_items == len(items)
    assert cells(taken) == {
        (place, a): n
        for place, item in enumerate(items)
        for (i, a), n in cells(of(draws)).items()
        if i == item
    }


def test_an_item_without_a_draw_is_kept() -> None:
    clouds = Clouds.of([2], [0], [GOLD], n_items=4)
    assert clouds.draws.tolist() == [0, 0, 1, 0]
    assert clouds.take([1, 2]).draws.tolist() == [0, 1]
    nothing = Clouds.of(np.empty(0, int), np.empty(0, int), np.empty(0, int), n_items=0)
    assert nothing.draws.tolist() == []
    assert nothing.gold_known.tolist() == []


def test_gold_is_known_where_declared_and_nothing_is_open() -> None:
    roles = [OPEN, NONE, GOLD, NONE]
    clouds = Clouds.of(
        [0, 1, 2, 3], [0] * 4, roles, n_items=4, gold_known=[True, True, True, False]
    )
    assert clouds.gold_known.tolist() == [False, True, True, False]
    assert clouds.take([3, 2]).gold_known.tolist() == [False, True]
    assert clouds.merged(clouds).gold_known.tolist() == [False, True, True, False]
    assert Clouds.of([0], [0], [OPEN], n_items=2).gold_known.tolist() == [False, True]


def test_parts_are_sums_over_their_classes() -> None:
    clouds = Clouds.of(
        [0] * 6, [0, 1, 1, 2, 3, 3], [GOLD, WRONG, WRONG, WRONG, NONE, NONE], n_items=1
    )
    sums = clouds.by_part(clouds.count.astype(float))
    assert {x: sums[x].tolist() for x in PARTS} == {
        "total": [6],
        "gold": [1],
        "wrong": [3],
        "none": [2],
        "semantic": [4],
    }


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([0, 0], [1, 1], [GOLD, WRONG]), "answer 1 of item 0 has two roles"),
        (([0, 2], [1, 1], [GOLD, GOLD]), r"item runs from 0 to 2; it must lie in \[0, 2\)"),
        (([0], [1], [7]), "role runs from 7"),
        (([0.5], [1], [GOLD]), "whole numbers"),
    ],
)
def test_draws_that_contradict_themselves_are_refused(
    columns: tuple[list[int], list[int], list[int]], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Clouds.of(*columns, n_items=2)


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"lengths \[2, 1, 1\]"):
        Clouds.of([0, 0], [1], [GOLD], n_items=1)
    with pytest.raises(ShapeError, match="2 dimensions"):
        Clouds.of([[0]], [1], [GOLD], n_items=1)
    with pytest.raises(ShapeError, match="gold_known"):
        Clouds.of([0], [1], [GOLD], n_items=1, gold_known=[True, True])
    with pytest.raises(InputError, match="weight runs from -1"):
        Clouds.of([0], [1], [GOLD], n_items=1, weight=[-1])
    with pytest.raises(ShapeError, match="clouds of 1, 2 items"):
        Clouds.of([0], [1], [GOLD], n_items=1).merged(Clouds.of([0], [1], [GOLD], n_items=2))
    with pytest.raises(InputError, match="items runs from 1"):
        Clouds.of([0], [1], [GOLD], n_items=1).take([1])
