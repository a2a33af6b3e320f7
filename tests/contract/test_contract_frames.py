"""Readings and decisions as data frames of the library that the caller has."""

import gc
import subprocess
import sys
from dataclasses import replace
from typing import Any

import duckdb
import pytest

from trueness.contract import Decision, Direction, ItemReading, ItemVerdict, Reading, State, Verdict
from trueness.contract.blocks import Statement
from trueness.contract.errors import CannotSerialise, InputError, MissingExtraError
from trueness.contract.framing import frame_of
from trueness.table import read_answers

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


DECISION = Decision(
    action="gate",
    state=State.MEASURED,
    reason="Said.",
    verdicts=(ItemVerdict("a", Verdict.ACCEPT, "why"), ItemVerdict("b", Verdict.REVIEW)),
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
    assert columns_of(DECISION.to_frame(backend), backend) == {
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


def test_the_arrow_stream_is_the_frame_with_types_that_do_not_depend_on_the_items() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table(READING)
    assert table.to_pydict() == columns_of(READING.to_frame("pyarrow"), "pyarrow")
    assert {f.name: str(f.type) for f in table.schema} == {
        "item": "string",
        "state": "string",
        "reason": "string",
        "value": "double",
        "rank": "int64",
        "cut": "double",
        "influence": "string",
    }
    empty = pa.table(replace(READING, per_item=()))
    assert (empty.num_rows, empty.column_names) == (0, ["item", "state", "reason", "value"])
    assert str(empty.schema.field("value").type) == "double"
    assert pa.table(DECISION).to_pydict() == columns_of(DECISION.to_frame("pyarrow"), "pyarrow")


def test_polars_and_duckdb_take_a_reading_as_it_is() -> None:
    pl = pytest.importorskip("polars")
    wanted = columns_of(READING.to_frame("polars"), "polars")
    assert pl.DataFrame(READING).to_dict(as_series=False) == wanted
    taken = pl.from_arrow(READING)
    unnested = taken.struct.unnest() if isinstance(taken, pl.Series) else taken
    assert unnested.to_dict(as_series=False) == wanted
    assert pl.DataFrame(DECISION)["verdict"].to_list() == ["accept", "review"]
    reading = READING
    assert reading is not None
    found = duckdb.connect().execute("SELECT item FROM reading WHERE value > 0.3")
    assert found.fetchall() == [("a",)]


def test_a_stream_outlives_the_reading_and_is_read_once_by_each_who_asks() -> None:
    pa = pytest.importorskip("pyarrow")
    items = tuple(ItemReading(f"i{k}", State.MEASURED, None, float(k)) for k in range(5_000))
    reading = replace(READING, per_item=items, n_items=5_000)
    readers = [pa.RecordBatchReader.from_stream(reading) for _ in range(2)]
    del reading, items
    gc.collect()
    for reader in readers:
        table = reader.read_all()
        assert table["value"].to_pylist() == [float(k) for k in range(5_000)]


def test_odd_names_and_numbers_beyond_64_bits_go_into_a_stream() -> None:
    pa = pytest.importorskip("pyarrow")
    extra: dict[str, Any] = {
        'a "b"': 2**70,
        "Item": "x",
        "yes": True,
        "none": None,
        "nul": "a\x00b",
    }
    item = ItemReading("é", State.MEASURED, None, 0.5, extra)
    table = pa.table(replace(READING, per_item=(item,)))
    (row,) = table.to_pylist()
    assert row == {
        "item": "é",
        "state": "MEASURED",
        "reason": None,
        "value": 0.5,
        'a "b"': str(2**70),
        "Item": "x",
        "yes": True,
        "none": None,
        "nul": "a\x00b",
    }
    assert str(table.schema.field("yes").type) == "bool"


def test_half_a_character_is_one_clear_error() -> None:
    pytest.importorskip("polars")
    broken = replace(READING, per_item=(ItemReading("a\ud800", State.MEASURED, None, 0.5),))
    for make in (broken.__arrow_c_stream__, lambda: broken.to_frame("polars")):
        with pytest.raises(CannotSerialise, match="'item' holds a text with half a character"):
            make()


@pytest.mark.parametrize("absent", ["pyarrow", "duckdb"])
def test_a_stream_needs_duckdb_alone_and_says_so_where_it_is_not_there(absent: str) -> None:
    program = f"""
import sys
for name in ("pyarrow", "pandas", "polars", "narwhals", "{absent}"):
    sys.modules[name] = None
from trueness.contract import Decision, State
try:
    print(type(Decision("gate", State.MEASURED, "Said.", ()).__arrow_c_stream__()).__name__)
except ImportError as error:
    print(type(error).__name__, error)
"""
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    said = {
        "pyarrow": "PyCapsule",
        "duckdb": "MissingExtraError an Arrow stream needs duckdb. Run: pip install duckdb",
    }
    assert (found.stdout.strip(), found.stderr) == (said[absent], "")


@pytest.mark.parametrize("result", [READING, DECISION], ids=["reading", "decision"])
def test_a_result_is_no_table_of_answers_although_it_streams(result: Reading | Decision) -> None:
    with pytest.raises(InputError, match=f"a {type(result).__name__} was handed in; a path"):
        read_answers(result)
