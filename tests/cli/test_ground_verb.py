"""``trueness ground`` from the command line."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from trueness import demo, sensors
from trueness.api import means
from trueness.backends.embedders import CallableEmbedder
from trueness.backends.entailment import Entailment
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
    monkeypatch.setattr(means, "open_embedder", lambda *_, **__: made)


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


def labelled(tmp_path: Path) -> Path:
    """Sixty claims that their passage says word by word, sixty that it does not."""
    path = tmp_path / "labelled.jsonl"
    words = ["Ann won a cup.", "Bob lost his hat.", "Carol sold a boat.", "Dan met a judge."]
    rows = [
        {
            "item": f"i{k}",
            "source": f"s{k}",
            "claim": f"{words[k % 4]} No {k}.",
            "evidence": [f"{words[k % 4]} No {k}." if k < 60 else f"Fog {k}, zzz.", f"Quiet {k}."],
            "label": "supported" if k < 60 else "unsupported",
            "shared": ["The same for all."],
        }
        for k in range(120)
    ]
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")
    return path


def test_of_many_claims_the_first_are_printed_a_line_each_and_the_files_hold_all(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    claims = labelled(tmp_path)
    out, _ = run(capsys, str(claims))
    rows = [line for line in out.splitlines() if line.split()[:1] and "measured" in line[60:]]
    assert len([line for line in rows if line.strip().startswith("i")]) == 10
    assert "10 of 120 rows shown" in out
    said = "110 more claims are not shown; -o FILE.jsonl or -o FILE.json writes all of them"
    assert said in " ".join(out.split())
    assert "most support" not in out
    page, lines, whole = (tmp_path / name for name in ("r.html", "r.jsonl", "r.json"))
    written = [part for path in (page, lines, whole) for part in ("-o", str(path))]
    out, _ = run(capsys, str(claims), *written)
    told = f"110 more claims are not shown; all of them are in {lines} and {whole}."
    assert told.replace(" ", "") in "".join(out.split())
    assert len(lines.read_text("utf-8").splitlines()) == 121
    assert len(json.loads(whole.read_text("utf-8"))["per_item"]) == 120
    assert "most support" in page.read_text("utf-8")
    out, _ = run(capsys, str(claims), "--full")
    assert "most support" in out
    assert "not shown" not in run(capsys, str(EXAMPLE))[0]


def test_a_page_with_a_gate_shows_each_sentence_on_its_side_of_the_threshold(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data, gate, page = labelled(tmp_path), tmp_path / "g.json", tmp_path / "r.html"
    assert main(["calibrate", str(data), "--label", "label", "--budget", "0.05",
                 "-o", str(gate)]) == 0  # fmt: skip
    out, _ = run(capsys, str(data), "--gate", str(gate), "-o", str(page), "--full")
    html = page.read_text("utf-8")
    for said in ("▲ beyond the gate&#39;s threshold", "reviewed: risk", "carries most", "step-"):
        assert said in html, said
    assert "▲ beyond the gate's threshold" in out
    one = data.with_name("one.jsonl")
    one.write_text(data.read_text("utf-8").splitlines()[0], "utf-8")
    out, _ = run(capsys, str(one), "--gate", str(gate), "--full")
    assert "▽ within the gate's threshold" in out
    assert "accepted: risk" in out
    _, err = run(capsys, str(data), "--gate", str(gate), "-P", "rank=cap", "-P", "cap=1", code=2)
    assert "this threshold was made with" in err


def test_passages_are_selected_as_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    first = printed(capsys, str(EXAMPLE), "--select", "first(1)")
    assert {i["extra"]["n_selected"] for i in first["per_item"] if i["value"] is not None} == {1}
    assert first["identity"]["rules"]["selection"] == "first"
    top = printed(capsys, str(EXAMPLE), "--select", "top:2")
    assert {i["extra"]["chance_basis"] for i in top["per_item"]} == {"selected", None}
    assert {i["extra"]["null_quantile"] for i in top["per_item"]} == {None}
    window = printed(capsys, str(EXAMPLE), "--select", "window(64, 1)")
    assert (window["identity"]["cuts"]["window"], window["identity"]["cuts"]["overlap"]) == (64, 1)
    assert len({r["fingerprint"] for r in (first, top, window)}) == 3


class Judge:
    """Entails what is written word by word, contradicts the rest."""

    identity: Any = {"id": "words", "revision": "1"}  # noqa: RUF012 - what a protocol asks for
    versions: Any = {"words": "1"}  # noqa: RUF012 - as above

    def probabilities(self, premise: str, hypothesis: str) -> Entailment:
        said = float(premise == hypothesis)
        return Entailment(said, 0.0, 1.0 - said)


def test_an_entailer_is_asked_and_a_gate_holds_for_it_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[tuple[str, Any]] = []

    def opened(name: str, *, labels: Any) -> Judge:
        asked.append((name, labels))
        return Judge()

    monkeypatch.setattr(means, "open_entailer", opened)
    judge = ("--entailer", "cross-encoder:x", "--entailer-labels", "entailment=0,neutral=1")
    data, gate = labelled(tmp_path), tmp_path / "g.json"
    out, _ = run(capsys, str(data), *judge, "--full")
    assert asked[0] == ("cross-encoder:x", {"entailment": 0, "neutral": 1})
    assert "contradicted at most 1.00, by the entailer" in out
    made = ["calibrate", str(data), "--label", "label", "--budget", "0.05", "-o", str(gate)]
    assert main([*made, *judge]) == 0
    fingerprint = json.loads(gate.read_text("utf-8"))["calibration"]["fingerprint"]
    assert fingerprint["entailer.id"] == "words"
    assert main(["gate", str(data), "--gate", str(gate), *judge]) == 0
    capsys.readouterr()
    assert main(["gate", str(data), "--gate", str(gate)]) == 2
    assert "entailer" in capsys.readouterr().err


def test_an_entailment_model_without_its_library_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    _, err = run(capsys, str(EXAMPLE), "--entailer", "cross-encoder:x/y", code=2)
    assert err.count("\n") == 1
    assert "pip install 'trueness[local]'" in err


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
        (("--select", "best(2)"), "the selection 'best(2)' is not known"),
        (("--select", "top(16"), "the selection 'top(16' is not known"),
        (("--select", "top:16)"), "the selection 'top:16)' is not known"),
        (("--select", "window(8,9)"), "give a smaller overlap"),
        (("--select", "top(0)"), "selected is 0; give a whole number from 1"),
        (("--select", "top(2)", "-P", "selected=3"), "say it once"),
        (("--select", "window(9)", "--window", "8"), "say it once"),
        (("--entailer", "words"), "no entailer is called 'words'; known is cross-encoder:"),
        (("--entailer-labels", "entailment"), "give each parameter once, as name=value"),
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
        of_claims = getattr(sensors.find(name), "TABLE", "answers") == "evidence"
        if of_claims and name.startswith(("energy", "baseline")):
            assert f"`{name}`" in text, name


def test_the_demonstration_grounds_a_dozen_claims_and_says_when_it_cannot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []
    reading, table = demo.grounded(told.append)
    assert reading is not None
    assert table is not None
    assert (reading.n_items, reading.n_measured) == (12, 11)
    kinds = {str(row[1]) for row in table.rows}
    assert {"no evidence", "swapped roles", "another subject", "leaves most out"} <= kinds
    monkeypatch.undo()
    monkeypatch.setenv("TRUENESS_CACHE_DIR", "/nonexistent-cache")
    assert demo.grounded(told.append) == (None, None)
    assert "trueness doctor --get minilm" in told[-1]


def test_only_the_first_claims_are_taken_when_that_is_wanted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = printed(capsys, str(EXAMPLE), "--limit", "3")
    assert found["n_items"] == 3
    assert "Only the first 3 of 12 claims were taken." in json.dumps(found["blocks"])
    assert found["per_item"] == printed(capsys, str(EXAMPLE))["per_item"][:3]


def test_unsupported_claims_are_made_of_supported_ones(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data, gate = labelled(tmp_path), tmp_path / "g.json"
    made = ["calibrate", str(data), "--label", "label", "--budget", "0.05", "-o", str(gate)]
    made += ["--group", "source", "--unit", "source_one"]
    for how, said in (("nearest", "nearest centroid, K = 1"), ("random", "random foreign")):
        assert main([*made, "--unsupported", how]) == 0
        out = " ".join(capsys.readouterr().out.split())
        assert f"negatives: {said}" in out
        assert "own source excluded" in out
        assert "n_labelled 120, n_unsupported 60, n_supported 60" in out
    assert main(["gate", str(data), "--gate", str(gate)]) == 0
    capsys.readouterr()
    refused: list[tuple[list[str], str]] = [
        (["--limit", "1"], "largest source"),
        (["--sensor", "baseline.word_overlap"], "reads no vectors"),
        (["--labels", str(data)], "without a file of labels"),
        (["--sensor", "contrast"], "its own contradictions"),
        (["--evidence", "shared"], "no claim has foreign evidence"),
    ]
    for more, said in refused:
        assert main([*made, "--unsupported", "nearest", *more]) == 2
        err = capsys.readouterr().err
        assert err.count("\n") == 1, err
        assert said in err, err


def test_a_gate_in_a_reading_sends_blind_kinds_to_review_as_the_gate_does(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data, gate, trace = labelled(tmp_path), tmp_path / "g.json", tmp_path / "t.jsonl"
    assert main(["calibrate", str(data), "--label", "label", "--budget", "0.05",
                 "-o", str(gate)]) == 0  # fmt: skip
    rows = [json.loads(line) for line in data.read_text("utf-8").splitlines()[:3]]
    kinds = [("role_swap", None), ("role_swap", "passed"), ("summary", None)]
    rows = [r | {"what": k, "checked": c} for r, (k, c) in zip(rows, kinds, strict=True)]
    source = tmp_path / "kinds.jsonl"
    source.write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")
    argv = [str(source), "--gate", str(gate)]
    routes = ["--kind", "what", "--relation-check", "checked"]
    assert "3 of 3 items are accepted" in _folded(run(capsys, *argv)[0])
    out, _ = run(capsys, *argv, *routes, "--full")
    assert "2 of 3 items are accepted" in _folded(out)
    assert "no threshold catches this kind: role_swap" in _folded(out)
    assert main(["gate", *argv, *routes, "-o", str(trace)]) == 0
    verdicts = [json.loads(line).get("verdict") for line in trace.read_text("utf-8").splitlines()]
    assert verdicts[:3] == ["review", "accept", "accept"]
    _, err = run(capsys, str(source), "--kind", "what", code=2)
    assert "name one: --gate FILE" in err
    _, err = run(capsys, *argv, "--relation-check", "checked", code=2)
    assert "name the column of kinds as well" in err


def test_a_corpus_that_no_sensor_reads_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("One text.\nAnother text.\n", "utf-8")
    _, err = run(capsys, str(EXAMPLE), "--corpus", str(corpus), code=2)
    assert "corpus is given, and the sensor 'energy' does not read it" in err
    run(capsys, str(EXAMPLE), "--corpus", str(corpus), "--sensor", "energy.corpus")


def _folded(text: str) -> str:
    return " ".join(text.split())
