"""Real clouds: every recorded verdict of GSM8K, all but one of the Qwen file, and what rules do."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trueness.extract import keyed
from trueness.extract.scores import own_scores
from trueness.extract.sensitivity import sensitivity
from trueness.table import OUTCOMES, AnswerTable, Outcome, read_answers

CLOUDS = Path(__file__).parents[1] / "data" / "clouds"
MODELS = ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")


def lines(name: str) -> Iterator[dict[str, Any]]:
    with (CLOUDS / name).open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def is_right(table: AnswerTable, row: int) -> bool:
    golds = table.target[row] if table.target is not None else None
    return golds is not None and table.answer[row] in golds


def test_gsm8k_agrees_with_every_recorded_verdict() -> None:
    rows, recorded = [], []
    for number, line in enumerate(lines("gsm8k_example_model_solutions.jsonl")):
        for model in MODELS:
            rows.append(
                {
                    "item": f"{number}",
                    "condition": model,
                    "completion": line[model]["solution"],
                    "target": line["ground_truth"],
                }
            )
            recorded.append(line[model]["is_correct"])
    table = keyed(read_answers(rows), kind="number")
    found = [is_right(table, row) for row in range(len(table))]
    assert len(found) == 5_276
    assert found == recorded
    correct = Counter(table.condition[row] for row, right in enumerate(found) if right)
    assert [correct[model] for model in MODELS] == [286, 515, 458, 742]
    assert Counter(OUTCOMES[o] for o in table.outcome) == {
        Outcome.ANSWERED: 5_266,
        Outcome.NO_ANSWER: 10,
    }


def qwen() -> AnswerTable:
    return read_answers(
        [
            {
                "item": str(line["idx"]),
                "epoch": epoch,
                "completion": text,
                "target": line["gt"],
                "tool_answer": line["pred"][epoch - 1],
            }
            for line in lines("qwen_math_cot_100.jsonl")
            for epoch, text in enumerate(line["response"], start=1)
        ]
    )


def test_qwen_differs_from_the_recorded_score_on_one_draw() -> None:
    table = keyed(qwen(), kind="auto")
    scores = [s for line in lines("qwen_math_cot_100.jsonl") for s in line["score"]]
    assert (table.outcome == OUTCOMES.index(Outcome.ANSWERED)).all()
    differ = [row for row, score in enumerate(scores) if is_right(table, row) != score]
    assert len(scores) == 800
    assert [table.item[row] for row in differ] == ["72"]
    assert table.answer[differ[0]] == "10000"


def test_a_log_that_scored_otherwise_than_our_keys_is_shown_the_draw() -> None:
    table = keyed(read_answers(CLOUDS / "qwen_math_cot_100.jsonl"), kind="auto")
    found = own_scores(table)
    assert found is not None
    assert (found.n_scored, found.n_right_by_log, found.n_right_here) == (800, 728, 729)
    (draw,) = found.differ
    assert (found.n_differ, draw.item, draw.epoch) == (1, "72", 8)
    assert (draw.answer, draw.golds, draw.log_says_right) == ("10000", ("10000",), False)


def test_the_last_number_rule_changes_many_draws_and_loses_right_ones() -> None:
    declared, last = sensitivity(qwen(), kind="auto", extractors=("declared", "last_number"))
    assert (declared.n_draws, declared.n_correct, declared.n_changed) == (800, 729, 0)
    assert last.n_changed == 188
    assert last.n_correct == 559
    assert last.changes[0].count == 8
    assert all(change.tail for change in last.changes)
    assert len(last.changes) == 10
