"""``trueness ground`` from the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from trueness import sensors
from trueness.api import grounding
from trueness.backends.embedders import CallableEmbedder
from trueness.cli import main

EXAMPLE = Path(__file__).parents[2] / "docs/examples/claims.jsonl"
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def letters(texts: list[str]) -> list[list[float]]:
    return [[1.0, *(float(t.lower().count(c)) for c in LETTERS), float(len(t))] for t in texts]


@pytest.fixture(autouse=True)
def scripted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An embedder without weights, and an empty cache."""
    monkeypatch.setenv("TRUENESS_CACHE_DIR", str(tmp_path / "cache"))
    made = CallableEmbedder(letters, revision="1")
    monkeypatch.setattr(grounding, "open_embedder", lambda *_, **__: made)


def run(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    assert main(["ground", *argv]) == code
    out, err = capsys.readouterr()
    assert "internal error" not in err
    return out, err


def printed(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, Any]:
    out, _ = run(capsys, *argv, "--json")
    found: dict[str, Any] = json.loads(out)
    return found


def test_a_page_and_a_file_show_states_chance_influence_and_blind_spots(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    page, file = tmp_path / "r.html", tmp_path / "r.json"
    out, err = run(capsys, str(EXAMPLE), "--group", "source", "-o", str(page), "-o", str(file))
    assert "11 of 12 measured" in out
    assert f"wrote {page}" in err
    html = page.read_text("utf-8")
    for said in ("chance level", "influence", "NO_EVIDENCE", "Blind to", "relation inversion"):
        assert said in html, said
    assert "probab" not in html.lower()
    reading = json.loads(file.read_text("utf-8"))
    assert reading["fingerprint"]
    assert reading["identity"]["embedder"]["revision"] == "1"
    item = reading["per_item"][0]
    fields = {"item", "state", "reason", "value"} | set(item["extra"])
    assert fields >= {"explained", "rank", "n", "chance", "relative", "cutoff_gap", "influence"}


def test_emptied_evidence_leaves_the_others_as_they_are(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows = [json.loads(line) for line in EXAMPLE.read_text("utf-8").splitlines()]
    rows[4]["evidence"] = []
    path = tmp_path / "emptied.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")
    before, after = printed(capsys, str(EXAMPLE)), printed(capsys, str(path))
    assert after["per_item"][4]["state"] == "NO_EVIDENCE"
    del before["per_item"][4], after["per_item"][4]
    assert before["per_item"] == after["per_item"]


def test_another_sensor_has_another_fingerprint(capsys: pytest.CaptureFixture[str]) -> None:
    one = printed(capsys, str(EXAMPLE))
    two = printed(capsys, str(EXAMPLE), "--sensor", "energy.cone")
    three = printed(capsys, str(EXAMPLE), "-P", "rank=cap", "-P", "cap=1")
    assert len({one["fingerprint"], two["fingerprint"], three["fingerprint"]}) == 3
    assert two["sensor"] == "energy.cone"


def test_vectors_are_kept_unless_that_is_not_wanted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    cache = tmp_path / "cache" / "vectors.sqlite"
    run(capsys, str(EXAMPLE), "--no-cache", "--no-progress")
    assert not cache.exists()
    run(capsys, str(EXAMPLE))
    assert cache.exists()
    assert "near, not equal to the bit" in run(capsys, str(EXAMPLE))[0]


def test_full_prints_the_passages_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert "sentence by sentence" not in run(capsys, str(EXAMPLE))[0]
    out, _ = run(capsys, str(EXAMPLE), "--full")
    assert "sentence by sentence" in out
    assert "carries most" in out
    assert "Spectrum of the evidence" in out


def test_evidence_of_one_text_is_split_or_not(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "claims.csv"
    path.write_text("text,context,id,known\nAnn won.,Ann ran. Ann won.,a,yes\n", "utf-8")
    argv = (str(path), "--claim", "text", "--evidence", "context", "--item", "id")
    assert printed(capsys, *argv)["per_item"][0]["extra"]["n"] == 2
    whole = printed(capsys, *argv, "--split", "none", "--label", "known")["per_item"][0]
    assert whole["extra"]["n"] == 1


def test_nothing_measured_exits_five(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "claims.jsonl"
    path.write_text('{"claim": "Ann won.", "evidence": []}\n', "utf-8")
    out, _ = run(capsys, str(path), code=5)
    assert "No claim could be measured: 1 no_evidence." in out


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("--sensor", "enrgy"), "no sensor called 'enrgy'"),
        (("--sensor", "atlas"), "reads no claims with evidence"),
        (("-P", "slack=1"), "'slack' is no parameter of 'energy'"),
        (("--claim", "clam"), "there is no column 'clam'"),
        (("--overlap", "2"), "there is no window"),
        (("-o", "r.docx"), "has no suffix"),
    ],
)
def test_bad_input_is_one_line(
    argv: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = run(capsys, str(EXAMPLE), *argv, code=2)
    assert not out
    assert err.count("\n") == 1
    assert said in err


def test_missing_weights_are_said_with_what_to_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("TRUENESS_CACHE_DIR", "/nonexistent-cache")
    _, err = run(capsys, str(EXAMPLE), "--no-cache", code=2)
    assert err.count("\n") == 1
    assert "trueness doctor --get minilm" in err


def test_no_sensor_of_claims_is_missing_from_the_documents() -> None:
    text = (Path(__file__).parents[2] / "docs/energy.md").read_text("utf-8")
    for name in sensors.SENSORS:
        if name.startswith(("energy", "baseline")):
            assert f"`{name}`" in text, name
