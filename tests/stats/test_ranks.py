"""Ranks of the right token: brute force, what leaves them alone, and states for what is no rank."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State
from trueness.stats.lens import emergence, lens_curve, rank_summary
from trueness.stats.ranks import gold_ranks, ranks_in_answers, ranks_of_others, token_ranks

Floats = NDArray[np.float64]


@st.composite
def items(draw: st.DrawFn) -> tuple[Floats, list[int]]:
    """Whole logits, so that nothing is lost when they are moved, with ties."""
    n, width = draw(st.integers(1, 4)), draw(st.integers(2, 8))
    rows = st.lists(st.integers(-9, 9), min_size=width, max_size=width)
    z = np.array([draw(rows) for _ in range(n)], np.float64)
    return z, [draw(st.integers(0, width - 1)) for _ in range(n)]


@given(items())
def test_a_rank_counts_the_tokens_above_and_level(pair: tuple[Floats, list[int]]) -> None:
    z, golds = pair
    found = gold_ranks(z, golds)
    for i, g in enumerate(golds):
        row = z[i].tolist()
        assert found.rank[i] == 1 + sum(v > row[g] for v in row)
        assert found.rank_worst[i] == sum(v >= row[g] for v in row)
        assert found.gap[i] == max(row) - row[g]
        assert found.chosen[i] == row.index(max(row))


@given(items())
def test_the_short_way_gives_the_same_ranks(pair: tuple[Floats, list[int]]) -> None:
    z, golds = pair
    z = np.vstack([z, np.full(z.shape[1], np.nan)])
    long, short = gold_ranks(z, [*golds, 0]).rank, token_ranks(z, [*golds, 0])
    np.testing.assert_array_equal(short, long)


@given(items(), st.integers(-50, 50))
def test_a_constant_moves_neither_rank_nor_gap(
    pair: tuple[Floats, list[int]], constant: int
) -> None:
    z, golds = pair
    one, two = gold_ranks(z, golds), gold_ranks(z + constant, golds)
    for name in ("rank", "rank_worst", "gap"):
        assert (getattr(one, name) == getattr(two, name)).all()
    np.testing.assert_allclose(one.p_gold, two.p_gold, rtol=1e-12)


@given(items())
def test_an_increasing_map_moves_no_rank(pair: tuple[Floats, list[int]]) -> None:
    z, golds = pair
    one, two = gold_ranks(z, golds), gold_ranks(z**3 + z, golds)
    assert (one.rank == two.rank).all()
    assert (one.rank_worst == two.rank_worst).all()


@given(items(), st.integers(1, 6))
def test_the_gap_in_spreads_has_no_unit(pair: tuple[Floats, list[int]], power: int) -> None:
    z, golds = pair
    one, two = gold_ranks(z, golds), gold_ranks(z * 2.0**power, golds)
    np.testing.assert_allclose(one.gap_sd, two.gap_sd, rtol=1e-12)
    assert one.states == two.states


def test_probabilities_are_those_of_the_softmax() -> None:
    z = np.random.default_rng(0).normal(size=(5, 40)) * 3
    found = gold_ranks(z, range(5))
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.p_gold, p[np.arange(5), np.arange(5)], rtol=1e-12)
    np.testing.assert_allclose(found.p_chosen, p.max(axis=1), rtol=1e-12)
    np.testing.assert_allclose(found.effective_support, np.exp(-(p * np.log(p)).sum(1)), rtol=1e-12)


def test_the_best_of_several_aliases_counts_and_their_number_is_kept() -> None:
    found = gold_ranks([[3.0, 1.0, 2.0, 0.0]] * 2, [[1, 3], [3, 2, 3]])
    assert found.rank.tolist() == [3.0, 2.0]
    assert found.gold.tolist() == [1, 2]
    assert found.n_aliases.tolist() == [2, 2]


def test_rows_without_a_token_are_in_no_number_and_are_counted() -> None:
    z = np.array([[3.0, 1.0, 2.0, 0.0]])
    padded = np.hstack([z, [[99.0, -99.0]]])
    plain, cut = gold_ranks(z, [1]), gold_ranks(padded, [1], n_tokens=4)
    for name in ("rank", "gap", "gap_sd", "logit_sd", "p_gold", "effective_support"):
        assert getattr(plain, name) == getattr(cut, name)
    assert (plain.n_surplus, cut.n_surplus) == (0, 2)
    assert gold_ranks(padded, [1]).rank[0] == 4  # what counting them would have said
    with pytest.raises(InputError, match="from 0 to 3"):
        gold_ranks(padded, [4], n_tokens=4)


def test_a_logit_that_is_not_finite_spoils_its_row_alone() -> None:
    found = gold_ranks([[1.0, np.nan], [1.0, 0.0], [-np.inf, 1.0]], [0, 1, 1])
    assert [s.value for s in found.states] == ["DEGENERATE", "MEASURED", "DEGENERATE"]
    assert np.isnan(found.rank).tolist() == [True, False, True]
    assert found.chosen.tolist() == [-1, 0, -1]


def test_equal_logits_have_a_rank_and_no_gap_in_spreads() -> None:
    found = gold_ranks([[0.1] * 7], [3])  # whose spread does not round to 0 by itself
    assert found.states == (State.DEGENERATE,)
    assert (found.rank[0], found.rank_worst[0], found.gap[0]) == (1, 7, 0)
    assert np.isnan(found.gap_sd[0])


def test_rank_among_the_answers_leaves_other_tokens_out() -> None:
    z = [[9.0, 1.0, 2.0, 0.0], [0.0, 3.0, np.nan, 1.0]]
    assert ranks_in_answers(z, [1, 1], [1, 2, 3]).tolist()[0] == 2
    assert np.isnan(ranks_in_answers(z, [1, 1], [1, 2, 3])[1])
    assert np.isnan(ranks_in_answers(z[:1], [0], [1, 2, 3])[0])  # gold is no such answer


@given(st.integers(0, 10_000))
def test_a_random_gold_has_the_chance_rank_among_the_answers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    z = np.array([rng.permutation(8.0 * np.arange(5))])
    ranks = [ranks_in_answers(z, [g], range(5))[0] for g in range(5)]
    assert np.mean(ranks) == (5 + 1) / 2


def test_a_type_held_without_the_answer_ranks_all_golds_alike() -> None:
    capitals = [2, 5, 7]
    logits = np.zeros((3, 10)) - np.arange(10) / 10
    logits[:, capitals] = 5.0  # each item prefers every capital
    others = ranks_of_others(logits, capitals)
    own = gold_ranks(logits, capitals)
    assert (own.rank == 1).all()
    assert (others == 1).all()  # gold stands no higher than the golds of others


def test_other_golds_are_those_of_no_alias_of_the_item() -> None:
    z = [[4.0, 3.0, 2.0, 1.0], [4.0, 3.0, 2.0, 1.0], [1.0, np.inf, 0.0, 0.0]]
    found = ranks_of_others(z, [[0, 1], [3], [0]])
    assert found[:2].tolist() == [4.0, 1.5]
    assert np.isnan(found[2])
    assert np.isnan(ranks_of_others(z[:2], [[2], [2]])).all()


def test_summaries_speak_of_the_items_chosen_and_say_when_there_is_none() -> None:
    ranks, wrong = np.array([1.0, 3.0, 50.0, np.nan]), np.array([False, True, True, True])
    found = rank_summary(ranks, wrong)
    assert (found.n, found.n_missing, found.median) == (2, 1, 26.5)
    assert found.within == {10: 1, 1000: 2}
    none = rank_summary(ranks, np.zeros(4, np.bool_))
    assert none.state is State.NO_EVIDENCE
    assert none.median is None


def test_gold_emerges_where_the_median_stays_low() -> None:
    assert emergence([5, 50, 9, 10]) == 2
    assert emergence([50, 5, 11]) is None
    assert emergence([1, 1]) == 0
    assert emergence([np.nan, 1]) == 1
    ranks = np.array([[100, 20, 3], [300, 8, 1], [200, 90, 40]], np.float64)
    curve = lens_curve(ranks)
    assert curve.median.tolist() == [200, 20, 3]
    assert (curve.n, curve.emergence) == (3, 2)
    assert lens_curve(ranks, np.zeros(3, np.bool_)).state is State.NO_EVIDENCE


def test_what_is_no_rank_is_refused() -> None:
    with pytest.raises(InputError, match="count from 1"):
        rank_summary([0.0])
    with pytest.raises(ShapeError, match="one truth value an item"):
        lens_curve([[1.0, 2.0]], [True, False])
    with pytest.raises(ShapeError, match="one row an item"):
        gold_ranks([1.0, 2.0], [0])
    with pytest.raises(ShapeError, match="an item"):
        gold_ranks([[1.0, 2.0]], [0, 1])
    with pytest.raises(InputError, match="no gold"):
        gold_ranks([[1.0, 2.0]], [[]])
    with pytest.raises(InputError, match="token ids"):
        gold_ranks([[1.0, 2.0]], [[0.5]])  # type: ignore[arg-type] # no token
    with pytest.raises(InputError, match="n_tokens"):
        gold_ranks([[1.0, 2.0]], [0], n_tokens=3)
