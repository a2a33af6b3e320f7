"""Masses behind a spectrum: exact ones, fitted ones, and those that are not identified."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.clouds import NONE, WRONG, Clouds
from trueness.stats.masses import (
    elementary_symmetric,
    fit_masses,
    masses_from_power_sums,
    sorted_masses,
)
from trueness.stats.spectrum_variance import power_sum

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "atlas_clouds.json").read_text(encoding="utf-8")
)
NEWTON = [pytest.param(v, id=v["name"]) for v in GOLDEN if v["kind"] == "newton"]
LAWS = st.lists(st.integers(0, 6), min_size=1, max_size=5).filter(any)


def law(counts: list[int]) -> list[Fraction]:
    return sorted((Fraction(n, sum(counts)) for n in counts), reverse=True)


def sums(masses: list[Fraction], n: int) -> list[Fraction]:
    return [Fraction(power_sum(masses, r)) for r in range(1, n + 1)]


@pytest.mark.parametrize("vector", NEWTON)
def test_golden_masses(vector: dict[str, Any]) -> None:
    given_, expected = vector["input"], vector["expected"]
    power_sums = [Fraction(c) for c in given_["power_sums"]]
    found = elementary_symmetric(power_sums, m=given_["m"])
    assert [str(e) for e in found] == expected["elementary"]
    masses = masses_from_power_sums(power_sums, m=given_["m"])
    wanted = [float(Fraction(p)) for p in expected["masses"]]
    assert masses == pytest.approx(wanted, abs=1e-9)


@given(LAWS, st.integers(0, 2))
def test_exact_power_sums_give_the_masses_back(counts: list[int], more: int) -> None:
    masses = law(counts)
    m = len(masses) + more
    found = masses_from_power_sums(sums(masses, m + 1), m=m)
    assert found == pytest.approx([float(p) for p in masses] + [0.0] * more, abs=1e-6)


def test_repeated_masses_are_not_blurred() -> None:
    masses = [Fraction(1, 8)] * 8
    assert masses_from_power_sums(sums(masses, 8), m=8) == pytest.approx([0.125] * 8, abs=1e-12)


def test_what_does_not_identify_the_masses_is_refused() -> None:
    exact = sums(law([3, 2, 1]), 3)
    with pytest.raises(InputError, match="2 power sums and a bound of 3 masses: not identified"):
        masses_from_power_sums(exact[:2], m=3)
    with pytest.raises(InputError, match="raise m"):
        masses_from_power_sums(exact, m=2)
    with pytest.raises(InputError, match="C_1 is 1/2"):
        masses_from_power_sums([Fraction(1, 2)], m=1)
    with pytest.raises(InputError, match="negative or not real"):
        masses_from_power_sums([Fraction(1), Fraction(1, 4)], m=2)
    with pytest.raises(InputError, match="give exact fractions"):
        masses_from_power_sums([1, 0.5], m=2)  # type: ignore[list-item] # a wrong value on purpose
    with pytest.raises(InputError, match="2 masses from 1 draws"):
        fit_masses([0.5], orders=(2,), m=2, k=1)
    with pytest.raises(InputError, match="3 masses from 8 draws and 1 orders"):
        fit_masses([0.5], orders=(2,), m=3, k=8)


@given(LAWS)
def test_a_fit_to_an_exact_spectrum_reaches_it(counts: list[int]) -> None:
    masses = law(counts)
    m = len(masses)
    orders = tuple(range(2, m + 2))
    wanted = [float(power_sum(masses, r)) for r in orders]
    fit = fit_masses(wanted, orders=orders, m=m, k=100)
    assert fit.residual < 1e-4
    assert sum(fit.masses) == pytest.approx(1.0)
    assert list(fit.masses) == sorted(fit.masses, reverse=True)
    reached = [power_sum(fit.masses, r) for r in orders]
    assert [float(c) for c in reached] == pytest.approx(wanted, abs=1e-3)


def test_a_fit_to_what_no_law_has_says_how_far_off_it_stays() -> None:
    fit = fit_masses([0.1, 0.9], orders=(2, 3), m=3, k=8, variances=[-0.1, np.nan])
    assert fit.residual > 1
    assert min(fit.masses) >= 0


def test_a_fit_needs_measured_values_of_equal_number() -> None:
    with pytest.raises(ShapeError, match="1 values, 1 variances and 2 orders"):
        fit_masses([0.5], orders=(2, 3), m=2, k=8)
    with pytest.raises(InputError, match="is nan"):
        fit_masses([np.nan], orders=(2,), m=2, k=8)


def test_recorded_masses_are_the_shares() -> None:
    clouds = Clouds.of([0, 0, 0, 2], [5, 6, 6, 7], [WRONG, NONE, NONE, WRONG], n_items=3)
    found = [sorted_masses(clouds, item=i) for i in range(3)]
    assert found == [(Fraction(2, 3), Fraction(1, 3)), (), (Fraction(1),)]
