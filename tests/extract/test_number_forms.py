"""The number grammar, form by form: exact, or a reason."""

from fractions import Fraction

import pytest

from trueness.extract import extract
from trueness.extract.amounts import Grammar
from trueness.extract.number_words import worded
from trueness.extract.numerals import MAX_DIGITS, numeral, rounded
from trueness.extract.quantities import quantities

PHRASES = [
    ("1 234 567", "1234567"),
    ("1\u202f234", "1234"),
    ("1'000'000", "1000000"),
    ("1,00,000", "100000"),
    ("10{,}000", "10000"),
    ("10,\\!080", "10080"),
    ("1.234,56", "30864/25"),
    ("1.234", "617/500"),
    ("6/4", "3/2"),
    ("\\frac12", "1/2"),
    ("11 5/6", "71/6"),
    ("1\\frac{1}{10}", "11/10"),
    ("12 \\frac{3}{5}", "63/5"),
    ("2½", "5/2"),
    ("0.\\overline{3}", "1/3"),
    ("0.1\\overline{6}", "1/6"),
    ("1.5e3", "1500"),
    ("$1.5 \\times 10^{3}$", "1500"),
    ("2^{10}", "1024"),
    ("10^{-2}", "1/100"),
    ("-$5.50", "-11/2"),
    ("(−)$5.50", "-11/2"),
    ("negative 5", "-5"),
    ("−1.8 billion", "-1800000000"),
    ("5k", "5000"),
    ("$5m", "5000000"),
    ("5m", "5"),
    ("2 million", "2000000"),
    ("5 to 7", "range:5..7"),
    ("$5-$7", "range:5..7"),
    ("$5,000 – $7,000", "range:5000..7000"),
    ("between 5 and 7", "range:5..7"),
    ("1/2 or 0.5", "1/2"),
    ("5–7 million", "range:5000000..7000000"),
    ("3:30 pm", "time:15:30"),
    ("12:30 a.m.", "time:0:30"),
    ("3:30", "time:3:30"),
    ("16:90", "ratio:8:45"),
    ("2 hours and 30 minutes", "compound:2 h 30 min"),
    ("2h30m", "compound:2 h 30 min"),
    ("5 feet 3 inches", "compound:5 ft 3 in"),
    ("the 3rd", "3"),
    ("two hundred and five", "205"),
    ("minus twelve", "-12"),
    ("-0.00", "0"),
    ("5/0", "t:5/0"),
    ("1e2000", "t:1e2000"),
    ("10^2000", "t:10^2000"),
    ("undefined", "t:undefined"),
    ("that there is 1 egg", "1"),
    ("$3\\sqrt{2}$", "t:3\\sqrt{2}"),
    ("5x", "t:5x"),
    ("x+1", "t:x+1"),
    ("sqrt(5)", "t:sqrt(5)"),
]


@pytest.mark.parametrize(("payload", "key"), PHRASES)
def test_a_form_after_a_phrase_has_its_key(payload: str, key: str) -> None:
    assert extract(f"The answer is {payload}", kind="number").key == key


@pytest.mark.parametrize(
    "payload",
    [
        "3,14", "0,123", "192.168.1.1", "3/4/2024", "2024-03-04", "10-3", "5 - 5", "5 or 7",
        "5 and 7", "5, 7", "5 & 7", "5 + 7", "5*7", "3 x 4", "10 minus 3",
        "5 - 7", "5 − 7", "5+5", "5 and 5", "5 apples or 7",
        "**5** or **7**", "$x=1$ or $x=2$", "2x + 3", "1,234,5",
    ],
)  # fmt: skip
def test_two_numbers_or_none_for_certain_are_ambiguous(payload: str) -> None:
    found = extract(f"The answer is {payload}", kind="number")
    assert (found.key, found.reason) == (None, "ambiguous")


@pytest.mark.parametrize(
    ("payload", "key"),
    [
        ("5!", "t:5!"),
        ("x = 5", "5"),
        ("12 \\text{ inches}", "12"),
        ("12\\ \\text{cm}^2", "12"),
        ("\\$3.50", "7/2"),
        ("5\\pi", "t:5\\pi"),
        ("\\dfrac{\\pi}{2}", "t:\\frac{\\pi}{2}"),
        ("\\left( 2, \\tfrac{x}{3} \\right)", None),
        ("\\infty", "t:infinity"),
        ("\\text{no solution}", "t:nosolution"),
        ("5, 7", None),
        ("3 \\text{ and } 5", None),
        ("x = 5, y = 7", None),
        ("10{,}000", "10000"),
        ("2516_8", "t:2516_8"),
    ],
)
def test_a_box_must_be_used_up(payload: str, key: str | None) -> None:
    assert extract(f"So \\boxed{{{payload}}}.", kind="number").key == key


@pytest.mark.parametrize(
    ("text", "key", "unit"),
    [
        ("50 percent", "50", "%"),
        ("28\\%", "28", "%"),
        ("€70", "70", "EUR"),
        ("70 EUR", "70", "EUR"),
        ("90°", "90", "deg"),
        ("-4 °C", "-4", "degC"),
        ("12 km", "12", ""),
        ("50%", "50", "%"),
    ],
)
def test_unit_classes_are_told_beside_the_key_and_join_it_when_kept(
    text: str, key: str, unit: str
) -> None:
    found = extract(f"#### {text}", kind="number")
    assert (found.key, found.unit) == (key, unit)
    kept = extract(f"#### {text}", kind="number", units="keep")
    assert kept.key == (f"{key} {unit}" if unit else key)


def test_other_unit_words_and_approximation_are_noted() -> None:
    assert extract("#### 18 eggs", kind="number").notes == ("unit eggs",)
    assert extract("The answer is about 5 km", kind="number").notes == ("approximate", "unit km")


def test_a_decimal_comma_is_read_where_the_locale_says_so() -> None:
    for text, key in (("3,14", "157/50"), ("1.234,5", "2469/2"), ("1.234", "1234")):
        assert extract(f"The answer is {text}", kind="number", locale="eu").key == key


def test_digits_glued_to_a_letter_belong_to_a_name() -> None:
    assert [q.key for q in quantities("X86, H2O, x_1 and 7", Grammar())] == ["7"]


def test_chinese_glues_no_digit() -> None:
    assert extract("答案是12。", kind="number").key == "12"


def test_no_numeral_costs_unbounded_work() -> None:
    long = numeral("9" * (MAX_DIGITS + 1), 0)
    assert long is not None
    assert (long.value, long.problem) == (None, "expression")
    whole = numeral("9" * MAX_DIGITS, 0)
    assert whole is not None
    assert whole.value == 10**MAX_DIGITS - 1
    power = numeral("9^1000", 0)
    assert power is not None
    assert power.value == 9**1000
    assert extract("\\boxed{" + "9" * 5_000 + "}", kind="number").key == "t:" + "9" * 5_000


def test_rounding_goes_half_away_from_zero() -> None:
    assert rounded(Fraction(5, 1000), 2) == Fraction(1, 100)
    assert rounded(Fraction(-5, 1000), 2) == Fraction(-1, 100)
    assert extract("\\boxed{1/3}", kind="number", decimals=2).key == "33/100"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("twenty-one", (21, "")),
        ("two hundred and five eggs", (205, "eggs")),
        ("two million three hundred thousand and five", (2_300_005, "")),
        ("nineteen hundred", (1900, "")),
        ("a hundred", (100, "")),
        ("one of two", None),
        ("one two", None),
        ("eggs", None),
        ("and five", None),
    ],
)
def test_number_words_in_their_usual_order_are_numbers(
    text: str, found: tuple[int, str] | None
) -> None:
    assert worded(text) == found
