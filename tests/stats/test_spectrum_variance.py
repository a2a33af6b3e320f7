"""Draw noise of the spectrum: against vectors and against every outcome of a rational law."""

import json
import math
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.stats.clouds import GOLD, NONE, OPEN, PARTS, WRONG, Clouds
from trueness.stats.spectrum import exact_spectrum, spectrum
from trueness.stats.spectrum_variance import (
    exact_covariance,
    exact_variance,
    exact_variance_hat,
    planned_variance,
    power_sum,
    squared_power_sum,
    variance_hat,
)

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "atlas_clouds.json").read_text(encoding="utf-8")
)
CLASSES = {"gold": (GOLD,), "wrong": (WRONG,), "none": (NONE,), "semantic": (GOLD, WRONG)}
LAW = (
    (GOLD, Fraction(1, 2)),
    (WRONG, Fraction(1, 6)),
    (WRONG, Fraction(1, 12)),
    (NONE, Fraction(1, 4)),
)
"""Roles and masses of four classes."""


def golden(kind: str) -> list[Any]:
    return [pytest.param(v, id=v["name"]) for v in GOLDEN if v["kind"] == kind]


def masses_of(part: str, law: Any = LAW) -> list[Fraction]:
    return [p for role, p in law if part == "total" or role in CLASSES[part]]


def named(masses: list[str] | dict[str, str], part: str) -> list[Fraction]:
    if isinstance(masses, list):
        return [Fraction(p) for p in masses]
    roles = {"gold": GOLD, "wrong": WRONG, "none": NONE}
    return masses_of(part, [(roles[x], Fraction(p)) for x, p in masses.items()])


def outcomes(k: int) -> tuple[Clouds, list[Fraction]]:
    """Every sequence of k draws of the law as an item, with its probability."""
    draws = np.array(list(product(range(len(LAW)), repeat=k)))
    roles = np.array([role for role, _ in LAW])
    items = np.repeat(np.arange(len(draws)), k)
    clouds = Clouds.of(items, draws.ravel(), roles[draws.ravel()], n_items=len(draws))
    return clouds, [
        math.prod((LAW[a][1] for a in row), start=Fraction(1)) for row in draws.tolist()
    ]


@pytest.mark.parametrize("vector", golden("variance_exact"))
def test_golden_variances(vector: dict[str, Any]) -> None:
    given_ = vector["input"]
    masses = named(given_["masses"], given_["component"])
    assert str(power_sum(masses, given_["r"])) == vector["expected"]["mean"]
    found = exact_variance(masses, given_["r"], k=given_["k"])
    assert Fraction(found) == Fraction(vector["expected"]["variance"])


@pytest.mark.parametrize("vector", golden("covariance_exact"))
def test_golden_covariances(vector: dict[str, Any]) -> None:
    given_ = vector["input"]
    one, other = given_["components"]
    second = None if one == other else named(given_["masses"], other)
    orders = (given_["orders"][0], given_["orders"][1])
    found = exact_covariance(named(given_["masses"], one), orders, k=given_["k"], other=second)
    assert str(found) == vector["expected"]["covariance"]


@pytest.mark.parametrize("vector", golden("variance_hat"))
def test_golden_variance_estimates(vector: dict[str, Any]) -> None:
    cloud, gold = vector["input"]["cloud"], vector["input"]["gold"]
    roles = [GOLD if a == gold else WRONG for a in cloud]
    clouds = Clouds.of([0] * len(cloud), [ord(a) for a in cloud], roles, n_items=1)
    part, r, wanted = vector["input"]["component"], vector["input"]["r"], vector["expected"]
    exact, found = exact_variance_hat(clouds, r)[part], variance_hat(clouds, (r,))[part][0, 0]
    if wanted["variance_hat"] is None:
        assert exact is None
        assert math.isnan(found)
    else:
        assert str(exact) == wanted["variance_hat"]
        assert found == float(exact or 0)


@pytest.mark.parametrize(("r", "k"), [(1, 2), (1, 4), (2, 4), (2, 5), (3, 6)])
def test_estimates_average_to_the_law_over_all_outcomes(r: int, k: int) -> None:
    clouds, chances = outcomes(k)
    weights = np.array([float(p) for p in chances])
    agreement, noise = spectrum(clouds, (r,)), variance_hat(clouds, (r,))
    squares = squared_power_sum(clouds, (r,))
    for part in PARTS:
        masses = masses_of(part)
        mean, variance = power_sum(masses, r), exact_variance(masses, r, k=k)
        values = agreement[part][:, 0]
        assert weights @ values == pytest.approx(float(mean), abs=1e-12)
        assert weights @ (values - float(mean)) ** 2 == pytest.approx(float(variance), abs=1e-12)
        assert weights @ noise[part][:, 0] == pytest.approx(float(variance), abs=1e-12)
        assert weights @ squares[part][:, 0] == pytest.approx(float(mean) ** 2, abs=1e-12)


def test_the_mean_and_variance_are_exact_in_fractions() -> None:
    clouds, chances = outcomes(4)
    found = [exact_spectrum(clouds, 2, item=i)["wrong"] or Fraction(0) for i in range(len(chances))]
    noise = [
        exact_variance_hat(clouds, 2, item=i)["wrong"] or Fraction(0) for i in range(len(found))
    ]
    masses = masses_of("wrong")
    mean = sum(p * x for p, x in zip(chances, found, strict=True))
    square = sum(p * x * x for p, x in zip(chances, found, strict=True))
    assert mean == power_sum(masses, 2)
    assert square - mean * mean == exact_variance(masses, 2, k=4)
    assert sum(p * x for p, x in zip(chances, noise, strict=True)) == square - mean * mean


def test_covariances_are_those_over_all_outcomes() -> None:
    clouds, chances = outcomes(5)
    weights = np.array([float(p) for p in chances])
    found = spectrum(clouds, (2, 3))
    flat = {(x, r): found[x][:, j] for x in CLASSES for j, r in enumerate((2, 3))}
    for (x, r), (y, s) in combinations(flat, 2):
        if x != y and "semantic" in {x, y} and "none" not in {x, y}:
            continue  # neither equal nor disjoint
        other = None if x == y else masses_of(y)
        wanted = exact_covariance(masses_of(x), (r, s), k=5, other=other)
        one, two = flat[x, r], flat[y, s]
        brute = weights @ (one * two) - (weights @ one) * (weights @ two)
        assert brute == pytest.approx(float(wanted), abs=1e-12)


def test_planned_noise_averages_to_that_of_the_planned_draws() -> None:
    clouds, chances = outcomes(4)
    weights = np.array([float(p) for p in chances])
    for part, values in planned_variance(clouds, 2, draws=(2, 3, 8, 50)).items():
        wanted = [float(exact_variance(masses_of(part), 2, k=k)) for k in (2, 3, 8, 50)]
        np.testing.assert_allclose(weights @ values, wanted, atol=1e-12)


def clouds_of(counts: list[list[int]]) -> Clouds:
    cells = [(i, a, n) for i, row in enumerate(counts) for a, n in enumerate(row)]
    items, answers, weights = zip(*cells, strict=True)
    roles = [(GOLD, WRONG, WRONG, NONE)[a] for a in answers]
    return Clouds.of(items, answers, roles, n_items=len(counts), weight=weights)


COUNTS = st.lists(st.lists(st.integers(0, 6), min_size=4, max_size=4), min_size=1, max_size=3)


@given(COUNTS)
def test_planned_at_the_pilots_own_draws_it_is_the_estimate(counts: list[list[int]]) -> None:
    clouds = clouds_of(counts)
    for r in (1, 2, 3):
        estimate = variance_hat(clouds, (r,))
        for item, k in enumerate(clouds.draws.tolist()):
            if k < 2 * r:
                continue
            planned = planned_variance(clouds.take([item]), r, draws=(k,))
            for part in PARTS:
                wanted = estimate[part][item, 0]
                assert planned[part][0, 0] == pytest.approx(wanted, abs=1e-12)


@given(COUNTS)
def test_floats_are_the_fractions(counts: list[list[int]]) -> None:
    clouds = clouds_of(counts)
    for r in (1, 2, 3):
        found = variance_hat(clouds, (r,))
        for item in range(clouds.n_items):
            for part, exact in exact_variance_hat(clouds, r, item=item).items():
                value = found[part][item, 0]
                assert math.isnan(value) if exact is None else value == float(exact)


@given(st.lists(st.integers(0, 10**5), min_size=4, max_size=4).filter(lambda n: sum(n) > 100))
def test_many_draws_do_not_overflow(counts: list[int]) -> None:
    clouds = clouds_of([counts])
    for r in (2, 3, 4):
        found = variance_hat(clouds, (r,))
        for part, exact in exact_variance_hat(clouds, r).items():
            assert found[part][0, 0] == pytest.approx(float(exact or 0), rel=1e-6, abs=1e-14)


def test_one_answer_throughout_has_no_noise_at_any_number_of_draws() -> None:
    for k in (8, 100, 10**6):
        assert variance_hat(clouds_of([[k, 0, 0, 0]]))["total"].tolist() == [[0.0, 0.0, 0.0]]


def test_too_few_draws_or_no_right_answer_give_no_estimate() -> None:
    assert np.isnan(variance_hat(clouds_of([[2, 1, 0, 0]]), (2,))["total"]).all()
    unknown = Clouds.of([0] * 4, [0, 0, 1, 1], [OPEN] * 4, n_items=1)
    found = variance_hat(unknown, (2,))
    assert np.isnan(found["gold"]).all()
    assert np.isfinite(found["total"]).all()


def test_plans_below_the_order_are_refused() -> None:
    with pytest.raises(InputError, match="1 draws cannot agree 2 at a time"):
        planned_variance(clouds_of([[4, 0, 0, 0]]), 2, draws=(1,))
    with pytest.raises(InputError, match="3 draws cannot agree 4"):
        exact_variance([Fraction(1)], 4, k=3)
