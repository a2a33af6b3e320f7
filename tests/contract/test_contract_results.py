"""Readings and decisions cannot contradict themselves, and survive strict JSON."""

import json
import math
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from trueness.contract import (
    Decision,
    Direction,
    Flagged,
    ItemReading,
    ItemVerdict,
    Reading,
    State,
    Verdict,
)
from trueness.contract import blocks as b
from trueness.contract.errors import CannotSerialise, InputError, InvalidReading
from trueness.contract.serial import Json

TEXT = st.text(max_size=6)
NAME = st.text(min_size=1, max_size=6)
FINITE = st.floats(-1e9, 1e9)
SHARE = st.floats(0, 1)
TEXTS = st.lists(TEXT, max_size=2).map(list[Json])
JSON: st.SearchStrategy[Json] = st.none() | st.booleans() | st.integers() | FINITE | TEXT | TEXTS
CELL = st.none() | st.booleans() | st.integers() | FINITE | TEXT
STATEMENT = b.Statement("Something.")


def tuples(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(inner, max_size=3).map(tuple)


CHIP = st.builds(b.Chip, TEXT, st.booleans())
GROUP = st.builds(b.Group, TEXT, st.integers(0), tuples(CHIP), st.booleans(), TEXT)
PART = st.builds(b.Part, TEXT, FINITE, TEXT, TEXT)
BAR = st.builds(b.Bar, TEXT, tuples(PART))
SERIES = st.builds(b.Series, TEXT, tuples(st.tuples(FINITE, st.none() | FINITE)))
FACT = st.builds(b.Fact, TEXT, TEXT, TEXT)
BLOCK = st.one_of(
    st.builds(b.Statement, TEXT, TEXT, tuples(TEXT)),
    st.builds(b.Groups, TEXT, tuples(GROUP), st.integers(0), TEXT),
    st.builds(b.Bars, TEXT, tuples(BAR), FINITE, TEXT),
    st.builds(b.Curve, TEXT, TEXT, TEXT, tuples(SERIES), TEXT),
    st.builds(b.Table, TEXT, tuples(TEXT), tuples(tuples(CELL)), st.integers(0), TEXT),
    st.builds(b.Facts, TEXT, tuples(FACT)),
    st.builds(b.Notes, TEXT, tuples(TEXT), TEXT),
)


@st.composite
def items(draw: st.DrawFn) -> ItemReading:
    state = draw(st.sampled_from(State))
    value = draw(FINITE) if state is State.MEASURED else None
    extra = draw(st.dictionaries(TEXT, JSON, max_size=2))
    return ItemReading(draw(NAME), state, draw(st.none() | TEXT), value, extra)


@st.composite
def readings(draw: st.DrawFn) -> Reading:
    state = draw(st.sampled_from(State))
    measured = state is State.MEASURED
    seen = tuple(draw(st.lists(items(), max_size=4)))
    flagged = tuple(i.item for i in seen if draw(st.booleans()))
    n_items = len(seen) + draw(st.integers(0, 3))
    low, value, high = sorted(draw(st.tuples(FINITE, FINITE, FINITE)))
    return Reading(
        sensor=draw(NAME),
        direction=draw(st.sampled_from(Direction)),
        state=state,
        reason=draw(TEXT) if measured else draw(NAME),
        value=value if measured else None,
        low=low if measured else None,
        high=high if measured else None,
        interval_kind="proved lower bound" if measured else None,
        n_measured=draw(st.integers(0, n_items)),
        n_items=n_items,
        blocks=(draw(st.builds(b.Statement, TEXT, TEXT)), *draw(tuples(BLOCK))),
        per_item=seen,
        flagged=Flagged(flagged, draw(SHARE) if flagged else None, draw(st.none() | SHARE)),
        details=draw(st.dictionaries(TEXT, JSON, max_size=3)),
        fingerprint=draw(st.none() | TEXT),
        versions=draw(st.dictionaries(TEXT, TEXT, max_size=2)),
        seed=draw(st.none() | st.integers()),
    )


def refuse(constant: str) -> None:
    pytest.fail(f"{constant} is no strict JSON")


def reading(**changed: Any) -> Reading:
    base = Reading(
        sensor="made",
        direction=Direction.HIGHER_IS_WORSE,
        state=State.MEASURED,
        reason=None,
        value=0.5,
        n_measured=2,
        n_items=2,
        blocks=(STATEMENT,),
    )
    return replace(base, **changed)


@given(readings())
def test_every_reading_round_trips_through_strict_json(made: Reading) -> None:
    text = made.to_json(max_items=None)
    assert Reading.from_dict(json.loads(text, parse_constant=refuse)) == made


@given(readings())
def test_only_a_measured_reading_carries_a_value(made: Reading) -> None:
    assert (made.value is not None) is (made.state is State.MEASURED)
    with pytest.raises(InvalidReading):
        replace(made, value=None if made.value is not None else 0.0)


@pytest.mark.parametrize("name", ["value", "low", "high"])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_no_number_that_is_not_finite_gets_in(name: str, number: float) -> None:
    with pytest.raises(InvalidReading):
        reading(**{"interval_kind": "proved", name: number})


def test_a_nan_among_the_details_is_refused_when_it_is_written() -> None:
    with pytest.raises(CannotSerialise, match=r"details\.share is nan"):
        reading(details={"share": math.nan}).to_json()


@given(readings(), st.data())
def test_a_reading_with_a_missing_field_is_refused(made: Reading, data: st.DataObject) -> None:
    written = made.to_dict(max_items=None)
    lost = data.draw(st.sampled_from(sorted(set(written) - {"statement", "truncated"})))
    del written[lost]
    with pytest.raises(InvalidReading):
        Reading.from_dict(written)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"state": State.SILENT, "reason": "x"}, "only when MEASURED"),
        ({"state": State.SILENT, "value": None}, "without a reason"),
        ({"low": 0.6, "interval_kind": "proved"}, "lies outside"),
        ({"high": 0.4, "interval_kind": "proved"}, "lies outside"),
        ({"low": 0.4}, "without interval_kind"),
        ({"n_measured": 3}, "n_measured is 3 of n_items 2"),
        ({"n_measured": -1}, "n_measured is -1"),
        ({"blocks": ()}, "first block"),
        ({"blocks": (b.Notes("n", ()), STATEMENT)}, "first block"),
        ({"flagged": Flagged(("a", "b", "c"))}, "3 flagged ones in a reading of 2"),
    ],
)
def test_a_contradiction_is_refused(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidReading, match=said):
        reading(**changed)


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan])
def test_a_proved_share_lies_between_0_and_1(share: float) -> None:
    with pytest.raises(InvalidReading, match="a share lies in"):
        Flagged(("a",), share)


def test_nothing_flagged_proves_no_precision() -> None:
    with pytest.raises(InvalidReading, match="no item is flagged"):
        Flagged((), 0.5)


def test_an_item_carries_a_value_only_when_measured() -> None:
    with pytest.raises(InvalidReading, match="item 'a' is SILENT"):
        ItemReading("a", State.SILENT, "x", 0.5)
    with pytest.raises(InvalidReading, match="item 'a' is MEASURED"):
        ItemReading("a", State.MEASURED)


def test_long_lists_are_cut_and_say_so() -> None:
    seen = tuple(ItemReading(str(i), State.MEASURED, value=1.0) for i in range(1_200))
    long = reading(per_item=seen, n_items=1_200)
    short = long.to_dict(max_items=1_100)
    assert short["truncated"] is True
    assert len(short["per_item"]) == 1_000  # type: ignore[arg-type] # a list by construction
    assert long.to_dict()["truncated"] is False


@pytest.mark.parametrize("changed", [{"blocks": [{"block": "Pie"}]}, {"seed": True}, {"low": "1"}])
def test_a_foreign_object_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(InvalidReading):
        Reading.from_dict({**reading().to_dict(), **changed})


def test_results_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        reading().value = 0.1  # type: ignore[misc] # that is the point


VERDICTS = st.lists(st.builds(ItemVerdict, NAME, st.sampled_from(Verdict), TEXT), max_size=5)


@given(VERDICTS, st.sampled_from(State), st.none() | NAME)
def test_only_a_measured_decision_takes_anything(
    verdicts: list[ItemVerdict], state: State, taken: str | None
) -> None:
    if taken is not None and state is not State.MEASURED:
        with pytest.raises(InvalidReading, match="only a measured reading decides"):
            Decision("choose", state, "why", verdicts, taken)
        return
    made = Decision("choose", state, "why", verdicts, taken)
    written = json.loads(made.to_json(), parse_constant=refuse)
    assert written["taken"] == taken
    assert [v["verdict"] for v in written["verdicts"]] == [str(v.verdict) for v in verdicts]


@given(VERDICTS)
def test_items_by_verdict_are_a_partition_in_input_order(verdicts: list[ItemVerdict]) -> None:
    made = Decision("withhold", State.MEASURED, "why", verdicts)
    assert sum(len(made.items(v)) for v in Verdict) == len(verdicts)
    for verdict in Verdict:
        assert list(made.items(verdict)) == [v.item for v in verdicts if v.verdict is verdict]


@given(readings())
def test_the_summary_is_the_first_block(made: Reading) -> None:
    first = made.blocks[0]
    assume(isinstance(first, b.Statement))
    assert made.summary() == made.statement


def test_a_verdict_is_found_by_its_word_and_another_word_is_refused() -> None:
    made = Decision("withhold", State.MEASURED, "because", (ItemVerdict("a", Verdict.WITHHOLD),))
    assert made.items(Verdict("withhold")) == made.items("withhold") == ("a",)  # type: ignore[arg-type] # text, as users write it
    with pytest.raises(InputError, match="'withold' is no verdict"):
        made.items("withold")  # type: ignore[arg-type] # as above
