import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from trueness.backends.protocol import Request, Result
from trueness.backends.replay import ReplayModel
from trueness.backends.scripted import ScriptedModel
from trueness.collect import NONE, Condition, Quiz, ask, facts_of, parse_conditions
from trueness.contract.errors import FingerprintMismatch, InputError, ProtocolError

QUIZ = Quiz(
    "capital",
    ("The capital of {e} is", "{e}'s capital is"),
    ("France", "Peru", "Japan", "Mexico", "Chile", "Cuba", "Egypt", "Norway", "Thailand"),
    ("Paris", "Lima", "Tokyo", "Mexico City", "Santiago", "Havana", "Cairo", "Oslo", "Bangkok"),
    ("{a} is the capital of",),
)
CJK = Quiz(
    "首都", ("{e}的首都是",), ("法国", "日本", "France", "秘鲁", "N"), ("a", "b", "c", "d", "e")
)
CONDITIONS = parse_conditions("none,the:128,prose:128")


def _model(script: str, quiz: Quiz = QUIZ, **more: Any) -> ScriptedModel:
    return ScriptedModel(script, facts_of(quiz), 0.0, **more)


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()[1:]]


def _as_set(path: Path) -> set[str]:
    return {json.dumps(row, sort_keys=True) for row in _rows(path)}


def test_one_row_for_each_entity_template_condition_and_epoch(tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    summary = ask(QUIZ, _model("right"), CONDITIONS, out=out, epochs=2)
    rows = _rows(out)
    assert len(rows) == summary.n_rows == 9 * 2 * 3 * 2
    assert len({(r["item"], r["epoch"], r["condition"]) for r in rows}) == len(rows)
    assert all(r["answer"] in r["target"] for r in rows)
    assert summary.prefix_tokens == {"none": 0, "the:128": 128, "prose:128": 128}


def test_the_collapsed_model_says_one_thing_behind_a_repeated_token(tmp_path: Path) -> None:
    ask(QUIZ, _model("collapse"), CONDITIONS, out=tmp_path / "t.jsonl", templates=[0])
    answers: dict[str, set[str]] = {}
    for row in _rows(tmp_path / "t.jsonl"):
        answers.setdefault(row["condition"], set()).add(row["answer"])
    assert {name: len(found) for name, found in answers.items()} == {
        "none": 9,
        "the:128": 1,
        "prose:128": 9,
    }


@pytest.mark.parametrize("quiz", [QUIZ, CJK], ids=["latin", "cjk"])
@pytest.mark.parametrize(("script", "word"), [("right-padding", "padding"), ("reversed", "order")])
def test_a_batcher_that_changes_answers_is_refused_before_a_row_is_written(
    script: str, word: str, quiz: Quiz, tmp_path: Path
) -> None:
    with pytest.raises(ProtocolError, match=word) as caught:
        ask(quiz, _model(script, quiz), out=tmp_path / "t.jsonl")
    assert "in the batch" in str(caught.value)
    assert "alone" in str(caught.value)
    assert _rows(tmp_path / "t.jsonl") == []


def test_a_faulty_batcher_answers_rightly_one_by_one(tmp_path: Path) -> None:
    ask(QUIZ, _model("right-padding"), out=tmp_path / "t.jsonl", batch_size=1)
    assert all(r["answer"] in r["target"] for r in _rows(tmp_path / "t.jsonl"))


class _WrongOn(ScriptedModel):
    """Answers one prompt wrongly in batches, and no other."""

    def complete(self, requests: Sequence[Request]) -> Iterator[Result]:
        for result in ScriptedModel.complete(self, requests):
            wrong = len(requests) > 1 and "|Chile|1" in result.key[0]
            yield Result(result.key, " of") if wrong else result


def test_an_error_on_a_prompt_that_is_not_asked_again_is_not_seen(tmp_path: Path) -> None:
    summary = ask(QUIZ, _WrongOn("right", facts_of(QUIZ)), out=tmp_path / "t.jsonl", batch_size=9)
    wrong = [r["item"] for r in _rows(tmp_path / "t.jsonl") if r["answer"] not in r["target"]]
    assert wrong == ["capital|Chile|1"]
    assert summary.checks["none"].n_asked == 7  # of 18: the other eleven are taken on trust


def test_a_restless_model_is_marked_in_its_rows(tmp_path: Path) -> None:
    summary = ask(QUIZ, _model("restless"), out=tmp_path / "t.jsonl")
    assert not summary.checks["none"].deterministic
    assert summary.checks["none"].n_asked == 7
    assert "NOT deterministic" in summary.checks["none"].line()
    assert all(r["nondeterministic"] for r in _rows(tmp_path / "t.jsonl"))


class _Alternating(ScriptedModel):
    """The second time alone it says something else."""

    def complete(self, requests: Sequence[Request]) -> Iterator[Result]:
        for result in ScriptedModel.complete(self, requests):
            again = len(requests) == 1 and max(self.asked.values()) > 2
            yield Result(result.key, " Atlantis") if again else result


def test_unequal_answers_alone_mark_the_table_nondeterministic(tmp_path: Path) -> None:
    summary = ask(QUIZ, _Alternating("right", facts_of(QUIZ)), out=tmp_path / "t.jsonl")
    assert not summary.checks["none"].deterministic
    assert all(r["nondeterministic"] for r in _rows(tmp_path / "t.jsonl"))


def test_failures_are_rows_and_are_asked_again_only_on_request(tmp_path: Path) -> None:
    out, model = tmp_path / "t.jsonl", _model("flaky")
    first = ask(QUIZ, model, out=out)
    errors = [r for r in _rows(out) if r["outcome"] == "error"]
    assert len(errors) == first.n_errors > 0
    assert {r["reason"] for r in errors} == {"timeout"}
    assert all(r["answer"] is None and r["completion"] is None for r in errors)
    assert ask(QUIZ, model, out=out, resume=True).n_asked == 0
    again = ask(QUIZ, model, out=out, resume=True, retry_errors=True)
    assert (again.n_asked, again.n_errors) == (len(errors), 0)


def test_a_prompt_beyond_the_context_is_an_error_row(tmp_path: Path) -> None:
    ask(QUIZ, _model("right", n_context=100), CONDITIONS, out=tmp_path / "t.jsonl")
    reasons = {(r["condition"], r["reason"]) for r in _rows(tmp_path / "t.jsonl")}
    assert reasons == {
        ("none", None),
        ("the:128", "context_length"),
        ("prose:128", "context_length"),
    }


def test_length_zero_is_an_alias_of_none(tmp_path: Path) -> None:
    summary = ask(QUIZ, _model("right"), parse_conditions("prose:0"), out=tmp_path / "t.jsonl")
    assert summary.aliases == {"prose:0": "none"}
    assert {r["condition"] for r in _rows(tmp_path / "t.jsonl")} == {"none"}


def test_resuming_under_another_protocol_names_the_fields(tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    ask(QUIZ, _model("right"), out=out)
    with pytest.raises(InputError, match="exists and holds"):
        ask(QUIZ, _model("right"), out=out)
    with pytest.raises(FingerprintMismatch, match="decoding, seed"):
        ask(QUIZ, _model("right"), out=out, resume=True, seed=1, temperature=0.5)


def test_a_journal_cut_at_every_byte_loses_nothing_and_asks_nothing_twice(tmp_path: Path) -> None:
    quiz = Quiz("capital", QUIZ.templates[:1], QUIZ.entities[:3], QUIZ.golds and QUIZ.golds[:3])
    whole = tmp_path / "whole.jsonl"
    ask(quiz, _model("right", quiz), out=whole)
    raw, wanted = whole.read_bytes(), _as_set(whole)
    cut = tmp_path / "cut.jsonl"
    for at in range(len(raw) + 1):
        cut.write_bytes(raw[:at])
        kept = _parsed(raw[:at])
        summary = ask(quiz, _model("right", quiz), out=cut, resume=True)
        assert _as_set(cut) == wanted, at
        assert len(_rows(cut)) == 3, at
        assert summary.n_asked == 3 - kept, at


def _parsed(raw: bytes) -> int:
    whole = 0
    for line in raw.split(b"\n")[1:]:
        try:
            json.loads(line)
        except ValueError:
            continue
        whole += 1
    return whole


class _Interrupted(ScriptedModel):
    """Ctrl-C in the middle of the third batch."""

    n_batches = 0

    def complete(self, requests: Sequence[Request]) -> Iterator[Result]:
        results = list(ScriptedModel.complete(self, requests))
        type(self).n_batches += len(requests) > 1
        for i, result in enumerate(results):
            if type(self).n_batches == 3 and i == 2:
                raise KeyboardInterrupt
            yield result


def test_an_interrupt_leaves_what_had_arrived_and_a_file_to_resume(tmp_path: Path) -> None:
    out, whole = tmp_path / "t.jsonl", tmp_path / "whole.jsonl"
    with pytest.raises(KeyboardInterrupt):
        ask(QUIZ, _Interrupted("right", facts_of(QUIZ)), out=out, batch_size=4)
    n = len(_rows(out))
    assert 0 < n < 18
    summary = ask(QUIZ, _model("right"), out=out, resume=True, batch_size=4)
    ask(QUIZ, _model("right"), out=whole, batch_size=4)
    assert summary.n_asked == 18 - n
    assert _as_set(out) == _as_set(whole)


def test_five_draws_are_five_requests_and_later_five_hits(tmp_path: Path) -> None:
    cache = tmp_path / "requests.sqlite"
    runs = []
    for name in ("a", "b"):
        out = tmp_path / f"{name}.jsonl"
        summary = ask(
            QUIZ, _model("right"), out=out, epochs=5, temperature=1.0, templates=[0], cache=cache
        )
        runs.append((summary.n_asked, summary.n_cached, summary.n_checks > 0))
    assert runs == [(45, 0, True), (0, 45, False)]
    first, second = (
        {(r["item"], r["epoch"]): r["completion"] for r in _rows(tmp_path / f"{n}.jsonl")}
        for n in ("a", "b")
    )
    assert first == second
    assert all(r["cached"] for r in _rows(tmp_path / "b.jsonl"))


def test_fewer_draws_than_a_table_holds_keep_every_row_and_are_said(tmp_path: Path) -> None:
    out, part = tmp_path / "t.jsonl", tmp_path / "part.jsonl"
    drawn: dict[str, Any] = {"temperature": 1.0, "templates": [0], "batch_size": 1}
    ask(QUIZ, _model("right"), out=out, epochs=5, **drawn)
    whole, n = out.read_bytes(), len(QUIZ.entities)
    for epochs, wanted in ((3, "3 draws of each item were"), (None, "1 draw of each item was")):
        summary = ask(QUIZ, _model("right"), out=out, epochs=epochs, resume=True, **drawn)
        (said,) = summary.warnings
        beyond = n * (5 - (epochs or 1))
        assert f"condition 'none': {wanted} asked for, and the table holds up to 5" in said
        assert f"for {n} of {n} items; {beyond} rows beyond stay and count" in said
        assert said.endswith("for fewer draws, ask into another file")
    assert out.read_bytes() == whole

    part.write_bytes(b"".join(whole.splitlines(keepends=True)[:8]))
    summary = ask(QUIZ, _model("right"), out=part, epochs=3, resume=True, **drawn)
    (said,) = summary.warnings
    assert f"up to 5 for 1 of {n} items; 2 rows beyond stay and count" in said
    assert said.endswith("unequally many draws now, -n 5 makes them equal")
    assert len(_rows(part)) == 3 * n + 2
    summary = ask(QUIZ, _model("right"), out=part, epochs=5, resume=True, **drawn)
    assert summary.warnings == ()
    assert _as_set(part) == _as_set(out)


def test_identical_draws_at_a_temperature_raise_doubt(tmp_path: Path) -> None:
    summary = ask(QUIZ, _model("right"), out=tmp_path / "t", epochs=4, temperature=1e-9)
    assert any("independence is doubtful" in w for w in summary.warnings)


def test_a_recorded_table_answers_again_and_never_guesses(tmp_path: Path) -> None:
    recorded, out = tmp_path / "t.jsonl", tmp_path / "again.jsonl"
    ask(QUIZ, _model("right"), out=recorded, templates=[0])
    ask(QUIZ, ReplayModel(recorded), out=out)
    by_template: dict[str, set[str | None]] = {}
    for row in _rows(out):
        by_template.setdefault(row["template"], set()).add(row["reason"])
    assert list(by_template.values()) in ([{None}, {"not_recorded"}], [{"not_recorded"}, {None}])


def test_the_first_token_observable_keys_answers_golds_and_entities_by_id(tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    ask(QUIZ, _model("right"), out=out, observable="first_token")
    rows = _rows(out)
    assert all(r["answer"].startswith("tok:") and r["answer"] in r["target"] for r in rows)
    mexico = next(r for r in rows if r["entity"] == "Mexico")
    assert mexico["entity_key"] == mexico["answer"]


def test_golds_are_asked_back_under_a_relation_of_their_own(tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    ask(QUIZ, _model("right"), out=out, inverse=True)
    back = [r for r in _rows(out) if r["relation"] == "capital^-1"]
    assert len(back) == 9
    assert all(r["answer"] in r["target"] for r in back)


def test_the_prompt_ids_are_equal_under_all_conditions(tmp_path: Path) -> None:
    sent: dict[str, dict[str, tuple[int, ...]]] = {}

    class Spy(ScriptedModel):
        def complete(self, requests: Sequence[Request]) -> Iterator[Result]:
            for r in requests:
                assert isinstance(r.prompt, tuple)
                assert r.prompt[0] == 1
                sent.setdefault(r.key[0], {})[r.key[2]] = r.prompt[r.shared or 1 :]
            return ScriptedModel.complete(self, requests)

    ask(QUIZ, Spy("right", facts_of(QUIZ)), CONDITIONS, out=tmp_path / "t.jsonl", batch_size=20)
    tokenizer = ScriptedModel("garbage").tokenizer
    for item, tails in sent.items():
        entity = item.split("|")[1]
        whole = {tail[-len(tails["none"]) :] for tail in tails.values()}
        assert len(whole) == 1
        assert entity in tokenizer.decode(tails["none"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"epochs": 0}, "epochs is 0"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"templates": [7]}, "choose from 0 to 1"),
        ({"temperature": -1.0}, "temperature"),
        ({"observable": "mood"}, "observable 'mood'"),
        ({"conditions": [Condition("a", "prose", 9, "of the"), NONE]}, "passage holds"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_the_first_request(
    change: dict[str, Any], words: str, tmp_path: Path
) -> None:
    model = _model("right")
    with pytest.raises(InputError, match=words):
        ask(QUIZ, model, change.pop("conditions", (NONE,)), out=tmp_path / "t.jsonl", **change)
    assert not model.asked


def test_a_passage_that_names_an_answer_is_warned_of_and_recorded(tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    leak = Condition("leak", "text", text="We saw PARIS in spring. ")
    summary = ask(QUIZ, _model("right"), [leak], out=out)
    assert any("'Paris'" in w for w in summary.warnings)
    header = json.loads(out.read_text("utf-8").splitlines()[0])
    assert header["protocols"]["leak"]["condition"]["names_in_text"] == ["Paris"]


def test_progress_speaks_of_rows_on_the_disk_and_of_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, synced, shown = tmp_path / "t.jsonl", [0], []

    def sync(_: int) -> None:
        synced.append(len(_rows(out)))
        time.sleep(0.002)  # a disk that takes its time

    def look(safe: int, total: int, *_: object) -> None:
        shown.append((safe, synced[-1], total))

    monkeypatch.setattr("os.fsync", sync)
    ask(QUIZ, _model("right"), CONDITIONS, out=out, epochs=40, batch_size=4, progress=look)
    assert shown[-1] == (2160, 2160, 2160)
    assert all(safe <= there for safe, there, _ in shown)
    assert len(synced) < 2160 / 4 / 2  # several batches are synced together


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Fr\0ance", "U\\+0000 at position 2"),
        ("Peru\x1b[31m", "U\\+001B"),
        ("CÃ\x83te", "U\\+0083"),
    ],
)
def test_a_name_with_a_control_character_is_refused(name: str, code: str, tmp_path: Path) -> None:
    quiz = Quiz("capital", ("The capital of {e} is",), ("Chile", name))
    with pytest.raises(InputError, match=f"the entity .* {code}.*Remove it"):
        ask(quiz, _model("right", quiz), out=tmp_path / "t.jsonl")
    assert not (tmp_path / "t.jsonl").exists()


def test_a_template_with_a_control_character_is_refused_and_line_ends_are_not(
    tmp_path: Path,
) -> None:
    names = ("Chile\nNorte", "Peru\tSur", "Côte d'Ivoire", "\U0001f1eb\U0001f1f7")
    quiz = Quiz("capital", ("Q: {e}?\r\nA:",), names)
    assert ask(quiz, _model("right", quiz), out=tmp_path / "t.jsonl").n_rows == 4
    with pytest.raises(InputError, match=r"the template .* U\+0008"):
        ask(Quiz("capital", ("Q: {e}\b",), names), _model("right"), out=tmp_path / "u.jsonl")
