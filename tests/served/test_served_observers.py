"""What a server's listed log-probabilities say of a pass: two numbers exactly, the rest in ends."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from http_server import (
    FACTS,
    KEY,
    Act,
    Script,
    as_json,
    chat,
    completion,
    question,
    serving,
    text_for,
)

from trueness import api
from trueness.backends import open_model
from trueness.backends.openai_compatible.model import OpenAIModel
from trueness.collect import Quiz, ask
from trueness.contract import State
from trueness.contract.errors import BackendError, FingerprintMismatch, InputError
from trueness.stats.observers import NUMBERS, endpoint_bounds, observe
from trueness.table import AnswerTable, read_answers

LAW = np.array([0.5, 0.2, *[0.3 / 98] * 98])
QUIZ = Quiz("capital", ("The capital of {e} is",), tuple(FACTS), tuple(FACTS.values()))
WHOLE = observe(LAW).numbers


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def listing(most: int, *, law: Any = LAW) -> Any:
    """A server that lists up to so many tokens, and refuses to list more."""

    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        del script
        wanted = int(body.get("top_logprobs", body.get("logprobs", 0)))
        if wanted > most:
            return as_json({"error": {"message": f"top_logprobs is at most {most}"}}, 400)
        text = text_for(question(body))
        tops = [(f"t{i}", math.log(p)) for i, p in enumerate(law[:wanted])]
        if "messages" in body:
            place = {"token": text, "logprob": tops[0][1]}
            place |= {"top_logprobs": [{"token": t, "logprob": z} for t, z in tops]}
            return chat(text, logprobs={"content": [place]})
        tops.append((f"t{len(law) - 1}", math.log(law[-1])))  # the drawn one comes on top
        listed = {"tokens": [text], "token_logprobs": [tops[-1][1]], "top_logprobs": [dict(tops)]}
        return completion(text, logprobs=listed)

    return behave


def asked(server: Script, out: Path, observable: str = "one_pass", **more: Any) -> AnswerTable:
    options = {"base_url": server.url, "backoff": "0", "max_retries": "0", "timeout": "5"}
    model = open_model("openai:tiny", options | more.pop("options", {}))
    try:
        ask(QUIZ, model, out=out, observable=observable, **more)
    finally:
        model.close()
    return read_answers(out)


@pytest.mark.parametrize("shape", ["chat", "completions"])
@pytest.mark.parametrize("most", [20, 5])
def test_two_numbers_are_exact_and_the_others_lie_between_their_ends(
    tmp_path: Path, shape: str, most: int
) -> None:
    with serving(listing(most)) as server:
        table = asked(server, tmp_path / "t.jsonl", options={"api": shape})
        sent = [b for b in server.seen if "capital" in question(b) and "Peru" in question(b)]
    assert {b.get("top_logprobs", b.get("logprobs")) for b in sent} == {most}
    assert table.observer is not None
    (numbers,) = set(table.observer.values())
    assert numbers == pytest.approx((0.5, 0.3))
    for place, name in enumerate(NUMBERS[:4]):
        low, high = (float(table.extras[f"{name}_{end}"][0] or "nan") for end in ("low", "high"))
        assert low - 1e-9 <= WHOLE[place] <= high + 1e-9
    assert table.observed["one_pass"]["n_listed"] == most  # type: ignore[index, call-overload]
    margin = api.measure("baseline.margin", table)
    assert margin.value == pytest.approx(0.3)
    entropy = api.measure("baseline.entropy", table)
    assert entropy.state is State.NOT_APPLICABLE
    assert "shannon_low" in (entropy.reason or "")


def most_top(server: Script) -> tuple[int, tuple[str, ...], list[int]]:
    """What a server is found to list, what is remarked of it, and how much it was asked for."""
    options = {"base_url": server.url, "backoff": "0", "max_retries": "2", "timeout": "5"}
    model = open_model("openai:tiny", options)
    assert isinstance(model, OpenAIModel)
    try:
        return model.most_top, model.remarks, [b["top_logprobs"] for b in server.seen]
    finally:
        model.close()


@pytest.mark.parametrize(
    "once",
    [as_json({"error": {"message": "busy"}}, 503, Retry_After="0"), Act(hang_up=True)],
    ids=["busy", "hung up"],
)
def test_a_server_that_fails_once_is_asked_again_for_as_many(once: Act) -> None:
    lists = listing(20)

    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        return once if len(script.seen) == 2 else lists(script, body)

    with serving(behave) as server:
        assert most_top(server) == (20, (), [2, 20, 20])


@pytest.mark.parametrize(("most", "asked_for"), [(5, [2, 20, 5]), (4, [2, 20, 5])])
def test_a_server_that_refuses_so_many_is_asked_for_fewer_without_a_remark(
    most: int, asked_for: list[int]
) -> None:
    with serving(listing(most)) as server:
        assert most_top(server) == (5 if most == 5 else 0, (), asked_for)


def test_a_server_that_goes_on_failing_has_no_number_that_it_lists(tmp_path: Path) -> None:
    busy, out = as_json({"error": {"message": "busy"}}, 503, Retry_After="0"), tmp_path / "t.jsonl"
    lists = listing(20)

    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        return lists(script, body) if len(script.seen) == 1 else busy

    with serving(behave) as server, pytest.raises(BackendError, match="status 503: busy"):
        asked(server, out)
    assert not out.exists()


def test_ends_for_more_tokens_than_there_are_hold_for_fewer() -> None:
    top = np.log(LAW[:20])
    wide, true = endpoint_bounds(top, n_tokens=1 << 20), endpoint_bounds(top, n_tokens=100)
    assert (wide.low <= true.low + 1e-9).all()
    assert (wide.high >= true.high - 1e-9).all()


def test_resumed_and_cached_answers_carry_them(tmp_path: Path) -> None:
    cache, out = tmp_path / "c.sqlite", tmp_path / "t.jsonl"
    with serving(listing(20)) as server:
        first = asked(server, out, cache=cache)
        lines = out.read_bytes().splitlines(keepends=True)
        out.write_bytes(b"".join(lines[:3]))
        n = len(server.seen)
        again = asked(server, out, cache=cache, resume=True)
        assert not [b for b in server.seen[n:] if b.get("max_tokens", 8) > 1]
        with pytest.raises(FingerprintMismatch, match="nothing is asked for now"):
            asked(server, out, "string", resume=True)
    assert first.observer is not None
    assert again.observer is not None
    assert set(again.observer.values()) == set(first.observer.values())
    assert "true" in again.extras["cached"].values()


def test_answers_that_were_cached_without_them_are_asked_again(tmp_path: Path) -> None:
    cache = tmp_path / "c.sqlite"
    with serving(listing(20)) as server:
        asked(server, tmp_path / "a.jsonl", "string", cache=cache)
        table = asked(server, tmp_path / "b.jsonl", cache=cache)
    assert table.observer is not None
    assert None not in table.observer.values()


def test_a_server_that_lists_nothing_is_refused_before_the_first_question(tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    with serving() as server, pytest.raises(InputError, match="a server that lists log-prob"):
        asked(server, out)
    assert not out.exists()
    with serving(listing(20)) as server, pytest.raises(InputError, match="hidden_states needs"):
        asked(server, out, "hidden_states")
    with serving(listing(20)) as server:
        asked(server, tmp_path / "u.jsonl", "string")
        assert {b["top_logprobs"] for b in server.seen} == {2}  # nothing more is asked of a server


def test_numbers_of_no_law_are_left_out_with_their_reason(tmp_path: Path) -> None:
    with serving(listing(20, law=[0.6, 0.6, *[0.01] * 30])) as server:
        table = asked(server, tmp_path / "t.jsonl")
    assert table.observer is None or set(table.observer.values()) == {None}
    assert all("of no law" in str(r) for r in table.extras["observer_reason"].values())
    assert None not in table.answer.values()
