"""What so many items can resolve: exact counts by enumeration, least p-values, differences."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.stats.auroc import rank_wrong_above_right
from trueness.stats.planning import difference_size
from trueness.stats.power import auroc_floor, detectable_difference, hit_power


def at_least(count: int, n: int, p: Fraction) -> Fraction:
    terms = (math.comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(count, n + 1))
    return sum(terms, Fraction(0))


@given(st.integers(1, 25), st.integers(1, 15), st.integers(1, 15), st.integers(1, 15))
def test_the_critical_count_is_the_fewest_hits_that_beat_chance(
    n: int, chance: int, accuracy: int, alpha: int
) -> None:
    p, q, a = Fraction(chance, 16), Fraction(accuracy, 16), Fraction(alpha, 64)
    found = hit_power(n, chance=float(p), accuracy=float(q), alpha=float(a))
    enough = [c for c in range(n + 1) if at_least(c, n, p) <= a]
    if not enough:
        assert (found.critical_hits, found.power) == (None, 0.0)
        return
    assert found.critical_hits == enough[0]
    assert found.power == pytest.approx(float(at_least(enough[0], n, q)), abs=1e-12)


@given(st.integers(1, 7), st.integers(1, 7))
def test_no_exact_p_lies_below_the_floor_and_perfect_separation_attains_it(
    n_wrong: int, n_right: int
) -> None:
    floor = auroc_floor(n_wrong, n_right)
    found = rank_wrong_above_right(range(10, 10 + n_wrong), range(n_right))
    assert found.p_greater == floor.one_sided
    assert found.p_two_sided == floor.two_sided


def test_fifteen_wrong_of_sixteen_can_never_be_significant() -> None:
    assert auroc_floor(15, 1).one_sided > Fraction(1, 20)


@given(st.floats(0.01, 0.9), st.floats(0.1, 2.0))
def test_the_detectable_difference_is_what_the_planned_size_detects(
    effect: float, sd: float
) -> None:
    n = difference_size(effect, sd=sd)
    assert detectable_difference(n, sd=sd) <= effect * (1 + 1e-12)
    if n > 3:
        assert detectable_difference(n - 1, sd=sd) > effect * (1 - 1e-12)


def test_what_has_no_power_is_refused() -> None:
    with pytest.raises(InputError, match="at least 1 item"):
        hit_power(0, chance=0.5, accuracy=0.6)
    with pytest.raises(InputError, match="chance"):
        hit_power(5, chance=0.0, accuracy=0.6)
    with pytest.raises(InputError, match="at least 1 in each"):
        auroc_floor(0, 5)
    with pytest.raises(InputError, match="2 units"):
        detectable_difference(1, sd=0.5)
