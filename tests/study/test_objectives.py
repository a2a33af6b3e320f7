"""An objective that counts coincidences alone takes the echo; a list of answers does not."""

from pathlib import Path

import pytest
from planted import run_on

from trueness.backends.protocol import Request


def test_distinct_echoes_win_by_coincidences_and_cost_accuracy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def rule(request: Request, _text: str, right: str | None) -> str:
        entity = request.key[0].split("|")[1]
        n = sum(map(ord, entity))
        # without a condition some entities get another's answer: right for most, not for all
        usual = "Paris" if n % 4 == 0 else str(right)
        return entity if request.key[2] == "system:json" else usual

    found = run_on(monkeypatch, tmp_path, "choose-objective", rule, relations=["capital"]).result
    by = {row["name"]: row for row in found.rows}
    assert by["capital_t1"]["chosen"] == "system:json"
    assert by["capital_t1"]["accuracy"] == 0.0
    assert by["capital_t1_without_echo"]["declined"]
    assert by["capital_t1_star"]["declined"]
    assert by["capital_t1_with_garbage"]["regret"] == by["capital_none"]["accuracy"]
    assert by["capital_a_with_garbage"]["chosen"] in {"distinct_garbage", "system:json"}
    assert found.reading.outcome.value == "supported"


def test_a_model_that_no_prompt_moves_refutes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = run_on(
        monkeypatch, tmp_path, "choose-objective", lambda _r, _t, right: str(right), limit=6
    ).result
    assert found.reading.outcome.value == "refuted"
    assert {row["chosen"] for row in found.rows if "chosen" in row} == {"none"}


def test_a_loss_on_few_entities_decides_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def rule(request: Request, _text: str, right: str | None) -> str:
        entity = request.key[0].split("|")[1]
        if request.key[2] == "system:json":
            return f"{entity[::-1]}" if entity == "Italy" else str(right)
        return "Paris" if entity in {"Spain", "Greece"} else str(right)

    found = run_on(
        monkeypatch, tmp_path, "choose-objective", rule, relations=["capital"], limit=6
    ).result
    assert found.reading.outcome.value in {"unresolved", "refuted"}
