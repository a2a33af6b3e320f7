"""Text, Markdown, JSON, JSON lines and JUnit XML say the same thing and cannot be broken."""

import json
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness import report
from trueness.contract import (
    Decision,
    Direction,
    Flagged,
    ItemReading,
    ItemVerdict,
    Reading,
    Rows,
    State,
    Verdict,
)
from trueness.contract import blocks as b
from trueness.contract.errors import InputError
from trueness.report import Check, Outcome
from trueness.report.curve import plot, ticks
from trueness.report.words import number, value_of, visible

HOSTILE = "**bold** <b>|pipe|</b> [link](x) \x1b[31mred\nline"


def reading(
    state: State = State.MEASURED, *, n: int = 3, name: str = "Chad", text: str = "At least 1."
) -> Reading:
    measured = state is State.MEASURED
    return Reading(
        sensor="made.up",
        direction=Direction.HIGHER_IS_WORSE,
        state=state,
        reason=None if measured else "because",
        value=2 / 3 if measured else None,
        low=2 / 3 if measured else None,
        interval_kind="proved lower bound" if measured else None,
        n_measured=n,
        n_items=n,
        per_item=Rows(
            n, lambda i: ItemReading(f"{name} {i}", State.MEASURED, None, 1.0, {"answer": "x"})
        ),
        flagged=Flagged(Rows(n, lambda i: f"{name} {i}"), 0.5, 0.5),
        details={"k": 2, "nested": {"a": 1}},
        blocks=(
            b.Statement(text, "finding", ("Do this.",)),
            b.Groups(
                "Groups", (b.Group("Paris", 3, (b.Chip(name, flagged=True),), flagged=True),), 9
            ),
            b.Bars("Bars", (b.Bar("one", (b.Part("wrong", 2.0, "2", "wrong"),)),), 3.0, "note"),
            b.Curve("Curve", "t", "floor", (b.Series("line", ((1.0, None), (2.0, 0.5))),)),
            b.Table("Table", ("Name", "n"), ((name, 1), (name, None)), 50),
            b.Facts("Facts", (b.Fact("floor", "2/3", "proved"),)),
            b.Notes("Notes", ("an assumption",), "assumptions"),
        ),
        fingerprint="f" * 8,
        versions={"trueness": "0"},
        seed=3,
    )


def decision() -> Decision:
    return Decision(
        action="choose",
        state=State.MEASURED,
        reason="strictly below",
        verdicts=(ItemVerdict("none", Verdict.DECLINE), ItemVerdict("a", Verdict.TAKE, "1/3")),
        taken="a",
        details={"scores": {"none": 0.5, "a": 0.25}, "level": "answer_set"},
        trace=({"step": "take"},),
        fingerprints=("f",),
    )


def test_text_starts_with_the_statement_and_holds_every_block() -> None:
    text = report.text(reading())
    assert text.startswith("At least 1.\nMeasured · 3 of 3 measured · value 0.6666")
    for words in (
        "Do this.",
        "Groups",
        "Bars",
        "Curve",
        "Table",
        "2 of 50 rows",
        "proved",
        "Notes",
    ):
        assert words in text


def test_text_never_passes_an_escape_code_or_markup_of_a_model_on() -> None:
    text = report.text(reading(name="[red]x[/red]\x1b[31m", text="a\x1b]0;title\x07b"))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "[red]x[/red]\\u001b[31m" in text


def test_text_keeps_within_its_width() -> None:
    text = report.text(reading(name="w" * 500), width=40)
    assert max(map(len, text.splitlines())) <= 40


def test_brief_text_leaves_the_blocks_out() -> None:
    assert "Groups" not in report.text(reading(), brief=True)


def test_comparison_and_decision_are_drawn_as_text() -> None:
    table = report.comparison(
        {"none": reading(), "b": reading(State.SILENT)}, columns={"k": "Wrong"}
    )
    assert "Silent: not a pass" in table
    assert "Wrong" in table
    drawn = report.decision_text(decision())
    assert drawn.startswith("Taken: a\nstrictly below")
    assert "Scores" in drawn


def test_markdown_escapes_what_a_model_wrote() -> None:
    text = report.markdown(reading(name=HOSTILE), decisions=[decision()])
    assert "\x1b" not in text
    assert not re.search(r"(?<!\\)<b>", text)
    rows = [line for line in text.splitlines() if line.startswith("| \\*\\*bold")]
    assert rows
    for row in rows:
        assert len(re.findall(r"(?<!\\)\|", row)) in {3, 5}


def test_markdown_of_several_readings_compares_them_first() -> None:
    text = report.markdown({"none": reading(), "b": reading(State.SILENT)}, columns={"k": "Wrong"})
    assert text.index("Side by side") < text.index("## none") < text.index("## b")


def test_json_is_strict_and_reads_back() -> None:
    one = json.loads(report.json(reading()), parse_constant=pytest.fail)
    assert Reading.from_dict(one).value == 2 / 3
    many = json.loads(report.json({"none": reading(), "b": reading(State.SILENT)}))
    assert list(many) == ["none", "b"]
    with_decision = json.loads(report.json(reading(), decisions=[decision()]))
    assert with_decision["decisions"][0]["taken"] == "a"


def test_long_lists_are_cut_when_printed_and_whole_in_files(tmp_path: Path) -> None:
    long = reading(n=10_500)
    printed = json.loads(report.json(long))
    assert printed["truncated"]
    assert len(printed["per_item"]) == 1_000
    whole = json.loads(report.write(long, tmp_path / "r.json").read_text())
    assert not whole["truncated"]
    assert len(whole["per_item"]) == len(whole["flagged"]["items"]) == 10_500


@pytest.mark.parametrize("name", ["r.json", "r.jsonl"])
def test_a_file_of_readings_loads_again(tmp_path: Path, name: str) -> None:
    found = {"none": reading(n=5), "odd \ud800 \u2028": reading(State.SILENT, name="\u2028 \ud800")}
    back = report.load(report.write(found, tmp_path / name)).readings
    assert {k: r.to_dict() for k, r in back.items()} == {k: r.to_dict() for k, r in found.items()}


def test_decisions_load_again(tmp_path: Path) -> None:
    path = report.write(reading(), tmp_path / "r.json", decisions=[decision()])
    assert report.load(path).decisions[0].to_dict() == decision().to_dict()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"a": 1}', '{"sensor": 1}', '{"line": "item", "name": "x"}']
)
@pytest.mark.parametrize("name", ["x.json", "x.jsonl"])
def test_what_is_no_reading_is_refused_by_name(tmp_path: Path, text: str, name: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=re.escape(str(path))):
        report.load(path)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("d.jsonl", '{"verdict": "accept", "prev": "0", "hash": "1"}\n', "trueness replay"),
        ("d.jsonl", '{"manifest": true}\n', "trueness replay"),
        ("k.jsonl", '{"trueness": 1}\n{"item": "a", "answer": "x"}\n', "trueness certify"),
        ("k.jsonl", '{"item": "a", "answer": "x"}\n', "trueness certify"),
        ("d.json", '{"action": "choose",\n"verdicts": []}\n', "-o page.html"),
        ("k.csv", "item,answer\na,x\n", "trueness certify"),
        ("c.jsonl", '{"claim": "a", "evidence": ["b"]}\n', "trueness ground"),
    ],
)
def test_another_file_is_called_what_it_is_and_by_the_verb_that_reads_it(
    tmp_path: Path, name: str, text: str, words: str
) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(InputError, match=words) as caught:
        report.load(tmp_path / name)
    assert "KeyError" not in str(caught.value)


def test_a_file_that_is_not_text_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(InputError, match="not UTF-8"):
        report.load(path)


def test_junit_fails_only_what_failed_and_skips_what_is_no_pass() -> None:
    checks = [
        Check("none", "max error floor 0.1", Outcome.FAILED, "0.67 is more"),
        Check("b", "max error floor 0.1", Outcome.UNDECIDED, "nothing is proved"),
        Check("c", "max error floor 0.9", Outcome.PASSED, "fine"),
    ]
    found = {
        "none": reading(),
        "b": reading(State.SILENT),
        "\x00bad\ud800": reading(State.NOT_APPLICABLE, text=HOSTILE),
    }
    suite = ET.fromstring(report.junit(found, checks=checks))[0]  # noqa: S314 - our own text
    assert suite.attrib["tests"] == "6"
    assert suite.attrib["failures"] == "1"
    assert suite.attrib["skipped"] == "3"
    failing = suite.find("testcase/failure")
    assert failing is not None
    assert failing.attrib["message"] == "0.67 is more"


@pytest.mark.parametrize("name", ["a.html", "a.md", "a.json", "a.jsonl", "a.junit.xml", "A.HTML"])
def test_every_suffix_writes_a_file_and_leaves_no_draft(tmp_path: Path, name: str) -> None:
    path = report.write(reading(), tmp_path / name)
    assert path.read_text(encoding="utf-8")
    assert [p.name for p in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["a.txt", "a", "a.xml", "html"])
def test_an_unknown_suffix_is_refused_with_those_known(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"known are \.html"):
        report.write(reading(), tmp_path / name)


def test_a_failed_write_leaves_the_older_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("old")
    with pytest.raises(InputError):
        report.write({}, path)
    assert path.read_text() == "old"


def test_loading_the_room_loads_neither_numpy_nor_rich_nor_jinja() -> None:
    code = "import sys, trueness.report; print({'numpy','rich','jinja2'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@given(st.integers(1, 10**7), st.integers(1, 10**7))
def test_a_printed_lower_bound_never_exceeds_the_exact_one(k: int, n: int) -> None:
    value = min(k, n) / max(k, n)
    shown = number(value, toward="down")
    exact = Fraction(min(k, n), max(k, n))
    assert Fraction(shown) <= exact
    assert Fraction(number(value, toward="up")) >= exact
    assert (shown in {"0", "1"}) == (value in {0, 1})


def test_a_floor_just_below_one_is_not_printed_as_one() -> None:
    assert number(0.99999999, toward="nearest") == "0.99999999"
    assert value_of(reading()) == "0.6666"


def test_numbers_are_printed_for_people() -> None:
    shown = [number(x) for x in (0, 3104, 2.0, 1234.56, -0.5, 1e-7, 1e300)]
    assert shown[:6] == ["0", "3,104", "2", "1,235", "-0.5", "1.000e-7"]
    assert len(shown[6]) < 12


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_visible_text_encodes_and_is_stable(words: str) -> None:
    once = visible(words)
    once.encode("utf-8")
    assert visible(once) == once


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_ticks_cover_their_range(a: float, c: float) -> None:
    low, high = min(a, c), max(a, c)
    found = ticks(low, high)
    span = found[-1] - found[0]
    assert len(found) >= 2
    assert len(found) <= 9
    assert found[0] <= low + 1e-6 * span
    assert found[-1] >= high - 1e-6 * span


def test_a_curve_is_broken_where_it_is_undefined() -> None:
    line = b.Series("a", ((0.0, 0.0), (1.0, 1.0), (2.0, None), (3.0, 0.5)))
    drawn = plot(b.Curve("t", "x", "y", (line,)))
    assert drawn is not None
    assert len(drawn.lines[0].pieces) == 2
    assert len(drawn.lines[0].dots) == 1
    assert plot(b.Curve("t", "x", "y", (b.Series("a", ((0.0, None),)),))) is None
