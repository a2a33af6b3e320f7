"""Choosing by a number of readings of a sensor that nobody has heard of."""

import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract import Direction, Reading, State, Verdict
from trueness.contract.blocks import Statement
from trueness.contract.errors import InputError, InvalidReading, PolicyError
from trueness.decide.choose import choose
from trueness.decide.replay import replay_choice


def reading(
    count: int | None,
    n: int = 20,
    *,
    state: State = State.MEASURED,
    name: str = "not_right_floor",
    parts: bool = True,
) -> Reading:
    details: dict[str, Any] = {name: None if count is None else count / n}
    if parts and count is not None:
        details[f"{name}_parts"] = [count, n]
    return Reading(
        sensor="tea.leaves",
        direction=Direction.HIGHER_IS_WORSE,
        state=state,
        reason=None if state is State.MEASURED else f"it is {state.value}",
        value=0.5 if state is State.MEASURED else None,
        n_measured=n,
        n_items=n,
        blocks=(Statement("made up"),),
        details=details,
        fingerprint=f"{count}",
    )


THREE = {"none": reading(9), "long": reading(4), "short": reading(4), "bad": reading(12)}


def test_the_lowest_strictly_below_the_baseline_is_taken() -> None:
    decision = choose({"none": reading(9), "a": reading(8), "b": reading(5)})
    assert decision.taken == "b"
    assert decision.items(Verdict.TAKE) == ("b",)
    assert decision.items(Verdict.DECLINE) == ("none", "a")
    assert decision.details["scores"] == {"none": "9/20", "a": "2/5", "b": "1/4"}
    assert decision.fingerprints == ("9", "8", "5")


def test_the_word_best_is_not_used() -> None:
    decision = choose(THREE)
    assert "provably fewest not right, of these" in decision.reason
    assert "best" not in decision.to_json().replace("tied_best", "")


def test_an_equal_score_declines() -> None:
    decision = choose({"none": reading(9), "a": reading(9)})
    assert decision.taken is None
    assert decision.details["winner"] == "none"
    assert decision.details["tied_best"] == []
    assert decision.items(Verdict.KEEP) == ("none",)


def test_ties_go_to_fewest_tokens_then_to_declared_order_and_are_reported() -> None:
    by_tokens = choose(THREE, costs={"long": 50, "short": 10, "bad": 0})
    by_order = choose(THREE)
    assert (by_tokens.taken, by_order.taken) == ("short", "long")
    assert by_tokens.details["tied_best"] == by_order.details["tied_best"] == ["long", "short"]
    assert "tied with 'long', decided by added tokens, then order" in by_tokens.reason
    assert by_tokens.details["added_tokens"] == {"none": 0, "long": 50, "short": 10, "bad": 0}
    assert "added_tokens_unknown" not in by_tokens.details


def test_a_length_that_is_not_known_is_null_with_words_and_decides_no_tie() -> None:
    decision = choose(THREE)
    assert decision.details["added_tokens"] == {
        "none": 0,
        "long": None,
        "short": None,
        "bad": None,
    }
    assert "does not say how long it is" in str(decision.details["added_tokens_unknown"])
    assert "decided by order, for added tokens are not known of each" in decision.reason
    assert replay_choice(decision) == ()


def test_a_baseline_that_is_not_the_bare_question_has_no_length_of_its_own_either() -> None:
    decision = choose({"a": reading(9), "b": reading(3)}, baseline="a", costs={"b": 4})
    assert decision.details["added_tokens"] == {"a": None, "b": 4}
    assert decision.details["added_tokens_unknown"] == "of the baseline, which no tie is about"
    assert replay_choice(decision) == ()


def test_a_choice_that_was_written_with_zeros_for_lengths_still_follows_from_its_trace() -> None:
    written = choose(THREE, costs={"long": 0, "short": 0, "bad": 0}).to_dict()
    assert replay_choice(written) == ()


def test_a_silent_zero_can_win_and_a_reading_of_refusals_only_is_scored() -> None:
    decision = choose(
        {
            "none": reading(3),
            "right": reading(0, state=State.SILENT),
            "refuses": reading(20, state=State.NO_EVIDENCE),
        }
    )
    assert decision.taken == "right"
    assert decision.details["scores"] == {"none": "3/20", "right": "0", "refuses": "1"}


@pytest.mark.parametrize("state", [State.NOT_APPLICABLE, State.DEGENERATE, State.UNSTABLE])
def test_a_reading_that_is_worth_nothing_is_excluded_with_its_reason(state: State) -> None:
    decision = choose({"none": reading(3), "a": reading(0, state=state)})
    assert decision.taken is None
    assert decision.details["excluded"] == {"a": f"no not_right_floor: it is {state.value}"}


def test_a_reading_without_the_number_is_excluded() -> None:
    decision = choose({"none": reading(3), "a": reading(None)}, costs={"a": 3})
    assert decision.details["excluded"] == {"a": "no not_right_floor: MEASURED"}


@pytest.mark.parametrize(
    ("baseline", "state"),
    [
        (reading(3, state=State.NOT_APPLICABLE), State.NOT_APPLICABLE),
        (reading(None), State.NO_EVIDENCE),
    ],
)
def test_nothing_is_chosen_without_a_score_of_the_baseline(baseline: Reading, state: State) -> None:
    decision = choose({"none": baseline, "a": reading(0)})
    assert (decision.state, decision.taken, decision.verdicts) == (state, None, ())
    assert replay_choice(decision) == ()


def test_excluded_conditions_are_listed_with_reason_and_score_and_never_taken() -> None:
    decision = choose(
        {"none": reading(9), "closed": reading(0, 7), "a": reading(8)},
        costs={"a": 1},
        excluded={"closed": "answer space differs", "late": "stopped at ≥ 7/20"},
    )
    assert decision.taken == "a"
    assert decision.details["excluded"] == {
        "closed": "answer space differs",
        "late": "stopped at ≥ 7/20",
    }
    assert decision.details["excluded_scores"] == {"closed": "0"}
    assert decision.items(Verdict.EXCLUDE) == ("closed", "late")
    assert replay_choice(decision) == ()


def test_any_named_number_can_be_minimised() -> None:
    name = "spread_rate"
    decision = choose({"none": reading(3, name=name), "a": reading(2, name=name)}, minimise=name)
    assert decision.taken == "a"
    assert "provably" not in decision.reason


def test_shares_as_floats_tie_exactly_when_the_counts_do() -> None:
    seen = {
        "none": reading(2, 3, parts=False),
        "a": reading(1, 3, parts=False),
        "b": reading(1, 3),
    }
    assert choose(seen).details["tied_best"] == ["a", "b"]


def test_scores_of_different_slots_are_refused() -> None:
    with pytest.raises(PolicyError, match=r"'none' of 20, 'a' of 19"):
        choose({"none": reading(9), "a": reading(8, 19)})


@pytest.mark.parametrize("parts", [[1, 3], [9], "9/20", [9, 0], [-9, -20], [9.0, 20]])
def test_parts_that_contradict_the_number_are_refused(parts: Any) -> None:
    odd = reading(9)
    odd = replace(odd, details={**odd.details, "not_right_floor_parts": parts})
    with pytest.raises(InvalidReading, match="two whole numbers"):
        choose({"none": odd, "a": reading(8)})


@pytest.mark.parametrize("value", [-0.1, 1.5, "0.5", True])
def test_a_number_that_is_no_share_is_refused(value: Any) -> None:
    odd = replace(reading(9), details={"not_right_floor": value})
    with pytest.raises(InvalidReading, match=r"a share in \[0, 1\]"):
        choose({"none": reading(9), "a": odd})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baseline": "base"}, "the baseline 'base' must have a reading"),
        ({"excluded": {"none": "x"}}, "not be excluded"),
        ({"costs": {"long": 1}}, "no cost is given for 'short', 'bad'"),
        ({"costs": {"long": -1, "short": 1, "bad": 1}}, "the cost of 'long' is -1"),
        ({"costs": {"long": 1.5, "short": 1, "bad": 1}}, "the cost of 'long' is 1.5"),
    ],
)
def test_what_cannot_be_used_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        choose(THREE, **options)


counts = st.lists(st.integers(0, 6), min_size=2, max_size=6)


def made(scores: list[int]) -> dict[str, Reading]:
    return {("none", *"abcdef")[i]: reading(s, 6) for i, s in enumerate(scores)}


@given(scores=counts)
def test_the_choice_is_the_definition(scores: list[int]) -> None:
    decision = choose(made(scores))
    lowest = min(scores[1:])
    winner = "abcdef"[scores[1:].index(lowest)] if lowest < scores[0] else None
    assert decision.taken == winner
    assert len(decision.verdicts) == len(scores)


@given(scores=counts, extra=st.integers(0, 6))
def test_adding_a_losing_candidate_changes_nothing(scores: list[int], extra: int) -> None:
    before = choose(made(scores))
    after = choose({**made(scores), "late": reading(extra, 6)})
    if after.taken != "late":
        assert after.taken == before.taken


@given(scores=counts, costs=st.lists(st.integers(0, 2), min_size=6, max_size=6), at=st.data())
def test_a_choice_replays_from_json_and_any_edit_of_a_score_is_noticed(
    scores: list[int], costs: list[int], at: st.DataObject
) -> None:
    seen = made(scores)
    decision = choose(seen, costs=dict(zip(seen, costs, strict=False)))
    data = json.loads(decision.to_json())
    assert replay_choice(decision) == replay_choice(data) == ()
    step = at.draw(st.integers(0, len(scores) - 1))
    old = Fraction(data["trace"][step]["score"])
    data["trace"][step]["score"] = str((old + Fraction(1, 6)) / 2 if old != Fraction(1, 6) else 0)
    assert replay_choice(data) != ()


@pytest.mark.parametrize(
    "edit",
    [
        {"taken": "long"},
        {"taken": None},
        {"reason": "because"},
        {"state": "SILENT"},
        {"verdicts": []},
        {"details": {}},
    ],
)
def test_an_edited_decision_does_not_follow(edit: Mapping[str, Any]) -> None:
    decision = choose(THREE, costs={"long": 50, "short": 10, "bad": 0})
    assert replay_choice({**decision.to_dict(), **edit}) != ()


def test_what_is_no_choice_is_refused() -> None:
    decision = choose(THREE)
    with pytest.raises(InputError, match="a decision of choose is wanted"):
        replay_choice(replace(decision, action="withhold"))
    with pytest.raises(InputError, match="the trace cannot be read"):
        replay_choice({**decision.to_dict(), "trace": [{"step": "take"}]})
    assert replay_choice(replace(decision, trace=())) == ("no step of the trace takes or declines",)
