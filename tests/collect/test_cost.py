"""What a run cost lies beside its table, however the run ended."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from trueness.backends.scripted import ScriptedModel
from trueness.collect import Quiz, ask, facts_of
from trueness.collect.cache import RequestCache
from trueness.collect.cost import cost_of
from trueness.contract.errors import InputError, ProtocolError
from trueness.table import journal

QUIZ = Quiz(
    "number",
    ("The double of {e} is", "Twice {e} makes"),
    tuple(f"n{i}" for i in range(20)),
    tuple(f"m{i}" for i in range(20)),
)


def model(script: str) -> ScriptedModel:
    return ScriptedModel(script, facts_of(QUIZ))


def costs(table: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in cost_of(table).read_text("utf-8").splitlines()]


def test_a_run_says_its_requests_tokens_and_seconds(tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    summary = ask(QUIZ, model("right"), out=out)
    (cost,) = costs(out)
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()[1:]]
    assert cost["completed"]
    assert cost["rows"] == len(rows) == 40
    assert cost["requests"] == summary.n_asked + summary.n_checks
    assert cost["of_self_check"] == summary.n_checks
    assert cost["attempts_of_rows"] == sum(row["attempts"] for row in rows)
    assert cost["tokens_in"] == sum(row["tokens_in"] for row in rows)
    assert cost["tokens_out"] == sum(row["tokens_out"] for row in rows)
    assert cost["seconds"] > 0


def test_failures_are_counted_by_reason(tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    heard: list[dict[str, int]] = []

    def listen(_safe: int, _total: int, _condition: str, errors: Mapping[str, int]) -> None:
        heard.append(dict(errors))

    summary = ask(QUIZ, model("flaky"), out=out, progress=listen)
    assert summary.n_errors > 0
    assert summary.errors == costs(out)[0]["errors"] == heard[-1]
    assert sum(summary.errors.values()) == summary.n_errors
    reason = next(iter(summary.errors))
    assert f"{summary.n_errors} errors ({summary.errors[reason]} {reason}" in summary.lines()[0]


def test_every_run_of_a_table_has_a_line_and_one_that_did_nothing_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "SYNC_SHARE", 1.0)  # every batch is synced, and shown
    out = tmp_path / "t.jsonl"

    def stop(safe: int, *_: object) -> None:
        if safe >= 16:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(QUIZ, model("right"), out=out, progress=stop)
    for _ in range(2):
        ask(QUIZ, model("right"), out=out, resume=True)
    first, second = costs(out)
    assert (first["completed"], second["completed"]) == (False, True)
    assert first["rows"] + second["rows"] == 40


def test_a_run_that_is_refused_says_what_it_cost(tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    with pytest.raises(ProtocolError):
        ask(QUIZ, model("reversed"), out=out)
    (cost,) = costs(out)
    assert not cost["completed"]
    assert cost["rows"] == 0
    assert cost["requests"] > cost["of_self_check"] > 0


def test_costs_of_a_table_that_is_gone_are_not_kept(tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    ask(QUIZ, model("right"), out=out)
    out.unlink()
    ask(QUIZ, model("right"), out=out)
    assert len(costs(out)) == 1


def test_a_cost_that_cannot_be_written_loses_no_row(tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    cost_of(out).mkdir()
    summary = ask(QUIZ, model("right"), out=out)
    assert summary.n_rows == 40
    assert any("cost" in warning for warning in summary.warnings)


def test_a_cache_that_fails_on_the_way_loses_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        msg = "cannot use the cache: disk full."
        raise InputError(msg)

    monkeypatch.setattr(RequestCache, "put", full)
    out = tmp_path / "t.jsonl"
    summary = ask(QUIZ, model("right"), out=out, cache=tmp_path / "requests.sqlite")
    assert (summary.n_rows, summary.n_errors) == (40, 0)
    assert any("not cached from here on" in warning for warning in summary.warnings)


def test_draws_of_one_question_share_one_prompt(tmp_path: Path) -> None:
    seen: dict[str, set[int]] = {}
    held: list[object] = []

    class Watched(ScriptedModel):
        def complete(self, requests: Any) -> Any:
            for request in requests:
                held.append(request.prompt)
                seen.setdefault(request.key[0], set()).add(id(request.prompt))
            return ScriptedModel.complete(self, requests)

    ask(QUIZ, Watched("right", facts_of(QUIZ)), out=tmp_path / "t.jsonl", epochs=5, temperature=1.0)
    assert {len(ids) for ids in seen.values()} == {1}
