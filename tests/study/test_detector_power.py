"""The study of small tables: quick, repeatable, and each method as a sensor would print it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from trueness.contract.errors import InputError
from trueness.stats.auroc import newcombe_interval, rank_wrong_above_right
from trueness.study import detector_power
from trueness.study.carrying_out import carry_out, decide
from trueness.study.declarations import Declaration, declared_study
from trueness.study.detector_power import METHODS, Setting, outcomes, settings_of
from trueness.study.found import Found
from trueness.study.inputs import Inputs
from trueness.study.results import Outcome
from trueness.study.task import Task

DECLARATION = declared_study("detector-power")


def only(*splits: tuple[int, int], aurocs: tuple[float, ...] = (0.5, 0.7)) -> Declaration:
    values: dict[str, list[Any]] = {
        "n_wrong": [w for w, _ in splits],
        "n_right": [r for _, r in splits],
        "auroc": list(aurocs),
        "type_one_error": [0.06],
    }
    tables = [{"name": name, "values": v} for name, v in values.items()]
    return replace(DECLARATION, raw={**DECLARATION.raw, "levels": tables})


def found(declaration: Declaration, repeats: int, seed: int = 0) -> Found:
    return detector_power.run(Task(declaration=declaration, seed=seed, repeats=repeats))


def test_the_declared_splits_are_those_of_the_rows() -> None:
    settings = list(settings_of(DECLARATION))
    splits = {(s.n_wrong, s.n_right) for s in settings}
    assert splits == {(15, 1), (15, 3), (30, 4), (8, 8), (100, 100)}
    assert len({s.name for s in settings}) == len(settings) == 15


def test_scores_have_the_auroc_that_was_declared() -> None:
    for auroc in (0.5, 0.7, 0.9):
        setting = Setting(40, 40, auroc, 0.95, replicates=10, resplits=10)
        seen = outcomes(setting, np.random.default_rng(1), 300)["newcombe"]
        assert seen.covers is not None
        assert seen.covers.mean() > 0.9


def test_tests_and_intervals_are_those_that_sensors_print() -> None:
    setting = Setting(6, 4, 0.7, 0.95, replicates=20, resplits=20)
    seen = outcomes(setting, np.random.default_rng(3), 40)
    rng = np.random.default_rng(3)
    wrong = rng.normal(np.sqrt(2) * 0.5244005127080407, 1.0, (40, 6))
    right = rng.normal(0.0, 1.0, (40, 4))
    for i in range(40):
        ranking = rank_wrong_above_right(wrong[i], right[i], min_class=1)
        assert ranking.p_two_sided is not None
        assert seen["exact"].beyond_chance[i] == (ranking.p_two_sided <= 0.05)
        low, high = newcombe_interval(float(ranking.auroc or 0), 6, n_right=4)
        assert seen["newcombe"].beyond_chance[i] == (low > 0.5 or high < 0.5)


def test_where_one_right_item_stands_alone_only_the_bootstrap_cries_wolf() -> None:
    row = found(only((15, 1)), 400).rows[0]
    errors = row["type_one_error"]
    assert isinstance(errors, dict)
    shares = {name: errors[name]["share"] for name in METHODS}  # type: ignore[index,call-overload] # records
    assert shares["exact"] == shares["newcombe"] == shares["permutation"] == 0.0
    assert shares["delong"] is None  # it gives nothing, and is in no rate
    assert shares["bootstrap"] > 0.4  # type: ignore[operator] # a number


def test_a_method_is_allowed_only_where_it_was_seen_to_keep_its_level() -> None:
    contrasts = found(only((15, 3)), 1500).contrasts
    assert contrasts["bootstrap"]["beyond"] == contrasts["delong"]["beyond"] == 1
    assert not contrasts["bootstrap"]["allowed"]
    assert contrasts["newcombe"]["allowed"]
    few = found(only((15, 3)), 20).contrasts["newcombe"]
    assert (few["open"], few["allowed"]) == (1, False)  # too few tables to say


@pytest.mark.parametrize(
    ("planted", "outcome"),
    [
        ({}, Outcome.SUPPORTED),
        ({"newcombe": {"beyond": 1}}, Outcome.REFUTED),
        ({"exact": {"open": 2}}, Outcome.UNRESOLVED),
    ],
)
def test_the_reading_follows_what_was_found(
    planted: dict[str, dict[str, int]], outcome: Outcome
) -> None:
    contrasts = [
        {"name": name, "beyond": 0, "open": 0, **planted.get(name, {})} for name in METHODS
    ]
    assert decide(DECLARATION, {"contrasts": contrasts, "draws": {}}).outcome is outcome


def test_a_run_repeats_itself_and_another_seed_is_another_run() -> None:
    declaration = only((8, 8))
    one, two = (found(declaration, 30) for _ in range(2))
    assert one == two
    assert found(declaration, 30, seed=1).rows != one.rows


def test_the_record_is_whole() -> None:
    result = carry_out("detector-power", limit=3).result
    assert result.partial
    assert len(result.rows) == 15
    assert {c["name"] for c in result.contrasts} == set(METHODS)
    assert {str(p["figure"]).split()[0] for p in result.published} == {"items", "largest"}


def test_nothing_is_measured_on_anything() -> None:
    with pytest.raises(InputError, match="no use for --model"):
        detector_power.run(
            Task(declaration=DECLARATION, inputs=Inputs(model="embedded"), seed=0, repeats=1)
        )
