"""An object that says a key twice does not say which is meant: it is refused, with its line."""

import json
from pathlib import Path

import pytest

from trueness.collect.conditions import read_conditions
from trueness.contract.errors import InputError
from trueness.contract.serial import RepeatedKeyError, once
from trueness.report.load import load
from trueness.table import bulk_keys, read_answers, reading
from trueness.table.declarations import read_declaration_file
from trueness.table.evidence_reading import read_evidence
from trueness.table.journal import read_journal
from trueness.table.relations import load_relation

GOOD = '{"item": "a", "answer": "x"}\n'
AGAIN = '{"item": "b", "answer": "x", "answer": "y"}\n'


def written(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def test_a_key_twice_is_named() -> None:
    assert json.loads('{"a": {"b": 1}}', object_pairs_hook=once) == {"a": {"b": 1}}
    for text in ('{"a": 1, "b": 2, "b": 2}', '{"c": [{"b": 1, "b": {}}]}'):
        with pytest.raises(RepeatedKeyError, match="the key 'b' stands twice") as caught:
            json.loads(text, object_pairs_hook=once)
        assert caught.value.key == "b"


@pytest.mark.parametrize("size", [0, 4_000_000])
@pytest.mark.parametrize("before", [0, 1, 3])
def test_a_row_with_a_key_twice_is_refused_with_its_line(
    size: int, before: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BULK_BYTES", size)
    rows = "".join(GOOD.replace('"a"', f'"a{i}"') for i in range(before))
    for after in ("", GOOD, GOOD * 2):
        path = written(tmp_path / "a.jsonl", rows + AGAIN + after)
        said = f"line {before + 1}: the key 'answer' stands twice in one object"
        with pytest.raises(InputError, match=said):
            read_answers(path)


NESTED = ('{"b": 1, "b": 2}', '[{"c": 1}, {"b": null, "b": 3}]', '{"b": 1, "\\u0062": 2}')
DEEPER = ('{"c": {"b": 1, "b": 2}}', '[[{"b": 1, "b": 2}]]', '{"c": [{"b": 1, "b": 1}]}')


@pytest.mark.parametrize("size", [0, 4_000_000])
@pytest.mark.parametrize("held", [*NESTED, *DEEPER])
@pytest.mark.parametrize("before", [1, 2_500])
def test_an_object_inside_a_row_is_read_as_strictly_whatever_the_size_of_the_file(
    size: int, held: str, before: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BULK_BYTES", size)
    rows = "".join(
        f'{{"item": "a{i}", "answer": "x", "metadata": {{"b": {i}, "c": [{{"b": "{{"}}]}}}}\n'
        for i in range(before)
    )
    twice = f'{{"item": "b", "answer": "x", "metadata": {held}}}\n'
    path = written(tmp_path / "a.jsonl", rows + twice + GOOD)
    with pytest.raises(InputError, match=f"line {before + 1}: the key 'b' stands twice"):
        read_answers(path, keep=True)
    if held in NESTED or size:  # deeper ones are not looked for where nothing reads the column
        with pytest.raises(InputError, match=f"line {before + 1}: the key 'b' stands twice"):
            read_answers(path)


def test_objects_with_very_many_different_keys_are_looked_at_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BULK_BYTES", 0)
    monkeypatch.setattr(bulk_keys, "_FEW", 3)
    good = "".join(f'{{"item": "a{i}", "answer": "x", "m": {{"k{i}": 1}}}}\n' for i in range(9))
    assert len(read_answers(written(tmp_path / "a.jsonl", good))) == 9
    path = written(
        tmp_path / "b.jsonl", good + good.replace('"a', '"b').replace("1}", '1, "z": 1, "z": 2}')
    )
    with pytest.raises(InputError, match="line 10: the key 'z' stands twice"):
        read_answers(path)


def test_the_last_line_without_an_end_is_no_torn_one(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", GOOD + AGAIN.strip())
    with pytest.raises(InputError, match="line 2: the key 'answer'"):
        read_answers(path)


@pytest.mark.parametrize(
    "text", [f"[{GOOD}, {AGAIN}]", '{"item": ["a", "b"], "answer": ["x", "y"], "item": ["c", "d"]}']
)
def test_a_document_with_a_key_twice_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the key '(answer|item)' stands twice"):
        read_answers(written(tmp_path / "a.json", text))


def test_claims_with_evidence_twice_are_refused_with_their_line(tmp_path: Path) -> None:
    row = '{"claim": "Ann won.", "evidence": ["Ann won."]}\n'
    twice = '{"claim": "Bob won.", "evidence": [], "evidence": ["Bob won."]}\n'
    with pytest.raises(InputError, match="line 2: the key 'evidence' stands twice"):
        read_evidence(written(tmp_path / "c.jsonl", row + twice))


def test_a_journal_a_declaration_and_a_reading_are_read_as_strictly(tmp_path: Path) -> None:
    path = written(tmp_path / "j.jsonl", GOOD + AGAIN)
    with pytest.raises(InputError, match="line 2: the key 'answer'"):
        read_journal(path)
    path = written(tmp_path / "limits.json", '{"Paris": 1, "Paris": 2}')
    with pytest.raises(InputError, match="the key 'Paris' stands twice"):
        read_declaration_file(path)
    with pytest.raises(InputError, match="is no JSON"):
        read_declaration_file(written(path, "[" * 100_000))
    path = written(tmp_path / "r.json", '{"sensor": "a", "sensor": "b"}')
    with pytest.raises(InputError, match="the key 'sensor' stands twice"):
        load(path)
    path = written(tmp_path / "k.json", '[{"name": "a", "name": "b"}]')
    with pytest.raises(InputError, match="the key 'name' stands twice"):
        read_conditions(path)
    for text in ('{"schema": 1, "schema": 1}', '{"sub_label": "a", "sub_label": "b"}\n' * 2):
        with pytest.raises(InputError, match=r"the key '(schema|sub_label)' stands twice"):
            load_relation(written(tmp_path / "p.json", text))
