"""Where no right answers are known, the model is asked back about its own."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from trueness import api
from trueness.backends import open_model
from trueness.backends.protocol import Model
from trueness.collect import AskSummary, ask, parse_conditions
from trueness.collect.own_answers import answers_given
from trueness.collect.questions import Quiz
from trueness.contract.errors import FingerprintMismatch, InputError

TOWNS = Quiz(
    "towns",
    ("The capital of {e} is", "{e}'s capital is"),
    ("France", "Italy", "Spain"),
    None,
    ("{a} is the capital of", "Of which country is {a} the capital?"),
)
FACTS = {"France": "Paris", "Italy": "Rome", "Spain": "Madrid"}
BACK = {town: country for country, town in FACTS.items()}


def model(script: str = "collapse", **facts: str) -> Model:
    return open_model(f"scripted:{script}", facts={**FACTS, **BACK, **facts})


def run(out: Path, asked: Model | None = None, **given: Any) -> AskSummary:
    conditions = parse_conditions("the:8")
    return ask(TOWNS, asked or model(), conditions, out=out, inverse=True, **given)


def rows_of(out: Path) -> list[dict[str, Any]]:
    return [row for row in map(json.loads, out.read_text("utf-8").splitlines()) if "item" in row]


def test_each_condition_is_asked_back_about_the_answers_it_gave(tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    summary = run(out)
    back = [row for row in rows_of(out) if row["relation"] == "towns^-1"]
    assert {row["entity"] for row in back if row["condition"] == "none"} == set(BACK)
    assert [row["entity"] for row in back if row["condition"] == "the:8"] == ["Paris", "Paris"]
    assert all("target" not in row for row in back)
    assert {row["answer"] for row in back if row["condition"] == "none"} == {
        country.lower() for country in FACTS
    }
    assert summary.n_rows == 2 * 2 * 3 + 2 * 3 + 2 * 1


def test_answers_that_are_not_given_back_are_proved_wrong(tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    run(out, model(Paris="Spain"))  # forward France has Paris, backward Spain has it
    found = api.certify_each(out, relation="injective")
    proved = found["none"].details["certified_errors"]
    assert isinstance(proved, int)
    assert proved >= 1
    run(tmp_path / "right.jsonl", model("right"))
    again = api.certify_each(tmp_path / "right.jsonl", relation="injective")
    assert {reading.details["certified_errors"] for reading in again.values()} == {0}


def test_a_run_cut_at_any_line_goes_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    run(whole)
    lines = whole.read_bytes().splitlines(keepends=True)
    wanted = sorted(lines[1:])
    for cut in range(len(lines)):
        out = tmp_path / f"{cut}.jsonl"
        torn = lines[cut][: len(lines[cut]) // 2]
        out.write_bytes(b"".join(lines[:cut]) + torn)
        asked = model()
        summary = run(out, asked, resume=True)
        again = out.read_bytes().splitlines(keepends=True)
        assert sorted(again[1:]) == wanted
        assert summary.n_asked == len(wanted) - max(0, cut - 1)


def test_a_run_resumed_in_its_second_stage_is_checked_there(tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    run(whole, model("restless"))
    lines = whole.read_bytes().splitlines(keepends=True)
    first = sum(b"towns^-1" not in line for line in lines)
    out = tmp_path / "t.jsonl"
    out.write_bytes(b"".join(lines[:first]))
    summary = run(out, model("restless"), resume=True)
    assert summary.n_checks > 0
    back = [row for row in rows_of(out) if row["relation"] == "towns^-1"]
    assert back
    assert all(row["nondeterministic"] for row in back)


def test_answers_are_asked_back_only_where_they_can_be_read_again() -> None:
    with pytest.raises(InputError, match="no regular file"):
        run(Path(os.devnull))


def test_progress_counts_both_stages(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    run(tmp_path / "t.jsonl", progress=lambda held, wanted, *_: seen.append((held, wanted)))
    assert seen[-1] == (20, 20)
    assert all(held <= wanted for held, wanted in seen)


def test_the_protocol_says_whose_answers_are_asked_back_before_any_is(tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    run(out)
    fields = api.read(out).protocols["none"].fields
    assert fields["inverse"] == "own answers"
    assert fields["templates"] == [*TOWNS.templates, *TOWNS.inverse_templates]
    with pytest.raises(FingerprintMismatch, match="inverse"):
        ask(TOWNS, model(), parse_conditions("the:8"), out=out, resume=True)


def test_first_tokens_are_no_answers_to_ask_about(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--observe string"):
        run(tmp_path / "t.jsonl", observable="first_token")
    assert not (tmp_path / "t.jsonl").exists()


def test_without_golds_and_inverse_wordings_there_is_nothing_to_ask_back(tmp_path: Path) -> None:
    bare = Quiz("towns", TOWNS.templates, TOWNS.entities)
    with pytest.raises(InputError, match="no golds"):
        ask(bare, model(), out=tmp_path / "t.jsonl", inverse=True)


def test_golds_are_asked_back_where_they_are_known(tmp_path: Path) -> None:
    known = Quiz("towns", TOWNS.templates, TOWNS.entities, tuple(BACK), TOWNS.inverse_templates)
    out = tmp_path / "t.jsonl"
    ask(known, model(), parse_conditions("the:8"), out=out, inverse=True)
    back = [row for row in rows_of(out) if row["relation"] == "towns^-1"]
    assert {row["entity"] for row in back if row["condition"] == "the:8"} == set(BACK)


@pytest.mark.parametrize("script", ["refuse", "empty"])
def test_models_that_answer_nothing_are_asked_nothing_back(script: str, tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    run(out, model(script))
    assert {row["relation"] for row in rows_of(out)} == {"towns"}


def test_of_several_spellings_the_order_of_rows_never_decides(tmp_path: Path) -> None:
    said = ["Paris", "paris.", " PARIS", "\u200b", "Rome"]
    rows = [
        {
            "item": f"i{k}",
            "condition": "none",
            "relation": "towns",
            "outcome": "answered",
            "answer": text.strip(" .").lower(),
            "completion": text,
        }
        for k, text in enumerate(said)
    ]
    found = []
    for k, order in enumerate((rows, rows[::-1])):
        path = tmp_path / f"{k}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in order), "utf-8")
        found.append(answers_given(path, ["towns"]))
        assert "other" not in found[-1]
    assert found[0] == found[1]
    assert len(found[0]["none"]["towns"]) == 2
