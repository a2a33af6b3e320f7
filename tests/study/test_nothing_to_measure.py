"""Claims that cannot be measured: a study has no answer, says why, and ends with 5."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from trueness.backends.embedders import CallableEmbedder
from trueness.cli import main
from trueness.contract.errors import NoNegativePossible
from trueness.study import carrying_out, slices, transfer
from trueness.study.found import Found
from trueness.study.guards import Pool
from trueness.study.negatives import deranged
from trueness.study.results import Outcome, read_result
from trueness.study.task import Task

CONTROLS = ("C1", "C2", "C3", "C4", "C5", "C6", "C8", "C11", "C12", "C14", "C20")
EXCHANGING = ("C7", "C9", "C10", "C13", "C15", "C16")


def letters(texts: Sequence[str]) -> list[list[float]]:
    return [
        [1.0, float(len(t)), *(float(t.lower().count(c)) for c in "abcdefghijklmnopqrst")]
        for t in texts
    ]


@pytest.fixture(autouse=True)
def scripted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRUENESS_CACHE_DIR", str(tmp_path / "cache"))
    made = CallableEmbedder(letters, revision="1")
    for module in (slices, transfer):
        monkeypatch.setattr(module, "open_embedder", lambda *_, **__: made)


def rows(n: int = 40) -> list[dict[str, Any]]:
    words = ("river", "museum", "harbour", "council", "winter", "engine", "garden")
    return [
        {
            "item": f"i{k}",
            "group": f"g{k}",
            "claim": f"The {words[k % 7]} of town {chr(97 + k % 26)} opened.",
            "evidence": [
                f"The {words[(k + k % 2) % 7]} of town {chr(97 + k % 26)} opened.",
                f"Town {chr(97 + k % 26)} has a {words[(3 * k) % 7]}, number {'x' * (k % 11)}{k}.",
            ],
            "label": "unsupported" if k % 2 else "supported",
        }
        for k in range(n)
    ]


def study(name: str, found: Sequence[dict[str, Any]], folder: Path, *, code: int) -> str:
    path, out = folder / "own.jsonl", folder / "out.json"
    path.write_text("".join(json.dumps(row) + "\n" for row in found), "utf-8")
    assert main(["study", name, "--data", str(path), "-o", str(out)]) == code
    result = read_result(out)
    assert (result.reading.outcome is Outcome.NOT_APPLICABLE) is (code == 5)
    return result.notes[0]


@pytest.mark.parametrize("evidence", [None, [], "", ["", " "]])
@pytest.mark.parametrize("name", ["C1", "C2", "C3", "C5"])
def test_controls_without_any_evidence_do_not_apply(
    name: str, evidence: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    why = study(name, [r | {"evidence": evidence} for r in rows()], tmp_path, code=5)
    assert why.startswith("own: none of 40 claims can be measured: 40 no_evidence.")
    assert f"not applicable: {why}\n" in capsys.readouterr().out


@pytest.mark.parametrize("name", [*CONTROLS, *EXCHANGING, "C18"])
def test_no_claim_study_runs_on_nothing(name: str, tmp_path: Path) -> None:
    for change, reason in (({"evidence": []}, "no_evidence"), ({"claim": " "}, "no_claim")):
        assert reason in study(name, [r | change for r in rows()], tmp_path, code=5)


@pytest.mark.parametrize("name", EXCHANGING)
def test_evidence_is_exchanged_between_supported_claims_alone(name: str, tmp_path: Path) -> None:
    wrong = [r | {"label": "unsupported"} for r in rows()]
    assert "none of its 40 claims is labelled supported" in study(name, wrong, tmp_path, code=5)


@pytest.mark.parametrize("name", ["C1", "C2", "C3", "C5", "C8", "C12"])
def test_one_class_without_a_supported_claim_does_not_apply(name: str, tmp_path: Path) -> None:
    why = study(name, [r | {"label": "unsupported"} for r in rows()], tmp_path, code=5)
    assert why.startswith("no contrast could be measured: ")
    assert "no claim is labelled supported (nearest" in why


def test_a_sentence_names_the_contrasts_that_decided_nothing(tmp_path: Path) -> None:
    right = [r | {"label": "supported"} for r in rows(120)]
    sentence = study("C2", right, tmp_path, code=0)
    assert "[(not measured)" not in sentence
    assert sentence.startswith("The energy ")
    assert sentence.endswith("Not measured, and no part of this: labelled (a class is empty).")
    result = read_result(tmp_path / "out.json")
    labelled = next(c for c in result.contrasts if c["name"] == "labelled")
    assert labelled["rival"] is None


def test_too_few_sources_are_counted(tmp_path: Path) -> None:
    found = [r | {"label": "supported"} for r in rows()]
    why = study("C16", found, tmp_path, code=5)
    assert "too few sources with a number: 40; wanted 150" in why


def test_a_group_without_a_name_is_refused_with_its_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = rows()
    found[3]["group"] = None
    path = tmp_path / "own.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in found), "utf-8")
    assert main(["study", "C1", "--data", str(path), "-o", str(tmp_path / "out.json")]) == 2
    assert "names no group in 1 of its 40 rows, first row 4" in capsys.readouterr().err


def test_passages_that_all_share_are_named_as_what_stands_in_the_way() -> None:
    shared = Pool(["a", "b", "c"], ["x", "y", "z"], passages=[frozenset({"same"})] * 3)
    with pytest.raises(NoNegativePossible, match=r"for 3 of 3 .* shares a passage with their own"):
        deranged(shared)


def test_a_number_in_one_contrast_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(task: Task, *, estimate: float | None, state: str | None) -> Found:
        contrasts = {
            c.name: {"n": 1, "estimate": estimate, "low": None, "high": None, "state": state}
            for c in task.declaration.contrasts
        }
        return Found(rows=(), contrasts=contrasts, draws={"repeats": 1})

    for estimate, state, outcome in (
        (None, "NO_EVIDENCE", Outcome.NOT_APPLICABLE),
        (0.5, "NOT_APPLICABLE", Outcome.UNRESOLVED),
        (None, "MEASURED", Outcome.UNRESOLVED),
        (None, None, Outcome.UNRESOLVED),
    ):
        monkeypatch.setattr(
            carrying_out,
            "runner_of",
            lambda _, e=estimate, s=state: lambda task: found(task, estimate=e, state=s),
        )
        assert carrying_out.carry_out("C1").result.reading.outcome is outcome
