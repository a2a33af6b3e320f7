"""One-pass baselines: numbers of the law and of states, what is missing, what they cannot see."""

from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from trueness import api, sensors
from trueness.contract import Direction, Reading, State
from trueness.contract.errors import InputError
from trueness.sensors.one_pass import STATES
from trueness.stats.observers import NUMBERS, observe
from trueness.stats.state_distances import fit_spread, fit_subspace
from trueness.table import AnswerTable, Protocol, read_answers
from trueness.table.sidecar import with_arrays

LAW = {
    "baseline.max_p": "max_p",
    "baseline.margin": "margin",
    "baseline.entropy": "shannon",
    "baseline.renyi2": "renyi2",
    "baseline.varentropy": "varentropy",
    "baseline.varentropy_escort2": "varentropy_escort2",
}
STATE = {"baseline.mahalanobis": fit_spread, "baseline.pca_residual": fit_subspace}
LAWS = [[0.7, 0.2, 0.1], [0.4, 0.35, 0.25], [0.9, 0.05, 0.05]]


def rows(laws: list[list[float]] = LAWS, *, draws: int = 1) -> list[dict[str, Any]]:
    return [
        {"item": f"q{i}", "epoch": e + 1, "answer": "a", "observer": observe(p).numbers.tolist()}
        for i, p in enumerate(laws)
        for e in range(draws)
    ]


def measured(name: str, table: object, **given: Any) -> Reading:
    return api.measure(name, table, **given)


def with_states(n: int = 40, width: int = 6, *, seed: int = 0) -> AnswerTable:
    rng = np.random.default_rng(seed)
    found = read_answers([{"item": f"q{i}", "answer": "a"} for i in range(n)])
    return with_arrays(found, {STATES: rng.normal(size=(n, width))})


@pytest.mark.parametrize(("name", "number"), LAW.items())
def test_a_score_is_the_recorded_number_of_the_law(name: str, number: str) -> None:
    found = measured(name, rows())
    place = NUMBERS.index(number)
    values = [observe(p).numbers[place] for p in LAWS]
    assert [e.value for e in found.per_item] == pytest.approx(values)
    assert found.value == pytest.approx(np.mean(values))
    assert found.low is not None
    assert found.high is not None
    assert found.low <= np.mean(values) <= found.high
    assert (found.n_measured, found.n_items) == (3, 3)


def test_the_direction_is_declared_and_never_chosen_from_the_data() -> None:
    up = {
        n for n in (*LAW, *STATE) if sensors.find(n).CONTRACT.direction is Direction.HIGHER_IS_WORSE
    }
    assert up == {*LAW, *STATE} - {"baseline.max_p", "baseline.margin"}
    worse = measured("baseline.entropy", [{**r, "target": "b"} for r in rows()])
    assert worse.direction is measured("baseline.entropy", rows()).direction


@pytest.mark.parametrize("name", LAW)
def test_a_table_without_the_numbers_is_told_what_is_missing(name: str) -> None:
    found = measured(name, [{"item": "a", "answer": "x"}])
    assert (found.state, found.value) == (State.NOT_APPLICABLE, None)
    assert "no column observer" in (found.reason or "")
    assert "varentropy_escort2" in (found.reason or "")


@pytest.mark.parametrize("name", STATE)
def test_a_table_without_states_is_told_what_is_missing(name: str) -> None:
    found = measured(name, rows())
    assert found.state is State.NOT_APPLICABLE
    assert "no array hidden_states" in (found.reason or "")


def test_an_item_without_numbers_or_with_others_has_its_own_state() -> None:
    table = rows(LAWS * 2)
    del table[0]["observer"]
    table[1]["observer"] = [0.5, 0.2]
    table[2]["observer"] = [-1.0] * 6  # six numbers of something else
    found = measured("baseline.entropy", table)
    assert [e.state.value for e in found.per_item] == [
        "NO_EVIDENCE",
        "NOT_APPLICABLE",
        "DEGENERATE",
        "MEASURED",
        "MEASURED",
        "MEASURED",
    ]
    assert (found.state, found.n_measured) == (State.MEASURED, 3)


def test_numbers_that_a_file_rounded_are_still_those_of_a_law() -> None:
    rounded = [round(x, 3) for x in observe([1 / 3] * 3).numbers.tolist()]
    found = measured("baseline.max_p", [{"item": "a", "answer": "x", "observer": rounded}])
    assert found.value == 0.333


def test_a_threshold_knows_the_protocol_of_its_condition_alone() -> None:
    table = read_answers([{**r, "condition": c} for c in ("plain", "prose") for r in rows()])
    protocols = {c: Protocol({"prefix": c}) for c in ("plain", "prose")}
    whole = replace(table, protocols=protocols)
    found = [measured("baseline.max_p", whole, only=c) for c in protocols]
    assert [len(f.identity["protocols"]) for f in found] == [1, 1]  # type: ignore[arg-type] # lists
    assert found[0].fingerprint != found[1].fingerprint


def test_draws_of_one_prompt_that_carry_different_numbers_are_unstable() -> None:
    table = rows(draws=2)
    assert measured("baseline.margin", table).n_measured == 3
    table[0]["observer"] = table[-1]["observer"]
    found = measured("baseline.margin", table)
    assert found.per_item[0].state is State.UNSTABLE
    assert found.n_measured == 2


def test_one_condition_is_named_where_there_are_several() -> None:
    table = [{**r, "condition": c} for c in ("plain", "prose") for r in rows()]
    with pytest.raises(InputError, match="Name it"):
        measured("baseline.max_p", table)
    found = measured("baseline.max_p", table, only="prose")
    assert found.n_items == 3
    assert found.per_item == measured("baseline.max_p", rows()).per_item


@pytest.mark.parametrize("name", LAW)
def test_a_permuted_law_is_not_seen(name: str) -> None:
    """Blind spot: which token stands where."""
    seen = {
        str(measured(name, rows([[0.6, *rest]])).value) for rest in permutations([0.25, 0.1, 0.05])
    }
    assert len(seen) == 1


@pytest.mark.parametrize("name", [*LAW, *STATE])
def test_a_derangement_of_the_answers_is_not_seen(name: str) -> None:
    """Blind spot: right and wrong."""
    table = with_states()
    told = read_answers(
        [
            {"item": f"q{i}", "answer": f"a{(i + 1) % 3}", "observer": r["observer"]}
            for i, r in enumerate(rows())
        ]
    )
    right = read_answers(
        [
            {"item": f"q{i}", "answer": f"a{i}", "observer": r["observer"]}
            for i, r in enumerate(rows())
        ]
    )
    if name in LAW:
        assert measured(name, told).per_item == measured(name, right).per_item
    else:
        swapped = with_arrays(
            read_answers([{"item": f"q{i}", "answer": f"b{i}"} for i in range(40)]),
            dict(table.arrays),
        )
        assert measured(name, table).per_item == measured(name, swapped).per_item


@pytest.mark.parametrize(("name", "fit"), STATE.items())
def test_a_state_is_measured_against_other_sources_alone(name: str, fit: Any) -> None:
    table = with_states()
    found = measured(name, table)
    assert found.n_measured == 40
    from trueness.sensors.one_pass import _part  # noqa: PLC0415 - the same parts

    parts = np.array([_part(f"q{i}") for i in range(40)])
    states = table.arrays[STATES]
    wanted = fit(states[parts != parts[7]]).squared(states[7:8])[0]
    assert found.per_item[7].value == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("name", STATE)
def test_no_order_of_rows_moves_a_distance(name: str) -> None:
    table = with_states()
    order = np.random.default_rng(1).permutation(40)
    one = {e.item: e.value for e in measured(name, table).per_item}
    two = {e.item: e.value for e in measured(name, table.take(order)).per_item}
    assert {k: pytest.approx(v, rel=1e-9) for k, v in one.items()} == two


def test_groups_are_fitted_and_resampled_whole() -> None:
    rng = np.random.default_rng(0)
    names = [{"item": f"q{i}", "answer": "a", "group": f"g{i // 4}"} for i in range(40)]
    table = with_arrays(read_answers(names), {STATES: rng.normal(size=(40, 3))})
    found = measured("baseline.mahalanobis", table)
    assert "over 10 groups" in (found.interval_kind or "")


def test_states_that_are_not_finite_or_too_few_say_so() -> None:
    table = with_states(30)
    states = table.arrays[STATES].copy()
    states[3] = np.nan
    found = measured("baseline.mahalanobis", with_arrays(table, {STATES: states}))
    assert found.per_item[3].state is State.DEGENERATE
    assert found.n_measured == 29
    alone = measured("baseline.pca_residual", with_states(1))
    assert alone.state is State.DEGENERATE
    assert "fewer than two states" in (alone.reason or "")
    flat = with_arrays(with_states(9), {STATES: np.ones((9, 2, 2))})
    assert "has shape (9, 2, 2)" in (measured("baseline.pca_residual", flat).reason or "")
    gone = with_arrays(with_states(9), {STATES: np.full((9, 2), np.nan)})
    assert measured("baseline.pca_residual", gone).state is State.DEGENERATE


def test_a_reading_goes_out_and_comes_back() -> None:
    for name in (*LAW, *STATE):
        found = measured(name, rows() if name in LAW else with_states())
        assert Reading.from_dict(found.to_dict()).to_dict() == found.to_dict()
        assert found.fingerprint != measured(name, rows(), level=0.9).fingerprint
    with pytest.raises(InputError, match="level"):
        measured("baseline.max_p", rows(), level=0.1)


@pytest.mark.parametrize("name", [*LAW, *STATE])
def test_a_reading_says_what_it_does_not_say(name: str) -> None:
    found = measured(name, rows()) if name in LAW else measured(name, with_states())
    assert "not whether" in found.statement
    assert ("sure" in found.statement) is (name in LAW)


@pytest.mark.parametrize("name", LAW)
def test_of_a_server_two_numbers_are_points_and_the_others_are_not(name: str) -> None:
    told: dict[str, Any] = {"one_pass": {"numbers": ["max_p", "margin"], "n_listed": 20}}
    plain = [{"item": "q", "answer": "a", "observer": [0.5, 0.25]}]
    found = measured(name, replace(read_answers(plain), observed=told))
    points = {"baseline.max_p": 0.5, "baseline.margin": 0.25}
    assert found.value == points.get(name)
    assert (found.state is State.MEASURED) is (name in points)
    if name not in points:
        assert "an interval alone" in (found.reason or "")
    unsaid = measured(
        name, read_answers(plain)
    )  # two numbers of something else are no two of these
    assert unsaid.state is State.NOT_APPLICABLE
    strange = [{"item": "q", "answer": "a", "observer": [0.5, 0.75]}]
    broken = measured(name, replace(read_answers(strange), observed=told))
    assert broken.state is (State.DEGENERATE if name in points else State.NOT_APPLICABLE)
