"""``TRUENESS_LOG_DIR``: where ``ask`` and ``study`` write when no ``-o`` is given."""

import json
from pathlib import Path

import pytest

from trueness.cli import main

ASK = ("ask", "--relation-file", "capital", "--model", "scripted:right", "--limit", "2")
QUIET = ("--templates", "0", "--no-cache", "--no-progress")
CAPITAL = Path(__file__).parents[2] / "src/trueness/data/relations/capital.json"
STUDY = ("study", "atlas-intervals", "--limit", "1")


def run(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    assert main(list(argv)) == code
    return capsys.readouterr()


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRUENESS_LOG_DIR", raising=False)


def test_a_table_goes_to_the_folder_and_is_found_there_again(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "logs" / "deep"
    monkeypatch.setenv("TRUENESS_LOG_DIR", str(folder))
    out, _ = run(capsys, *ASK, *QUIET)
    table = folder / "capital-scripted-right.jsonl"
    assert f"2 rows in {table}: 2 asked" in out
    assert len(table.read_text("utf-8").splitlines()) == 3
    _, err = run(capsys, *ASK, *QUIET, code=2)
    assert "Continue it with --resume" in err
    out, _ = run(capsys, *ASK, *QUIET, "--resume", "--json")
    assert json.loads(out)["n_kept"] == 2
    run(capsys, *ASK, *QUIET, "-o", "named.jsonl")
    assert (tmp_path / "named.jsonl").is_file()
    assert sorted(p.name for p in folder.iterdir()) == [table.name, f"{table.name}.cost"]


def test_files_and_names_with_slashes_give_names_of_files(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRUENESS_LOG_DIR", "logs")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "my relation.json").write_bytes(CAPITAL.read_bytes())
    for relation in ("in/my relation.json", "pararel/P36"):
        run(capsys, *ASK[:1], "--relation-file", relation, *ASK[3:], *QUIET)
    names = sorted(p.name for p in (tmp_path / "logs").glob("*.jsonl"))
    assert names == ["my-relation-scripted-right.jsonl", "pararel-P36-scripted-right.jsonl"]


def test_a_result_goes_to_the_folder_and_a_named_one_does_not(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRUENESS_LOG_DIR", str(tmp_path / "logs"))
    _, err = run(capsys, *STUDY)
    assert f"wrote {tmp_path / 'logs' / 'atlas-intervals.partial.json'}" in err
    assert not (tmp_path / "results").exists()
    run(capsys, *STUDY, "-o", str(tmp_path / "own.json"))
    assert len(list((tmp_path / "logs").iterdir())) == 1


@pytest.mark.parametrize("argv", [(*ASK, *QUIET), STUDY])
@pytest.mark.parametrize(
    ("given", "said"),
    [("file", "which is no folder; a folder is wanted"), ("file/below", "lies below file, which")],
)
def test_what_is_no_folder_is_refused_before_anything_is_asked(
    argv: tuple[str, ...],
    given: str,
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("file").write_text("mine", "utf-8")
    monkeypatch.setenv("TRUENESS_LOG_DIR", given)
    out, err = run(capsys, *argv, code=2)
    assert not out
    assert err.startswith(f"Error: TRUENESS_LOG_DIR is '{given}', which ")
    assert said in err
    assert "with -o" in err
    assert err.count("\n") == 1
    assert [p.name for p in Path().iterdir()] == ["file"]


def test_without_a_file_and_without_a_folder_nothing_is_asked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for given in (None, ""):
        if given is not None:
            monkeypatch.setenv("TRUENESS_LOG_DIR", given)
        _, err = run(capsys, *ASK, *QUIET, code=2)
        assert "give -o FILE, or set TRUENESS_LOG_DIR to a folder" in err
    assert not list(tmp_path.iterdir())
