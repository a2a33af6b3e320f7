"""calibrate, gate and replay from the shell: promises, refusals, tampering."""

import json
from pathlib import Path

import pytest

from trueness.cli import main

ROOT = Path(__file__).parents[2]
LABELLED = ROOT / "docs" / "examples" / "labelled.jsonl"
OVERLAP = ("--sensor", "baseline.word_overlap")


@pytest.fixture
def gate_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRUENESS_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "gate.json"
    assert calibrate(LABELLED, path, "--label", "label", "--group", "source") == 0
    return path


def calibrate(source: Path, out: Path, *more: str) -> int:
    return main(["calibrate", str(source), "--budget", "0.05", *OVERLAP, *more, "-o", str(out)])


def rows() -> list[dict[str, object]]:
    return [json.loads(line) for line in LABELLED.read_text("utf-8").splitlines()]


def test_a_gate_decides_and_its_trace_replays(
    gate_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "d.jsonl"
    assert main(["gate", str(LABELLED), "--gate", str(gate_file), "-o", str(trace)]) == 0
    assert "0 rejected" in capsys.readouterr().out
    assert main(["replay", str(trace), "--gate", str(gate_file)]) == 0
    assert "130 decisions derived again, 0 problems" in capsys.readouterr().out
    assert main(["replay", str(gate_file), "--gate", str(gate_file)]) == 2
    assert "is no trace but a gate file. Name what gate wrote" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ({"supported": 1, "unsupported": 0}, ("--positive supported",)),
        (
            {"supported": "yes", "unsupported": "no"},
            ("label of row 1 is 'yes'", "supported or unsupported", "--positive"),
        ),
    ],
)
def test_labels_in_other_words_are_refused_in_the_words_of_the_shell(
    written: dict[str, object],
    words: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = tmp_path / "claims.jsonl"
    said = [{**row, "label": written[str(row["label"])]} for row in rows()]
    said.sort(key=lambda row: str(row["label"]), reverse=True)
    given.write_text("".join(json.dumps(row) + "\n" for row in said), "utf-8")
    assert calibrate(given, tmp_path / "gate.json", "--label", "label", "--group", "source") == 2
    err = capsys.readouterr().err
    assert all(word in err for word in words), err


def test_an_edited_digit_and_a_missing_line_are_found(
    gate_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "d.jsonl"
    main(["gate", str(LABELLED), "--gate", str(gate_file), "-o", str(trace)])
    lines = trace.read_text("utf-8").splitlines(keepends=True)
    edited = json.loads(lines[4])
    edited["value"] = 0.123
    (tmp_path / "edited.jsonl").write_text(
        "".join([*lines[:4], json.dumps(edited) + "\n", *lines[5:]]), "utf-8"
    )
    (tmp_path / "short.jsonl").write_text("".join([*lines[:4], *lines[5:]]), "utf-8")
    capsys.readouterr()
    for name, kind in (("edited", "hash"), ("short", "chain")):
        path = tmp_path / f"{name}.jsonl"
        assert main(["replay", str(path), "--gate", str(gate_file)]) == 1
        assert kind in capsys.readouterr().out


def test_a_claim_without_evidence_is_reviewed_by_its_state(gate_file: Path, tmp_path: Path) -> None:
    new = rows()[:10]
    new[0]["evidence"] = []
    source, trace = tmp_path / "new.jsonl", tmp_path / "d.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in new), "utf-8")
    assert main(["gate", str(source), "--gate", str(gate_file), "-o", str(trace)]) == 0
    first = json.loads(trace.read_text("utf-8").splitlines()[0])
    assert (first["verdict"], first["rule"], first["state"]) == ("review", "state", "NO_EVIDENCE")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--unit", "source_one"), "n: 65, k: 1, guarantee: "),
        (("--unit", "source_worst"), "n: 65, k: 1, guarantee: "),
        (("--unit", "source_one", "--method", "conformal"), "n: 65, k: 3, expected at most: "),
        (("--unit", "grouped_conformal", "--method", "conformal"), "n: 65, expected at most: "),
        (("--error", "accepted_error", "--grid", "0.9,0.8"), "accept above 0.8"),
        (("--reject-budget", "0.05"), "n: 65, k: 1, guarantee: "),
        (("--population", "all"), "n: 65, k: 1, guarantee: "),
    ],
)
def test_every_unit_and_method_says_what_it_promises_and_decides(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.setenv("TRUENESS_CACHE_DIR", str(tmp_path / "cache"))
    made, trace = tmp_path / "gate.json", tmp_path / "d.jsonl"
    assert calibrate(LABELLED, made, "--label", "label", "--group", "source", *options) == 0
    assert said in capsys.readouterr().out
    assert main(["gate", str(LABELLED), "--gate", str(made), "-o", str(trace)]) == 0
    assert main(["replay", str(trace), "--gate", str(made)]) == 0


def test_too_few_twins_and_another_sensor_are_refused(
    gate_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few, twins = tmp_path / "few.jsonl", tmp_path / "twins.jsonl"
    few.write_text("".join(json.dumps(row) + "\n" for row in rows()[:80]), "utf-8")
    paired = [row | {"source": f"page {i // 4}"} for i, row in enumerate(rows())]
    twins.write_text("".join(json.dumps(row) + "\n" for row in paired), "utf-8")
    out = tmp_path / "g.json"
    assert calibrate(few, out, "--label", "label") == 2
    said = capsys.readouterr().err
    assert "59 needed" in said
    assert "0.07" in said
    assert calibrate(twins, out, "--label", "label", "--group", "source") == 2
    assert "source_one" in capsys.readouterr().err
    assert not out.exists()
    reading = tmp_path / "r.json"
    assert main(["ground", str(LABELLED), "--sensor", "baseline.length", "-o", str(reading)]) == 0
    capsys.readouterr()
    assert main(["gate", str(reading), "--gate", str(gate_file)]) == 2
    assert "this threshold was made with" in capsys.readouterr().err


def test_a_calibration_is_a_page_and_the_gate_file_draws_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gate, page, again = tmp_path / "g.json", tmp_path / "g.html", tmp_path / "again.html"
    both = ("--label", "label", "--group", "source", "-o", str(page))
    assert calibrate(LABELLED, gate, *both) == 0
    html = page.read_text("utf-8")
    for said in ("Accepted share by threshold", "guarantee", "budget 0.05", "negatives: as labell"):
        assert said in html, said
    capsys.readouterr()
    title = "Calibration on labelled.jsonl"
    assert main(["report", str(gate), "-o", str(again), "--title", title]) == 0
    assert again.read_text("utf-8") == html
    out = capsys.readouterr().out
    assert "With confidence 0.95, from 65 items" in out.replace("\n", " ")
    assert "k*" in out
    assert main(["report", str(gate), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "trueness.gate/1"
    reading = tmp_path / "r.json"
    assert main(["ground", str(LABELLED), *OVERLAP, "-o", str(reading)]) == 0
    mixed = tmp_path / "mixed.html"
    assert main(["report", str(reading), str(gate), "-o", str(mixed)]) == 0
    assert "Accepted share by threshold" in mixed.read_text("utf-8")
    capsys.readouterr()
    assert main(["report", str(reading), str(gate), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sensor"] == "baseline.word_overlap"
    assert calibrate(LABELLED, gate, *both, "-o", str(tmp_path / "h.json")) == 2
    assert "two gate files were named" in capsys.readouterr().err


def test_a_gate_writes_a_page_beside_its_trace(
    gate_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace, plain, page = tmp_path / "d.jsonl", tmp_path / "plain.jsonl", tmp_path / "d.html"
    argv = ["gate", str(LABELLED), "--gate", str(gate_file)]
    assert main([*argv, "-o", str(trace), "-o", str(page)]) == 0
    assert main([*argv, "-o", str(plain)]) == 0
    assert trace.read_text("utf-8") == plain.read_text("utf-8")
    reading = tmp_path / "r.json"
    assert main(["ground", *argv[1:], "-o", str(reading)]) == 0
    replayed = ["replay", str(trace), "--gate", str(gate_file), "--reading", str(reading)]
    assert main(replayed) == 0
    assert "65 accept" in page.read_text("utf-8")
    capsys.readouterr()
    assert main([*argv, "-o", str(trace), "-o", str(plain)]) == 2
    assert "two traces were named" in capsys.readouterr().err


def test_ground_draws_the_threshold_of_a_gate_and_refuses_a_foreign_one(
    gate_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    page = tmp_path / "r.html"
    argv = ["ground", str(LABELLED), "--gate", str(gate_file)]
    assert main([*argv, "-o", str(page)]) == 0
    assert "65 of 130 items are accepted" in capsys.readouterr().out.replace("\n", " ")
    assert "Decision" in page.read_text("utf-8")
    assert main([*argv, "--sensor", "baseline.length"]) == 2
    assert "the gate is for baseline.word_overlap" in capsys.readouterr().err
    assert main(["ground", str(gate_file), "--gate", str(gate_file)]) == 2
    assert "JSON without rows" in capsys.readouterr().err


def test_a_reading_is_calibrated_with_labels_of_a_file(tmp_path: Path) -> None:
    reading, labels = tmp_path / "r.json", tmp_path / "labels.csv"
    assert main(["ground", str(LABELLED), *OVERLAP, "-o", str(reading)]) == 0
    lines = [f"{row['item']},{row['label']}" for row in rows()]
    labels.write_text("\n".join(["item,label", *lines]) + "\n", "utf-8")
    out = tmp_path / "g.json"
    lines_of = tmp_path / "r.jsonl"
    assert main(["ground", str(LABELLED), *OVERLAP, "-o", str(lines_of)]) == 0
    assert calibrate(lines_of, out, "--labels", str(labels)) == 0
    assert calibrate(reading, out, "--labels", str(labels)) == 0
    assert json.loads(out.read_text("utf-8"))["calibration"]["promise"]["budget"] == 0.05


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--label", "nowhere"), "nowhere"),
        (("--label", "label", "--budget", "2"), "budget"),
        (("--label", "label", "--level", "nan"), "level"),
    ],
)
def test_what_makes_no_sense_is_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    assert calibrate(LABELLED, tmp_path / "g.json", *arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("Error: ")
    assert said in error
    assert "Traceback" not in error


def test_an_unknown_verdict_and_a_failing_one(
    gate_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gate", str(LABELLED), "--gate", str(gate_file), "--fail-on", "acept"]) == 2
    assert "verdicts are accept, review, reject" in capsys.readouterr().err
    assert main(["gate", str(LABELLED), "--gate", str(gate_file), "--fail-on", "review"]) == 1


def test_how_evidence_is_cut_is_said_to_every_verb_alike(tmp_path: Path) -> None:
    joined = [row | {"evidence": " ".join(map(str, row["evidence"]))} for row in rows()]  # type: ignore[call-overload] # a list of texts
    source, out = tmp_path / "joined.jsonl", tmp_path / "g.json"
    source.write_text("".join(json.dumps(row) + "\n" for row in joined), "utf-8")
    for cut in (("--split", "none"), ("--split", "sentences", "--window", "64")):
        assert main(["ground", str(source), *OVERLAP, *cut]) == 0
        assert calibrate(source, out, "--label", "label", *cut) == 0
        assert main(["gate", str(source), "--gate", str(out), *cut]) == 0


def test_a_value_that_gets_neither_better_nor_worse_carries_no_threshold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draws, labels = tmp_path / "d.jsonl", tmp_path / "l.csv"
    lines = [{"item": f"q{i}", "answers": ["a", "a", "ab"[i % 2]]} for i in range(140)]
    draws.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    said = [f"q{i},{'unsupported' if i % 2 else 'supported'}" for i in range(140)]
    labels.write_text("\n".join(["item,label", *said]) + "\n", "utf-8")
    argv = ["calibrate", str(draws), "--sensor", "atlas", "--labels", str(labels)]
    assert main([*argv, "--budget", "0.05", "-o", str(tmp_path / "g.json")]) == 2
    assert "neither better nor worse" in capsys.readouterr().err


def test_no_result_is_written_over_a_file_that_it_is_made_from(
    gate_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claims = tmp_path / "claims.jsonl"
    claims.write_bytes(LABELLED.read_bytes())
    labelled = ("--label", "label", "--group", "source")
    assert calibrate(claims, claims, *labelled) == 2
    assert main(["ground", str(claims), *OVERLAP, "-o", str(claims)]) == 2
    for path in (claims, gate_file):
        before = path.read_bytes()
        assert main(["gate", str(claims), "--gate", str(gate_file), "-o", str(path)]) == 2
        assert "would be overwritten" in capsys.readouterr().err
        assert path.read_bytes() == before
    assert claims.read_bytes() == LABELLED.read_bytes()


def test_a_policy_that_says_a_key_twice_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = tmp_path / "policy.json"
    policy.write_text('{"kind": "value_only", "kind": "axes_first"}', "utf-8")
    labelled = ("--label", "label", "--group", "source", "--policy", str(policy))
    assert calibrate(LABELLED, tmp_path / "gate.json", *labelled) == 2
    assert "twice" in capsys.readouterr().err


def test_a_signed_trace_is_said_to_be_signed_where_the_key_is_missing(
    gate_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key, other, trace = tmp_path / "key", tmp_path / "other", tmp_path / "d.jsonl"
    key.write_text("a secret of some length", "utf-8")
    other.write_text("another secret of length", "utf-8")
    gate, replay = ["gate", str(LABELLED), "--gate", str(gate_file), "-o", str(trace)], [
        "replay", str(trace), "--gate", str(gate_file)]  # fmt: skip
    said = "the trace is signed and its signature was not checked"
    assert main([*gate, "--key", str(key)]) == 0
    capsys.readouterr()
    for given, code in (([], 0), (["--key", str(key)], 0), (["--key", str(other)], 1)):
        assert main([*replay, *given]) == code
        assert (said in capsys.readouterr().out) is (not given)
    assert main([*replay, "--json"]) == 0
    assert said in json.loads(capsys.readouterr().out)["limits"][0]
    assert main(gate) == 0
    capsys.readouterr()
    assert main(replay) == 0
    assert said not in capsys.readouterr().out
    assert main([*replay, "--key", str(key)]) == 1  # a key, and nothing signed
    assert "HMAC" in capsys.readouterr().out


def test_replay_reads_kinds_from_a_table_whose_columns_are_named_as_for_gate(
    gate_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = {"claim": "c", "evidence": "ev", "item": "k"}
    named = [{other.get(n, n): v for n, v in row.items()} | {"kind": "role swap"} for row in rows()]
    table, trace, about = (tmp_path / name for name in ("ren.jsonl", "d.jsonl", "r.jsonl"))
    table.write_text("".join(json.dumps(row) + "\n" for row in named), "utf-8")
    columns = ["--claim", "c", "--evidence", "ev", "--item", "k"]
    gate = ["--gate", str(gate_file)]
    assert main(["gate", str(table), *columns, *gate, "--kind", "kind", "-o", str(trace)]) == 0
    assert main(["ground", str(table), *columns, *OVERLAP, "-o", str(about)]) == 0
    again = ["replay", str(trace), *gate, "--reading", str(about), "--claims", str(table)]
    capsys.readouterr()
    assert main([*again, *columns, "--kind", "kind"]) == 0
    assert "130 decisions derived again, 0 problems" in capsys.readouterr().out
    assert main([*again, *columns]) == 2
    assert "no column of kinds" in capsys.readouterr().err
