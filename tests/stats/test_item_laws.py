"""Laws of simulated items have the agreement that they are said to have."""

import numpy as np
import pytest

from trueness.contract.errors import InputError
from trueness.stats.clouds import GOLD, NONE, ORDERS, PARTS, WRONG
from trueness.stats.item_laws import ItemLaw, Movement, Population

ROLES = (GOLD, WRONG, WRONG, NONE)
WIDE = ItemLaw((0.6, 0.6, 0.3, 0.2))
SHARP = ItemLaw((0.1, 2.0, 0.1, 0.1))
MOVES = Population(
    (
        Movement(0.5, WIDE),
        Movement(0.2, WIDE, swapped=(0, 1)),
        Movement(0.2, WIDE, SHARP),
        Movement(0.1, ItemLaw((0.0, 0.0, 0.5, 0.5), fixed=True), SHARP),
    ),
    ROLES,
)


def seen_change(population: Population, n: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    before, after = population.draw(np.random.default_rng(3), n)
    rows = []
    for r in ORDERS:
        moved = (after**r - before**r).mean(0)
        gold, wrong, none = moved[0], moved[1] + moved[2], moved[3]
        rows += [gold + wrong + none, gold, wrong, none, gold + wrong]
    return np.array(rows)


def test_the_true_change_is_the_mean_over_many_items() -> None:
    seen, true = seen_change(MOVES, 400_000), MOVES.true_change(ORDERS)
    assert len(true) == len(ORDERS) * len(PARTS)
    assert np.abs(seen - true).max() < 0.004
    assert np.abs(true).max() > 0.05


def test_a_swap_of_classes_that_are_alike_moves_items_and_no_mean() -> None:
    swapped = Population((Movement(1.0, WIDE, swapped=(0, 1)),), ROLES)
    before, after = swapped.draw(np.random.default_rng(0), 50)
    assert (before != after).any(axis=1).all()
    assert not swapped.still
    assert np.abs(swapped.true_change(ORDERS)).max() < 1e-15


def test_an_item_that_stays_keeps_its_law() -> None:
    still = Population((Movement(1.0, WIDE),), ROLES)
    before, after = still.draw(np.random.default_rng(0), 20)
    assert still.still
    assert (before == after).all()
    assert not still.true_change(ORDERS).any()


def test_what_is_no_law_is_refused() -> None:
    for weights, fixed in [((0.5, 0.4), True), ((0.0, 1.0), False), ((), False), ((-1, 2), True)]:
        with pytest.raises(InputError, match="wanted"):
            ItemLaw(weights, fixed=fixed)
    with pytest.raises(InputError, match="sum to 1"):
        Population((Movement(0.5, WIDE),), ROLES)
    with pytest.raises(InputError, match="a role"):
        Population((Movement(1.0, WIDE),), ROLES[:2])
    with pytest.raises(InputError, match="change places"):
        Population((Movement(1.0, WIDE, swapped=(0, 9)),), ROLES)
