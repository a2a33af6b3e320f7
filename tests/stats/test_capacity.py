"""One column: golden vectors, the formulas of 6.1 to 6.3, and guards against three mutations."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.capacity import (
    UNLIMITED,
    ColumnCertificate,
    certify_column,
    certify_keys,
    errors_with_lower_limits,
    group_codes,
    over_capacity,
    under_use,
)
from trueness.stats.curve import precision_floor, recall_floor

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "orbits.json").read_text("utf-8"))
VECTORS = [pytest.param(v, id=v["name"]) for v in GOLDEN if v["kind"] == "capacity"]
Ints = NDArray[np.int64]


def whole(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def coded(vector: dict[str, Any]) -> tuple[list[str], Ints, Ints]:
    """All keys in order, one code a slot, one upper limit a key."""
    given_, declare = vector["input"], vector["input"]["declare"]
    limits = declare["capacities"]
    keys = sorted({a for a in given_["answers"] if a is not None} | set(limits))
    default = 0 if declare["closed"] else declare["default_capacity"]
    upper = [limits.get(key, UNLIMITED if default is None else default) for key in keys]
    codes = [-1 if a is None else keys.index(a) for a in given_["answers"]]
    return keys, whole(codes), whole(upper)


def certify(vector: dict[str, Any]) -> ColumnCertificate:
    given_, declare = vector["input"], vector["input"]["declare"]
    _, codes, upper = coded(vector)
    allowed = declare["identity"] if isinstance(declare["identity"], list) else []
    pairs = list(zip(given_["entities"], given_["answers"], strict=True))
    echo = np.array([e == a and e not in allowed for e, a in pairs])
    filler = np.array([a in declare["filler"] for _, a in pairs])
    return certify_column(codes, upper, echo=echo, filler=filler, slack=declare["slack"])


@pytest.mark.parametrize("vector", VECTORS)
def test_the_golden_columns_are_met(vector: dict[str, Any]) -> None:
    found, expected, given_ = certify(vector), vector["expected"], vector["input"]
    keys, codes, upper = coded(vector)
    lower = whole([given_["declare"].get("lower", {}).get(key, 0) for key in keys])
    errors, breakdown = found.certified_errors, dict(expected["breakdown"])
    if lower.any():
        counts = np.bincount(codes[codes >= 0], minlength=len(keys)).astype(np.int64)
        missing = int((codes < 0).sum())
        errors = errors_with_lower_limits(counts, upper, lower, n_missing=missing)
        assert under_use(counts, lower, missing) == breakdown.pop("under_use")
    else:
        assert found.break_even_slack == expected["break_even_slack"]
    assert errors == expected["certified_errors"]
    assert {name: getattr(found, name) for name in breakdown} == breakdown
    for name in ("n_answered", "n_orbits", "largest_orbit"):
        assert getattr(found, name) == expected[name]
    held = np.flatnonzero(found.withheld).tolist()
    assert {given_["entities"][i] for i in held} == set(expected["withheld"])
    n_held = len(held)
    if expected["precision_floor"] is not None:
        wrong = found.certified_errors  # upper limits alone: lower ones do not survive restriction
        assert precision_floor(wrong, n_held) == Fraction(expected["precision_floor"])
        recall = recall_floor(wrong, n_held, found.n_answered)
        assert recall == Fraction(expected["recall_floor"])


def test_an_answer_below_its_capacity_takes_nothing_off_another() -> None:
    assert over_capacity(whole([3, 0]), whole([1, 5])) == 2  # c - cap would give -3


def test_an_unlimited_answer_takes_nothing_off_another() -> None:
    assert over_capacity(whole([3, 9]), whole([1, UNLIMITED])) == 2


def test_no_answers_are_not_an_orbit() -> None:
    found = certify_column(whole([-1, -1, -1, 0]), whole([1]))
    assert found.certified_errors == 0
    assert (found.n_orbits, found.largest_orbit, found.n_answered) == (1, 1, 1)
    assert not found.withheld.any()


def test_refusing_everything_certifies_no_error() -> None:
    found = certify_column(whole([-1, -1]), whole([0, 1]))
    assert (found.certified_errors, found.n_answered, found.largest_orbit) == (0, 0, None)


def test_an_empty_column_certifies_no_error() -> None:
    assert certify_column(whole([]), whole([])).certified_errors == 0
    assert certify_keys(whole([]), default_upper=1).withheld.tolist() == []


def test_an_echo_takes_no_capacity_and_goes_before_filler() -> None:
    codes, upper = whole([0, 0, 1]), whole([1, 0])
    echo, filler = np.array([True, False, False]), np.array([True, False, True])
    found = certify_column(codes, upper, echo=echo, filler=filler)
    assert (found.echo, found.filler, found.over_capacity, found.inadmissible) == (1, 1, 0, 0)
    assert found.certified_errors == 2
    assert (found.n_orbits, found.largest_orbit) == (2, 2)  # echo and filler included
    assert found.withheld.tolist() == [True, False, True]


def test_a_derangement_of_the_answer_set_is_silent() -> None:
    assert (
        certify_column(np.roll(np.arange(9), 1), np.ones(9, dtype=np.int64)).certified_errors == 0
    )


def test_many_to_one_right_answers_under_their_multiset_are_silent() -> None:
    assert certify_column(whole([0, 0, 1, 1, 1]), whole([2, 3])).certified_errors == 0


def test_slack_is_taken_off_once_and_never_below_nothing() -> None:
    codes, upper = whole([0, 0, 0]), whole([1])
    assert [certify_column(codes, upper, slack=d).certified_errors for d in range(4)] == [
        2,
        1,
        0,
        0,
    ]


@pytest.mark.parametrize("codes", [[2], [-2], [0, 5]])
def test_codes_outside_of_the_limits_are_refused(codes: list[int]) -> None:
    with pytest.raises(InputError, match="one upper limit for each code"):
        certify_column(whole(codes), whole([1, 1]))


def test_marks_of_another_length_are_refused() -> None:
    with pytest.raises(ShapeError, match="one mark for each"):
        certify_column(whole([0, 0]), whole([1]), echo=np.array([True, False]), filler=np.array([]))


def test_negative_limits_and_slack_are_refused() -> None:
    with pytest.raises(InputError, match="negative"):
        certify_column(whole([0]), whole([-1]))
    with pytest.raises(InputError, match="negative"):
        certify_keys(whole([0]), default_upper=1, slack=-1)


def test_listed_codes_need_a_limit_each() -> None:
    with pytest.raises(ShapeError, match="one limit each"):
        certify_keys(whole([0]), default_upper=1, listed=whole([0, 1]), limits=whole([1]))


def test_what_was_said_too_rarely_may_belong_to_the_missing() -> None:
    lower, upper = whole([0, 2]), whole([5, 5])
    wanted = [2, 1, 0, 0]
    found = [errors_with_lower_limits(whole([3, 0]), upper, lower, n_missing=n) for n in range(4)]
    assert found == wanted


@given(
    st.lists(st.integers(-(2**62), 2**62), max_size=3, unique=True),
    st.lists(st.integers(0, 4), max_size=30),
    st.integers(0, 3),
    st.integers(0, 3),
)
@settings(max_examples=200, deadline=None)
def test_arbitrary_codes_and_dense_codes_agree(
    names: list[int], picks: list[int], default: int, slack: int
) -> None:
    pool = [*names, 7, -7]
    codes = whole([pool[p % len(pool)] for p in picks])
    listed, limits = whole(sorted(names)), np.arange(len(names))
    wide = certify_keys(codes, default_upper=default, listed=listed, limits=limits, slack=slack)
    keys, dense = np.unique(codes, return_inverse=True)
    known = dict(zip(sorted(names), range(len(names)), strict=True))
    upper = whole([known.get(int(key), default) for key in keys])
    narrow = certify_column(dense, upper, slack=slack)
    assert wide.withheld.tolist() == narrow.withheld.tolist()
    for name in ("certified_errors", "n_answered", "n_orbits", "largest_orbit", "inadmissible"):
        assert getattr(wide, name) == getattr(narrow, name)


@given(
    st.lists(st.integers(0, 5), max_size=30), st.lists(st.integers(0, 4), min_size=6, max_size=6)
)
@settings(max_examples=200, deadline=None)
def test_one_more_answer_adds_nothing_or_one_and_a_higher_limit_never_adds(
    answers: list[int], limits: list[int]
) -> None:
    upper = whole(limits)
    k = certify_column(whole(answers), upper).certified_errors
    for answer in range(6):
        more = certify_column(whole([*answers, answer]), upper).certified_errors
        assert more - k in (0, 1)
        raised = upper.copy()
        raised[answer] += 1
        assert certify_column(whole(answers), raised).certified_errors <= k


@given(st.lists(st.integers(0, 5), max_size=30), st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_order_and_names_do_not_matter(answers: list[int], random: Any) -> None:
    upper = whole([0, 1, 1, 2, 3, UNLIMITED])
    rename = list(range(6))
    random.shuffle(rename)
    shuffled = random.sample(answers, len(answers))
    moved = upper.copy()
    moved[rename] = upper
    before = certify_column(whole(answers), upper)
    after = certify_column(whole([rename[a] for a in shuffled]), moved)
    assert before.certified_errors == after.certified_errors
    assert before.withheld.sum() == after.withheld.sum()


def test_groups_give_every_slot_the_value_of_its_key() -> None:
    groups = group_codes(whole([5, -1, 5, 9]))
    assert groups.keys.tolist() == [-1, 5, 9]
    assert groups.gather(groups.counts > 1).tolist() == [True, False, True, False]
