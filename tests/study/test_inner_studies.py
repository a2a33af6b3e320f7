"""Noise, constrained answers and ensembles on planted models."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from planted import run_on

from trueness.backends.protocol import Request
from trueness.backends.scripted import ScriptedModel
from trueness.cli import main
from trueness.contract.errors import MissingExtraError
from trueness.study import asked as asking
from trueness.study.carrying_out import carry_out
from trueness.study.declarations import declared_study
from trueness.study.inputs import Inputs
from trueness.study.results import Record, Result
from trueness.study.task import Task
from trueness.table import bundled_relation


def row(result: Result, name: str) -> Record:
    return next(r for r in result.rows if r["name"] == name)


def contrast(result: Result, name: str) -> Record:
    return next(c for c in result.contrasts if c["name"] == name)


def helps_inside(request: Request, _text: str, right: str | None) -> str:
    return str(right) if request.noise in {0.8, 1.2} else "the"


def helps_at_the_edge(request: Request, _text: str, right: str | None) -> str:
    return str(right) if request.noise == 3 else "the"


FEW: Mapping[str, Mapping[str, Any]] = {
    "draws": {"k": 3, "seeds": [0, 1, 2]},
    "noise": {"noise": "noise:0.4, noise:0.8, noise:1.2, noise:3"},
}
"""Draws and levels that are enough to see what was planted."""


def only_hurts(request: Request, _text: str, right: str | None) -> str:
    return "the" if request.noise else str(right)


def test_a_peak_inside_the_grid_supports(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = run_on(monkeypatch, tmp_path, "embedding-noise", helps_inside, cut=FEW).result
    assert found.reading.outcome.value == "supported"
    choice = row(found, "language12_choice")
    assert choice["sigma_by_floor"] == choice["sigma_by_accuracy"] == [0.8, 1.2]
    assert (choice["regret_least"], choice["edge"]) == (0.0, None)


def test_a_peak_at_the_edge_says_so_and_decides_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = run_on(monkeypatch, tmp_path, "embedding-noise", helps_at_the_edge, cut=FEW).result
    assert found.reading.outcome.value == "unresolved"
    assert "language12: still falling at the edge of the grid; extend it" in found.notes


def test_noise_that_only_hurts_refutes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = run_on(monkeypatch, tmp_path, "embedding-noise", only_hurts, limit=3, cut=FEW).result
    assert found.reading.outcome.value == "refuted"
    assert row(found, "capital_sigma_0")["n"] == 3


def collapsed(request: Request, _text: str, right: str | None) -> str:
    return "the" if request.key[2].startswith(("shuffled", "the")) else str(right)


def test_equal_partitions_with_different_causes_support(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def finds(text: str, answer: str) -> float:
        lost = text.startswith(" the the")
        base = -sum(map(ord, answer)) / 1000
        entity_known = (text.rsplit(" ", 1)[0], answer)
        return base if lost else base + (1.0 if _belongs(*entity_known) else 0.0)

    found = run_on(
        monkeypatch, tmp_path, "constrained-decoding", collapsed, limit=12, finds=finds
    ).result
    assert found.reading.outcome.value == "supported"
    one, other = row(found, "capital_shuffled_128_1"), row(found, "capital_the_128")
    assert one["n_orbits"] == other["n_orbits"] == 1
    assert one["constrained_accuracy"] == 1.0
    assert other["constrained_accuracy"] == other["chance"] == pytest.approx(1 / 12)


_CAPITAL = bundled_relation("capital")
_CAPITALS = dict(zip(_CAPITAL.entities, (golds[0] for golds in _CAPITAL.golds), strict=True))


def _belongs(text: str, answer: str) -> bool:
    return any(gold == answer and name in text for name, gold in _CAPITALS.items())


def test_answers_that_are_never_told_apart_refute(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = run_on(
        monkeypatch,
        tmp_path,
        "constrained-decoding",
        collapsed,
        limit=8,
        finds=lambda _text, answer: -sum(map(ord, answer)) / 1000,
    ).result
    assert found.reading.outcome.value == "refuted"


def test_ties_among_allowed_answers_are_no_answers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = run_on(
        monkeypatch, tmp_path, "constrained-decoding", collapsed, limit=3, finds=lambda *_: -1.0
    ).result
    assert found.reading.outcome.value == "not_applicable"
    assert found.notes[0].startswith("no contrast could be measured")
    assert row(found, "capital_none")["n_constrained"] == 0


def one_is_loud(request: Request, _text: str, right: str | None) -> str:
    return "the" if request.key[2] == "prose:128@5" else str(right)


def loudness(request: Request) -> float:
    return 100.0 if request.key[2] == "prose:128@5" else 1.0


def test_a_vote_outlives_one_confident_outlier(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = run_on(monkeypatch, tmp_path, "ensembles", one_is_loud, limit=8, sure=loudness).result
    assert found.reading.outcome.value == "supported"
    capital = contrast(found, "vote_logits_capital")
    assert (capital["closed_by_leaving_out"], capital["closed_share"]) == ("prose:128@5", 1.0)
    assert row(found, "capital_mean_logits")["accuracy"] == 0.0
    assert row(found, "capital_vote")["accuracy"] == 1.0
    assert row(found, "capital_assignment")["accuracy"] == 1.0
    assert row(found, "capital_assignment")["t1_star"] == row(found, "capital_none")["n"]


def test_an_outlier_about_one_entity_decides_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def loud_once(request: Request, text: str, right: str | None) -> str:
        return one_is_loud(request, text, right) if "|France|" in request.key[0] else str(right)

    found = run_on(monkeypatch, tmp_path, "ensembles", loud_once, limit=6, sure=loudness).result
    assert found.reading.outcome.value == "unresolved"


def test_members_that_agree_refute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = run_on(
        monkeypatch, tmp_path, "ensembles", lambda _r, _t, right: str(right), limit=3
    ).result
    assert found.reading.outcome.value == "refuted"


@pytest.mark.parametrize("study", ["ensembles", "embedding-noise"])
def test_a_model_without_the_capability_is_not_applicable(study: str) -> None:
    found = carry_out(study, inputs=Inputs(model="scripted:garbage"), limit=2).result
    assert found.reading.outcome.value == "not_applicable"
    assert "model 'scripted:garbage' offers" in found.notes[0]


def test_without_torch_the_pip_line_is_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_given: object, **_more: object) -> ScriptedModel:
        msg = "this needs torch, which is not installed. Run: pip install 'trueness[local]'"
        raise MissingExtraError(msg)

    monkeypatch.setattr(asking, "open_model", missing)
    notes = carry_out("embedding-noise", limit=2).result.notes
    assert "pip install 'trueness[local]'" in str(notes[0])


def test_what_is_only_wanted_and_not_installed_is_gone_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[object] = []

    def plain(_name: str, options: object = None, **_given: object) -> ScriptedModel:
        tried.append(options)
        if options is not None:
            msg = "this needs torch"
            raise MissingExtraError(msg)
        return ScriptedModel("echo", {})

    monkeypatch.setattr(asking, "open_model", plain)
    task = Task(declaration=declared_study("detector"), repeats=2)
    told = MissingExtraError("raised while the model is asked")
    with pytest.raises(MissingExtraError), asking.opened(task):
        raise told
    assert tried == [{"runtime": "transformers"}, None]


def test_the_command_says_by_its_exit_that_nothing_applies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["study", "embedding-noise", "--model", "scripted:garbage", "--limit", "2"]
    assert main([*words, "-o", str(tmp_path / "x.json")]) == 5
    assert "needs embeddings_in" in capsys.readouterr().out
