"""Every verb: help, exit codes, errors in one line, strict JSON, files by suffix."""

import errno
import io
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import trueness
import trueness.table
from trueness import api, report, sensors
from trueness.backends import weights
from trueness.cli import main
from trueness.contract import (
    Decision,
    Direction,
    Flagged,
    ItemReading,
    ItemVerdict,
    Reading,
    State,
    Verdict,
)
from trueness.contract import blocks as b
from trueness.contract.errors import InputError

HERE = __file__
VERBS = ("ask", "certify", "choose", "measure", "report", "export", "demo", "doctor")


def reading(state: State = State.MEASURED, value: float = 0.95) -> Reading:
    measured = state is State.MEASURED
    return Reading(
        sensor="made.up",
        direction=Direction.HIGHER_IS_WORSE,
        state=state,
        reason=None if measured else "because",
        value=value if measured else None,
        low=value if measured else None,
        interval_kind="proved lower bound" if measured else None,
        n_measured=2,
        n_items=2,
        per_item=tuple(ItemReading(n, State.SILENT, "shared") for n in ("Chad", "Peru")),
        flagged=Flagged(("Chad",), 0.5, 0.5),
        details={"certified_errors": 1, "n_answered": 2},
        blocks=(b.Statement(f"Said in state {state}.", "neutral", ("Declare an answer set.",)),),
    )


def decision(state: State = State.MEASURED) -> Decision:
    return Decision(
        action="choose",
        state=state,
        reason="strictly below the baseline",
        verdicts=(ItemVerdict("none", Verdict.DECLINE), ItemVerdict("prose", Verdict.TAKE)),
        taken="prose" if state is State.MEASURED else None,
    )


class Fakes:
    """What the verbs call, replaced; keeps what it was called with."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.calls: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {}
        self.answers: dict[str, Any] = {
            "read": api.read([{"entity": "Peru", "answer": "Lima"}]),
            "certify_each": {"": reading()},
            "measure": reading(),
            "compare": reading(),
            "choose": decision(),
            "ask": SimpleNamespace(
                lines=lambda: ("40 rows",), to_dict=lambda: {"n_rows": 40}, measured_nothing=False
            ),
            "kept": ["row"],
        }
        for name in self.answers:
            patch.setattr(api, name, self._call(name), raising=False)
        patch.setattr(trueness.table, "write", self._write, raising=False)
        patch.setattr(
            trueness.table, "read_declaration_file", lambda path: f"read {path}", raising=False
        )

    def _call(self, name: str) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            self.calls[name] = (args, kwargs)
            answer = self.answers[name]
            if isinstance(answer, BaseException):
                raise answer
            return answer

        return called

    def _write(self, table: Any, path: Path) -> None:
        path.write_text(str(table))


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> Fakes:
    return Fakes(monkeypatch)


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    path.write_text("entity,answer\nChad,Paris\nPeru,Paris\n")
    return path


def process(*argv: str, **more: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "import sys; from trueness.cli import main; sys.exit(main())"]
    return subprocess.run([*command, *argv], text=True, capture_output=True, check=False, **more)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_a_sentence_for_each_flag(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([verb, "--help"]) == 0
    assert "Usage: trueness " + verb in capsys.readouterr().out
    assert main([verb, "-h"]) == 0


def test_help_lists_the_verbs_and_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"\n  {verb}" in out for verb in VERBS)
    assert "130 interrupted" in out
    assert main(["--version"]) == 0


def test_no_arguments_show_the_help_and_are_a_usage_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 2
    assert "Usage: trueness" in capsys.readouterr().out


def test_help_loads_neither_numpy_nor_duckdb_nor_rich() -> None:
    code = (
        "import sys; from trueness.cli import main; main(['--help']); "
        "print({'numpy', 'duckdb', 'rich', 'jinja2', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("set()")


def test_help_takes_at_most_ten_times_an_empty_program() -> None:
    def seconds(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start

    help_code = "from trueness.cli import main; main(['--help'])"
    pairs = [(seconds("pass"), seconds(help_code)) for _ in range(7)]
    assert min(h for _, h in pairs) <= 10 * min(p for p, _ in pairs)


@pytest.mark.parametrize(
    "argv",
    [
        ["nope"],
        ["certify"],
        ["certify", "missing.csv"],
        ["certify", HERE, "--nope"],
        ["certify", HERE, "--slack", "-1"],
        ["certify", HERE, "--max-error-floor", "nan"],
        ["certify", HERE, "--max-error-floor", "2"],
        ["certify", HERE, "-o", "page.pdf"],
        ["certify", HERE, "--kind", "other"],
        ["measure", "nothing-of-that-name", HERE],
        ["report"],
        ["report", HERE],
        ["export", HERE],
        ["ask", "-o", "t.jsonl"],
        ["ask", "--relation-file", HERE, "-o", "t.jsonl", "-M", "x"],
        ["ask", "--relation-file", HERE, "-o", "t.jsonl", "--templates", "a"],
        ["doctor", "--get", "nothing-of-that-name"],
    ],
)
def test_a_usage_error_is_one_line_and_exit_2(
    argv: list[str], fakes: Fakes, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 2
    seen = capsys.readouterr()
    assert seen.out == ""
    assert re.fullmatch(r"Error: [^\n]+\n", seen.err)
    assert not fakes.calls


def test_certify_prints_the_statement_and_what_to_do_next(
    fakes: Fakes, answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["certify", str(answers), "--entity", "e", "--slack", "0"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Said in state MEASURED.")
    assert "→ Declare an answer set." in out
    assert fakes.calls["read"] == ((answers,), {"entity": "e"})
    assert fakes.calls["certify_each"][1] == {"slack": 0}


def test_declarations_reach_the_sensor_and_only_those_typed(fakes: Fakes, answers: Path) -> None:
    name = str(answers)
    argv = ["certify", name, "--relation", "injective", "--admissible", name, "--kind", "exact"]
    assert main([*argv, "--identity", "never", "--filler", name]) == 0
    assert fakes.calls["certify_each"][1] == {
        "relation": "injective",
        "admissible": f"read {name}",
        "kind": "exact",
        "identity": "never",
        "filler": f"read {name}",
    }
    assert main(["certify", name, "--identity", "Chad, Peru"]) == 0
    assert fakes.calls["certify_each"][1] == {"identity": ["Chad", "Peru"]}


@pytest.mark.parametrize(
    ("states", "assertion", "code"),
    [
        ([State.MEASURED], None, 0),
        ([State.SILENT], None, 0),
        ([State.NO_EVIDENCE], None, 5),
        ([State.NOT_APPLICABLE], None, 5),
        ([State.DEGENERATE], None, 5),
        ([State.UNSTABLE], None, 5),
        ([State.MEASURED, State.NO_EVIDENCE], None, 0),
        ([State.UNSTABLE, State.NO_EVIDENCE], None, 5),
        ([State.MEASURED], "0.1", 1),
        ([State.MEASURED], "0.95", 0),
        ([State.SILENT], "0.1", 0),
        ([State.NO_EVIDENCE], "0.1", 5),
        ([State.SILENT, State.NO_EVIDENCE], "0.1", 5),
        ([State.MEASURED, State.NO_EVIDENCE], "0.1", 1),
    ],
)
def test_exit_codes_follow_the_states_and_the_assertion(
    fakes: Fakes, answers: Path, states: list[State], assertion: str | None, code: int
) -> None:
    fakes.answers["certify_each"] = {f"c{i}": reading(s) for i, s in enumerate(states)}
    more = ["--max-error-floor", assertion] if assertion else []
    assert main(["certify", str(answers), *more]) == code


def test_a_silent_reading_says_that_it_is_no_pass(
    fakes: Fakes, answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fakes.answers["certify_each"] = {"": reading(State.SILENT)}
    assert main(["certify", str(answers), "--max-error-floor", "0.5"]) == 0
    seen = capsys.readouterr()
    assert "not a pass" in seen.out
    assert "not a pass" in seen.err


def test_json_is_strict_and_alone_on_standard_output(
    fakes: Fakes, answers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["certify", str(answers), "--json", "-o", str(tmp_path / "r.html")]) == 0
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert found["state"] == "MEASURED"
    fakes.answers["certify_each"] = {"none": reading(), "b": reading(State.SILENT)}
    assert main(["certify", str(answers), "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)) == ["none", "b"]
    assert main(["choose", str(answers), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["taken"] == "prose"
    assert main(["doctor", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["packages"]["numpy"]


def test_each_suffix_of_o_writes_its_file_in_a_folder_that_is_made(
    fakes: Fakes, answers: Path, tmp_path: Path
) -> None:
    names = ["a.html", "a.md", "a.json", "a.jsonl", "a.junit.xml", "kept.csv", "kept.parquet"]
    folder = tmp_path / "new" / "folder"
    more = [part for name in names for part in ("-o", str(folder / name))]
    assert main(["certify", str(answers), *more, "--kept", str(folder / "kept.jsonl")]) == 0
    assert sorted(p.name for p in folder.iterdir()) == sorted([*names, "kept.jsonl"])
    assert (folder / "kept.csv").read_text() == "['row']"
    assert fakes.calls["kept"][0][1] == {"": fakes.answers["certify_each"][""]}


def test_junit_holds_the_failed_assertion(fakes: Fakes, answers: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.junit.xml"
    argv = ["certify", str(answers), "--max-error-floor", "0.1", "-o", str(path)]
    assert main(argv) == 1
    assert 'failures="1"' in path.read_text()
    assert fakes.calls


def test_only_takes_conditions_by_name(
    fakes: Fakes, answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fakes.answers["certify_each"] = {"none": reading(), "b": reading(State.SILENT)}
    assert main(["certify", str(answers), "--only", "b"]) == 0
    assert capsys.readouterr().out.startswith("Said in state SILENT.")
    assert main(["certify", str(answers), "--only", "c"]) == 2
    assert "no condition is called 'c'; the table holds 'none', 'b'" in capsys.readouterr().err


def test_several_conditions_are_compared_first(
    fakes: Fakes, answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fakes.answers["certify_each"] = {"none": reading(), "b": reading(State.SILENT)}
    assert main(["certify", str(answers)]) == 0
    out = capsys.readouterr().out
    assert out.index("Side by side") < out.index("[none]") < out.index("[b]")
    assert "Proved wrong" in out


def test_choose_prints_the_decision_and_writes_both(
    fakes: Fakes, answers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "c.json"
    argv = ["choose", str(answers), "--accept-label-free", "--baseline", "none", "-o", str(path)]
    assert main(argv) == 0
    assert capsys.readouterr().out.startswith("Taken: prose\nstrictly below")
    assert fakes.calls["choose"][1] == {"accept_label_free": True, "baseline": "none"}
    assert report.load(path).decisions[0].taken == "prose"
    fakes.answers["choose"] = decision(State.NOT_APPLICABLE)
    assert main(["choose", str(answers)]) == 5


def test_measure_takes_parameters_and_a_second_file(
    fakes: Fakes, answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sensors, "find", lambda name: name)
    name = str(answers)
    assert main(["measure", "orbits", name, "-P", "slack=2", "-P", "kind=exact"]) == 0
    assert fakes.calls["measure"][1] == {"slack": 2, "kind": "exact"}
    assert main(["measure", "orbits", name, name]) == 0
    assert "compare" in fakes.calls
    assert main(["measure", "orbits", name, "-P", "slack"]) == 2


def test_report_turns_written_readings_into_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = report.write({"none": reading(), "b": reading(State.SILENT)}, tmp_path / "one.json")
    two = report.write(reading(State.NO_EVIDENCE), tmp_path / "two.jsonl")
    page = tmp_path / "page.html"
    argv = ["report", str(one), str(two), "-o", str(page), "--show", "n_answered"]
    assert main(argv) == 0
    assert page.read_text().count("<article") == 3
    assert "n answered" in capsys.readouterr().out
    assert main(["report", str(two)]) == 5


def test_export_writes_each_file(fakes: Fakes, answers: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    assert main(["export", str(answers), "-o", str(path), "--epoch", "n"]) == 0
    assert path.read_text() == str(fakes.answers["read"])
    assert fakes.calls["read"][1] == {"epoch": "n"}


def test_ask_hands_over_what_was_typed(
    fakes: Fakes, answers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "t.jsonl"
    argv = ["ask", "--relation-file", str(answers), "--model", "scripted:right", "-o", str(out)]
    more = ["-M", "slots=2", "--conditions", "none,the:8", "-n", "3", "--templates", "0,2"]
    assert main([*argv, *more, "--resume", "--no-progress", "--no-cache"]) == 0
    args, kwargs = fakes.calls["ask"]
    assert args == (str(answers),)
    assert kwargs == {
        "model": "scripted:right",
        "out": out,
        "progress": None,
        "options": {"slots": "2"},
        "conditions": "none,the:8",
        "epochs": 3,
        "templates": (0, 2),
        "cache": False,
        "resume": True,
    }
    assert capsys.readouterr().out == "40 rows\n"
    assert main([*argv, "--json", "--inverse"]) == 0
    assert json.loads(capsys.readouterr().out) == {"n_rows": 40}
    assert fakes.calls["ask"][1]["inverse"] is True


def test_flags_about_a_server_are_options_of_the_model(
    fakes: Fakes, answers: Path, tmp_path: Path
) -> None:
    argv = [
        "ask",
        "--relation-file",
        str(answers),
        "-o",
        str(tmp_path / "t.jsonl"),
        "-M",
        "api=chat",
    ]
    flags = ["--model-base-url", "http://a/v1", "-j", "8", "--max-retries", "0", "--timeout", "2.5"]
    assert main([*argv, "--model", "openai:x", *flags]) == 0
    assert fakes.calls["ask"][1]["options"] == {
        "api": "chat",
        "base_url": "http://a/v1",
        "max_connections": "8",
        "max_retries": "0",
        "timeout": "2.5",
    }
    assert main([*argv, "-j", "0"]) == 2
    assert main([*argv, "-M", "timeout=1", "--timeout", "2"]) == 2
    fakes.answers["ask"].measured_nothing = True
    assert main(argv) == 5


def test_an_interrupt_is_130_and_says_how_to_go_on(
    fakes: Fakes, answers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fakes.answers["ask"] = KeyboardInterrupt()
    out = tmp_path / "with space.jsonl"
    assert main(["ask", "--relation-file", str(answers), "-o", str(out)]) == 130
    err = capsys.readouterr().err
    assert f"trueness ask --relation-file {answers} -o '{out}' --resume" in err
    fakes.answers["read"] = KeyboardInterrupt()
    assert main(["certify", str(answers)]) == 130


def test_a_defect_is_3_with_one_line_and_a_traceback_on_request(
    fakes: Fakes,
    answers: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fakes.answers["read"] = ZeroDivisionError("two\nlines")
    assert main(["certify", str(answers)]) == 3
    err = capsys.readouterr().err
    assert re.fullmatch(r"Error: internal error[^\n]*ZeroDivisionError: two lines[^\n]*\n", err)
    monkeypatch.setenv("TRUENESS_DEBUG", "1")
    assert main(["certify", str(answers)]) == 3
    assert "Traceback" in capsys.readouterr().err


def test_an_input_error_is_2_and_keeps_its_words_without_control_characters(
    fakes: Fakes, answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fakes.answers["read"] = InputError("row 3 holds '\x1b[31m'\nand \ud800; remove it.")
    assert main(["certify", str(answers)]) == 2
    assert capsys.readouterr().err == "Error: row 3 holds '\\u001b[31m' and \\ud800; remove it.\n"


def test_a_file_that_cannot_be_written_is_named(
    fakes: Fakes, answers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert main(["certify", str(answers), "-o", str(blocked / "r.json")]) == 2
    assert re.fullmatch(r"Error: [^\n]*file[^\n]*\n", capsys.readouterr().err)
    assert fakes.calls


@pytest.mark.skipif(not os.access("/dev/full", os.W_OK), reason="no /dev/full here")
def test_a_full_disk_is_an_error_and_not_silence() -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-c", "from trueness.cli import main; raise SystemExit(main())"]
        done = subprocess.run(
            [*command, "doctor"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert re.fullmatch(r"Error: standard output: no space left[^\n]*\n", done.stderr)


@pytest.mark.parametrize("second", ["d.json", "d.md", "d.jsonl", "d.html", "d.junit.xml"])
def test_a_disk_that_fills_names_the_file_that_did_not_fit(
    second: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table, fitted = tmp_path / "x.csv", tmp_path / "c.json"
    table.write_text("entity,answer\na,x\nb,x\n", "utf-8")
    whole = Path.replace

    def replace(draft: Path, target: Path) -> Path:
        if target.name == second:
            raise OSError(errno.ENOSPC, "No space left on device")
        return whole(draft, target)

    monkeypatch.setattr(Path, "replace", replace)
    out = tmp_path / second
    argv = ["certify", str(table), "--relation", "injective", "-o", str(fitted), "-o", str(out)]
    assert main(argv) == 2
    assert f"Error: {out}: no space left on device" in capsys.readouterr().err
    assert fitted.exists()


def test_a_reader_that_goes_away_is_quiet() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "w") as closed:
        command = [sys.executable, "-c", "from trueness.cli import main; raise SystemExit(main())"]
        done = subprocess.run(
            [*command, "doctor"], stdout=closed, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 0
    assert done.stderr == ""


def test_output_is_utf_8_whatever_the_locale(tmp_path: Path) -> None:
    path = report.write(reading(), tmp_path / "r.json")
    plain = {
        "PATH": os.environ["PATH"],
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONIOENCODING": "ascii",
    }
    done = process("report", str(path), env=plain, encoding="utf-8")
    assert done.returncode == 0
    assert "· 2 of 2 measured" in done.stdout


def test_demo_tells_its_story_writes_the_page_and_ends_with_the_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done = SimpleNamespace(
        readings={"none": reading(), "b": reading()},
        agreement=reading(),
        claims=reading(),
        decisions={"capital": decision()},
        table=b.Table("Six ways", ("condition",), (("none",),), 1),
        claims_table=b.Table("A dozen", ("claim",), (("tides",),), 1),
        lines=("a line",),
    )
    job = SimpleNamespace(run=lambda tell, seed: done if callable(tell) and seed == 4 else None)
    monkeypatch.setattr(trueness, "demo", job, raising=False)
    monkeypatch.setitem(sys.modules, "trueness.demo", job)
    page = tmp_path / "out" / "demo.html"
    assert main(["demo", "--seed", "4", "-o", str(page)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("A model is asked")
    assert "Six ways" in out
    assert "A dozen" in out
    assert f"capital: {decision().summary()}" in out
    assert "Decision" in page.read_text()
    assert "a dozen claims and their evidence" in page.read_text()


def test_doctor_names_the_command_that_gets_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRUENESS_CACHE_DIR", str(tmp_path))
    assert main(["doctor"]) == 0
    assert "Run: trueness doctor --get embedded" in capsys.readouterr().out


def test_doctor_fetches_what_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(weights, "fetch", lambda name: Path("/there") / name)
    assert main(["doctor", "--get", "embedded"]) == 0
    assert "whole and checked: /there/embedded" in capsys.readouterr().out


def test_standard_output_without_a_file_number_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO()))
    assert main(["doctor"]) == 0
