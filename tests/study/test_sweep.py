"""The certificates hold on planted answers, and a broken one is seen."""

from pathlib import Path
from typing import Any

import pytest
from planted import run_on

from trueness.backends.protocol import Request
from trueness.study import sweep


def half_right(request: Request, _text: str, right: str | None) -> str:
    return "Paris" if len(request.key[0]) % 2 or right is None else right


def test_bounds_hold_on_a_model_that_is_right_half_of_the_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = run_on(monkeypatch, tmp_path, "certificate-sweep", half_right, limit=4)
    result = found.result
    assert result.reading.outcome.value == "supported"
    assert result.partial
    violations, slack = result.contrasts
    assert (violations["n"], violations["estimate"]) == (36 * 3, 0)
    assert slack["n_by_construction"] != slack["n"]
    assert {row["condition"] for row in result.rows} == {"none", "prose:32@1", "the:32"}
    assert result.cost["requests"] > 1000


def test_a_bound_above_the_truth_refutes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    usual = sweep.measured

    def boastful(*given: Any) -> Any:
        found = usual(*given)
        certified = found.reading.details["certified_errors"]
        found.reading.details["certified_errors"] = certified + 1
        return found

    monkeypatch.setattr(sweep, "measured", boastful)
    found = run_on(monkeypatch, tmp_path, "certificate-sweep", lambda *_: "Paris", limit=2)
    assert found.result.reading.outcome.value == "refuted"
    assert "certified errors" in found.result.rows[0]["violations"]  # type: ignore[operator] # a list


def test_too_few_rows_decide_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(
        sweep, "declared_relations", lambda d, most: dict([*_declared(d, most).items()][:3])
    )
    found = run_on(monkeypatch, tmp_path, "certificate-sweep", half_right, limit=3)
    assert found.result.reading.outcome.value == "unresolved"


_declared = sweep.declared_relations
