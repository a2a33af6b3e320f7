"""The contest at matched coverage: planted tables, each reading, and what no score can do."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from planted import Planted, TextOnly, run_on

from trueness.backends.protocol import Request
from trueness.study.asked import Asked
from trueness.study.carrying_out import decide
from trueness.study.declarations import declared_study
from trueness.study.detecting import kept
from trueness.study.detector import cells_of, contest
from trueness.study.one_pass_scores import BASELINES, LAW, Looked
from trueness.study.results import Outcome
from trueness.study.results import Result as StudyResult
from trueness.study.saying import said
from trueness.study.spent import Spent
from trueness.table import bundled_relation, read_answers


class Sure(Planted):
    """The law of an answer says whether it is right."""

    def next_logits(self, requests: Sequence[Request]) -> NDArray[np.float32]:
        out = Planted.next_logits(self, requests)
        for i, (request, found) in enumerate(zip(requests, self.complete(requests), strict=True)):
            right = self.right(request)
            sure = right is not None and found.text.strip() == right.split()[0]
            out[i] *= 20.0 if sure else 0.1
        return out


class Endpoint(Planted):
    """The two likeliest tokens of an answer are all that is shown of its law."""

    @property
    def capabilities(self) -> frozenset[str]:
        return frozenset({"text", "tokens", "logprobs"})


CAPITAL = bundled_relation("capital")
DECLARED = declared_study("detector")


def place(request: Request) -> int:
    return CAPITAL.entities.index(request.key[0].rsplit("|", 2)[1])


def coincide(request: Request, _text: str, right: str | None) -> str:
    """Wrong answers are one word; behind a repeated word most are wrong."""
    n_wrong = 8 if request.key[2].startswith("the") else 5
    return "garbage" if place(request) < n_wrong else str(right)


def stray(request: Request, _text: str, right: str | None) -> str:
    """Nobody shares an answer with anybody."""
    at = place(request)
    return f"garbage{at}" if at < 5 else str(right)


def others(request: Request, _text: str, _right: str | None) -> str:
    """Four are given the answer of the next one, which is right there; two pairs exchange."""
    at = place(request)
    if at < 8:
        return str(CAPITAL.golds[at | 1][0])
    return str(CAPITAL.golds[at ^ 1][0])


def carried(monkeypatch: pytest.MonkeyPatch, path: Path, rule: Any, **given: Any) -> StudyResult:
    return run_on(
        monkeypatch,
        path,
        "detector",
        rule,
        cut={"inputs": {"relations": ["capital"]}},
        limit=12,
        **given,
    ).result


@pytest.mark.parametrize(
    ("rule", "kind", "outcome"),
    [
        (coincide, Planted, "supported"),
        (others, Sure, "refuted"),
        (stray, Planted, "unresolved"),
    ],
)
def test_the_planted_reading_comes_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, rule: Any, kind: Any, outcome: str
) -> None:
    result = carried(monkeypatch, tmp_path, rule, kind=kind)
    assert result.reading.outcome.value == outcome
    assert result.draws["n_below_floor"] == 0


def test_what_is_withheld_and_left_is_what_was_planted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done = run_on(
        monkeypatch,
        tmp_path,
        "detector",
        coincide,
        cut={"inputs": {"relations": ["capital"]}},
        limit=12,
    )
    scored: list[Any] = [row["seen"] for row in done.table if "seen" in row]
    assert len(scored) == 12 * 6  # the scored wording alone
    assert len({seen["entropy"] for seen in scored}) == 1
    result = done.result
    rows: dict[str, Any] = {str(row["name"]): row for row in result.rows}
    row = rows["capital_none"]
    assert (row["n"], row["n_wrong"], row["largest_orbit"], row["side"]) == (12, 5, 5, "dispersed")
    guard = row["guards"]["s_star"]
    assert (guard["n_withheld"], guard["wrong"]) == (5, 5)
    assert guard["kept_accuracy"]["guard"] == 1.0
    assert guard["kept_accuracy"]["max_p"] == pytest.approx(7 / 12)  # all level: by lot
    assert guard["against"] == dict.fromkeys(LAW, "win")
    assert row["auroc"]["collision"]["auroc"] == 1.0
    assert row["auroc"]["max_p"]["auroc"] == 0.5
    assert rows["capital_the_64"]["side"] == "collapse"
    assert row["forwards"]["collision_mean"] == 60


def test_a_score_that_knows_beats_the_partition_where_answers_are_exchanged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    result = carried(monkeypatch, tmp_path, others, kind=Sure)
    rows: dict[str, Any] = {str(row["name"]): row for row in result.rows}
    guard = rows["capital_none"]["guards"]["s"]
    assert (guard["n_withheld"], guard["wrong"], guard["guaranteed"]) == (8, 4, 4)
    assert guard["kept_accuracy"]["guard"] == 0.0
    assert guard["kept_accuracy"]["max_p"] == 1.0
    assert guard["against"]["max_p"] == guard["against"]["entropy"] == "loss"


def test_of_two_likeliest_tokens_two_numbers_of_the_law_are_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done = run_on(
        monkeypatch,
        tmp_path,
        "detector",
        coincide,
        cut={"inputs": {"relations": ["capital"]}},
        limit=12,
        kind=Endpoint,
    )
    scored: list[Any] = [row["seen"] for row in done.table if "seen" in row]
    top = np.exp(-0.125)
    margin = top - np.exp(-0.125 - 4.0)
    assert {tuple(seen) for seen in scored} == {("max_p", "margin")}
    assert scored[0] == pytest.approx({"max_p": top, "margin": margin})
    never = next(note for note in done.result.notes if note.startswith("Not read of this model"))
    assert "entropy" in never
    assert "coupling" in never


def test_where_everything_is_withheld_there_is_no_contest(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def one_word(_request: Request, _text: str, _right: str | None) -> str:
        return "garbage"

    result = carried(monkeypatch, tmp_path, one_word)
    assert result.reading.outcome.value not in {"supported", "refuted"}
    collapse: Any = next(c for c in result.contrasts if c["name"] == "collapse")
    assert (collapse["n"], collapse["n_all_withheld"], collapse["state"]) == (0, 6, "NO_EVIDENCE")
    assert collapse["against"] == []
    rows: dict[str, Any] = {str(row["name"]): row for row in result.rows}
    assert rows["capital_none"]["guards"]["s"]["reason"].startswith("everything is withheld")
    assert rows["capital_none"]["auroc"]["collision"]["state"] == "NO_EVIDENCE"


def test_a_model_without_probabilities_is_not_applicable_and_names_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    result = carried(monkeypatch, tmp_path, coincide, kind=TextOnly)
    assert result.reading.outcome.value == "not_applicable"
    assert any("logprobs" in note for note in result.notes)


@given(
    scores=st.lists(st.integers(0, 4), min_size=1, max_size=12),
    share=st.floats(0, 1),
)
def test_as_many_are_withheld_as_were_asked_for(scores: list[int], share: float) -> None:
    size = int(share * len(scores))
    weights = kept(np.array(scores, np.float64), size)
    assert weights.sum() == pytest.approx(len(scores) - size)
    order = np.argsort(scores)
    assert (np.diff(weights[order]) <= 1e-12).all()


def answers_by_lot(n: int, rng: np.random.Generator, *, collapse: bool) -> list[int]:
    """Answers that coincide are right as often as those that do not: withholding gains nothing.

    An answer is the place of the entity for which it is right. Both of a pair are given the right
    answer of one of them, or both are right, or they exchange answers. In a collapse half of all
    are given one answer that is right for one of them, and of the others as many are right on
    average.
    """
    order = rng.permutation(n).tolist()
    half = order[: n // 2] if collapse else []
    said = dict.fromkeys(half, order[0])
    rest = order[len(half) :]
    lucky = int(rng.integers(len(rest) // 2)) if rng.integers(2) else -1
    for k, (one, other) in enumerate(zip(rest[::2], rest[1::2], strict=True)):
        both = k == lucky if collapse else False
        kind = 2 if both else 3 if collapse else int(rng.integers(4))
        same = one if rng.integers(2) else other
        pairs = [(same, same)] * 2 + [(one, other), (other, one)]
        said[one], said[other] = pairs[kind]
    return [said[i] for i in range(n)]


def contest_by_lot(seed: int) -> dict[str, Any]:
    """The contrasts of two relations under two conditions; every rival ranks by lot."""
    rng = np.random.default_rng(seed)
    relations = {n: bundled_relation(n).first(20) for n in ("capital", "probe_capital")}
    rows: list[dict[str, Any]] = []
    looked = Looked()
    for name, relation in relations.items():
        for condition in ("none", "the:64"):
            answers = answers_by_lot(len(relation), rng, collapse=condition != "none")
            for i, entity in enumerate(relation.entities):
                rows.append(
                    {
                        "item": f"{name}|{entity}|0",
                        "condition": condition,
                        "relation": name,
                        "entity": entity,
                        "template": relation.templates[0],
                        "outcome": "answered",
                        "answer": f"tok:{answers[i]}",
                        "target": [f"tok:{i}"],
                    }
                )
                drawn = rng.normal(size=len(BASELINES)).tolist()
                looked.values[name, condition, entity] = dict(zip(BASELINES, drawn, strict=True))
    table = replace(read_answers(rows), extractor="first_token@1")
    classes = {"none": "none", "the:64": "repeated"}
    asked = Asked(table, relations, classes, {}, (), Spent(), ())
    cells = cells_of(asked, looked)
    return contest(FEW, asked, cells, seed=seed)[1]


FEW = replace(
    DECLARED,
    raw={**DECLARED.raw, "protocol": {**DECLARED.table("protocol"), "resamples": 1000}},
)


def test_without_an_effect_few_of_200_runs_find_one() -> None:
    runs, most = 200, 200 * (0.05 + 3 * (0.05 * 0.95 / 200) ** 0.5)
    found = [contest_by_lot(seed) for seed in range(runs)]
    assert all(c[side]["n"] > 0 for c in found for side in ("collapse", "dispersed"))
    for side in ("collapse", "dispersed"):
        assert sum(c[side]["n_not_beaten"] == 0 for c in found) <= most
        assert sum(c[side]["n_ahead"] > 0 for c in found) <= most
    outcomes = [
        decide(FEW, {"contrasts": [{"name": n, **r} for n, r in c.items()], "draws": {}}).outcome
        for c in found
    ]
    assert sum(o is Outcome.SUPPORTED for o in outcomes) <= most
    assert sum(o is Outcome.REFUTED for o in outcomes) <= most


@pytest.mark.parametrize(
    ("collapse", "dispersed", "said_first"),
    [(0, 2, "collapse detector: "), (3, 0, "one pass: "), (None, 1, "one pass: ")],
)
def test_a_lesser_finding_is_named_where_the_study_is_not_supported(
    collapse: int | None, dispersed: int, said_first: str
) -> None:
    found = {
        name: {"n_not_beaten": n, "n_ahead": 0, "best_rival": "max_p", "estimate": 0.1}
        for name, n in (("collapse", collapse), ("dispersed", dispersed))
    }
    fields = {"contrasts": [{"name": n, **r} for n, r in found.items()], "draws": {}}
    reading = decide(DECLARED, fields)
    assert reading.outcome is Outcome.UNRESOLVED
    (sentence,) = said(DECLARED, reading, fields)
    assert sentence.startswith(said_first)
    assert "max_p" in sentence


def test_a_study_that_is_supported_says_nothing_less() -> None:
    found = {n: {"n_not_beaten": 0, "n_ahead": 0} for n in ("collapse", "dispersed")}
    fields = {"contrasts": [{"name": n, **r} for n, r in found.items()], "draws": {}}
    reading = decide(DECLARED, fields)
    assert (reading.outcome, len(reading.expressions)) == (Outcome.SUPPORTED, 2)
    assert said(DECLARED, reading, fields) == (DECLARED.says("supported"),)
