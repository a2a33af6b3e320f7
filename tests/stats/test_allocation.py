import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.allocation import (
    allocations,
    between_variance,
    draw_noise,
    draws_for_item,
)
from trueness.stats.clouds import Clouds
from trueness.stats.spectrum_variance import exact_variance, variance_hat

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "atlas_comparison.json").read_text())
(PLAN,) = [v for v in GOLDEN if v["kind"] == "plan_allocation"]
(FLOORS,) = [v for v in GOLDEN if v["kind"] == "permutation_floor"]
LAW = [Fraction(3, 5), Fraction(3, 10), Fraction(1, 10)]


def test_the_golden_table_of_draws() -> None:
    given_, expected = PLAN["input"], PLAN["expected"]
    laws = [[Fraction(p) for p in given_[f"masses_{arm}"]] for arm in ("before", "after")]
    within = {k: sum(exact_variance(law, given_["r"], k=k) for law in laws) for k in given_["k"]}
    between, budget = Fraction(given_["between_variance"]), given_["budget_draws_per_arm"]
    rows = allocations(within, between, budget=budget)
    found = {str(row.draws): str(row.variance) for row in rows}
    assert found == expected["variance_of_mean"]
    assert min(rows, key=lambda row: row.variance).draws == expected["best_k"]


def test_a_pilot_gives_back_its_own_noise_without_bias() -> None:
    rng = np.random.default_rng(0)
    arms = []
    for _ in range(2):
        answers = rng.choice(3, (4_000, 8), p=[float(p) for p in LAW]).ravel()
        items = np.repeat(np.arange(4_000), 8)
        arms.append(Clouds.of(items, answers, np.minimum(answers, 1), n_items=4_000))
    found = draw_noise(arms[0], arms[1], 2, draws=(1, 2, 4, 8, 32))
    assert list(found) == [2, 4, 8, 32]
    for k, noise in found.items():
        assert noise == pytest.approx(float(2 * exact_variance(LAW, 2, k=k)), rel=0.05)
    hats = sum(variance_hat(arm, (2,))["total"].mean() for arm in arms)
    assert found[8] == pytest.approx(hats)


def test_the_golden_floor_of_one_item() -> None:
    rows = allocations(dict.fromkeys(FLOORS["input"]["k"], 0.1), 0, budget=100)
    assert [str(row.item_floor) for row in rows] == FLOORS["expected"]["floor"]
    assert draws_for_item(0.05) == FLOORS["expected"]["smallest_k_below_0_05"]
    assert draws_for_item(0.01) == FLOORS["expected"]["smallest_k_below_0_01"]


def test_the_spread_between_items_is_what_the_draws_do_not_explain() -> None:
    rng = np.random.default_rng(0)
    true = rng.normal(0, 0.2, 50_000)
    seen = true + rng.normal(0, 0.3, 50_000)
    found = between_variance(seen, np.full(50_000, 0.09))
    assert found.value == pytest.approx(0.04, abs=0.003)
    assert not found.clipped
    none = between_variance(np.array([0.1, 0.1, np.nan]), np.array([0.02, 0.02, 0.5]))
    assert (none.value, none.clipped) == (0.0, True)
    assert none.raw == pytest.approx(-0.02)


def test_costs_of_items_shift_the_best_number_of_draws_up() -> None:
    within = {k: 2 * exact_variance(LAW, 2, k=k) for k in range(2, 33)}
    best = []
    for cost in (0, 20):
        rows = allocations(within, Fraction(1, 100), budget=4_000, cost_item=cost)
        best.append(min(rows, key=lambda row: row.variance).draws)
    assert best[0] < best[1]


def test_numbers_of_draws_that_leave_no_slice_are_left_out() -> None:
    rows = allocations({5: 0.2, 3: 0.4, 21: 0.1}, 0, budget=40)
    assert [(row.draws, row.items) for row in rows] == [(3, 13), (5, 8)]
    assert rows[0].se == pytest.approx(math.sqrt(0.4 / 13))


def test_plans_from_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="fewer than two items"):
        allocations({2: 0.1}, 0.1, budget=3)
    with pytest.raises(InputError, match="wanted a budget"):
        allocations({2: 0.1}, -0.1, budget=100)
    with pytest.raises(InputError, match="above 0 and below 1"):
        draws_for_item(0)
    few = Clouds.of([0, 0, 0], [0, 0, 1], [0, 0, 1], n_items=1)
    with pytest.raises(InputError, match="at least twice the order"):
        draw_noise(few, few, 2)
    with pytest.raises(InputError, match="wanted at least 2"):
        between_variance(np.array([0.5]), np.array([0.1]))
    with pytest.raises(ShapeError, match="n_items"):
        between_variance(np.zeros(2), np.zeros(3))
