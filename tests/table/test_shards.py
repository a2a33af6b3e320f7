import json
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueness.contract.errors import FingerprintMismatch, InputError
from trueness.extract import keyed
from trueness.table import AnswerTable, Column, read_answers, reading
from trueness.table.logs import texts
from trueness.table.shards import concat

WORD = st.sampled_from(["x", "y", "é", None])
NUMBERED = st.fixed_dictionaries(
    {
        "item": st.sampled_from("abcd"),
        "epoch": st.integers(1, 99),
        "answer": WORD,
        "weight": st.integers(1, 5),
    },
    optional={
        "target": st.lists(st.sampled_from("xyz"), max_size=2),
        "observer": st.lists(st.floats(0, 1), min_size=1, max_size=2),
        "group": WORD,
        "logprob": st.floats(-9, 0),
        "score": WORD,
        "condition": st.sampled_from(["none", "the:1"]),
    },
)
NUMBERED_ROWS = st.lists(
    NUMBERED,
    min_size=1,
    max_size=9,
    unique_by=lambda r: (r["item"], r["epoch"], r.get("condition", "none")),
)
GROUPED_ROWS = st.lists(
    st.fixed_dictionaries(
        {"item": st.sampled_from("abcd"), "answers": st.lists(WORD, min_size=1, max_size=3)},
        optional={"greedy": WORD, "stopped_by": WORD},
    ),
    min_size=1,
    max_size=6,
)
HEADER = {"protocol": {"model": "m", "epochs": 3, "note": "SYNTHETIC. Made up."}}


def rows_of(table: AnswerTable) -> Counter[Any]:
    """Rows as values, in no order."""
    n = len(table)
    labels = ("item", "condition", "answer", "reason", "completion", "target", "observer", "group")
    columns: list[list[Any]] = []
    for name in labels:
        column: Column[Any] | None = getattr(table, name)
        columns.append([None] * n if column is None else column.values())
    for name in ("score", "tool_score", "stopped_by"):
        extra = table.extras.get(name)
        columns.append([None] * n if extra is None else extra.values())
    weight = np.ones(n, dtype=np.int64) if table.weight is None else table.weight
    logprob = np.full(n, np.nan) if table.logprob is None else table.logprob
    columns += [table.epoch.tolist(), table.outcome.tolist(), weight.tolist()]
    columns.append(np.nan_to_num(logprob, nan=9).tolist())
    return Counter(zip(*columns, strict=True))


def written(folder: Path, name: str, rows: list[Any], *, header: bool = False) -> Path:
    path = folder / name
    lines = [json.dumps(r) for r in ([HEADER] if header else []) + rows]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def split(rows: list[Any], cuts: list[int]) -> list[list[Any]]:
    ends = sorted({min(c, len(rows)) for c in cuts} | {0, len(rows)})
    return [rows[a:b] for a, b in pairwise(ends) if rows[a:b]]


@settings(max_examples=60, deadline=None)
@given(
    NUMBERED_ROWS,
    st.lists(st.integers(0, 9), max_size=3),
    st.randoms(),
    st.sampled_from([1, 10**9]),
)
def test_shards_with_epochs_are_the_whole_in_any_order(
    rows: list[Any], cuts: list[int], order: Any, size: int
) -> None:
    parts = split(rows, cuts)
    order.shuffle(parts)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts, "CHARACTERS", size)
        whole = read_answers(written(Path(folder), "whole.jsonl", rows))
        shards = [written(Path(folder), f"{i}.jsonl", p) for i, p in enumerate(parts)]
        merged = read_answers(shards)
        assert rows_of(merged) == rows_of(whole)
        assert rows_of(keyed(merged)) == rows_of(keyed(whole))


@settings(max_examples=60, deadline=None)
@given(GROUPED_ROWS, st.lists(st.integers(0, 6), max_size=3), st.sampled_from([0, 10**9]))
def test_shards_of_a_grouped_file_are_the_whole(
    rows: list[Any], cuts: list[int], size: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "BULK_BYTES", size)
        whole = read_answers(written(Path(folder), "whole.jsonl", rows, header=True))
        parts = split(rows, cuts)
        shards = [written(Path(folder), f"{i}.jsonl", p, header=True) for i, p in enumerate(parts)]
        merged = read_answers(shards)
    assert rows_of(merged) == rows_of(whole)
    assert merged.row_number.tolist() == whole.row_number.tolist()
    assert (merged.planned, merged.protocols) == (whole.planned, whole.protocols)
    assert merged.notes[0] == "SYNTHETIC. Made up."


def test_a_folder_of_shards_is_one_table(tmp_path: Path) -> None:
    written(tmp_path, "b.jsonl", [{"item": "a", "epoch": 2, "answer": "y"}])
    (tmp_path / "a.csv").write_text("item,epoch,answer\na,1,x\n")
    (tmp_path / "notes.txt").write_text("no shard")
    table = read_answers(tmp_path)
    assert table.completion is not None
    assert table.completion.values() == ["x", "y"]


def test_exact_repeats_in_two_shards_are_dropped_and_contradictions_refused() -> None:
    row = {"item": "a", "epoch": 1, "answer": "x"}
    table = concat([read_answers([row]), read_answers([row])])
    assert (len(table), table.n_repeated) == (1, 1)
    with pytest.raises(InputError, match=r"item 'a' has epoch 1 twice.* rows 1 and 2"):
        concat([read_answers([row]), read_answers([{**row, "answer": "y"}])])


def test_tables_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    row = {"item": "a", "answer": "x"}
    with pytest.raises(InputError, match="no table was given"):
        concat([])
    with pytest.raises(InputError, match="different extractors"):
        concat([read_answers([row]), keyed(read_answers([row]))])
    with pytest.raises(InputError, match="column epoch, or none"):
        concat([read_answers([row]), read_answers([{**row, "epoch": 1}])])
    one = written(tmp_path, "1.jsonl", [{"item": "a", "answers": ["x"]}], header=True)
    two = tmp_path / "2.jsonl"
    two.write_text('{"protocol": {"model": "other"}}\n{"item": "a", "answers": ["x"]}\n')
    with pytest.raises(FingerprintMismatch, match="model differ"):
        read_answers([one, two])
    two.write_text('{"protocol": {"model": "m", "epochs": 4}}\n{"item": "a", "answers": ["x"]}\n')
    with pytest.raises(InputError, match="planned with 3 draws an item in one table and 4"):
        read_answers([one, str(two)])


def test_logs_of_one_tool_have_one_report(tmp_path: Path) -> None:
    spec: dict[str, Any] = {"spec": {"eval_name": "e"}}
    end: dict[str, Any] = {"final_report": {}}
    logs = []
    for i in (0, 1):
        event = {"event_id": i, "sample_id": "s", "type": "sampling",
                 "data": {"prompt": "p", "sampled": f"t{i}"}}  # fmt: skip
        logs.append(written(tmp_path, f"{i}.jsonl", [spec, event, end]))
    table = read_answers(logs)
    assert table.log is not None
    assert (table.log.n_read, table.log.n_draws, table.log.n_items) == (6, 2, 1)
    assert table.epoch.tolist() == [1, 2]
