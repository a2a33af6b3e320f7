import json
from pathlib import Path
from typing import Any

import pytest

from trueness.contract.errors import InputError
from trueness.table import OUTCOMES, AnswerTable, read_answers

RUN = Path(__file__).parents[1] / "data" / "logs" / "helm" / "run_tiny"


def state(item: str, *texts: str, **more: Any) -> dict[str, Any]:
    result = {"success": True, "completions": [{"text": t, "tokens": []} for t in texts]}
    request = {"prompt": "p", "temperature": 0.7, "num_completions": len(texts), "model": "m"}
    instance = {"id": item, "input": {"text": "q"}, "references": []}
    return {"instance": instance, "request": request, "result": result} | more


def run(folder: Path, *states: dict[str, Any], outputs: int = 2) -> Path:
    folder.mkdir(exist_ok=True)
    whole = {"adapter_spec": {"num_outputs": outputs}, "request_states": states}
    (folder / "scenario_state.json").write_text(json.dumps(whole), "utf-8")
    return folder


def texts(table: AnswerTable) -> list[tuple[str | None, int, str | None, str | None]]:
    assert table.completion is not None
    labels = table.item.values(), table.epoch.tolist(), table.condition.values()
    return list(zip(*labels, table.completion.values(), strict=True))


@pytest.mark.parametrize("path", [RUN, RUN / "scenario_state.json", RUN.parent])
def test_the_draws_of_a_run_are_the_completions_of_its_states(path: Path) -> None:
    table = read_answers(path)
    assert texts(table)[:2] == [("id0", 1, "none", "260"), ("id0", 2, "none", "The total is 260.")]
    assert len(table) == 8
    assert table.target is not None
    assert set(table.target.values()) == {("260",), ("-5",)}
    assert table.planned == {"none": 4}
    assert table.protocols["none"].fields["temperature"] == 0.7
    assert table.protocols["none"].fields["model"] == "mock/mock"
    assert table.logprob is None
    assert table.extras["stop_reason"].values() == ["stop"] * 8
    assert table.log is not None
    assert table.log.warnings == []


def test_states_of_one_instance_are_conditions_of_their_own(tmp_path: Path) -> None:
    plain = state("a", "x", "y", train_trial_index=0)
    typos = state("a", "x", "z", train_trial_index=1, reference_index=2, request_mode="original")
    typos["instance"]["perturbation"] = {"name": "typos", "prob": 0.1, "fairness": False}
    table = read_answers(run(tmp_path, plain, typos))
    other = 'perturbation=typos {"prob": 0.1};trial=1;reference=2;mode=original'
    assert table.conditions == ("none", other)
    assert table.epoch.tolist() == [1, 2, 1, 2]


def test_letters_stand_for_options_and_gold_is_the_options_text(tmp_path: Path) -> None:
    one = state("a", " B", output_mapping={"B": "Rome", "A": "Oslo"})
    one["instance"]["references"] = [
        {"output": {"text": "Rome"}, "tags": ["correct"]},
        {"output": {"text": "Oslo"}, "tags": []},
    ]
    table = read_answers(run(tmp_path, one, outputs=1))
    assert table.target is not None
    assert table.target[0] == ("Rome",)
    assert table.extras["choice_order"].values() == ['["Oslo", "Rome"]']


def test_a_request_that_failed_is_so_many_missing_draws(tmp_path: Path) -> None:
    failed = state("a", "x", "y", result={"success": False, "error": "HTTP 500\n"})
    table = read_answers(run(tmp_path, failed, state("b", "x", "y")))
    assert [OUTCOMES[o].value for o in table.outcome] == ["error", "error", "answered", "answered"]
    assert table.reason.values()[:2] == ["HTTP 500", "HTTP 500"]
    assert any("2 of 4 draws are missing" in note for note in table.notes)


def test_answers_from_a_cache_are_not_independent(tmp_path: Path) -> None:
    cached = state("a", "x", "y")
    cached["result"]["cached"] = True
    table = read_answers(run(tmp_path, cached))
    assert any("repeats are not independent" in note for note in table.notes)
    cached["request"]["random"] = "1"
    assert not any("cache" in note for note in read_answers(run(tmp_path, cached)).notes)


def test_absent_keys_are_unknown(tmp_path: Path) -> None:
    bare = {"instance": {"input": {"text": "q"}}, "result": {"completions": [{"text": "x"}]}}
    table = read_answers(run(tmp_path, bare))
    assert table.target is None
    assert len(str(table.item[0])) == 64
    assert table.log is not None
    assert {"model", "temperature", "template"} <= set(table.log.unknown)


def test_repeats_without_sampling_are_one_effective_draw(tmp_path: Path) -> None:
    cold = state("a", "x", "x")
    cold["request"]["temperature"] = 0
    table = read_answers(run(tmp_path, cold))
    assert table.protocols["none"].fields["independent_draws"] is False
    assert any("one effective draw" in note for note in table.notes)


def test_stops_by_length_and_log_probabilities_are_kept(tmp_path: Path) -> None:
    long = state("a", "x")
    long["result"]["completions"][0] |= {
        "finish_reason": {"reason": "length"}, "logprob": -1.5, "tokens": [{"text": "x"}]
    }  # fmt: skip
    table = read_answers(run(tmp_path, long))
    assert table.extras["stop_reason"].values() == ["length"]
    assert table.logprob is not None
    assert table.logprob.tolist() == [-1.5]


def test_a_file_that_was_cut_off_gives_what_is_whole(tmp_path: Path) -> None:
    path = run(tmp_path, state("a", "x", "y"), state("b", "x", "y")) / "scenario_state.json"
    path.write_bytes(path.read_bytes()[:-40])
    table = read_answers(path)
    assert (len(table), table.completed) == (2, False)


def test_scored_texts_two_runs_and_repeated_states_are_refused(tmp_path: Path) -> None:
    scored = state("a", "x", request={"max_tokens": 0})
    with pytest.raises(InputError, match="holds no draw"):
        read_answers(run(tmp_path / "one", scored))
    with pytest.raises(InputError, match="'a' has epoch 1 twice with different text"):
        read_answers(run(tmp_path / "two", state("a", "x"), state("a", "y")))
    with pytest.raises(InputError, match="holds 2 runs of HELM"):
        read_answers(tmp_path)
