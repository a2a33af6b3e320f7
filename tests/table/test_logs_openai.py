import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.table import OUTCOMES, AnswerTable, read_answers
from trueness.table.logs import openai_evals

TINY = Path(__file__).parents[1] / "data" / "logs" / "openai_evals" / "tiny.jsonl"
SPEC = {"spec": {"eval_name": "e", "completion_fns": ["m"], "run_config": {"seed": 1}}}
END = {"final_report": {"accuracy": 0.5}, "run_id": "r"}


def sampling(number: int, sample: str, sampled: object, prompt: object = "Q") -> dict[str, Any]:
    data = {"prompt": prompt, "sampled": sampled}
    return {"event_id": number, "sample_id": sample, "type": "sampling", "data": data}


def match(number: int, sample: str, *, correct: bool, expected: object) -> dict[str, Any]:
    data = {"correct": correct, "expected": expected, "picked": "26" if correct else None}
    return {"event_id": number, "sample_id": sample, "type": "match", "data": data}


def log(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def texts(table: AnswerTable) -> list[tuple[str | None, int, str | None]]:
    assert table.completion is not None
    columns = table.item.values(), table.epoch.tolist(), table.completion.values()
    return list(zip(*columns, strict=True))


def test_the_draws_of_a_log_are_its_sampling_events() -> None:
    table = read_answers(TINY)
    assert texts(table)[:2] == [("tiny.dev.0", 1, "260"), ("tiny.dev.0", 2, "The total is 260.")]
    assert len(table) == 8
    assert table.target is not None
    assert set(table.target.values()) == {("260",), ("-5",)}
    assert table.extras["tool_score"].values()[:2] == ["true", "false"]
    assert table.extras["tool_answer"].values()[:2] == ["260", None]
    assert table.completed
    assert table.log is not None
    assert table.log.protocol == {"model": "gpt-x", "seed": 20220722, "task": "tiny.dev.match-v1"}
    assert "temperature" in table.log.unknown


@given(st.permutations(range(6)))
def test_the_order_of_lines_does_not_matter(order: list[int]) -> None:
    events = [sampling(i, f"s{i % 2}", f"text {i}") for i in range(6)]
    with tempfile.TemporaryDirectory() as folder:
        table = read_answers(log(Path(folder) / "t", SPEC, *(events[i] for i in order), END))
    expected = [(f"s{i % 2}", 1 + i // 2, f"text {i}") for i in range(6)]
    assert sorted(texts(table), key=str) == sorted(expected, key=str)


def test_a_judges_sampling_events_are_counted_and_left_out(tmp_path: Path) -> None:
    lines = [sampling(0, "a", "26"), sampling(1, "a", "Y", "judge it"), sampling(2, "a", "260")]
    path = log(tmp_path / "t", SPEC, *lines, END)
    table = read_answers(path)
    assert texts(table) == [("a", 1, "26"), ("a", 2, "260")]
    assert table.log is not None
    assert table.log.dropped == {"sampling event of a judge or a later turn": 1}
    assert "another prompt" in table.log.warnings[0]
    assert "(a)" in table.log.warnings[0]
    assert len(openai_evals.read(path, all_sampling=True)) == 3


def test_a_list_of_sampled_texts_is_several_draws(tmp_path: Path) -> None:
    table = read_answers(log(tmp_path / "t", SPEC, sampling(0, "a", ["x", "", None]), END))
    assert texts(table) == [("a", 1, "x"), ("a", 2, ""), ("a", 3, None)]
    assert [OUTCOMES[o].value for o in table.outcome] == ["answered", "answered", "error"]


def test_what_the_tool_picked_is_evidence_and_gold_is_what_it_expected(tmp_path: Path) -> None:
    lines = [sampling(0, "a", "260"), match(1, "a", correct=True, expected=["26", "twenty-six"])]
    table = read_answers(log(tmp_path / "t", SPEC, *lines, END))
    assert table.target is not None
    assert table.target[0] == ("26", "twenty-six")
    assert table.answer.values() == [None]
    assert table.extras["tool_answer"].values() == ["26"]


def test_an_error_event_is_a_missing_draw_of_its_sample(tmp_path: Path) -> None:
    error = {"event_id": 1, "sample_id": "a", "type": "error",
             "data": {"type": "RateLimitError", "message": "slow\ndown"}}  # fmt: skip
    table = read_answers(log(tmp_path / "t", SPEC, sampling(0, "a", "x"), error, END))
    assert [OUTCOMES[o].value for o in table.outcome] == ["answered", "error"]
    assert table.reason.values() == [None, "RateLimitError"]
    assert table.extras["error"].values() == [None, "slow down"]


def test_a_log_without_a_final_report_is_not_complete(tmp_path: Path) -> None:
    path = log(tmp_path / "t", SPEC, sampling(0, "a", "x"))
    path.write_bytes(path.read_bytes() + b'{"event_id": 1, "sam')
    table = read_answers(path)
    assert not table.completed
    assert any("no final report" in note for note in table.notes)


def test_an_event_that_was_written_twice_counts_once(tmp_path: Path) -> None:
    event = sampling(0, "a", "x")
    table = read_answers(log(tmp_path / "t", SPEC, event, event, END))
    assert len(table) == 1
    assert table.log is not None
    assert table.log.dropped == {"exact repeat of an event": 1}
    path = log(tmp_path / "u", SPEC, event, sampling(0, "a", "y"), END)
    with pytest.raises(InputError, match="sample 'a' has event 0 twice with different content"):
        read_answers(path)


def test_two_runs_in_one_file_and_a_log_without_draws_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 2: a second run begins"):
        read_answers(log(tmp_path / "t", SPEC, SPEC))
    with pytest.raises(InputError, match="holds no draw"):
        read_answers(log(tmp_path / "u", SPEC, END))


def test_a_folder_holds_one_run(tmp_path: Path) -> None:
    log(tmp_path / "a.jsonl", SPEC, sampling(0, "a", "x"), END)
    assert len(read_answers(tmp_path)) == 1
    log(tmp_path / "b.jsonl", SPEC, sampling(0, "a", "x"), END)
    with pytest.raises(InputError, match="holds 2 logs of OpenAI evals"):
        read_answers(tmp_path)
