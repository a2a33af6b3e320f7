"""Readings and decisions as data frames of the library that the caller has."""

from typing import Any

import pytest

from trueness.contract import Decision, Direction, ItemReading, ItemVerdict, Reading, State, Verdict
from trueness.contract.blocks import Statement
from trueness.contract.errors import InputError, MissingExtraError
from trueness.contract.framing import frame_of

ITEMS = (
    ItemReading("a", State.MEASURED, None, 0.5, {"rank": 2, "cut": 1, "influence": [0.5, 0.25]}),
    ItemReading("b", State.NO_EVIDENCE, "no_evidence", None, {"rank": None, "cut": 0.5}),
    ItemReading("c", State.MEASURED, None, 0.25, {"rank": 1, "cut": None, "item": "other"}),
)
READING = Reading(
    sensor="energy",
    direction=Direction.HIGHER_IS_WORSE,
    state=State.MEASURED,
    reason=None,
    value=0.375,
    n_measured=2,
    n_items=3,
    blocks=(Statement("Said."),),
    per_item=ITEMS,
)


def columns_of(frame: Any, backend: str) -> dict[str, list[Any]]:
    if backend == "pandas":
        frame = frame.astype(object).where(frame.notna(), None)
        return {name: list(frame[name]) for name in frame.columns}
    return dict(frame.to_dict(as_series=False) if backend == "polars" else frame.to_pydict())


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_every_item_is_a_row_whatever_its_state(backend: str) -> None:
    pytest.importorskip(backend)
    assert columns_of(READING.to_frame(backend), backend) == {
        "item": ["a", "b", "c"],
        "state": ["MEASURED", "NO_EVIDENCE", "MEASURED"],
        "reason": [None, "no_evidence", None],
        "value": [0.5, None, 0.25],
        "rank": [2, None, 1],
        "cut": [1.0, 0.5, None],
        "influence": ["[0.5, 0.25]", None, None],
    }


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_every_verdict_is_a_row(backend: str) -> None:
    pytest.importorskip(backend)
    decision = Decision(
        action="gate",
        state=State.MEASURED,
        reason="Said.",
        verdicts=(ItemVerdict("a", Verdict.ACCEPT, "why"), ItemVerdict("b", Verdict.REVIEW)),
    )
    assert columns_of(decision.to_frame(backend), backend) == {
        "item": ["a", "b"],
        "verdict": ["accept", "review"],
        "reason": ["why", ""],
    }


def test_a_column_of_several_kinds_becomes_text() -> None:
    pytest.importorskip("polars")
    frame = frame_of({"x": [1, "one", None, True]}, "polars")
    assert frame["x"].to_list() == ["1", "one", None, "true"]


def test_a_library_that_is_unknown_or_missing_is_one_clear_error() -> None:
    with pytest.raises(InputError, match="no data frame is called 'excel'; choose one of pandas"):
        READING.to_frame("excel")
    with pytest.raises(MissingExtraError, match="pip install cudf"):
        READING.to_frame("cudf")
