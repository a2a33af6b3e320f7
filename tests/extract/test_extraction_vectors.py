"""The case file, and mutants of the extractor that it must tell from the real one."""

import json
import unicodedata
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from trueness.extract import Extraction, extract

VECTORS = json.loads(
    (Path(__file__).parents[1] / "golden" / "extraction.json").read_text("utf-8"), strict=False
)
CASES = [v for v in VECTORS if v["kind"] in ("report", "case")]
EQUAL = [v for v in VECTORS if v["kind"] == "equal"]
Read = Callable[..., Extraction]


def agrees(vector: dict[str, Any], read: Read = extract) -> bool:
    given = dict(vector["input"])
    found = read(given.pop("text"), **given)
    wanted = vector["expected"]
    return (str(found.outcome), found.key, found.unit, found.reason) == tuple(
        wanted[name] for name in ("outcome", "key", "unit", "reason")
    )


def pair(vector: dict[str, Any], read: Read = extract) -> tuple[str | None, str | None]:
    given = vector["input"]
    keys = [read(given[name], kind=given["kind"]).key for name in ("prediction", "target")]
    return keys[0], keys[1]


@pytest.mark.parametrize("vector", CASES, ids=lambda v: v["name"])
def test_golden_case(vector: dict[str, Any]) -> None:
    assert agrees(vector)


@pytest.mark.parametrize("vector", EQUAL, ids=lambda v: v["name"])
def test_golden_pair(vector: dict[str, Any]) -> None:
    one, two = pair(vector)
    wanted = vector["expected"]
    assert (one, two) == (wanted["prediction_key"], wanted["target_key"])
    assert (one == two) == wanted["equal"]


def test_the_label_wins_over_another_options_text_and_says_so() -> None:
    vector = next(v for v in CASES if v["name"] == "case/option_label_wins")
    given = dict(vector["input"])
    assert extract(given.pop("text"), **given).notes == ("label_text_mismatch",)


def test_the_last_marked_answer_decides_and_the_first_is_kept() -> None:
    found = extract("Final answer: 12. Wait. Final answer: 13.", kind="number")
    assert (found.key, found.superseded) == ("13", ("12",))


def test_a_mutant_that_takes_the_last_number_fails_the_case_file() -> None:
    def last_number(text: str | None, **given: Any) -> Extraction:
        return extract(text, **{**given, "extractor": "last_number"})

    failed = [
        v["name"] for v in CASES if v["input"]["kind"] == "number" and not agrees(v, last_number)
    ]
    assert "report/29_anchor_before_last_number" in failed
    assert "report/30_no_anchor_ambiguous" in failed


def test_a_mutant_that_compares_floats_fails_the_case_file() -> None:
    failed = []
    for vector in EQUAL:
        one, two = (float(Fraction(key or "0")) for key in pair(vector))
        if (one == two) != vector["expected"]["equal"]:
            failed.append(vector["name"])
    assert failed == ["equal/11"]


def test_a_mutant_that_applies_nfkc_first_fails_the_case_file() -> None:
    def nfkc(text: str | None, **given: Any) -> Extraction:
        return extract(None if text is None else unicodedata.normalize("NFKC", text), **given)

    failed = [v["name"] for v in CASES if not agrees(v, nfkc)]
    assert "case/superscript_power" in failed


def test_a_mutant_that_matches_by_startswith_fails_the_case_file() -> None:
    failed = [
        v["name"]
        for v in EQUAL
        if (pair(v)[0] or "").startswith(pair(v)[1] or "") != v["expected"]["equal"]
    ]
    assert "equal/09" in failed
