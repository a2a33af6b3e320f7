"""Where the certified errors are blind, they are blind; what guards them against mutations."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from orbit_tables import Cell, answer_table, declared

from trueness.contract import Reading, State
from trueness.sensors.orbits import CONTRACT, measure

NAMES = ("p", "q", "r", "s")
GOLDS = ("a", "b", "c", "d")


def reading(*answers: Cell | tuple[Cell, ...], **declare: object) -> Reading:
    rows = [a if isinstance(a, tuple) else (a,) for a in answers]
    return measure(answer_table(NAMES[: len(rows)], rows), declared(**declare))


def test_the_contract_says_four_things_that_it_cannot_see() -> None:
    assert CONTRACT.blind_to == (
        "answers that agree with some allowed truth, such as right answers permuted among entities",
        "distinct, stable garbage when no answer set is declared",
        "every error on a single entity with an admissible answer",
        "whether the declaration itself is true",
    )


@pytest.mark.parametrize("answers", list(permutations(GOLDS)))
def test_right_answers_permuted_among_entities_are_silent(answers: tuple[str, ...]) -> None:
    for declare in ({"relation": "injective"}, {"admissible": GOLDS}, {"golds": GOLDS}):
        found = reading(*answers, **declare)
        assert found.state is State.SILENT
        assert found.value is None
        assert not len(found.flagged.items)


def test_distinct_stable_garbage_is_silent_until_an_answer_set_is_declared() -> None:
    garbage = [(f"x{i}",) * 3 for i in range(4)]
    assert reading(*garbage, relation="injective").state is State.SILENT
    assert reading(*garbage, admissible=GOLDS).details["certified_errors"] == 12


@pytest.mark.parametrize("answer", GOLDS)
def test_one_entity_with_an_admissible_answer_is_silent(answer: str) -> None:
    assert reading(answer, relation="injective").state is State.SILENT
    assert reading(answer, admissible=GOLDS).state is State.SILENT


def test_a_false_declaration_is_believed_where_no_golds_are_known() -> None:
    right = ("1", "1", "2", "2")
    listed = [str(i) for i in range(1, 7)]
    assert reading(*right, admissible=listed).details["certified_errors"] == 2


def test_a_false_declaration_is_found_out_where_golds_are_known() -> None:
    right = ("1", "1", "2", "2")
    table = answer_table(NAMES, [(a,) for a in right], golds=right)
    found = measure(table, declared(admissible=[str(i) for i in range(1, 7)]))
    assert found.state is State.NOT_APPLICABLE
    assert found.reason is not None
    assert "the certificate says at least 2 and the key says 0" in found.reason
    assert "'1' is right for 2" in found.reason
    assert found.details["certified_errors"] is None
    assert not len(found.flagged.items)


def test_many_to_one_right_answers_are_silent_under_their_multiset() -> None:
    right = ("1", "1", "2", "2")
    assert reading(*right, golds=right).state is State.SILENT


def test_an_echo_is_silent_while_identity_is_allowed_and_the_hint_stands_there() -> None:
    found = reading(*NAMES, relation="injective")
    assert found.state is State.SILENT
    assert found.details["n_echo"] == 4
    assert "declare identity never" in str(found.to_dict()["blocks"])
    wrong = reading(*NAMES, relation="injective", identity="never")
    assert wrong.details["certified_errors"] == 4
    assert wrong.details["breakdown"] == {
        "echo": 4,
        "filler": 0,
        "inadmissible": 0,
        "over_capacity": 0,
    }


def test_one_consistent_permutation_of_both_directions_is_silent() -> None:
    turned = ("b", "c", "d", "a")
    back = dict(zip(turned, NAMES, strict=True))
    table = answer_table(NAMES, [(a,) for a in turned], inverse=back)
    declare = {"answers_asked_back": GOLDS, "capacities": dict.fromkeys(GOLDS, 1), "closed": True}
    assert measure(table, declared(relation="injective", **declare)).state is State.SILENT


def test_two_permutations_that_contradict_one_another_are_not() -> None:
    back = dict(zip(GOLDS, NAMES, strict=True))
    table = answer_table(NAMES, [(a,) for a in ("b", "c", "d", "a")], inverse=back)
    declare = {"answers_asked_back": GOLDS, "capacities": dict.fromkeys(GOLDS, 1), "closed": True}
    found = measure(table, declared(relation="injective", **declare))
    assert found.details["certified_errors"] == 4


def test_wrong_numbers_that_rise_are_silent() -> None:
    assert reading("101", "102", "103", "104", relation="increasing").state is State.SILENT


@pytest.mark.parametrize("outcome", ["no_answer", "refused", "truncated", "error"])
def test_refusing_everything_has_no_certified_error(outcome: str) -> None:
    table = answer_table(NAMES, [(None,)] * 4, outcomes=[(outcome,)] * 4)
    found = measure(table, declared(relation="injective"))
    assert found.state is State.NO_EVIDENCE
    assert found.details["certified_errors"] == 0
    assert found.details["not_right_floor"] == (None if outcome == "error" else 1.0)


def test_a_capacity_that_is_not_reached_makes_up_for_no_other() -> None:
    """Fails when ``max(0, c - cap)`` becomes ``c - cap``."""
    found = reading("a", "a", "a", "b", capacities={"a": 1, "b": 4})
    assert found.details["certified_errors"] == 2


@pytest.mark.parametrize("outcome", ["no_answer", "refused", "truncated"])
def test_no_answers_are_no_orbit_and_no_wrong_answers(outcome: str) -> None:
    """Fails when no-answers are counted as an answer that entities share."""
    table = answer_table(
        NAMES,
        [("a",), ("b",), (None,), (None,)],
        outcomes=[("answered",), ("answered",), (outcome,), (outcome,)],
    )
    found = measure(table, declared(relation="injective"))
    assert found.state is State.SILENT
    assert (found.details["n_orbits"], found.details["n_answered"]) == (2, 2)
    assert found.details["n_no_answer"] == 2
    assert found.details["not_right_floor"] == 0.5


def test_all_draws_but_one_may_be_right_has_its_own_ceiling() -> None:
    """Fails when the case of N - 1 possibly right draws is dropped: 1 - delta / N."""
    draws = [("a",) * 5, ("b", "b", "b", "b", "x")]
    table = answer_table(NAMES[:2], draws)
    found = measure(table, declared(relation="injective", delta=0.05))
    assert found.details["certified_errors"] == 1
    assert found.details["accuracy_ceiling"] == 1 - 0.05 / 10


@given(st.lists(st.sampled_from(GOLDS), min_size=1, max_size=4))
@settings(max_examples=200, deadline=None)
def test_a_multiset_of_golds_never_speaks_against_its_own_answers(golds: list[str]) -> None:
    for declare in ({"golds": golds}, {"golds": golds, "relation": "injective"}):
        assert reading(*golds, **declare).state is State.SILENT
