"""A model that streams: its answers are written as they arrive, and nothing is lost."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from trueness.backends import Request, Result, Streaming
from trueness.backends.scripted import ScriptedModel
from trueness.collect import Quiz, ask, facts_of, parse_conditions
from trueness.contract.errors import BackendError, ProtocolError

QUIZ = Quiz(
    "capital",
    ("The capital of {e} is",),
    ("France", "Peru", "Japan", "Mexico", "Chile", "Cuba", "Egypt", "Norway", "Thailand"),
    ("Paris", "Lima", "Tokyo", "Mexico City", "Santiago", "Havana", "Cairo", "Oslo", "Bangkok"),
)
Change = Callable[[int, list[Result]], list[Result]]


@dataclass(slots=True)
class Streamed(ScriptedModel):
    """The scripted model, three results at a time in reverse; ``change`` spoils a part."""

    change: Change = field(default=lambda _, part: part)
    sizes: list[int] = field(default_factory=list)
    remarks: tuple[str, ...] = ("the server sends its regards",)

    def stream(self, requests: Iterable[Request]) -> Iterator[Sequence[Result]]:
        asked = list(requests)
        self.sizes.append(len(asked))
        results = list(ScriptedModel.complete(self, asked))[::-1]
        for number, start in enumerate(range(0, len(results), 3)):
            yield self.change(number, results[start : start + 3])


def model(change: Change | None = None, script: str = "right") -> Streamed:
    made = Streamed(script, facts_of(QUIZ), 0.0)
    if change is not None:
        made.change = change
    assert isinstance(made, Streaming)
    return made


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()[1:]]


def as_set(path: Path) -> set[str]:
    return {json.dumps(row, sort_keys=True) for row in rows(path)}


def test_a_model_that_streams_gives_the_rows_of_one_that_does_not(tmp_path: Path) -> None:
    conditions = parse_conditions("none,the:16")
    streamed = model()
    summary = ask(QUIZ, streamed, conditions, out=tmp_path / "a.jsonl", epochs=2, batch_size=2)
    ask(QUIZ, ScriptedModel("right", facts_of(QUIZ), 0.0), conditions, out=tmp_path / "b", epochs=2)
    assert as_set(tmp_path / "a.jsonl") == as_set(tmp_path / "b")
    assert max(streamed.sizes) > 2  # everything at once, whatever the batch size
    assert "the server sends its regards" in summary.warnings


def test_the_batch_size_is_no_part_of_its_protocol(tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    ask(QUIZ, model(), out=out, batch_size=2)
    assert ask(QUIZ, model(), out=out, batch_size=9, resume=True).n_asked == 0


def test_rows_are_on_the_disk_as_they_arrive(tmp_path: Path) -> None:
    out, seen = tmp_path / "t.jsonl", []

    def look(number: int, part: list[Result]) -> list[Result]:
        seen.append((number, len(rows(out)) if out.exists() else 0))
        return part

    wide = Quiz("many", ("Of {e}:",), tuple(f"entity {i}" for i in range(30)))
    ask(wide, model(look), out=out)
    counts = [n for _, n in seen]
    assert counts[-8:] == sorted(set(counts[-8:]))  # each part finds the one before it written


def test_what_arrived_before_a_stop_is_kept_and_the_rest_is_asked_on_resuming(
    tmp_path: Path,
) -> None:
    out = tmp_path / "t.jsonl"
    wide = Quiz("many", ("Of {e}:",), tuple(f"entity {i}" for i in range(30)))

    def stop(number: int, part: list[Result]) -> list[Result]:
        if number == 4:
            msg = "the key is refused."
            raise BackendError(msg)
        return part

    with pytest.raises(BackendError, match="refused"):
        ask(wide, model(stop), out=out)
    held = len(rows(out))
    assert 0 < held < 30
    assert ask(wide, model(), out=out, resume=True).n_asked == 30 - held
    assert len(rows(out)) == 30


def test_a_result_that_is_left_out_is_a_failure_and_one_too_many_is_refused(tmp_path: Path) -> None:
    ask(QUIZ, model(lambda _, part: part[:-1]), out=tmp_path / "a")
    reasons = [row["reason"] for row in rows(tmp_path / "a")]
    assert len(reasons) == 9
    assert reasons.count("no_result") == 3  # of two parts that are checked and one that is not
    with pytest.raises(ProtocolError, match="was answered before"):
        ask(QUIZ, model(lambda _, part: [*part, part[0]]), out=tmp_path / "b")


def test_the_cache_holds_what_was_streamed(tmp_path: Path) -> None:
    cache = tmp_path / "requests.sqlite"
    wide = Quiz("many", ("Of {e}:",), tuple(f"entity {i}" for i in range(150)))
    ask(wide, model(), out=tmp_path / "a", cache=cache)
    again = ask(wide, model(), out=tmp_path / "b", cache=cache)
    assert (again.n_asked, again.n_cached) == (0, 150)
    assert {r["completion"] for r in rows(tmp_path / "a")} == {
        r["completion"] for r in rows(tmp_path / "b")
    }


def test_a_model_that_says_something_else_alone_is_marked_and_not_refused(tmp_path: Path) -> None:
    summary = ask(QUIZ, model(script="restless"), out=tmp_path / "t")
    assert not summary.checks["none"].deterministic
    assert all(row["nondeterministic"] for row in rows(tmp_path / "t"))
