"""Coupling: norms, ratios, rivals and guards; and attention, which is no evidence of it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State
from trueness.stats.attention import attention_mass
from trueness.stats.coupling import (
    NO_CONTROL,
    control_span,
    couple,
    gradient_matches,
    span_norms,
)
from trueness.stats.couplings import coupling_contest, largest_gap_split, ratio_summary
from trueness.stats.witnesses import quiet_gradient, quiet_logit

Floats = NDArray[np.float64]


def gradients(seed: int, *, tokens: int = 7, candidates: int = 3) -> Floats:
    return np.random.default_rng(seed).normal(size=(candidates, tokens, 5))


@given(st.integers(0, 999), st.sets(st.integers(0, 6), min_size=1))
def test_a_span_norm_is_the_root_of_all_squares(seed: int, span: set[int]) -> None:
    g = gradients(seed)
    wanted = [math.sqrt(math.fsum((g[c, list(span)] ** 2).ravel().tolist())) for c in range(3)]
    assert span_norms(g, sorted(span)).tolist() == pytest.approx(wanted, rel=1e-12)


@given(st.integers(0, 999), st.integers(-300, 300))
def test_a_unit_changes_no_ratio_however_small_or_large(seed: int, power: int) -> None:
    g = gradients(seed)
    one, two = couple(g, [2, 3], [1, 4]), couple(g * 2.0**power, [2, 3], [1, 4])
    np.testing.assert_allclose(one.log_ratio, two.log_ratio, atol=1e-9)
    assert one.states == two.states


def test_ratios_use_norms_per_token() -> None:
    g = np.ones((1, 6, 4))  # every token pulls alike
    found = couple(g, [2, 3, 4], [1])
    assert found.entity_norm[0] == pytest.approx(found.control_norm[0] * math.sqrt(3))
    assert found.log_ratio[0] == pytest.approx(0.0)


def test_a_zero_norm_has_no_ratio_and_a_missing_control_says_so() -> None:
    g = gradients(0)
    g[1, 2] = 0.0
    found = couple(g, [2], [1])
    assert [s.value for s in found.states] == ["MEASURED", "DEGENERATE", "MEASURED"]
    assert np.isnan(found.log_ratio).tolist() == [False, True, False]
    bare = couple(g, [2], [])
    assert set(bare.states) == {State.NOT_APPLICABLE}
    assert set(bare.reasons) == {NO_CONTROL}
    assert np.isnan(bare.control_norm).all()
    g[0, 2, 0] = np.nan
    assert couple(g, [2], [1]).states[0] is State.DEGENERATE


@given(st.integers(1, 12), st.sets(st.integers(0, 11), min_size=1, max_size=4))
def test_the_control_has_neither_entity_nor_first_nor_last_token(n: int, entity: set[int]) -> None:
    entity = {t for t in entity if t < n} or {0}
    found = control_span(n, sorted(entity))
    assert not {0, n - 1} & set(found)
    assert not entity & set(found)
    free = [t for t in range(1, n - 1) if t not in entity]
    assert len(found) == min(len(entity), len(free))


def test_a_gradient_is_believed_where_a_central_difference_agrees() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=(4, 3))
    h, u = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))

    def score(x: Floats) -> float:
        return float(np.sin(a * x).sum())

    ends = {"above": score(h + 1e-4 * u), "below": score(h - 1e-4 * u), "step": 1e-4}
    state, off = gradient_matches(a * np.cos(a * h), u, **ends)
    assert state is State.MEASURED
    assert off is not None
    assert off < 1e-5
    assert gradient_matches(1.05 * a * np.cos(a * h), u, **ends)[0] is State.UNSTABLE
    still = gradient_matches(np.zeros((4, 3)), u, above=1.0, below=1.0, step=1e-4)
    assert still == (State.DEGENERATE, None)


def test_no_gradient_at_a_point_and_yet_the_answer_moves() -> None:
    """Local quietness: coupling is 0 and a finite change decides."""
    here = np.zeros(3)
    g = quiet_gradient(here)[np.newaxis, np.newaxis]
    assert span_norms(g, [0]).tolist() == [0.0]
    assert quiet_logit(here, threshold=1.0) < 0 < quiet_logit([1.5, 0, 0], threshold=1.0)


def test_a_mean_of_ratios_and_a_ratio_of_means_differ() -> None:
    found = ratio_summary(
        [1.0, 1.0, 100.0, 0.0], [2.0, 2.0, 50.0, 1.0], [0, 1, 2, 3], rng=np.random.default_rng(0)
    )
    assert found.geometric_mean is not None
    assert found.geometric_mean < 1 < (found.ratio_of_means or 0)
    assert (found.n, found.n_without) == (3, 1)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.geometric_mean <= found.high
    none = ratio_summary([0.0], [1.0], [0], rng=np.random.default_rng(0))
    assert (none.state, none.geometric_mean) == (State.NO_EVIDENCE, None)


def test_rows_of_one_entity_are_resampled_together() -> None:
    logs = np.repeat(np.random.default_rng(0).normal(size=10), 20)
    above, below = np.exp(logs), np.ones(200)
    whole = ratio_summary(above, below, np.repeat(np.arange(10), 20), rng=np.random.default_rng(0))
    apart = ratio_summary(above, below, np.arange(200), rng=np.random.default_rng(0))
    assert whole.high is not None
    assert whole.low is not None
    assert apart.high is not None
    assert apart.low is not None
    assert math.log(whole.high / whole.low) > 3 * math.log(apart.high / apart.low)


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=8))
def test_the_auroc_counts_pairs_of_gold_and_chosen(pairs: list[tuple[int, int]]) -> None:
    scores = np.array(pairs, np.float64)
    found = coupling_contest(scores, -scores, range(len(pairs)), seed=0, n_resamples=10)
    wins = sum((g > c) + (g == c) / 2 for g, _ in pairs for _, c in pairs)
    assert found.by_coupling == pytest.approx(wins / len(pairs) ** 2)
    assert found.by_logit == pytest.approx(1 - wins / len(pairs) ** 2)


def test_a_coupling_that_copies_the_logit_adds_nothing() -> None:
    scores = np.random.default_rng(0).normal(size=(20, 2))
    found = coupling_contest(3 * scores, scores, range(20), seed=1)
    assert (found.difference, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)
    better = coupling_contest(scores + np.array([3.0, 0.0]), scores, range(20), seed=1)
    assert better.low is not None
    assert better.low > 0
    assert better.p is not None
    assert better.p < 0.01
    none = coupling_contest(np.zeros((0, 2)), np.zeros((0, 2)), [], seed=0)
    assert none.state is State.NO_EVIDENCE


@given(st.lists(st.integers(0, 30), min_size=3, max_size=7))
def test_candidates_are_cut_at_the_widest_gap(norms: list[int]) -> None:
    found = largest_gap_split(norms)
    ordered = sorted(norms)
    gaps = [b - a for a, b in zip(ordered, ordered[1:], strict=False)]  # noqa: RUF007 - plain
    if not max(gaps):
        assert found.state is State.DEGENERATE
        return
    cut = ordered[gaps.index(max(gaps))]
    assert found.upper == tuple(n > cut for n in norms)
    assert found.gap == max(gaps)


def test_random_splits_of_the_same_sizes_are_what_a_split_has_to_beat() -> None:
    found = largest_gap_split([1.0, 1.2, 9.0, 9.1, 9.2])
    rng = np.random.default_rng(0)
    drawn = np.array([rng.permutation(found.upper) for _ in range(20_000)])
    assert found.random_upper == pytest.approx(drawn[:, 0].mean(), abs=0.02)
    assert found.random_apart == pytest.approx((drawn[:, 0] & ~drawn[:, 1]).mean(), abs=0.02)
    assert largest_gap_split([1.0, 2.0]).state is State.NOT_APPLICABLE


def test_attention_leaves_the_first_token_out_and_prints_it() -> None:
    rng = np.random.default_rng(0)
    a = rng.dirichlet(np.ones(6), size=(6, 3))
    whole, last = attention_mass(a, [2, 3], [1])
    mean = a.mean(axis=(0, 1))
    assert whole.first_token == pytest.approx(mean[0])
    assert whole.entity == pytest.approx(mean[2] + mean[3])
    assert whole.entity_per_token == pytest.approx((mean[2] + mean[3]) / 2)
    assert whole.control == pytest.approx(mean[1])
    law = mean[1:] / mean[1:].sum()
    assert whole.entropy == pytest.approx(-(law * np.log(law)).sum())
    assert last.layers == (4, 6)
    assert last.entity == pytest.approx(a[4:].mean(axis=(0, 1))[[2, 3]].sum())


def test_padding_behind_a_prompt_is_no_token() -> None:
    a = np.random.default_rng(0).dirichlet(np.ones(4), size=(3, 2))
    padded = np.concatenate([a, np.full((3, 2, 2), np.nan)], axis=-1)
    assert attention_mass(padded, [2], [1]) == attention_mass(a, [2], [1])
    for bad in (np.full((1, 1, 3), np.nan), [[[np.nan, 1.0]]]):
        with pytest.raises(InputError, match="softmax"):
            attention_mass(bad, [1], [])
    with pytest.raises(InputError, match="distinct positions"):
        attention_mass(padded, [4], [])


def test_attention_on_the_first_token_alone_has_no_entropy_of_the_rest() -> None:
    whole, _ = attention_mass([[[1.0, 0.0, 0.0]]], [1], [])
    assert (whole.entropy, whole.control, whole.control_per_token) == (None, None, None)


def test_what_is_no_coupling_is_refused() -> None:
    g = gradients(0)
    for span in ([], [7], [-1], [1, 1]):
        with pytest.raises(InputError, match="distinct positions"):
            span_norms(g, span)
    with pytest.raises(InputError, match="share a token"):
        couple(g, [1], [1])
    with pytest.raises(ShapeError, match="one prompt"):
        couple(g[0], [1], [2])
    with pytest.raises(ShapeError, match="n_tokens"):
        span_norms([1.0], [0])
    with pytest.raises(ShapeError, match="step"):
        gradient_matches([[1.0]], [[1.0]], above=1.0, below=0.0, step=0.0)
    with pytest.raises(ShapeError, match="one an item"):
        ratio_summary([1.0], [1.0, 2.0], [0], rng=np.random.default_rng(0))
    with pytest.raises(ShapeError, match="gold and chosen"):
        coupling_contest([[1.0]], [[1.0]], [0], seed=0)
    with pytest.raises(ShapeError, match="n_candidates"):
        largest_gap_split([[1.0]])
    with pytest.raises(InputError, match="not finite"):
        largest_gap_split([1.0, 2.0, np.inf])
    with pytest.raises(InputError, match="first token"):
        attention_mass([[[0.5, 0.5]]], [0], [])
    with pytest.raises(InputError, match="softmax"):
        attention_mass([[[0.5, 0.9]]], [1], [])
    with pytest.raises(ShapeError, match="n_layers"):
        attention_mass([[0.5, 0.5]], [1], [])
