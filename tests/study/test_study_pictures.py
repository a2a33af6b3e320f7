"""Declared pictures of results: drawn of what stands there, each with what it does not show."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from trueness import report
from trueness.contract import Reading
from trueness.contract.blocks import Bars, Curve, IntervalDots, Notes, Table
from trueness.contract.errors import InputError
from trueness.report.terminal import text
from trueness.study.declarations import declared_studies
from trueness.study.drawing import reading_of
from trueness.study.pictures import declared_pictures, drawn, pictures_of
from trueness.study.results import Result, read_result

RESULTS = Path(__file__).parents[2] / "results"
DRAWN = tuple(name for name in declared_studies() if declared_pictures(name) is not None)
SHIPPED = tuple(name for name in DRAWN if (RESULTS / f"{name}.json").is_file())


def result(name: str) -> Result:
    return read_result(RESULTS / f"{name}.json")


def test_every_study_inside_a_model_has_pictures() -> None:
    inside = {"answer-presence", "recoverability", "coupling", "jacobian-cost", "lift-rank"}
    assert inside <= set(SHIPPED)
    assert "observer-flat" in DRAWN


@pytest.mark.parametrize("name", SHIPPED)
def test_all_of_a_results_pictures_are_drawn_and_say_what_they_do_not_show(name: str) -> None:
    declared = declared_pictures(name)
    assert declared is not None
    *made, last = pictures_of(result(name))
    assert len(made) == len(declared["picture"])
    assert isinstance(last, Notes)
    assert last.lines == tuple(declared["shows_not"])
    for block in made:
        assert isinstance(block, (Bars, Curve, IntervalDots, Table))
        assert "Does not show: " in block.note


@pytest.mark.parametrize("name", SHIPPED)
def test_page_terminal_and_markdown_show_them(name: str) -> None:
    reading = reading_of(result(name))
    declared = declared_pictures(name)
    assert declared is not None
    html, plain, md = report.page(reading), text(reading), report.markdown(reading)
    assert html.count("Does not show: ") == len(declared["picture"])
    for picture in declared["picture"]:
        title = picture["title"]
        for shown in (html.replace("&#39;", "'"), " ".join(plain.split()), md.replace("\\", "")):
            assert title in shown
    assert Reading.from_dict(reading.to_dict()) == reading


def lens(**changed: Any) -> dict[str, Any]:
    line = {"label": "all", "row": "lens_all", "at": "median", "low": "lower", "high": "upper"}
    picture = {"kind": "curve", "title": "t", "x": "layer", "y": "rank", "shows_not": "more"}
    return picture | {"series": [line | changed]}


def test_a_curve_over_a_list_has_the_numbers_of_the_result() -> None:
    found = result("answer-presence")
    (row,) = [r for r in found.rows if r["name"] == "lens_all"]
    made = drawn(lens(**{"from": 1}), found)
    assert isinstance(made, Curve)
    (series,) = made.series
    assert [y for _, y in series.points] == row["median"]
    assert [x for x, _ in series.points] == list(range(1, 32))
    assert series.band[4][1:] == (row["lower"][4], row["upper"][4])  # type: ignore[index]


def test_a_curve_over_rows_stands_at_their_numbers() -> None:
    found = result("jacobian-cost")
    line = {"label": "a", "rows": "llama_*", "at": "price"}
    picture = lens() | {"series": [line]}
    by_name = drawn(picture, found)
    by_field = drawn(picture | {"series": [line | {"x_at": "width"}]}, found)
    assert by_name == by_field
    with pytest.raises(InputError, match="has no number to stand at"):
        drawn(picture | {"series": [line | {"rows": "model"}]}, found)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"row": "lens_none"}, "no row of answer-presence is called 'lens_none'"),
        ({"at": "medians"}, "'medians' leads to no field"),
        ({"at": "state"}, "'state' of 'lens_all' is no list"),
    ],
)
def test_a_path_that_leads_nowhere_is_named(line: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        drawn(lens(**line), result("answer-presence"))


def test_a_result_that_was_cut_short_says_what_is_not_drawn() -> None:
    found = result("recoverability")
    cut = replace(found, rows=tuple(r for r in found.rows if str(r["name"]).startswith("entity")))
    *made, last = pictures_of(cut)
    assert len(made) == 2
    assert isinstance(last, Notes)
    assert "continent" in last.lines[-1]
    assert "not drawn" in last.lines[-1]
    assert pictures_of(replace(found, rows=())) == ()


def test_numbers_of_bars_add_up_to_the_cells() -> None:
    made = next(b for b in pictures_of(result("lift-rank")) if isinstance(b, Bars))
    assert {sum(part.value for part in bar.parts) for bar in made.bars} == {20.0}


@pytest.mark.parametrize(
    ("text_of", "said"),
    [
        ('shows_not = ["x"]\n[[picture]]\ntitle = "t"\nkind = "pie"\n', "no kind of curve"),
        ('shows_not = ["x"]\n[[picture]]\ntitle = "t"\nkind = "curve"\n', "has no shows_not"),
        ('[[picture]]\ntitle = "t"\nkind = "curve"\nshows_not = "x"\n', "wanted shows_not and"),
    ],
)
def test_a_picture_that_keeps_quiet_about_its_limits_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text_of: str, said: str
) -> None:
    folder = tmp_path / "data" / "pictures"
    folder.mkdir(parents=True)
    (folder / "s.toml").write_text(text_of)
    monkeypatch.setattr("trueness.study.pictures.resources.files", lambda _: tmp_path)
    with pytest.raises(InputError, match=said):
        declared_pictures("s")
