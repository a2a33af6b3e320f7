import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.stats.multiplicity import benjamini_hochberg, holm

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "orbits.json").read_text())
VECTORS = [v for v in GOLDEN if v["kind"] == "holm"]


@pytest.mark.parametrize("vector", VECTORS, ids=[v["name"] for v in VECTORS])
def test_golden_adjustments(vector: dict[str, dict[str, Any]]) -> None:
    adjusted = holm([Fraction(str(p)) for p in vector["input"]["p"]])
    assert [str(p) for p in adjusted] == vector["expected"]["adjusted"]


@given(st.lists(st.fractions(0, 1), max_size=6))
def test_adjusting_keeps_order_and_never_lowers(p_values: list[Fraction]) -> None:
    adjusted = holm(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    assert [adjusted[i] for i in order] == sorted(adjusted)


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_what_is_no_probability_is_refused(p: float) -> None:
    with pytest.raises(InputError, match=r"lies in \[0, 1\]"):
        holm([0.5, p])
    with pytest.raises(InputError, match=r"lies in \[0, 1\]"):
        benjamini_hochberg([0.5, p])


@given(st.lists(st.fractions(0, 1), max_size=7), st.fractions(0, 1))
def test_adjusted_discoveries_are_those_of_the_step_up_rule(
    p_values: list[Fraction], level: Fraction
) -> None:
    adjusted = benjamini_hochberg(p_values)
    ranked = sorted(p_values)
    passing = [p for i, p in enumerate(ranked, start=1) if p * len(ranked) <= level * i]
    found = [p for p, q in zip(p_values, adjusted, strict=True) if q <= level]
    assert sorted(found) == [p for p in ranked if passing and p <= max(passing)]
    assert all(q <= h for q, h in zip(adjusted, holm(p_values), strict=True))


@given(st.lists(st.floats(0, 1), max_size=7))
def test_discoveries_never_lower_a_p(p_values: list[float]) -> None:
    adjusted = benjamini_hochberg(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))
