import json
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trueness.extract.sentence_marks import Mark, mark_of
from trueness.extract.sentences import SPLITTER, paragraph_count, split_sentences

ANY_TEXT = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            list(" \n\r\t.?!。！？「」『』（）-*1234567890.)>#abcあと\ud800\u2028\u0301")
        ),
    ),
    max_size=120,
)
SIGNS = set("-*+•‣◦▪▸►·●○■□–—#>()0123456789.")
SCRIPTS = (
    "Paris is the capital of France",
    "巴黎是法国的首都",
    "パリはフランスの首都です",
    "파리는 프랑스의 수도이다",
    "باريس عاصمة فرنسا",
    "פריז היא בירת צרפת",
    "पेरिस फ्रांस की राजधानी है",
    "Париж столица Франции",
    "Το Παρίσι είναι πρωτεύουσα",
    "ปารีสเป็นเมืองหลวงของฝรั่งเศส",
    "ፓሪስ የፈረንሳይ ዋና ከተማ ናት",
    "ပါရီသည် ပြင်သစ်နိုင်ငံ",
    "პარიზი საფრანგეთის დედაქალაქია",
    "Փարիզը Ֆրանսիայի մայրաքաղաքն է",
    "பாரிஸ் பிரான்சின் தலைநகரம்",
    "👍",
    "𝒳𝒴",
)


def _texts(text: str) -> list[str]:
    return [s.text for s in split_sentences(text)]


@given(ANY_TEXT)
@example("a\ud800b. C d.")
@example("1. \n2. x")
@example("- \n- -")
def test_offsets_are_exact_and_nothing_but_space_and_signs_is_outside(text: str) -> None:
    found = split_sentences(text)
    at = 0
    for sentence in found:
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.text == sentence.text.strip() != ""
        assert at <= sentence.start < sentence.end
        outside = text[at : sentence.start]
        assert set("".join(outside.split())) <= SIGNS, outside
        at = sentence.end
    assert not text[at:].strip()
    assert bool(found) == bool(text.strip())


@pytest.mark.parametrize("text", SCRIPTS)
def test_unmarked_text_of_any_script_is_one_sentence(text: str) -> None:
    assert _texts(text) == [text]


def test_no_sentence_is_dropped_for_being_short() -> None:
    assert _texts("She won.") == ["She won."]
    assert _texts("He died in 1999. She won. Ok.") == ["He died in 1999.", "She won.", "Ok."]
    assert _texts("IDK") == ["IDK"]
    assert _texts("...") == ["..."]


def test_abbreviations_and_numbers_do_not_end_a_sentence() -> None:
    text = "Dr. Smith paid 3.14 dollars, e.g. in the U.S. army. J. Smith left."
    assert _texts(text) == [
        "Dr. Smith paid 3.14 dollars, e.g. in the U.S. army.",
        "J. Smith left.",
    ]


def test_chinese_and_japanese_are_split_at_their_stops() -> None:
    assert _texts("他死了。她赢了！真的？是的") == ["他死了。", "她赢了！", "真的？", "是的"]
    assert _texts("彼は「行く。待て。」と言った。次の日。") == [
        "彼は「行く。待て。」と言った。",
        "次の日。",
    ]
    assert _texts("「行く。」彼は言った。") == ["「行く。」", "彼は言った。"]


def test_a_quotation_that_never_closes_holds_nothing_together() -> None:
    assert _texts("「行く。彼は死んだ。彼女は勝った。") == [
        "「行く。",
        "彼は死んだ。",
        "彼女は勝った。",
    ]


def test_bullets_are_items_and_their_signs_stay_outside() -> None:
    found = split_sentences("Cities:\n- Paris\n* Rome. It is old.\n• ok\n1) one\n2) two")
    assert [(s.text, s.bullet) for s in found] == [
        ("Cities:", False),
        ("Paris", True),
        ("Rome.", True),
        ("It is old.", True),
        ("ok", True),
        ("one", True),
        ("two", True),
    ]


def test_a_number_that_may_be_the_answer_stays_in_the_sentence() -> None:
    assert _texts("42. That is it.") == ["42. That is it."]
    assert _texts("1. First. 2. Second.") == ["1. First.", "2. Second."]
    assert _texts("The answer is **42**. It is 5.") == ["The answer is **42**.", "It is 5."]


def test_a_line_wrapped_by_a_width_is_one_sentence_and_a_list_without_signs_is_not() -> None:
    long = (
        "The committee of the city met on Monday and it then decided that\nthe bridge stays. Fine."
    )
    assert _texts(long) == [long[:-6], "Fine."]
    assert _texts("apples\npears\nplums") == ["apples", "pears", "plums"]
    assert len(_texts(long.replace("\n", "\n\n"))) == 3


def test_closing_marks_belong_to_the_sentence_they_close() -> None:
    assert _texts("**Bold.** Next one.") == ["**Bold.**", "Next one."]
    assert _texts("? I haven't seen it. Yes.") == ["? I haven't seen it.", "Yes."]


def test_marks_tell_refusals_greetings_and_questions_from_statements() -> None:
    marks = {s.text: s.mark for s in split_sentences("Hello! Paris is in France. Who won? IDK")}
    assert marks == {
        "Hello!": Mark.GREETING,
        "Paris is in France.": None,
        "Who won?": Mark.QUESTION,
        "IDK": None,
    }


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("I'm sorry, but I can't help with that.", Mark.REFUSAL),
        ("I cannot answer, but Rome is in Peru.", None),
        ("I am not sure, but I do not know.", Mark.REFUSAL),
        ("The Unknown Soldier lies in Paris.", None),
        ("Hi, Paris is in France.", None),
        ("Thank you so much!", Mark.GREETING),
        ("你好！", Mark.GREETING),
        ("真的？", Mark.QUESTION),
        ("هل ذهب؟", Mark.QUESTION),
        ("行きますか。", Mark.QUESTION),
        ("静か。", None),
        ("Πού είναι;", Mark.QUESTION),
        ("He said (why?)", Mark.QUESTION),
        ("Wait;", None),
        ("", None),
    ],
)
def test_marks_of_single_sentences(text: str, mark: Mark | None) -> None:
    assert mark_of(text) is mark


def test_paragraphs_are_counted_between_blank_lines() -> None:
    assert paragraph_count("a\nb\r\n\r\nc\n \n\nd") == 3
    assert paragraph_count("") == 0
    assert paragraph_count("one") == 1


def test_a_language_can_be_declared() -> None:
    text = "Das ist z.B. gut. Nein."
    assert [s.text for s in split_sentences(text, language="de")] == ["Das ist z.B. gut.", "Nein."]


def test_the_rules_have_a_name() -> None:
    assert SPLITTER.startswith("sentences/1")


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "word ",
            "a",
            "A. ",
            "（",
            "「",
            "「」。",
            '"',
            "。",
            "😀",
            "\n",
            "-\n",
            "1. a\n",
            "*",
            ". ",
        ),
        *("1. ", '." ', "y" * 70 + "\n", "\u0301", "\ud800", "a.b", "[*_", "？」と"),
    ],
)
def test_a_hostile_text_of_a_hundred_thousand_characters_takes_seconds_at_most(unit: str) -> None:
    text = (unit * 100_000)[:100_000]
    start = time.process_time()
    found = split_sentences(text)
    assert time.process_time() - start < 20
    assert bool(found) == bool(text.strip())


def test_a_text_without_an_end_is_not_cut_however_long_it_is() -> None:
    assert len(_texts("word " * 20_000)) == 1
    assert len(_texts("This is one. " * 5_000)) == 5_000


def test_every_character_of_unicode_can_stand_in_a_sentence() -> None:
    for start in range(0, 0x11_0000, 0x1000):
        text = "".join(map(chr, range(start, start + 0x1000)))
        kept = "".join(s.text for s in split_sentences(text))
        lost = {c for c in set(text) - set(kept) if not c.isspace()} - SIGNS
        assert not lost, sorted(map(unicodedata.category, lost))


def test_real_abstracts_keep_every_character() -> None:
    path = Path(__file__).parents[1] / "golden/minilm.json"
    for text in json.loads(path.read_text("utf-8"))["texts"]:
        kept = "".join("".join(s.text.split()) for s in split_sentences(text))
        assert len(kept) >= len("".join(text.split())) - 4
