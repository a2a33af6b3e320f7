from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.extract import exact_number, extract, extractor_name
from trueness.extract.refusals import refusal_in
from trueness.extract.short_answers import KINDS, Kind, cut
from trueness.table import Outcome

REASONS: dict[Outcome, set[str | None]] = {
    Outcome.ANSWERED: {None},
    Outcome.NO_ANSWER: {"empty", "declined"},
    Outcome.REFUSED: {"refusal"},
    Outcome.ERROR: {"missing_completion"},
}


@given(st.one_of(st.none(), st.text(), st.text("I can't help know.\n,!—’")), st.sampled_from(KINDS))
def test_any_text_has_one_valid_outcome(text: str | None, kind: Kind) -> None:
    result = extract(text, kind=kind)
    assert result.reason in REASONS[result.outcome]
    assert (result.key is not None) == (result.outcome is Outcome.ANSWERED)


@pytest.mark.parametrize(
    "text",
    [
        "I cannot help with that.",
        "I'm sorry, but I can't help with that.",
        "I’m sorry, but I can’t do that",
        "As an AI language model, I have no opinion",
        "I won't comply",
        "I'm unable to assist",
    ],
)
def test_refusals_are_refused(text: str) -> None:
    assert refusal_in(text) == "refusal"
    assert extract(text, kind="short_cut").outcome is Outcome.REFUSED


@pytest.mark.parametrize(
    "text",
    [
        "It cannot be determined from the information given.",
        "I don't know.",
        "Unknown",
        "It is unclear.",
        "There is not enough information",
        "It is impossible to say",
        "I can't answer",
    ],
)
def test_declining_is_no_answer(text: str) -> None:
    assert extract(text).reason == "declined"


@pytest.mark.parametrize("text", ["Canberra", "The Unknown Soldier", "Cannes", "Wonju", "Abel"])
def test_names_that_hold_such_words_are_answers(text: str) -> None:
    assert extract(text).key == text.lower()


def test_a_polite_answer_is_no_refusal() -> None:
    assert refusal_in("I'm sorry, but I can only estimate. The answer is 5.") is None


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Paris. It is", "paris"),
        ("\nParis\nQ: next", "paris"),
        ("Lima, the capital", "lima"),
        ("1,234 people", "1,234 people"),
        ("K. Because", "k"),
        ("3.14 or so", "3.14 or so"),
        ("Sn", "sn"),
        ("Paris. I don't know more", "paris"),
    ],
)
def test_the_cut_keeps_the_answer_and_drops_what_follows(text: str, key: str) -> None:
    assert extract(text, kind="short_cut").key == key


@given(st.text() | st.text("aA1 .,!?。、\n", max_size=8))
@example("..")
@example(".,")
def test_cutting_twice_cuts_once(text: str) -> None:
    assert cut(cut(text)) == cut(text)


def test_the_extractor_is_named_with_its_version_and_the_hash_of_its_rules() -> None:
    names = {extractor_name(kind, fold_case=fold) for kind in KINDS for fold in (True, False)}
    assert len(names) == 4
    assert all("@1+" in name for name in names)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(InputError, match="kind is 'long'; known are 'number', "):
        extract("x", kind="long")  # type: ignore[arg-type] # refused at run time too


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", Fraction(12)),
        ("-1,234.50", Fraction(-2469, 2)),
        ("\u22125", Fraction(-5)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("nan", None),
        ("inf", None),
        ("1e3", None),
        ("1,23", None),
        ("12,345,67", None),
        ("", None),
        (".", None),
        ("-", None),
        ("५", None),
        ("9" * 5000, None),
    ],
)
def test_numerals_are_exact_and_nothing_else_is_a_number(text: str, value: Fraction | None) -> None:
    assert exact_number(text) == value


@given(st.integers(), st.integers(0, 6))
def test_a_decimal_is_read_back_exactly(whole: int, places: int) -> None:
    value = Fraction(whole, 10**places)
    digits = str(abs(whole)).rjust(places + 1, "0")
    text = f"{digits[: len(digits) - places]}.{digits[len(digits) - places :]}"
    assert exact_number(("-" if whole < 0 else "") + text) == value


@given(st.integers())
def test_grouping_changes_no_number(n: int) -> None:
    assert exact_number(f"{n:,}") == exact_number(str(n)) == n
