"""Every block survives strict JSON, whatever stands in it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract import Direction, Reading, State
from trueness.contract import blocks as b
from trueness.contract.errors import InvalidReading
from trueness.contract.serial import Json

TEXT = st.text(max_size=6)
FINITE = st.floats(-1e9, 1e9)
THREE = st.tuples(FINITE, FINITE, FINITE)
TWO = st.none() | st.tuples(FINITE, FINITE)


def tuples(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(inner, max_size=3).map(tuple)


STRIP = st.builds(b.Strip, tuples(st.tuples(TEXT, st.integers(0, 99), TEXT)))
CELL = st.none() | st.booleans() | st.integers() | FINITE | TEXT | STRIP
PART = st.builds(b.Part, TEXT, FINITE, TEXT, TEXT)
BAR = st.builds(b.Bar, TEXT, tuples(PART), TEXT, TEXT)
POINTS = tuples(st.tuples(FINITE, st.none() | FINITE))
SERIES = st.builds(b.Series, TEXT, POINTS, st.booleans(), TEXT)
DOT = st.builds(
    b.Dot,
    TEXT,
    *(st.none() | FINITE for _ in range(3)),
    TEXT,
    TEXT,
    TWO,
    TEXT,
)
ARROW = st.builds(b.Arrow, TEXT, THREE, THREE, TEXT)
CLAUSE = st.builds(b.ClauseRow, TEXT, TEXT, TEXT, st.none() | st.booleans(), TEXT)
FACT = st.builds(b.Fact, TEXT, TEXT, TEXT)
TABLE = st.builds(
    b.Table, TEXT, tuples(TEXT), tuples(tuples(CELL)), st.integers(0), TEXT, st.booleans()
)
STRETCH = st.builds(
    b.Stretch,
    TEXT,
    st.none() | st.integers(0, 4),
    TEXT,
    st.none() | FINITE,
    st.none() | st.booleans(),
    TEXT,
)
MARKED = st.builds(
    b.MarkedText,
    TEXT,
    tuples(STRETCH),
    TEXT,
    st.none() | FINITE,
    st.none() | FINITE,
    tuples(FACT),
    st.none() | TABLE,
    st.none() | st.booleans(),
    TEXT,
    TEXT,
)
BLOCK = st.one_of(
    st.builds(b.Bars, TEXT, tuples(BAR), FINITE, TEXT, TEXT, tuples(FINITE)),
    st.builds(b.IntervalDots, TEXT, tuples(DOT), FINITE, TWO, TWO, TEXT, TEXT, TEXT, TEXT, TEXT),
    st.builds(
        b.SimplexArrows,
        TEXT,
        st.tuples(TEXT, TEXT, TEXT),
        tuples(ARROW),
        st.none() | ARROW,
        st.integers(0),
        TEXT,
        st.tuples(TEXT, TEXT, TEXT),
    ),
    st.builds(b.Curve, TEXT, TEXT, TEXT, tuples(SERIES), TEXT),
    st.builds(b.Clauses, TEXT, tuples(CLAUSE), TEXT, TEXT),
    TABLE,
    st.builds(
        b.MarkedTexts,
        TEXT,
        tuples(MARKED),
        st.integers(0),
        tuples(TEXT),
        FINITE,
        TEXT,
        st.none() | FINITE,
        TEXT,
        TEXT,
    ),
)


def reading(*drawn: b.Block) -> Reading:
    return Reading(
        sensor="made",
        direction=Direction.NEITHER,
        state=State.NO_EVIDENCE,
        reason="none",
        value=None,
        n_measured=0,
        n_items=0,
        blocks=(b.Statement("Nothing."), *drawn),
    )


@given(BLOCK)
def test_every_block_round_trips_through_strict_json(block: b.Block) -> None:
    made = reading(block)
    back = Reading.from_dict(json.loads(made.to_json()))
    assert back == made
    assert hash(back.blocks) == hash(made.blocks)


@pytest.mark.parametrize(
    "block",
    [
        {"block": "Facts", "title": "t", "facts": [["a", "b"]]},
        {"block": "Groups", "title": "t", "groups": "g", "n_groups": 1},
        {"block": "Notes", "title": "t", "lines": [], "more": 1},
        {"block": "Table", "title": "t", "columns": ["a"], "rows": [[{"x": 1}]], "n_rows": 1},
        {"block": "Clauses", "title": "t", "rows": [{"verdict": "v"}]},
        {"block": "Unknown"},
    ],
)
def test_what_is_no_block_is_refused(block: dict[str, Json]) -> None:
    data = reading().to_dict()
    assert isinstance(data["blocks"], list)
    data["blocks"].append(block)
    with pytest.raises(InvalidReading):
        Reading.from_dict(data)
