"""Bounds for lost draws: against every way they could have fallen."""

import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.clouds import GOLD, NONE, OPEN, PARTS, WRONG, Clouds
from trueness.stats.missing_draws import change_bounds, exact_missing_bounds, missing_bounds
from trueness.stats.spectrum import exact_spectrum, spectrum

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "atlas_clouds.json").read_text(encoding="utf-8")
)
BOUNDS = [pytest.param(v, id=v["name"]) for v in GOLDEN if v["kind"] == "missing_bounds"]
ORDERS = (1, 2, 3)


def spelled(*clouds: str) -> Clouds:
    """One item a text: g is right, - is no answer."""
    draws = [(i, a) for i, cloud in enumerate(clouds) for a in cloud]
    roles = [{"g": GOLD, "-": NONE}.get(a, WRONG) for _, a in draws]
    return Clouds.of([i for i, _ in draws], [ord(a) for _, a in draws], roles, n_items=len(clouds))


@pytest.mark.parametrize("vector", BOUNDS)
def test_golden_bounds(vector: dict[str, Any]) -> None:
    cloud, lost, r = (vector["input"][x] for x in ("cloud", "missing", "r"))
    clouds, expected = spelled("".join(cloud)), vector["expected"]
    assert str(exact_spectrum(clouds, r)["total"]) == expected["measured"]
    exact = exact_missing_bounds(clouds, lost, r)["total"]
    assert (str(exact.low), str(exact.high)) == (expected["low"], expected["high"])
    bounds = missing_bounds(clouds, [lost], (r,))
    assert bounds.low["total"][0, 0] == float(Fraction(expected["low"]))
    assert bounds.high["total"][0, 0] == float(Fraction(expected["high"]))


@given(st.text("gab-", min_size=1, max_size=5), st.integers(0, 2))
def test_bounds_hold_for_every_way_the_lost_draws_fell_and_are_reached(
    cloud: str, lost: int
) -> None:
    bounds = missing_bounds(spelled(cloud), [lost], ORDERS)
    ways = ["".join(w) for w in product("gab-" + "xyz"[:lost], repeat=lost)]
    found = spectrum(spelled(*(cloud + w for w in ways)), ORDERS)
    for part in PARTS:
        low = found[part].min(0)
        np.testing.assert_array_equal(bounds.low[part][0, 1:], low[1:])
        assert bounds.low[part][0, 0] <= low[0]  # one draw agrees with itself, new or not
        np.testing.assert_array_equal(bounds.high[part][0], found[part].max(0))


@given(st.text("gab-", min_size=3, max_size=9), st.integers(0, 5))
def test_what_was_measured_lies_between_the_bounds(cloud: str, lost: int) -> None:
    clouds = spelled(cloud)
    measured, bounds = spectrum(clouds, ORDERS), missing_bounds(clouds, [lost], ORDERS)
    for part in PARTS:
        assert (bounds.low[part] <= measured[part]).all()
        assert (measured[part] <= bounds.high[part]).all()
        if lost == 0:
            np.testing.assert_array_equal(bounds.low[part], bounds.high[part])


@given(st.text("gab-", min_size=0, max_size=5), st.integers(0, 3))
def test_floats_are_the_fractions(cloud: str, lost: int) -> None:
    clouds = spelled("g", cloud)
    bounds = missing_bounds(clouds, [0, lost], ORDERS)
    for place, r in enumerate(ORDERS):
        for part, exact in exact_missing_bounds(clouds, lost, r, item=1).items():
            pair = ((bounds.low, exact.low), (bounds.high, exact.high))
            for values, wanted in pair:
                value = values[part][1, place]
                assert math.isnan(value) if wanted is None else value == float(wanted)


def test_many_draws_do_not_overflow() -> None:
    clouds = Clouds.of([0, 0], [0, 1], [GOLD, WRONG], n_items=1, weight=[10**6, 10**5])
    bounds = missing_bounds(clouds, [10**4], (3, 4))
    for place, r in enumerate((3, 4)):
        for part, exact in exact_missing_bounds(clouds, 10**4, r).items():
            assert bounds.low[part][0, place] == pytest.approx(float(exact.low or 0), rel=1e-9)
            assert bounds.high[part][0, place] == pytest.approx(float(exact.high or 0), rel=1e-9)


def test_the_change_lies_between_opposite_ends() -> None:
    before, after = (missing_bounds(spelled(c), [1], (2,)) for c in ("ggga", "gaa-"))
    change = change_bounds(before, after)
    for part in PARTS:
        low, high = change.low[part][0, 0], change.high[part][0, 0]
        assert low == after.low[part][0, 0] - before.high[part][0, 0]
        assert high == after.high[part][0, 0] - before.low[part][0, 0]
        assert low <= high


def test_without_a_right_answer_gold_and_wrong_have_no_bounds() -> None:
    bounds = missing_bounds(Clouds.of([0] * 2, [0, 1], [OPEN] * 2, n_items=1), [1], (2,))
    assert np.isnan(bounds.low["gold"]).all()
    assert np.isnan(bounds.high["wrong"]).all()
    assert bounds.high["semantic"].tolist() == [[1 / 3]]


def test_numbers_of_lost_draws_that_are_none_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"shape \(2,\)"):
        missing_bounds(spelled("ga"), [1, 1])
    with pytest.raises(InputError, match="from -1"):
        missing_bounds(spelled("ga"), [-1])
    with pytest.raises(InputError, match="float64"):
        missing_bounds(spelled("ga"), [0.5])
