"""C17, C18 and C19: places of labels, wordings of claims, and sentences that nobody looks at."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bags import bag_of, written

from trueness.backends.entailment import Entailment
from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.study import clean_labels, label_order, short_sentences
from trueness.study.carrying_out import carry_out
from trueness.study.declarations import declared_study
from trueness.study.inputs import Inputs
from trueness.study.protocol import Protocol, scored_from
from trueness.study.results import Outcome

SHORT = short_sentences.Settings.of(declared_study("C19"), 0)


def contrast(result: Any, name: str) -> Any:
    return next(c for c in result.contrasts if c["name"] == name)


def test_a_fixed_place_is_worth_what_the_order_of_labels_makes_of_it_and_a_name_the_same() -> None:
    result = carry_out("C17").result
    assert result.reading.outcome is Outcome.NOT_APPLICABLE
    assert "Mechanics only" in " ".join(result.notes)
    assert contrast(result, "spread_by_name")["estimate"] == 0.0
    assert contrast(result, "spread")["estimate"] > 0.5
    worst = contrast(result, "by_place")
    assert worst["estimate"] < 0.2  # contradiction taken for entailment
    assert worst["contradiction"] == 1
    assert contrast(result, "by_name")["estimate"] > 0.8


class Stub:
    """Calls everything with a digit entailed."""

    def __init__(self, order: tuple[str, str, str]) -> None:
        self._order = order

    @property
    def identity(self) -> Mapping[str, Json]:
        return {"id": "stub", "labels": {name: i for i, name in enumerate(self._order)}}

    @property
    def versions(self) -> Mapping[str, str]:
        return {}

    def probabilities(self, premise: str, hypothesis: str) -> Entailment:
        del premise
        yes = 0.8 if "1" in hypothesis else 0.1
        return Entailment(yes, 0.1, 0.9 - yes)


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("contradiction_first", Outcome.REFUTED),
        ("entailment_second", Outcome.REFUTED),
        ("entailment_first", Outcome.SUPPORTED),
    ],
)
def test_a_named_model_says_itself_whether_the_place_is_its_contradiction(
    name: str, outcome: Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {"claim": f"is {i % 2}", "evidence": ["a", "b"], "label": label, "group": str(i)}
        for i, label in enumerate(["unsupported", "supported"] * 20)
    ]
    monkeypatch.setattr(label_order, "CrossEncoder", lambda _: Stub(label_order.ORDERS[name]))
    data = written(tmp_path / "own.jsonl", rows)
    result = carry_out("C17", inputs=Inputs(data=data, model="stub")).result
    assert result.reading.outcome is outcome
    assert contrast(result, "by_name")["estimate"] == 1.0
    assert contrast(result, "by_place")["estimate"] == (
        1.0 if name == "contradiction_first" else pytest.approx(0.0, abs=0.5)
    )


def labelled(path: Path, *, wrong_far: bool) -> Path:
    """Supported and unsupported claims, of which one lies outside its evidence."""
    near, far = ("supported", "unsupported") if wrong_far else ("unsupported", "supported")
    rows = [
        {
            "claim": f"a{i} {word}",
            "evidence": [f"a{i} b{i}", f"b{i} c{i}"],
            "label": label,
            "group": str(i),
        }
        for i in range(40)
        for word, label in ((f"b{i} " * (1 + i % 3), near), (f"x{i} " * (1 + i % 3), far))
    ]
    return written(path, rows)


@pytest.mark.parametrize(
    ("wrong_far", "outcome"), [(True, Outcome.SUPPORTED), (False, Outcome.REFUTED)]
)
def test_labels_of_a_file_are_read_by_the_sign_of_their_separation(
    wrong_far: bool,  # noqa: FBT001 - a case
    outcome: Outcome,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = labelled(tmp_path / "own.jsonl", wrong_far=wrong_far)
    words = bag_of([json.loads(line) for line in data.read_text("utf-8").splitlines()])
    monkeypatch.setattr("trueness.study.embedded_inputs.embedder_of", lambda *_: words)
    carried = carry_out("C18", inputs=Inputs(data=data))
    assert carried.result.reading.outcome is outcome
    assert contrast(carried.result, "questions")["estimate"] is None
    table = [json.loads(json.dumps(dict(r))) for r in carried.table]
    assert list(clean_labels.judged(table, Protocol())[0]) == list(carried.result.rows)


def test_labels_dealt_at_random_show_no_separation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = labelled(tmp_path / "own.jsonl", wrong_far=True).read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    monkeypatch.setattr("trueness.study.embedded_inputs.embedder_of", lambda *_: bag_of(rows))
    data = written(tmp_path / "own.jsonl", rows)
    (made,) = map(scored_from, carry_out("C18", inputs=Inputs(data=data)).table)
    decided = []
    for seed in range(20):
        swap = np.random.default_rng(seed).integers(2, size=len(rows) // 2).astype(np.bool_)
        dealt = replace(made, unsupported=made.unsupported ^ np.repeat(swap, 2))
        found: Any = clean_labels.judged([dealt.to_record()], Protocol(resamples=200))[1]["given"]
        decided.append(found["low"] > 0 or found["high"] < 0)
    assert sum(decided) <= 4


def test_without_data_of_clean_labels_the_question_stays_open_and_says_why() -> None:
    found = clean_labels.judged([], Protocol())[1]
    assert found["given"]["estimate"] is None
    assert "--data FILE" in str(found["given"]["where"])


def test_sentences_that_a_rule_on_length_drops_are_counted_by_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[Any] = [
        {
            "claim": claim,
            "evidence": ["She ran the long race and won it in the end."],
            "label": label,
            "group": str(i),
        }
        for i in range(40)
        for claim, label in (
            ("She ran the long race in the end.", "supported"),
            ("She lost." if i < 30 else "She ran the long race. She lost it.", "unsupported"),
        )
    ]
    monkeypatch.setattr("trueness.study.embedded_inputs.embedder_of", lambda *_: bag_of(rows))
    carried = carry_out("C19", inputs=Inputs(data=written(tmp_path / "own.jsonl", rows)))
    wrong: Any = next(r for r in carried.result.rows if r["name"] == "own_unsupported")
    assert wrong["claims_unseen"]["count"] == 30
    assert wrong["claims_touched"]["count"] == 40
    assert (wrong["sentences_dropped"]["count"], wrong["sentences"]) == (40, 50)
    assert carried.result.reading.outcome is Outcome.SUPPORTED
    score = contrast(carried.result, "score")
    assert score["n_unmeasured"] == 30  # no sentence is left: kept, counted, bounded both ways
    again = [row for r in carried.table for row in short_sentences.rows_of(r, SHORT)]
    assert again == list(carried.result.rows)[:-1]


def test_refusals_are_asked_about_and_those_that_pass_for_statements_are_named() -> None:
    result = carry_out("C19", inputs=Inputs(world="synthetic"), limit=40).result
    row: Any = next(r for r in result.rows if r["name"] == "refusals")
    assert row["listed"] == len(short_sentences.REFUSALS)
    assert row["apart"] + len(row["not_apart"]) == row["listed"]


@pytest.mark.parametrize("study", ["C7", "C9", "C10", "C15", "C16", "C18", "C19"])
def test_a_model_is_refused_where_none_is_asked(study: str) -> None:
    with pytest.raises(InputError, match="no use for --model"):
        carry_out(study, inputs=Inputs(model="embedded"))
