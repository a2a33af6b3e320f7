"""Arrays that grow beside a table: whole after a cut, one entry for all draws, never guessed."""

import errno
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from trueness.contract.errors import InputError
from trueness.table import read_answers, write
from trueness.table.growing import ALL_DRAWS, GrowingArrays, growing_of, read_growing
from trueness.table.sidecar import sidecar_of

ROWS = [
    {"item": f"i{i}", "epoch": e, "condition": "none", "answer": "x"}
    for i in range(3)
    for e in (1, 2)
]
KEYS = [(f"i{i}", ALL_DRAWS, "none") for i in range(3)]
STATES = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "answers.jsonl"
    write(read_answers(ROWS), found)
    return found


def grown(path: Path, *, begun: bool = False, rows: slice = slice(None)) -> None:
    arrays = GrowingArrays(path, begun=begun)
    for key, state in list(zip(KEYS, STATES, strict=True))[rows]:
        arrays.append("hidden_states", [key], state[None])
    arrays.close()


def test_an_entry_for_all_draws_stands_beside_each_of_them(path: Path) -> None:
    grown(path)
    found = read_answers(path).arrays["hidden_states"]
    np.testing.assert_array_equal(found, np.repeat(STATES, 2, axis=0))


def test_the_entry_of_a_draw_counts_before_that_of_all(path: Path) -> None:
    grown(path)
    arrays = GrowingArrays(path, begun=True)
    arrays.append("hidden_states", [("i1", 2, "none")], -STATES[:1])
    arrays.close()
    found = read_answers(path).arrays["hidden_states"]
    np.testing.assert_array_equal(found[3], -STATES[0])
    np.testing.assert_array_equal(found[2], STATES[1])


@pytest.mark.parametrize("cut", range(1, 300, 23))
def test_a_batch_that_was_cut_off_counts_for_nothing_and_is_written_again(
    path: Path, cut: int
) -> None:
    grown(path)
    file = growing_of(path)
    whole = file.read_bytes()
    file.write_bytes(whole[:-cut])
    keys, entries = read_growing(file)["hidden_states"]
    np.testing.assert_array_equal(entries, STATES[: len(keys)])
    assert len(keys) < 3
    grown(path, begun=True, rows=slice(len(keys), None))
    assert file.read_bytes() == whole


def test_a_new_table_keeps_no_arrays_of_one_that_is_gone(path: Path) -> None:
    grown(path)
    grown(path, rows=slice(1))
    assert read_growing(growing_of(path))["hidden_states"][0] == KEYS[:1]


def test_a_table_that_is_written_whole_takes_its_arrays_along(path: Path) -> None:
    grown(path)
    table = read_answers(path)
    write(table, path)
    assert sidecar_of(path).is_file()
    assert not growing_of(path).exists()
    np.testing.assert_array_equal(
        read_answers(path).arrays["hidden_states"], np.repeat(STATES, 2, axis=0)
    )


def test_what_is_no_array_is_named_and_not_dropped(path: Path) -> None:
    grown(path)
    file = growing_of(path)
    file.write_bytes(file.read_bytes() + b"something else")
    with pytest.raises(InputError, match="holds no arrays from byte"):
        read_answers(path)
    with pytest.raises(InputError, match="holds no arrays from byte"):
        GrowingArrays(path, begun=True)


def test_entries_of_two_widths_are_refused(path: Path) -> None:
    grown(path)
    arrays = GrowingArrays(path, begun=True)
    arrays.append("hidden_states", [("i0", 1, "none")], np.zeros((1, 5), np.float32))
    arrays.close()
    with pytest.raises(InputError, match="different shapes"):
        read_answers(path)


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        GrowingArrays(tmp_path / "gone" / "answers.jsonl", begun=False)


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files")
def test_a_batch_that_does_not_fit_is_taken_back_whole(path: Path) -> None:
    code = (
        "import resource, sys\nimport numpy as np\n"
        "from trueness.table.growing import GrowingArrays\n"
        "arrays = GrowingArrays(sys.argv[1], begun=False)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
        "for i in range(100):\n"
        "    arrays.append('hidden_states', [(f'i{i}', 0, 'none')], np.ones((1, 50)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], check=False, capture_output=True, text=True
    )
    assert done.stderr.splitlines()[-1].startswith("trueness.contract.errors.InputError")
    assert "cannot be written: File too large" in done.stderr
    keys, entries = read_growing(growing_of(path))["hidden_states"]
    assert len(keys) == len(entries) > 1
    size = growing_of(path).stat().st_size
    arrays = GrowingArrays(path, begun=True)
    arrays.close()
    assert growing_of(path).stat().st_size == size  # nothing was torn


@pytest.mark.parametrize("why", [OSError(errno.EIO, "the disk is broken"), KeyboardInterrupt()])
def test_a_batch_that_is_not_on_the_disk_is_taken_back(
    path: Path, monkeypatch: pytest.MonkeyPatch, why: BaseException
) -> None:
    arrays = GrowingArrays(path, begun=False)
    arrays.append("hidden_states", KEYS[:1], STATES[:1])
    whole = arrays.path.read_bytes()

    def fail(_: int) -> None:
        raise why

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises((InputError, KeyboardInterrupt)):
        arrays.append("hidden_states", KEYS[1:2], STATES[1:2])
    monkeypatch.undo()
    assert arrays.path.read_bytes() == whole
    assert arrays.keys == set(KEYS[:1])
    arrays.append("hidden_states", KEYS[2:], STATES[2:])
    arrays.close()
    assert read_growing(arrays.path)["hidden_states"][0] == [KEYS[0], KEYS[2]]
