"""The certificates hold on planted answers, and a broken one is seen."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from planted import TextOnly, run_on

from trueness.backends.protocol import Request
from trueness.study import sweep
from trueness.study.partitions import measured


def half_right(request: Request, _text: str, right: str | None) -> str:
    return "Paris" if len(request.key[0]) % 2 or right is None else right


def test_bounds_hold_on_a_model_that_is_right_half_of_the_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = run_on(monkeypatch, tmp_path, "certificate-sweep", half_right, limit=3)
    result = found.result
    assert result.reading.outcome.value == "supported"
    assert result.partial
    violations, slack, precision = result.contrasts
    assert (violations["n"], violations["estimate"]) == (36 * 3, 0)
    assert slack["n_by_construction"] != slack["n"]
    kinds: Any = slack["by_kind"]
    assert set(kinds) >= {"injective", "many_to_one", "set_valued", "involution"}
    assert sum(kind["n"] for kind in kinds.values()) == slack["n"]
    assert isinstance(precision["estimate"], float)
    assert isinstance(precision["floor"], float)
    assert precision["estimate"] >= precision["floor"]
    assert {row["condition"] for row in result.rows} == {"none", "prose:32@1", "the:32"}
    requests = result.cost["requests"]
    assert isinstance(requests, int)
    assert requests >= 36 * 3 * 3


def test_a_bound_above_the_truth_refutes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    usual = measured

    def boastful(*given: Any) -> Any:
        found = usual(*given)
        details = {**found.reading.details, "certified_errors": 1000}
        return replace(found, reading=replace(found.reading, details=details))

    monkeypatch.setattr(sweep, "measured", boastful)
    found = run_on(monkeypatch, tmp_path, "certificate-sweep", lambda *_: "Paris", limit=2)
    assert found.result.reading.outcome.value == "refuted"
    broken = found.result.rows[0]["violations"]
    assert isinstance(broken, list)
    assert "certified errors" in broken


def test_too_few_rows_decide_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    few = ["capital", "currency", "pararel/P36"]
    found = run_on(monkeypatch, tmp_path, "certificate-sweep", half_right, limit=3, relations=few)
    assert found.result.reading.outcome.value == "unresolved"


def test_rows_that_are_exact_by_construction_decide_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = run_on(monkeypatch, tmp_path, "certificate-sweep", lambda *_: "", limit=1).result
    assert found.contrasts[0]["n"] == 36 * 3
    assert found.reading.outcome.value == "unresolved"


def test_behind_text_alone_answers_are_compared_as_texts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = run_on(
        monkeypatch, tmp_path, "certificate-sweep", half_right, limit=2, kind=TextOnly
    ).result
    assert found.reading.outcome.value == "supported"
    assert found.notes[1].startswith("no token ids here")
