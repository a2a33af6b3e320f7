import json
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.extract import keyed
from trueness.table import AnswerTable, Protocol, read_answers, write, write_jsonl

WHOLE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8)
ROW = st.fixed_dictionaries(
    {
        "item": st.sampled_from("abc"),
        "epoch": st.integers(1, 50),
        "condition": st.sampled_from(["none", "the:128"]),
        "completion": st.one_of(st.none(), WHOLE),
        "target": st.lists(WHOLE, max_size=2),
        "logprob": st.one_of(st.none(), st.floats(-50, 0)),
    }
)
ROWS = st.lists(
    ROW, min_size=1, max_size=8, unique_by=lambda r: (r["item"], r["epoch"], r["condition"])
)


def facts(table: AnswerTable) -> list[tuple[object, ...]]:
    columns: list[list[object]] = [
        [*table.item.values()],
        table.epoch.tolist(),
        [*table.condition.values()],
        table.outcome.tolist(),
        [*table.answer.values()],
        [*table.reason.values()],
        [*table.target.values()] if table.target is not None else [None] * len(table),
    ]
    logprob = table.logprob if table.logprob is not None else np.full(len(table), np.nan)
    columns.append([None if np.isnan(v) else v for v in logprob.tolist()])
    columns.append([*table.completion.values()] if table.completion else [None] * len(table))
    return list(zip(*columns, strict=True))


@settings(max_examples=40, deadline=None)
@given(ROWS)
def test_a_keyed_table_comes_back_from_json_lines_and_parquet(
    rows: list[dict[str, object]],
) -> None:
    table = keyed(read_answers(rows))
    with tempfile.TemporaryDirectory() as folder:
        for name in ("t.jsonl", "t.parquet"):
            path = Path(folder) / name
            write(table, path)
            back = read_answers(path)
            assert facts(back) == facts(table)
            assert back.extractor == table.extractor


@settings(max_examples=40, deadline=None)
@given(ROWS)
def test_keys_and_outcomes_come_back_from_csv(rows: list[dict[str, object]]) -> None:
    table = keyed(read_answers(rows))
    with tempfile.TemporaryDirectory() as folder:
        write(table, Path(folder) / "t.csv")
        back = read_answers(Path(folder) / "t.csv")
    assert [f[:6] for f in facts(back)] == [f[:6] for f in facts(table)]


BESIDE = st.fixed_dictionaries(
    {
        "item": st.sampled_from("abc"),
        "answer": st.one_of(st.none(), WHOLE),
        "observer": st.one_of(
            st.none(), st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1)
        ),
        "weight": st.integers(1, 10**12),
        "stopped_by": st.one_of(st.none(), WHOLE.filter(bool)),
        "is_correct": st.one_of(st.none(), st.booleans()),
    }
)


@settings(max_examples=40, deadline=None)
@given(st.lists(BESIDE, min_size=1, max_size=6), st.sampled_from(["jsonl", "parquet", "csv"]))
def test_observers_weights_plans_and_evidence_come_back(
    rows: list[dict[str, object]], suffix: str
) -> None:
    table = replace(keyed(read_answers(rows)), planned={"none": 8}, completed=False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"t.{suffix}"
        write(table, path)
        back = read_answers(path)
    assert table.weight is not None
    assert back.weight is not None
    assert back.weight.tolist() == table.weight.tolist()
    observers = [None] * len(table) if table.observer is None else table.observer.values()
    assert (observers if back.observer is None else back.observer.values()) == observers
    if suffix == "csv":
        return  # a cell says neither null nor plans
    assert (back.planned, back.completed) == ({"none": 8}, False)
    for name, column in table.extras.items():
        there = back.extras.get(name)
        assert ([None] * len(back) if there is None else there.values()) == column.values()


def test_protocols_notes_and_lone_surrogates_survive(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    header = {"trueness": 1, "protocols": {"none": {"model": "m", "t": 0.7}}, "extractor": None}
    row = {"item": "a", "epoch": 1, "outcome": "answered", "completion": "x\ud800", "cached": True}
    path.write_text(json.dumps(header) + "\n" + json.dumps(row) + "\n", "utf-8")
    table = read_answers(path)
    write(table, tmp_path / "u.jsonl")
    back = read_answers(tmp_path / "u.jsonl")
    assert back.completion is not None
    assert back.completion[0] == "x\ud800"
    assert back.protocols == {"none": Protocol({"model": "m", "t": 0.7})}
    assert back.extras["cached"].values() == ["true"]
    with pytest.raises(InputError, match=r"lone surrogate.*\.jsonl"):
        write(table, tmp_path / "u.parquet")


def test_what_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    table = read_answers([{"item": "a", "answer": "x"}])
    with pytest.raises(InputError, match=r"\.xlsx.* are known"):
        write(table, tmp_path / "t.xlsx")
    for suffix in ("jsonl", "csv", "parquet"):
        with pytest.raises(InputError, match="cannot be written"):
            write(table, tmp_path / "absent" / f"t.{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_clear_error() -> None:
    table = read_answers([{"item": "a", "answer": "x"}])
    with pytest.raises(InputError, match="/dev/full cannot be written"):
        write_jsonl(table, "/dev/full")
