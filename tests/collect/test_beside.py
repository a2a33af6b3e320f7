"""Three numbers beside a partition: there with golds and logits, absent without."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from trueness.backends.protocol import Request
from trueness.backends.scripted import ScriptedModel
from trueness.collect import Quiz, ask, facts_of, parse_conditions
from trueness.contract.errors import BackendError
from trueness.sensors import orbits
from trueness.sensors.orbits import Declaration
from trueness.study.declared import params_of
from trueness.table import read_answers

QUIZ = Quiz("capital", ("The capital of {e} is",), ("France", "Peru"), ("Paris", "Lima"))


@dataclass(slots=True)
class Seen(ScriptedModel):
    """Its largest logit is `the`; the right letters follow, in an order of its own."""

    second: str = " P"
    broken: bool = False

    @property
    def capabilities(self) -> frozenset[str]:
        return frozenset({"text", "tokens", "logits", "scores"})

    def next_logits(self, requests: Sequence[Request]) -> NDArray[np.float32]:
        out = np.zeros((len(requests), self.tokenizer.n_vocabulary), np.float32)
        (the,), (second,), (lima,), (paris,) = map(
            self.tokenizer.encode, (" the", self.second, " L", " P")
        )
        out[:, lima] = out[:, paris] = 1.0
        out[:, second] = 2.0
        out[:, the] = np.nan if self.broken else 4.0
        return out


def measured(model: ScriptedModel, quiz: Quiz, out: Path) -> dict[str, object]:
    ask(quiz, model, parse_conditions("none"), out=out)
    table = read_answers(out)
    declared = Declaration(relation="injective")
    return dict(orbits.measure(table, params_of(table, declared)).details)


def test_rank_gap_and_constrained_accuracy_stand_beside_wrong_answers(tmp_path: Path) -> None:
    found = measured(Seen("garbage", facts_of(QUIZ)), QUIZ, tmp_path / "t.jsonl")
    # Paris: rank 2 and 2 nats below; Lima: rank 3 and 3 nats below; P leads among P and L
    assert (found["gold_rank"], found["logit_gap"], found["constrained_accuracy"]) == (
        2.5,
        2.5,
        0.5,
    )
    assert found["n_constrained"] == 2
    assert found["logit_gap_sd"] == pytest.approx(2.5 / np.std([4.0, 2.0, 1.0, *[0.0] * 515]), 0.1)


def test_right_answers_take_no_part_in_rank_and_gap(tmp_path: Path) -> None:
    found = measured(Seen("right", facts_of(QUIZ)), QUIZ, tmp_path / "t.jsonl")
    assert (found["gold_rank"], found["logit_gap"]) == (None, None)
    assert found["constrained_accuracy"] == 0.5


@pytest.mark.parametrize(
    ("model", "quiz"),
    [
        (ScriptedModel("garbage", facts_of(QUIZ)), QUIZ),
        (Seen("garbage", facts_of(QUIZ)), Quiz("capital", QUIZ.templates, QUIZ.entities)),
        (Seen("garbage", facts_of(QUIZ), broken=True), QUIZ),
    ],
)
def test_without_golds_or_logits_they_are_absent_and_not_zero(
    model: ScriptedModel, quiz: Quiz, tmp_path: Path
) -> None:
    found = measured(model, quiz, tmp_path / "t.jsonl")
    assert "gold_rank" not in found
    assert "constrained_accuracy" not in found


def test_answers_that_share_a_first_token_have_no_constrained_accuracy(tmp_path: Path) -> None:
    quiz = Quiz("capital", QUIZ.templates, ("Peru", "Malawi"), ("Lima", "Lilongwe"))
    found = measured(Seen("garbage", facts_of(quiz)), quiz, tmp_path / "t.jsonl")
    assert found["gold_rank"] == 3
    assert (found["constrained_accuracy"], found["n_constrained"]) == (None, 0)


def test_constrained_rows_hold_no_such_numbers(tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    ask(QUIZ, Seen("garbage", facts_of(QUIZ)), parse_conditions("allowed:string"), out=out)
    table = read_answers(out)
    assert set(table.only("none").extras["gold_rank"].values()) == {"2", "3"}
    assert set(table.only("allowed:string").extras["gold_rank"].values()) == {None}


def test_an_answer_is_not_lost_when_logits_cannot_be_read(tmp_path: Path) -> None:
    class Fails(Seen):
        def next_logits(self, requests: Sequence[Request]) -> NDArray[np.float32]:
            msg = f"out of memory for {len(requests)} prompts"
            raise BackendError(msg)

    out = tmp_path / "t.jsonl"
    done = ask(QUIZ, Fails("right", facts_of(QUIZ)), parse_conditions("none"), out=out)
    assert (done.n_rows, done.n_errors) == (2, 0)
    assert "logits beside its answers could not be read" in done.warnings[0]
    assert "gold_rank" not in read_answers(out).extras
