"""Vectors of a server: right ones, wrong ones, and the real llama.cpp."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from http_server import KEY, Act, Script, as_json, serving
from llama_server import KEY as REAL_KEY
from llama_server import llama_server

from trueness.api.grounding import ground
from trueness.backends import embed_texts, open_embedder
from trueness.backends.embedding import noise_of
from trueness.backends.openai_compatible.embedder import PART, OpenAIEmbedder
from trueness.backends.openai_compatible.endpoint import Endpoint
from trueness.contract.errors import BackendError, InputError

TEXTS = [f"text number {i}" for i in range(2 * PART + 5)]


def vector(text: str) -> list[float]:
    return [float(len(text)), float(text.count("1")), float(sum(map(ord, text)) % 97), 1.0]


def data(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"index": i, "embedding": vector(text)} for i, text in enumerate(body["input"])]


def reply(entries: object, model: str = "tiny") -> Act:
    return Act(body=json.dumps({"model": model, "data": entries}).encode())


def good(script: Script, body: Mapping[str, Any]) -> Act:
    del script
    return reply(data(body)[::-1])  # in any order: the index says whose it is


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[OpenAIEmbedder]]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    opened: list[OpenAIEmbedder] = []
    yield opened
    for embedder in opened:
        embedder.close()


def embedder_of(script: Script, made: list[OpenAIEmbedder], **given: Any) -> OpenAIEmbedder:
    fast = Endpoint(script.url, KEY, max_retries=1, backoff=0.0, timeout=5.0)
    made.append(OpenAIEmbedder("tiny", fast, **given))
    return made[-1]


def test_every_text_gets_its_own_vector_whatever_the_order(made: list[OpenAIEmbedder]) -> None:
    with serving(good) as script:
        found = embedder_of(script, made).embed(TEXTS, "claim")
    assert found.dtype == np.float32
    assert found.tolist() == [vector(text) for text in TEXTS]
    assert sorted(len(body["input"]) for body in script.seen) == [5, PART, PART]
    assert {body["path"] for body in script.seen} == {"/v1/embeddings"}


def test_a_name_opens_it_at_the_servers_address(
    made: list[OpenAIEmbedder], monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(good) as script:
        monkeypatch.setenv("OPENAI_BASE_URL", script.url)
        opened = open_embedder("openai:tiny", revision="2026-11")
        assert isinstance(opened, OpenAIEmbedder)
        made.append(opened)
        assert opened.embed(["a"], "claim").shape == (1, 4)
    assert opened.identity["revision"] == "2026-11"
    assert "127.0.0.1" not in json.dumps(dict(opened.identity))
    assert opened.count_tokens(["a", "b"], "claim") == (None, None)
    assert opened.versions == {"served model": "tiny"}


def _changed(entries: list[dict[str, Any]], at: int, **change: Any) -> list[dict[str, Any]]:
    return [{**e, **change} if i == at else e for i, e in enumerate(entries)]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda d: d[:-1], "text 4 got no vector of their own"),
        (lambda d: [*d, d[0]], "texts 0 to 4 got 6 vectors"),
        (lambda d: _changed(d, 2, index=1), "text 2 got no vector"),
        (lambda d: _changed(d, 2, index="2"), "text 2 got no vector"),
        (lambda d: _changed(d, 3, embedding=[1.0, 2.0]), "text 3 got 2 numbers where others got 4"),
        (lambda d: _changed(d, 3, embedding=[1.0, float("nan"), 1.0, 1.0]), "text 3 .*not finite"),
        (lambda d: _changed(d, 3, embedding=[1.0, None, 1.0, 1.0]), "text 3 got .*not finite"),
        (lambda d: _changed(d, 3, embedding=[1.0, 1e400, 1.0, 1.0]), "text 3 got .*not finite"),
        (lambda d: _changed(d, 3, embedding="AAAA"), "text 3 got no list of numbers"),
        (lambda d: _changed(d, 3, embedding=[]), "text 3 got no list of numbers"),
        (lambda _: {}, "texts 0 to 4 got no vectors: malformed_reply"),
        (lambda _: [1, 2, 3, 4, 5], "texts 0 to 4 got no vectors: malformed_reply"),
    ],
)
def test_a_wrong_vector_is_named_by_its_text(
    spoil: Any, words: str, made: list[OpenAIEmbedder]
) -> None:
    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        del script
        return reply(spoil(data(body)))

    with serving(behave) as script, pytest.raises(BackendError, match=words):
        embedder_of(script, made).embed(TEXTS[:5], "claim")


def test_a_dimension_that_changes_midway_is_named(made: list[OpenAIEmbedder]) -> None:
    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        more = [{**e, "embedding": [*e["embedding"], 0.0]} for e in data(body)]
        return reply(data(body) if len(script.seen) == 1 else more)

    with serving(behave) as script:
        embedder = embedder_of(script, made)
        embedder.embed(TEXTS[:3], "claim")
        with pytest.raises(BackendError, match="text 0 got 5 numbers where others got 4"):
            embedder.embed(TEXTS[3:6], "evidence")


def test_another_model_midway_is_named(made: list[OpenAIEmbedder]) -> None:
    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        return reply(data(body), "tiny" if len(script.seen) == 1 else "huge")

    with serving(behave) as script:
        embedder = embedder_of(script, made)
        embedder.embed(TEXTS[:3], "claim")
        with pytest.raises(BackendError, match="texts 0 to 2 were embedded by 'huge', others by"):
            embedder.embed(TEXTS[3:6], "claim")


def test_one_bad_text_costs_no_other_its_vector(made: list[OpenAIEmbedder]) -> None:
    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        if any("number 7" in text for text in body["input"]):
            return as_json({"error": {"code": "context_length_exceeded", "message": "no"}}, 400)
        return good(script, body)

    with serving(behave) as script:
        found = embed_texts(embedder_of(script, made), TEXTS[:12], "claim")
    assert [i for i, why in enumerate(found.errors) if why is not None] == [7]
    assert str(found.errors[7]).startswith("text_too_long")
    assert np.isnan(found.vectors[7]).all()
    assert np.isfinite(np.delete(found.vectors, 7, axis=0)).all()


def test_passing_faults_are_tried_again(made: list[OpenAIEmbedder]) -> None:
    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        if len(script.seen) == 1:
            return as_json({}, 429, Retry_After="0")
        return good(script, body)

    with serving(behave) as script:
        assert embedder_of(script, made).embed(["a"], "claim").shape == (1, 4)


def test_a_server_that_is_gone_is_not_asked_for_every_text(made: list[OpenAIEmbedder]) -> None:
    with serving(good) as script:
        embedder = embedder_of(script, made)
        embedder.embed(["a"], "claim")
    with pytest.raises(BackendError, match="no text could be embedded"):
        embed_texts(embedder, TEXTS, "claim")


def test_a_refused_key_is_said_at_once_and_not_shown(made: list[OpenAIEmbedder]) -> None:
    with serving(lambda *_: as_json({"error": {"message": f"bad key {KEY}"}}, 401)) as script:
        with pytest.raises(BackendError, match=r"status 401: bad key \[key\]") as caught:
            embed_texts(embedder_of(script, made), TEXTS, "claim")
        assert KEY not in str(caught.value)
    assert len(script.seen) <= 3


def test_without_a_key_the_hosted_service_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(InputError, match="set OPENAI_API_KEY"):
        open_embedder("openai:tiny")


def test_claims_are_measured_with_vectors_of_a_server(
    made: list[OpenAIEmbedder], tmp_path: Path
) -> None:
    with serving(good) as script:
        embedder = embedder_of(script, made, revision="1")
        cache = tmp_path / "vectors.sqlite"
        for _ in range(2):
            reading = ground(
                ["a claim"], [["some evidence", "more of it"]], embedder=embedder, cache=cache
            )
        n = len(script.seen)
    assert reading.state.value == "MEASURED"
    assert n <= 2 * 10  # the self-check; nothing else is asked twice
    assert KEY.encode() not in cache.read_bytes()


@pytest.mark.real
def test_the_real_server_embeds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", REAL_KEY)
    with llama_server(slots=1, embeddings=True) as url:  # several slots disturb one another
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        embedder = open_embedder("openai:tiny")
        assert isinstance(embedder, OpenAIEmbedder)
        texts = ["The cat sat on the mat.", "A cat was sitting on a mat.", "Bonds fell on Monday."]
        rows = embedder.embed(texts, "claim").astype(float)
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        assert rows.shape == (3, 576)
        again = embedder.embed(texts[:1], "claim").astype(float)[0]
        assert unit[0] @ again / np.linalg.norm(again) == pytest.approx(1.0, abs=1e-3)
        assert (unit @ unit.T)[~np.eye(3, dtype=bool)].max() < 0.999
        assert noise_of(embedder).used < 1e-3
        with pytest.raises(InputError, match="text_too_long: the server of openai:tiny refuses"):
            embedder.embed(["word " * 600], "claim")
        embedder.close()
