import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from trueness.contract.errors import InputError
from trueness.stats.mcnemar import mcnemar, mcnemar_power, mcnemar_size

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "atlas_comparison.json").read_text())
VECTORS = [v for v in GOLDEN if v["kind"] == "mcnemar"]
PLANS = [v for v in GOLDEN if v["kind"] == "plan_mcnemar"]


@pytest.mark.parametrize("vector", VECTORS, ids=[v["name"] for v in VECTORS])
def test_golden_pairs(vector: dict[str, dict[str, Any]]) -> None:
    found = mcnemar(**vector["input"])
    assert {"p_exact": str(found.p_exact), "p_mid": str(found.p_mid)} == vector["expected"]


@given(st.integers(0, 40), st.integers(0, 40))
def test_it_is_the_binomial_test_and_knows_no_arm(regressed: int, improved: int) -> None:
    found, other = mcnemar(regressed, improved), mcnemar(improved, regressed)
    assert (found.p_exact, found.p_mid) == (other.p_exact, other.p_mid)
    assert 0 < found.p_mid <= found.p_exact <= 1
    if regressed + improved:
        p = binomtest(regressed, regressed + improved).pvalue
        assert float(found.p_exact) == pytest.approx(float(p))


def test_many_changed_items_stay_exact() -> None:
    assert float(mcnemar(499, 43).p_exact) < 1e-90
    assert mcnemar(5_000, 5_000).p_exact == 1


@pytest.mark.parametrize("vector", PLANS, ids=[v["name"] for v in PLANS])
def test_golden_powers(vector: dict[str, dict[str, Any]]) -> None:
    given_ = vector["input"]
    keys = {"p_improve": given_["p_improve"], "alpha": given_["alpha"]}
    found = mcnemar_power(given_["items"], given_["p_regress"], **keys)
    assert found == pytest.approx(vector["expected"]["power"], abs=1e-9)


@given(st.integers(1, 12), st.integers(0, 6), st.integers(0, 4), st.sampled_from([0.05, 0.3]))
def test_power_is_the_sum_over_every_outcome(n: int, worse: int, better: int, alpha: float) -> None:
    if not worse + better:
        return
    p, q = Fraction(worse, 10), Fraction(better, 10)
    total = Fraction(0)
    for b in range(n + 1):
        for c in range(n - b + 1):
            if mcnemar(b, c).p_exact <= alpha:
                ways = math.comb(n, b) * math.comb(n - b, c)
                total += ways * p**b * q**c * (1 - p - q) ** (n - b - c)
    found = mcnemar_power(n, float(p), p_improve=float(q), alpha=alpha)
    assert found == pytest.approx(float(total), abs=1e-12)


def test_a_size_reaches_its_power_and_one_fewer_does_not() -> None:
    items = mcnemar_size(0.2, p_improve=0.05)
    assert mcnemar_power(items, 0.2, p_improve=0.05) >= 0.8
    assert mcnemar_power(items - 1, 0.2, p_improve=0.05) < 0.8


def test_impossible_tests_are_refused() -> None:
    with pytest.raises(InputError, match="at least 0"):
        mcnemar(-1, 2)
    with pytest.raises(InputError, match="equal rates"):
        mcnemar_size(0.1, p_improve=0.1)
    with pytest.raises(InputError, match="at most 1"):
        mcnemar_power(10, 0.8, p_improve=0.3)
    with pytest.raises(InputError, match="items are not enough"):
        mcnemar_size(0.1, p_improve=0.1 + 1e-6)
