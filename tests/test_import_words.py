"""What ``trueness import`` says about a table, in words."""

from pathlib import Path

import pytest

from trueness import api
from trueness.api.importing import sentence
from trueness.contract.blocks import Facts, Notes, Table

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("clouds/gsm8k_example_model_solutions.jsonl", "1,319 items × 1 draw, 4 conditions."),
        ("logs/inspect/tiny_gsm.json", "inspect_ai 0.3.285: 3 items × 4 draws."),
        ("logs/generic/ragas.jsonl", "1 item × 2 draws."),
    ],
)
def test_the_first_line_counts_items_draws_and_conditions(name: str, said: str) -> None:
    table = api.read(DATA / name, answer_kind="number")
    assert sentence(api.log_facts(table)) == said


def test_one_answer_with_two_units_is_said_in_words() -> None:
    table = api.read(DATA / "logs" / "inspect" / "tiny_gsm.json", answer_kind="number")
    lines = [
        line
        for block in api.log_blocks(table, api.log_facts(table))
        if isinstance(block, Notes)
        for line in block.lines
    ]
    assert "item gsm-8: 5 bare and 5 in % count as one answer" in lines


def test_the_scores_of_a_log_stand_beside_ours_with_the_draws_that_differ() -> None:
    table = api.read(DATA / "clouds" / "qwen_math_cot_100.jsonl", answer_kind="auto")
    facts = api.log_facts(table)
    blocks = {getattr(b, "title", ""): b for b in api.log_blocks(table, facts)}
    counts, draws = (
        blocks["The log's own scores, beside ours"],
        blocks["Draws that the log scored otherwise"],
    )
    assert isinstance(counts, Facts)
    assert isinstance(draws, Table)
    assert [f.display for f in counts.facts] == ["728 of 800", "729 of 800", "1"]
    assert draws.rows == (("72", 8, "none", "10000", "10000", "10000", "wrong"),)
