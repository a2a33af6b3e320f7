"""Everything that a server can do wrong, done on purpose."""

import asyncio
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from http_server import (
    FACTS,
    KEY,
    Act,
    Script,
    as_json,
    chat,
    good,
    is_probe,
    question,
    serving,
    text_for,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from trueness.backends import Request, Result, open_model
from trueness.backends.openai_compatible.model import OpenAIModel
from trueness.backends.scoring import Continuation, scorer_of
from trueness.contract.errors import BackendError, InputError

FAST = {"backoff": "0", "max_retries": "2", "timeout": "5"}
Requests = list[Request]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def asked(n: int = 1) -> Requests:
    names = [*FACTS, *(f"place {i:04d}" for i in range(n))][:n]
    return [Request((name, 1, "none"), f"The capital of {name} is", seed=7) for name in names]


def results(
    script: Script, requests: Requests, **options: str
) -> tuple[dict[str, Result], OpenAIModel]:
    model = open_model("openai:tiny", {"base_url": script.url, **FAST, **options})
    assert isinstance(model, OpenAIModel)
    try:
        return {r.key[0]: r for r in model.complete(requests)}, model
    finally:
        model.close()


def after_probe(act: Act | None, n: int = 10**9) -> Any:
    """A server that behaves while it is probed, misbehaves n times a question, then is good."""

    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        if len(script.seen) == 1 or script.nth(body) > n or act is None:
            return good(script, body)
        return act

    return behave


WRONG = {
    "429": (as_json({"error": {"message": "slow down"}}, 429), "http_429"),
    "500": (as_json({"error": "boom"}, 500), "http_500"),
    "503": (Act(503, b"<html>busy</html>"), "http_503"),
    "half a body": (Act(body=b'{"choices": [{"mess', length=900), "connection_lost"),
    "invalid JSON": (Act(body=b'{"choices": [{"mess'), "malformed_reply"),
    "not UTF-8": (Act(body=b"\xff\xfe"), "malformed_reply"),
    "deep JSON": (Act(body=b"[" * 200_000), "malformed_reply"),
    "a list": (as_json([1]), "malformed_reply"),
    "empty choices": (as_json({"choices": []}), "malformed_reply"),
    "null content": (chat(None), "malformed_reply"),
    "nothing": (Act(), "malformed_reply"),
    "a closed connection": (Act(hang_up=True), "connection_lost"),
    "a lie about compression": (Act(200, b"xx", {"Content_Encoding": "gzip"}), "malformed_reply"),
    "an error in a 200": (as_json({"error": {"message": "no"}}), "malformed_reply"),
}  # fmt: skip
FINAL = {
    "400": (as_json({"error": {"message": "bad"}}, 400), "http_400"),
    "404": (as_json({"error": {"message": "no such model"}}, 404), "http_404"),
    "418": (Act(418), "http_418"),
    "a redirect": (Act(307, headers={"Location": "http://127.0.0.1:9/"}), "http_307"),
    "a filter": (chat(" Par", finish_reason="content_filter"), "content_filter"),
    "a filtered prompt": (as_json({"error": {"code": "content_filter"}}, 400), "content_filter"),
    "too long": (as_json({"error": {"code": "context_length_exceeded"}}, 400), "context_length"),
    "another model": (as_json({"model": "big", "choices": [{"text": "x"}]}), "other_model"),
    "tools": (chat(None, finish_reason="tool_calls"), "finish_tool_calls"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_may_pass_is_tried_again_and_then_a_failure_with_its_reason(name: str) -> None:
    act, reason = WRONG[name]
    with serving(after_probe(act)) as script:
        found, _ = results(script, asked())
    assert found["France"] == Result.failed(("France", 1, "none"), reason, attempts=3)
    assert len(script.seen) == 1 + 3


@pytest.mark.parametrize("name", WRONG)
def test_what_passes_is_an_answer_with_its_attempts(name: str) -> None:
    act, _ = WRONG[name]
    with serving(after_probe(act, 2 + 1)) as script:  # the probe asked the same once
        found, _ = results(script, asked())
    assert (found["France"].text, found["France"].attempts) == (" Paris", 3)
    assert found["France"].error is None


@pytest.mark.parametrize("name", FINAL)
def test_what_cannot_pass_is_tried_once(name: str) -> None:
    act, reason = FINAL[name]
    with serving(after_probe(act)) as script:
        found, _ = results(script, asked())
    failed = replace(found["France"], n_prompt=None)  # a filtered reply counts its tokens
    assert failed == Result.failed(("France", 1, "none"), reason)
    assert len(script.seen) == 2


def test_a_slow_drip_is_cut_at_the_total_time() -> None:
    drip = Act(body=chat(" Paris").body, drip=0.05)  # each byte comes well within any read time-out
    start = time.monotonic()
    with serving(after_probe(drip)) as script:
        found, _ = results(script, asked(), timeout="0.4", max_retries="1")
    assert found["France"] == Result.failed(("France", 1, "none"), "timeout", attempts=2)
    assert time.monotonic() - start < 10


def test_a_server_that_never_answers_is_a_time_out() -> None:
    with serving(after_probe(Act(delay=2.0))) as script:
        found, _ = results(script, asked(), timeout="0.2", max_retries="0")
    assert found["France"].error == "timeout"


def test_a_body_without_end_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "trueness.backends.openai_compatible.transport.LARGEST_REPLY", 10_000, raising=True
    )
    with serving(after_probe(Act(body=b"[" + b"1," * 50_000))) as script:
        found, _ = results(script, asked(), max_retries="0")
    assert found["France"].error == "malformed_reply"


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_stops_the_run_after_what_had_arrived(status: int) -> None:
    n = 200

    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        if len(script.seen) < 40:
            return good(script, body)
        return as_json({"error": {"message": f"Incorrect API key provided: {KEY}"}}, status)

    kept: list[Result] = []
    with serving(behave) as script:
        model = open_model("openai:tiny", {"base_url": script.url, **FAST})
        with pytest.raises(BackendError, match=f"status {status}") as caught:
            kept.extend(model.complete(asked(n)))
        model.close()
    assert KEY not in str(caught.value)
    assert "[key]" in str(caught.value)
    assert len(script.seen) < 40 + 32
    assert 0 < len(kept) < 40


def test_a_used_up_quota_stops_the_run() -> None:
    act = as_json({"error": {"code": "insufficient_quota", "message": "pay"}}, 429)
    with serving(after_probe(act)) as script, pytest.raises(BackendError, match="quota is used up"):
        results(script, asked(50))
    assert len(script.seen) < 10


def test_results_before_the_stop_are_handed_over() -> None:
    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        if "place" in question(body):
            return as_json({}, 401)
        return good(script, body)

    kept: list[Result] = []
    with serving(behave) as script:
        model = open_model("openai:tiny", {"base_url": script.url, **FAST, "max_connections": "1"})
        with pytest.raises(BackendError, match="Set OPENAI_API_KEY"):
            kept.extend(model.complete(asked(10)))
        model.close()
    assert [result.text for result in kept] == [f" {answer}" for answer in FACTS.values()]


def test_the_server_is_waited_for_as_long_as_it_asks() -> None:
    act = as_json({}, 429, Retry_After="0.3")
    with serving(after_probe(act, 2)) as script:
        found, _ = results(script, asked(), backoff="100")
    assert found["France"].attempts == 2
    assert 0.3 <= script.times[2] - script.times[1] < 2


def test_a_wait_of_an_hour_is_a_failure_now() -> None:
    act = as_json({}, 429, Retry_After="3600")
    with serving(after_probe(act)) as script:
        found, _ = results(script, asked())
    assert found["France"] == Result.failed(("France", 1, "none"), "http_429")


def test_an_unreadable_wait_is_ignored() -> None:
    act = as_json({}, 429, Retry_After="soon")
    with serving(after_probe(act, 2)) as script:
        found, _ = results(script, asked())
    assert found["France"].text == " Paris"


def test_no_more_requests_are_in_flight_than_allowed_and_as_many_as_allowed_are() -> None:
    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        return Act(body=good(script, body).body, delay=0.005)

    with serving(behave) as script:
        results(script, asked(200), max_connections="8")
    assert 4 < script.most <= 8


def test_overload_narrows_the_window() -> None:
    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        late = len(script.asked) > 201 and script.nth(body) == 1
        return as_json({}, 503, Retry_After="0") if late else good(script, body)

    with serving(behave) as script:
        before, model = results(script, asked(200), max_connections="8")
        assert model._transport.window.size == 8
        found, model = results(script, asked(240), max_connections="8")
        assert model._transport.window.size <= 5
    assert all(result.error is None for result in (*before.values(), *found.values()))
    assert sum(result.attempts == 2 for result in found.values()) == 39


def test_a_server_that_goes_away_stops_the_run_and_keeps_what_came() -> None:
    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        return Act(body=good(script, body).body, delay=0.01)

    kept: list[Result] = []
    with serving(behave) as script:
        model = open_model("openai:tiny", {"base_url": script.url, **FAST})
        answers = iter(model.complete(asked(500)))
        kept.append(next(answers))
        kept += [next(answers) for _ in range(20)]
    with pytest.raises(BackendError, match="go on with --resume --retry-errors") as caught:
        kept.extend(answers)
    model.close()
    assert caught.value.retryable
    assert len({r.key for r in kept}) == len(kept)
    reasons = {r.error for r in kept if r.error}
    assert "unreachable" in reasons
    assert reasons <= {"unreachable", "connection_lost"}


def test_a_server_that_is_not_there_is_said_at_once() -> None:
    start = time.monotonic()
    model = open_model("openai:tiny", {"base_url": "http://127.0.0.1:9/v1"})
    with pytest.raises(BackendError, match=r"127.0.0.1:9/v1 gave no answer.*--model-base-url"):
        _ = model.capabilities
    model.close()
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (as_json({"error": {"message": "no such model 'tiny'"}}, 404), "no such model 'tiny'.*/v1"),
        (Act(body=b"<html>"), "no reply of an OpenAI-compatible server"),
        (as_json({"error": "bad"}, 400), "status 400: bad"),
    ],
)
def test_a_server_that_cannot_be_used_is_said_before_the_first_question(
    act: Act, words: str
) -> None:
    with serving(lambda *_: act) as script:
        model = open_model("openai:tiny", {"base_url": script.url, **FAST})
        with pytest.raises(BackendError, match=words):
            _ = model.identity
        model.close()


def test_a_model_that_is_never_greedy_can_be_asked_at_its_temperature() -> None:
    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        if body["temperature"] != 1.0:
            return as_json({"error": {"message": "'temperature' does not support 0"}}, 400)
        return good(script, body)

    with serving(behave) as script:
        warm = [replace(request, temperature=1.0) for request in asked(3)]
        found, model = results(script, warm)
        assert "logprobs" not in model._found.dialect.without
        cold, model = results(script, asked(1))
    assert all(result.error is None for result in found.values())
    assert cold["France"].error == "http_400"
    assert model.remarks == (
        "1 requests ended as http_400; the server said: 'temperature' does not support 0",
    )


def test_a_server_that_is_loading_is_waited_for_and_one_that_hangs_is_not() -> None:
    def loading(script: Script, body: Mapping[str, Any]) -> Act:
        busy = as_json({"error": {"message": "Loading model"}}, 503)
        return busy if len(script.seen) < 3 else good(script, body)

    with serving(loading) as script:
        assert results(script, asked())[0]["France"].text == " Paris"
    with serving(lambda *_: Act(delay=1.0)) as script:
        model = open_model("openai:tiny", {"base_url": script.url, **FAST, "timeout": "0.1"})
        with pytest.raises(BackendError, match="gave no answer: timeout, tries: 1"):
            _ = model.capabilities
        model.close()


def test_what_the_server_does_not_take_is_left_out_and_said() -> None:
    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        for name, words in (
            ("max_tokens", "Unsupported parameter: use 'max_completion_tokens' instead."),
            ("logprobs", "logprobs are not allowed"),
            ("seed", "Unknown field seed"),
        ):
            if name in body:
                return as_json({"error": {"message": words}}, 400)
        return good(script, body)

    with serving(behave) as script:
        found, model = results(script, asked(), max_retries="0")
        assert model.capabilities == {"text", "system_role"}
        assert model.identity["request"] == {"api": "chat", "not_sent": ["logprobs", "seed"]}
    assert found["France"].text == " Paris"
    assert script.seen[-1]["max_completion_tokens"] == 8


def test_what_is_sent_is_what_was_asked_for() -> None:
    request = Request(
        ("a", 1, "none"), "Hi", 5, 0.7, 0.9, stop=("\n",), seed=11, system="Be brief."
    )
    with serving() as script:
        results(script, [request], **{"body.top_k": "0", "body.who": "me"})
        raw = Request(("a", 1, "none"), (5, 6), 5, 0.7, 0.9, seed=11)
        results(script, [raw], api="completions", scores="no", logprobs="no")
    chatted, continued = script.seen[1], script.seen[-1]
    assert chatted == {
        "path": "/v1/chat/completions",
        "model": "tiny",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
        ],
        "max_tokens": 5,
        "temperature": 0.7,
        "top_p": 0.9,
        "seed": 11,
        "stop": ["\n"],
        "logprobs": True,
        "top_logprobs": 2,
        "top_k": 0,
        "who": "me",
    }
    assert (continued["path"], continued["prompt"]) == ("/v1/completions", [5, 6])
    assert "logprobs" not in continued
    assert all(head["Authorization"] == f"Bearer {KEY}" for head in script.heads)


def test_scores_are_offered_only_where_the_probe_saw_them() -> None:
    def echoing(script: Script, body: Mapping[str, Any]) -> Act:
        if not body.get("echo"):
            return good(script, body)
        tokens = str(body["prompt"]).replace(" ", "| ").split("|")
        logprobs = {"tokens": tokens, "token_logprobs": [None, *[-0.5] * (len(tokens) - 1)]}
        return as_json({"model": "tiny", "choices": [{"text": "", "logprobs": logprobs}]})

    wanted = [
        Continuation(("a", "1"), "The capital of Peru is", " Lima"),
        Continuation(("a", "2"), "The capital of Peru is", " not Lima"),
    ]
    with serving(echoing) as script:
        model = open_model("openai:tiny", {"base_url": script.url, "api": "completions", **FAST})
        scores = {s.key: s for s in scorer_of(model, what="this test").score(wanted)}
        model.close()
    assert [(s.logprob, s.n_tokens) for _, s in sorted(scores.items())] == [(-0.5, 1), (-1.0, 2)]
    with serving() as script:
        model = open_model("openai:tiny", {"base_url": script.url, "api": "completions", **FAST})
        assert "scores" not in model.capabilities
        with pytest.raises(InputError, match="needs scores"):
            scorer_of(model, what="this test")
        model.close()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"colour": "red"}, "no option 'colour'.*max_connections"),
        ({"max_connections": "0"}, "max_connections is 0"),
        ({"max_retries": "x"}, "is no number"),
        ({"timeout": "nan"}, "timeout is nan"),
        ({"api": "voice"}, "choose chat, completions"),
        ({"probe": "maybe"}, "choose yes or no"),
        ({"scores": "echo"}, "Add -M api=completions"),
        ({"base_url": "localhost:8080/v1"}, "http://127.0.0.1:8080/v1"),
        ({"base_url": "http://127.0.0.1:99999/v1"}, "no http://"),
    ],
)
def test_an_option_that_is_none_is_one_clear_error(options: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        open_model("openai:tiny", {"base_url": "http://127.0.0.1:9/v1", **options})


def test_the_hosted_service_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(InputError, match="set OPENAI_API_KEY"):
        open_model("openai:tiny")


def test_a_key_is_shown_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"http://user:{KEY}@127.0.0.1:9/v1?token={KEY}"
    model = open_model("openai:tiny", {"base_url": url})
    assert isinstance(model, OpenAIModel)
    with pytest.raises(BackendError) as caught:
        _ = model.identity
    model.close()
    assert KEY not in str(caught.value)
    assert KEY not in repr(model._transport.endpoint.key and caught.value.args)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-ünïcode")
    with pytest.raises(InputError, match="OPENAI_API_KEY") as refused:
        open_model("openai:tiny")
    assert "ünï" not in str(refused.value)


def test_a_key_that_the_server_sends_back_is_no_part_of_an_answer() -> None:
    with serving(after_probe(chat(f" {KEY} Paris"))) as script:
        found, _ = results(script, asked())
    assert found["France"].text == " [key] Paris"


def test_what_a_server_said_is_remarked_once_with_its_number() -> None:
    act = as_json({"error": {"message": f"temperature must be 1 ({KEY})"}}, 400)
    with serving(after_probe(act)) as script:
        _, model = results(script, asked(5))
        assert model.remarks == (
            "5 requests ended as http_400; the server said: temperature must be 1 ([key])",
        )


def test_a_changed_configuration_is_remarked() -> None:
    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        text = text_for(question(body))
        choice = {"message": {"content": text}, "finish_reason": "stop"}
        name = "fp_a" if len(script.seen) % 2 else "fp_b"
        return as_json({"model": "tiny", "system_fingerprint": name, "choices": [choice]})

    with serving(behave) as script:
        found, model = results(script, asked(4))
        assert "system_fingerprint fp_a, fp_b" in model.remarks[-1]
    assert {r.system_fingerprint for r in found.values()} == {"fp_a", "fp_b"}


def test_an_abandoned_stream_asks_no_more() -> None:
    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        return Act(body=good(script, body).body, delay=0.02)

    with serving(behave) as script:
        model = open_model("openai:tiny", {"base_url": script.url, **FAST})
        answers = model.complete(asked(300))
        next(answers)
        answers.close()  # type: ignore[attr-defined]  # it is a generator
        time.sleep(0.1)
        n = len(script.seen)
        time.sleep(0.1)
        assert len(script.seen) == n < 60
        assert len(list(model.complete(asked(5)))) == 5
        model.close()


def test_it_answers_inside_a_running_event_loop() -> None:
    async def main(script: Script) -> dict[str, Result]:
        return results(script, asked(5))[0]

    with serving() as script:
        found = asyncio.run(main(script))
    assert [r.text for _, r in sorted(found.items())] == [
        f" {answer}" for _, answer in sorted(FACTS.items())
    ]


def test_two_threads_may_ask_one_model_at_once() -> None:
    with serving() as script:
        model = open_model("openai:tiny", {"base_url": script.url, **FAST, "max_connections": "3"})
        with ThreadPoolExecutor(2) as pool:
            halves = asked(60)[:30], asked(60)[30:]
            found = list(pool.map(lambda half: {r.key: r for r in model.complete(half)}, halves))
        model.close()
    for half, got in zip(halves, found, strict=True):
        assert set(got) == {request.key for request in half}
        assert all(r.text == text_for(f"The capital of {r.key[0]} is") for r in got.values())
    assert script.most <= 3


FAULTS = ("ok", "429", "500", "half", "json", "reset", "slow", "null", "400", "filter")


def _acts(fault: str, text: str) -> Act:
    bad = {
        "429": as_json({}, 429, Retry_After="0"),
        "500": Act(500),
        "half": Act(body=b'{"cho', length=99),
        "json": Act(body=b"{"),
        "reset": Act(hang_up=True),
        "null": chat(None),
        "400": as_json({}, 400),
        "filter": chat(text, finish_reason="content_filter"),
        "slow": Act(body=chat(text).body, delay=0.01),
    }
    return bad.get(fault, chat(text))


@given(st.lists(st.lists(st.sampled_from(FAULTS), min_size=3, max_size=3), min_size=1, max_size=12))
@settings(max_examples=25)
def test_results_are_the_same_whatever_the_window_and_the_order(plan: list[list[str]]) -> None:
    """Each question has its own faults, by attempt; delays make replies overtake one another."""
    requests = [Request((f"q{i}", 1, "none"), f"question {i};") for i in range(len(plan))]

    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        if is_probe(body):
            return chat("x")
        number = int(question(body).removeprefix("question ").rstrip(";"))
        return _acts(plan[number][script.nth(body) - 1], f"answer {number}")

    found = []
    for window in ("1", "64"):
        with pytest.MonkeyPatch.context() as patch, serving(behave) as script:
            patch.setenv("OPENAI_API_KEY", KEY)
            options = {"max_connections": window, "logprobs": "no"}
            by_key, _ = results(script, requests, **options)
            found.append(by_key)
    assert found[0] == found[1]
    assert set(found[0]) == {f"q{i}" for i in range(len(plan))}
    for i, faults in enumerate(plan):
        result = found[0][f"q{i}"]
        assert result.error is not None or result.text == f"answer {i}"
        assert (result.error is None) == (_first_final(faults) in {"ok", "slow"})


def _first_final(faults: list[str]) -> str:
    final = [f for f in faults if f in {"ok", "slow", "400", "filter"}]
    return final[0] if final else faults[-1]
