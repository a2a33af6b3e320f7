import json
from pathlib import Path
from typing import Any

import pytest

from trueness.contract.errors import InputError
from trueness.table import bundled_conditions, bundled_relation, bundled_relations, load_relation

GOOD: dict[str, Any] = {
    "schema": 1,
    "name": "r",
    "kind": "many_to_one",
    "templates": ["{e} is in"],
    "inverse_templates": ["{a} holds"],
    "entities": ["x", "y"],
    "golds": ["A", "A"],
    "identity": {"string": ["x"]},
    "capacities": {"A": 2},
}


def saved(tmp_path: Path, **changes: object) -> Path:
    path = tmp_path / "r.json"
    path.write_text(json.dumps(GOOD | changes), "utf-8")
    return path


@pytest.mark.parametrize("name", bundled_relations())
def test_every_bundled_relation_loads(name: str) -> None:
    relation = bundled_relation(name)
    assert relation.name == name
    assert len(relation.golds) == len(relation) > 0


def test_fourteen_relations_and_the_conditions_come_with_the_package() -> None:
    assert len(bundled_relations()) == 14
    assert "neutral_passage" in bundled_conditions()
    with pytest.raises(InputError, match="no bundled relation is called 'x'"):
        bundled_relation("x")


def test_a_file_of_the_schema_loads(tmp_path: Path) -> None:
    relation = load_relation(saved(tmp_path))
    assert relation.golds == (("A",), ("A",))
    assert relation.identity == {"string": ("x",)}
    assert load_relation(saved(tmp_path, rows_per_entity=2)).rows_per_entity == (2, 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schema": 2}, "schema 2"),
        ({"kind": "other"}, "kind 'other'"),
        ({"kind": "injective", "capacities": None}, "'x' and 'y' share the gold 'A'"),
        ({"templates": []}, "no templates"),
        ({"templates": ["who?"]}, r"without \{e\}"),
        ({"inverse_templates": ["who?"]}, r"without \{a\}"),
        ({"entities": ["x", "x"]}, "names the entity 'x' twice"),
        ({"entities": ["x", " "]}, "blank entity at position 1"),
        ({"entities": "xy"}, "has 'xy' at entities"),
        ({"entities": ["x", 3]}, r"has 3 at entities\[1\]"),
        ({"golds": ["A"]}, "1 golds for 2 entities"),
        ({"golds": ["A", ""]}, "empty gold for 'y'"),
        ({"capacities": {"A": 1}}, "capacity 1 for 'A', which is the gold of 2"),
        ({"capacities": {"A": -1}}, "has capacities"),
        ({"rows_per_entity": [1]}, "1 rows_per_entity for 2"),
        ({"rows_per_entity": [0, 1]}, "whole numbers from 1"),
        ({"identity": {"string": "sometimes"}}, "identity 'sometimes' at string"),
        ({"identity": {"string": ["z"]}}, "identity 'z' at string"),
        ({"extra": 1}, "unknown fields extra"),
        ({"values": 3}, "values 3"),
    ],
)
def test_a_relation_that_contradicts_itself_is_refused(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        load_relation(saved(tmp_path, **changes))


def test_files_of_lre_load(tmp_path: Path) -> None:
    samples = [("x", "A"), ("y", "A"), ("x", "B")]
    data = {
        "name": "lre",
        "prompt_templates_zs": ["{} is in"],
        "samples": [{"subject": s, "object": o} for s, o in samples],
    }
    path = tmp_path / "l.json"
    path.write_text(json.dumps(data), "utf-8")
    relation = load_relation(path)
    assert (relation.kind, relation.templates) == ("set_valued", ("{e} is in",))
    assert relation.capacities == {"A": 2, "B": 1}
    assert relation.rows_per_entity == (2, 1)


def test_files_of_pararel_load_with_the_patterns_that_end_in_the_answer(tmp_path: Path) -> None:
    facts = [{"sub_label": "x", "obj_label": "A"}, {"sub_label": "y", "obj_label": "B"}]
    patterns = [{"pattern": "[X] is in [Y] ."}, {"pattern": "[Y] holds [X]."}]
    for name, rows in (("trex_P1", facts), ("patterns_P1", patterns)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    relation = load_relation(tmp_path / "trex_P1.jsonl")
    assert (relation.name, relation.kind, relation.templates) == ("P1", "injective", ("{e} is in",))
    (tmp_path / "patterns_P1.jsonl").unlink()
    with pytest.raises(InputError, match="does not exist"):
        load_relation(tmp_path / "trex_P1.jsonl")


def test_what_is_no_relation_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    for content, message in (("[1]", "a JSON list"), ("{", "no JSON"), ('{"schema": 1}', "lacks")):
        path.write_text(content, "utf-8")
        with pytest.raises(InputError, match=message):
            load_relation(path)
    with pytest.raises(InputError, match="folder"):
        load_relation(tmp_path)
