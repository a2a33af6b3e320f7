import json
from importlib.resources import files
from pathlib import Path

import pytest

from trueness.backends.scripted import ScriptedModel
from trueness.collect import ask, facts_of
from trueness.table.relations import Relation, load_relation

SHIPPED = sorted(
    p.name for p in (files("trueness") / "data" / "relations").iterdir() if p.name.endswith(".json")
)


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_relation_can_be_asked(name: str, tmp_path: Path) -> None:
    relation = load_relation(Path(str(files("trueness") / "data" / "relations" / name)))
    out = tmp_path / "t.jsonl"
    ask(relation, ScriptedModel("right", facts_of(relation), 0.0), out=out)
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()[1:]]
    assert len(rows) == len(relation.entities) * len(relation.templates)
    assert all(r["outcome"] == "answered" and r["answer"] for r in rows)


def test_a_relation_without_golds_is_asked_without_targets(tmp_path: Path) -> None:
    relation = Relation("new", "many_to_one", ("Where is {e}?",), ("a", "b"))
    out = tmp_path / "t.jsonl"
    assert facts_of(relation) == {}
    ask(relation, ScriptedModel("garbage"), out=out)
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()[1:]]
    assert [row.get("target") for row in rows] == [None, None]
