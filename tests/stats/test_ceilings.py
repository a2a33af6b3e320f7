import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import bdtr

from trueness.contract.errors import InputError
from trueness.stats.ceilings import (
    corrected_ceiling,
    hoeffding_ceiling,
    kl_ceiling,
    textbook_ceiling,
)

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "orbits.json").read_text())
VECTORS = [v for v in GOLDEN if v["kind"] == "sampled"]
COVERAGE = [v for v in GOLDEN if v["kind"] == "sampled-coverage"]
METHODS = {
    "ceiling_hoeffding": hoeffding_ceiling,
    "ceiling_kl": kl_ceiling,
    "ceiling_clopper_pearson_corrected": corrected_ceiling,
    "ceiling_clopper_pearson_textbook": textbook_ceiling,
}


def failure(chances: list[Fraction], ceilings: list[float]) -> Fraction:
    """Exact probability that the ceiling at the observed count lies below the accuracy."""
    law = [Fraction(1)]
    for p in chances:
        law = [
            (law[x] * (1 - p) if x < len(law) else Fraction(0)) + (law[x - 1] * p if x else 0)
            for x in range(len(law) + 1)
        ]
    accuracy = sum(chances, Fraction(0)) / len(chances)
    return sum((q for q, u in zip(law, ceilings, strict=True) if u < accuracy), Fraction(0))


def worst_failure(ceilings: list[float]) -> float:
    """The supremum over slot probabilities in {0, 1, p}.

    For every number of certain slots the failure after at most c right answers falls with p, so
    the worst p is the one whose accuracy just exceeds the ceiling at c.
    """
    n = len(ceilings) - 1
    worst = 0.0
    for c in range(n):
        for certain in range(c + 1):
            free = np.arange(1, n - certain + 1)
            p = (n * ceilings[c] - certain) / free
            inside = (p >= 0) & (p < 1)
            if inside.any():
                tails = bdtr(float(c - certain), free[inside], p[inside])
                worst = max(worst, float(tails[free[inside] > c - certain].max(initial=0.0)))
                if (free[inside] <= c - certain).any():
                    worst = 1.0
    return worst


@pytest.mark.parametrize("vector", VECTORS, ids=[v["name"] for v in VECTORS])
def test_golden_ceilings(vector: dict[str, dict[str, float]]) -> None:
    given_, expected = vector["input"], vector["expected"]
    for name, method in METHODS.items():
        value = method(int(given_["max_right"]), int(given_["n_slots"]), delta=given_["delta"])
        assert value == pytest.approx(expected[name], abs=1e-9)


@pytest.mark.parametrize("vector", COVERAGE, ids=[v["name"] for v in COVERAGE])
def test_golden_coverage(vector: dict[str, dict[str, object]]) -> None:
    chances, delta = vector["input"]["slot_probabilities"], vector["input"]["delta"]
    assert isinstance(chances, list)
    assert isinstance(delta, float)
    n, exact = len(chances), [Fraction(str(p)) for p in chances]
    for name, method in (("corrected", corrected_ceiling), ("textbook", textbook_ceiling)):
        wrong = failure(exact, [method(x, n, delta=delta) for x in range(n + 1)])
        assert float(wrong) == pytest.approx(vector["expected"][f"failure_{name}"], abs=1e-9)
        assert (wrong <= delta) is vector["expected"][f"{name}_is_valid"]


@pytest.mark.parametrize("delta", [0.01, 0.05, 0.1, 0.2, 0.249])
def test_corrected_ceiling_never_fails_more_often_than_delta(delta: float) -> None:
    for n in range(1, 26):
        ceilings = [corrected_ceiling(x, n, delta=delta) for x in range(n + 1)]
        assert worst_failure(ceilings) <= delta + 1e-9, n


@pytest.mark.parametrize(("delta", "known"), [(0.05, 0.0512), (0.1, 0.1051), (0.2, 0.2222)])
def test_dropping_the_one_below_all_case_fails_more_often_than_delta(
    delta: float, known: float
) -> None:
    failures = []
    for n in range(2, 26):
        ceilings = [corrected_ceiling(x, n, delta=delta) for x in range(n + 1)]
        assert ceilings[n - 1] == 1 - delta / n
        ceilings[n - 1] = textbook_ceiling(n - 1, n, delta=delta)
        failures.append(worst_failure(ceilings))
    assert max(failures) > delta
    assert max(failures) == pytest.approx(known, abs=2e-3)


def test_the_search_agrees_with_exact_sums_on_drawn_probabilities() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        n = int(rng.integers(1, 9))
        chances = [Fraction(int(k), 20) for k in rng.integers(0, 21, n)]
        ceilings = [corrected_ceiling(x, n, delta=0.2) for x in range(n + 1)]
        assert failure(chances, ceilings) <= Fraction(1, 5)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 400), st.data(), st.sampled_from([0.001, 0.05, 0.2]))
def test_corrected_is_never_above_the_others_and_grows(
    n: int, data: st.DataObject, delta: float
) -> None:
    right = data.draw(st.integers(0, n))
    corrected = corrected_ceiling(right, n, delta=delta)
    assert right / n <= corrected <= 1
    assert corrected <= kl_ceiling(right, n, delta=delta) + 1e-12
    assert kl_ceiling(right, n, delta=delta) <= hoeffding_ceiling(right, n, delta=delta) + 1e-12
    if right:
        assert corrected_ceiling(right - 1, n, delta=delta) <= corrected


@pytest.mark.parametrize("delta", [0.25, 0.3, 0.0, -1.0, float("nan")])
def test_a_failure_probability_without_proof_is_refused(delta: float) -> None:
    for method in METHODS.values():
        with pytest.raises(InputError, match="below 1/4"):
            method(1, 2, delta=delta)


@pytest.mark.parametrize(("right", "n"), [(3, 2), (-1, 2), (0, 0)])
def test_impossible_counts_are_refused(right: int, n: int) -> None:
    with pytest.raises(InputError, match="at least one slot"):
        corrected_ceiling(right, n)
