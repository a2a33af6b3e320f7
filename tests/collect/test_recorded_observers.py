"""What one pass shows beside an answer: read alone, once a prompt, through every interruption."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from trueness import api
from trueness.backends.first_law import FirstLaw
from trueness.backends.protocol import Request, Result
from trueness.backends.scripted import ScriptedModel
from trueness.collect import Quiz, ask, facts_of, parse_conditions
from trueness.collect.observers import Observers, check_recorded
from trueness.contract import State
from trueness.contract.errors import BackendError, FingerprintMismatch, InputError
from trueness.stats.observers import observe_logits
from trueness.table import AnswerTable, read_answers
from trueness.table.growing import growing_of

QUIZ = Quiz(
    "capital", ("The capital of {e} is",), ("France", "Peru", "Chad"), ("Paris", "Lima", "N")
)
BOTH = "one_pass,hidden_states"


@dataclass(slots=True)
class Inside(ScriptedModel):
    """A scripted model with a law and a state of its own for every prompt."""

    n_read: int = 0
    fails: str = ""

    @property
    def capabilities(self) -> frozenset[str]:
        return frozenset({"text", "tokens", "first_law", "hidden_states", "scores"})

    def law(self, prompt: Any) -> NDArray[np.float64]:
        rng = np.random.default_rng(sum(prompt))
        return rng.normal(size=self.tokenizer.n_vocabulary)

    def first_laws(self, requests: Sequence[Request]) -> Iterator[FirstLaw]:
        assert len(requests) == 1  # alone: nothing else in a batch can move a bit
        self.n_read += 1
        if self.fails == "raises":
            msg = "out of memory"
            raise BackendError(msg)
        if self.fails:
            yield FirstLaw(requests[0].key, None, self.fails)
        else:
            yield FirstLaw(requests[0].key, self.law(requests[0].prompt))

    def hidden_states(self, prompts: Sequence[Any], positions: Any = (-1,)) -> NDArray[np.float32]:
        states = [np.full((3, len(positions), 4), sum(p), np.float32) for p in prompts]
        for s in states:
            s[0] = s[1] = np.nan  # only the last entry is recorded
        return np.stack(states)


def model(**given: Any) -> Inside:
    return Inside("right", facts_of(QUIZ), **given)


def asked(
    out: Path, observable: str = BOTH, *, by: ScriptedModel | None = None, **more: Any
) -> AnswerTable:
    given = {"conditions": parse_conditions("none,the:8"), "epochs": 3, **more}
    ask(QUIZ, by or model(), out=out, observable=observable, **given)
    return read_answers(out)


def test_every_draw_carries_the_numbers_of_its_own_prompt(tmp_path: Path) -> None:
    by = model()
    table = asked(tmp_path / "t.jsonl", by=by)
    assert len(table) == 18
    assert by.n_read == 6  # one pass an item and condition serves all draws
    assert table.observer is not None
    for row, prompt in _prompts(table, by):
        numbers = table.observer[row]
        assert numbers == tuple(observe_logits(by.law(prompt)).numbers.tolist())
        assert table.extras["observer_greedy"][row] == str(by.law(prompt).argmax())
        assert table.arrays["hidden_states"][row].tolist() == [float(sum(prompt))] * 4


def _prompts(table: AnswerTable, by: ScriptedModel) -> Iterator[tuple[int, tuple[int, ...]]]:
    (the,) = by.tokenizer.encode(" the")
    front = {"none": (), "the:8": (the,) * 8}
    for row in range(len(table)):
        asked_for = QUIZ.templates[0].format(e=table.entity[row]) if table.entity else ""
        yield row, (1, *front[str(table.condition[row])], *by.tokenizer.encode(asked_for))


def test_the_header_says_how_the_numbers_were_read(tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    asked(out)
    header = json.loads(out.read_text().splitlines()[0])
    assert header["observed"]["one_pass"]["numbers"][4:] == ["max_p", "margin"]
    assert header["observed"]["read"] == "each prompt whole and alone"
    assert header["observed"]["code_path"]["backend"] == "scripted"


def test_the_protocol_is_that_of_a_table_without_numbers(tmp_path: Path) -> None:
    with_numbers = asked(tmp_path / "a.jsonl")
    plain = asked(tmp_path / "b.jsonl", "string")
    assert {n: p.fingerprint for n, p in plain.protocols.items()} == {
        n: p.fingerprint for n, p in with_numbers.protocols.items()
    }
    assert plain.observer is None
    assert not plain.arrays


def test_a_run_that_was_cut_off_ends_as_one_that_was_not(tmp_path: Path) -> None:
    whole = asked(tmp_path / "whole.jsonl")
    out = tmp_path / "cut.jsonl"
    asked(out)
    lines = out.read_bytes().splitlines(keepends=True)
    out.write_bytes(b"".join(lines[:9]) + lines[9][:20])
    grown = growing_of(out)
    grown.write_bytes(grown.read_bytes()[:-9])
    by = model()
    again = asked(out, by=by, resume=True)
    assert by.n_read < 6
    order = [
        (str(i), e, str(c))
        for i, e, c in zip(
            again.item.values(), again.epoch.tolist(), again.condition.values(), strict=True
        )
    ]
    place = {
        key: n
        for n, key in enumerate(
            zip(whole.item.values(), whole.epoch.tolist(), whole.condition.values(), strict=True)
        )
    }
    rows = [place[key] for key in order]
    assert whole.observer is not None
    assert again.observer is not None
    assert again.observer.values() == [whole.observer[r] for r in rows]
    np.testing.assert_array_equal(
        again.arrays["hidden_states"], whole.arrays["hidden_states"][rows]
    )


def test_answers_from_the_cache_carry_them_too(tmp_path: Path) -> None:
    cache = tmp_path / "cache.sqlite"
    asked(tmp_path / "a.jsonl", "string", cache=cache)
    table = asked(tmp_path / "b.jsonl", cache=cache)
    assert set(table.extras["cached"].values()) == {"true"}
    assert table.observer is not None
    assert None not in table.observer.values()
    assert np.isfinite(table.arrays["hidden_states"]).all()


def test_a_table_that_goes_on_keeps_to_what_it_began_with(tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    asked(out, "one_pass")
    for other, said in (("string", "nothing is asked for"), (BOTH, "one_pass recorded beside")):
        with pytest.raises(FingerprintMismatch, match=said):
            asked(out, other, resume=True)
    asked(out, "one_pass", resume=True)


def test_a_new_table_takes_no_arrays_of_one_that_is_gone(tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    asked(out)
    out.unlink()
    assert not asked(out, "one_pass").arrays


@pytest.mark.parametrize("fault", ["context_length", "raises"])
def test_an_answer_is_not_lost_when_its_pass_cannot_be_read(tmp_path: Path, fault: str) -> None:
    table = asked(tmp_path / "t.jsonl", "one_pass", by=model(fails=fault))
    done = ask(QUIZ, model(fails=fault), out=tmp_path / "u.jsonl", observable="one_pass")
    assert "3 passes could not be observed" in done.warnings[0]
    said = {"raises": "out of memory"}.get(fault, fault)
    assert set(table.extras["observer_reason"].values()) == {said}
    assert None not in table.answer.values()
    found = api.measure("baseline.margin", table, only="none")
    assert found.state is State.NOT_APPLICABLE


def test_answers_from_a_list_came_otherwise_and_carry_none(tmp_path: Path) -> None:
    table = asked(tmp_path / "t.jsonl", "one_pass", conditions=parse_conditions("allowed:string"))
    assert table.observer is not None
    assert None not in table.only("none").observer.values()  # type: ignore[union-attr] # it is there
    assert set(table.only("allowed:string").observer.values()) == {None}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("hidden_states", "needs hidden_states; model 'scripted:right' offers .*runtime=transf"),
        ("one_pass,first_token,string", "choose 'string' or 'first_token'"),
        ("one_pass,one_pass", "with commas"),
        ("law", "'law' is not known"),
    ],
)
def test_what_cannot_be_observed_is_said_before_the_first_request(
    tmp_path: Path, wanted: str, said: str
) -> None:
    by = ScriptedModel("right", facts_of(QUIZ))
    with pytest.raises(InputError, match=said):
        asked(tmp_path / "t.jsonl", wanted, by=by)
    assert not by.asked
    assert not (tmp_path / "t.jsonl").exists()


def test_a_model_without_a_law_is_told_who_has_one(tmp_path: Path) -> None:
    class Text(ScriptedModel):
        @property
        def capabilities(self) -> frozenset[str]:
            return frozenset({"text"})

    with pytest.raises(InputError, match=r"needs logits or first_law.* gguf:FILE"):
        asked(tmp_path / "t.jsonl", "one_pass", by=Text("right", facts_of(QUIZ)))


def test_a_cluster_is_refused_plainly() -> None:
    by = Inside("right", facts_of(QUIZ))
    far = SimpleNamespace(name=by.name, capabilities=by.capabilities)
    for wanted in ("one_pass", "hidden_states"):
        with pytest.raises(InputError, match="Ask without --engine ray"):
            check_recorded([wanted], far, [])


def test_states_of_noisy_prompts_are_refused(tmp_path: Path) -> None:
    class Noisy(Inside):
        @property
        def capabilities(self) -> frozenset[str]:
            return frozenset({"text", "tokens", "first_law", "hidden_states", "embeddings_in"})

    noisy = parse_conditions("noise:0.4")
    with pytest.raises(InputError, match="adds noise to them"):
        asked(tmp_path / "t.jsonl", by=Noisy("right", facts_of(QUIZ)), conditions=noisy)
    by = Noisy("right", facts_of(QUIZ))
    asked(tmp_path / "u.jsonl", "one_pass", by=by, conditions=noisy)
    assert by.n_read == 3 + 9  # under noise every draw is a pass of its own


def test_a_scripted_model_is_as_sure_of_wrong_answers_as_of_right_ones(tmp_path: Path) -> None:
    by = ScriptedModel("collapse", facts_of(QUIZ))
    table = asked(tmp_path / "t.jsonl", "one_pass", by=by)
    assert table.observer is not None
    assert len(set(table.observer.values())) == 1
    (law,) = by.first_laws([Request(("q", 1, "none"), "The capital of Peru is")])
    (said,) = by.complete([Request(("q", 1, "none"), "The capital of Peru is")])
    assert isinstance(said, Result)
    assert law.logprobs is not None
    assert int(law.logprobs.argmax()) == said.steps[0].id
    assert said.steps[0].logprob == law.logprobs.max()


def test_an_unlikely_token_that_was_drawn_and_listed_moves_no_proved_end() -> None:
    """A server of the completions form lists the drawn token beside the likeliest."""

    @dataclass
    class Lists:
        capabilities = frozenset({"text", "top_logprobs"})
        most_top = 20

    law = 1.0 / np.arange(1.0, 5001.0)
    law /= law.sum()
    shannon = -float(law @ np.log(law))
    listed = tuple(np.log(law)[[*range(20), 4000]].tolist())
    request = Request(("q", 1, "none"), "The capital of Peru is")
    model: Any = Lists()
    found = Observers(model, ["one_pass"]).columns([(request, Result(request.key, top=listed))])
    row: Any = found[request.key]
    assert row["shannon_low"] <= shannon <= row["shannon_high"]
