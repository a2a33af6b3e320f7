"""The study of intervals: quick, repeatable, and it sees what it must."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from trueness.contract.errors import InputError
from trueness.stats.clouds import GOLD, NONE, WRONG
from trueness.stats.mcnemar import mcnemar
from trueness.study import intervals
from trueness.study.carrying_out import carry_out
from trueness.study.declarations import Declaration, declared_study
from trueness.study.found import Found
from trueness.study.simulated_clouds import agreement, clouds_of, draw_pair, population_of
from trueness.study.task import Task

DECLARATION = declared_study("atlas-intervals")
CLASSES = ("gold", "wrong", "none")


def small(*names: str, items: tuple[int, ...] = (25,)) -> Declaration:
    chosen = [c for c in DECLARATION.raw["condition"] if c["name"] in names]
    raw = {**DECLARATION.raw, "condition": chosen, "inputs": {"items": list(items)}}
    return replace(DECLARATION, raw=raw)


def readings(found: Found, name: str) -> dict[str, Any]:
    row = next(r for r in found.rows if r["name"] == name)
    judged = row["readings"]
    assert isinstance(judged, dict)
    return judged


def test_the_declared_conditions_have_the_truth_that_they_are_named_for() -> None:
    truths = {
        c["name"]: population_of(c, DECLARATION.table("protocol")["classes"]).true_change((2, 3, 4))
        for c in DECLARATION.raw["condition"]
    }
    assert not truths["null"].any()
    assert np.abs(truths["balanced_swaps"]).max() < 1e-12
    for name, share in (("few_movers_3", 0.03), ("few_movers_10", 0.10)):
        assert truths[name].reshape(3, 5) == pytest.approx(
            np.tile([0, share, -share, 0, 0], (3, 1)), abs=1e-12
        )
    assert truths["shift"][1] < -0.1
    assert truths["shift"][2] > 0.1


def test_agreement_of_drawn_clouds_averages_to_the_truth() -> None:
    population = population_of(
        next(c for c in DECLARATION.raw["condition"] if c["name"] == "shift"),
        DECLARATION.table("protocol")["classes"],
    )
    pair = draw_pair(population, np.random.default_rng(5), n_items=60_000, k=8)
    arms = [agreement(clouds_of(c, population.roles), (2, 3, 4)) for c in (pair.before, pair.after)]
    off = (arms[1] - arms[0]).mean(0) - population.true_change((2, 3, 4))
    assert np.abs(off).max() < 0.01


def test_the_same_seed_gives_the_same_rows_and_another_does_not() -> None:
    said = small("null", "shift")
    one, two, other = (intervals.run(Task(declaration=said, seed=s, repeats=6)) for s in (3, 3, 4))
    assert one == two
    assert one != other


def test_a_null_row_judges_every_test_and_a_shifted_one_only_what_can_err() -> None:
    found = intervals.run(Task(declaration=small("null", "shift"), seed=0, repeats=8))
    tests = {"omnibus", "sign_flip", "mcnemar_exact", "mcnemar_mid", "items_moved"}
    monitors = {"monitor_total", "monitor_gold", "anytime_total", "anytime_gold"}
    claims = {"item_p_tv", "item_p_l2", "arrow", "verdict", "band"}
    null, shift = readings(found, "null_25"), readings(found, "shift_25")
    assert tests | monitors | claims <= set(null)
    assert not tests & set(shift)
    assert null["item_p_tv"]["of"] == 8 * 25
    assert {"equivalence_gold", "equivalence_wrong", "monitor_equivalent_gold"} <= set(shift)
    assert sum(name.startswith("t90_") for name in null) == 15
    contrasts = {name: record["n"] for name, record in found.contrasts.items()}
    assert sum(int(str(n)) for n in contrasts.values()) == len(null) + len(shift)


def test_where_no_item_moves_there_is_no_band_and_its_denominator_says_so() -> None:
    found = intervals.run(Task(declaration=small("few_movers_3"), seed=1, repeats=20))
    judged = readings(found, "few_movers_3_25")
    assert 0 < judged["band"]["of"] < 20
    assert judged["t90_gold_2"]["of"] == 20


def test_a_verdict_that_says_what_is_not_so_is_counted() -> None:
    """Few movers at exactly the margin: "unchanged" is wrong whenever it is said."""
    found = intervals.run(Task(declaration=small("few_movers_10"), seed=2, repeats=60))
    judged = readings(found, "few_movers_10_25")
    verdicts = found.rows[0]["verdicts"]
    assert isinstance(verdicts, dict)
    assert judged["verdict"]["count"] == verdicts.get("unchanged", 0)
    assert judged["equivalence_gold"]["of"] == 60


def test_a_broken_test_is_found_beyond_its_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """The study is not blind: with a test that always rejects it refutes."""

    def eager(regressed: int, improved: int) -> object:
        found = mcnemar(regressed, improved)
        return replace(found, p_exact=found.p_exact / 50)

    monkeypatch.setattr("trueness.study.intervals.mcnemar", eager)
    found = intervals.run(Task(declaration=small("null"), seed=0, repeats=40))
    assert readings(found, "null_25")["mcnemar_exact"]["finding"] == "beyond"
    assert found.contrasts["exact"]["beyond"] == 1
    assert found.contrasts["exact"]["where"] == ["null_25.mcnemar_exact"]


def test_a_short_run_is_partial_and_resolves_nothing() -> None:
    told: list[str] = []
    result = carry_out("atlas-intervals", limit=1, progress=told.append).result
    assert result.partial
    assert not result.citable
    assert result.reading.outcome.value == "unresolved"
    assert len(told) == len(result.rows) == 15
    assert {row["n_items"] for row in result.rows} == {25, 100, 400}


@pytest.mark.parametrize(
    "law",
    [
        {"share": 1.0},
        {"share": 1.0, "before": {"dirichlet": [1, 1, 1]}, "later": 3},
        {"share": 1.0, "before": {"dirichlet": [1, 1, 1], "masses": [1, 0, 0]}},
        {"share": 1.0, "before": {"masses": [1, 1, 0]}},
    ],
)
def test_a_law_that_is_none_is_refused(law: dict[str, object]) -> None:
    with pytest.raises(InputError, match="wanted"):
        population_of({"laws": [law]}, CLASSES)


def test_a_class_needs_a_known_role() -> None:
    laws = [{"share": 1.0, "before": {"dirichlet": [1, 1, 1]}}]
    assert population_of({"laws": laws}, CLASSES).roles == (GOLD, WRONG, NONE)
    with pytest.raises(InputError, match="maybe"):
        population_of({"laws": laws}, ("gold", "wrong", "maybe"))
