import errno
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from trueness.contract.errors import FingerprintMismatch, InputError
from trueness.contract.serial import Json
from trueness.table import AnswerJournal, Protocol, read_answers, read_journal

VECTORS = [
    v
    for v in json.loads((Path(__file__).parents[1] / "golden" / "asking.json").read_text("utf-8"))
    if v["kind"] == "resume"
]


def row(item: str, epoch: int = 1, outcome: str = "answered", **more: Json) -> dict[str, Json]:
    return {"item": item, "epoch": epoch, "condition": "none", "outcome": outcome, **more}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_golden_journals(vector: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(vector["input"]["journal"], "utf-8")
    state, expected = read_journal(path), vector["expected"]
    asked = [tuple(key) for key in vector["input"]["asked"]]
    assert (state.rows_kept, state.torn_lines) == (expected["rows_kept"], expected["torn_lines"])
    left = [list(k) for k in asked if not state.settled(k)]
    assert left == expected["still_to_ask"]
    retried = [list(k) for k in asked if not state.settled(k, retry_errors=True)]
    assert retried == expected["still_to_ask_with_retry_errors"]


def test_a_journal_cut_at_every_byte_loses_no_whole_row(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with AnswerJournal(path, protocols={"none": Protocol({"model": "m"})}) as journal:
        journal.append([row("a", answer="é\ud800")])
        journal.append([row("b"), row("c", outcome="error")])
    data = path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(data) if byte == ord("\n")]
    for cut in range(len(data) + 1):
        path.write_bytes(data[:cut])
        with AnswerJournal(path, resume=True) as journal:
            whole = sum(end - 1 <= cut for end in ends)  # a line without its end is whole too
            assert journal.state.rows_kept == max(0, whole - 1)
            assert bool(journal.notes) == bool(journal.state.torn_lines)
            journal.append([row("z")])
        after = read_journal(path)
        assert (after.torn_lines, after.rows_kept) == (0, max(0, whole - 1) + 1)
        assert after.header is not None


def test_the_last_row_of_a_key_wins(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with AnswerJournal(path) as journal:
        journal.append([row("a", outcome="error", reason="timeout"), row("b", answer="x")])
        journal.append([row("a", answer="y")])
    assert read_journal(path).errors == frozenset()
    table = read_answers(path)
    assert dict(zip(table.item.values(), table.answer.values(), strict=True)) == {
        "a": "y",
        "b": "x",
    }


def test_an_existing_journal_is_only_continued_on_request(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with AnswerJournal(path) as journal:
        journal.append([row("a")])
    with pytest.raises(InputError, match=r"exists and holds 1 rows.*--resume"):
        AnswerJournal(path)


def test_another_protocol_is_refused_with_the_differing_fields(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    AnswerJournal(path, protocols={"none": Protocol({"model": "m", "seed": 1})}).close()
    with pytest.raises(FingerprintMismatch, match="differs in seed"):
        AnswerJournal(path, protocols={"none": Protocol({"model": "m", "seed": 2})}, resume=True)


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with AnswerJournal(path), pytest.raises(InputError, match="written by another process"):
        AnswerJournal(path, resume=True)
    AnswerJournal(path, resume=True).close()


def test_rows_survive_a_killed_process(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    code = (
        "import os, sys\nfrom trueness.table import AnswerJournal\n"
        "j = AnswerJournal(sys.argv[1])\n"
        "j.append([{'item': 'a', 'epoch': 1, 'condition': 'none', 'outcome': 'error'}])\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    with AnswerJournal(path, resume=True) as journal:
        assert journal.state.errors == {("a", 1, "none")}


def test_a_broken_line_before_the_last_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"item": "a", "epoch": 1}\n{"item"\n{"item": "b", "epoch": 1}\n', "utf-8")
    with pytest.raises(InputError, match="line 2: no JSON"):
        read_journal(path)
    path.write_text('{"name": "a"}\n', "utf-8")
    with pytest.raises(InputError, match="line 1: no item, epoch and condition"):
        read_journal(path)


def test_a_full_disk_and_a_closed_folder_are_clear_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="/dev/full cannot be written"):
        AnswerJournal("/dev/full")
    with pytest.raises(InputError, match="cannot be written"):
        AnswerJournal(tmp_path / "absent" / "t.jsonl")


def test_rows_are_in_the_file_at_once_and_synced_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, syncs = tmp_path / "t.jsonl", []

    def sync(number: int) -> None:
        syncs.append(number)
        time.sleep(0.002)

    monkeypatch.setattr("os.fsync", sync)
    with AnswerJournal(path) as journal:
        for i in range(300):
            journal.append([row(f"e{i}")])
            assert read_journal(path).rows_kept == i + 1
        n = len(syncs)
        assert 1 <= n < 100
        journal.append([row("last")])
        journal.sync()
        assert journal.n_unsynced == 0
        n = len(syncs)
        journal.sync()
        assert len(syncs) == n  # nothing is left to sync
        journal.append([row("after")])
        left = journal.n_unsynced
    assert left == 1
    assert len(syncs) == n + 1  # closing syncs


def test_what_could_not_be_synced_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.jsonl"

    def fail(_: int) -> None:
        raise OSError(errno.EIO, "the disk is broken")

    with AnswerJournal(path) as journal:
        journal.append([row("a")])
        journal.sync()
        monkeypatch.setattr("os.fsync", fail)
        with pytest.raises(InputError, match="the disk is broken"):
            _append_and_sync(journal, "b")
        assert read_journal(path).done == {("a", 1, "none")}
        monkeypatch.undo()
        journal.append([row("c")])
    assert read_journal(path).done == {("a", 1, "none"), ("c", 1, "none")}


def test_a_file_that_is_removed_meanwhile_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with AnswerJournal(path) as journal:
        journal.append([row("a")])
        path.unlink()
        with pytest.raises(InputError, match="it was removed while") as caught:
            _append_and_sync(journal, "b")
    assert "make room" not in str(caught.value)
    assert "Its rows are gone with it; ask again into a new file." in str(caught.value)


def _append_and_sync(journal: AnswerJournal, item: str) -> None:
    journal.append([row(item)])
    journal.sync()


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files")
def test_a_row_that_does_not_fit_is_taken_back_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    code = (
        "import resource, sys\nfrom trueness.table import AnswerJournal\n"
        "j = AnswerJournal(sys.argv[1])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
        "for i in range(1000):\n"
        "    j.append([{'item': f'e{i}', 'epoch': 1, 'condition': 'none', 'answer': 'x' * 150}])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], check=False, capture_output=True, text=True
    )
    assert "InputError" in done.stderr
    assert "cannot be written: File too large" in done.stderr
    assert "make room and go on with --resume" in done.stderr
    state = read_journal(path)
    assert state.torn_lines == 0
    assert state.rows_kept > 5
