"""A result as every report draws it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from trueness import report
from trueness.cli import main
from trueness.contract import Reading, State
from trueness.contract.blocks import Statement, Table
from trueness.study.declarations import declared_study
from trueness.study.drawing import reading_of
from trueness.study.results import Decisive, Outcome, Result, is_result, read_result

PROOF = Path(__file__).parents[2] / "results" / "calibration-proof.json"


def result(outcome: Outcome = Outcome.SUPPORTED, **changed: object) -> Result:
    found = read_result(PROOF)
    sha256 = declared_study("calibration-proof").sha256
    made = replace(
        found,
        declaration_sha256=sha256,
        reading=Decisive(outcome, found.reading.expressions),
        contrasts=(
            {
                "name": "main",
                "primary": True,
                "estimate": 0.2,
                "low": 0.1,
                "high": 0.3,
                "kind": "cluster bootstrap",
            },
        ),
    )
    return replace(made, **changed)  # type: ignore[arg-type] # fields of a result


def titles(reading: Reading) -> list[str]:
    return [getattr(block, "title", "") for block in reading.blocks]


def statement(reading: Reading) -> Statement:
    first = reading.blocks[0]
    assert isinstance(first, Statement)
    return first


def test_a_decided_study_has_the_value_of_its_first_primary_contrast() -> None:
    reading = reading_of(result())
    assert (reading.state, reading.value) == (State.MEASURED, 0.2)
    assert (reading.low, reading.high, reading.interval_kind) == (0.1, 0.3, "cluster bootstrap")
    assert statement(reading).text.startswith("supported: ")
    assert not statement(reading).follow_up


def test_a_study_that_decides_by_counts_has_the_count_as_its_value() -> None:
    reading = reading_of(read_result(PROOF))
    assert (reading.state, reading.value, reading.low) == (State.MEASURED, 0.0, None)


@pytest.mark.parametrize(
    ("outcome", "state"),
    [(Outcome.UNRESOLVED, State.SILENT), (Outcome.NOT_APPLICABLE, State.NOT_APPLICABLE)],
)
def test_an_undecided_study_has_no_value(outcome: Outcome, state: State) -> None:
    reading = reading_of(result(outcome, notes=("needs logit_gradients",)))
    assert (reading.state, reading.value) == (state, None)


@pytest.mark.parametrize("form", [report.text, report.markdown, report.page])
def test_an_unresolved_study_is_called_unresolved(form: Callable[[Reading], str]) -> None:
    drawn = form(reading_of(result(Outcome.UNRESOLVED)))
    assert "Unresolved" in drawn
    assert "1 of 1" in drawn
    assert "not a pass" not in drawn


def test_a_published_figure_that_did_not_come_out_stands_first() -> None:
    figures = ({"figure": "one", "agrees": True}, {"figure": "two", "agrees": False})
    reading = reading_of(result(published=figures))
    names = titles(reading)
    assert names[1] == "Published figures that did not come out"
    first = reading.blocks[1]
    assert isinstance(first, Table)
    assert first.rows == (("two", False),)
    assert "Published figures beside ours" in names[2:]


def test_a_declaration_that_was_edited_after_the_run_is_said() -> None:
    reading = reading_of(result(declaration_sha256="0" * 64))
    assert reading.details["declaration_changed"] is True
    assert "Declaration changed" in statement(reading).follow_up[0]


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (result(partial=True), "cut short"),
        (result(dirty=True), "differed from its commit"),
        (result(commit=None), "No commit"),
        (result(study="gone"), "No declaration"),
    ],
    ids=["partial", "dirty", "commit", "gone"],
)
def test_what_may_not_be_cited_is_said(found: Result, words: str) -> None:
    assert any(words in line for line in statement(reading_of(found)).follow_up)


def test_every_result_in_the_folder_survives_the_way_through_json_and_every_form() -> None:
    for path in sorted(PROOF.parent.glob("*.json")):
        if not is_result(path):
            continue
        reading = reading_of(read_result(path))
        assert Reading.from_dict(json.loads(reading.to_json(max_items=None))) == reading
        for form in (report.text(reading), report.markdown(reading), report.page(reading)):
            assert reading.statement.partition(":")[0] in form


def test_what_kind_all_numbers_are_of_is_said_once_and_another_kind_in_its_row() -> None:
    one = {"name": "one", "estimate": 0.5, "kind": "95% bootstrap", "unit": "source"}
    two = {**one, "name": "two", "unit": "item"}
    drawn = reading_of(result(contrasts=(one, two)))
    table = next(b for b in drawn.blocks if isinstance(b, Table) and b.title.startswith("Declared"))
    assert table.columns == ("name", "estimate", "unit")
    assert table.note == "Kind: 95% bootstrap."
    alone = reading_of(result(contrasts=(one,)))
    table = next(b for b in alone.blocks if isinstance(b, Table) and b.title.startswith("Declared"))
    assert table.columns == ("name", "estimate", "kind", "unit")


def test_the_command_line_draws_a_result_and_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    assert main(["report", str(PROOF), "-o", str(page)]) == 0
    assert "Declared contrasts" in page.read_text("utf-8")
    ran = [str(tmp_path / name) for name in ("run.html", "run.json")]
    assert main(["study", "calibration-proof", "--limit", "20", "-o", ran[0], "-o", ran[1]]) == 0
    assert read_result(Path(ran[1])).partial
    assert "may not be cited" in Path(ran[0]).read_text("utf-8")
    assert "wrote" in capsys.readouterr().err
