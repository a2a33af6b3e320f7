"""Claims with their evidence from every kind of source, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trueness.contract.errors import InputError, ShapeError
from trueness.table.evidence_reading import has_claims, read_evidence
from trueness.table.vectors import TextVectors, Vectors

ROWS: list[dict[str, Any]] = [
    {"item": "a", "claim": "One.", "evidence": ["First.", "Second."], "source": "x"},
    {"item": "b", "claim": "Two.", "evidence": [], "source": "x"},
    {"item": "c", "claim": None, "evidence": ["Third.", ""], "source": None},
]
WANTED = [("First.", "Second."), (), ("Third.", "")]


def passages(source: object) -> list[tuple[str, ...]]:
    table = read_evidence(source, group="source")
    assert table.item.values() == ["a", "b", "c"]
    assert [c or None for c in table.claim.values()] == ["One.", "Two.", None]
    assert not table.whole.any()
    return [table.passages(row) for row in range(3)]


def test_json_lines_and_json_give_one_table(tmp_path: Path) -> None:
    lines, whole = tmp_path / "claims.jsonl", tmp_path / "claims.json"
    lines.write_text("".join(json.dumps(r) + "\n" for r in ROWS), "utf-8")
    whole.write_text(json.dumps(ROWS), "utf-8")
    assert passages(lines) == passages(whole) == passages(ROWS) == WANTED


def test_a_csv_holds_lists_as_json(tmp_path: Path) -> None:
    path = tmp_path / "claims.csv"
    rows = [{**r, "evidence": json.dumps(r["evidence"])} for r in ROWS]
    pd.DataFrame(rows).to_csv(path, index=False)
    assert passages(path) == WANTED


def test_parquet_and_data_frames_hold_lists(tmp_path: Path) -> None:
    path = tmp_path / "claims.parquet"
    pq.write_table(pa.Table.from_pylist(ROWS), path)
    assert passages(path) == WANTED
    assert passages(pl.DataFrame(ROWS)) == passages(pd.DataFrame(ROWS)) == WANTED


def test_a_parquet_of_texts_is_read_as_text(tmp_path: Path) -> None:
    path = tmp_path / "claims.parquet"
    pq.write_table(pa.Table.from_pylist([{"claim": "One.", "context": "A text. Two."}]), path)
    table = read_evidence(path)
    assert table.passages(0) == ("A text. Two.",)
    assert table.whole.tolist() == [True]


def test_one_text_is_still_to_be_split_and_a_reference_mark_is_no_list() -> None:
    rows = [
        {"claim": "a", "evidence": "One. Two."},
        {"claim": "b", "evidence": "[1] A note."},
        {"claim": "c", "evidence": " \n"},
    ]
    table = read_evidence(rows)
    assert table.whole.tolist() == [True, True, False]
    assert [table.passages(row) for row in range(3)] == [("One. Two.",), ("[1] A note.",), ()]
    assert table.item.values() == ["1", "2", "3"]
    assert table.notes == ("No column names the claims: they are called by their row.",)


def test_named_columns_win_and_others_are_kept_as_text() -> None:
    rows = [{"claim": "no", "text": "yes", "docs": ["d"], "n": 3, "label": True}]
    table = read_evidence(rows, claim="text", evidence="docs")
    assert table.claim.values() == ["yes"]
    assert {name: c.values() for name, c in table.extras.items()} == {"claim": ["no"], "n": ["3"]}
    assert table.label is not None
    assert table.label.values() == ["true"]


@pytest.mark.parametrize(
    ("rows", "names", "said"),
    [
        ([{"claim": "a"}], {}, r"recognised as the evidence; .* Name it with --evidence"),
        ([{"evidence": ["a"]}], {}, r"recognised as the claim"),
        ([{"claim": "a", "evidence": []}], {"claim": "clam"}, r"there is no column 'clam'"),
        ([{"claim": "a", "evidence": 3}], {}, r"row 1, column 'evidence' holds 3 of type int"),
        ([{"claim": "a", "evidence": ["b", 3]}], {}, r"holds 3 of type int"),
        ([{"claim": "a", "evidence": '["b", '}], {}, r"a list that is no JSON"),
        ([{"claim": "a", "evidence": "['b', 'c']"}], {}, r"no JSON .* Write it with json\.dumps"),
        ([{"claim": 3, "evidence": []}], {}, r"row 1 has 3 of type int in column 'claim'"),
        ([{"claim": "a", "evidence": []}], {"evidence": "claim", "claim": "claim"}, "two things"),
        (
            [{"item": "x", "claim": c, "evidence": []} for c in "ab"],
            {},
            r"item 'x' stands in row 1 and in row 2",
        ),
        ([{"item": None, "claim": "a", "evidence": []}], {}, r"row 1 has no item"),
        ([{"item": " ", "claim": "a", "evidence": []}], {}, r"row 1 has no item"),
        ([], {}, "the table is empty"),
    ],
)
def test_bad_input_is_one_clear_error(
    rows: list[dict[str, Any]], names: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        read_evidence(rows, **names)


def test_a_source_of_answers_has_no_claims(tmp_path: Path) -> None:
    assert has_claims(ROWS)
    assert not has_claims([{"entity": "Peru", "answer": "Lima", "evidence": ["x"]}])
    assert not has_claims(tmp_path)
    assert not has_claims(tmp_path / "none.csv")


def test_some_rows_keep_all_columns() -> None:
    table = read_evidence(ROWS, group="source").take(np.array([2, 0]))
    assert table.item.values() == ["c", "a"]
    assert table.passages(1) == WANTED[0]
    assert table.row_number.tolist() == [3, 1]


def test_vectors_must_fit_their_texts_and_one_another() -> None:
    with pytest.raises(ShapeError, match="1 texts and vectors of shape"):
        TextVectors({"a": 0}, np.zeros((2, 3)))
    one, two = TextVectors({}, np.zeros((0, 2))), TextVectors({}, np.zeros((0, 3)))
    with pytest.raises(ShapeError, match="dimension 2 and those of passages 3"):
        Vectors(one, two, identity={}, noise=0.0)


def test_a_mark_for_nothing_in_json_is_no_passage(tmp_path: Path) -> None:
    path = tmp_path / "claims.jsonl"
    path.write_text(
        '{"claim": "a", "evidence": [NaN, "b"]}\n{"claim": "a", "evidence": NaN}\n', "utf-8"
    )
    table = read_evidence(path)
    assert (table.passages(0), table.passages(1)) == (("", "b"), ())
    path.write_text('{"claim": "a", "evidence": [Infinity]}\n', "utf-8")
    with pytest.raises(InputError, match="holds 'Infinity'"):
        read_evidence(path)


@pytest.mark.parametrize(
    ("evidence", "weights", "said"),
    [
        (["b", "c"], [1.0], r"row 1 has the weights \[1\.0\] for 2 of evidence"),
        (["b"], [0.0], "one finite number above 0"),
        ("b. c.", [1.0], "for one text of evidence"),
        (["b"], None, r"the weights \[\] for 1"),
    ],
)
def test_weights_are_one_a_passage(evidence: object, weights: object, said: str) -> None:
    rows = [{"claim": "a", "evidence": evidence, "w": weights}]
    with pytest.raises(InputError, match=said):
        read_evidence(rows, weights="w")
    with pytest.raises(InputError, match="there is no column 'v'"):
        read_evidence(rows, weights="v")
