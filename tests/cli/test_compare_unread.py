"""A rule that nobody chose and that reads nothing is refused, not measured."""

from typing import Any

import pytest

import trueness as tr
from trueness import api
from trueness.contract.errors import InputError


def _rows(answers: list[str], target: str = "Paris") -> list[dict[str, Any]]:
    return [
        {"item": f"q{i}", "answer": answer, "target": target}
        for i in range(3)
        for answer in answers
    ]


def test_texts_that_are_answers_are_not_counted_as_no_answer() -> None:
    before, after = _rows(["Paris", "Paris", "Lyon"]), _rows(["Nice", "Nice", "Nice"])
    with pytest.raises(InputError, match="--answer-kind short"):
        tr.compare(before, after)
    with pytest.raises(InputError, match="in none of 9 texts"):
        tr.compare(before)
    with pytest.raises(InputError, match="in none of 9 texts"):
        api.compare_each(before, {"a": after, "b": after})


def test_a_rule_that_was_chosen_is_followed() -> None:
    before, after = _rows(["Paris", "Paris", "Lyon"]), _rows(["Nice", "Nice", "Nice"])
    short = tr.compare(before, after, answer_kind="short")
    assert short.details["n_items"] == 3
    auto = tr.compare(before, answer_kind="auto")
    assert auto.value == 1.0


def test_texts_of_which_some_hold_an_answer_or_that_are_blank_are_measured() -> None:
    assert tr.compare(_rows(["Paris", "The answer is 4.", "Lyon"])).state == "MEASURED"
    assert tr.compare(_rows(["", "", ""])).value == 1.0
