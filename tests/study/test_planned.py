"""Plans: the numbers, what they rest on, and what a goal does not take."""

import json
from dataclasses import replace
from typing import Any

import pytest

from trueness.api import read
from trueness.api.planning import plan as planned
from trueness.contract.blocks import Facts, Notes, Statement, Table
from trueness.contract.errors import InputError, ProtocolError
from trueness.contract.serial import Json
from trueness.stats import planning
from trueness.study.planned import GOALS, TAKES, Goal, Spread, plan
from trueness.table import AnswerTable, Protocol

FULL = {
    "difference": Goal("difference", effect=0.1),
    "equivalence": Goal("equivalence", margin=0.05),
    "mcnemar": Goal("mcnemar", regress=0.1, improve=0.02),
    "item": Goal("item"),
    "auroc": Goal("auroc", auroc=0.7),
    "ceiling": Goal("ceiling", width=0.05),
}


def pilot(n: int = 20, draws: int = 4) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Two arms whose items change by different amounts."""
    arms = []
    for side in (0, 1):
        rows = []
        for i in range(n):
            right = (i * (1 + side)) % (draws + 1)
            answers = ["g"] * right + [f"x{j}" for j in range(draws - right)]
            rows.append({"item": f"q{i}", "answers": answers, "target": "g"})
        arms.append(rows)
    return arms[0], arms[1]


def test_every_goal_has_a_plan_that_names_its_assumptions() -> None:
    assert set(FULL) == set(GOALS)
    for name, goal in FULL.items():
        found = plan(goal)
        assert found.sentence.endswith(".")
        assert found.assumptions
        kinds = [type(b) for b in found.blocks()]
        assert kinds[:2] == [Statement, Facts]
        assert Notes in kinds
        said = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert (said["goal"], said["figures"]) == (name, dict(found.figures))


def test_equivalence_at_a_twentieth_takes_420_items_at_the_assumed_spread() -> None:
    found = plan(Goal("equivalence", margin=0.05))
    assert (found.figures["items"], found.figures["sd"]) == (420, 0.35)
    assert any("0.35: assumed, from the labelled synthetic slices" in a for a in found.assumptions)
    assert "25 items show equivalence within ±0.205, not closer" in found.notes[0]
    assert "0.38" in found.notes[1]
    assert "0.24" in found.notes[1]


@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_the_margin_of_few_items_is_the_one_that_they_suffice_for(power: float) -> None:
    found = plan(Goal("equivalence", margin=0.1, power=power))
    margin = found.figures["margin_of_25_items"]
    assert isinstance(margin, float)
    for scale, enough in ((1.001, True), (0.98, False)):
        n = planning.equivalence_size(margin * scale, sd=0.35, alpha=0.05, power=power)
        assert (n <= 25) is enough


def test_defaults_are_a_tenth() -> None:
    assert plan(Goal("equivalence")).figures["items"] == 105
    assert plan(Goal("difference")).figures["effect"] == 0.10


def test_a_spread_of_a_pilot_is_said_to_be_measured() -> None:
    found = plan(Goal("difference"), spread=Spread(0.2, "a pilot of 30 items", assumed=False))
    assert any("0.2: measured on a pilot of 30 items" in a for a in found.assumptions)
    assert not found.notes


@pytest.mark.parametrize("name", GOALS)
def test_numbers_that_a_goal_does_not_take_are_refused(name: str) -> None:
    every = {n for taken in TAKES.values() for n in taken}
    for number in every - set(TAKES[name]):
        with pytest.raises(InputError, match=f"--{number} says nothing about the goal {name}"):
            Goal(name, **{number: 0.3})


def test_an_unknown_goal_lists_those_there_are() -> None:
    with pytest.raises(InputError, match=r"'luck'.*difference, equivalence"):
        Goal("luck")


@pytest.mark.parametrize(("name", "flag"), [("mcnemar", "--regress"), ("auroc", "--auroc")])
def test_a_number_that_is_missing_is_asked_for(name: str, flag: str) -> None:
    with pytest.raises(InputError, match=f"needs {flag}"):
        plan(Goal(name))


def test_a_pilot_replaces_the_assumption_and_shows_ways_to_spend_a_budget() -> None:
    found = planned(Goal("difference"), pilot(), budget=400)
    sd = found.figures["sd"]
    assert isinstance(sd, float)
    assert sd != 0.35
    assert [(a.draws, a.items) for a in found.allocations][:3] == [(2, 200), (4, 100), (5, 80)]
    (table,) = (b for b in found.blocks() if isinstance(b, Table))
    assert sum(row[-1] is True for row in table.rows) == 1
    assert all(row[3] != 0 for row in table.rows)
    shown = json.loads(json.dumps(found.to_dict(), allow_nan=False))["allocations"]
    assert len(shown) == len(found.allocations)


def test_a_clipped_variance_is_said_to_be_clipped() -> None:
    agree = {True: ["g", "g", "x0", "x1"], False: ["g", "x0", "x1", "x2"]}
    one = [{"item": f"q{i}", "answers": agree[i % 2 == 0]} for i in range(8)]
    two = [{"item": f"q{i}", "answers": agree[i % 4 < 2]} for i in range(8)]
    found = planned(Goal("difference"), (one, two), budget=400)
    assert any("clipped at 0" in note for note in found.notes)


def test_a_pilot_without_a_spread_is_refused_with_the_way_out() -> None:
    one, _ = pilot()
    with pytest.raises(InputError, match=r"20 items .* all changed alike.*Leave the pilot out"):
        planned(Goal("difference"), (one, one))
    short = [{"item": f"q{i}", "answers": ["g"]} for i in range(3)]
    with pytest.raises(InputError, match="0 items with 2 draws"):
        planned(Goal("difference"), (short, short))


def test_a_pilot_with_too_few_draws_cannot_split_its_spread() -> None:
    with pytest.raises(InputError, match="twice the order"):
        planned(Goal("difference"), pilot(draws=3), budget=400)
    assert planned(Goal("difference"), pilot(draws=3)).figures["items"]


def test_a_budget_needs_a_pilot_and_some_goals_need_none() -> None:
    with pytest.raises(InputError, match="PILOT_BEFORE"):
        planned(Goal("difference"), budget=100)
    with pytest.raises(InputError, match="needs no pilot"):
        planned(Goal("item"), pilot())


def table_of(rows: list[dict[str, Any]], **protocol: Json) -> AnswerTable:
    return replace(read(rows), protocols={"none": Protocol({"model": "m", **protocol})})


def test_a_pilot_of_two_protocols_is_refused_unless_they_may_differ() -> None:
    one, two = pilot()
    goal = Goal("equivalence", margin=0.05)
    arms = table_of(one, temperature=0.7), table_of(two, temperature=1.0)
    with pytest.raises(ProtocolError, match=r"differ in temperature: 0\.7 before and 1.* after"):
        planned(goal, arms)
    assert planned(goal, arms, allow_differ=("temperature",)).figures["sd"] != 0
    alike = table_of(one, temperature=0.7), table_of(two, temperature=0.7, revision="b")
    assert planned(goal, alike).figures == planned(goal, pilot()).figures
