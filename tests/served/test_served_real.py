"""The client against the real llama.cpp server with the embedded weights."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_server import KEY, llama_server

from trueness import api
from trueness.backends import Model, Request, Result, open_model
from trueness.contract.errors import BackendError

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with llama_server() as address:
        yield address


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture(params=["completions", "chat"])
def model(url: str, request: pytest.FixtureRequest) -> Iterator[Model]:
    opened = open_model("openai:tiny", {"base_url": url, "api": request.param})
    yield opened
    opened.close()


def _ask(model: Model, **given: Any) -> Result:
    request = Request(("q", 1, "none"), "The capital of France is", **given)
    return next(iter(model.complete([request])))


def test_it_says_who_answers_and_what_it_gives(model: Model) -> None:
    assert model.identity["revision"] == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert {"text", "logprobs"} <= model.capabilities
    assert "scores" not in model.capabilities  # llama.cpp takes `echo` and echoes nothing


def test_every_token_has_its_log_probability_and_gap(model: Model) -> None:
    result = _ask(model, max_tokens=4)
    assert result.error is None
    assert (len(result.steps), result.n_written, result.finish) == (4, 4, "length")
    assert "".join(s.token or "" for s in result.steps) == result.text
    assert all(s.logprob is not None and s.logprob <= 0 for s in result.steps)
    assert all(s.gap is not None and s.gap >= 0 and s.id is not None for s in result.steps)


def test_continued_text_is_what_the_embedded_model_says(url: str) -> None:
    served = open_model("openai:tiny", {"base_url": url, "api": "completions"})
    local = open_model("embedded")
    here, there = _ask(local, max_tokens=4), _ask(served, max_tokens=4)
    served.close()
    local.close()
    assert here.text == there.text
    assert [s.id for s in here.steps] == [s.id for s in there.steps]
    assert here.logprob == pytest.approx(there.logprob, abs=0.05)


def test_the_same_seed_draws_the_same_text_and_others_draw_others(model: Model) -> None:
    texts = [_ask(model, temperature=1.0, seed=seed, max_tokens=12).text for seed in (1, 1, 2, 3)]
    assert texts[0] == texts[1]
    assert len(set(texts)) > 1


def test_a_stop_text_ends_the_answer(model: Model) -> None:
    whole = _ask(model, max_tokens=12).text
    cut = _ask(model, max_tokens=12, stop=(whole[3:6],))
    assert (cut.finish, cut.text) == ("stop", whole[: whole.index(whole[3:6])])


def test_a_system_prompt_changes_what_the_chat_reads(url: str) -> None:
    chat = open_model("openai:tiny", {"base_url": url})
    plain, told = _ask(chat), _ask(chat, system="Answer in one word of Latin, always.")
    chat.close()
    assert plain.n_prompt is not None
    assert told.n_prompt is not None
    assert told.n_prompt != plain.n_prompt


def test_a_prompt_beyond_the_context_is_an_error_of_its_own_row(model: Model) -> None:
    asked = [Request((n, 1, "none"), text, 2) for n, text in (("a", "x " * 3000), ("b", "Hi"))]
    found = {r.key[0]: r for r in model.complete(asked)}
    assert found["a"].error == "context_length"
    assert found["b"].error is None


def test_a_wrong_key_is_refused_without_showing_it(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-0123456789")
    model = open_model("openai:tiny", {"base_url": url})
    with pytest.raises(BackendError, match="status 401: Invalid API Key") as caught:
        _ = model.identity
    model.close()
    assert "sk-wrong" not in str(caught.value)


def test_a_relation_is_asked_and_certified_end_to_end(url: str, tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    options = {"base_url": url, "api": "completions", "max_connections": "2"}
    given: dict[str, Any] = {"templates": (0,), "limit": 8, "max_tokens": 4, "cache": False}
    summary = api.ask("capital", model="openai:tiny", options=options, out=out, **given)
    assert (summary.n_rows, summary.n_errors) == (8, 0)
    lines = out.read_text("utf-8").splitlines()
    header, rows = json.loads(lines[0]), [json.loads(line) for line in lines[1:]]
    assert "127.0.0.1" not in lines[0]
    assert header["protocols"]["none"]["request"]["api"] == "completions"
    assert sum(row["answer"] in row["target"] for row in rows) >= 4
    assert all(row["logprob"] <= 0 for row in rows)
    assert KEY not in out.read_text("utf-8")
    assert api.certify(str(out), relation_file="capital").value is not None
