"""What must hold of the atlas whatever the draws are, against counting by hand."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from atlas_tables import ERROR, Cell, drawn
from hypothesis import given, settings
from hypothesis import strategies as st

from trueness.contract import Reading, State
from trueness.sensors.atlas import Params, clouds_of, compare, measure
from trueness.stats.clouds import PARTS
from trueness.table import AnswerTable, Column, stored

QUICK = Params(replicates=100)
MIRROR = {
    "near_isospectral_inversion": "recovery",
    "recovery": "near_isospectral_inversion",
    "no_answer_attractor": "answering_up",
    "unchanged": "unchanged",
}
Slice = dict[str, tuple[Cell, ...]]

cells = st.sampled_from(("g", "a", "b", None))
clouds = st.lists(cells, min_size=1, max_size=7).map(tuple)


def slices(smallest: int = 1) -> st.SearchStrategy[list[tuple[tuple[Cell, ...], tuple[Cell, ...]]]]:
    return st.lists(st.tuples(clouds, clouds), min_size=smallest, max_size=5)


def named(found: Sequence[tuple[Cell, ...]]) -> Slice:
    return {f"q{i}": cloud for i, cloud in enumerate(found)}


def counted(cloud: Sequence[Cell], order: int, gold: str | None = "g") -> dict[str, Fraction]:
    """The parts by listing every subset of the draws."""
    subsets = list(combinations([c for c in cloud if c != ERROR], order))
    agree = [s[0] for s in subsets if len(set(s)) == 1]
    n = {
        "total": len(agree),
        "gold": agree.count(gold),
        "wrong": sum(a not in {gold, None} for a in agree),
        "none": agree.count(None),
        "semantic": sum(a is not None for a in agree),
    }
    return {part: Fraction(count, len(subsets)) for part, count in n.items()}


def by_hand(items: Slice, order: int, part: str) -> Fraction | None:
    values = [counted(c, order)[part] for c in items.values() if len(c) >= order]
    return sum(values, Fraction(0)) / len(values) if values else None


def close(one: float | None, two: Fraction | None) -> bool:
    if one is None or two is None:
        return one is None and two is None
    return abs(one - float(two)) < 1e-12


def parts_of(found: Reading) -> Any:
    return found.details["parts"]


@settings(max_examples=40, deadline=None)
@given(st.lists(clouds, min_size=1, max_size=5))
def test_every_part_is_the_share_of_subsets_that_agree(found: list[tuple[Cell, ...]]) -> None:
    items = named(found)
    reading = measure(drawn(items), QUICK)
    enough = any(len(c) > 1 for c in found)
    assert (reading.state is State.MEASURED) is enough
    for order in (2, 3, 4):
        for part in PARTS:
            assert close(parts_of(reading)[str(order)][part], by_hand(items, order, part))


@settings(max_examples=30, deadline=None)
@given(slices())
def test_a_change_is_the_difference_of_the_counts(
    found: list[tuple[tuple[Cell, ...], tuple[Cell, ...]]],
) -> None:
    one, two = (named([pair[side] for pair in found]) for side in (0, 1))
    reading = compare(drawn(one), drawn(two), QUICK)
    if reading.state is not State.MEASURED:
        assert (
            not any(len(a) > 1 and len(b) > 1 for a, b in found)
            or min(max(len(c) for c in arm.values()) for arm in (one, two)) == 1
        )
        return
    for order in (2, 3, 4):
        both = [i for i in one if min(len(one[i]), len(two[i])) >= order]
        for part in PARTS:
            entry = parts_of(reading)[str(order)][part]
            for name, arm in (("before", one), ("after", two)):
                expected = by_hand({i: arm[i] for i in both}, order, part)
                assert close(entry[name], expected)
            assert entry["n"] == len(both)
            if both:
                assert entry["delta"] == pytest.approx(entry["after"] - entry["before"], abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(slices(2), st.randoms(use_true_random=False))
def test_swapped_arms_negate_every_change_and_mirror_the_verdict(
    found: list[tuple[tuple[Cell, ...], tuple[Cell, ...]]], rng: Any
) -> None:
    one, two = (named([pair[side] for pair in found]) for side in (0, 1))
    greedy = [{i: rng.choice(("g", "a", None)) for i in one} for _ in range(2)]
    first, second = drawn(one, greedy=greedy[0]), drawn(two, greedy=greedy[1])
    there, back = compare(first, second, QUICK), compare(second, first, QUICK)
    assert there.state is back.state
    a, b = (r.details["greedy"] for r in (there, back))
    assert (a["b"], a["c"], a["p_exact"]) == (b["c"], b["b"], b["p_exact"])  # type: ignore[index, call-overload] # a mapping
    if there.state is not State.MEASURED:
        return
    for order in ("2", "3", "4"):
        for part in PARTS:
            here, other = parts_of(there)[order][part], parts_of(back)[order][part]
            assert here["delta"] == (None if other["delta"] is None else -other["delta"])
            for ends in ("band", "t90"):
                mirrored = other[ends] and [-other[ends][1], -other[ends][0]]
                assert here[ends] == (mirrored and pytest.approx(mirrored, abs=1e-12))
    given_, back_ = (r.details["verdict"]["name"] for r in (there, back))  # type: ignore[index, call-overload] # a mapping
    if given_ in MIRROR:
        assert back_ == MIRROR[given_]


@settings(max_examples=15, deadline=None)
@given(slices(2), st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_other_labels_change_anything(
    found: list[tuple[tuple[Cell, ...], tuple[Cell, ...]]], rng: Any
) -> None:
    one, two = (named([pair[side] for pair in found]) for side in (0, 1))
    plain = compare(drawn(one), drawn(two), QUICK)
    shuffled = [_shuffled(drawn(arm), rng) for arm in (one, two)]
    labels = {"a": "z", "b": "a", "g": "gold", None: None}
    renamed = [
        drawn({i: tuple(labels[c] for c in cloud) for i, cloud in arm.items()}, golds="gold")
        for arm in (one, two)
    ]
    for tables in (shuffled, renamed):
        other = compare(tables[0], tables[1], QUICK)
        for name in ("parts", "tv", "l2", "verdict", "movement", "modes_disjoint"):
            assert _near(plain.details[name], other.details[name]), name


def _shuffled(table: AnswerTable, rng: Any) -> AnswerTable:
    rows = list(range(len(table)))
    rng.shuffle(rows)
    return table.take(np.array(rows))


def _near(one: Any, two: Any) -> bool:
    """Equal but for rounding."""
    if isinstance(one, Mapping):
        return one.keys() == two.keys() and all(_near(one[k], two[k]) for k in one)
    if isinstance(one, list):
        return len(one) == len(two) and all(map(_near, one, two))
    if isinstance(one, float):
        return isinstance(two, float) and abs(one - two) < 1e-9
    return bool(one == two)


@settings(max_examples=30, deadline=None)
@given(st.lists(clouds, min_size=1, max_size=5), st.integers(1, 6))
def test_merged_shards_equal_the_whole(found: list[tuple[Cell, ...]], cut: int) -> None:
    items = named(found)
    (whole,) = clouds_of((drawn(items),), QUICK)
    first = drawn({i: c[:cut] for i, c in items.items()})
    rest = drawn({i: c[cut:] or (ERROR,) for i, c in items.items()})
    one, two = clouds_of((first, rest), QUICK)
    merged = one.merged(two)
    assert np.array_equal(merged.item, whole.item)
    for role in range(4):
        assert np.array_equal(merged.drawn(role), whole.drawn(role))
    sizes = [
        sorted(zip(c.item.tolist(), c.count.tolist(), c.role.tolist(), strict=True))
        for c in (merged, whole)
    ]
    assert sizes[0] == sizes[1]


@settings(max_examples=20, deadline=None)
@given(st.lists(clouds, min_size=1, max_size=4), st.integers(0, 3))
def test_failed_draws_move_bounds_and_nothing_else(
    found: list[tuple[Cell, ...]], failed: int
) -> None:
    items = named(found)
    holed = {i: (*c, *[ERROR] * failed) for i, c in items.items()}
    one, two = measure(drawn(items), QUICK), measure(drawn(holed), QUICK)
    assert parts_of(one) == parts_of(two)
    assert one.details["votes"] == two.details["votes"]
    missing: Any = two.details["missing"]
    assert (missing is None) is (failed == 0)
    if missing is None:
        return
    for order in (2, 3, 4):
        for part in PARTS:
            low, high = missing["bounds"][str(order)][part]
            assert (low is None) is not any(len(c) + failed >= order for c in found)
            if low is not None:
                assert low <= high + 1e-12


@settings(max_examples=10, deadline=None)
@given(slices())
def test_readings_survive_strict_json(
    found: list[tuple[tuple[Cell, ...], tuple[Cell, ...]]],
) -> None:
    one, two = (named([pair[side] for pair in found]) for side in (0, 1))
    for reading in (measure(drawn(one), QUICK), compare(drawn(one), drawn(two), QUICK)):
        text = json.dumps(reading.to_dict(), allow_nan=False)
        assert Reading.from_dict(json.loads(text)).to_dict() == reading.to_dict()


def test_words_that_only_the_second_arm_has_are_classes_of_their_own() -> None:
    one = drawn({"q": ("x", "y", "g", "g"), "r": ("x", "x", "y", "y")})
    two = drawn({"q": ("new", "new", "x", "other"), "r": ("other", "y", "y", "new")})
    found = compare(one, two, QUICK)
    first = found.per_item[0].extra
    assert first["tv"] == pytest.approx(0.75)
    assert first["before"]["gold"] == pytest.approx(1 / 6)  # type: ignore[index, call-overload] # a mapping
    assert first["after"] == pytest.approx(  # a pair of new
        {"total": 1 / 6, "gold": 0, "wrong": 1 / 6, "none": 0, "semantic": 1 / 6}
    )


def test_every_item_and_class_of_two_arms_is_coded_as_counting_says() -> None:
    rng = np.random.default_rng(3)
    words = [f"w{i}" for i in range(12)]

    def arm(first: int) -> Slice:
        chosen = words[first:]
        return {
            f"q{i}": tuple(chosen[j] for j in rng.integers(0, len(chosen), 8)) for i in range(30)
        }

    one, two = arm(0), arm(4)
    found = compare(drawn(one, golds="w5"), drawn(two, golds="w5"), QUICK)
    for i, item in enumerate(found.per_item):
        n, m = Counter(one[f"q{i}"]), Counter(two[f"q{i}"])
        tv = sum(abs(n[w] - m[w]) for w in words) / 16
        assert item.extra["tv"] == pytest.approx(tv)
        gold = [Fraction(c["w5"] * (c["w5"] - 1), 56) for c in (n, m)]
        sides = (item.extra["before"], item.extra["after"])
        assert [s["gold"] for s in sides] == pytest.approx([float(g) for g in gold])  # type: ignore[index, call-overload] # a mapping


@pytest.mark.parametrize("make", [measure, lambda t, p: compare(t, t, p)])
def test_columns_that_live_in_a_database_give_the_same_reading(
    make: Callable[[AnswerTable, Params], Reading],
) -> None:
    table = drawn({f"q{i}": ("g", "a", f"only {i}", None, "g") for i in range(20)})

    def kept(column: Column[str]) -> Column[str]:
        store = stored.TextStore()
        name = store.list_table(list(column.words))
        return Column(column.codes, stored.StoredWords(store, name, "w", None, len(column.words)))

    apart = replace(table, answer=kept(table.answer), item=kept(table.item))
    assert make(apart, QUICK).to_dict() == make(table, QUICK).to_dict()
