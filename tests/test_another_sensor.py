"""A sensor that is only registered works from Python, the shell and every form of report."""

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

import pytest

import trueness
from trueness import api, sensors
from trueness.cli import main
from trueness.contract import Contract, Direction, ItemReading, Reading, State, Status
from trueness.contract.blocks import Notes, Statement
from trueness.contract.errors import InputError
from trueness.table import AnswerTable

ROWS = [{"entity": "Peru", "answer": "Lima"}, {"entity": "Chad", "answer": ""}]

CONTRACT = Contract(
    sensor="silence",
    property="how often nothing is said",
    proxy="rows without an answer",
    unit="fraction of rows",
    range=(0.0, 1.0),
    direction=Direction.HIGHER_IS_WORSE,
    reference_needed="none",
    status=Status.EXPLORATORY,
    blind_to=("whether an answer is right",),
    source="made for this test",
)


@dataclass(frozen=True, slots=True)
class Params:
    answered: bool = False


def measure(table: AnswerTable, params: Params) -> Reading:
    marks = [(code >= 0) is params.answered for code in table.answer.codes.tolist()]
    items = tuple(
        ItemReading(str(name), State.MEASURED, value=float(mark))
        for name, mark in zip(table.item.values(), marks, strict=True)
    )
    return Reading(
        sensor="silence",
        direction=CONTRACT.direction,
        state=State.MEASURED,
        reason=None,
        value=sum(marks) / len(marks),
        n_measured=len(marks),
        n_items=len(marks),
        per_item=items,
        blocks=(Statement(f"{sum(marks)} rows."), Notes("Blind to", CONTRACT.blind_to)),
    )


def compare(before: AnswerTable, after: AnswerTable, params: Params) -> Reading:
    return replace(measure(after, params), details={"before": measure(before, params).value})


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("a_sensor_made_for_this_test")
    for part in (CONTRACT, Params, measure, compare):
        name = "CONTRACT" if part is CONTRACT else part.__name__  # type: ignore[union-attr] # as said
        setattr(module, name, part)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(sensors.SENSORS, "silence", module.__name__)


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    path.write_text("country,answer\nPeru,Lima\nChad,\n", "utf-8")
    return path


def test_it_is_measured_with_columns_and_parameters_of_its_own() -> None:
    assert trueness.measure("silence", ROWS).value == 0.5
    rows = [{"who": "Peru", "answer": "Lima"}]
    assert trueness.measure("silence", rows, entity="who", answered=True).value == 1.0


def test_two_tables_are_compared_with_its_own_parameters() -> None:
    reading = api.compare(ROWS, ROWS[:1], sensor="silence", answered=True)
    assert (reading.value, reading.details["before"]) == (1.0, 0.5)


def test_a_parameter_it_does_not_have_is_named_with_those_it_has(
    answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match=r"'slack' is neither .* its parameters are: answered\."):
        trueness.measure("silence", ROWS, slack=1)
    argv = ["measure", "silence", str(answers), "--entity", "country", "-P", "slack=1"]
    assert main(argv) == 2
    assert "Name one of these." in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".html", ".md", ".json", ".jsonl", ".junit.xml"])
def test_the_shell_measures_it_and_writes_every_form(answers: Path, suffix: str) -> None:
    out = answers.with_name(f"reading{suffix}")
    argv = ["measure", "silence", str(answers), "--entity", "country", "-o", str(out)]
    assert main(argv) == 0
    assert out.read_text("utf-8")


def test_the_shell_compares_two_files(answers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["measure", "silence", str(answers), str(answers), "--entity", "country", "--json"]
    assert main(argv) == 0
    assert json.loads(capsys.readouterr().out)["details"] == {"before": 0.5}


def test_its_reading_can_be_decided_about() -> None:
    assert trueness.withhold(trueness.measure("silence", ROWS)).action == "withhold"
