import json
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.table import OUTCOMES, AnswerTable, read_answers

HEADER = {
    "protocol": {
        "model": "m",
        "decoding": {"temperature": 0.7},
        "epochs": 3,
        "note": "SYNTHETIC. Made up.",
    }
}
ROWS = [
    {"item": "a", "target": "X", "answers": ["X", None, "Y"], "greedy": "X", "observer": [0.5, 1]},
    {"item": "b", "target": "Y", "answers": ["Y", "Y"], "greedy": None, "stopped_by": "vote"},
    {"item": "c", "target": ["X", "Z"], "answers": ["Z"], "status": "short"},
]


def grouped(path: Path, *objects: object) -> Path:
    path.write_text("".join(json.dumps(o) + "\n" for o in objects), "utf-8")
    return path


def outcomes(table: AnswerTable) -> list[str]:
    return [OUTCOMES[o].value for o in table.outcome.tolist()]


def test_a_grouped_file_is_a_row_a_draw_and_a_greedy_condition(tmp_path: Path) -> None:
    table = read_answers(grouped(tmp_path / "t", HEADER, *ROWS))
    assert table.conditions == ("none", "greedy")
    drawn, greedy = table.only("none"), table.only("greedy")
    assert drawn.item.values() == ["a"] * 3 + ["b"] * 2 + ["c"]
    assert drawn.answer.values() == ["X", None, "Y", "Y", "Y", "Z"]
    assert drawn.epoch.tolist() == [1, 2, 3, 1, 2, 1]
    assert outcomes(drawn)[1] == "no_answer"
    assert (greedy.item.values(), greedy.epoch.tolist()) == (["a", "b"], [1, 1])
    assert greedy.answer.values() == ["X", None]
    assert outcomes(greedy) == ["answered", "no_answer"]
    assert table.target is not None
    assert table.target.values()[-1] == ("X", "Z")


def test_a_greedy_null_is_no_answer_and_an_absent_one_is_no_row(tmp_path: Path) -> None:
    table = read_answers(grouped(tmp_path / "t", *ROWS)).only("greedy")
    assert table.item.values() == ["a", "b"]


def test_the_header_of_a_grouped_file_gives_protocols_plans_and_a_note(tmp_path: Path) -> None:
    table = read_answers(grouped(tmp_path / "t", HEADER, *ROWS))
    assert table.notes[0] == "SYNTHETIC. Made up."
    assert table.planned == {"none": 3, "greedy": 1}
    assert table.protocols["none"].fields == {"model": "m", "decoding": {"temperature": 0.7}}
    assert table.protocols["greedy"].fields["decoding"] == {"temperature": 0}
    flat = {"protocol": {"temperature": 0.7}}
    again = read_answers(grouped(tmp_path / "u", flat, ROWS[0]))
    assert again.protocols["greedy"].fields == {"temperature": 0, "condition": "greedy"}
    assert again.planned == {}


def test_what_stands_beside_the_draws_goes_with_each_of_them(tmp_path: Path) -> None:
    table = read_answers(grouped(tmp_path / "t", *ROWS))
    assert table.observer is not None
    assert table.observer.values() == [(0.5, 1.0)] * 4 + [None] * 4
    assert table.extras["stopped_by"].values()[4:7] == ["vote"] * 3
    assert table.extras["status"].values()[-1] == "short"


def test_completions_and_their_greedy_answer_are_texts_to_extract() -> None:
    rows = [{"item": "a", "completions": ["x y", ""], "greedy": "z", "score": [True, False]}]
    table = read_answers(rows)
    assert table.completion is not None
    assert table.completion.values() == ["x y", "", "z"]
    assert table.condition.values() == ["none", "none", "greedy"]
    assert table.extras["tool_score"].values() == ["true", "false", None]


def test_a_named_condition_has_its_own_greedy_condition() -> None:
    rows = [{"item": "a", "condition": "the:1", "answers": ["x"], "greedy": "x", "epoch": [4]}]
    table = read_answers(rows)
    assert table.conditions == ("the:1", "greedy:the:1")
    assert table.epoch.tolist() == [4, 1]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"item": "a", "answers": ["x"], "completions": ["x"]}, "both hold draws"),
        ({"item": "a", "response": ["x"], "code": ["y"]}, "'response' and 'code' both hold draws"),
        ({"item": "a", "answers": []}, "row 1 holds no draw"),
        ({"item": "a", "completions": None}, "row 1 holds no draw"),
        ({"item": "a", "answers": ["x"], "observer": "flat"}, "row 1 has 'flat'.* list of numbers"),
        ({"item": "a", "answer": "x", "weight": "two"}, "column 'weight' holds something else"),
        ({"item": "a", "answer": "x", "count": 0}, "every row was drawn 0 times"),
    ],
)
def test_a_shape_that_says_two_things_is_refused(row: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_answers([row])


def test_one_list_under_two_names_is_one_list_of_draws() -> None:
    table = read_answers([{"idx": 0, "response": ["x", "y"], "code": ["x", "y"]}])
    assert len(table) == 2


def test_an_observer_that_is_not_finite_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_text('{"item": "a", "answer": "x", "observer": [NaN, 1]}\n')
    table = read_answers(path)
    assert table.observer is not None
    assert table.observer.values() == [None]


def test_models_side_by_side_are_a_condition_each(tmp_path: Path) -> None:
    rows = [
        {"question": "q", "ground_truth": "#### 4", "small": {"solution": "5", "is_correct": False},
         "large": {"solution": "4", "is_correct": True}},
        {"question": "r", "ground_truth": "#### 1", "small": {"solution": "1", "is_correct": True},
         "large": None},
    ]  # fmt: skip
    table = read_answers(grouped(tmp_path / "t", *rows))
    assert table.conditions == ("small", "large")
    assert table.model is not None
    assert table.model.values() == ["small", "large", "small"]
    assert table.completion is not None
    assert table.completion.values() == ["5", "4", "1"]
    assert table.extras["is_correct"].values() == ["false", "true", "true"]
    assert table.epoch.tolist() == [1, 1, 1]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "frame"])
def test_counted_answers_are_rows_with_a_weight(suffix: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"item": ["a", "a", "b"], "answer": ["x", "y", "x"], "count": [3, 0, 5]})
    source: object = frame
    if suffix != "frame":
        source = tmp_path / f"t.{suffix}"
        getattr(frame, f"write_{suffix}")(source)
    table = read_answers(source)
    assert table.weight is not None
    assert table.weight.tolist() == [3, 5]
    assert (len(table), table.n_draws) == (2, 8)
    assert any("'count' was taken" in note for note in table.notes)
    assert any("1 rows were drawn 0 times" in note for note in table.notes)


def test_a_column_called_count_that_counts_no_draws_is_left_alone() -> None:
    numbered = read_answers([{"item": "a", "epoch": 1, "answer": "x", "count": 3}])
    odd = read_answers([{"item": "a", "answer": "x", "n": 1.5}])
    two = read_answers([{"item": "a", "answer": "x", "n": 2, "count": 3}])
    assert numbered.weight is odd.weight is two.weight is None
    assert any("neither was used" in note for note in two.notes)
    for row in (
        {"item": "a", "answers": ["x", "y"], "n": 2},
        {"item": "a", "response": ["x", "y"], "n": 2},
        {"item": "a", "response": "some text", "count": 2},
        {"item": "a", "answer": "x", "count": 2, "tokens": 5},
    ):
        assert read_answers([row]).weight is None
    named = read_answers([{"item": "a", "answer": "x", "n": 2, "count": 3}], weight="n")
    assert named.weight is not None
    assert named.weight.tolist() == [2]


def test_a_label_beside_claims_is_no_gold() -> None:
    rows = [{"item": "a", "answer": "x", "claim": "c", "label": 1}]
    assert read_answers(rows).target is None


def test_a_gold_named_beside_a_generated_answer_wins() -> None:
    rows = [{"question": "q", "answer": "a", "generated_answer": "g", "gold": "t"}]
    table = read_answers(rows, target="gold")
    assert table.target is not None
    assert table.completion is not None
    assert (table.target[0], table.completion[0]) == (("t",), "g")


CLOUD = st.fixed_dictionaries(
    {
        "item": st.sampled_from(["a", "b", "c", "d"]),
        "answers": st.lists(st.sampled_from(["x", "y", None]), min_size=1, max_size=4),
    },
    optional={"greedy": st.sampled_from(["x", None])},
)


@given(st.lists(CLOUD, min_size=1, max_size=5))
def test_a_grouped_table_holds_the_draws_of_its_lines(rows: list[dict[str, object]]) -> None:
    table = read_answers(rows)
    drawn = [(r["item"], a) for r in rows for a in r["answers"]]  # type: ignore[attr-defined] # lists
    seen = zip(table.item.values(), table.answer.values(), table.condition.values(), strict=True)
    assert [(i, a) for i, a, c in seen if c == "none"] == drawn
    assert len(table) - len(drawn) == sum("greedy" in r for r in rows)


def test_frames_hold_lists_of_draws_too() -> None:
    rows = [{"item": "a", "answers": ["x", None], "greedy": None}]
    for frame in (pd.DataFrame(rows), pl.DataFrame(rows, schema_overrides={"greedy": pl.String})):
        table = read_answers(frame)
        assert table.answer.values() == ["x", None, None]


CLOUDS = Path(__file__).parents[1] / "data" / "clouds"


@pytest.mark.parametrize("path", sorted(CLOUDS.glob("synthetic_*")), ids=lambda p: p.name)
def test_the_synthetic_slices_say_that_they_are_synthetic(path: Path) -> None:
    table = read_answers(path)
    n_items = 50 if "attractor" in path.name else 25
    assert any(note.startswith("SYNTHETIC") for note in table.notes)
    assert table.conditions == ("none", "greedy")
    assert (len(table.only("none")), len(table.only("greedy"))) == (8 * n_items, n_items)
    assert "note" not in table.protocols["none"].fields
    assert set(outcomes(table)) <= {"answered", "no_answer"}


def test_real_clouds_are_read_whole() -> None:
    qwen = read_answers(CLOUDS / "qwen_math_cot_100.jsonl")
    assert (len(qwen), len(set(qwen.item.values()))) == (800, 100)
    assert qwen.extras["tool_score"].values().count("true") == 728
    assert qwen.completion is not None
    assert str(qwen.completion[0]).startswith("To find the value")
    solved = read_answers(CLOUDS / "gsm8k_example_model_solutions.jsonl")
    correct = [
        solved.only(c).extras["is_correct"].values().count("true") for c in solved.conditions
    ]
    assert (len(solved), correct) == (5276, [286, 515, 458, 742])
