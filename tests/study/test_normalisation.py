"""Movements of spelling, planted: all, hardly any, and too few to say."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trueness.contract.errors import InputError
from trueness.extract import keyed
from trueness.extract.completions import SPELLING
from trueness.study.carrying_out import carry_out
from trueness.study.cloud_inputs import REPEATED, SOLUTIONS, shipped_clouds
from trueness.study.inputs import Inputs
from trueness.study.normalisation import as_spelled, pairs_of
from trueness.study.results import Record, Result
from trueness.table import AnswerTable, read_answers

STUDY = "answer-normalisation"
DATA = Path(__file__).parents[1] / "data" / "clouds"
Rows = list[dict[str, Any]]


def two(n: int, before: str, after: str) -> Rows:
    """Items that one model writes in one way and another in another."""
    said = {"one": before, "two": after}
    return [
        {"item": f"q{i}", "condition": c, "completion": f"#### {i}{text}"}
        for i in range(n)
        for c, text in said.items()
    ]


def run(rows: Rows, tmp_path: Path) -> Result:
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return carry_out(STUDY, inputs=Inputs(data=path)).result


def of(result: Result, name: str) -> Record:
    return next(r for r in (*result.contrasts, *result.rows) if r["name"] == name)


def test_movements_of_spelling_alone_support(tmp_path: Path) -> None:
    found = run([*two(3, "", ".00")], tmp_path)
    assert found.reading.outcome.value == "supported"
    share = of(found, "vanishing")
    assert (share["count"], share["of"], share["estimate"]) == (3, 3, 1.0)
    table = of(found, "own")
    assert table["merged"] == ["0 = 0.00", "1 = 1.00", "2 = 2.00"]
    assert (table["certified_as_spelled"], table["certified_as_keyed"]) == (3, 0)
    assert of(found, "false_certificates")["estimate"] == 3
    pair = of(found, "own: one and two")
    assert (pair["tv_as_spelled"], pair["tv_as_keyed"]) == (1.0, 0.0)


def test_many_movements_of_which_none_is_spelling_refute(tmp_path: Path) -> None:
    found = run(two(400, "", "7"), tmp_path)
    assert found.reading.outcome.value == "refuted"
    assert of(found, "vanishing")["count"] == 0


def test_few_movements_leave_it_unresolved(tmp_path: Path) -> None:
    found = run(two(9, "", "7"), tmp_path)
    assert found.reading.outcome.value == "unresolved"


def test_items_count_once_however_many_pairs_they_move_in(tmp_path: Path) -> None:
    three = [
        {**row, "condition": f"{row['condition']}{k}"} for k in "ab" for row in two(5, "", ".0")
    ]
    share = of(run(three, tmp_path), "vanishing")
    assert (share["count"], share["of"]) == (5, 5)


def test_odd_draws_are_compared_with_even_ones_where_there_is_one_condition(
    tmp_path: Path,
) -> None:
    rows = [
        {"item": "q", "epoch": e, "completion": f"#### {'26' if e % 2 else '26.00'}"}
        for e in range(1, 9)
    ]
    pair = of(run(rows, tmp_path), "own: odd draws and even draws")
    assert pair["n_vanishing"] == 1
    assert pair["agreement_before_as_spelled"] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"item": "q", "epoch": 1, "completion": "#### 26"}], "nothing can have moved"),
        ([{"item": "q", "answers": ["26", "27"], "target": "26"}], "completions are wanted"),
    ],
)
def test_tables_that_cannot_say_are_refused(rows: Rows, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        run(rows, tmp_path)


def test_as_spelled_tells_draws_apart_that_a_key_makes_one() -> None:
    table = keyed(read_answers(two(4, "", ".00")), kind="auto")
    assert len(set(table.answer.values())) == 4
    assert len(set(as_spelled(table).answer.values())) == 8
    assert [name for name, *_ in pairs_of(table)] == ["one and two"]


WHOLE = {SOLUTIONS: "gsm8k_example_model_solutions", REPEATED: "qwen_math_cot_100"}


@pytest.mark.parametrize("name", WHOLE)
def test_what_was_trimmed_gives_the_keys_of_the_whole(name: str) -> None:
    kind: Any = "number" if name == SOLUTIONS else "auto"
    trimmed = keyed(shipped_clouds(name)[0], kind=kind)
    whole = keyed(read_answers(DATA / f"{WHOLE[name]}.jsonl"), kind=kind)
    assert said(trimmed) == said(whole)
    assert trimmed.conditions == whole.conditions


def said(table: AnswerTable) -> list[tuple[object, ...]]:
    assert table.target is not None
    columns = (table.answer, table.reason, table.extras[SPELLING], table.target)
    rows = zip(*(column.values() for column in columns), table.outcome.tolist(), strict=True)
    order = np.lexsort((table.epoch, table.condition.codes, table.item.codes))
    found = list(rows)
    return [found[i] for i in order.tolist()]
