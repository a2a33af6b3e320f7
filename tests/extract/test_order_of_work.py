"""What is tried in which order: the host, reasoning, markers, lines, candidates, reasons."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from trueness.contract.errors import InputError
from trueness.extract import extract, extractor_name, fingerprint, keyed
from trueness.extract.markers import markers
from trueness.extract.settings import KINDS, Settings, settings_of
from trueness.extract.trimming import is_infrastructure, run_on_at
from trueness.table import Outcome, read_answers


@pytest.mark.parametrize(
    "text",
    [
        "Error: 429 Too Many Requests",
        "HTTP 503 Service Unavailable",
        "Error code: 500 - {'error': {'message': 'overloaded'}}",
        "openai.RateLimitError: Rate limit reached",
        "APITimeoutError: Request timed out.",
    ],
)
def test_a_message_of_the_host_is_missing_data(text: str) -> None:
    found = extract(text, kind="number")
    assert (found.outcome, found.reason) == (Outcome.ERROR, "infrastructure_text")


@pytest.mark.parametrize(
    "text",
    ["Error: 5", "Error analysis: 500 samples", "The error is 512", "Error: 429" + "." * 300],
)
def test_a_text_about_errors_is_no_message(text: str) -> None:
    assert not is_infrastructure(text)


def test_a_marked_answer_is_stronger_than_a_message_of_the_host() -> None:
    assert extract("Error: 429\nThe answer is 5.", kind="number").key == "5"


def test_reasoning_is_no_answer_and_what_follows_it_is() -> None:
    assert extract("<think>The answer is 7</think>It is 8.", kind="number").key == "8"
    assert extract("7 it is</think> 8", kind="number").key == "8"
    assert extract("<think>7", kind="number").outcome is Outcome.TRUNCATED
    assert extract("<think>7</think> ", kind="number").reason == "reasoning_only"


def test_the_next_exercise_is_cut_off() -> None:
    for turn in ("\n\nQuestion: 7?\nA: 13", "\nUser: and 7?\nA: 13", "<|im_end|>\n#### 13"):
        assert extract(f"A: 12{turn}", kind="number").key == "12"
    assert run_on_at("\nQuestion: 7?") == len("\nQuestion: 7?")


def test_markers_are_ordered_by_where_they_end() -> None:
    found = markers('#### 1\n{"answer": 2}\nAnswer: 3\n\\boxed{4}\nA: 5', a_lines=True)
    assert [m.payload for m in found] == ["1", "2", " 3", "4", " 5"]


def test_a_box_in_a_phrase_is_the_answer_and_counts_once() -> None:
    found = extract("The answer is \\boxed{5}, because 7 is odd.", kind="number")
    assert (found.key, found.superseded, found.rule) == ("5", (), "boxed")


def test_an_outer_box_holds_an_inner_one() -> None:
    assert extract("\\boxed{\\boxed{5}}", kind="number").key == "5"


def test_a_markdown_heading_is_no_answer() -> None:
    assert extract("#### Step 1: add 2\nThe answer is 7", kind="number").superseded == ()
    assert extract("The answer is 7\n#### Explanation of 2 steps", kind="number").key == "7"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('{"answer": "1,234", "steps": [1]}', "1234"),
        ('{"answer": 12.50}', "25/2"),
        ('{"answer": "\\\\frac{1}{2}"}', "1/2"),
        ('{"answer": "\\frac{1}{2}"}', "1/2"),
        ('{"answer": null}', None),
    ],
)
def test_json_values_are_answers_where_they_stand_in_an_object(text: str, key: str | None) -> None:
    assert extract(text, kind="number").key == key


@pytest.mark.parametrize(
    "text",
    ["So \\boxed{12", '{"answer": "12', '{"answer": ', '{"answer": 12', '{"answer": [1, 2'],
)
def test_an_open_brace_or_quote_is_a_cut(text: str) -> None:
    assert extract(text, kind="number").outcome is Outcome.TRUNCATED
    assert extract(f"{text}\nThe answer is 3.", kind="number").key == "3"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("The answer is 12", Outcome.TRUNCATED),
        ("The answer is 12.", Outcome.ANSWERED),
        ("The answer is 12 mill", Outcome.TRUNCATED),
        ("The answer is 12. I used 3 st", Outcome.ANSWERED),
        ("#### 12", Outcome.TRUNCATED),
        ("\\boxed{12}", Outcome.ANSWERED),
        ("3 bags of 4\n\n12", Outcome.TRUNCATED),
        ("3 bags of 4 are", Outcome.TRUNCATED),
        ("She has 3 bags, so there are", Outcome.TRUNCATED),
        ("I see **3** bags. So", Outcome.TRUNCATED),
        ("3 bags of 4\n\n12.", Outcome.TRUNCATED),
        ("3 bags of 4\n\n12 ", Outcome.TRUNCATED),
        ("3 bags of 4\n\n12\n", Outcome.ANSWERED),
        ("3 bags of 4\n\n**12**", Outcome.ANSWERED),
        ("", Outcome.TRUNCATED),
        ("I cannot help with", Outcome.REFUSED),
    ],
)
def test_a_stop_by_length_spoils_only_what_runs_into_the_end(text: str, outcome: Outcome) -> None:
    assert extract(text, kind="number", stop_reason="length").outcome is outcome


def test_a_label_that_a_text_begins_with_survives_a_small_budget() -> None:
    for text, key in (("B", "B"), ("(B) Rome is the", "B"), ("It may be (B)", None)):
        assert extract(text, kind="option", stop_reason="length").key == key


def test_a_box_to_be_filled_in_is_no_answer() -> None:
    assert extract("4 + \\boxed{\\phantom{2}} = 6", kind="number").reason == "ambiguous"


@pytest.mark.parametrize(
    ("text", "rule", "key"),
    [
        ("It is 7 and 8.\n\n**12**", "last_line", "12"),
        ("It is **12**, and not 7.", "bold", "12"),
        ("It is **12** or **13**.", "", None),
        ("She has 12 eggs.", "only", "12"),
        ("She has 12 eggs, 12 in all.", "only", "12"),
        ("```python\nx = 7\n```\nSo 12 it is", "only", "12"),
        ("```\n42\n```", "last_line", "42"),
        ("1 of 2", "", None),
    ],
)
def test_without_a_marker_a_line_then_bold_then_the_only_number(
    text: str, rule: str, key: str | None
) -> None:
    found = extract(text, kind="number")
    assert (found.key, found.rule) == (key, rule)


def test_declining_is_stronger_than_a_lone_number_and_weaker_than_a_marked_one() -> None:
    assert extract("It cannot be determined from 2 facts.", kind="number").reason == "declined"
    assert extract("I don't know. My answer is 5", kind="number").key == "5"
    assert extract("The answer is unknown.", kind="number").reason == "declined"


def test_spans_point_into_the_original_text() -> None:
    text = "\ufeffIt\u200b is\r\nso: the answer is １\u200b２ eggs."
    found = extract(text, kind="number")
    assert found.key == "12"
    assert found.span is not None
    assert found.raw == text[slice(*found.span)] == "１\u200b２"
    assert extract("<think>x</think>\\boxed{5}", kind="number").span == (23, 24)


def test_half_characters_become_escapes_in_keys() -> None:
    assert extract("\\boxed{x\ud800}", kind="number").key == "t:x\\ud800"
    assert extract("a\ud800b", kind="text").key == "a\\ud800b"


def test_other_extractors_read_other_marks() -> None:
    text = "Answer: 12\nSo the answer is 13, in 3 steps."
    read = {
        name: extract(text, kind="number", extractor=name).key
        for name in ("declared", "strict", "last_number", "letter_line")
    }
    assert read == {"declared": "13", "strict": None, "last_number": "3", "letter_line": "12"}
    assert extract("#### 12\nThe answer is 13", kind="number", extractor="strict").key == "12"
    assert extract("[invalid]", kind="number", extractor="tool").reason == "no_candidate"
    assert extract("1,234", kind="number", extractor="tool").key == "1234"


def test_the_last_number_rule_keeps_its_known_faults() -> None:
    found = extract(
        "It is 18. I used 3 steps, and so on ...", kind="number", extractor="last_number"
    )
    assert found.reason == "no_candidate"


def test_names_tell_extractor_version_and_settings_apart() -> None:
    names = {extractor_name(kind) for kind in KINDS}
    assert len(names) == len(KINDS)
    assert extractor_name("number", extractor="strict").startswith("strict@1+")
    assert Settings("number", units="keep").name != Settings("number").name
    assert settings_of(Settings("option", choices_by_text=True).name) == Settings(
        "option", choices_by_text=True
    )
    assert settings_of("declared@9+000000000000") is None


def test_every_pattern_of_the_package_enters_the_name() -> None:
    folder = Path(fingerprint.__file__).parent
    compiled = {f.stem for f in folder.glob("*.py") if "re.compile(" in f.read_text("utf-8")}
    of_other_rooms = {"aliases", "equivalence", "numbers", "refusals", "short_answers"}
    of_other_rooms |= {"passages", "sentence_marks", "sentences"}  # texts in parts, no keys
    assert compiled - of_other_rooms <= set(fingerprint.MODULES)
    assert sum(map(len, fingerprint.patterns().values())) > 60


def test_short_answers_load_none_of_the_longer_grammar() -> None:
    code = "import sys, trueness.extract as e; e.extract('Rome'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "trueness.extract.keying" in done.stdout
    assert "trueness.extract.numerals" not in done.stdout


def test_the_short_extractors_are_what_they_were() -> None:
    assert extractor_name("short") == "short@1+0ec748b8d630"
    assert extractor_name("short_cut") == "short_cut@1+be86fd1f7fdc"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "long"}, "kind is 'long'"),
        ({"kind": "number", "extractor": "mine"}, "extractor is 'mine'"),
        ({"kind": "number", "units": "drop"}, "units is 'drop'"),
        ({"kind": "number", "locale": "de"}, "locale is 'de'"),
        ({"kind": "number", "decimals": -1}, "decimals is -1"),
        ({"kind": "option", "labels": "AB", "choices": ["x"]}, "2 labels and 1 choices"),
    ],
)
def test_unknown_settings_are_refused_by_name(given: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        extract("5", **given)  # type: ignore[arg-type] # refused at run time


def test_shuffled_options_without_a_recorded_order_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "draws.jsonl"
    head = {"protocol": {"model": "m", "shuffled_choices": True}}
    rows = [{"item": "q", "completions": ["The answer is A.", "The answer is B."]}]
    path.write_text("\n".join(map(json.dumps, [head, *rows])) + "\n", "utf-8")
    with pytest.raises(InputError, match="letters cannot be compared"):
        keyed(read_answers(path), kind="option")
