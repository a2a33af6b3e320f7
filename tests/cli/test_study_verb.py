"""``trueness study`` from the command line."""

import json
from pathlib import Path

import pytest

from trueness.cli import main
from trueness.study.declarations import declared_studies, declared_study
from trueness.study.results import read_result

RESULTS = Path(__file__).parents[2] / "results"


def run(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    assert main(["study", *argv]) == code
    return capsys.readouterr()


def test_the_list_shows_every_study_with_needs_and_estimate(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out, _ = run(capsys, "--list")
    for name in declared_studies():
        assert f"{name}: {declared_study(name).question}" in out
        needs = ", ".join(declared_study(name).requires) or "nothing"
        assert f"{declared_study(name).question}\n  needs {needs}; about " in out
    rows = json.loads(run(capsys, "--list", "--json")[0])
    assert [row["id"] for row in rows] == list(declared_studies())


def test_a_dry_run_says_what_would_be_done_and_writes_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    out, _ = run(capsys, "atlas-intervals", "--dry-run", "--limit", "10")
    assert "10 repeats of each row, 0 requests" in out
    plan = json.loads(run(capsys, "atlas-intervals", "--dry-run", "--json")[0])
    assert plan["repeats"] > 10
    assert not list(tmp_path.iterdir())


def _interrupted(*_given: object, **_more: object) -> None:
    raise KeyboardInterrupt


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "trueness.study.carrying_out.carry_out", lambda *_, **_k: pytest.fail("it ran")
    )
    (tmp_path / "file").write_text("kept")
    for place in ("file/r.json", "file/deeper/r.json"):
        _, err = run(capsys, "atlas-intervals", "-o", str(tmp_path / place), code=2)
        assert "Name a file that can be read or written." in err
    monkeypatch.setattr("trueness.study.carrying_out.carry_out", _interrupted)
    run(capsys, "atlas-intervals", "-o", str(tmp_path / "new" / "deep" / "r.json"), code=130)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "kept"


def test_an_interrupted_study_says_that_it_goes_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trueness.study.carrying_out.carry_out", _interrupted)
    path = tmp_path / "r.json"
    _, err = run(capsys, "atlas-intervals", "-o", str(path), code=130)
    assert "answers so far are in the request cache. Run it again to go on." in err
    assert not path.exists()


def test_a_limited_study_writes_a_partial_result_beside_the_whole_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    out, err = run(capsys, "atlas-intervals", "--limit", "1", "--seed", "7")
    result = read_result(tmp_path / "results" / "atlas-intervals.partial.json")
    assert result.partial
    assert result.seeds == (7,)
    assert out.startswith("unresolved (not citable, partial")
    assert "coverage" in out
    assert "null_25" in err
    assert not (tmp_path / "results" / "atlas-intervals.json").exists()


def test_what_is_printed_as_json_is_what_is_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "deep" / "proof.json"
    out, _ = run(capsys, "calibration-proof", "--limit", "20", "--json", "-o", str(path))
    assert json.loads(out) == json.loads(path.read_text("utf-8"))
    assert len(read_result(path).rows) == 105


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ((), "either"),
        (("atlas-intervals", "--list"), "either"),
        (("no-such",), "known are "),
        (("atlas-intervals", "--limit", "0"), "--limit"),
        (("atlas-intervals", "--seed", "-1"), "--seed"),
        (("atlas-intervals", "-o", "result.txt"), "known are .html"),
    ],
)
def test_a_wrong_call_is_one_clear_error(
    argv: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = run(capsys, *argv, code=2)
    assert not out
    assert err.startswith("Error: ")
    assert said in err
    assert err.count("\n") == 1


def test_a_study_whose_model_is_not_there_is_exit_5_and_writes_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRUENESS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    _, err = run(capsys, "C1", "--limit", "30", code=5)
    assert "doctor --get minilm" in err
    assert not (tmp_path / "results").exists()


def test_a_result_whose_outcome_was_edited_is_not_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = json.loads((RESULTS / "detector.json").read_text("utf-8"))
    path = tmp_path / "edited.json"
    for change in ("outcome", "estimate"):
        edited = json.loads(json.dumps(record))
        if change == "outcome":
            edited["reading"]["outcome"] = "refuted"
        else:
            edited["contrasts"][0]["estimate"] = "abc"
        path.write_text(json.dumps(edited), "utf-8")
        assert main(["report", str(path)]) == 2
        out, err = capsys.readouterr()
        assert not out
        assert "a result file is never edited by hand" in err
