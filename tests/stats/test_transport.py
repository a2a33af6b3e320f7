"""The transport problem: golden vectors, properties, falsification, refusals, large tables."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.stats import assignment
from trueness.stats.capacity import UNLIMITED, certify_column
from trueness.stats.relaxation import column_errors, relaxed_right, simple_floor
from trueness.stats.transport import (
    break_even_slack,
    guaranteed_wrong,
    most_right,
    witness_is_unique,
)
from trueness.stats.votes import Candidates, Limits, Votes

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "orbits.json").read_text("utf-8"))
Ints = NDArray[np.int64]
Table = list[list[int | None]]


def golden(kind: str) -> list[Any]:
    return [pytest.param(v, id=v["name"]) for v in GOLDEN if v["kind"] == kind]


def whole(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def ones(n: int) -> Ints:
    return np.ones(n, dtype=np.int64)


def votes_of(table: Table, n_answers: int) -> Votes:
    """Votes of a table entity × column of answer codes, None where nothing was answered."""
    slots = [(e, a) for e, row in enumerate(table) for a in row if a is not None]
    return Votes.of(len(table), n_answers, [e for e, _ in slots], [a for _, a in slots])


def columns_of(table: Table, n_answers: int) -> list[Votes]:
    return [votes_of([[row[t]] for row in table], n_answers) for t in range(len(table[0]))]


def coded(vector: dict[str, Any]) -> tuple[Table, list[str], Limits]:
    given_, declare = vector["input"], vector["input"]["declare"]
    rows = [row if isinstance(row, list) else [row] for row in given_["answers"]]
    named = declare.get("candidates", {})
    keys = {a for row in rows for a in row if a is not None} | set(declare["capacities"])
    order = sorted(keys.union(*named.values()))
    default = declare["default_capacity"]
    upper = [
        declare["capacities"].get(key, UNLIMITED if default is None else default) for key in order
    ]
    by_entity = {
        given_["entities"].index(e): [order.index(a) for a in answers]
        for e, answers in named.items()
    }
    limits = Limits(
        whole(upper),
        rows_per_entity=np.full(len(rows), declare.get("rows_per_entity", 1)),
        candidates=Candidates.of(len(rows), by_entity) if by_entity else None,
        closed=declare.get("closed", False),
        slack=declare.get("slack", 0),
    )
    return [[None if a is None else order.index(a) for a in row] for row in rows], order, limits


@pytest.mark.parametrize("vector", golden("assignment"))
def test_the_golden_assignments_are_met(vector: dict[str, Any]) -> None:
    table, keys, limits = coded(vector)
    expected, votes = vector["expected"], votes_of(table, len(keys))
    found = most_right(votes, limits)
    assert found.exact
    assert votes.n_slots == expected["n_slots"]
    assert found.right == expected["max_right"]
    assert found.certified_errors == expected["certified_errors"]
    if "some_column_has_at_least" in expected:
        per_column = -(-found.certified_errors // len(table[0]))
        assert per_column == expected["some_column_has_at_least"]
        columns = columns_of(table, len(keys))
        assert column_errors(columns, limits) == expected["sum_of_single_column_floors"]
        free = Limits(np.full(len(keys), UNLIMITED))
        alone = most_right(votes, free).certified_errors
        assert alone == expected["single_valued_only_floor"]
    if "relaxation_floor" in expected:
        whole_table = votes.n_slots - relaxed_right(votes, limits, by_component=False)
        by_part = most_right(votes, limits, kind="relaxation").certified_errors
        assert whole_table == expected["relaxation_floor"]
        assert by_part == expected["relaxation_floor_by_component"]


@pytest.mark.parametrize("vector", golden("candidates"))
def test_the_golden_candidates_are_met(vector: dict[str, Any]) -> None:
    table, keys, limits = coded(vector)
    expected, votes = vector["expected"], votes_of(table, len(keys))
    found = most_right(votes, limits)
    if expected["state"] == "NOT_APPLICABLE":
        assert not found.feasible
        assert found.violator is not None
        named = vector["input"]["declare"]["candidates"]
        entities = [vector["input"]["entities"][e] for e in found.violator.entities]
        room = set().union(*(named[e] for e in entities))
        assert {keys[a] for a in found.violator.answers} == room
        assert len(room) == found.violator.capacity < len(entities)
        return
    assert found.exact
    assert found.certified_errors == expected["certified_errors"]
    if "simple_floor" in expected:
        assert simple_floor(votes, limits) == expected["simple_floor"]
        codes = whole([-1 if row[0] is None else row[0] for row in table])
        plain = certify_column(codes, ones(len(keys))).certified_errors
        assert plain == expected["theorem1_floor"]


@pytest.mark.parametrize("vector", golden("inverse"))
def test_the_golden_inverse_questions_are_met(vector: dict[str, Any]) -> None:
    given_, expected = vector["input"], vector["expected"]
    forward, inverse, declare = given_["forward"], given_["inverse"], given_["declare"]
    outside = sorted(set(inverse.values()) - set(forward))
    entities = [*forward, *outside]
    keys = sorted(set(forward.values()) | set(declare["answers_asked_back"]))
    pairs = [*forward.items(), *((owner, a) for a, owner in inverse.items())]
    rows = [entities.index(e) for e, _ in pairs]
    cols = [keys.index(a) for _, a in pairs]
    votes = Votes.of(len(entities), len(keys), rows, cols, n_outside=len(outside))
    found = most_right(votes, Limits(ones(len(keys)), closed=declare["closed"]))
    assert (votes.n_slots, found.right) == (expected["n_slots"], expected["max_right"])
    assert found.certified_errors == expected["certified_errors"]
    if "two_separate_floors" in expected:
        one_way = Votes.of(len(entities), len(keys), rows[: len(forward)], cols[: len(forward)])
        back = Votes.of(len(entities), len(keys), rows[len(forward) :], cols[len(forward) :])
        limits = Limits(ones(len(keys)))
        apart = [most_right(v, limits).certified_errors for v in (one_way, back)]
        assert sum(apart) == expected["two_separate_floors"]


TABLES = st.integers(1, 4).flatmap(
    lambda columns: st.lists(
        st.lists(st.none() | st.integers(0, 4), min_size=columns, max_size=columns),
        min_size=1,
        max_size=6,
    )
)
UPPER = st.lists(st.integers(0, 3), min_size=5, max_size=5).map(whole)


def errors(table: Table, limits: Limits) -> int:
    return most_right(votes_of(table, 5), limits).certified_errors


@given(TABLES, UPPER, st.integers(0, 2))
@settings(max_examples=200, deadline=None)
def test_easier_limits_never_raise_the_certificate(table: Table, upper: Ints, slack: int) -> None:
    limits = Limits(upper, slack=slack)
    k = errors(table, limits)
    assert errors(table, replace(limits, slack=slack + 1)) <= k
    for answer in range(5):
        raised = upper.copy()
        raised[answer] += 1
        assert errors(table, replace(limits, upper=raised)) <= k
    barred = np.array([[0, 0]])
    assert k <= errors(table, replace(limits, barred_pairs=barred))


@given(TABLES, st.integers(0, 1), st.data())
@settings(max_examples=200, deadline=None)
def test_one_more_candidate_never_raises_the_certificate(
    table: Table, slack: int, data: st.DataObject
) -> None:
    named = {e: data.draw(st.sets(st.integers(0, 4), min_size=1)) for e in range(len(table))}
    entity, answer = data.draw(st.integers(0, len(table) - 1)), data.draw(st.integers(0, 4))
    few = Candidates.of(len(table), {e: sorted(a) for e, a in named.items()})
    named[entity] = named[entity] | {answer}
    more = Candidates.of(len(table), {e: sorted(a) for e, a in named.items()})
    votes = votes_of(table, 5)
    before = most_right(votes, Limits(ones(5), candidates=few, slack=slack))
    after = most_right(votes, Limits(ones(5), candidates=more, slack=slack))
    if before.feasible:
        assert after.feasible
        assert after.certified_errors <= before.certified_errors


@given(
    table=TABLES,
    upper=UPPER,
    slack=st.integers(0, 2),
    answer=st.integers(0, 4),
    closed=st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_one_more_answered_slot_adds_nothing_or_one(
    *, table: Table, upper: Ints, slack: int, answer: int, closed: bool
) -> None:
    limits = Limits(upper, slack=slack, closed=closed)
    if not most_right(votes_of(table, 5), limits).feasible:
        return
    k = errors(table, limits)
    for e in range(len(table)):
        longer = [[*row, answer if i == e else None] for i, row in enumerate(table)]
        assert errors(longer, limits) - k in (0, 1)


@given(TABLES, UPPER, st.integers(0, 2), st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_order_of_entities_columns_and_names_does_not_matter(
    table: Table, upper: Ints, slack: int, random: Any
) -> None:
    rename = random.sample(range(5), 5)
    columns = random.sample(range(len(table[0])), len(table[0]))
    moved = upper.copy()
    moved[rename] = upper
    again = [[None if row[t] is None else rename[row[t]] for t in columns] for row in table]
    random.shuffle(again)
    assert errors(table, Limits(upper, slack=slack)) == errors(again, Limits(moved, slack=slack))


@given(TABLES, UPPER, st.integers(0, 2))
@settings(max_examples=200, deadline=None)
def test_relaxation_is_at_most_exact_and_at_least_the_columns(
    table: Table, upper: Ints, slack: int
) -> None:
    votes, limits = votes_of(table, 5), Limits(upper, slack=slack)
    columns = columns_of(table, 5)
    loose = most_right(votes, limits, kind="relaxation", columns=columns)
    floors = column_errors(columns, limits)
    assert floors <= loose.certified_errors <= most_right(votes, limits).certified_errors


@given(TABLES, UPPER)
@settings(max_examples=200, deadline=None)
def test_the_witness_recounts_to_the_certificate(table: Table, upper: Ints) -> None:
    found = most_right(votes_of(table, 5), Limits(upper))
    answer = found.answer_of(len(table)).tolist()
    right = sum(a == answer[e] for e, row in enumerate(table) for a in row if a is not None)
    assert right == found.right
    assert all(answer.count(a) <= upper[a] for a in range(5))


@pytest.mark.parametrize("limit", ["DENSE_ROWS", "COPIED_EDGES"])
def test_all_solvers_agree(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dense, sparse and linear programme: the same number, and the witness attains it."""
    rng = np.random.default_rng(17)
    for _ in range(60):
        n, m = int(rng.integers(3, 30)), int(rng.integers(2, 12))
        size = 4 * n
        votes = Votes.of(n, m, rng.integers(0, n, size), rng.integers(0, m, size))
        limits = Limits(rng.integers(0, 4, m), slack=int(rng.integers(0, 3)))
        dense = most_right(votes, limits)
        with monkeypatch.context() as patched:
            patched.setattr(assignment, limit, 0)
            patched.setattr(assignment, "DENSE_CELLS", 0)
            other = most_right(votes, limits)
        assert dense.right == other.right
        assert dense.exact
        assert other.exact


def test_several_right_answers_never_count_one_pair_twice() -> None:
    votes = Votes(2, 2, whole([0, 0, 1]), whole([0, 1, 0]), whole([5, 1, 2]), whole([0, 0, 0]))
    found = most_right(votes, Limits(whole([2, 1]), rows_per_entity=whole([2, 2])))
    assert (found.right, found.exact) == (8, True)


def test_an_echo_is_wrong_in_its_own_slot_and_takes_nothing_off_others() -> None:
    votes = Votes.of(2, 1, [0, 1], [0, 0], [True, False])
    found = most_right(votes, Limits(ones(1)))
    assert found.certified_errors == 1
    assert found.withheld_pairs.tolist() == [True, False]


def test_an_exempt_entity_may_be_its_own_answer() -> None:
    votes = Votes.of(2, 1, [0, 1], [0, 0], [True, False])
    assert most_right(votes, Limits(ones(1), slack=1)).certified_errors == 0
    assert break_even_slack(votes, Limits(ones(1))) == 1


def test_a_closed_list_that_names_an_entity_proves_more_than_the_column() -> None:
    """Entities a, b, c, list a, b, c, answers b, a, q: no truth has both a → b and b → a."""
    votes = Votes.of(3, 4, [0, 1, 2], [1, 0, 3])
    own = np.array([[0, 0], [1, 1], [2, 2]])
    upper = whole([1, 1, 1, 0])
    found = most_right(votes, Limits(upper, closed=True, barred_pairs=own))
    assert (found.certified_errors, found.exact) == (2, True)
    assert certify_column(whole([1, 0, 3]), upper).certified_errors == 1


def test_an_unlimited_answer_ties_nobody_together() -> None:
    votes = Votes.of(3, 2, [0, 1, 1, 2], [0, 0, 1, 0])
    found = most_right(votes, Limits(np.full(2, UNLIMITED)))
    assert found.certified_errors == 1
    held = found.withheld_pairs
    assert sorted(set(votes.entity[held].tolist())) == [1]


def test_a_closed_list_with_too_little_room_is_inconsistent() -> None:
    votes = Votes.of(3, 2, [0], [0])
    found = most_right(votes, Limits(ones(2), closed=True))
    assert not found.feasible
    assert found.reason is not None
    assert "fewer" in found.reason
    assert found.certified_errors == 0
    assert found.violator is not None
    assert found.violator.capacity == 2
    assert most_right(votes, Limits(ones(2), closed=True, slack=1)).feasible


def test_lower_limits_beyond_the_entities_are_inconsistent() -> None:
    votes = Votes.of(1, 2, [0], [0])
    found = most_right(votes, Limits(ones(2), lower=ones(2)))
    assert not found.feasible
    assert found.reason is not None
    assert "add up" in found.reason


def test_a_derangement_is_silent() -> None:
    n = 7
    votes = Votes.of(n, n, np.arange(n), np.roll(np.arange(n), 1))
    assert most_right(votes, Limits(ones(n), closed=True)).certified_errors == 0


def test_stable_distinct_garbage_is_silent() -> None:
    votes = Votes.of(4, 4, [0, 1, 2, 3] * 5, [0, 1, 2, 3] * 5)
    found = most_right(votes, Limits(ones(4)))
    assert found.certified_errors == 0
    assert not found.withheld_pairs.any()
    assert witness_is_unique(votes, Limits(ones(4)), found)


def test_a_consistent_forward_and_inverse_permutation_is_silent() -> None:
    forward, back = ([0, 1, 2], [1, 2, 0]), ([2, 0, 1], [0, 1, 2])
    votes = Votes.of(3, 3, forward[0] + back[0], forward[1] + back[1])
    assert most_right(votes, Limits(ones(3), closed=True)).certified_errors == 0


def test_nothing_answered_certifies_nothing() -> None:
    votes = Votes.of(3, 2, [], [])
    found = most_right(votes, Limits(ones(2), slack=1))
    assert (found.right, found.certified_errors, found.exact) == (0, 0, True)


def test_ties_have_several_witnesses() -> None:
    votes = Votes.of(2, 1, [0, 1], [0, 0])
    limits = Limits(ones(1))
    assert witness_is_unique(votes, limits, most_right(votes, limits)) is False


def test_uniqueness_is_not_tested_in_large_tables() -> None:
    votes = Votes.of(201, 1, [0], [0])
    limits = Limits(ones(1))
    assert witness_is_unique(votes, limits, most_right(votes, limits)) is None


def test_a_large_tangle_is_solved_sparsely_and_a_larger_one_is_bounded() -> None:
    rng = np.random.default_rng(23)
    n, columns = 1_500, 5
    table = rng.integers(0, n, (columns, n))
    parts = [Votes.of(n, n, np.arange(n), column) for column in table]
    votes = Votes.of(n, n, np.tile(np.arange(n), columns), table.ravel())
    limits = Limits(ones(n), slack=3)
    exact = most_right(votes, limits)
    loose = most_right(votes, limits, max_exact_edges=1_000, columns=parts)
    assert exact.exact
    assert not loose.exact
    assert column_errors(parts, limits) <= loose.certified_errors <= exact.certified_errors
    assert break_even_slack(votes, limits) is None  # disagreement is not mended by exemption


def test_a_restricted_table_keeps_upper_limits_and_drops_lower_ones() -> None:
    votes = Votes.of(3, 2, [0, 1, 2], [0, 0, 0])
    limits = Limits(whole([2, 3]), lower=whole([0, 3]))
    assert most_right(votes, limits).certified_errors == 3
    held = guaranteed_wrong(votes, limits, whole([1, 1, 1]), whole([0, 0, 0]))
    assert held == 1
    with pytest.raises(InputError, match="must not exceed"):
        guaranteed_wrong(votes, limits, whole([2, 1, 1]), whole([0, 0, 0]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"upper": whole([-1, 1])}, "negative"),
        ({"slack": -1}, "negative"),
        ({"upper": np.array([1.5, 1.0])}, "whole numbers"),
        ({"lower": whole([2, 0])}, "must not exceed"),
        ({"lower": whole([1, 0]), "slack": 1}, "slack 0"),
        ({"lower": whole([1, 0]), "rows_per_entity": whole([2, 1])}, "one right answer"),
        ({"lower": whole([1])}, "one whole number"),
        ({"rows_per_entity": whole([1, -1])}, "negative"),
    ],
)
def test_limits_that_cannot_be_meant_are_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Limits(**({"upper": ones(2)} | change))


def test_limits_for_another_table_are_refused() -> None:
    votes = Votes.of(2, 2, [0, 1], [0, 1])
    with pytest.raises(ShapeError, match="same lists"):
        most_right(votes, Limits(ones(3)))
    with pytest.raises(ShapeError, match="one row for each entity"):
        most_right(votes, Limits(ones(2), candidates=Candidates.of(3, {})))
    with pytest.raises(InputError, match="candidate codes span"):
        most_right(votes, Limits(ones(2), candidates=Candidates.of(2, {0: [2]})))
    with pytest.raises(InputError, match="barred answer codes span"):
        most_right(votes, Limits(ones(2), barred_pairs=np.array([[0, 2]])))
    with pytest.raises(InputError, match="'exact' or 'relaxation'"):
        most_right(votes, Limits(ones(2)), kind="fast")  # type: ignore[arg-type] # a wrong value on purpose


def test_votes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match="one each"):
        Votes.of(2, 2, [0, 1], [0])
    with pytest.raises(InputError, match="answer codes span"):
        Votes.of(2, 2, [0], [2])
    with pytest.raises(InputError, match="stands twice"):
        Votes(2, 2, whole([0, 0]), whole([1, 1]), ones(2), whole([0, 0]))
    with pytest.raises(InputError, match="negative number of slots"):
        Votes(2, 2, whole([0]), whole([1]), whole([-1]), whole([0]))
    with pytest.raises(InputError, match="n_outside"):
        Votes.of(2, 2, [0], [1], n_outside=3)
