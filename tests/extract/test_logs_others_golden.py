"""Logs of other tools, read and keyed, against vectors: with the extractor that makes keys."""

import json
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from trueness.contract.errors import InputError
from trueness.extract import keyed
from trueness.table import OUTCOMES, AnswerTable, read_answers

TESTS = Path(__file__).parents[1]
VECTORS: list[dict[str, Any]] = json.loads((TESTS / "golden" / "logs_others.json").read_text())
READ = [v for v in VECTORS if "error" not in v["expected"]]
REFUSED = [v for v in VECTORS if "error" in v["expected"]]


def table_of(vector: dict[str, Any]) -> AnswerTable:
    given = vector["input"]
    return keyed(read_answers(TESTS / "data" / given["file"]), kind=given["kind"])


def by_item(table: AnswerTable) -> dict[str | None, list[tuple[str, str | None]]]:
    found: dict[str | None, list[tuple[str, str | None]]] = {}
    order = sorted(range(len(table)), key=lambda i: table.epoch[i])
    for i in order:
        outcome = OUTCOMES[table.outcome[i]].value
        found.setdefault(table.item[i], []).append((outcome, table.answer[i]))
    return found


def targets(table: AnswerTable) -> dict[str | None, str]:
    assert table.target is not None
    pairs = zip(table.item.values(), table.target.values(), strict=True)
    return {item: golds[0] for item, golds in pairs if golds}


def agreement(answers: list[str | None], gold: str | None = None) -> Fraction:
    """Share of the pairs of draws that agree, on the gold where one is given."""
    pairs = list(combinations(answers, 2))
    wanted = {gold} if gold else set(answers)
    return Fraction(sum(a == b and a in wanted for a, b in pairs), len(pairs))


@pytest.mark.parametrize("vector", READ, ids=[v["name"] for v in READ])
def test_a_log_gives_the_items_answers_and_golds_of_its_vector(vector: dict[str, Any]) -> None:
    table, expected = table_of(vector), vector["expected"]
    found = by_item(table)
    facts: dict[str, Any] = {
        "draws": len(table),
        "items": {item: [list(d) for d in draws] for item, draws in found.items()},
        "targets": targets(table),
        "target": next(iter(targets(table).values())),
        "completed": table.completed,
    }
    if isinstance(expected.get("items"), int):
        facts["items"] = len(found)
    if isinstance(expected.get("answers"), list):
        facts["answers"] = [a for _, a in next(iter(found.values()))]
    elif "answers" in expected:
        facts["answers"] = {item: [a for _, a in draws] for item, draws in found.items()}
        facts["outcomes"] = {"b": [o for o, _ in found["b"]]}
    if "temperature" in expected:
        facts["temperature"] = table.protocols["none"].fields["temperature"]
    if "u2_total" in expected:
        facts["u2_total"] = str(agreement(facts["answers"]))
        facts["u2_gold"] = str(agreement(facts["answers"], facts["target"]))
    assert {name: facts[name] for name in expected} == expected


@pytest.mark.parametrize("vector", REFUSED, ids=[v["name"] for v in REFUSED])
def test_a_log_that_contradicts_itself_is_refused_by_name(vector: dict[str, Any]) -> None:
    with pytest.raises(InputError) as refused:
        read_answers(TESTS / "data" / vector["input"]["file"])
    said = str(refused.value).replace("'", "")
    assert vector["expected"]["error"] in said
