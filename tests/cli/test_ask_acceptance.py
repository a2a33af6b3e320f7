"""Asking, certifying and choosing from the command line, as a user does it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from trueness import api
from trueness.backends import weights
from trueness.table import bundled_relations

COMMAND = [sys.executable, "-m", "trueness"]
CONDITIONS = "none,the:128,prose:128"

RELATIONS: dict[str, dict[str, Any]] = {
    "injective": {
        "entities": ["Vorland", "Quessa", "Tarn Isles", "Obrek"],
        "golds": ["Vorstad", "Quel Mira", "Port Tarn", "Obrekhaven"],
        "inverse_templates": ["{a} is the main town of"],
    },
    "many_to_one": {
        "entities": ["Vorland", "Quessa", "Tarn Isles", "Obrek"],
        "golds": ["Norrica", "Norrica", "Sudria", "Sudria"],
        "capacities": {"Norrica": 2, "Sudria": 2},
    },
    "increasing": {
        "entities": ["floor one", "floor two", "floor three", "floor four"],
        "golds": ["12", "25", "31", "47"],
        "values": {"type": "integer", "strict": True, "low": 1, "high": 99},
    },
    "involution": {
        "entities": ["blarg", "smeet", "drone", "plick"],
        "golds": ["smeet", "blarg", "plick", "drone"],
        "identity": {"string": "never", "first_token": "never"},
    },
    "set_valued": {
        "entities": ["Vorland", "Quessa", "Tarn Isles", "Obrek"],
        "golds": [["Vori", "Quessan"], ["Quessan"], ["Tarnish"], ["Obreki"]],
        "capacities": {"Vori": 1, "Quessan": 2, "Tarnish": 1, "Obreki": 1},
        "rows_per_entity": [2, 1, 1, 1],
    },
}
"""One of each kind, about things that do not exist."""


def start(*argv: str, cwd: Path, **env: str) -> "subprocess.Popen[str]":
    given = {**os.environ, "TRUENESS_CACHE_DIR": str(cwd / "cache"), **env}
    return subprocess.Popen(
        [*COMMAND, *argv],
        cwd=cwd,
        env=given,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def run(*argv: str, cwd: Path, code: int = 0, **env: str) -> tuple[str, str]:
    with start(*argv, cwd=cwd, **env) as child:
        out, err = child.communicate(timeout=300)
    assert child.returncode == code, (out, err)
    assert "Traceback" not in err
    return out, err


def ask(cwd: Path, script: str, *more: str, code: int = 0, out: str = "t.jsonl") -> tuple[str, str]:
    argv = ("ask", "--relation-file", "capital", "--model", f"scripted:{script}", "-o", out, *more)
    return run(*argv, cwd=cwd, code=code)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()[1:]]


def as_set(path: Path) -> set[str]:
    return {json.dumps(row, sort_keys=True) for row in rows(path)}


def write(cwd: Path, kind: str, **more: object) -> Path:
    path = cwd / f"{kind}.json"
    known = {"schema": 1, "name": kind, "kind": kind, "templates": ["For {e} it is", "{e}:"]}
    path.write_text(json.dumps({**known, "identity": {}, **RELATIONS[kind], **more}))
    return path


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_run_killed_halfway_and_resumed_equals_an_uninterrupted_one(tmp_path: Path) -> None:
    common = ("--conditions", CONDITIONS, "--no-cache", "--batch-size", "4")
    ask(tmp_path, "collapse", *common, out="whole.jsonl")
    path, slow = tmp_path / "t.jsonl", ("-M", "seconds=0.02")
    argv = ("ask", "--relation-file", "capital.json", "--model", "scripted:collapse", "-o")
    with start(*argv, "t.jsonl", *common, *slow, cwd=tmp_path) as child:
        deadline = time.monotonic() + 60
        while child.poll() is None and time.monotonic() < deadline:
            if path.exists() and path.read_bytes().count(b"\n") > 150:
                break
            time.sleep(0.005)
        child.send_signal(signal.SIGKILL)
        child.communicate()
    held = path.read_bytes().count(b"\n") - 1
    assert 0 < held < 300
    out, _ = run(*argv, "t.jsonl", *common, "--resume", "--json", cwd=tmp_path)
    summary = json.loads(out)
    assert as_set(path) == as_set(tmp_path / "whole.jsonl")
    assert len(rows(path)) == summary["n_rows"] == 300
    assert summary["n_kept"] + summary["n_asked"] == 300


def test_the_collapsed_condition_has_at_least_nineteen_of_twenty_wrong(tmp_path: Path) -> None:
    ask(tmp_path, "collapse", "--conditions", CONDITIONS, "--templates", "0")
    out, _ = run("certify", "t.jsonl", "--relation-file", "capital.json", cwd=tmp_path)
    assert "At least 19 of these 20 answers are wrong" in out
    out, _ = run("certify", "t.jsonl", "--relation-file", "capital", "--json", cwd=tmp_path)
    readings = json.loads(out)
    assert list(readings) == CONDITIONS.split(",")
    assert [r["state"] for r in readings.values()] == ["SILENT", "MEASURED", "SILENT"]
    assert readings["the:128"]["details"]["certified_errors"] == 19


@pytest.mark.parametrize(("script", "word"), [("right-padding", "padding"), ("reversed", "order")])
def test_a_faulty_batcher_is_named_and_no_row_is_written(
    script: str, word: str, tmp_path: Path
) -> None:
    _, err = ask(tmp_path, script, code=2)
    assert word in err
    assert "in the batch" in err
    assert rows(tmp_path / "t.jsonl") == []


def test_choosing_prints_every_score_and_declines_clearly(tmp_path: Path) -> None:
    ask(tmp_path, "collapse", "--conditions", CONDITIONS)
    argv = ("choose", "t.jsonl", "--relation-file", "capital.json")
    out, _ = run(*argv, cwd=tmp_path)
    assert out.startswith("Declined")
    assert all(f"\n  {name} " in out for name in CONDITIONS.split(","))
    decision = json.loads(run(*argv, "--json", cwd=tmp_path)[0])
    assert decision["taken"] is None


def test_an_echo_never_wins(tmp_path: Path) -> None:
    ask(tmp_path, "collapse", "--templates", "0", "--conditions", "none,the:8")
    path = tmp_path / "t.jsonl"
    lines = path.read_text("utf-8").splitlines()
    asked = [json.loads(line) for line in lines[1:]]
    for row in asked:
        name = row["entity"] if row["condition"] == "the:8" else "Paris"
        row["completion"], row["answer"] = f" {name}", name.casefold()
    path.write_text("\n".join([lines[0], *map(json.dumps, asked)]) + "\n", "utf-8")
    argv = ("choose", "t.jsonl", "--relation-file", "capital", "--json")
    assert json.loads(run(*argv, cwd=tmp_path)[0])["taken"] is None


def test_five_draws_are_five_requests_and_come_back_from_the_cache(tmp_path: Path) -> None:
    common = ("--epochs", "5", "--temperature", "1", "--limit", "3", "--templates", "0", "--json")
    first = json.loads(ask(tmp_path, "right", *common, out="a.jsonl")[0])
    second = json.loads(ask(tmp_path, "right", *common, out="b.jsonl")[0])
    assert (first["n_asked"], first["n_cached"]) == (15, 0)
    assert (second["n_asked"], second["n_cached"]) == (0, 15)
    said = [
        {(r["item"], r["epoch"]): r["completion"] for r in rows(tmp_path / f"{name}.jsonl")}
        for name in "ab"
    ]
    assert said[0] == said[1]
    assert len(said[0]) == 15


@pytest.mark.parametrize("kind", RELATIONS)
def test_a_relation_never_seen_before_runs_through_every_verb(kind: str, tmp_path: Path) -> None:
    file = str(write(tmp_path, kind))
    for script in ("right", "collapse"):
        model = ("--model", f"scripted:{script}")
        run(
            "ask",
            "--relation-file",
            file,
            *model,
            "--conditions",
            "none,the:8",
            "-o",
            f"{script}.jsonl",
            cwd=tmp_path,
        )
    declared = ("--relation-file", file)
    right = json.loads(run("certify", "right.jsonl", *declared, "--json", cwd=tmp_path)[0])
    assert {r["state"] for r in right.values()} == {"SILENT"}
    argv = ("certify", "collapse.jsonl", *declared, "--json", "--kept", "kept.csv")
    fallen = json.loads(run(*argv, cwd=tmp_path)[0])
    assert fallen["none"]["state"] == "SILENT"
    details = fallen["the:8"]["details"]
    assert 0 < details["certified_errors"] <= details["true_errors"]
    assert 8 <= len((tmp_path / "kept.csv").read_text().splitlines()) - 1 < 16
    out, _ = run("choose", "collapse.jsonl", *declared, cwd=tmp_path)
    assert out.startswith("Declined")


@pytest.mark.parametrize("observable", ["string", "first_token"])
@pytest.mark.parametrize("name", bundled_relations())
def test_right_answers_to_a_bundled_relation_are_never_called_wrong(
    name: str, observable: str, tmp_path: Path
) -> None:
    relation = api.find_relation(name)
    for inverse in (False, True) if relation.inverse_templates else (False,):
        out = tmp_path / f"{inverse}.jsonl"
        api.ask(
            relation,
            model="scripted:right",
            out=out,
            cache=False,
            inverse=inverse,
            observable=observable,
        )
        (reading,) = api.certify_each(out, relation_file=name).values()
        assert reading.state == "SILENT", reading.reason


def test_first_tokens_that_collapse_are_certified_below_the_true_errors(tmp_path: Path) -> None:
    more = ("--observe", "first_token", "--templates", "0", "--conditions", "none,the:8")
    ask(tmp_path, "collapse", *more)
    argv = ("certify", "t.jsonl", "--relation-file", "capital", "--only", "the:8", "--json")
    details = json.loads(run(*argv, cwd=tmp_path)[0])["details"]
    assert 15 <= details["certified_errors"] <= details["true_errors"]


def test_a_restless_model_is_unstable(tmp_path: Path) -> None:
    ask(tmp_path, "restless", "--templates", "0")
    assert all(row["nondeterministic"] for row in rows(tmp_path / "t.jsonl"))
    out, _ = run("certify", "t.jsonl", "--relation-file", "capital", cwd=tmp_path, code=5)
    assert "nstable" in out


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--model", "nobody"), "no model is called"),
        (("--model", "scripted:nobody"), "Choose one of"),
        (("--conditions", "poem:3"), "kinds are"),
        (("--conditions", "prose"), "KIND:L"),
        (("--conditions", "prose:99999"), "passage holds"),
        (("--conditions", "prose:-1"), "from 0"),
        (("--templates", "99"), "choose from 0"),
        (("--relation-file", "nowhere.json"), "does not exist"),
        (("--relation-file", "nowhere"), "no bundled relation"),
        (("--observe", "mood"), "not known"),
        (("-o", "/dev/null/t.jsonl"), ""),
        (("-o", "/proc/here/t.jsonl"), ""),
    ],
)
def test_what_cannot_be_asked_is_one_line_on_stderr(
    more: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    out, err = ask(tmp_path, "right", *more, code=2)
    assert words in err
    assert err.startswith("Error: ")
    assert err.count("\n") == 1
    assert out == ""


def test_a_template_without_its_slot_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path, "injective", templates=["The main town is"])
    _, err = run("ask", "--relation-file", str(file), "-o", "t.jsonl", cwd=tmp_path, code=2)
    assert "{e}" in err


def test_a_file_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    ask(tmp_path, "right")
    before = (tmp_path / "t.jsonl").read_bytes()
    _, err = ask(tmp_path, "right", code=2)
    assert "--resume" in err or "resume" in err
    assert (tmp_path / "t.jsonl").read_bytes() == before


def test_resuming_under_another_protocol_names_what_differs(tmp_path: Path) -> None:
    ask(tmp_path, "right", "--limit", "3")
    _, err = ask(tmp_path, "right", "--limit", "3", "--resume", "--max-tokens", "5", code=2)
    assert "max_tokens" in err or "decoding" in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_said(tmp_path: Path) -> None:
    _, err = ask(tmp_path, "right", code=2, out="/dev/full")
    assert "/dev/full" in err


@pytest.mark.parametrize("name", ["t.html", "t.csv", "T.PARQUET", "t.junit.xml", "t.md"])
def test_a_table_is_not_written_under_the_name_of_another_form(tmp_path: Path, name: str) -> None:
    _, err = ask(tmp_path, "right", code=2, out=name)
    assert "answers are written as JSON lines" in err
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to a child")
def test_an_interrupt_says_how_to_go_on(tmp_path: Path) -> None:
    argv = ("ask", "--relation-file", "capital", "--model", "scripted:right", "-o", "t.jsonl")
    path = tmp_path / "t.jsonl"
    with start(*argv, "-M", "seconds=0.05", cwd=tmp_path) as child:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (path.exists() and len(rows(path)) > 8):
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "--resume" in err
    assert "Traceback" not in err
    run(*argv, "-M", "seconds=0", "--resume", cwd=tmp_path)
    assert len(rows(path)) == 100


def test_the_sensor_can_be_named(tmp_path: Path) -> None:
    ask(tmp_path, "right")
    out, _ = run("measure", "orbits", "t.jsonl", cwd=tmp_path)
    assert "not a pass" in out


def test_the_doctor_tells_what_is_missing(tmp_path: Path) -> None:
    out, _ = run("doctor", cwd=tmp_path)
    assert "trueness doctor --get embedded" in out
    _, err = run("doctor", "--get", "nothing", cwd=tmp_path, code=2)
    assert "Known: embedded" in err


@pytest.mark.real
@pytest.mark.slow
def test_a_damaged_model_is_fetched_again(tmp_path: Path) -> None:
    there = weights.path_of("embedded")
    copy = tmp_path / "cache" / "weights" / there.name
    copy.parent.mkdir(parents=True)
    shutil.copy(there, copy)
    os.truncate(copy, 1000)
    out, _ = run("doctor", cwd=tmp_path)
    assert "not usable" in out
    run("doctor", "--get", "embedded", cwd=tmp_path)
    assert copy.stat().st_size == there.stat().st_size


@pytest.mark.real
@pytest.mark.slow
def test_the_embedded_model_counts_and_shares_its_prefix(tmp_path: Path) -> None:
    argv = ("ask", "--relation-file", "capital", "--templates", "0", "-o", "t.jsonl")
    cache = str(weights.cache_dir())
    flags = ("--conditions", "none,the:128", "--no-cache")
    out, _ = run(*argv, *flags, cwd=tmp_path, TRUENESS_CACHE_DIR=cache)
    assert "the:128 (128 tokens in front): self-check: 5 prompts asked again alone" in out
    assert "difference 0" in out
    assert "times faster a question" in out
    assert "switched off" not in out
    found = run("certify", "t.jsonl", "--relation-file", "capital", "--json", cwd=tmp_path)[0]
    assert json.loads(found)["the:128"]["details"]["certified_errors"] >= 18
