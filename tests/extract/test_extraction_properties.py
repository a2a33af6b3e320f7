"""What holds for every text, and what no wrapping of a number may change."""

import string
from fractions import Fraction
from random import Random
from typing import get_args

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from trueness.extract import Extraction, extract
from trueness.extract.settings import EXTRACTORS, KINDS, Extractor, Kind, Units
from trueness.table import Outcome

LONG_KINDS = tuple(kind for kind in KINDS if not kind.startswith("short"))
NO_ANSWER = {"empty", "declined", "no_candidate", "ambiguous", "out_of_range", "reasoning_only"}
ERRORS = {"missing_completion", "content_filter", "infrastructure_text", "error"}
PIECES = (
    "\\boxed{", "}", "{", "(", ")", "[", "]", "$", "\\(", "\\)", "####", "A:", "Answer:",
    "answer is ", "The answer is ", "**", "1", "23", "4,567", "3,14", "1.5", ".", ",", "-", "–",
    "−", "/", "5/0", "=", "\\frac", "{1}{2}", "^", "²", "½", "\n", "\r\n", "\t", " ", "<think>",
    "</think>", "```", '"answer": ', '{"answer": "', '"', "%", "°", "\\text{", "€", "k", "million",
    "pm", ":", "3:30", "to", "between", "and", "or", "not", "because", "A", "B)", "(C)", "E", "I",
    "I cannot help", "unknown", "Q:", "Error: 429", "\u0661", "５", "\u200b", "\ud800", "\u202e",
    "é", "x", "twenty", "-one", "∞", "\\infty", "\\sqrt{2}", "e5", "10^", "\\", "\\\\", "答案",
    "是", "1 234", "'", "’", "'000", "<|im_end|>", "!", "…",
)  # fmt: skip
TEXTS = st.text() | st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
STOPS = st.sampled_from([None, "stop", "length", "max_tokens", "content_filter", "error", "odd"])


def check(text: str | None, found: Extraction) -> None:
    match found.outcome:
        case Outcome.ANSWERED:
            assert found.key
            assert found.reason is None
            assert found.key.encode("utf-8")
            assert text is not None
            assert found.span is not None
            assert 0 <= found.span[0] <= found.span[1] <= len(text)
            assert found.raw == text[slice(*found.span)]
        case Outcome.NO_ANSWER:
            assert found.reason in NO_ANSWER
        case Outcome.REFUSED:
            assert found.reason == "refusal"
        case Outcome.TRUNCATED:
            assert found.reason == "truncated"
        case Outcome.ERROR:
            assert found.reason in ERRORS
    assert (found.key is None) == (found.outcome is not Outcome.ANSWERED)


@settings(max_examples=400)
@given(
    st.none() | TEXTS,
    STOPS,
    st.sampled_from(LONG_KINDS),
    st.sampled_from(EXTRACTORS),
    st.sampled_from(get_args(Units)),
    st.sampled_from([None, 0, 2]),
)
@example("\\frac", None, "number", "declared", "ignore", None)
@example("{", "length", "auto", "declared", "keep", None)
def test_any_text_has_one_valid_outcome(  # noqa: PLR0917 - Hypothesis passes them
    text: str | None,
    stop: str | None,
    kind: Kind,
    extractor: Extractor,
    units: Units,
    decimals: int | None,
) -> None:
    found = extract(
        text, kind=kind, stop_reason=stop, extractor=extractor, units=units, decimals=decimals
    )
    check(text, found)
    missing = text is None or stop in ("content_filter", "error")
    if missing or found.reason != "infrastructure_text":
        assert (found.outcome is Outcome.ERROR) == missing


def adversarial(random: Random) -> str:
    """Random pieces, repeated pieces, or random characters."""
    match random.randrange(3):
        case 0:
            return "".join(random.choice(PIECES) for _ in range(random.randrange(40)))
        case 1:
            unit = "".join(random.choice(PIECES) for _ in range(1 + random.randrange(3)))
            return unit * (1 + random.randrange(60))
        case _:
            letters = string.printable + "½²−–５\u200b\u2028éß答"
            return "".join(random.choice(letters) for _ in range(random.randrange(120)))


def fuzz(seed: int, n: int) -> None:
    random = Random(seed)  # noqa: S311 - texts, no secrets
    for i in range(n):
        text = adversarial(random)
        kind = LONG_KINDS[i % len(LONG_KINDS)]
        stop = random.choice([None, "length", "stop"])
        check(text, extract(text, kind=kind, stop_reason=stop))


def test_a_few_thousand_adversarial_texts_raise_nothing() -> None:
    fuzz(1, 3_000)


@pytest.mark.slow
def test_a_hundred_thousand_adversarial_texts_raise_nothing() -> None:
    fuzz(2, 100_000)


RATIONALS = st.fractions(max_denominator=10**6)


def shown(value: Fraction) -> str:
    whole = value.denominator == 1
    return str(value.numerator) if whole else f"{value.numerator}/{value.denominator}"


@given(RATIONALS)
def test_the_key_of_a_rendered_rational_is_itself(value: Fraction) -> None:
    key = shown(value)
    for text in (key, f"#### {key}", f"\\boxed{{{key}}}", f"The answer is {key}.", f"A: {key}"):
        assert extract(text, kind="number").key == key


@given(st.sampled_from("ABCDE"))
def test_the_key_of_a_rendered_option_is_itself(label: str) -> None:
    for text in (label, f"({label})", f"Answer: {label}", f"The answer is **{label}**."):
        assert extract(text, kind="option", labels="ABCDE").key == label


@given(st.sets(RATIONALS, min_size=1, max_size=5))
def test_the_key_of_a_rendered_set_is_itself(values: set[Fraction]) -> None:
    key = f"set:{{{'; '.join(map(shown, sorted(values)))}}}"
    assert extract(key, kind="set").key == key
    members = ", ".join(map(shown, values))
    assert extract(f"\\boxed{{\\{{{members}\\}}}}", kind="set").key == key


DECIMALS = st.tuples(st.integers(-(10**9), 10**9), st.integers(0, 4)).map(
    lambda pair: f"{pair[0]}" if not pair[1] else f"{pair[0]}.{'25'[: pair[1]]}"
)
WIDE = str.maketrans("0123456789.-", "０１２３４５６７８９．－")


@given(DECIMALS, st.sampled_from(["{}", "#### {}", "\\boxed{{{}}}", "The answer is {}"]))
def test_wrapping_changes_no_number_key(number: str, frame: str) -> None:
    text = frame.format(number)
    key = extract(text, kind="number").key
    assert key is not None
    assert extract(f"  {text} \n", kind="number").key == key
    assert extract(text.translate(WIDE), kind="number").key == key
    if "boxed" not in frame:
        assert extract(f"{text}.", kind="number").key == key
        assert extract(frame.format(f"**{number}**"), kind="number").key == key


@given(st.integers(-(10**15), 10**15))
def test_numbers_with_and_without_grouping_agree(n: int) -> None:
    for grouped in (f"{n:,}", f"{n:,}".replace(",", "'"), f"{n:,}".replace(",", "\u202f")):
        assert extract(f"The answer is {grouped}.", kind="number").key == str(n)
    assert extract(f"\\boxed{{{n:,}}}".replace(",", "{,}"), kind="number").key == str(n)


@settings(max_examples=300)
@given(TEXTS, st.integers(-999, 10**6))
def test_a_last_line_with_the_answer_decides_whatever_came_before(text: str, n: int) -> None:
    assume(not any(mark in text for mark in ("<think>", "</think>", "```", "<|", "INST]", "turn>")))
    whole = f"{text}\nThe answer is {n}."
    from trueness.extract.trimming import run_on_at  # noqa: PLC0415 - one property needs it

    assume(run_on_at(whole) == len(whole))
    for kind in ("number", "auto"):
        assert extract(whole, kind=kind).key == str(n)


@given(st.lists(TEXTS, min_size=3, max_size=3), st.sampled_from(LONG_KINDS))
def test_equality_of_keys_is_an_equivalence(texts: list[str], kind: Kind) -> None:
    a, b, c = (extract(text, kind=kind).key for text in texts)
    assert a == a  # noqa: PLR0124 - reflexive
    assert (a == b) == (b == a)
    if a == b and b == c:
        assert a == c


@given(st.integers(0, 10**6), st.integers(1, 10**4), st.integers(0, 3))
def test_rounding_to_a_grid_is_the_same_on_both_sides(up: int, low: int, decimals: int) -> None:
    one = extract(f"\\boxed{{{up}/{low}}}", kind="number", decimals=decimals).key
    assert one is not None
    again = extract(f"\\boxed{{{one}}}", kind="number", decimals=decimals).key
    assert one == again
    assert abs(Fraction(one) - Fraction(up, low)) <= Fraction(1, 2 * 10**decimals)
