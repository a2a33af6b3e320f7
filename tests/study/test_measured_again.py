"""What stands in a result follows from the table beside it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from trueness.contract.serial import Json, plain
from trueness.extract import keyed, named
from trueness.study.asked import Asked, declared_conditions, declared_relations
from trueness.study.declarations import declared_study
from trueness.study.detector import cells_of, contest
from trueness.study.one_pass_scores import Looked
from trueness.study.prefix_character import rows_of_relation
from trueness.study.results import Record, Result, read_result
from trueness.study.second_model import SECOND, of_model
from trueness.study.spent import Spent
from trueness.study.sweep import rows_of_sweep
from trueness.table import read_answers

RESULTS = Path(__file__).parents[2] / "results"
EXTRACTOR = "first_token@1"


def asked_again(study: str) -> Asked:
    """The table of a result, as it was when it was measured."""
    declaration, result = declared_study(study), read_result(RESULTS / f"{study}.json")
    table = replace(read_answers(rows_beside(study)), extractor=EXTRACTOR)
    repeats = result.draws["repeats"]
    assert isinstance(repeats, int)
    return Asked(
        named(keyed(table)),
        declared_relations(declaration, repeats),
        declared_conditions(declaration)[1],
        {},
        (),
        Spent(),
        (),
    )


def rows_beside(study: str) -> list[dict[str, Json]]:
    """The rows that lie beside a result, of the model that decides."""
    lines = (RESULTS / f"{study}.table.jsonl").read_text("utf-8").splitlines()
    result = read_result(RESULTS / f"{study}.json")
    return [dict(row) for row in of_model(tuple(map(json.loads, lines)), first_of(result))]


def first_of(result: Result) -> str | None:
    """The model that decides, where two were asked."""
    model = result.model or {}
    return str(model["model"]) if SECOND in model else None


def same(found: list[Record], study: str) -> None:
    result = read_result(RESULTS / f"{study}.json")
    ours = of_model(result.rows, first_of(result))
    wanted = {str(row["name"]): plain(row) for row in ours}
    again = {str(row["name"]): plain(row) for row in found}
    assert set(again) == set(wanted)
    for name, row in wanted.items():
        assert again[name] == pytest.approx(row) if isinstance(row, float) else again[name] == row


def test_the_sweep_measured_again_from_its_table_is_the_same() -> None:
    same(list(rows_of_sweep(asked_again("certificate-sweep"))), "certificate-sweep")


def test_prefixes_measured_again_from_their_table_are_the_same() -> None:
    asked = asked_again("prefix-character")
    found = [row for relation in asked.relations for row in rows_of_relation(asked, relation)]
    same(found, "prefix-character")


def test_the_contest_of_partition_and_pass_measured_again_is_the_same() -> None:
    asked, declaration = asked_again("detector"), declared_study("detector")
    looked = Looked.again(rows_beside("detector"), asked.relations)
    rows, contrasts = contest(declaration, asked, cells_of(asked, looked), seed=declaration.seed)
    same(rows, "detector")
    for wanted in read_result(RESULTS / "detector.json").contrasts:
        again = contrasts[str(wanted["name"])]
        assert {name: wanted[name] for name in again} == again
