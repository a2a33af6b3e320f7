"""Order statistics against exact enumeration."""

import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from trueness.contract.errors import InputError
from trueness.stats.acceptance import (
    at_most,
    conformal_needed,
    conformal_rank,
    exact_rank,
    guarantee,
    needed,
    reaches,
    smallest_budget,
)
from trueness.stats.fixed_sequence import counts_below, fixed_sequence
from trueness.stats.order_thresholds import (
    grouped_conformal_threshold,
    least_of_sources,
    next_above,
    one_of_each_source,
    order_statistic,
)
from trueness.stats.rates import rate

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "gate.json").read_text())
TABLE = {
    "1/20": {59: 1, 100: 2, 149: 3, 250: 7, 299: 9, 500: 17, 1000: 39},
    "1/50": {59: 0, 100: 0, 149: 1, 250: 2, 299: 2, 500: 5, 1000: 13},
    "1/100": {59: 0, 100: 0, 149: 0, 250: 0, 299: 1, 500: 2, 1000: 5},
}
SHARES = st.fractions(Fraction(1, 200), Fraction(199, 200), max_denominator=200)


def vectors(lead: str) -> list[Any]:
    return [pytest.param(v, id=v["name"]) for v in GOLDEN if v["name"].startswith(lead)]


@pytest.mark.parametrize("vector", vectors("needed_"))
def test_golden_numbers_of_items_needed(vector: dict[str, Any]) -> None:
    given_, wanted = vector["input"], vector["expected"]
    assert needed(Fraction(given_["budget"]), Fraction(given_["delta"])) == wanted["n_needed"]


@pytest.mark.parametrize("vector", vectors("exact_k_"))
def test_golden_ranks_and_guarantees(vector: dict[str, Any]) -> None:
    given_, wanted = vector["input"], vector["expected"]
    budget, delta, n = Fraction(given_["budget"]), Fraction(given_["delta"]), given_["n"]
    k = exact_rank(n, budget, delta=delta)
    if "raises" in wanted:
        assert k == 0
        assert needed(budget, delta) == wanted["n_needed"]
        assert smallest_budget(n, delta) == pytest.approx(wanted["smallest_budget"], abs=1e-12)
        return
    assert k == wanted["k"]
    exact = float(Fraction(wanted["guarantee"]))
    assert guarantee(n, k, budget) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("vector", vectors("conformal_"))
def test_golden_conformal_ranks_read_budgets_as_decimals(vector: dict[str, Any]) -> None:
    given_, wanted = vector["input"], vector["expected"]
    budget = Fraction(str(given_["budget"]))
    k = conformal_rank(given_["n"], budget)
    if "raises" in wanted:
        assert (k, conformal_needed(budget)) == (0, wanted["n_needed"])
    else:
        assert k == wanted["k"]
        assert Fraction(k, given_["n"] + 1) == Fraction(wanted["expected_rate_at_most"])


@pytest.mark.parametrize("vector", vectors("clopper_pearson_"))
def test_golden_exact_bounds(vector: dict[str, Any]) -> None:
    given_, wanted = vector["input"], vector["expected"]
    level = 2 * given_["one_sided_level"] - 1
    found = rate(given_["successes"], given_["n"], level=level)
    assert found.low == pytest.approx(wanted["lower"], abs=1e-9)
    assert found.high == pytest.approx(wanted["upper"], abs=1e-9)
    assert found.state == wanted.get("state", "MEASURED")


@pytest.mark.parametrize("vector", vectors("fixed_sequence_"))
def test_golden_fixed_sequences(vector: dict[str, Any]) -> None:
    given_, wanted = vector["input"], vector["expected"]
    found = fixed_sequence(
        [p["accepted"] for p in given_["grid"]],
        [p["wrong"] for p in given_["grid"]],
        budget=Fraction(given_["budget"]),
        delta=Fraction(given_["delta"]),
    )
    assert found.index == wanted["index"]
    assert [p.p for p in found.points] == pytest.approx(wanted["p_values"], abs=1e-12)


@pytest.mark.parametrize("budget", TABLE)
def test_the_table_of_ranks(budget: str) -> None:
    for n, k in TABLE[budget].items():
        assert exact_rank(n, Fraction(budget), delta=Fraction(1, 20)) == k


@given(st.integers(1, 7), SHARES)
@settings(max_examples=40)
def test_the_tail_is_the_sum_over_all_outcomes(n: int, budget: Fraction) -> None:
    outcomes = list(product((0, 1), repeat=n))
    for k in range(n + 2):
        total = sum(
            (budget ** sum(o) * (1 - budget) ** (n - sum(o)) for o in outcomes if sum(o) >= k),
            Fraction(),
        )
        assert reaches(n, k, budget) == total
        assert at_most(n, k - 1, budget) == 1 - total


@given(st.integers(1, 120), SHARES, SHARES)
def test_the_rank_is_the_largest_that_keeps_the_level(
    n: int, budget: Fraction, delta: Fraction
) -> None:
    k = exact_rank(n, budget, delta=delta)
    kept = [j for j in range(1, n + 1) if reaches(n, j, budget) >= 1 - delta]
    assert k == max(kept, default=0)
    assert (k == 0) == ((1 - budget) ** n > delta) == (n < needed(budget, delta))


@given(st.integers(1, 300), st.integers(1, 99), st.integers(1, 99))
def test_the_rank_grows_with_items_budget_and_delta(n: int, a: int, d: int) -> None:
    budget, delta = Fraction(a, 100), Fraction(d, 100)
    k = exact_rank(n, budget, delta=delta)
    assert k <= exact_rank(n + 1, budget, delta=delta) <= k + 1
    assert k <= exact_rank(n, min(budget + Fraction(1, 200), Fraction(199, 200)), delta=delta)
    assert k <= exact_rank(n, budget, delta=min(delta + Fraction(1, 200), Fraction(199, 200)))


@given(st.integers(1, 100), SHARES, SHARES)
def test_the_smallest_budget_is_the_boundary(n: int, budget: Fraction, delta: Fraction) -> None:
    edge = smallest_budget(n, delta)
    if abs(float(budget) - edge) > 1e-9:
        assert (float(budget) > edge) == (exact_rank(n, budget, delta=delta) > 0)


def test_a_boundary_met_exactly_is_kept_up_to_a_thousand_items() -> None:
    for n in range(1, 200):
        assert needed(Fraction(1, 2), Fraction(1, 2**n)) == n
        assert exact_rank(n, Fraction(1, 2), delta=Fraction(1, 2**n)) == 1
        tail = at_most(n, n // 2, Fraction(1, 3))
        assert exact_rank(n, Fraction(1, 3), delta=tail) >= n // 2 + 1


def test_above_a_thousand_items_a_boundary_within_the_tolerance_is_given_up() -> None:
    n, budget = 1500, Fraction(1, 20)
    k = exact_rank(n, budget, delta=Fraction(1, 20))
    at_the_edge = 1 - reaches(n, k, budget)
    assert exact_rank(n, budget, delta=at_the_edge) == k - 1
    assert reaches(n, k, budget) >= 1 - Fraction(1, 20) > reaches(n, k + 1, budget)


def test_a_guarantee_is_never_rounded_up() -> None:
    for n in range(1, 60):
        for k in range(1, n + 1):
            assert Fraction(guarantee(n, k, Fraction(1, 7))) <= reaches(n, k, Fraction(1, 7))


@given(st.integers(0, 60), st.integers(0, 60), SHARES)
def test_tails_agree_with_the_binomial_of_scipy(n: int, k: int, budget: Fraction) -> None:
    ours = float(at_most(n, k, budget))
    assert ours == pytest.approx(float(binom.cdf(k, n, float(budget))), abs=1e-12)


@pytest.mark.parametrize("share", [Fraction(0), Fraction(1), Fraction(-1, 2)])
def test_budgets_of_nothing_or_all_are_refused(share: Fraction) -> None:
    with pytest.raises(InputError, match="above 0 and below 1"):
        exact_rank(10, share, delta=Fraction(1, 20))


def test_needed_items_of_a_tiny_budget_are_exact() -> None:
    found = needed(Fraction(1, 10**7), Fraction(1, 20))
    assert found == math.ceil(math.log(0.05) / math.log1p(-1e-7))


# thresholds


def brute_grouped(groups: list[list[float]], budget: Fraction) -> float | None:
    """The largest value t at which the rule holds; every candidate tried."""

    def share(t: float) -> Fraction:
        return sum((Fraction(sum(v < t for v in g), len(g)) for g in groups), Fraction())

    kept = [t for g in groups for t in g if (1 + share(t)) / (len(groups) + 1) <= budget]
    return max(kept, default=None)


@given(
    st.lists(
        st.lists(st.integers(0, 6).map(float), min_size=1, max_size=4), min_size=1, max_size=6
    ),
    SHARES,
)
def test_grouped_thresholds_are_those_of_trying_every_value(
    groups: list[list[float]], budget: Fraction
) -> None:
    risks = np.array([v for g in groups for v in g])
    sources = np.repeat(np.arange(len(groups)), [len(g) for g in groups])
    found = grouped_conformal_threshold(risks, sources, budget=budget)
    assert found == brute_grouped(groups, budget)
    order = np.random.default_rng(0).permutation(len(risks))
    assert grouped_conformal_threshold(risks[order], sources[order], budget=budget) == found


def test_an_infinite_order_statistic_becomes_the_largest_finite_risk() -> None:
    assert order_statistic(np.array([1.0, 4.0, np.inf, np.inf]), 3) == 4.0
    with pytest.raises(InputError, match="none of 1 risks is finite"):
        order_statistic(np.array([np.inf]), 1)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), min_size=1, max_size=20))
def test_draws_of_one_item_a_source_do_not_depend_on_the_rows(rows: list[tuple[int, int]]) -> None:
    sources = np.unique([s for s, _ in rows], return_inverse=True)[1].astype(np.int64)
    risks = np.array([r for _, r in rows], dtype=np.float64)
    drawn = one_of_each_source(risks, sources, rng=np.random.default_rng(1))
    assert sorted(sources[drawn]) == list(range(sources.max() + 1))
    order = np.random.default_rng(2).permutation(len(risks))
    again = one_of_each_source(risks[order], sources[order], rng=np.random.default_rng(1))
    assert risks[order][again].tolist() == risks[drawn].tolist()
    least = least_of_sources(risks, sources)
    assert all(least[s] == risks[sources == s].min() for s in range(len(least)))


def test_one_item_a_source_is_drawn_uniformly() -> None:
    risks, sources = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 0, 0, 1])
    rng = np.random.default_rng(0)
    first = [risks[one_of_each_source(risks, sources, rng=rng)][0] for _ in range(3000)]
    counts = [first.count(v) for v in (1.0, 2.0, 3.0)]
    assert all(abs(c - 1000) < 5 * math.sqrt(3000 * 2 / 9) for c in counts)


@given(st.floats(-1e300, 1e300))
def test_the_next_float_leaves_nothing_between(risk: float) -> None:
    above = next_above(risk)
    assert above > risk
    assert (risk + above) / 2 in {risk, above}


def test_counts_below_are_strict() -> None:
    accepted, wrong = counts_below(
        [1, 2], np.array([1.0, 1.0, 0.5]), wrong=np.array([True, False, True])
    )
    assert (accepted, wrong) == ([1, 3], [1, 2])


def test_a_sequence_needs_as_many_counts_of_wrong_as_of_accepted() -> None:
    with pytest.raises(InputError, match="one of each"):
        fixed_sequence([1], [], budget=Fraction(1, 10), delta=Fraction(1, 20))
    with pytest.raises(InputError, match="at most 1"):
        fixed_sequence([1], [2], budget=Fraction(1, 10), delta=Fraction(1, 20))


def test_a_long_sequence_decides_the_same_with_floats_away_from_the_boundary() -> None:
    found = fixed_sequence([5000, 6000], [200, 330], budget=Fraction(1, 20), delta=Fraction(1, 20))
    assert found.index == 0
