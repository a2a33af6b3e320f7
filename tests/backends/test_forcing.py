"""Scores of a given text: what is asked of the server, and what is made of its replies."""

import math
from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from trueness.backends.forcing import Ids, forced_scores
from trueness.backends.scoring import Continuation, Scorer, scorer_of
from trueness.backends.scripted import ScriptedModel

N, PLAIN, HIDDEN = 50, 7, 3


class FakeServer:
    """A server whose log-probability of a token depends on everything before it."""

    def __init__(self, *, fails_at: int | None = None, lost: float | None = None) -> None:
        self.asked: list[Mapping[str, Any]] = []
        self.fails_at, self.lost = fails_at, lost

    @staticmethod
    def law(before: Ids, token: int) -> float:
        return -((hash((before, token)) % 1000) + 1) / 64

    def __call__(self, body: Mapping[str, Any]) -> Mapping[str, Any] | str:
        self.asked.append(body)
        before = tuple(body["prompt"])
        if body["n_predict"] == 0:
            return {"tokens": []}
        token = body["logit_bias"][0][0]
        if token == self.fails_at:
            return "timeout"
        if token == HIDDEN:  # the first bytes of a character
            return {"content": "\ufffd"}
        likeliest = sorted(range(N), key=lambda i: -self.law(before, i))[: body["n_probs"]]
        value = self.law(before, token) if self.lost is None else self.lost
        place = {"id": token, "logprob": None if math.isnan(value) else value}
        tops = [{"id": i, "logprob": self.law(before, i)} for i in likeliest]
        return {"completion_probabilities": [{**place, "top_logprobs": tops}]}


def _forced(server: FakeServer, prompt: Ids, texts: list[Ids]) -> dict[Ids, float | str]:
    return forced_scores(server, prompt, texts, plain=PLAIN, n_vocabulary=N)


ids = st.lists(st.integers(0, N - 1), max_size=6).map(tuple)


@given(st.lists(st.integers(0, N - 1), min_size=1, max_size=3).map(tuple), st.lists(ids))
def test_a_score_is_the_sum_over_its_tokens_whatever_else_is_scored(
    prompt: Ids, texts: list[Ids]
) -> None:
    found = _forced(FakeServer(), prompt, texts)
    assert set(found) == set(texts)
    for text, value in found.items():
        steps = [FakeServer.law((*prompt, *text[:i]), token) for i, token in enumerate(text)]
        assert value == math.fsum(steps)


def test_what_texts_begin_with_in_common_is_asked_once() -> None:
    server = FakeServer()
    _forced(server, (1, 2), [(5, 6, 8), (5, 6, 9), (5, 6, 8)])
    assert [body["n_predict"] for body in server.asked] == [0, 1, 1, 1, 1]
    assert server.asked[0]["cache_prompt"] is False
    assert server.asked[0]["prompt"] == [1]
    assert all(body["cache_prompt"] for body in server.asked[1:])


def test_first_bytes_of_a_character_are_read_beside_a_whole_token() -> None:
    server = FakeServer()
    value = _forced(server, (1, 2), [(HIDDEN,)])[HIDDEN,]
    assert value == FakeServer.law((1, 2), HIDDEN)
    assert server.asked[-1]["logit_bias"][0][0] == PLAIN


def test_a_failure_is_a_reason_and_hits_only_the_texts_behind_it() -> None:
    found = _forced(FakeServer(fails_at=9), (1,), [(5, 9, 5), (5, 8)])
    assert found[5, 9, 5] == "timeout"
    assert found[5, 8] == FakeServer.law((1,), 5) + FakeServer.law((1, 5), 8)


def test_numbers_that_are_none_are_reasons() -> None:
    assert _forced(FakeServer(lost=math.nan), (1,), [(5,)]) == {(5,): "non_finite_logits"}
    assert _forced(FakeServer(lost=-3.4e38), (1,), [(5,)]) == {(5,): "logprob_underflow"}


def test_without_anything_before_it_the_first_token_has_no_law() -> None:
    assert _forced(FakeServer(), (), [(5,), ()]) == {(5,): "empty_prompt", (): 0.0}


def test_a_scripted_model_scores_words_and_their_neighbours() -> None:
    model = scorer_of(ScriptedModel("empty"), what="the test")
    assert isinstance(model, Scorer)
    asked = [
        Continuation(("a", "given"), "Ann hired Bob.", "Bob hired Ann."),
        Continuation(("b", "given"), "Ann hired Bob.", "Ann hired Bob."),
    ]
    found = {s.key[0]: s.logprob for s in model.score(asked)}
    assert found == {"a": -8.0, "b": -5.0}


def test_a_scripted_model_refuses_prompts_beyond_its_context() -> None:
    model = ScriptedModel("empty", n_context=3)
    [score] = model.score([Continuation(("a", "given"), "a long prompt", "text")])
    assert (score.logprob, score.error) == (None, "context_length")
