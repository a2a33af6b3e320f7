"""Scores of earlier runs: asked once, by all that they depend on, and never a failure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from trueness.backends.scoring import Continuation, Scored
from trueness.collect.score_cache import CachedScorer, score_key
from trueness.contract.errors import InputError


@dataclass
class Counting:
    """Scores a text by its length; knows how often it was asked."""

    name: str = "counting"
    identity: dict[str, Any] = field(default_factory=lambda: {"model": "counting"})
    asked: list[str] = field(default_factory=list)
    stops_at: int | None = None

    def score(self, continuations: Sequence[Continuation]) -> Iterator[Scored]:
        for one in continuations:
            if self.stops_at is not None and len(self.asked) == self.stops_at:
                raise KeyboardInterrupt
            self.asked.append(one.text)
            if one.text == "bad":
                yield Scored(one.key, None, 1, "non_finite_logits")
            else:
                yield Scored(one.key, -float(len(one.text)), 2)


def cached(model: Counting, path: Path) -> CachedScorer:
    seen: Any = model  # what the cache reads of a model
    return CachedScorer(seen, model, path)


def wanted(*texts: str, prompt: str = "p") -> list[Continuation]:
    return [Continuation((str(i), "given"), prompt, text) for i, text in enumerate(texts)]


def test_a_text_is_scored_once_and_comes_back_as_it_was(tmp_path: Path) -> None:
    model, path = Counting(), tmp_path / "kept" / "scores.sqlite"
    first = {s.key: s for s in cached(model, path).score(wanted("a", "bcd"))}
    again = {s.key: s for s in cached(model, path).score(wanted("a", "bcd"))}
    assert first == again
    assert model.asked == ["a", "bcd"]


def test_a_failure_is_asked_again(tmp_path: Path) -> None:
    model, path = Counting(), tmp_path / "scores.sqlite"
    for _ in range(2):
        (found,) = cached(model, path).score(wanted("bad"))
        assert found.error == "non_finite_logits"
    assert model.asked == ["bad", "bad"]


def test_what_was_scored_before_an_interrupt_is_kept(tmp_path: Path) -> None:
    model, path = Counting(stops_at=3), tmp_path / "scores.sqlite"
    with pytest.raises(KeyboardInterrupt):
        list(cached(model, path).score(wanted("a", "b", "c", "d")))
    model.stops_at = None
    assert len(list(cached(model, path).score(wanted("a", "b", "c", "d")))) == 4
    assert model.asked == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    "other",
    [
        {"model": "counting", "file_hash": "b"},
        {"model": "counting", "backend": "x", "backend_version": "2"},
        {"model": "counting", "dtype": "float32"},
        {"model": "counting", "request": {"api": "completions"}},
    ],
)
def test_another_model_backend_or_way_to_ask_is_another_key(other: dict[str, Any]) -> None:
    one: Any = Counting()
    two: Any = Counting(identity=other)
    (asked,) = wanted("a")
    assert score_key(asked, one) != score_key(asked, two)
    assert score_key(asked, one) != score_key(wanted("a", prompt="q")[0], one)
    assert score_key(asked, one) != score_key(wanted("b")[0], one)


def test_where_a_weights_file_lies_is_no_part_of_a_key() -> None:
    facts = {"model": "gguf:m.gguf", "file_hash": "a"}
    here: Any = Counting("gguf:/here/m.gguf", facts)
    there: Any = Counting("gguf:/there/m.gguf", facts)
    (asked,) = wanted("a")
    assert score_key(asked, here) == score_key(asked, there)


def test_a_file_that_is_no_cache_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scores.sqlite"
    path.write_bytes(b"no database at all, and longer than a header of one would be " * 4)
    with pytest.raises(InputError, match="cannot use the cache"):
        list(cached(Counting(), path).score(wanted("a")))
