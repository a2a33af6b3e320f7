"""Resampled differences between what two arms keep, against rows that are written out."""

import numpy as np
import pytest

from trueness.stats.weighted_shares import TwoArms, drawn_units, resampled_differences


def written_out(table: TwoArms, times: np.ndarray) -> float:
    """Every row as often as its unit was drawn."""
    rows = np.repeat(np.arange(len(table.units)), times[table.units].astype(int))
    shares = []
    for arm in (table.first, table.second):
        mass = arm[rows].sum()
        if mass == 0:
            return float("nan")
        shares.append((arm[rows] * table.right[rows]).sum() / mass)
    return float(shares[0] - shares[1])


def tables(rng: np.random.Generator) -> list[TwoArms]:
    made = []
    for population, n in (("capital", 5), ("capital", 5), ("currency", 3)):
        right = rng.integers(0, 2, n).astype(np.float64)
        first = rng.integers(0, 2, n).astype(np.float64)
        made.append(TwoArms(population, np.arange(n), right, first, rng.random(n)))
    return made


def test_each_resample_is_the_mean_over_tables_that_kept_something() -> None:
    rng = np.random.default_rng(0)
    made = tables(rng)
    drawn = drawn_units([(t.population, t.units) for t in made], rng, 200)
    assert {name: w.shape for name, w in drawn.items()} == {
        "capital": (200, 5),
        "currency": (200, 3),
    }
    assert all((w.sum(axis=1) == w.shape[1]).all() for w in drawn.values())
    wanted = []
    for i in range(200):
        each = [written_out(t, drawn[t.population][i]) for t in made]
        held = [d for d in each if not np.isnan(d)]
        wanted += [sum(held) / len(held)] if held else []
    assert any(np.isnan(written_out(made[0], w)) for w in drawn["capital"])
    assert resampled_differences(made, drawn) == pytest.approx(wanted)


def test_a_resample_in_which_nothing_was_kept_is_left_out() -> None:
    nothing = TwoArms("one", np.arange(2), np.ones(2), np.zeros(2), np.ones(2))
    assert len(resampled_differences([nothing], {"one": np.ones((7, 2))})) == 0


def test_equal_arms_never_differ() -> None:
    rng = np.random.default_rng(1)
    arm = rng.random(6)
    same = TwoArms("one", np.arange(6), rng.integers(0, 2, 6).astype(np.float64), arm, arm)
    drawn = drawn_units([("one", same.units)], rng, 50)
    assert (resampled_differences([same], drawn) == 0).all()
