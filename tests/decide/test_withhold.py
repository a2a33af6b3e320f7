"""Withholding from readings of a sensor that nobody has heard of."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract import (
    Decision,
    Direction,
    Flagged,
    ItemReading,
    Reading,
    Rows,
    State,
    Verdict,
)
from trueness.contract.blocks import Statement
from trueness.contract.errors import InvalidReading, PolicyError
from trueness.decide.withhold import replay_withhold, withhold


def reading(
    items: Sequence[ItemReading],
    *,
    flagged: Flagged | None = None,
    details: Mapping[str, Any] | None = None,
    state: State = State.MEASURED,
) -> Reading:
    return Reading(
        sensor="tea.leaves",
        direction=Direction.HIGHER_IS_WORSE,
        state=state,
        reason=None if state is State.MEASURED else "the leaves are silent",
        value=0.25 if state is State.MEASURED else None,
        n_measured=len(items),
        n_items=len(items),
        blocks=(Statement("made up"),),
        per_item=items,
        flagged=flagged or Flagged(),
        details=details or {},
        fingerprint="f00d",
    )


def item(name: str, *, rank: object = None, answered: bool = True) -> ItemReading:
    state = State.SILENT if answered else State.NO_EVIDENCE
    extra: dict[str, Any] = {} if rank is None else {"withhold_rank": rank}
    return ItemReading(name, state, None if answered else "refused", extra=extra)


def ordered(ranks: Mapping[str, int], curve: Sequence[object]) -> Reading:
    return reading(
        [item(n, rank=r) for n, r in ranks.items()],
        flagged=Flagged(tuple(ranks), 0.5, 0.5),
        details={"guaranteed_wrong": curve},
    )


FLAGGED = reading(
    [item("a"), item("b"), item("c"), item("d", answered=False)],
    flagged=Flagged(("c", "a"), 0.5, 0.5),
)


def test_flagged_items_are_withheld_with_the_floors_and_the_word_proved() -> None:
    decision = withhold(FLAGGED)
    assert decision.items(Verdict.WITHHOLD) == ("a", "c", "d")
    assert decision.items(Verdict.KEEP) == ("b",)
    assert decision.details["precision_floor"] == 0.5
    assert decision.details["recall_floor"] == 0.5
    assert decision.details["floors_are"] == "proved"
    assert "at least 50.0 % of them wrong (proved)" in decision.reason
    assert "at least 50.0 % of all wrong ones (proved)" in decision.reason
    assert decision.fingerprints == ("f00d",)


def test_items_without_an_answer_are_withheld_by_outcome_and_counted_apart() -> None:
    decision = withhold(FLAGGED)
    assert decision.details["n_withheld"] == 2
    assert decision.details["n_withheld_by_outcome"] == 1
    assert decision.details["n_answered"] == 3
    assert {v.item: v.reason for v in decision.verdicts}["d"] == "refused"


def test_a_kept_item_is_never_called_right() -> None:
    decision = withhold(FLAGGED)
    kept = next(v for v in decision.verdicts if v.verdict is Verdict.KEEP)
    assert "no sign that it is right" in kept.reason
    assert "not called right" in decision.reason
    assert not any(v.verdict is Verdict.ACCEPT for v in decision.verdicts)


def test_flags_without_floors_say_that_nothing_is_proved() -> None:
    decision = withhold(replace(FLAGGED, flagged=Flagged(("a",))))
    assert decision.items(Verdict.WITHHOLD) == ("a", "d")
    assert decision.details["floors_are"] == "not defined"
    assert "nothing proved" in decision.reason
    assert "(proved)" not in decision.reason


def test_a_silent_reading_withholds_by_outcome_only_and_is_not_a_pass() -> None:
    decision = withhold(reading(FLAGGED.per_item, state=State.SILENT))
    assert decision.state is State.SILENT
    assert decision.items(Verdict.WITHHOLD) == ("d",)
    assert "not a pass" in decision.reason
    assert decision.details["precision_floor"] is None
    again = withhold(reading(FLAGGED.per_item, state=State.SILENT), coverage=0.5)
    assert again.items(Verdict.WITHHOLD) == ("d",)
    assert "no guaranteed set" in again.reason


@pytest.mark.parametrize(
    "state", [s for s in State if s not in {State.MEASURED, State.SILENT}], ids=str
)
def test_any_other_state_decides_nothing(state: State) -> None:
    decision = withhold(reading(FLAGGED.per_item, state=state))
    assert decision.state is state
    assert decision.verdicts == ()
    assert "the leaves are silent" in decision.reason


def test_a_coverage_takes_the_first_of_the_guaranteed_order() -> None:
    seen = ordered({"a": 3, "b": 1, "c": 4, "d": 2}, [0, 1, 2, 2, 3])
    decision = withhold(seen, coverage=0.5)
    assert decision.items(Verdict.WITHHOLD) == ("b", "d")
    assert decision.details["guaranteed_wrong_count"] == 2
    assert decision.details["precision_floor"] == 1.0
    assert decision.details["recall_floor"] == 0.5
    assert decision.details["coverage"] == 0.5


def test_full_coverage_withholds_nothing_and_has_no_precision() -> None:
    decision = withhold(ordered({"a": 1, "b": 2}, [0, 1, 1]), coverage=1)
    assert decision.items(Verdict.WITHHOLD) == ()
    assert decision.details["precision_floor"] is None
    assert decision.details["recall_floor"] == 0.0


def test_a_coverage_is_read_as_the_decimal_it_prints_as() -> None:
    names = {f"e{i}": i + 1 for i in range(100)}
    decision = withhold(ordered(names, [0]), coverage=0.29)
    assert decision.details["n_kept"] == 29
    assert decision.details["wanted_coverage"] == "29/100"


def test_items_without_an_answer_do_not_count_for_coverage() -> None:
    items = [item("a", rank=1), item("b", rank=2), *(item(f"n{i}", answered=False) for i in "xyz")]
    decision = withhold(reading(items, details={"guaranteed_wrong": [0, 0, 1]}), coverage="1/2")
    assert decision.items(Verdict.KEEP) == ("b",)
    assert decision.details["n_withheld_by_outcome"] == 3


def test_sizes_between_known_points_follow_by_counting() -> None:
    names = {f"e{i}": i + 1 for i in range(10)}
    seen = ordered(names, [[1, 0], [4, 2], [9, 6]])
    found = [
        withhold(seen, coverage=Fraction(10 - t, 10)).details["guaranteed_wrong_count"]
        for t in range(11)
    ]
    assert found == [0, 0, 0, 1, 2, 2, 3, 4, 5, 6, 6]


@pytest.mark.parametrize("coverage", [-0.1, 1.1, float("nan"), True, "half", "1/0", None.__class__])
def test_a_coverage_that_is_no_share_is_refused(coverage: Any) -> None:
    with pytest.raises(PolicyError, match="a share between 0 and 1"):
        withhold(FLAGGED, coverage=coverage)


def test_a_reading_without_an_order_refuses_a_coverage() -> None:
    with pytest.raises(PolicyError, match="no guaranteed order"):
        withhold(FLAGGED, coverage=0.5)


def test_an_order_without_a_curve_is_refused() -> None:
    seen = reading([item("a", rank=1), item("b", rank=2)])
    with pytest.raises(PolicyError, match="has no guaranteed_wrong"):
        withhold(seen, coverage=0.5)


def test_an_order_that_does_not_reach_so_far_names_the_least_coverage() -> None:
    seen = reading([item("a", rank=1), item("b"), item("c")], details={"guaranteed_wrong": [0, 1]})
    with pytest.raises(PolicyError, match="coverage of at least 2/3"):
        withhold(seen, coverage=0)
    assert withhold(seen, coverage="2/3").items(Verdict.WITHHOLD) == ("a",)


@pytest.mark.parametrize("rank", [0, -1, 1.0, "1", True, 2])
def test_a_rank_that_is_none_is_refused(rank: object) -> None:
    seen = reading([item("a", rank=2), item("b", rank=rank)], details={"guaranteed_wrong": [0]})
    with pytest.raises(InvalidReading, match="every rank is a whole number"):
        withhold(seen, coverage=0.5)


def test_ranks_with_gaps_are_refused() -> None:
    seen = reading([item("a", rank=1), item("b", rank=3)], details={"guaranteed_wrong": [0]})
    with pytest.raises(InvalidReading, match="without gaps"):
        withhold(seen, coverage=0.5)


@pytest.mark.parametrize(
    "details",
    [
        {"guaranteed_wrong": [0, 2]},
        {"guaranteed_wrong": [0, -1]},
        {"guaranteed_wrong": [0, 0.5]},
        {"guaranteed_wrong": "01"},
        {"guaranteed_wrong": [[1]]},
        {"guaranteed_wrong": [0, [1, 1]]},
    ],
)
def test_an_impossible_curve_is_refused(details: dict[str, Any]) -> None:
    seen = reading([item("a", rank=1), item("b", rank=2)], details=details)
    with pytest.raises(InvalidReading):
        withhold(seen, coverage=0.5)


@pytest.mark.parametrize(
    ("items", "flagged", "message"),
    [
        ([item("a"), item("b")], ("z",), "none of the reading's items, such as 'z'"),
        ([item("a"), item("a")], ("a",), "names two items"),
        ([item("a"), item("b", answered=False)], ("b",), "has no answer"),
    ],
)
def test_flags_that_fit_no_item_are_refused(
    items: list[ItemReading], flagged: tuple[str, ...], message: str
) -> None:
    with pytest.raises(InvalidReading, match=message):
        withhold(reading(items, flagged=Flagged(flagged, 0.5, 0.5)))


def test_a_reading_that_lists_only_some_items_is_refused() -> None:
    with pytest.raises(PolicyError, match="lists 2 of its 4 items"):
        withhold(replace(FLAGGED, per_item=FLAGGED.per_item[:2]))


def test_a_decision_replays_and_any_edit_is_noticed() -> None:
    seen = ordered({"a": 3, "b": 1, "c": 4, "d": 2}, [0, 1, 2, 2, 3])
    decision = withhold(seen, coverage=0.5)
    assert replay_withhold(decision, seen) == ()
    assert replay_withhold(withhold(FLAGGED), FLAGGED) == ()
    edited = replace(decision, details={**decision.details, "precision_floor": 0.9})
    assert len(replay_withhold(edited, seen)) == 1
    kept = tuple(replace(v, verdict=Verdict.KEEP) for v in decision.verdicts)
    assert len(replay_withhold(replace(decision, verdicts=kept), seen)) == 2
    assert len(replay_withhold(replace(decision, verdicts=kept[:1]), seen)) == 1


def test_the_decision_is_strict_json() -> None:
    assert '"withhold"' in withhold(FLAGGED).to_json()


@given(
    wrong=st.lists(st.booleans(), min_size=1, max_size=7),
    keep=st.integers(0, 7),
    known=st.sets(st.integers(0, 7)),
)
def test_floors_never_exceed_what_is_so_whatever_sizes_are_known(
    wrong: list[bool], keep: int, known: set[int]
) -> None:
    n = len(wrong)
    points = [[t, sum(wrong[:t])] for t in sorted(known) if t <= n]
    ranks = {f"e{i}": i + 1 for i in range(n)}
    seen = ordered(ranks, points)
    decision = withhold(seen, coverage=Fraction(min(keep, n), n))
    withheld = n - min(keep, n)
    truly = sum(wrong[:withheld])
    assert decision.details["n_withheld"] == withheld
    _check_floor(decision, "precision_floor", truly, withheld)
    _check_floor(decision, "recall_floor", truly, sum(wrong))


def _check_floor(decision: Decision, name: str, count: int, of: int) -> None:
    floor = decision.details[name]
    if floor is not None and of:
        assert isinstance(floor, float)
        assert floor <= count / of


def test_one_orbit_curve_gives_the_floors_of_every_subset() -> None:
    """Answers a a a b b c, one entity each: the vector's floors from its own curve."""
    curve = [0, 0, 1, 2, 2, 3, 3]
    seen = ordered({f"e{i}": i for i in range(1, 7)}, curve)
    for t in range(1, 7):
        details = withhold(seen, coverage=Fraction(6 - t, 6)).details
        assert details["precision_floor"] == curve[t] / t
        best = max(_least_wrong(s) for s in combinations("aaabbc", t))
        assert best == details["guaranteed_wrong_count"]


def _least_wrong(answers: tuple[str, ...]) -> int:
    return len(answers) - len(set(answers))


def test_a_million_items_are_decided_without_being_listed() -> None:
    n = 1_000_000
    silent = ItemReading("x", State.SILENT, "nothing")
    seen = reading(
        Rows(n, lambda i: silent if i % 2 else ItemReading(f"e{i}", State.SILENT, "nothing")),
        flagged=Flagged(Rows(1000, lambda i: f"e{2 * i}"), 0.5, 0.5),
    )
    start = time.perf_counter()
    decision = withhold(seen)
    assert time.perf_counter() - start < 20
    assert isinstance(decision.verdicts, Rows)
    assert decision.details["n_withheld"] == 1000
    assert decision.verdicts[2].verdict is Verdict.WITHHOLD
