"""Six numbers of a law: vectors, exactness in any order, intervals, and what they cannot see."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.observers import (
    NUMBERS,
    _varentropy_ends,
    canonical_law,
    endpoint_bounds,
    observe,
    observe_logits,
)

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "atlas_observers.json").read_text())
VECTORS = [v for v in GOLDEN if v["kind"] == "observer"]

Law = NDArray[np.float64]


@st.composite
def laws(draw: st.DrawFn, *, least: int = 1, most: int = 12) -> Law:
    """Laws of a few tokens, some of them without mass, some of them equal."""
    counts = draw(st.lists(st.integers(0, 50), min_size=least, max_size=most).filter(any))
    powers = draw(st.sampled_from([1, 4]))
    mass = np.array(counts, dtype=np.float64) ** powers
    law: Law = mass / mass.sum()
    return law


def plain(law: Law) -> list[float]:
    """The six numbers by their definitions, with exactly rounded sums."""
    p = [x for x in law.tolist() if x > 0]
    shannon = -math.fsum(x * math.log(x) for x in p)
    collision = math.fsum(x * x for x in p)
    mean = -math.fsum(x * x / collision * math.log(x) for x in p)
    top = sorted([*law.tolist(), 0.0], reverse=True)
    return [
        shannon,
        -math.log(collision),
        math.fsum(x * (-math.log(x) - shannon) ** 2 for x in p),
        math.fsum(x * x / collision * (-math.log(x) - mean) ** 2 for x in p),
        top[0],
        top[0] - top[1],
    ]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_golden_vector(vector: dict[str, Any]) -> None:
    seen = observe(vector["input"]["probabilities"]).to_dict()
    for name, wanted in vector["expected"].items():
        assert seen[name] == pytest.approx(wanted, abs=1e-12, rel=0), name


@given(laws())
def test_the_six_numbers_are_those_of_their_definitions(law: Law) -> None:
    np.testing.assert_allclose(observe(law).numbers, plain(law), rtol=0, atol=1e-12)


@given(laws(), st.randoms(use_true_random=False))
def test_the_canonical_form_does_not_depend_on_the_order_of_tokens(law: Law, order: Any) -> None:
    other = law.tolist()
    order.shuffle(other)
    assert canonical_law(other).tobytes() == canonical_law(law).tobytes()
    assert observe(other).numbers.tobytes() == observe(law).numbers.tobytes()


@given(laws(least=3), st.randoms(use_true_random=False))
def test_exchanging_tokens_that_are_not_greedy_is_seen_by_nothing(law: Law, order: Any) -> None:
    greedy = int(np.argmax(law))
    rest = [i for i in range(len(law)) if i != greedy]
    moved = list(rest)
    order.shuffle(moved)
    other = law.copy()
    other[rest] = law[moved]
    if not (other[:greedy] < other[greedy]).all():  # a tie moved in front: another greedy token
        return
    one, two = observe(law), observe(other)
    assert one.numbers.tobytes() == two.numbers.tobytes()
    assert one.greedy == two.greedy


def test_exchanging_the_greedy_token_is_seen_by_greedy_alone() -> None:
    one, two = observe([0.6, 0.3, 0.1]), observe([0.3, 0.6, 0.1])
    assert one.numbers.tobytes() == two.numbers.tobytes()
    assert (int(one.greedy), int(two.greedy)) == (0, 1)


@given(st.lists(st.floats(-30, 30), min_size=2, max_size=20), st.randoms(use_true_random=False))
def test_the_order_of_logits_changes_no_bit(logits: list[float], order: Any) -> None:
    shuffled = list(logits)
    order.shuffle(shuffled)
    one, two = observe_logits(logits), observe_logits(shuffled)
    assert one.numbers.tobytes() == two.numbers.tobytes()
    mass = np.exp(np.array(logits) - max(logits))
    np.testing.assert_allclose(one.numbers, plain(mass / mass.sum()), rtol=0, atol=1e-9)


def test_laws_in_a_batch_get_the_bits_that_each_gets_alone() -> None:
    rng = np.random.default_rng(0)
    batch = rng.dirichlet(np.full(500, 0.05), size=7)
    together = observe(batch)
    for law, numbers, greedy in zip(batch, together.numbers, together.greedy, strict=True):
        alone = observe(law)
        assert numbers.tobytes() == alone.numbers.tobytes()
        assert greedy == alone.greedy


def test_one_outcome_and_tokens_without_mass_leave_no_negative_zero() -> None:
    for law in ([1.0], [1.0, 0.0], [-0.0, 1.0]):
        numbers = observe(law).numbers
        assert numbers.tolist() == [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]
        assert not np.signbit(numbers).any()
    assert observe_logits([-np.inf, 0.0]).numbers.tolist() == [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]


def test_the_canonical_form_has_no_negative_zero() -> None:
    assert not np.signbit(canonical_law([-0.0, 1.0])).any()


def test_of_several_greedy_tokens_the_lowest_is_named() -> None:
    assert int(observe([0.2, 0.4, 0.4]).greedy) == 1


@pytest.mark.parametrize(
    ("law", "word"),
    [
        ([0.5, 0.6], "misses the sum 1"),
        ([1.5, -0.5], "negative"),
        ([np.nan, 1.0], "non-finite"),
        ([np.inf, 0.0], "non-finite"),
        ([], "at least one token"),
        (0.5, "at least one token"),
    ],
)
def test_what_is_no_law_is_refused(law: Any, word: str) -> None:
    with pytest.raises(InputError, match=word):
        observe(law)


@pytest.mark.parametrize("logits", [[np.nan, 0.0], [np.inf, 0.0], [-np.inf, -np.inf]])
def test_logits_without_a_softmax_are_refused(logits: list[float]) -> None:
    with pytest.raises(InputError, match="logits hold"):
        observe_logits(logits)


def test_several_laws_have_no_single_set_of_names() -> None:
    with pytest.raises(ShapeError, match="Take one"):
        observe([[0.5, 0.5], [1.0, 0.0]]).to_dict()


@settings(max_examples=300)
@given(laws(least=2, most=30), st.data())
def test_the_truth_lies_in_the_interval_of_the_largest_probabilities(
    law: Law, data: st.DataObject
) -> None:
    ordered = canonical_law(law)
    positive = int((ordered > 0).sum())
    if positive < 2:
        return
    n_given = data.draw(st.integers(2, positive))
    bounds = endpoint_bounds(np.log(ordered[:n_given]), n_tokens=len(law))
    truth = observe(law).numbers
    for name, low, x, high in zip(NUMBERS, bounds.low, truth, bounds.high, strict=True):
        assert low <= x + 1e-12, name
        assert x <= high + 1e-12, name
    assert bounds.low[4:].tolist() == bounds.high[4:].tolist()
    np.testing.assert_allclose(bounds.low[4:], truth[4:], rtol=0, atol=1e-15)


@settings(max_examples=200)
@given(
    st.lists(st.integers(1, 40), min_size=2, max_size=5),
    st.integers(1, 60),
    st.integers(0, 400),
    st.integers(0, 10_000),
)
def test_no_rest_leaves_the_interval(head: list[int], tail: int, extra: int, seed: int) -> None:
    """Rests on the edge of what is possible: whole tokens, two heights, an even rest."""
    rng = np.random.default_rng(seed)
    known = np.sort(np.array(head, dtype=np.float64))[::-1]
    n_rest = -(-tail // int(known[-1])) + extra
    total = known.sum() + tail
    bounds = endpoint_bounds(np.log(known / total), n_tokens=len(known) + n_rest)
    for rest in rests(float(known[-1]), float(tail), n_rest, rng):
        truth = observe(np.concatenate([known, rest]) / total).numbers
        assert (bounds.low <= truth + 1e-12).all(), rest
        assert (truth <= bounds.high + 1e-12).all(), rest


def rests(least: float, tail: float, n_rest: int, rng: np.random.Generator) -> list[Law]:
    found: list[Law] = []
    whole = int(tail // least)
    for full in {0, whole // 2, max(whole - 1, 0), whole}:
        left, places = tail - full * least, n_rest - full
        if left > 0 and (places <= 0 or left > places * least):
            continue
        rest = np.zeros(n_rest)
        rest[:full] = least
        if left > 0:
            rest[full:] = left / places
        found.append(rest)
        if left > 0 and left <= least:
            packed = np.zeros(n_rest)
            packed[:full] = least
            packed[full] = left
            found.append(packed)
    mixed = rng.dirichlet(np.full(n_rest, 0.3)) * tail
    if mixed.max() <= least:
        found.append(mixed)
    return found


def test_the_ends_of_both_entropies_are_attained() -> None:
    known = np.array([0.4, 0.2])
    bounds = endpoint_bounds(np.log(known), n_tokens=6)
    packed = observe([0.4, 0.2, 0.2, 0.2, 0.0, 0.0]).numbers
    even = observe([0.4, 0.2, 0.1, 0.1, 0.1, 0.1]).numbers
    np.testing.assert_allclose(bounds.low[:2], packed[:2], rtol=0, atol=1e-10)
    np.testing.assert_allclose(bounds.high[:2], even[:2], rtol=0, atol=1e-10)


def test_packing_and_spreading_do_not_bound_the_varentropy() -> None:
    """Why the varentropies have ends of their own."""
    known, n_rest = [0.2, 0.01], 2_000
    packed, even, between = (
        observe([*known, *[0.01] * n, *[(0.79 - n * 0.01) / (n_rest - n)] * (n_rest - n)])
        for n in (79, 0, 31)
    )
    varentropy = NUMBERS.index("varentropy")
    ends = [float(law.numbers[varentropy]) for law in (packed, even)]
    assert float(between.numbers[varentropy]) > max(ends) + 0.5
    bounds = endpoint_bounds(np.log(known), n_tokens=2 + n_rest)
    assert bounds.low[varentropy] <= min(ends)
    assert float(between.numbers[varentropy]) <= bounds.high[varentropy]


@pytest.mark.parametrize("n_rest", [12, 400, 50_000])
@pytest.mark.parametrize("rest", [0.02, 0.3, 0.79])
def test_the_worst_rest_of_two_surprises_is_within_the_upper_end(n_rest: int, rest: float) -> None:
    """The law of the rest that the bound is about, on a grid ten times as fine."""
    p = np.array([0.8 - rest, 0.1, 0.1]) if rest < 0.5 else np.array([0.07, 0.07, 0.07])
    low, high = _varentropy_ends(p, rest, n_rest)
    s0 = float(np.log(n_rest * p[-1] / rest))
    weight = np.expm1(s0) / np.expm1(s := np.linspace(max(s0, 1e-6), s0 + 40, 400_000))
    surprise = np.log(p[-1]) - np.log(p)
    mean = (p * surprise).sum() + rest * weight * s
    spread = (p * surprise**2).sum() + rest * weight * s**2 - mean**2
    assert low <= spread.min() + 1e-9
    assert spread.max() - 1e-9 <= high <= spread.max() * 1.01


def test_the_lower_end_of_the_escort_varentropy_is_attained_by_a_full_rest() -> None:
    bounds = endpoint_bounds(np.log([0.4, 0.2]), n_tokens=4)
    truth = observe([0.4, 0.2, 0.2, 0.2]).numbers
    np.testing.assert_allclose(bounds.low[:4], truth[:4], rtol=0, atol=1e-10)


def test_all_tokens_given_are_points() -> None:
    law = np.array([0.1, 0.6, 0.3])
    bounds = endpoint_bounds(np.log(law), n_tokens=3)
    assert bounds.low.tolist() == bounds.high.tolist()
    np.testing.assert_allclose(bounds.low, observe(law).numbers, rtol=0, atol=1e-12)
    assert bounds.to_dict()["max_p"][0] == pytest.approx(0.6)


def test_greedy_is_unknown_where_a_token_not_given_may_be_as_probable() -> None:
    assert endpoint_bounds(np.log([0.25, 0.25]), n_tokens=10).greedy is None
    assert endpoint_bounds(np.log([0.2, 0.3]), n_tokens=10).greedy == 1
    assert endpoint_bounds(np.log([0.5, 0.5]), n_tokens=10).greedy == 0


@pytest.mark.parametrize(
    ("logprobs", "n_tokens", "word"),
    [
        ([math.log(0.5)], 10, "at least two"),
        ([math.log(0.5)] * 3, 2, "at most all"),
        ([], 0, "at least two"),
        ([math.nan, -1.0], 10, "nan or positive"),
        ([0.5, 0.3], 10, "nan or positive"),
        ([math.log(0.7), math.log(0.6)], 10, "between 0 and"),
        ([math.log(0.5), math.log(0.01)], 3, "size of its vocabulary"),
    ],
)
def test_what_is_no_head_of_a_law_is_refused(
    logprobs: list[float], n_tokens: int, word: str
) -> None:
    with pytest.raises(InputError, match=word):
        endpoint_bounds(logprobs, n_tokens=n_tokens)
