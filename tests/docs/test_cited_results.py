"""Numbers of the documents that come from studies are those of the result files.

A number is cited by a comment in front of it: `<!-- result:ID#path -->.93`.
"""

import re
from pathlib import Path

import pytest

from trueness.contract.serial import Json
from trueness.study.declarations import declared_studies, declared_study
from trueness.study.expressions import look_up
from trueness.study.results import Result, read_result

ROOT = Path(__file__).parents[2]
DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
MARK = re.compile(r"<!-- result:([\w-]+)#([\w.-]+) -->")
CITED = re.compile(MARK.pattern + r"(-?[\d,]*\.?\d+|\w+)")
RESULTS = [p for p in sorted((ROOT / "results").glob("*.json")) if p.stem in declared_studies()]
OWN_SECTION = "## How well the intervals hold"

results = pytest.mark.parametrize("path", RESULTS, ids=lambda p: p.stem)


def says(printed: str, value: Json) -> bool:
    """Whether a number is printed as it stands in a file, rounded to the digits that are shown."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, str):
        return printed == value
    if not isinstance(value, int | float):
        return False
    try:
        number = float(printed.replace(",", ""))
    except ValueError:
        return False
    digits = len(printed.partition(".")[2])
    return abs(number - value) <= 0.5 * 10**-digits + 1e-9 if digits else number == value


@pytest.mark.parametrize(
    ("printed", "value", "same"),
    [
        (".93", 0.9312, True),
        (".94", 0.9312, False),
        ("1,000", 1000, True),
        ("1000", 1000.4, False),
        ("1.00", 1.0, True),
        ("refuted", "refuted", True),
        ("refuted", 1.0, False),
        ("1", True, False),
    ],
)
def test_a_number_is_compared_at_the_digits_that_it_shows(
    printed: str,
    value: Json,
    same: bool,  # noqa: FBT001 - a case
) -> None:
    assert says(printed, value) is same


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_every_number_cited_from_a_study_stands_in_its_result(path: Path) -> None:
    text = path.read_text("utf-8")
    cited = CITED.findall(text)
    assert len(cited) == len(MARK.findall(text)), "a reference without a number behind it"
    for study, where, printed in cited:
        result = read_result(ROOT / "results" / f"{study}.json")
        assert result.citable, f"{study} may not be cited"
        value = look_up(result.to_dict(), where)
        assert says(printed, value), f"{path.name}: {study}#{where} is {value}, not {printed}"


def test_the_section_about_intervals_holds_no_number_of_its_own() -> None:
    text = (ROOT / "docs" / "atlas.md").read_text("utf-8")
    section = text.partition(OWN_SECTION)[2].partition("\n## ")[0]
    assert len(CITED.findall(section)) > 10
    prose = re.sub(r"```.*?```|`[^`]*`", "", CITED.sub("", section), flags=re.DOTALL)
    assert not re.findall(r"(?<!\w)\.\d+|\d+\.\d+", prose)


@results
def test_a_result_file_is_what_its_study_writes_and_its_declaration_still_stands(
    path: Path,
) -> None:
    result: Result = read_result(path)
    assert result.study == path.stem
    assert result.citable
    assert result.declaration_sha256 == declared_study(result.study).sha256
    assert {c["name"] for c in result.contrasts} == {
        c.name for c in declared_study(result.study).contrasts
    }


@results
def test_a_result_file_names_neither_host_nor_path(path: Path) -> None:
    text = path.read_text("utf-8")
    assert not re.search(r"/(home|work|tmp|root|Users)\b|\\\\", text)
