"""Comparing widths: what rotation and scale leave alone, and what a projection adds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State
from trueness.stats.frames import (
    distance_matrix_correlation,
    gaussian_projection,
    jl_eps,
    linear_cka,
    norm_ratios,
    permuted_similarities,
    similarity_p,
)

Floats = NDArray[np.float64]


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Floats, Floats, np.random.Generator]:
    n, a, b = draw(st.integers(3, 9)), draw(st.integers(1, 6)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 9_999)))
    return rng.normal(size=(n, a)), rng.normal(size=(n, b)), rng


@given(pairs(), st.floats(0.01, 100))
def test_cka_and_distances_ignore_rotation_scale_and_place(
    given_: tuple[Floats, Floats, np.random.Generator], scale: float
) -> None:
    x, y, rng = given_
    turn = np.linalg.qr(rng.normal(size=(y.shape[1],) * 2))[0]
    moved = scale * y @ turn + rng.normal(size=y.shape[1])
    for measure in (linear_cka, distance_matrix_correlation):
        one, two, back = measure(x, y), measure(x, moved), measure(y, x)
        assert one.value is not None
        assert two.value == pytest.approx(one.value, abs=1e-9)
        assert back.value == pytest.approx(one.value, abs=1e-12)
        assert -1 <= one.value <= 1
        same = measure(y, moved)
        assert same.value == pytest.approx(1.0)


@given(pairs())
def test_cka_is_that_of_its_definition(
    given_: tuple[Floats, Floats, np.random.Generator],
) -> None:
    x, y, _ = given_
    a, b = x - x.mean(axis=0), y - y.mean(axis=0)
    wanted = np.linalg.norm(b.T @ a) ** 2
    wanted /= np.linalg.norm(a.T @ a) * np.linalg.norm(b.T @ b)
    assert linear_cka(x, y).value == pytest.approx(wanted, abs=1e-12)


def test_distances_are_correlated_over_all_pairs() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(6, 3)), rng.normal(size=(6, 4))
    rows, columns = np.triu_indices(6, 1)
    a = np.linalg.norm(x[rows] - x[columns], axis=1)
    b = np.linalg.norm(y[rows] - y[columns], axis=1)
    assert distance_matrix_correlation(x, y).value == pytest.approx(np.corrcoef(a, b)[0, 1])


def test_states_that_do_not_vary_have_no_similarity() -> None:
    x, flat = np.arange(6.0).reshape(3, 2), np.full((3, 4), 0.1)
    assert linear_cka(x, flat).state is State.DEGENERATE
    assert distance_matrix_correlation(flat, x).state is State.DEGENERATE


def test_one_seed_gives_no_one_frame_for_two_widths() -> None:
    narrow, wide = gaussian_projection(64, 8, seed=0), gaussian_projection(96, 8, seed=0)
    cosine = np.vdot(narrow.matrix, wide.matrix[:, :64])
    cosine /= np.linalg.norm(narrow.matrix) * np.linalg.norm(wide.matrix[:, :64])
    assert abs(cosine) < 0.9
    assert narrow.to_dict() == {"seed": 0, "k": 8, "width": 64, "numpy": np.__version__}


def test_a_projected_ratio_is_never_nearer_than_the_raw_one() -> None:
    """A planted ratio of lengths is read exactly without any frame; frames only add noise."""
    rng = np.random.default_rng(0)
    base = rng.normal(size=(160, 300))
    above = base @ np.linalg.qr(rng.normal(size=(300, 300)))[0] * 1.33
    raw = norm_ratios(above, base)
    assert np.abs(raw - 1.33).max() < 1e-9
    for k in (64, 256):
        frame = gaussian_projection(300, k, seed=1)
        projected = norm_ratios(frame.apply(above), frame.apply(base))
        spread = projected.std() / projected.mean()
        assert spread == pytest.approx(jl_eps(2, k).ratio_relative_sd, rel=0.3)
        assert abs(projected.mean() - 1.33) >= np.abs(raw - 1.33).max()


def test_lengths_vary_as_said_under_projection() -> None:
    state = np.random.default_rng(12_345).normal(size=400)  # a seed that no frame has
    lengths = [
        np.linalg.norm(gaussian_projection(400, 64, seed=s).apply(state)) for s in range(300)
    ]
    spread = np.std(lengths) / np.linalg.norm(state)
    assert spread == pytest.approx(jl_eps(2, 64).norm_relative_sd, rel=0.15)


@given(st.integers(2, 500), st.integers(1, 4096), st.floats(0.001, 0.5))
def test_the_bound_is_given_only_where_it_bounds(n: int, k: int, failure: float) -> None:
    found = jl_eps(n, k, failure=failure)
    eps = math.sqrt(8 * math.log(n / failure) / k)
    assert (found.state is State.MEASURED) == (eps < 1)
    assert found.eps == (eps if eps < 1 else None)


def test_no_pair_is_distorted_beyond_the_bound() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(10, 500))
    eps = jl_eps(10, 400, failure=0.1).eps
    assert eps is not None
    rows, columns = np.triu_indices(10, 1)
    failed = 0
    for seed in range(50):
        z = gaussian_projection(500, 400, seed=seed).apply(x)
        ratio = np.linalg.norm(z[rows] - z[columns], axis=1)
        ratio /= np.linalg.norm(x[rows] - x[columns], axis=1)
        failed += bool((np.abs(ratio**2 - 1) > eps).any())
    assert failed <= 5


def test_what_does_not_compare_is_refused() -> None:
    with pytest.raises(InputError, match="the target is 65"):
        gaussian_projection(64, 65, seed=0)
    with pytest.raises(ShapeError, match="projected width"):
        gaussian_projection(4, 2, seed=0).apply([1.0, 2.0])
    with pytest.raises(InputError, match="2 points"):
        jl_eps(1, 4)
    with pytest.raises(ShapeError, match="Align"):
        linear_cka([[1.0], [2.0]], [[1.0], [2.0], [3.0]])
    with pytest.raises(ShapeError, match="at least 3"):
        distance_matrix_correlation([[1.0], [2.0]], [[1.0], [2.0]])
    with pytest.raises(InputError, match="finite"):
        linear_cka([[1.0], [np.nan]], [[1.0], [2.0]])
    with pytest.raises(ShapeError, match="n_items"):
        linear_cka([1.0, 2.0], [1.0, 2.0])
    with pytest.raises(ShapeError, match="same items"):
        norm_ratios([[1.0]], [[1.0], [2.0]])
    assert np.isnan(norm_ratios([[1.0]], [[0.0]])[0])


def test_permuted_similarities_are_those_of_permuted_items() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(8, 5)), rng.normal(size=(8, 11))
    null = permuted_similarities(x, y, rng=np.random.default_rng(9), n_permutations=20)
    again = np.random.default_rng(9)
    for cka, distances in zip(null.cka, null.distances, strict=True):
        order = again.permutation(8)
        assert cka == pytest.approx(linear_cka(x, y[order]).value, rel=1e-10)
        wanted = distance_matrix_correlation(x, y[order]).value
        assert distances == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def test_permuted_similarities_of_states_that_do_not_vary_are_none() -> None:
    still = np.ones((4, 3))
    null = permuted_similarities(still, still, rng=np.random.default_rng(0), n_permutations=3)
    assert np.isnan(null.cka).all()
    with pytest.raises(InputError, match="wanted at least one"):
        permuted_similarities(still, still, rng=np.random.default_rng(0), n_permutations=0)


@pytest.mark.parametrize("seed", range(40))
def test_orders_that_give_a_similarity_again_are_counted(seed: int) -> None:
    """Of four items one order in twenty-four is the given one, whatever its last bits."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(4, 5))
    turned = x @ np.linalg.qr(rng.normal(size=(5, 5)))[0]
    null = permuted_similarities(x, turned, rng=rng, n_permutations=2_400)
    pairs = (linear_cka, null.cka), (distance_matrix_correlation, null.distances)
    for similarity, drawn in pairs:
        found = similarity(x, turned).value
        assert found is not None
        assert similarity_p(found, drawn) > 0.025
