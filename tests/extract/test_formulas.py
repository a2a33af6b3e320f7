"""A number that is only a part of a formula is never taken for the whole."""

import pytest

from trueness.extract import extract
from trueness.extract.extraction import answerer
from trueness.extract.number_words import worded
from trueness.extract.settings import Settings

FORMULAS = [
    r"\sqrt{34}", "√34", "3√2", "3 √2", "2π", "2 π", "π/2", "2^n", "log 5", "ln(5)", "sin 30",
    "sqrt(5)", "3*sqrt(5)", "x > 5", "x < 5", "x >= 5", "x <= 5", "x ≥ 5", ">5", "<5", "±5",
    "5 choose 2", "(-2)^2", "2^{3^2}", "2^3^2", "1/x", "5/n", "2 mod 5", "e^{5}", "5 squared",
    "3 over 5", "3÷5", "5·3", "5 and a half", "2 hundred", "2 dozen", "two thirds", "one half",
    "5th root of 2", "0x1F", "0b101", "10₂", "5(x + 1)", "5(x + 2)", "5x + y", "5x - z", "5 lakh",
    "at least 5", "at most 5", "more than 5", "less than 5", "12 or more", "5-n", "2(x+y)",
    "5 January 2024", "January 5", "May 5", "500 BC", "12+",
]  # fmt: skip


PROSE = ("at ", "more ", "less ")
"""Bounds in words count only where the answer is marked; prose may tell a number that way."""
CASES = [
    (formula, shape)
    for formula in FORMULAS
    for shape in ("The answer is {}.", r"So \boxed{{{}}}.", "{}")
    if shape != "{}" or not formula.startswith(PROSE)
]


@pytest.mark.parametrize(("formula", "shape"), CASES)
def test_a_formula_is_no_number(formula: str, shape: str) -> None:
    key = extract(shape.format(formula), kind="number").key
    assert key is None or key.startswith("t:")


@pytest.mark.parametrize("shape", ["The answer is {}.", r"So \boxed{{{}}}."])
def test_different_formulas_have_different_keys(shape: str) -> None:
    different = {formula.replace(" ", ""): formula for formula in FORMULAS}
    keys = [extract(shape.format(f), kind="number").key for f in different.values()]
    known = [key for key in keys if key is not None]
    assert len(known) > len(different) - 5
    assert len(set(known)) == len(known)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("The answer is _5_.", "5"),
        ("The answer is __5__", "5"),
        ("The answer is *5*.", "5"),
        ("The result was *5*", "5"),
        ("The answer is <b>5</b>.", "5"),
        ("The answer is <5>", "5"),
        ("> 5", "5"),
        ("12 * 2 => 24", None),
        ("The answer is 5 (five).", "5"),
        ("It takes 5 hours.", "5"),
        ("The answer is 5/h", "5"),
        ("The answer is 5 km/h.", "5"),
        ("The answer is $5/week.", "5"),
        (r"\boxed{5 \text{ cm}^2}", "5"),
        (r"\boxed{5\text{ m}^{2}}", "5"),
        (r"\boxed{5-foot}", "5"),
        (r"\boxed{5 (approx.)}", "5"),
        ("The answer is 12 quarters.", "12"),
        ("#### 12 quarters", "12"),
    ],
)
def test_what_only_looks_like_a_formula_is_a_number(text: str, key: str | None) -> None:
    assert extract(text, kind="number").key == key


def test_digits_after_the_point_of_a_name_are_no_number() -> None:
    assert extract("It is v1.2", kind="number").reason == "no_candidate"


def test_words_that_make_another_number_of_number_words_are_no_units() -> None:
    assert worded("two thirds") is None
    assert worded("two dozen") is None
    assert worded("two tables") == (2, "tables")


def test_a_number_in_a_name_is_no_number_where_answers_may_be_text() -> None:
    marked = [extract(f"The answer is {n}.", kind="auto").key for n in ("Apollo 11", "Soyuz 11")]
    assert marked == ["apollo 11", "soyuz 11"]
    assert extract("Apollo 11", kind="auto").key is None
    assert extract("He gives Mary 11 apples.", kind="auto").key == "11"


@pytest.mark.parametrize("answer", ["C++", "AC/DC", "Apollo 11", "January 5", "Paris", "B"])
def test_an_answer_of_any_kind_has_the_key_of_its_gold(answer: str) -> None:
    gold = answerer(Settings("auto")).gold(answer)
    assert gold is not None
    for shape in ("The answer is {}.", r"So \boxed{{{}}}.", "Answer: **{}**"):
        assert extract(shape.format(answer), kind="auto").key == gold
