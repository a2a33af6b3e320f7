"""What must hold for every claim and every evidence, and exact answers for whole numbers."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from trueness.contract.states import State
from trueness.stats import span_variants
from trueness.stats.span import Span, measure_span
from trueness.stats.span_item import SpanItem
from trueness.stats.span_rules import SpanRules

Floats = NDArray[np.float64]

QUIET = SpanRules(embedding_noise=1e-12)
EVERY = replace(QUIET, dedup="none")
SMALL = st.integers(-4, 4).map(float)


@st.composite
def pairs(draw: st.DrawFn, most: int = 5) -> tuple[Floats, Floats]:
    """A claim that is not zero and some passages of small whole numbers, zero rows included."""
    n, d = draw(st.integers(1, most)), draw(st.integers(2, 7))
    rows = draw(hnp.arrays(np.float64, (n, d), elements=SMALL))
    claim = draw(hnp.arrays(np.float64, (d,), elements=SMALL).filter(np.any))
    return claim, rows


def exact_energy(claim: Floats, rows: Floats) -> Fraction:
    """Squared residual of the unit claim by Gram-Schmidt in fractions."""
    basis: list[list[Fraction]] = []

    def reduced(vector: Floats) -> list[Fraction]:
        left = [Fraction(int(v)) for v in vector]
        for b in basis:
            dots = (x * y for x, y in zip(left, b, strict=True))
            share = sum(dots, Fraction(0)) / sum((y * y for y in b), Fraction(0))
            left = [x - share * y for x, y in zip(left, b, strict=True)]
        return left

    for row in rows:
        left = reduced(row)
        if any(left):
            basis.append(left)
    rest = reduced(claim)
    return sum((x * x for x in rest), Fraction(0)) / sum(Fraction(int(v)) ** 2 for v in claim)


def exact_rank(rows: Floats) -> int:
    return int(np.linalg.matrix_rank(rows))


def clear(span: Span) -> bool:
    """No direction that is kept is near the tolerance, and what is not is exactly null."""
    kept = [s / span.sigma[0] for s in span.sigma]
    return all(s > 1e-3 or s < 1e-7 for s in kept)


@given(pairs())
def test_energy_and_influence_are_those_of_exact_arithmetic(pair: tuple[Floats, Floats]) -> None:
    claim, rows = pair
    span = measure_span(claim, rows, rules=EVERY)
    if not rows.any():
        assert (span.state, span.reason) == (State.DEGENERATE, "evidence_zero")
        return
    assert span.rank == exact_rank(rows)
    if span.rank == len(claim):
        assert span.reason == "rank_equals_dimension"
        return
    assert span.state is State.MEASURED
    exact = exact_energy(claim, rows)
    assert span.energy == pytest.approx(float(exact), abs=1e-12)
    assert span.explained == pytest.approx(1 - float(exact), abs=1e-10)
    for members, value in zip(span.clusters, span.influence or (), strict=False):
        left = np.delete(rows, members, axis=0)
        assert value == pytest.approx(float(exact_energy(claim, left) - exact), abs=1e-11)


@given(pairs(), st.integers(0, 2**32))
def test_a_rotation_changes_nothing(pair: tuple[Floats, Floats], seed: int) -> None:
    claim, rows = pair
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(claim),) * 2))[0]
    before, after = (
        measure_span(c, r, rules=QUIET) for c, r in ((claim, rows), (claim @ turn, rows @ turn))
    )
    assert before.state is after.state
    if before.energy is not None:
        assert after.energy == pytest.approx(before.energy, abs=1e-10)
        assert after.influence == pytest.approx(before.influence, abs=1e-10)


@given(pairs(), st.data())
def test_scale_and_order_change_nothing(pair: tuple[Floats, Floats], data: st.DataObject) -> None:
    claim, rows = pair
    n = len(rows)
    sizes = st.sampled_from([1e-18, 0.125, 1.0, 3.0, 1e18])
    scale = np.array(data.draw(st.lists(sizes, min_size=n, max_size=n)))
    order = data.draw(st.permutations(range(n)))
    before = measure_span(claim, rows, rules=QUIET)
    after = measure_span(claim * 1e9, (rows * scale[:, None])[order], rules=QUIET)
    assert (before.state, before.reason, before.rank) == (after.state, after.reason, after.rank)
    if before.energy is not None:
        assert after.energy == pytest.approx(before.energy, abs=1e-12)
        assert after.bracket == pytest.approx(before.bracket, abs=1e-12)
        known = [v for v in before.axes.values() if v is not None]
        assert [v for v in after.axes.values() if v is not None] == pytest.approx(known, abs=1e-9)


@given(pairs(), st.data())
def test_copies_are_neutral(pair: tuple[Floats, Floats], data: st.DataObject) -> None:
    claim, rows = pair
    more = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=4))
    before = measure_span(claim, rows, rules=QUIET)
    for rules in (QUIET, EVERY):
        after = measure_span(claim, rows[[*range(len(rows)), *more]], rules=rules)
        assert after.state is before.state
        if before.energy is not None:
            assert after.energy == pytest.approx(before.energy, abs=1e-12)


@given(pairs())
def test_energy_never_rises_with_the_cap(pair: tuple[Floats, Floats]) -> None:
    claim, rows = pair
    caps = [replace(QUIET, rank="cap", cap=m) for m in range(1, len(rows) + 2)]
    spans = [measure_span(claim, rows, rules=rules) for rules in caps]
    energies = [s.energy for s in spans if s.energy is not None and s.bracket == (s.energy,) * 2]
    assert all(b <= a + 1e-12 for a, b in pairwise(energies))


@given(pairs(), st.data())
def test_a_passage_never_raises_the_energy(
    pair: tuple[Floats, Floats], data: st.DataObject
) -> None:
    claim, rows = pair
    extra = data.draw(hnp.arrays(np.float64, (1, len(claim)), elements=SMALL))
    before = measure_span(claim, rows, rules=QUIET)
    after = measure_span(claim, np.concatenate([rows, extra]), rules=QUIET)
    if before.energy is not None and after.energy is not None:
        assert after.energy <= before.energy + 1e-12


@given(pairs())
def test_bounds_of_energies_axes_and_influence(pair: tuple[Floats, Floats]) -> None:
    span = measure_span(*pair, rules=QUIET)
    if span.energy is None or span.rank is None or not clear(span):
        return
    best = span.axes["best_sin2"]
    assert best is not None
    assert 0 <= span.energy <= best + 1e-12
    assert span.explained == pytest.approx(1 - span.energy, abs=1e-6)
    if span.sigma[span.rank - 1] >= 0.1 * span.sigma[0]:
        assert span.explained == pytest.approx(1 - span.energy, abs=1e-12)
    for name in ("pr_sigma", "pr_lambda", "entropy_rank_sigma", "entropy_rank_lambda"):
        value = span.axes[name]
        assert value is not None
        assert 1 - 1e-12 <= value <= span.rank + 1e-12
    assert all(v is not None and v >= -1e-12 for v in span.influence or ())


@given(pairs())
def test_variants_lie_above_the_energy(pair: tuple[Floats, Floats]) -> None:
    item = SpanItem(*pair)
    span = measure_span(*pair, rules=QUIET)
    if span.energy is None or not clear(span):
        return
    cone = span_variants.cone(item, QUIET)
    residual = cone.figures["kkt_residual"]
    assert isinstance(residual, float)
    assert residual <= 1e-10
    hull = span_variants.hull(item, QUIET)
    assert hull.value is not None
    assert 0 <= hull.value <= 4 + 1e-12
    others = [cone, span_variants.sigma(item, QUIET), span_variants.ridge(item, QUIET, penalty=0.3)]
    for variant in others:
        assert variant.value is not None
        assert span.energy - 1e-12 <= variant.value <= 1 + 1e-12
    assert cone.value is not None
    assert hull.value >= cone.value - 1e-12
    faint = span_variants.ridge(item, QUIET, penalty=1e-9).value
    assert faint == pytest.approx(span.energy, abs=1e-4)
    affine = span_variants.affine(item, QUIET)
    if affine.value is not None:
        unnormalised = affine.figures["unnormalised"]
        assert isinstance(unnormalised, float)
        assert unnormalised >= span.energy - 1e-10


def test_near_the_tolerance_a_copy_can_raise_the_energy_within_its_tolerance() -> None:
    rows = np.array([[1.0, 0, 0], [1, 2.3e-4, 0]])
    claim = np.array([0.0, 0.04, 1])
    rules = replace(EVERY, embedding_noise=0.0)
    before = measure_span(claim, rows, rules=rules)
    after = measure_span(claim, rows[[0, 1, 0, 0, 0]], rules=rules)
    assert before.energy is not None
    assert after.energy is not None
    assert 1e-4 < after.energy - before.energy < rules.energy_tol


def test_what_is_discarded_without_being_null_can_put_the_cone_below_the_span() -> None:
    item = SpanItem([0.0, 1.0], np.array([[1, 0], [-1, 1e-6]]))
    rules = replace(EVERY, embedding_noise=0.0)
    assert measure_span(item.claim, item.evidence, rules=rules).energy == pytest.approx(1)
    assert span_variants.cone(item, rules).value == pytest.approx(0, abs=1e-9)
