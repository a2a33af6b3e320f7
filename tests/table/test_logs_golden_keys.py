"""Logs of inspect_ai and lm-evaluation-harness, read and extracted, against the recorded keys."""

import json
from pathlib import Path
from typing import Any

import pytest

from trueness.contract.errors import InputError
from trueness.extract.keying import keyed
from trueness.table import OUTCOMES, AnswerTable, read_answers

TESTS = Path(__file__).parents[1]
VECTORS = json.loads((TESTS / "golden" / "logs_inspect_lmeval.json").read_text("utf-8"))


def table_of(vector: dict[str, Any]) -> AnswerTable:
    source = vector["input"]
    return keyed(read_answers(TESTS / "data" / source["file"]), kind=source["kind"])


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_recorded_logs_give_their_recorded_keys(vector: dict[str, Any]) -> None:
    expected = vector["expected"]
    if "error" in expected:
        with pytest.raises(InputError, match=expected["error"]):
            table_of(vector)
        return
    table = table_of(vector)
    if "draws" in expected:
        assert len(table) == expected["draws"]
    found: dict[str, list[list[str | None]]] = {}
    targets: dict[str, str] = {}
    for i in range(len(table)):
        item = str(table.item[i])
        found.setdefault(item, []).append([OUTCOMES[table.outcome[i]].value, table.answer[i]])
        golds = None if table.target is None else table.target[i]
        targets |= {item: golds[0]} if golds else {}
    if "items" in expected:
        assert found == expected["items"]
    if "targets" in expected:
        assert targets == expected["targets"]
    if "warning" in expected:
        assert any(expected["warning"] in note for note in table.notes)
    if "effective_k" in expected:
        assert table.protocols["none"].fields["independent_draws"] is False
