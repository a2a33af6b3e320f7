"""What an assertion says, and that what could not be measured neither fails nor passes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import SkipTest

import pytest

from trueness import Gate, certify, ground
from trueness.api.gating import calibrate
from trueness.cli import main
from trueness.contract import Decision, State
from trueness.contract.errors import InputError, TruenessError
from trueness.testing import (
    Unmeasured,
    assert_error_floor,
    assert_grounded,
    assert_no_regression,
)

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
BEFORE, AFTER = (EXAMPLES / "checkpoints" / f"{arm}.jsonl" for arm in ("before", "after"))
LABELLED = EXAMPLES / "labelled.jsonl"
OVERLAP = "baseline.word_overlap"
INJECTIVE: dict[str, Any] = {"entity": "country", "relation": "injective"}
EVIDENCE = ["The Nile flows through Egypt."]


def capitals(*answers: str) -> list[dict[str, str]]:
    names = ("France", "Chad", "Mali", "Peru", "Fiji", "Iran", "Oman")
    return [{"country": c, "answer": a} for c, a in zip(names, answers, strict=False)]


def draws(*answers: str | None, n: int = 12) -> list[dict[str, object]]:
    return [{"item": f"q{i}", "answers": list(answers), "target": "g"} for i in range(n)]


@pytest.fixture(scope="module")
def made() -> Any:
    return calibrate(LABELLED, label="label", group="source", sensor=OVERLAP, budget=0.05)


def test_more_proved_wrong_than_allowed_is_said_with_value_interval_n_and_items() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_error_floor(capitals("Paris", "Paris", "Paris"), at_most=0.5, **INJECTIVE)
    assert str(caught.value).splitlines() == [
        "max error floor 0.5: the share proved wrong is 0.6667, more than 0.5.",
        "At least 2 of these 3 answers are wrong. No key was consulted.",
        "Value 0.6667 [0.6667, 1] (proved lower bound); 3 of 3 measured.",
        "Flagged: France, Chad, Mali.",
    ]


def test_only_the_first_flagged_items_are_named() -> None:
    with pytest.raises(AssertionError, match="Fiji and 2 more"):
        assert_error_floor(capitals(*["Paris"] * 7), at_most=0.5, **INJECTIVE)


def test_exactly_the_share_that_is_allowed_holds() -> None:
    rows = capitals("Paris", "Paris", "Lima", "Rome")
    assert assert_error_floor(rows, at_most=0.25, **INJECTIVE).value == 0.25


def test_a_certificate_that_proves_nothing_does_not_fail_and_says_what_it_is() -> None:
    reading = assert_error_floor(capitals("Paris", "Lima"), at_most=0, **INJECTIVE)
    assert reading.state is State.SILENT
    assert "not evidence that they are right" in reading.statement


def test_no_answer_at_all_is_unmeasured_and_neither_fails_nor_passes() -> None:
    rows = capitals("", "", "")
    with pytest.raises(Unmeasured, match="could not be measured") as caught:
        assert_error_floor(rows, at_most=0.5, **INJECTIVE)
    assert not isinstance(caught.value, AssertionError)
    assert isinstance(caught.value, TruenessError)
    assert caught.value.state not in {State.MEASURED, State.SILENT, None}
    assert caught.value.reason
    with pytest.raises(SkipTest, match="could not be measured"):
        assert_error_floor(rows, at_most=0.5, unmeasured="skip", **INJECTIVE)


def test_a_reading_in_hand_or_written_is_asserted_about_as_it_stands(tmp_path: Path) -> None:
    reading = certify(capitals("Paris", "Paris"), **INJECTIVE)
    path = tmp_path / "reading.json"
    path.write_text(reading.to_json(), "utf-8")
    for source in (reading, path):
        assert assert_error_floor(source, at_most=0.5) == reading
        with pytest.raises(AssertionError, match=r"more than 0\.4"):
            assert_error_floor(source, at_most=0.4)


def test_the_assertion_and_the_command_line_agree(tmp_path: Path) -> None:
    for answers in (("Paris", "Paris", "Lima"), ("Paris", "Lima", "Rome"), ("", "", "")):
        path = tmp_path / "answers.csv"
        lines = [f"{r['country']},{r['answer']}" for r in capitals(*answers)]
        path.write_text("country,answer\n" + "\n".join(lines), "utf-8")
        argv = ("certify", str(path), "--entity", "country", "--relation", "injective")
        for most in (0.1, 0.9):
            code = main([*argv, "--max-error-floor", str(most)])
            assert code == ending(lambda: assert_error_floor(path, at_most=most, **INJECTIVE))  # noqa: B023 - called at once


def ending(assertion: Callable[[], object]) -> int:
    """The exit code that an assertion's end stands for."""
    try:
        assertion()
    except AssertionError:
        return 1
    except Unmeasured:
        return 5
    return 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"at_most": 1.5}, "at_most is 1.5; a share is wanted"),
        ({"at_most": float("nan")}, "at_most is nan"),
        ({"at_most": True}, "at_most is True"),
        ({"at_most": "0.1"}, "at_most is '0.1'"),
        ({"at_most": 0.1, "unmeasured": "pass"}, "choose 'error' or 'skip'"),
        ({"at_most": 0.1, "entiti": "x"}, "'entiti' is neither a column"),
    ],
)
def test_what_makes_no_sense_is_an_input_error(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        assert_error_floor(capitals("Paris", "Paris"), **given)


def test_a_reading_that_proves_nothing_of_the_kind_is_refused() -> None:
    reading = ground([{"claim": "The Nile.", "evidence": EVIDENCE}], sensor=OVERLAP)
    with pytest.raises(InputError, match=r"the reading is of 'baseline\.word_overlap'"):
        assert_error_floor(reading, at_most=0.5)
    with pytest.raises(InputError, match="the reading was made before"):
        assert_error_floor(certify(capitals("a", "a"), **INJECTIVE), at_most=0.5, window=3)


def test_a_regression_is_said_with_its_verdict_and_interval() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_no_regression(BEFORE, AFTER, margin=0.15)
    text = str(caught.value)
    assert "the verdict is near_isospectral_inversion" in text
    assert "gold by −.237" in text
    assert "(sup-t 95%); 25 of 25 measured." in text


def test_unresolved_holds_unless_it_is_named() -> None:
    reading = assert_no_regression(BEFORE, AFTER)
    verdict = reading.details["verdict"]
    assert isinstance(verdict, dict)
    assert verdict["name"] == "unresolved"
    with pytest.raises(AssertionError, match="the verdict is unresolved"):
        assert_no_regression(BEFORE, AFTER, fail_on="unresolved")


def test_one_draw_an_item_is_unmeasured() -> None:
    with pytest.raises(Unmeasured, match="one draw cannot agree") as caught:
        assert_no_regression(draws("g"), draws("h"))
    assert caught.value.state is State.NOT_APPLICABLE
    with pytest.raises(SkipTest):
        assert_no_regression(draws("g"), draws("h"), unmeasured="skip")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"fail_on": "worse"}, "fail_on names 'worse'; verdicts are unchanged"),
        ({"fail_on": ()}, "fail_on names nothing"),
        ({"fail_on": 3}, "fail_on is 3"),
        ({"margins": 0.1}, "'margins' is neither a column nor a parameter"),
        ({"sensor": "orbits", "relation": "injective"}, "gives no verdict"),
    ],
)
def test_a_comparison_that_makes_no_sense_is_an_input_error(
    given: dict[str, Any], said: str
) -> None:
    rows = [{"item": f"q{i}", "entity": f"e{i}", "answer": "a"} for i in range(3)]
    with pytest.raises(InputError, match=said):
        assert_no_regression(rows, rows, **given)


def test_without_a_second_table_there_is_no_verdict() -> None:
    with pytest.raises(InputError, match="after is None"):
        assert_no_regression(BEFORE, None)


def supported() -> list[dict[str, object]]:
    return [{"item": "own", "claim": "The Nile flows through Egypt.", "evidence": EVIDENCE}]


FOREIGN: dict[str, object] = {"item": "foreign", "claim": "Bees dance.", "evidence": EVIDENCE}
EMPTY: dict[str, object] = {"item": "empty", "claim": "Bees dance.", "evidence": []}


def test_claims_that_a_gate_accepts_hold(made: Any, tmp_path: Path) -> None:
    decision = assert_grounded(supported(), gate=made)
    assert isinstance(decision, Decision)
    assert decision.details["n_accept"] == 1
    path = tmp_path / "gate.json"
    made.write(path)
    for gate in (path, str(path), Gate.load(path)):
        assert assert_grounded(supported(), gate=gate).details["n_accept"] == 1
    assert_grounded(["The Nile flows through Egypt."], [EVIDENCE], gate=made)


def test_a_claim_that_is_not_accepted_fails_and_is_named_with_the_promise(made: Any) -> None:
    with pytest.raises(AssertionError) as caught:
        assert_grounded([*supported(), FOREIGN], gate=made)
    first, second, *items = str(caught.value).splitlines()
    assert first == (
        "no item gets review or reject: 1 of 2 items were measured and got review or reject; "
        "at most 0 were allowed."
    )
    assert second.startswith("1 of 2 items are accepted, 1 reviewed, 0 rejected. With confidence")
    assert len(items) == 1
    assert items[0].startswith("foreign: ")


def test_a_share_may_be_let_through_and_only_named_verdicts_fail(made: Any) -> None:
    rows = [*supported(), FOREIGN]
    assert_grounded(rows, gate=made, at_most=0.5)
    assert_grounded(rows, gate=made, fail_on="reject")
    with pytest.raises(AssertionError):
        assert_grounded(rows, gate=made, at_most=0.49)


def test_claims_without_evidence_are_counted_each_way(made: Any) -> None:
    rows = [*supported(), EMPTY]
    with pytest.raises(Unmeasured, match="1 more could not be measured") as caught:
        assert_grounded(rows, gate=made)
    assert caught.value.state is None
    assert "empty: " in str(caught.value)
    assert_grounded(rows, gate=made, at_most=0.5)
    with pytest.raises(AssertionError):
        assert_grounded([*rows, FOREIGN], gate=made)
    with pytest.raises(SkipTest):
        assert_grounded(rows, gate=made, unmeasured="skip")


def test_only_claims_without_evidence_are_unmeasured_whatever_fails(made: Any) -> None:
    for fail_on in ("reject", "review,reject"):
        with pytest.raises(Unmeasured, match="NO_EVIDENCE") as caught:
            assert_grounded([EMPTY], gate=made, fail_on=fail_on, at_most=1)
        assert caught.value.state is State.NO_EVIDENCE


def test_a_policy_that_rejects_what_is_not_measured_makes_no_failure_of_it(tmp_path: Path) -> None:
    policy = {"kind": "value_only", "on_unmeasured": "reject"}
    strict = calibrate(
        LABELLED, label="label", group="source", sensor=OVERLAP, budget=0.05, policy=policy
    )
    with pytest.raises(Unmeasured):
        assert_grounded([*supported(), EMPTY], gate=strict, fail_on="reject")
    path, claims = tmp_path / "gate.json", tmp_path / "claims.jsonl"
    strict.write(path)
    claims.write_text(
        '{"item": "a", "claim": "The Nile flows.", "evidence": ["The Nile flows."]}\n'
        '{"item": "b", "claim": "Bees dance.", "evidence": []}\n',
        "utf-8",
    )
    argv = ("gate", str(claims), "--gate", str(path), "--fail-on")
    assert main([*argv, "reject"]) == 5
    assert main([*argv, "review"]) == 0


def test_a_budget_makes_the_gate_from_labelled_claims() -> None:
    given: dict[str, Any] = {
        "calibration": LABELLED,
        "label": "label",
        "sensor": OVERLAP,
        "level": 0.95,
    }
    decision = assert_grounded(supported(), budget=0.05, **given)
    assert decision.details["n_accept"] == 1
    with pytest.raises(AssertionError):
        assert_grounded([FOREIGN], budget=0.05, **given)
    with pytest.raises(InputError, match=r"needed for a budget of 0\.001"):
        assert_grounded(supported(), budget=0.001, **given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "nothing is given; claims are judged by a gate, or by a budget"),
        ({"budget": 0.05}, "budget is given; claims are judged"),
        ({"gate": "g.json", "budget": 0.05}, "gate and budget is given"),
        ({"gate": "nowhere.json"}, "nowhere.json"),
        ({"gate": "g.json", "fail_on": "keep"}, "verdicts are accept, review, reject"),
        ({"gate": "g.json", "at_most": -1}, "at_most is -1"),
    ],
)
def test_a_gate_that_makes_no_sense_is_an_input_error(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        assert_grounded(supported(), **given)


def test_what_only_a_calibration_takes_is_refused_beside_a_gate(made: Any) -> None:
    with pytest.raises(InputError, match="unit is given, and the gate was calibrated before"):
        assert_grounded(supported(), gate=made, unit="item")


def test_a_gate_of_another_measure_is_refused(made: Any) -> None:
    reading = ground(supported(), sensor="baseline.length")
    with pytest.raises(TruenessError, match=r"baseline\.length"):
        assert_grounded(reading, gate=made)
