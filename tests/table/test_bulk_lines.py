import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.table import AnswerTable, bulk_words, read_answers, reading, stored
from trueness.table.bulk_lines import LineSource, read_bulk_lines

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
KEY = st.one_of(st.sampled_from(["x", "y", 'q"', "a\\b", "é", ""]), TEXT, st.integers(-5, 10**19))
CELL = st.one_of(st.none(), KEY)
ODD = st.sampled_from([1.5, 0.0, True, float("nan"), [], ["x"], {"a": 1}, "\ud800", -(10**20)])
LONG = st.fixed_dictionaries(
    {"item": KEY, "answer": CELL},
    optional={
        "target": st.one_of(CELL, st.lists(CELL, max_size=2)),
        "condition": st.sampled_from(["none", "the:1", None]),
        "logprob": st.one_of(st.none(), st.floats(-9, 0)),
        "observer": st.lists(st.floats(-9, 9), min_size=1, max_size=2),
        "score": st.one_of(st.booleans(), CELL, st.lists(KEY, max_size=2)),
        "group": CELL,
        "unknown": CELL,
    },
)
WIDE = st.fixed_dictionaries(
    {"item": KEY, "answers": st.lists(CELL, min_size=1, max_size=3)},
    optional={"greedy": CELL, "condition": st.sampled_from(["a", "none"]), "status": CELL},
)
HEADERS = st.sampled_from(
    [None, {"protocol": {"model": "m", "note": "n"}}, {"trueness": 1, "extractor": "e@1"}]
)


def said(table: AnswerTable) -> dict[str, Any]:
    """Everything a table says, whatever its words are numbered like."""
    names = ("item", "condition", "answer", "reason", "completion", "target", "group", "observer")
    facts: dict[str, Any] = {}
    for name in names:
        column = getattr(table, name)
        facts[name] = None if column is None else column.values()
    facts |= {f"extra {n}": c.values() for n, c in sorted(table.extras.items())}
    facts["epoch"], facts["outcome"] = table.epoch.tolist(), table.outcome.tolist()
    facts["row"], facts["notes"] = table.row_number.tolist(), table.notes
    facts["logprob"] = None if table.logprob is None else np.nan_to_num(table.logprob, nan=9)
    facts["logprob"] = None if table.logprob is None else facts["logprob"].tolist()
    facts["protocols"], facts["planned"] = dict(table.protocols), dict(table.planned)
    facts["numbered"], facts["extractor"] = table.epochs_numbered, table.extractor
    return facts


@contextmanager
def bytes_from(size: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "BULK_BYTES", size)
        yield


def both(path: Path) -> tuple[object, object]:
    """What the two readers make of a file: facts, or the words of the refusal."""
    found: list[object] = []
    for size in (0, 10**12):
        with bytes_from(size):
            try:
                found.append(said(read_answers(path)))
            except InputError as error:
                found.append(str(error))
    return found[0], found[1]


def written(folder: str | Path, rows: list[object], header: object = None) -> Path:
    path = Path(folder) / "t.jsonl"
    lines = [json.dumps(r) for r in ([] if header is None else [header]) + rows]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.lists(LONG, min_size=2, max_size=5), st.lists(WIDE, min_size=2, max_size=5)),
       HEADERS)  # fmt: skip
def test_large_and_small_files_say_the_same(rows: list[object], header: object) -> None:
    with tempfile.TemporaryDirectory() as folder:
        fast, slow = both(written(folder, rows, header))
    assert fast == slow


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(LONG, WIDE), min_size=2, max_size=4), ODD, st.data())
def test_odd_content_is_the_same_fault_in_files_of_any_size(
    rows: list[dict[str, Any]], odd: object, data: st.DataObject
) -> None:
    row = data.draw(st.sampled_from(rows))
    row[data.draw(st.sampled_from(sorted(row)))] = odd
    with tempfile.TemporaryDirectory() as folder:
        fast, slow = both(written(folder, list(rows)))
    assert fast == slow


@pytest.mark.parametrize(
    "content",
    [
        b'{"item": "a", "answer": 4.10}\n{"item": "b", "answer": "4.1"}\n',
        b'{"item": "a", "answer": -0}\n{"item": "b", "answer": 0}\n',
        b'{"item": "a", "answer": "x", "n": NaN}\n{"item": "b", "answer": "y"}\n',
        b'{"item": "a", "answer": "x"}\n{"item": "b", "answer": NaN}\n',
        b'{"item": "a", "answer": "x"}\n{"item": "b", "answer": "caf\xe9"}\n',
        b'{"item": "a", "answer": "x"}\n\n{"item": "b", "answer": "y"}\n{"item": "c", "ans',
        b'{"item": "a", "answer": "x"}\r\n{"item": "b", "answer": "y"}\r\n',
        b'\xef\xbb\xbf{"item": "a", "answer": "x"}\n{"item": "b", "answer": "y"}\n',
        b'{"item": "a", "answer": "x"}\n[1]\n',
        b'{"item": "a", "answer": "x"}\n{}\n',
        b'{"item": "a", "answer": "x"}\n{"item": "b", "ans\n{"item": "c", "answer": "x"}\n',
        b'{"item": "a", "answer": "x", "item": "c"}\n{"item": "b", "answer": "y"}\n',
        b'{"item": "a", "answer": "x", "Item": "c"}\n{"item": "b", "answer": "y"}\n',
        b'{"item": "a", "answer": "nul\\u0000x"}\n{"item": "b", "answer": "\\ud83d\\ude00"}\n',
        b'[{"item": "a", "answer": "x"}, {"item": "b", "answer": "y"}]\n',
        b'{"item": ["a", "b"], "answer": ["x", "y"]}\n',
        b'{"trueness": 1}\n{"item": "a", "epoch": 1, "outcome": "fine", "answer": "x"}\n',
        b'{"item": "a", "answers": "x"}\n{"item": "b", "answers": ["x"]}\n',
        b'{"item": "a", "answers": [["x", "y"]]}\n{"item": "b", "answers": ["x"]}\n',
        b'{"item": "a", "answers": []}\n{"item": "b", "answers": ["x"]}\n',
        b'{"item": "a", "responses": "x", "samples": ["y"]}\n{"item": "b", "responses": "z"}\n',
        b'{"idx": 1, "response": ["x"], "score": [true]}\n{"idx": 2, "response": ["y"]}\n',
        b'{"item": "a", "completions": ["x"], "score": [1]}\n{"item": "b", "completions": ["y"]}\n',
        b'{"q": "a"}\n{"q": "b"}\n',
    ],
)
def test_traps_are_read_alike_in_files_of_any_size(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t"
    path.write_bytes(content)
    fast, slow = both(path)
    assert fast == slow


def test_a_key_that_comes_late_is_not_lost(tmp_path: Path) -> None:
    rows: list[object] = [{"item": str(i), "answer": "x"} for i in range(21_000)]
    path = written(tmp_path, [*rows, {"item": "last", "answer": "y", "target": "z"}])
    source = read_bulk_lines(path)
    assert isinstance(source, LineSource)
    assert source.names == ("item", "answer", "target")
    with bytes_from(0):
        table = read_answers(path)
    assert table.target is not None
    assert table.target[21_000] == ("z",)


def test_regular_files_never_come_to_the_reader_of_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BULK_BYTES", 0)
    monkeypatch.setattr(reading, "read_json", None)
    native: list[object] = [
        {"item": "a", "epoch": e, "outcome": "answered", "condition": "none", "answer": "x"}
        for e in (1, 2)
    ]
    assert len(read_answers(written(tmp_path, native, {"trueness": 1}))) == 2
    wide: list[object] = [
        {"item": i, "target": "x", "answers": ["x", None], "greedy": None} for i in "ab"
    ]
    table = read_answers(written(tmp_path, wide, {"protocol": {"model": "m"}}))
    assert table.answer.values() == ["x", None, None] * 2
    assert table.conditions == ("none", "greedy")


def test_long_texts_stay_in_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_words, "MANY_CHARACTERS", 10)
    monkeypatch.setattr(stored, "IN_MEMORY", 0)
    rows: list[object] = [
        {"item": f"i{i % 3}", "completion": f'a "text" of\nline {i // 2}'} for i in range(9)
    ]
    fast, slow = both(written(tmp_path, rows, {"protocol": {"model": "m"}}))
    assert fast == slow
    wide: list[object] = [
        {"item": f"i{i}", "completions": [f"text {i}", None, "é\\n"]} for i in range(9)
    ]
    fast, slow = both(written(tmp_path, wide, {"protocol": {"model": "m"}}))
    assert fast == slow
    with bytes_from(0):
        table = read_answers(tmp_path / "t.jsonl")
    assert table.completion is not None
    assert not isinstance(table.completion.words, tuple)


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=9, unique=True), st.data())
def test_hashes_are_numbered_like_the_words_they_stand_for(
    words: list[int], data: st.DataObject
) -> None:
    rows = data.draw(st.lists(st.sampled_from(words), max_size=30))
    codes = bulk_words._numbered(np.array(rows, np.uint64), np.array(words, np.uint64))
    assert codes is not None
    assert codes.tolist() == [-1 if r == words[-1] else words.index(r) for r in rows]


def test_words_that_share_a_hash_are_not_numbered() -> None:
    twice = np.array([7, 7, 3], dtype=np.uint64)
    assert bulk_words._numbered(np.array([7, 3], np.uint64), twice) is None
