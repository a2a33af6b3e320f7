"""Logs and files that something happened to are read or refused, never lost in silence."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import trueness as tr
from trueness.contract.errors import InputError
from trueness.table import write
from trueness.table.logs import inspect_ai_log, lm_eval, openai_evals
from trueness.table.reading import read_answers

DATA = Path(__file__).parents[1] / "data" / "logs"


def test_a_sample_that_was_never_sampled_is_counted(tmp_path: Path) -> None:
    sampled = {"prompt": "?", "sampled": ["1"]}
    lines = [
        {"spec": {"eval_name": "tiny", "run_id": "r"}},
        {"sample_id": "a", "event_id": 0, "type": "match", "data": {"expected": "1"}},
        {"sample_id": "b", "event_id": 1, "type": "sampling", "data": sampled},
    ]  # fmt: skip
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    table = openai_evals.read(path)
    assert table.item.values() == ["b"]
    assert table.log is not None
    assert table.log.dropped["sample without a sampling event"] == 1


def test_a_samples_file_without_one_whole_line_holds_no_draw(tmp_path: Path) -> None:
    whole = (DATA / "lmeval" / "older_format.jsonl").read_bytes()
    path = tmp_path / "samples.jsonl"
    path.write_bytes(whole.split(b"\n")[0][:-20])
    with pytest.raises(InputError, match="holds no draw"):
        lm_eval.read(path)


@pytest.mark.parametrize("epoch", [2**31, 10**30])
def test_an_epoch_that_numbers_no_draw_is_refused_by_item(tmp_path: Path, epoch: int) -> None:
    log: dict[str, Any] = json.loads((DATA / "inspect" / "tiny_gsm.json").read_text())
    log["samples"][0]["epoch"] = epoch
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    with pytest.raises(InputError, match=f"has the epoch {epoch};"):
        inspect_ai_log.read(path)


def test_a_pipe_is_refused_because_its_beginning_would_be_lost(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(InputError, match="is a pipe or a device"):
        read_answers(path)


def test_an_empty_cell_is_no_gold_of_answers_that_were_keyed(tmp_path: Path) -> None:
    rows = [
        {"item": item, "answer": f"The answer is {a}.", "target": gold}
        for item, gold in (("q1", "4"), ("q2", None))
        for a in (4, 4, 5)
    ]
    table = tr.read(rows, answer_kind="number")
    path = tmp_path / "keyed.csv"
    write(table, path)
    again = tr.read(path, answer_kind="number")
    assert again.target is not None
    assert again.target.values() == [("4",)] * 3 + [None] * 3
    before, after = tr.compare(table).details, tr.compare(path).details
    assert before["parts"] == after["parts"]
    assert after["n_gold_known"] == 1
