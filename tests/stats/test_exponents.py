"""Growth rates of products: exact determinants, invariances, dimension in fractions, settling."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State
from trueness.stats.exponents import Product, block_product, growth
from trueness.stats.kaplan_yorke import filtration_sweep, growth_filtration, kaplan_yorke
from trueness.stats.settling import ASSUMPTIONS, settling
from trueness.stats.witnesses import log_volume_change

Floats = NDArray[np.float64]


@st.composite
def products(draw: st.DrawFn) -> list[Floats]:
    width, n = draw(st.integers(1, 5)), draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    return list(rng.normal(size=(n, width, width)))


rationals = st.fractions(min_value=-5, max_value=5, max_denominator=12)
spectra = st.lists(rationals, min_size=1, max_size=8)


def gram_log(columns: list[list[Fraction]]) -> float:
    """Half the logarithm of an exact Gram determinant."""
    gram = [
        [sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0)) for v in columns]
        for u in columns
    ]
    det = Fraction(1)
    for i in range(len(gram)):
        det *= gram[i][i]
        for r in range(i + 1, len(gram)):
            factor = gram[r][i] / gram[i][i]
            gram[r] = [a - factor * b for a, b in zip(gram[r], gram[i], strict=True)]
    return (math.log(det.numerator) - math.log(det.denominator)) / 2


def test_rates_are_those_of_exact_gram_determinants() -> None:
    rng = np.random.default_rng(3)
    steps = [rng.integers(-3, 4, size=(3, 3)) + 5 * np.eye(3, dtype=np.int64) for _ in range(12)]
    whole = [[Fraction(int(i == j)) for j in range(3)] for i in range(3)]
    for j in steps:
        whole = [
            [sum((int(a) * whole[k][c] for k, a in enumerate(row)), Fraction(0)) for c in range(3)]
            for row in j
        ]
    columns = [[whole[r][c] for r in range(3)] for c in range(3)]
    logs = [0.0, *(gram_log(columns[: i + 1]) for i in range(3))]
    found = growth(steps, product=Product.BLOCK, frame="identity")
    assert found.in_frame == pytest.approx(np.diff(logs) / 12, abs=1e-10)


@given(products(), st.integers(0, 9))
def test_their_sum_is_the_mean_log_determinant(steps: list[Floats], seed: int) -> None:
    found = growth(steps, product=Product.TOKEN, seed=seed)
    assert found.total is not None
    wanted = sum(np.linalg.slogdet(j)[1] for j in steps) / len(steps)
    assert found.total == pytest.approx(wanted, abs=1e-7)
    assert log_volume_change(found.exponents, steps=len(steps)) == pytest.approx(
        wanted * len(steps), abs=1e-6
    )


@given(products(), st.integers(-8, 8))
def test_a_factor_adds_its_logarithm_and_a_time_step_divides(
    steps: list[Floats], octaves: int
) -> None:
    c = 2.0**octaves
    one = growth(steps, product=Product.TOKEN)
    two = growth([c * j for j in steps], product=Product.TOKEN)
    half = growth(steps, product=Product.TOKEN, dt=0.5)
    np.testing.assert_allclose(two.exponents, one.exponents + math.log(c), atol=1e-9)
    np.testing.assert_allclose(half.exponents, 2 * one.exponents, atol=1e-9)
    assert (np.diff(one.exponents) <= 0).all()


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 999))
def test_orthogonal_steps_grow_nothing(width: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    steps = [np.linalg.qr(rng.normal(size=(width, width)))[0] for _ in range(n)]
    found = growth(steps, product=Product.BLOCK)
    np.testing.assert_allclose(found.exponents, 0.0, atol=1e-12)


def test_an_identity_frame_need_not_be_sorted() -> None:
    found = growth([np.diag([0.5, 2.0])] * 5, product=Product.TOKEN, frame="identity")
    assert found.in_frame.tolist() == pytest.approx([-math.log(2), math.log(2)])
    assert found.exponents.tolist() == pytest.approx([math.log(2), -math.log(2)])
    assert found.n_order_violations == 1


def test_a_dead_direction_is_counted_and_never_a_large_negative_number() -> None:
    dead_first = [np.diag([0.0, 2.0, 1.0])] + [np.diag([3.0, 2.0, 1.0])] * 3
    found = growth(dead_first, product=Product.TOKEN, frame="identity")
    assert np.isnan(found.in_frame).tolist() == [True, False, False]
    assert found.exponents.tolist() == pytest.approx([math.log(2), 0.0])
    assert (found.n_dead, found.total) == (1, None)
    all_dead = growth([np.eye(2), np.zeros((2, 2)), np.eye(2)], product=Product.TOKEN)
    assert (all_dead.n_dead, len(all_dead.exponents)) == (2, 0)
    assert all_dead.dimension.value == 0.0


def test_what_stands_behind_a_dead_direction_grows_as_if_it_were_not_there() -> None:
    rng = np.random.default_rng(0)
    turned, after = rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    found = growth(
        [turned @ np.diag([0.0, 1.0, 1.0]), after], product=Product.TOKEN, frame="identity"
    )
    columns = (after @ turned)[:, 1:]
    areas = [np.linalg.det(columns[:, :k].T @ columns[:, :k]) for k in (1, 2)]
    wanted = np.diff([0.0, *np.log(areas) / 2]) / 2
    assert np.isnan(found.in_frame[0])
    assert found.in_frame[1:] == pytest.approx(wanted, abs=1e-12)


@given(st.integers(2, 6), st.integers(0, 999))
def test_as_many_directions_die_as_the_rank_lacks(width: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    low = np.diag(np.r_[np.ones(width - 1), 0.0])
    turns = [np.linalg.qr(rng.normal(size=(width, width)))[0] for _ in range(3)]
    steps = [turns[0], turns[1] @ low @ turns[2], turns[1]]
    assert growth(steps, product=Product.BLOCK, seed=seed).n_dead == 1


def test_rounding_alone_keeps_no_direction_alive() -> None:
    """A column of the frame that hardly grows hides how large the matrix is."""
    a, b = 0.30713, math.sqrt(1 - 0.30713**2)
    n_dead = [
        growth([turn, np.outer([a, b], [c, s])], product=Product.TOKEN, seed=seed).n_dead
        for seed in range(40)
        for c, s in ((0.0468, 0.9989), (0.3, math.sqrt(0.91)))
        for turn in (np.array([[s, -c], [c, s]]),)
    ]
    assert set(n_dead) == {1}


def test_a_block_product_is_the_derivative_end_to_end() -> None:
    """Three causal blocks: by the mask, earlier rows do not move with the last one."""
    rng = np.random.default_rng(0)
    width, n_rows, n_blocks = 3, 4, 3
    w = rng.normal(size=(n_blocks, width, width))

    def block(rows: NDArray[np.complex128], l: int, *, masked: bool) -> NDArray[np.complex128]:  # noqa: E741 - a layer
        out = []
        for t, row in enumerate(rows):
            seen = rows[: t + 1] if masked else rows
            scores = np.exp(seen @ row / width)
            out.append(row + np.tanh(w[l] @ (scores @ seen / scores.sum())))
        return np.array(out)

    def end_to_end(rows: NDArray[np.complex128], t: int, *, masked: bool) -> Floats:
        columns = []
        for e in np.eye(width):
            moved = rows.astype(np.complex128)
            moved[t] = moved[t] + 1e-30j * e
            for l in range(n_blocks):  # noqa: E741 - as above
                moved = block(moved, l, masked=masked)
            columns.append(moved[t].imag / 1e-30)
        return np.stack(columns, axis=1)

    start = rng.normal(size=(n_rows, width)).astype(np.complex128)
    for masked in (True, False):
        rows, jacobians, t = start, [], 1
        for l in range(n_blocks):  # noqa: E741 - as above
            columns = []
            for e in np.eye(width):
                moved = rows.copy()
                moved[t] = moved[t] + 1e-30j * e
                columns.append(block(moved, l, masked=masked)[t].imag / 1e-30)
            jacobians.append(np.stack(columns, axis=1))
            rows = block(rows, l, masked=masked).real.astype(np.complex128)
        off = np.abs(block_product(jacobians) - end_to_end(start, t, masked=masked)).max()
        assert (off < 1e-12) == masked  # without the mask it is the derivative of nothing


@given(spectra)
def test_the_dimension_is_that_of_its_definition(exponents: list[Fraction]) -> None:
    found = kaplan_yorke(exponents)
    ordered = sorted(exponents, reverse=True)
    sums = [sum(ordered[:j], Fraction(0)) for j in range(len(ordered) + 1)]
    if min(sums) >= 0:
        assert (found.state, found.exact) == (State.NOT_APPLICABLE, None)
        return
    j = max(i for i, s in enumerate(sums) if s >= 0)
    assert found.exact == j + sums[j] / abs(ordered[j])
    assert 0 <= found.exact < len(ordered)
    assert found.embedding_bound is not None
    assert found.embedding_bound > 2 * found.exact >= found.embedding_bound - 1
    assert found.embedding_bound_published in (found.embedding_bound, found.embedding_bound + 1)


@given(spectra, st.fractions(min_value=Fraction(1, 9), max_value=9, max_denominator=9))
def test_the_dimension_has_no_unit(exponents: list[Fraction], c: Fraction) -> None:
    assert kaplan_yorke(exponents).exact == kaplan_yorke([c * x for x in exponents]).exact


@given(spectra, st.integers(0, 7), st.fractions(min_value=0, max_value=3, max_denominator=9))
def test_raising_an_exponent_lowers_no_dimension(
    exponents: list[Fraction], at: int, by: Fraction
) -> None:
    raised = list(exponents)
    raised[at % len(raised)] += by
    one, two = kaplan_yorke(exponents), kaplan_yorke(raised)
    if two.exact is not None:
        assert one.exact is not None
        assert two.exact >= one.exact


def test_dead_directions_end_the_sum_without_a_fraction() -> None:
    assert kaplan_yorke([1, Fraction(1, 2)], n_dead=3).exact == 2
    assert kaplan_yorke([1, -2], n_dead=1).exact == Fraction(3, 2)
    assert kaplan_yorke([], n_dead=2).exact == 0
    assert kaplan_yorke([1.0, math.nan]).state is State.DEGENERATE
    with pytest.raises(InputError, match="at least one"):
        kaplan_yorke([])


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=9), st.data())
def test_levels_coarsen_with_the_tolerance_and_ignore_order(
    exponents: list[int], data: st.DataObject
) -> None:
    tolerances = sorted(data.draw(st.lists(st.integers(0, 40), min_size=2, max_size=4)))
    found = [growth_filtration(exponents, tolerance=t) for t in tolerances]
    assert [len(f.levels) for f in found] == sorted((len(f.levels) for f in found), reverse=True)
    for fine, coarse in pairwise(found):
        edges = set(np.cumsum(coarse.multiplicities).tolist())
        assert edges <= set(np.cumsum(fine.multiplicities).tolist())
        assert coarse.entropy <= fine.entropy + 1e-12
    shuffled = data.draw(st.permutations(exponents))
    assert growth_filtration(shuffled, tolerance=tolerances[0]) == found[0]
    assert sum(found[0].multiplicities) == len(exponents)


def test_the_sweep_ends_in_one_level_and_a_lone_exponent_has_no_ratio() -> None:
    sweep = filtration_sweep(np.random.default_rng(0).normal(size=50))
    assert len(sweep) == 13
    assert len(sweep[-1].levels) == 1
    assert sweep[0].entropy_ratio == pytest.approx(1.0)  # nothing beyond the sorted list
    assert growth_filtration([2.0], tolerance=0.0).entropy_ratio is None


def test_a_long_product_of_one_matrix_settles() -> None:
    steps = [np.diag([2.0, 0.9, 0.2])] * 60
    found = settling([growth(steps, product=Product.TOKEN, seed=s) for s in (0, 1)])
    assert (found.state, found.reason) == (State.MEASURED, None)
    assert found.dimension_by_step["all"].value == pytest.approx(2.365, abs=0.05)
    assert found.assumptions == ASSUMPTIONS
    assert found.steps_to_separate is not None


def test_a_product_shorter_than_its_width_is_unstable_however_little_it_still_changes() -> None:
    steps = list(np.random.default_rng(0).normal(size=(39, 60, 60)) / math.sqrt(60))
    found = settling([growth(steps, product=Product.TOKEN, seed=s) for s in (0, 1)])
    assert found.state is State.UNSTABLE
    assert "39 steps" in (found.reason or "")
    assert found.last_change is not None
    assert found.last_change < 0.02  # which proves nothing


def test_a_drifting_product_is_unstable() -> None:
    early, late = [np.diag([1.5, 0.5, 0.4])] * 20, [np.diag([1.5, 1.2, 0.01])] * 20
    found = settling([growth(early + late, product=Product.TOKEN, seed=s) for s in (0, 1)])
    assert found.state is State.UNSTABLE
    assert "half" in (found.reason or "")


def test_frames_that_disagree_are_unstable() -> None:
    steps = [np.diag([2.0, 0.3])] * 8
    one = growth(steps, product=Product.TOKEN, seed=0)
    two = growth([np.diag([2.0, 0.9])] * 8, product=Product.TOKEN, seed=0)
    found = settling([one, two])
    assert found.state is State.UNSTABLE
    assert "frame" in (found.reason or "")


def test_one_step_can_be_looked_at() -> None:
    found = settling([growth([[[0.5]]], product=Product.BLOCK, seed=s) for s in (0, 1)])
    assert (found.last_change, found.second_half) == (None, None)
    assert found.dimension_by_step["all"].value == 0.0


def test_the_two_products_are_never_mixed() -> None:
    block, token = (growth([np.eye(2)], product=p) for p in Product)
    assert (block.product, token.product) == (Product.BLOCK, Product.TOKEN)
    with pytest.raises(InputError, match="of 2 products"):
        settling([block, token])
    with pytest.raises(InputError, match="seed=1"):
        settling([block])


@settings(max_examples=20)
@given(products())
def test_the_trace_ends_in_the_rates(steps: list[Floats]) -> None:
    found = growth(steps, product=Product.BLOCK)
    np.testing.assert_array_equal(found.trace[-1], found.in_frame)
    assert found.trace.shape == (len(steps), len(steps[0]))
    first = growth(steps[:1], product=Product.BLOCK)
    np.testing.assert_allclose(found.trace[0], first.in_frame, atol=1e-12)


def test_what_is_no_product_is_refused() -> None:
    with pytest.raises(InputError, match="empty"):
        growth([], product=Product.BLOCK)
    with pytest.raises(InputError, match="empty"):
        block_product([])
    with pytest.raises(ShapeError, match="step 1"):
        growth([np.zeros((2, 3))], product=Product.BLOCK)
    with pytest.raises(ShapeError, match="step 2"):
        growth([np.eye(2), np.eye(3)], product=Product.BLOCK)
    with pytest.raises(InputError, match="dt"):
        growth([np.eye(2)], product=Product.BLOCK, dt=0.0)
    with pytest.raises(InputError, match="nan"):
        growth([np.eye(2) * np.nan], product=Product.BLOCK)
    with pytest.raises(InputError, match="frame"):
        growth([np.eye(2)], product=Product.BLOCK, frame="none")
    with pytest.raises(InputError, match="counted from 1"):
        growth([np.eye(2)], product=Product.BLOCK).after(2)
    with pytest.raises(InputError, match="dead"):
        growth_filtration([1.0, -np.inf], tolerance=0.1)
    with pytest.raises(InputError, match="tolerance"):
        growth_filtration([1.0], tolerance=-1.0)
    with pytest.raises(InputError, match="at least 2 tolerances"):
        filtration_sweep([1.0], n=1)
    with pytest.raises(ShapeError, match="at least one"):
        growth_filtration([], tolerance=0.0)
