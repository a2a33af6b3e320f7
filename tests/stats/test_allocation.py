import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.allocation import (
    DrawNoise,
    allocations,
    between_variance,
    noise_of_masses,
    noise_of_pilot,
)

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "atlas_comparison.json").read_text())
(PLAN,) = [v for v in GOLDEN if v["kind"] == "plan_allocation"]
LAW = [Fraction(3, 5), Fraction(3, 10), Fraction(1, 10)]


def agreement(counts: tuple[int, ...], r: int) -> Fraction:
    return Fraction(sum(math.comb(n, r) for n in counts), math.comb(sum(counts), r))


def test_the_golden_table_of_draws() -> None:
    given_, expected = PLAN["input"], PLAN["expected"]
    before, after = ([Fraction(p) for p in given_[f"masses_{arm}"]] for arm in ("before", "after"))
    noise = noise_of_masses(before, given_["r"]) + noise_of_masses(after, given_["r"])
    between, budget = Fraction(given_["between_variance"]), given_["budget_draws_per_arm"]
    rows = allocations(noise, between, budget=budget, draws=given_["k"])
    found = {str(row.draws): str(row.variance) for row in rows}
    assert found == expected["variance_of_mean"]
    assert min(rows, key=lambda row: row.variance).draws == expected["best_k"]
    assert [row.gives_variance for row in rows] == [False, True, True, True, True]


@pytest.mark.parametrize(("r", "draws"), [(1, 2), (2, 2), (2, 4), (3, 5)])
def test_the_noise_is_the_variance_over_every_outcome(r: int, draws: int) -> None:
    first = second = Fraction(0)
    for seen in product(range(3), repeat=draws):
        chance = math.prod((LAW[a] for a in seen), start=Fraction(1))
        value = agreement(tuple(seen.count(a) for a in range(3)), r)
        first += chance * value
        second += chance * value**2
    assert noise_of_masses(LAW, r).variance(draws) == second - first**2
    assert noise_of_masses(LAW, r).variance(r - 1) is None


def variance_hat(counts: tuple[int, ...], r: int) -> Fraction:
    k, singles = sum(counts), [math.comb(n, r) for n in counts]
    pairs = sum(math.comb(n, r) * math.comb(max(n - r, 0), r) for n in counts)
    bracket = pairs + sum(singles) ** 2 - sum(s * s for s in singles)
    return agreement(counts, r) ** 2 - Fraction(bracket, math.comb(k, r) * math.comb(k - r, r))


@given(
    st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=4),
    st.sampled_from([1, 2, 3]),
)
def test_a_pilot_gives_back_its_own_variances(rows: list[list[int]], r: int) -> None:
    """Unbiased power sums at the pilot's number of draws are its unbiased variance estimates."""
    draws = 12
    clouds = [(*row, draws - sum(row)) for row in rows]
    spectrum = [[float(agreement(c, j)) for j in range(r, 2 * r)] for c in clouds]
    hats = [float(variance_hat(c, r)) for c in clouds]
    found = noise_of_pilot(np.array(spectrum), np.array(hats)).variance(draws)
    assert found is not None
    assert float(found) == pytest.approx(float(np.mean(hats)), abs=1e-12)


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
    noise = noise_of_masses(LAW, 2) + noise_of_masses(LAW, 2)
    best = []
    for cost in (0, 20):
        rows = allocations(noise, 0.01, budget=4_000, cost_item=cost, draws=range(2, 33))
        best.append(min(rows, key=lambda row: row.variance).draws)
    assert best[0] < best[1]


def test_rows_that_cannot_be_are_left_out_and_the_floor_is_named() -> None:
    noise = noise_of_masses(LAW, 3)
    rows = allocations(noise, 0, budget=40, draws=[2, 3, 5, 21])
    assert [(row.draws, row.items) for row in rows] == [(3, 13), (5, 8)]
    assert [str(row.item_floor) for row in rows] == ["1/10", "1/126"]
    assert rows[0].se == pytest.approx(math.sqrt(float(rows[0].variance)))


def test_plans_from_nothing_are_refused() -> None:
    noise = DrawNoise((0.5, 0.25), 0.25)
    with pytest.raises(InputError, match="fewer than two items"):
        allocations(noise, 0.1, budget=3)
    with pytest.raises(InputError, match="wanted a budget"):
        allocations(noise, -0.1, budget=100)
    with pytest.raises(InputError, match="at least twice the order"):
        noise_of_pilot(np.array([[0.5, 0.2]]), np.array([np.nan]))
    with pytest.raises(InputError, match="wanted at least 2"):
        between_variance(np.array([0.5]), np.array([0.1]))
    with pytest.raises(ShapeError, match="n_items"):
        between_variance(np.zeros(2), np.zeros(3))
    with pytest.raises(ShapeError, match="n_items"):
        noise_of_pilot(np.zeros(2), np.zeros(2))
