import datetime as dt
import gzip
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.table import (
    OUTCOMES,
    AnswerTable,
    Outcome,
    bulk,
    delimited,
    read_answers,
    reading,
    write,
)

ROWS = [{"entity": "France", "answer": "Paris"}, {"entity": "Chad", "answer": "Paris, maybe"}]


def seen(table: AnswerTable) -> list[tuple[object, ...]]:
    columns = [table.item.values(), table.epoch.tolist(), table.condition.values()]
    if table.completion is not None:
        columns.append(table.completion.values())
    columns += [table.answer.values(), table.reason.values(), table.outcome.tolist()]
    return list(zip(*columns, strict=True))


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def test_every_form_of_a_table_reads_as_the_same_rows(tmp_path: Path) -> None:
    lines = "".join(json.dumps(r) + "\n" for r in ROWS)
    csv = 'entity,answer\nFrance,Paris\nChad,"Paris, maybe"\n'
    frame = pd.DataFrame(ROWS)
    parquet = tmp_path / "odd name.bin"
    pl.DataFrame(ROWS).write_parquet(parquet)
    sources: list[object] = [
        written(tmp_path / "a.txt", lines),
        written(tmp_path / "b", csv),
        written(tmp_path / "c.csv", "\ufeff" + csv.replace("\n", "\r\n")),
        written(tmp_path / "d.csv", 'entity;answer\nFrance;Paris\nChad;"Paris, maybe"'),
        written(tmp_path / "e.tsv", "entity\tanswer\nFrance\tParis\nChad\tParis, maybe\n"),
        written(tmp_path / "f", "entity|answer\nFrance|Paris\nChad|Paris, maybe\n"),
        written(tmp_path / "g.json", json.dumps(ROWS, indent=1)),
        written(tmp_path / "h.json", json.dumps({k: [r[k] for r in ROWS] for k in ROWS[0]})),
        written(tmp_path / "i.csv", csv.replace("\n", "\r")),
        str(parquet),
        frame,
        pl.DataFrame(ROWS),
        pl.DataFrame(ROWS).lazy(),
        pa.Table.from_pylist(ROWS),
        pa.Table.from_pylist(ROWS).to_reader(),
        {k: [r[k] for r in ROWS] for k in ROWS[0]},
        ROWS,
    ]
    first = seen(read_answers(ROWS))
    assert first[1][:4] == ("Chad", 1, "none", "Paris, maybe")
    for source in sources:
        assert seen(read_answers(source)) == first


CELLS = st.text(st.characters(categories=["L", "N", "P", "Z"], include_characters='",\n\r;\t|'))


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8))
def test_large_and_small_files_read_alike(rows: list[tuple[str, str]]) -> None:
    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"trueness-{os.getpid()}.csv"  # noqa: S108 - per process
    quoted = ['"' + '","'.join(c.replace('"', '""') for c in r) + '"' for r in rows]
    path.write_bytes(("item,answer\n" + "\n".join(quoted) + "\n").encode())
    try:
        small, large = delimited.read_delimited(path), bulk.read_bulk_delimited(path)
        assert list(zip(small.cells["item"], small.cells["answer"], strict=True)) == rows
        if large is not None:
            assert large.text("item").values() == [r[0] for r in rows]
            assert large.answers("answer").values() == [r[1] for r in rows]
    finally:
        path.unlink()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("entity,answer\n", "has a head and no rows"),
        ("entity,answer\na,b\nc\n", r"line 3: 1 cells where the head has 2"),
        ('entity,answer\na,"b\nx"\nc,d,e\n', r"line 4: 3 cells where the head has 2"),
        ('entity,answer\na,"b\nc,d\n', "ends inside of a quoted cell"),
        ("entity,entity\na,b\n", "two columns called 'entity'"),
        ("entity,reply\na,b\n", "no column holds answers; the columns are 'entity', 'reply'"),
        ("thing,answer\na,b\n", "no column says what was asked.*--entity COLUMN"),
        ("item,response,completion\na,b,c\n", "both mean completion: response, completion"),
        ("item,epoch,answer\na,x,c\n", "row 1 has the epoch 'x'"),
        ("item,epoch,answer\na,1,c\na,1,d\n", "item 'a' has epoch 1 twice.* rows 1 and 2"),
        ("item,outcome,answer\na,fine,c\n", "row 1 has the outcome 'fine'"),
        ("item,logprob,answer\na,low,c\n", "log-probability 'low'"),
        (gzip.compress(b"entity,answer\na,b\n", mtime=0), "is gzip"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\r", "is a binary file"),
        ("entity,answer\na,b\n".encode("utf-16"), "is UTF-16"),
        ('{"item": "a", "answer": "x"}\n{"item": "b", "ans\n{"item": "c"}\n', "line 2: no JSON"),
        ('{"item": "a", "answer": "x"}\n[1]\n', "line 2: a JSON list"),
        ('{"item": "a", "ans', "holds no whole row"),
        ('{"item": "a", "answer": true}\n', "row 1 has True of type bool in column 'answer'"),
        ('{"answer": "x", "item": null}\n', "row 1 has nothing in column 'item'"),
        ('{"trueness": 99}\n{"item": "a", "answer": "x"}\n', "table format 99"),
        (b"PAR1 and nothing else", "is no whole Parquet file"),
        ("{" * 100_000, "no JSON|holds no whole row"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_clear_error(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_answers(written(tmp_path / "file", content))


def test_folders_absent_files_and_archives_are_refused(tmp_path: Path) -> None:
    archive = tmp_path / "a.csv"
    with zipfile.ZipFile(archive, "w") as z:
        z.writestr("x", "y")
    for path, message in ((tmp_path, "folder"), (tmp_path / "no", "exist"), (archive, "zip")):
        with pytest.raises(InputError, match=message):
            read_answers(path)


def test_a_file_that_was_cut_off_is_read_as_far_as_it_is_whole(tmp_path: Path) -> None:
    path = written(tmp_path / "t", '{"item": "a", "answer": "x"}\n{"item": "b", "ans')
    table = read_answers(path)
    assert (len(table), table.completed) == (1, False)
    assert "The last line was cut off and is left out." in table.notes


def test_bytes_that_are_no_utf8_are_shown_and_counted(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", b"item,answer\na,caf\xe9 \xff\n")
    table = read_answers(path)
    assert table.completion is not None
    assert table.completion[0] == "caf\\xe9 \\xff"
    assert table.notes[0].startswith("2 bytes were no UTF-8")


def test_absent_null_and_empty_answers_are_told_apart(tmp_path: Path) -> None:
    lines = '{"item": "a", "answer": ""}\n{"item": "b", "answer": null}\n{"item": "c"}\n'
    table = read_answers(written(tmp_path / "t", lines))
    assert [OUTCOMES[o] for o in table.outcome] == [Outcome.ANSWERED, Outcome.ERROR, Outcome.ERROR]
    assert table.reason.values() == [None, "missing_completion", "missing_completion"]
    empty = read_answers(written(tmp_path / "t.csv", "item,answer\na,\n"))
    assert empty.completion is not None
    assert empty.completion.values() == [""]


def test_numbers_in_json_are_the_text_that_was_written(tmp_path: Path) -> None:
    lines = '{"item": 1, "answer": 4.10, "target": [4.1, 5]}\n'
    table = read_answers(written(tmp_path / "t", lines))
    assert table.completion is not None
    assert table.target is not None
    assert table.completion.values() == ["4.10"]
    assert table.target[0] == ("4.1", "5")


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity", "true", "[NaN]"])
def test_an_answer_in_json_that_is_no_finite_number_is_refused(
    constant: str, tmp_path: Path
) -> None:
    lines = f'{{"item": 1, "answer": "x"}}\n{{"item": 2, "answer": {constant}}}\n'
    with pytest.raises(InputError, match=r"row 2 has .* in column 'answer'; text is wanted"):
        read_answers(written(tmp_path / "t", lines))


def test_constants_in_other_columns_of_json_are_accepted(tmp_path: Path) -> None:
    lines = '{"item": 1, "answer": "x", "logprob": -Infinity, "target": NaN, "score": Infinity}\n'
    table = read_answers(written(tmp_path / "t", lines))
    assert table.answer.values() is not None


@pytest.mark.parametrize("value", [1.5, float("nan"), True, 7, ["a"], b"a", {"a": 1}])
def test_an_answer_in_a_frame_that_is_no_text_is_refused_with_its_row(value: object) -> None:
    frame = pd.DataFrame({"item": ["a", "b"], "answer": pd.Series(["x", value], dtype=object)})
    if isinstance(value, list):
        return  # a list is several draws, tested below
    with pytest.raises(InputError, match=r"row 2 has .* of type .* in column 'answer'"):
        read_answers(frame)


def test_missing_text_in_a_frame_is_missing() -> None:
    for answer in (["x", None], pd.array(["x", pd.NA], dtype="string")):
        table = read_answers(pd.DataFrame({"item": ["a", "b"], "answer": answer}))
        assert table.reason.values() == [None, "missing_completion"]


def test_a_numeric_parquet_column_is_no_answer(tmp_path: Path) -> None:
    pl.DataFrame({"item": ["a"], "answer": [1.5]}).write_parquet(tmp_path / "t")
    with pytest.raises(InputError, match=r"row 1 has 1.5 of type DOUBLE in column 'answer'"):
        read_answers(tmp_path / "t")


def test_named_columns_win_and_names_are_found_in_any_case(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "Country,Reply,response\nChad,x,y\n")
    table = read_answers(path, entity="country", answer="Reply")
    assert table.completion is not None
    assert (table.item[0], table.completion[0]) == ("Chad", "x")
    with pytest.raises(InputError, match=r"--entity names the column 'land', which is not there"):
        read_answers(path, entity="land")


def test_draws_in_lists_become_rows() -> None:
    rows = [
        {"item": "a", "target": "A", "answers": ["A", None]},
        {"item": "b", "target": "B", "answers": ["C", "B"]},
    ]
    table = read_answers(rows)
    assert table.answer.values() == ["A", None, "C", "B"]
    assert table.epoch.tolist() == [1, 2, 1, 2]
    assert table.row_number.tolist() == [1, 1, 2, 2]
    assert table.reason.values() == [None, "no_candidate", None, None]
    wide = read_answers([{"prompts": "q", "responses": "x", "sampled_responses": ["y", "z"]}])
    assert wide.completion is not None
    assert wide.completion.values() == ["x", "y", "z"]
    with pytest.raises(InputError, match="row 1 holds no draw"):
        read_answers([{"item": "a", "answers": []}])


def test_exact_repeats_are_dropped_and_counted() -> None:
    rows = [{"item": "a", "epoch": 1, "answer": "x"}] * 3 + [
        {"item": "a", "epoch": 2, "answer": "x"}
    ]
    table = read_answers(rows)
    assert (len(table), table.n_repeated) == (2, 2)


def test_epochs_are_numbered_in_file_order_where_there_are_none() -> None:
    table = read_answers([{"item": i, "answer": "x"} for i in "abaab"])
    assert table.epoch.tolist() == [1, 1, 2, 3, 2]
    assert table.epochs_numbered
    assert any("no epochs" in note for note in table.notes)


def test_epochs_from_zero_are_moved() -> None:
    table = read_answers([{"item": "a", "repeat": i, "answer": "x"} for i in range(3)])
    assert table.epoch.tolist() == [1, 2, 3]


def test_the_item_is_relation_entity_template_or_the_hash_of_the_question() -> None:
    table = read_answers([{"relation": "r", "entity": "e", "template": 0, "answer": "x"}])
    assert table.item[0] == "r|e|0"
    asked = read_answers([{"question": "q?", "answer": "x"}, {"question": "q?", "answer": "y"}])
    assert asked.item[0] == asked.item[1]
    assert len(str(asked.item[0])) == 64


def test_answer_beside_a_generated_answer_is_the_gold() -> None:
    table = read_answers([{"question": "q", "answer": "gold", "generated_answer": "text"}])
    assert table.completion is not None
    assert table.target is not None
    assert (table.completion[0], table.target[0]) == ("text", ("gold",))


def test_what_is_no_table_is_refused() -> None:
    for source in (7, [1, 2], [], {"item": "a", "answer": "b"}, pd.DataFrame({"item": []})):
        with pytest.raises(InputError):
            read_answers(source)


def test_a_path_with_wildcards_is_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a[1]*?.parquet"
    pl.DataFrame(ROWS).write_parquet(path)
    assert len(read_answers(path)) == 2


def test_large_files_keep_their_words_out_of_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BULK_BYTES", 0)
    monkeypatch.setattr("trueness.table.stored.IN_MEMORY", 0)
    lines = [f"e{i},a{i % 7}, b" for i in range(50)]
    path = written(tmp_path / "t.csv", "entity,answer,group\n" + "\n".join(lines) + "\n")
    table = read_answers(path)
    assert table.completion is not None
    assert not isinstance(table.completion.words, tuple)
    assert table.completion.values() == [f"a{i % 7}" for i in range(50)]
    assert table.completion.codes.tolist() == [i % 7 for i in range(50)]
    assert table.entity is not None
    assert [table.entity.words[i] for i in (49, 0, 7)] == ["e49", "e0", "e7"]


CARRIED = [
    {"id": "1", "prompt": "a?", "answer": "x", "cost": 0.25, "tags": "p", "response": "no"},
    {"id": "2", "prompt": "b?", "answer": "y", "cost": 1.5, "tags": None, "response": "so"},
]
"""A column of each sort that plays no part when ``answer`` is named."""


def test_columns_that_play_no_part_are_kept_on_request_in_every_form(tmp_path: Path) -> None:
    parquet = tmp_path / "a.parquet"
    pl.DataFrame(CARRIED).write_parquet(parquet)
    lines = "".join(json.dumps(r) + "\n" for r in CARRIED)
    sources: list[object] = [
        CARRIED,
        pd.DataFrame(CARRIED),
        parquet,
        written(tmp_path / "b.jsonl", lines),
        written(tmp_path / "c.csv", pd.DataFrame(CARRIED).to_csv(index=False)),
    ]
    for source in sources:
        assert not read_answers(source, answer="answer").extras
        kept = read_answers(source, answer="answer", keep=True)
        found = {name: column.values() for name, column in kept.extras.items()}
        assert set(found) == {"prompt", "cost", "tags", "source_response"}
        assert found["prompt"] == ["a?", "b?"]
        assert [float(str(v)) for v in found["cost"]] == [0.25, 1.5]
        assert found["source_response"] == ["no", "so"]
        assert found["tags"][0] == "p"
        assert not found["tags"][1]


def test_kept_columns_survive_writing_and_reading_again(tmp_path: Path) -> None:
    table = read_answers(CARRIED, answer="answer", keep=True)
    for name in ("a.jsonl", "a.csv", "a.parquet"):
        write(table, tmp_path / name)
        again = read_answers(tmp_path / name, keep=True)
        assert again.extras["cost"].values() == ["0.25", "1.5"]
        assert set(again.extras) == set(table.extras)
        assert again.item.values() == ["1", "2"]


@pytest.mark.parametrize("size", [0, 4_000_000])
def test_dates_and_truths_of_a_kept_column_are_written_out(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BULK_BYTES", size)
    day = dt.date(2026, 1, 2)
    rows = [{"entity": str(i), "answer": "x", "day": day, "ok": True} for i in range(3)]
    for source in (pl.DataFrame(rows), written_parquet(tmp_path / "a.parquet", rows)):
        table = read_answers(source, keep=True)
        assert table.extras["day"].values() == ["2026-01-02"] * 3
        assert table.extras["ok"].values() == ["true"] * 3
    lines = "".join(json.dumps(r | {"day": str(day)}) + "\n" for r in rows)
    table = read_answers(written(tmp_path / "a.jsonl", lines), keep=True)
    assert table.extras["ok"].values() == ["true"] * 3


def written_parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    pl.DataFrame(rows).write_parquet(path)
    return path
