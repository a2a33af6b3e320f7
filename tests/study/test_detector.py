"""The contest at matched coverage: planted tables, each reading, and what no score can do."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import Planted, TextOnly, run_on

from trueness.backends.protocol import Request, Result, Step
from trueness.study.detecting import kept
from trueness.study.results import Result as StudyResult
from trueness.table import bundled_relation


class Sure(Planted):
    """The probability of an answer says whether it is right."""

    def complete(self, requests: Sequence[Request]) -> Iterator[Result]:
        for request, found in zip(requests, Planted.complete(self, requests), strict=True):
            right = self.right(request)
            sure = right is not None and found.text.strip() == right.split()[0]
            first = Step(found.steps[0].id, logprob=-0.1 if sure else -3.0, gap=1.0)
            yield Result(found.key, found.text, "stop", (first,), found.n_prompt, found.n_written)


CAPITAL = bundled_relation("capital")


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
        monkeypatch, path, "detector", rule, relations=("capital",), limit=12, **given
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
    done = run_on(monkeypatch, tmp_path, "detector", coincide, relations=("capital",), limit=12)
    assert {row["logprob"] for row in done.table} == {-0.125}
    result = done.result
    rows: dict[str, Any] = {str(row["name"]): row for row in result.rows}
    row = rows["capital_none"]
    assert (row["n"], row["n_wrong"], row["largest_orbit"], row["side"]) == (12, 5, 5, "dispersed")
    guard = row["guards"]["s_star"]
    assert (guard["n_withheld"], guard["wrong"]) == (5, 5)
    assert guard["kept_accuracy"]["guard"] == 1.0
    assert guard["kept_accuracy"]["max_p"] == pytest.approx(7 / 12)  # all level: by lot
    assert [guard["against_one_pass"]] == ["win"]
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
    assert [guard["against_one_pass"]] == ["loss"]


def test_a_model_without_probabilities_is_not_applicable_and_names_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    result = carried(monkeypatch, tmp_path, coincide, kind=TextOnly)
    assert result.reading.outcome.value == "not_applicable"
    assert "logprobs" in result.notes[-1]


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
