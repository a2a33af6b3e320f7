"""Two planted checkpoints on the shipped items, and what is shown where there is only one."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from planted import Planted, Says

from trueness import report
from trueness.backends.protocol import Request
from trueness.cli.app import main
from trueness.collect import facts_of
from trueness.contract.errors import MissingExtraError
from trueness.study import asked as asking
from trueness.study.carrying_out import carry_out
from trueness.study.checkpoint_atlas import Settings, contrasts_of, rows_of_atlas
from trueness.study.cloud_inputs import SLICES, arithmetic, synthetic
from trueness.study.declarations import declared_study
from trueness.study.drawing import reading_of
from trueness.study.inputs import Inputs
from trueness.study.results import Record, Result
from trueness.table import AnswerTable

STUDY = "checkpoint-atlas"
ROOT = Path(__file__).parents[2]
RESULT = ROOT / "results" / f"{STUDY}.json"


def chance(*parts: object) -> float:
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:4]) / 2**32


def number(*parts: object) -> str:
    return str(10_000 + int(1e6 * chance(*parts)))


def says(arm: str, mode: Callable[[str, str], str], agree: Callable[[str], int]) -> Says:
    """Of eight draws of an item so many are its mode, the others all differ; greedy is the mode."""

    def rule(request: Request, _text: str, right: str | None) -> str:
        item, epoch, _ = request.key
        if request.temperature == 0 or epoch <= agree(item):
            return f"It is so.\n#### {mode(item, str(right))}"
        return f"#### {number('stray', arm, request.temperature, item, epoch)}"

    return rule


def gold(_item: str, right: str) -> str:
    return right


def fault(item: str, _right: str) -> str:
    return number("mode", item)


def steady(arm: str) -> Callable[[str], int]:
    return lambda item: 7 + (chance(arm, item) > 0.1)


def torn(arm: str) -> Callable[[str], int]:
    return lambda item: 8 if chance(arm, item) < 0.5 else 0


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    """A run of the study on planted models, by the rule of each name."""
    monkeypatch.setenv("TRUENESS_CACHE_DIR", str(tmp_path / "cache"))

    def run(limit: int | None = None, **rules: Says) -> Result:
        questions, _ = arithmetic(25)
        known = {questions.name: facts_of(questions)}

        def opened(name: str, _options: object = None, **_given: object) -> Planted:
            called = name.removeprefix("hf:")
            return _Named("garbage", {"x": "y"}, rule=rules[called], known=known, called=called)

        monkeypatch.setattr(asking, "open_model", opened)
        second = "hf:second" if "second" in rules else None
        return carry_out(
            STUDY, inputs=Inputs(model="first", second_model=second), limit=limit
        ).result

    return run


class _Named(Planted):
    def __init__(self, *given: Any, called: str, **more: Any) -> None:
        super().__init__(*given, **more)
        object.__setattr__(self, "script", called)

    @property
    def identity(self) -> Any:
        return {"model": self.script, "backend": "planted"}


def of(result: Result, name: str) -> Record:
    found = (*result.contrasts, *result.rows)
    return next(record for record in found if record["name"] == name)


def test_right_answers_that_give_way_to_one_wrong_one_support(
    models: Callable[..., Result],
) -> None:
    found = models(first=says("a", gold, steady("a")), second=says("b", fault, steady("b")))
    assert found.reading.outcome.value == "supported"
    row = of(found, "models")
    assert row["verdict"] == "near_isospectral_inversion"
    assert (row["greedy_before"], row["greedy_after"], row["regressed"]) == (25, 0, 25)
    assert found.mark == ""
    assert found.model is not None
    assert {"model", "second_model"} <= set(found.model)


def test_wrong_answers_that_give_way_to_right_ones_refute(models: Callable[..., Result]) -> None:
    found = models(first=says("a", fault, steady("a")), second=says("b", gold, steady("b")))
    assert found.reading.outcome.value == "refuted"
    assert of(found, "models")["verdict"] == "recovery"


def test_items_that_move_both_ways_leave_it_unresolved(models: Callable[..., Result]) -> None:
    found = models(first=says("a", fault, torn("a")), second=says("b", fault, torn("b")))
    assert found.reading.outcome.value == "unresolved"
    assert of(found, "total")["equivalent"] == 0
    assert of(found, "models")["verdict"] == "unresolved"


def test_without_a_second_model_nothing_is_decided_and_every_heading_says_so(
    models: Callable[..., Result],
) -> None:
    found = models(limit=4, first=says("a", gold, steady("a")))
    assert found.reading.outcome.value == "unresolved"
    assert of(found, "total")["estimate"] is None
    assert of(found, "demonstration_decodings")["n"] == 4
    assert of(found, "demonstration_decodings")["estimate"] is not None
    assert found.mark == "demonstration: "
    for block in reading_of(found).blocks:
        head = getattr(block, "title", None) or getattr(block, "text", "")
        assert "demonstration" in str(head)
    page = report.text(reading_of(found))
    assert "SYNTHETIC" in page


def test_the_command_prints_demonstration_in_every_heading(
    models: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    models(limit=2, first=says("a", gold, steady("a")))  # the planted model stays in place
    monkeypatch.chdir(tmp_path)
    assert main(["study", STUDY, "--model", "first", "--limit", "2", "-o", "p.html"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("demonstration: unresolved")
    assert "demonstration: The declared contrasts" in out
    html = (tmp_path / "p.html").read_text("utf-8")
    assert "<title>demonstration: " in html
    record = json.loads((tmp_path / "results" / f"{STUDY}.partial.json").read_text("utf-8"))
    assert record["draws"]["marked"] == "demonstration"


def test_a_named_model_that_is_not_there_stops_and_the_declared_one_leaves_the_slices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def opened(*_given: object, **_more: object) -> None:
        msg = "needs a wheel"
        raise MissingExtraError(msg)

    monkeypatch.setattr(asking, "open_model", opened)
    with pytest.raises(MissingExtraError):
        carry_out(STUDY, inputs=Inputs(model="embedded"))
    found = carry_out(STUDY).result
    assert found.mark == "demonstration: "
    assert {row["label"] for row in found.rows} == {"SYNTHETIC"}
    assert any("needs a wheel" in note for note in found.notes)


PRINTED = {
    "inversion_r2_total": (209 / 700, 228 / 700),
    "inversion_r3_total": (218 / 1400, 244 / 1400),
    "inversion_r4_total": (159 / 1750, 195 / 1750),
    "inversion_r2_gold": (176 / 700, 10 / 700),
    "inversion_r3_gold": (208 / 1400, 10 / 1400),
    "inversion_r4_gold": (158 / 1750, 5 / 1750),
    "inversion_r2_wrong": (19 / 700, 218 / 700),
    "inversion_r3_wrong": (6 / 1400, 234 / 1400),
    "inversion_r4_wrong": (1 / 1750, 190 / 1750),
    "consolidation_r2_total": (209 / 700, 460 / 700),
    "attractor_r2_total": (362 / 1400, 1093 / 1400),
}


def test_the_synthetic_slices_reproduce_what_was_printed() -> None:
    declaration = declared_study(STUDY)
    settings = Settings.of(declaration, 0)
    rows = tuple(rows_of_atlas([], {}, settings))
    by = {str(row["name"]).removeprefix("demonstration_"): row for row in rows}
    for name, (before, after) in PRINTED.items():
        assert by[name]["before"] == pytest.approx(before, abs=1e-12)
        assert by[name]["after"] == pytest.approx(after, abs=1e-12)
    one = by["inversion"]
    greedy = ("greedy_before", "greedy_after", "regressed", "improved", "p_exact", "greedy_n")
    assert [one[name] for name in greedy] == [14, 1, 14, 1, 1 / 1024, 25]
    assert one["tv"] == pytest.approx(0.835)
    assert one["modes_disjoint"] == {"n": 23, "of": 25}
    assert (one["verdict"], one["verdict_reason"]) == ("unresolved", "margin_not_met")
    assert by["consolidation"]["verdict"] == "consolidation"
    assert by["attractor"]["verdict"] == "no_answer_attractor"
    assert by["consolidation"]["p_exact"] == 29 / 64
    contrasts = contrasts_of(rows, declaration, settings)
    assert contrasts["total"]["estimate"] is None
    assert contrasts["demonstration_synthetic"]["epsilon_star"] == pytest.approx(0.146, abs=5e-4)


def test_the_slices_that_come_along_are_those_that_the_tests_know() -> None:
    for name in SLICES:
        for side in ("before", "after"):
            file = f"synthetic_{name}.{side}.jsonl"
            known = (ROOT / "tests" / "data" / "clouds" / file).read_bytes()
            assert (ROOT / "src" / "trueness" / "data" / "clouds" / file).read_bytes() == known
        before, after = synthetic(name)
        assert isinstance(before, AnswerTable)
        assert len(before.only("none")) == len(after.only("none"))


def test_the_items_are_gsm8ks_and_their_golds_are_numbers() -> None:
    questions, record = arithmetic(3)
    assert (record["n_used"], record["n_dropped"]) == (3, {"over the limit": 22})
    assert questions.golds == (("18",), ("3",), ("70000",))
    assert questions.templates[0].endswith("Question: {e}\nAnswer:")
