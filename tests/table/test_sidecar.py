"""Arrays beside a table: found by key, cut with the rows, and never guessed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trueness.contract.errors import InputError, ShapeError
from trueness.table import AnswerTable, read_answers, write
from trueness.table.sidecar import joined, sidecar_of, with_arrays, write_arrays

ROWS = [
    {"item": f"i{i}", "epoch": e, "condition": c, "answer": "x"}
    for i in range(3)
    for e in (1, 2)
    for c in ("plain", "prose")
]


def states(n: int = len(ROWS)) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.arange(2 * n, dtype=np.float32).reshape(n, 2)


@pytest.fixture
def table() -> AnswerTable:
    return with_arrays(read_answers(ROWS), {"hidden_states": states()})


def test_arrays_come_back_by_key_and_not_by_place(table: AnswerTable, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    mixed = np.random.default_rng(0).permutation(len(table))
    write(table.take(mixed), path)
    assert sidecar_of(path).is_file()
    write(table, tmp_path / "other.jsonl")
    sidecar_of(path).rename(sidecar_of(tmp_path / "other.jsonl"))
    path = tmp_path / "other.jsonl"
    back = read_answers(path)
    np.testing.assert_array_equal(back.arrays["hidden_states"], states())
    assert back.arrays["hidden_states"].dtype == np.float32


def test_rows_without_an_entry_have_nan_and_entries_without_a_row_wait(
    table: AnswerTable, tmp_path: Path
) -> None:
    path = tmp_path / "answers.jsonl"
    write(table.take(np.arange(5)), path)
    write_arrays(table.take(np.arange(2, 12)), path)
    found = read_answers(path).arrays["hidden_states"]
    assert np.isnan(found[:2]).all()
    np.testing.assert_array_equal(found[2:], states()[2:5])


def test_arrays_are_cut_with_the_rows(table: AnswerTable) -> None:
    part = table.only("prose")
    np.testing.assert_array_equal(part.arrays["hidden_states"], states()[1::2])


def test_shards_keep_their_arrays(table: AnswerTable, tmp_path: Path) -> None:
    for name, rows in (("a", np.arange(6)), ("b", np.arange(6, 12))):
        write(table.take(rows), tmp_path / f"{name}.jsonl")
    sidecar_of(tmp_path / "b.jsonl").unlink()
    found = read_answers([tmp_path / "a.jsonl", tmp_path / "b.jsonl"]).arrays["hidden_states"]
    np.testing.assert_array_equal(found[:6], states()[:6])
    assert np.isnan(found[6:]).all()


def test_a_table_that_is_written_again_keeps_no_arrays_of_another(
    table: AnswerTable, tmp_path: Path
) -> None:
    path = tmp_path / "answers.jsonl"
    write(table, path)
    write(read_answers(ROWS), path)
    assert not sidecar_of(path).exists()
    assert not read_answers(path).arrays


def test_a_table_without_a_sidecar_has_none(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    write(read_answers(ROWS), path)
    assert not read_answers(path).arrays
    assert sidecar_of(path).name == "answers.arrays.npz"


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and no more", b"some text"])
def test_a_file_that_holds_no_arrays_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "answers.jsonl"
    write(read_answers(ROWS), path)
    sidecar_of(path).write_bytes(content)
    with pytest.raises(InputError, match=r"answers\.arrays\.npz cannot be read"):
        read_answers(path)


def test_objects_are_never_loaded(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    write(read_answers(ROWS), path)
    objects: dict[str, Any] = {"key.item": np.array([{}], dtype=object)}
    np.savez(sidecar_of(path), **objects)
    with pytest.raises(InputError, match="cannot be read"):
        read_answers(path)


def test_a_key_that_stands_twice_and_entries_that_do_not_fit_are_refused(
    table: AnswerTable, tmp_path: Path
) -> None:
    path = tmp_path / "answers.jsonl"
    write(table, path)
    keys: dict[str, Any] = {"key.item": np.array(["a", "a"]), "key.epoch": np.array([1, 1])}
    keys["key.condition"] = np.array(["c", "c"])
    np.savez(sidecar_of(path), **(keys | {"array.x": np.zeros(2)}))
    with pytest.raises(InputError, match="a key twice"):
        read_answers(path)
    keys["key.epoch"] = np.array([1, 2])
    np.savez(sidecar_of(path), **(keys | {"array.x": np.zeros(3)}))
    with pytest.raises(InputError, match="one entry of numbers a key"):
        read_answers(path)


def test_what_is_not_one_entry_a_row_is_refused(table: AnswerTable) -> None:
    for array in (np.zeros((3, 2)), np.zeros(12, np.int64), np.float64(1.0)):
        with pytest.raises(ShapeError, match="one entry a row"):
            with_arrays(table, {"x": array})  # type: ignore[dict-item] # on purpose
    wide = with_arrays(table, {"hidden_states": np.zeros((12, 5))})
    with pytest.raises(ShapeError, match="one model"):
        joined([table, wide])
