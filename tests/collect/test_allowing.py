"""Answers from a list: refused where it cannot decide, an error where it ties, never a guess."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from trueness.backends.protocol import Request, Result
from trueness.backends.scoring import Continuation, Scored
from trueness.backends.scripted import ScriptedModel
from trueness.collect import Quiz, ask, facts_of, parse_conditions
from trueness.contract.errors import InputError

QUIZ = Quiz(
    "capital",
    ("The capital of {e} is", "Capital of {e}: "),
    ("France", "Peru", "Chad"),
    ("Paris", "Lima", "Ndjamena"),
)


@dataclass(slots=True)
class Scoring(ScriptedModel):
    """A scripted model that finds some texts likelier than others."""

    likes: Mapping[str, float] = field(default_factory=dict)
    fault: str | None = None
    scored: list[Continuation] = field(default_factory=list)

    @property
    def capabilities(self) -> frozenset[str]:
        return frozenset({"text", "logprobs", "tokens", "scores"})

    def score(self, continuations: Sequence[Continuation]) -> Iterator[Scored]:
        for one in continuations:
            self.scored.append(one)
            fault = self.fault if one.text.strip()[:1] == "L" else None
            value = None if fault else self.likes.get(one.text.strip(), -9.0)
            yield Scored(one.key, value, 1, fault)


@dataclass(slots=True)
class Noisy(ScriptedModel):
    """A scripted model that takes noise, and remembers it."""

    heard: list[Request] = field(default_factory=list)

    @property
    def capabilities(self) -> frozenset[str]:
        return frozenset({"text", "tokens", "embeddings_in"})

    def complete(self, requests: Sequence[Request]) -> Iterator[Result]:
        self.heard.extend(requests)
        return ScriptedModel.complete(self, requests)


class Bare(ScriptedModel):
    """A scripted model that only writes."""

    @property
    def capabilities(self) -> frozenset[str]:
        return frozenset({"text", "tokens"})


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()[1:]]


def asked(model: ScriptedModel, conditions: str, out: Path, **given: Any) -> list[dict[str, Any]]:
    ask(QUIZ, model, parse_conditions(conditions), out=out, **given)
    return rows_of(out)


def likes(**values: float) -> Scoring:
    return Scoring("garbage", facts_of(QUIZ), likes=values)


def test_the_likeliest_whole_answer_is_given(tmp_path: Path) -> None:
    model = likes(Paris=-2.0, Lima=-1.0)
    rows = asked(model, "allowed:string", tmp_path / "t.jsonl")
    chosen = [row for row in rows if row["condition"] == "allowed:string"]
    assert {row["answer"] for row in chosen} == {"lima"}
    assert len(chosen) == 6
    assert {c.text for c in model.scored} >= {" Paris", "Paris", " Lima", "Ndjamena"}


def test_first_tokens_are_scored_alone(tmp_path: Path) -> None:
    model = likes(P=-2.0, L=-1.0, N=-0.5)
    rows = asked(model, "allowed:first_token", tmp_path / "t.jsonl")
    chosen = [row for row in rows if row["condition"] == "allowed:first_token"]
    assert {row["answer"] for row in chosen} == {"ndjamena"}
    assert {c.text.strip() for c in model.scored} == {"P", "L", "N"}


def test_a_first_token_that_several_answers_share_is_refused_and_named(tmp_path: Path) -> None:
    quiz = Quiz("capital", ("The capital of {e} is",), ("Peru", "Malawi"), ("Lima", "Lilongwe"))
    model = Scoring("garbage", facts_of(quiz))
    with pytest.raises(InputError, match="'Lilongwe' and 'Lima' of 'capital' start with the same"):
        ask(quiz, model, parse_conditions("allowed:first_token"), out=tmp_path / "t.jsonl")
    assert not (tmp_path / "t.jsonl").exists()
    assert not model.asked
    ask(quiz, model, parse_conditions("allowed:string"), out=tmp_path / "t.jsonl")


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (likes(Paris=-1.0, Lima=-1.0), "tie"),
        (Scoring("garbage", facts_of(QUIZ), fault="non_finite_logits"), "non_finite_logits"),
    ],
)
def test_ties_and_numbers_that_are_none_are_errors(
    model: Scoring, reason: str, tmp_path: Path
) -> None:
    rows = asked(model, "allowed:string", tmp_path / "t.jsonl")
    chosen = [row for row in rows if row["condition"] == "allowed:string"]
    assert {(row["outcome"], row["reason"], row["answer"]) for row in chosen} == {
        ("error", reason, None)
    }


def test_what_a_model_cannot_do_is_said_before_the_first_request(tmp_path: Path) -> None:
    model = Bare("garbage", facts_of(QUIZ))
    needs = {"noise:0.4": "embeddings_in", "allowed:string": "allowed_answers or scores"}
    for condition, wanted in needs.items():
        words = (
            rf"condition '{condition}' needs {wanted}; model 'scripted:garbage' offers text, "
            r"tokens\. Use a local model or drop the condition"
        )
        with pytest.raises(InputError, match=words):
            asked(model, condition, tmp_path / "t.jsonl")
    assert not model.asked
    assert not (tmp_path / "t.jsonl").exists()


def test_a_list_of_answers_needs_golds(tmp_path: Path) -> None:
    quiz = Quiz("capital", ("The capital of {e} is",), ("Peru",))
    model = Scoring("garbage", {"Peru": "Lima"})
    with pytest.raises(InputError, match="'capital' has no golds"):
        ask(quiz, model, parse_conditions("allowed:string"), out=tmp_path / "t.jsonl")


def test_every_draw_of_the_noise_is_a_row_with_a_seed_of_its_own(tmp_path: Path) -> None:
    model = Noisy("garbage", facts_of(QUIZ))
    rows = asked(model, "noise:0,noise:0.4", tmp_path / "t.jsonl", templates=[0])
    assert sum(row["condition"] == "none" for row in rows) == 3  # noise:0 is none, asked once
    noisy = [row for row in rows if row["condition"] == "noise:0.4"]
    assert sorted({row["epoch"] for row in noisy}) == list(range(1, 17))
    sent = {r.key: r for r in model.heard if r.key[2] == "noise:0.4"}
    assert {r.noise for r in sent.values()} == {0.4}
    assert len({r.seed for r in sent.values()}) == len(noisy) == 48
    assert {r.noise for r in model.heard if r.key[2] == "none"} == {0.0}


def test_epochs_that_are_given_hold_for_noise_too(tmp_path: Path) -> None:
    model = Noisy("garbage", facts_of(QUIZ))
    rows = asked(model, "noise:0.4", tmp_path / "t.jsonl", templates=[0], epochs=2)
    assert len(rows) == 12


def test_the_protocol_names_noise_and_allowed_answers(tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    asked(likes(), "none,allowed:string", out)
    header = json.loads(out.read_text("utf-8").splitlines()[0])
    facts = {n: p["condition"] for n, p in header["protocols"].items()}
    assert facts["none"] == {"kind": "none"}
    assert facts["allowed:string"] == {
        "kind": "none",
        "n_tokens": 0,
        "allowed": {"form": "string", "answers": {"capital": ["Paris", "Lima", "Ndjamena"]}},
    }


def test_a_cached_answer_is_never_that_of_other_allowed_answers(tmp_path: Path) -> None:
    cache = tmp_path / "cache.sqlite"
    model = likes(Paris=-2.0, Lima=-1.0)
    asked(model, "allowed:string", tmp_path / "a.jsonl", cache=cache)
    fewer = Quiz("capital", QUIZ.templates, QUIZ.entities, ("Paris", "Paris", "Ndjamena"))
    ask(fewer, model, parse_conditions("allowed:string"), out=tmp_path / "b.jsonl", cache=cache)
    rows = [r for r in rows_of(tmp_path / "b.jsonl") if r["condition"] == "allowed:string"]
    assert {row["answer"] for row in rows} == {"paris"}
    assert not any(row["cached"] for row in rows)


def test_several_relations_stand_in_one_table(tmp_path: Path) -> None:
    other = Quiz("river", ("The river of {e} is",), ("France", "Chad"), ("Seine", "Chari"))
    out = tmp_path / "t.jsonl"
    ask([QUIZ, other], likes(), parse_conditions("allowed:string"), out=out)
    rows = rows_of(out)
    assert {row["relation"] for row in rows} == {"capital", "river"}
    with pytest.raises(InputError, match="is asked twice"):
        ask([QUIZ, QUIZ], likes(), out=tmp_path / "u.jsonl")


def test_conditions_can_rest_on_the_check_of_another(tmp_path: Path) -> None:
    model = ScriptedModel("right", facts_of(QUIZ))
    conditions = parse_conditions("prose:8@1,prose:8@2")
    done = ask(QUIZ, model, conditions, out=tmp_path / "t.jsonl", checked={"prose:8@1"})
    assert set(done.checks) == {"prose:8@1"}
    assert done.n_rows == 18
    assert sum(model.asked.values()) == 18 + done.n_checks


@pytest.mark.parametrize("name", ["\u200b", "\ufeff\u00ad", " \t"])
def test_an_entity_of_which_nothing_is_left_is_refused(name: str, tmp_path: Path) -> None:
    quiz = Quiz("capital", ("The capital of {e} is",), ("Peru", name), ("Lima", "Nowhere"))
    with pytest.raises(InputError, match=r"no visible character"):
        ask(quiz, Bare("garbage", {"Peru": "Lima"}), out=tmp_path / "t.jsonl")


def test_what_one_check_finds_holds_for_conditions_that_rest_on_it(tmp_path: Path) -> None:
    model = ScriptedModel("restless", facts_of(QUIZ))
    conditions = parse_conditions("prose:8@1,prose:8@2")
    rows = asked_rows(model, conditions, tmp_path / "t.jsonl")
    assert {row["condition"] for row in rows if row.get("nondeterministic")} == {
        "prose:8@1",
        "prose:8@2",
    }


def asked_rows(model: ScriptedModel, conditions: Any, out: Path) -> list[dict[str, Any]]:
    ask(QUIZ, model, conditions, out=out, checked={"prose:8@1"})
    return rows_of(out)
