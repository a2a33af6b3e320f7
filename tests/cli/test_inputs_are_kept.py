"""No verb writes its result over a file that it reads, by whatever name the file goes."""

import json
from pathlib import Path

import pytest

from trueness.cli import main
from trueness.cli.app import verbs
from trueness.cli.verb import Verb

ROWS = [
    {"item": f"q{i}", "entity": f"e{i}", "answer": "ab"[i % 2], "epoch": e}
    for i in range(6)
    for e in range(3)
]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    return path


@pytest.mark.parametrize(
    "argv",
    [
        ["certify", "{}", "--relation", "injective", "-o", "{}"],
        ["certify", "{}", "--kept", "{}"],
        ["certify", "{}", "-o", "{link}"],
        ["certify", "{}", "-o", "{hard}"],
        ["certify", "{}", "-o", "{dotted}"],
        ["certify", "{other}", "--filler", "{}", "-o", "{}"],
        ["certify", "{other}", "--identity", "{}", "-o", "{}"],
        ["choose", "{}", "-o", "{}"],
        ["compare", "{other}", "{}", "-o", "{}"],
        ["export", "{}", "-o", "{}"],
        ["report", "{}", "-o", "{}"],
        ["measure", "atlas", "{}", "-o", "{}"],
        ["import", "{}", "-o", "{}"],
        ["import", "{folder}", "-o", "{}"],
        ["ask", "--relation-file", "{}", "-o", "{}"],
        ["ask", "--relation-file", "capital", "--model", "replay:{}", "-o", "{}"],
        ["study", "C1", "--data", "{}", "-o", "{}"],
        ["study", "C1", "--data", "{rows}", "-o", "{result}"],
    ],
)
def test_a_file_that_is_read_is_not_written_over(
    argv: list[str], table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link, hard, other = tmp_path / "s.jsonl", tmp_path / "h.jsonl", tmp_path / "o.jsonl"
    link.symlink_to(table)
    hard.hardlink_to(table)
    rows = tmp_path / "r.table.jsonl"
    for path in (other, rows):
        path.write_bytes(table.read_bytes())
    names = {
        "link": link,
        "hard": hard,
        "other": other,
        "dotted": tmp_path / "no" / ".." / "x.jsonl",
        "folder": tmp_path,
        "rows": rows,
        "result": tmp_path / "r.json",
    }
    (tmp_path / "no").mkdir()
    before = table.read_bytes()
    assert main([part.format(table, **names) for part in argv]) == 2
    assert "is read here and would be overwritten" in capsys.readouterr().err
    assert table.read_bytes() == before == rows.read_bytes()


def test_every_verb_checks_its_files() -> None:
    assert {name for name, verb in verbs.commands.items() if not isinstance(verb, Verb)} == set()


def test_another_file_is_written_over_as_ever(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "y.csv"
    for _ in range(2):
        assert main(["export", str(table), "-o", str(out)]) == 0
