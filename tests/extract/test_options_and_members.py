"""Options, texts, sets, tuples and answers of any kind."""

import pytest

from trueness.extract import extract
from trueness.extract.extraction import answerer
from trueness.extract.settings import Kind, Settings
from trueness.table import Outcome

CHOICES = ("Paris", "Rome", "Oslo", "Lima")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("B", "B"),
        ("(b)", "B"),
        ("B) Rome", "B"),
        ("Option B", "B"),
        ("**B**", "B"),
        ("Answer: $\\boxed{B}$", "B"),
        ("\\boxed{\\textbf{(B)}}", "B"),
        ("The correct option is B.", "B"),
        ("The answer is clearly B", "B"),
        ("Answer: I think B", "B"),
        ("Answer: B, not A", "B"),
        ("Answer: A because it is old", "A"),
        ("A is wrong.\n\nB", "B"),
        ("Rome", "B"),
        ("Answer: rome.", "B"),
        ("The answer is B, which is Rome", "B"),
        ("I think it is (B).", "B"),
        ("The correct answer is: **B. Rome**", "B"),
        ("**Correct answer: B**", "B"),
        ("The answer is (B) and not (A).", "B"),
        ("#### Rome", "B"),
    ],
)
def test_a_label_or_an_options_text_is_the_option(text: str, key: str) -> None:
    assert extract(text, kind="option", choices=CHOICES).key == key


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Answer: A or B", "ambiguous"),
        ("Answer: Both A and B", "ambiguous"),
        ("Answer: B/C", "ambiguous"),
        ("(A) is wrong, so (B)", "ambiguous"),
        ("Answer: F", "out_of_range"),
        ("Answer: A car moves", "no_candidate"),
        ("Answer: I", "no_candidate"),
        ("Answer: B's", "no_candidate"),
        ("CAB", "no_candidate"),
        ("b) Rome", "no_candidate"),
        ("\\boxed{\\Delta C}", "no_candidate"),
        ("Answer: cannot be determined", "declined"),
        ("I cannot help with that.", "refusal"),
    ],
)
def test_no_letter_of_something_else_is_an_option(text: str, reason: str) -> None:
    assert extract(text, kind="option", choices=CHOICES).reason == reason


def test_labels_may_be_numerals_or_more_than_four_letters() -> None:
    assert extract("Answer: 2", kind="option", labels=("1", "2", "3")).key == "2"
    assert extract("Answer: E", kind="option").reason == "out_of_range"
    assert extract("Answer: E", kind="option", choices=list("vwxyz")).key == "E"


def test_options_that_share_a_text_are_told_by_label_only() -> None:
    assert extract("Answer: x", kind="option", choices=("x", "x", "y")).key is None
    assert extract("Answer: y", kind="option", choices=("x", "x", "y")).key == "C"


def test_an_options_own_text_beats_a_declining_phrase() -> None:
    choices = ("5", "Cannot be determined")
    assert extract("Answer: Cannot be determined.", kind="option", choices=choices).key == "B"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("The answer is Paris, because it is large. Yes.", "paris"),
        ("The answer is the Eiffel Tower.", "eiffel tower"),
        ("Answer: St. Louis. It is", "st. louis"),
        ("Answer: Washington D.C.", "washington d.c"),
        ('"Paris"', "paris"),
        ("**Paris**", "paris"),
        ("#### Paris", "paris"),
        ("\\boxed{\\text{Monday}}", "monday"),
        ('{"answer": "New York"}', "new york"),
        ("Paris.\nIt is large.", None),
        ("x" * 201, None),
        ("\\boxed{Paris}. This answer is correct.", "paris"),
    ],
)
def test_a_text_is_a_payload_or_one_short_line(text: str, key: str | None) -> None:
    assert extract(text, kind="text").key == key


def test_a_text_that_declines_or_refuses_is_no_answer() -> None:
    assert extract("The answer is unknown.", kind="text").reason == "declined"
    assert extract("I cannot help with that.", kind="text").outcome is Outcome.REFUSED


@pytest.mark.parametrize(
    ("kind", "text", "key"),
    [
        ("set", "\\boxed{\\{7, 5, 7\\}}", "set:{5; 7}"),
        ("set", "The answers are 1,000, 2,000 and 3.", "set:{3; 1000; 2000}"),
        ("set", "\\boxed{x=5, x=-7}", "set:{-7; 5}"),
        ("set", "\\boxed{red, blue}", "set:{blue; red}"),
        ("set", "\\boxed{\\sqrt{2}, -1}", "set:{-1; t:\\sqrt{2}}"),
        ("set", "\\boxed{\\emptyset}", "set:{}"),
        ("set", "5; 7", "set:{5; 7}"),
        ("set", '{"answer": [3, 1]}', "set:{1; 3}"),
        ("set", "She has 5 and he has 7.", None),
        ("tuple", "(0, 1]", "tuple:(0; 1]"),
        ("tuple", "\\boxed{(100,200)}", "tuple:(100; 200)"),
        ("tuple", "\\boxed{\\left(3, \\frac{\\pi}{2}\\right)}", "tuple:(3; t:\\frac{\\pi}{2})"),
        ("tuple", "The answer is (3, 4).", "tuple:(3; 4)"),
        ("tuple", "\\boxed{(x,y)=(1,2)}", "tuple:(1; 2)"),
        ("tuple", "The point is (3, 4), on the line.", "tuple:(3; 4)"),
        ("tuple", "(3, 4) or (5, 6)", None),
        ("tuple", "3, 4", None),
        ("auto", "\\boxed{5}", "5"),
        ("auto", "\\boxed{5, 7}", "set:{5; 7}"),
        ("auto", "\\boxed{(3, 4)}", "tuple:(3; 4)"),
        ("auto", "\\boxed{[2,5)}", "tuple:[2; 5)"),
        ("auto", "\\boxed{\\text{Monday}}", "monday"),
        ("auto", "\\boxed{4a-2}", "t:4a-2"),
        ("auto", "\\boxed{A}", "t:A"),
        ("auto", "\\boxed{x \\in [0,1]}", "t:x\\in[0,1]"),
        ("auto", "The answer is 5 or 7", "set:{5; 7}"),
        ("auto", "The answer is Monday.", "monday"),
        ("auto", "\\boxed{5}. So this answer is correct.", "5"),
        ("auto", "\\boxed{4:30 \\text{ p.m.}}", "time:16:30"),
        ("auto", "Monday", None),
    ],
)
def test_several_members_make_one_key(kind: Kind, text: str, key: str | None) -> None:
    assert extract(text, kind=kind).key == key


@pytest.mark.parametrize(
    "text",
    [
        "The answer is B.", "The answer is (B).", "Answer: **B**", r"\boxed{B}", r"\boxed{(B)}",
        r"\boxed{\text{B}}", "#### (B)", '{"answer": "B"}', "B", "So\n(B)", "The answer is $B$.",
        "The answer is option B.", "Answer: B) Paris", "The answer is B, because it is large.",
    ],
)  # fmt: skip
def test_a_letter_is_one_answer_however_it_is_spelled(text: str) -> None:
    assert extract(text, kind="auto").key == "t:B"
    assert answerer(Settings("auto")).gold("B") == answerer(Settings("auto")).gold("(B)") == "t:B"


@pytest.mark.parametrize(
    ("text", "key"), [("Answer: B. Brecht", "b. brecht"), ("Answer: vitamin C", "vitamin c")]
)
def test_a_letter_in_a_name_is_no_label(text: str, key: str) -> None:
    assert extract(text, kind="auto").key == key


def test_values_of_different_unknowns_are_no_plain_set() -> None:
    keys = [
        extract(rf"\boxed{{{payload}}}", kind="set").key
        for payload in ("x=1, y=2", "y=2, x=1", "x=2, y=1", "x=1 or x=2", "1, 2", "x>=1, x<=2")
    ]
    assert keys[0] == keys[1] == "set:{x=1; y=2}"
    assert keys[2] == "set:{x=2; y=1}"
    assert keys[3] == keys[4] == "set:{1; 2}"
    assert keys[5] != keys[4]


def test_a_mark_without_an_answer_is_no_text_answer() -> None:
    assert extract("Answer:", kind="text").key is None
    assert extract("Answer: ...", kind="text").key is None
    assert extract("Answer", kind="text").key == "answer"
