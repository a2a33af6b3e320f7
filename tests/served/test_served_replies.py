import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.backends.openai_compatible import replies
from trueness.backends.openai_compatible.refusals import Malformed, refusal
from trueness.backends.openai_compatible.scored import read_scored
from trueness.backends.protocol import Step
from trueness.backends.scoring import Continuation

LEGACY = {
    "tokens": [" Par", "is"],
    "token_logprobs": [-0.25, -0.5],
    "top_logprobs": [{" Par": -0.25, " the": -2.25}, {"is": -0.5, "as": -1.5}],
    "text_offset": [0, 4],
}
CHAT = {
    "content": [
        {
            "token": " Par",
            "logprob": -0.25,
            "bytes": [32],
            "top_logprobs": [{"token": " Par", "logprob": -0.25}, {"token": "x", "logprob": -2.25}],
        },
        {
            "id": 7,
            "token": "is",
            "logprob": -0.5,
            "top_logprobs": [{"token": "is", "logprob": -0.5}, {"token": "as", "logprob": -1.5}],
        },
    ]
}


def _chat(**choice: Any) -> dict[str, Any]:
    message = choice.pop("message", {"role": "assistant", "content": " Paris"})
    return {"choices": [{"index": 0, "finish_reason": "stop", "message": message, **choice}]}


def _completion(**choice: Any) -> dict[str, Any]:
    return {"choices": [{"text": " Paris", "finish_reason": "length", **choice}]}


def test_both_shapes_of_log_probabilities_read_the_same_behind_both_calls() -> None:
    for reply in (_chat, _completion):
        legacy = replies.read(reply(logprobs=LEGACY)).steps
        chat = replies.read(reply(logprobs=CHAT)).steps
        assert [(s.token, s.logprob, s.gap) for s in legacy] == [
            (s.token, s.logprob, s.gap) for s in chat
        ]
        assert chat == (Step(None, -0.25, 2.0, " Par"), Step(7, -0.5, 1.0, "is"))


@pytest.mark.parametrize(
    ("finish", "message", "wanted"),
    [
        ("stop", {"content": " Paris"}, (" Paris", "stop", None)),
        ("length", {"content": " Paris"}, (" Paris", "length", None)),
        ("MAX_TOKENS", {"content": ""}, ("", "length", None)),
        ("length", {"content": None}, ("", "length", None)),
        ("eos_token", {"content": " Paris"}, (" Paris", "stop", None)),
        (None, {"content": " Paris"}, (" Paris", "stop", None)),
        ("stop", {"content": [{"text": " Pa"}, {"text": "ris"}]}, (" Paris", "stop", None)),
        ("stop", {"content": None, "refusal": "I can't."}, ("I can't.", "refused", None)),
        ("content_filter", {"content": " Par"}, (" Par", "stop", "content_filter")),
        ("content_filter", {"content": None}, ("", "stop", "content_filter")),
        ("tool_calls", {"content": None}, ("", "stop", "finish_tool_calls")),
        ("abort", {"content": " P"}, (" P", "stop", "finish_abort")),
    ],
)  # fmt: skip
def test_how_an_answer_ended_is_read(finish: str | None, message: Any, wanted: Any) -> None:
    said = replies.read(_chat(finish_reason=finish, message=message))
    assert (said.text, said.finish, said.error) == wanted
    result = said.result(("q", 1, "none"), 3)
    assert (result.error, result.attempts) == (wanted[2], 3)
    assert result.error is None or (result.text, result.finish) == ("", "error")


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"choices": []},
        {"choices": None},
        {"choices": ["x"]},
        {"error": {"message": "no"}},
        _chat(message={"content": None}),
        _chat(message={}),
        _chat(message=[]),
        _completion(text=None, finish_reason="stop"),
        _completion(text=7),
        _completion(logprobs=[1]),
        _completion(logprobs={"tokens": ["a"], "token_logprobs": []}),
        _completion(logprobs={"content": [{"logprob": -1}]}),
        _completion(logprobs={"content": ["a"]}),
    ],
)
def test_what_is_no_answer_is_malformed_and_never_text(reply: Any) -> None:
    with pytest.raises(Malformed):
        replies.read(reply)


def test_numbers_that_are_not_finite_are_an_error_and_no_answer() -> None:
    for value in (float("nan"), float("-inf"), None, "x", True):
        said = replies.read(_completion(logprobs={**LEGACY, "token_logprobs": [-0.25, value]}))
        assert said.error == "non_finite_logits"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
fields = st.sampled_from(
    ("message", "text", "logprobs", "finish_reason", "content", "tokens", "token_logprobs")
)


@given(st.dictionaries(fields, json_values), st.dictionaries(fields, json_values), json_values)
def test_any_json_is_an_answer_or_malformed_and_nothing_else(
    choice: Any, message: Any, usage: Any
) -> None:
    for made in (choice, {**choice, "message": message}, {"text": "a", "logprobs": choice}):
        try:
            said = replies.read({"choices": [made], "usage": usage, "model": usage})
        except Malformed:
            continue
        assert isinstance(said.text, str)
        assert said.finish in {"stop", "length", "refused"}


def test_tokens_are_counted_and_paths_of_the_host_left_out() -> None:
    usage = {
        "prompt_tokens": 7,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 3},
    }
    reply = {
        **_completion(),
        "usage": usage,
        "model": "/home/x/w/tiny.gguf",
        "system_fingerprint": "b1",
    }
    said = replies.read(reply)
    assert (said.n_prompt, said.n_written, said.n_reused) == (7, 2, 3)
    assert (said.model, said.system_fingerprint) == ("tiny.gguf", "b1")
    assert replies.public_name("C:\\weights\\tiny.gguf") == "tiny.gguf"
    assert replies.public_name("org/tiny") == "org/tiny"
    assert replies.read({**_completion(), "usage": {"prompt_tokens": True}}).n_prompt is None


@pytest.mark.parametrize(
    ("status", "body", "reason", "again", "stops"),
    [
        (400, {"error": {"message": "bad"}}, "http_400", False, False),
        (400, {"error": {"code": "context_length_exceeded"}}, "context_length", False, False),
        (400, {"error": {"type": "exceed_context_size_error"}}, "context_length", False, False),
        (400, {"message": "maximum context length is 9"}, "context_length", False, False),
        (500, {"error": "input is too large to process"}, "context_length", False, False),
        (400, {"error": {"code": "content_filter"}}, "content_filter", False, False),
        (401, {"error": "no"}, "http_401", False, True),
        (403, {}, "http_403", False, True),
        (404, {"detail": "Not Found"}, "http_404", False, False),
        (408, {}, "http_408", True, False),
        (422, {"detail": [{"msg": "x"}]}, "http_422", False, False),
        (429, {"error": {"code": "rate_limit"}}, "http_429", True, False),
        (429, {"error": {"code": "insufficient_quota"}}, "http_429", False, True),
        (500, {}, "http_500", True, False),
        (502, [], "http_502", True, False),
        (503, {"error": {"message": "Loading model"}}, "http_503", True, False),
        (529, {}, "http_529", True, False),
        (307, {}, "http_307", False, False),
    ],
)  # fmt: skip
def test_every_status_is_tried_again_or_not_and_has_a_name(
    status: int,
    body: Any,
    reason: str,
    again: bool,  # noqa: FBT001 - a column of the table
    stops: bool,  # noqa: FBT001 - as above
) -> None:
    found = refusal(status, json.dumps(body).encode())
    assert (found.reason, found.again, found.stops) == (reason, again, stops)


@given(st.binary(max_size=400), st.integers(100, 599))
def test_no_refusal_breaks_the_reading(raw: bytes, status: int) -> None:
    found = refusal(status, raw)
    assert len(found.said) <= 200
    assert found.said.isprintable()


ECHO: dict[str, list[Any]] = {
    "tokens": ["The", " capital", " is", " Paris"],
    "token_logprobs": [None, -3.0, -1.0, -0.5],
}


def _score(prompt: str, text: str, choice: dict[str, Any]) -> tuple[float | None, int, str | None]:
    found = read_scored({"choices": [choice]}, Continuation(("a", "b"), prompt, text))
    return found.logprob, found.n_tokens, found.error


def test_an_echo_is_summed_behind_the_prompt_only() -> None:
    assert _score("The capital", " is Paris", {"logprobs": ECHO}) == (-1.5, 2, None)
    bos = {k: [b, *v] for (k, v), b in zip(ECHO.items(), ("<s>", None), strict=True)}
    assert _score("The capital", " is Paris", {"logprobs": bos}) == (-1.5, 2, None)
    more = {"tokens": [*ECHO["tokens"], "."], "token_logprobs": [*ECHO["token_logprobs"], -9.0]}
    assert _score("The capital", " is Paris", {"logprobs": more}) == (-1.5, 2, None)


def test_listed_prompt_log_probabilities_are_summed_behind_the_prompt_only() -> None:
    def place(token: str, logprob: float) -> dict[str, Any]:
        other = {"9": {"logprob": -0.1, "decoded_token": "x"}}
        return {"5": {"logprob": logprob, "decoded_token": token}, **other}

    listed = [None, place(" capital", -3.0), place(" is", -1.0), place(" Paris", -0.5)]
    assert _score("The capital", " is Paris", {"prompt_logprobs": listed}) == (-1.5, 2, None)
    listed = [None, place("The", -5.0), *listed[1:]]
    assert _score("The capital", " is Paris", {"prompt_logprobs": listed}) == (-1.5, 2, None)


def test_a_token_across_the_seam_has_no_score() -> None:
    assert _score("The cap", "ital is Paris", {"logprobs": ECHO}) == (
        None,
        0,
        "prompt_and_text_fuse",
    )
    assert _score("", "The capital is Paris", {"logprobs": ECHO})[2] == "token_without_logprob"


@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"logprobs": None},
        {"logprobs": {"tokens": [" Paris"], "token_logprobs": [-1.0]}},
        {"logprobs": {"content": [{"token": " Paris", "logprob": -1.0}]}},
        {"prompt_logprobs": [None, {"5": {"logprob": -1.0}}]},
        {"prompt_logprobs": [None, {"5": {"logprob": -1.0, "decoded_token": " Rome"}}]},
    ],
)
def test_a_reply_that_does_not_hold_prompt_and_text_is_no_score(choice: Any) -> None:
    with pytest.raises(Malformed):
        _score("The capital", " is Paris", choice)
