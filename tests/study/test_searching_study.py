"""C10 reads from planted curves what was planted, and C16 tells the procedures apart."""

from typing import Any

import numpy as np
import pytest

from trueness.study import calibration_methods, searching
from trueness.study.carrying_out import carry_out, decide
from trueness.study.declarations import declared_study
from trueness.study.guards import Pool
from trueness.study.inputs import Inputs
from trueness.study.results import Outcome
from trueness.study.searched import value_aware

C10, C16 = declared_study("C10"), declared_study("C16")
SEARCH = searching.Settings.of(C10, 0)
METHODS = calibration_methods.Settings.of(C16, 0)


def half(split: str, n: int, last: float, *, low: float = 0.5) -> dict[str, Any]:
    """Values from ``low`` to 1 at the smallest K; at the largest some claims are found at .1."""
    rng = np.random.default_rng(len(split))
    value = np.repeat(rng.uniform(low, 1.0, size=(n, 1)), len(SEARCH.ks), axis=1)
    value[: int(last * n), -1] = 0.1
    return {
        "split": split,
        "population": "planted",
        "budgets": list(SEARCH.ks),
        "item": [f"{split}{i}" for i in range(n)],
        "group": [f"{split}{i}" for i in range(n)],
        "admissible": [1000] * n,
        "value": value.tolist(),
    }


@pytest.mark.parametrize(
    ("last", "n", "outcome"),
    [
        (1.0, 300, Outcome.SUPPORTED),
        (0.0, 300, Outcome.REFUTED),
        (0.06, 60, Outcome.UNRESOLVED),
        (1.0, 40, Outcome.UNRESOLVED),
    ],
)
def test_a_search_that_finds_what_was_planted_is_read_as_such(
    last: float, n: int, outcome: Outcome
) -> None:
    table = [half("calibration", n, 0.0), half("evaluation", n, last, low=0.54)]
    _, found = searching.judged(table, SEARCH)
    contrasts = [{"name": name, **record} for name, record in found.items()]
    assert decide(C10, {"contrasts": contrasts}).outcome is outcome


def test_a_threshold_that_knew_of_the_search_keeps_its_budget() -> None:
    table = [half("calibration", 300, 0.5), half("evaluation", 300, 0.5)]
    rows, found = searching.judged(table, SEARCH)
    without: Any = found["without"]
    knowing: Any = found["recalibrated"]
    assert without["estimate"] == pytest.approx(0.5, abs=0.05)
    assert knowing["estimate"] == 0.0
    last: Any = rows[-1]
    assert last["tau_with"] == 0.1 < last["tau_without"]


def test_the_search_of_the_made_world_says_what_it_left_unread_and_where_it_ran_dry() -> None:
    carried = carry_out("C10", inputs=Inputs(world="synthetic"))
    draws: Any = carried.result.draws
    assert draws["rate"] == "accepted share of foreign evidence (unread)"
    assert "own source excluded" in draws["population"]
    last: Any = carried.result.rows[-1]
    assert last["k"] == 1024
    assert last["exhausted"] == 100
    rows: list[Any] = list(carried.result.rows)
    shares = [row["accepted_without"]["share"] for row in rows]
    assert shares == sorted(shares)
    unread = [row for row in carried.table if "verdict" in row]
    assert len(unread) == last["accepted_without"]["count"]
    assert all(row["verdict"] == "unread" and row["text"] and row["evidence"] for row in unread)
    again, _ = searching.judged([r for r in carried.table if "split" in r], SEARCH)
    assert list(again) == list(carried.result.rows)


def test_a_part_of_a_curve_counts_its_own_exhausted_claims() -> None:
    pool = Pool(["a", "b", "c"], ["x", "x", "y"])
    vectors = np.eye(3)
    curve = value_aware(
        pool, vectors, vectors, score=lambda _, rows: np.ones(len(rows)), budgets=(1, 2)
    )
    assert curve.exhausted == {1: 0, 2: 2}  # a and b have c alone
    assert curve.at(np.array([2])).exhausted == {1: 0, 2: 0}
    assert curve.at(np.array([0])).exhausted == {1: 0, 2: 1}
    assert list(curve.at(np.array([2])).items) == ["c"]


def cells(risks: np.ndarray[Any, Any]) -> dict[str, Any]:
    record = {"data": "d", "negatives": "n", "risk": risks.tolist()}
    return {str(row["name"]): row for row in calibration_methods.rows_of(record, METHODS)}


def test_the_exact_threshold_keeps_its_promise_and_the_percentile_does_not() -> None:
    found = cells(np.random.default_rng(0).uniform(size=500))
    assert (
        found["d_n_exact_50"]["where"] == "50 sources carry no exact threshold for a budget of 0.05"
    )
    for n in (100, 250):
        assert not found[f"d_n_exact_{n}"]["broken"]
        assert found[f"d_n_percentile_{n}"]["broken"]
        assert not found[f"d_n_conformal_{n}"]["broken"]
        assert found[f"d_n_conformal_{n}"]["mean"] < found[f"d_n_percentile_{n}"]["mean"]
    assert "500 sources; wanted 1000 and 100 more" in found["d_n_exact_1000"]["where"]


def test_an_atom_heavier_than_the_budget_is_never_let_through() -> None:
    risks = np.concatenate([np.full(300, 0.2), np.random.default_rng(1).uniform(0.3, 1, size=200)])
    found = cells(risks)
    assert found["d_n_exact_250"]["mean"] == 0.0
    assert found["d_n_percentile_250"]["mean"] == pytest.approx(0.6, abs=0.02)


def test_methods_of_calibration_run_on_the_made_world() -> None:
    carried = carry_out("C16", inputs=Inputs(world="synthetic"))
    assert carried.result.reading.outcome is Outcome.SUPPORTED
    again = [row for r in carried.table for row in calibration_methods.rows_of(r, METHODS)]
    assert again == list(carried.result.rows)
