"""Results that stand in the repository follow from the tables beside them."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from trueness.contract.serial import plain
from trueness.study import (
    binding,
    bindings_changed,
    calibration_methods,
    clean_labels,
    copies,
    label_order,
    retrieval_drift,
    searching,
    short_sentences,
    transfer,
    variant_pairs,
)
from trueness.study.declarations import declared_study
from trueness.study.protocol import Protocol
from trueness.study.results import read_result

RESULTS = Path(__file__).parents[2] / "results"
FEW = Protocol(resamples=20)
_RESAMPLED = frozenset({"low", "high", "auroc_low", "auroc_high"})
"""Ends of bootstrap intervals, which are not drawn again here."""
Table = Sequence[dict[str, Any]]


def settings(module: Any, name: str, *, seeded: bool = True) -> Any:
    declaration = declared_study(name)
    found = module.Settings.of(declaration, 0) if seeded else module.Settings.of(declaration)
    return replace(found, protocol=FEW) if hasattr(found, "protocol") else found


def of_search(table: Table) -> Sequence[Any]:
    return searching.judged([r for r in table if "split" in r], settings(searching, "C10"))[0]


def of_bindings(table: Table) -> Sequence[Any]:
    chosen = settings(binding, "C13")
    return [r for d in ("binding", "binding_made") for r in binding.rows_of(table, d, chosen)]


def of_methods(table: Table) -> Sequence[Any]:
    chosen = replace(settings(calibration_methods, "C16"), resplits=2)
    return [row for record in table for row in calibration_methods.rows_of(record, chosen)]


def of_sentences(table: Table) -> Sequence[Any]:
    chosen = settings(short_sentences, "C19")
    return [row for record in table for row in short_sentences.rows_of(record, chosen)]


READERS: dict[str, Callable[[Table], Sequence[Any]]] = {
    "C7": lambda table: transfer.judged(table, {}, settings(transfer, "C7"))[0],
    "C9": lambda table: list(copies.rows_of(table)),
    "C10": of_search,
    "C13": of_bindings,
    "C15": lambda table: retrieval_drift.judged(table, settings(retrieval_drift, "C15"))[0],
    "C17": lambda table: label_order.judged(table, FEW)[0],
    "C18": lambda table: clean_labels.judged(table, FEW)[0],
    "C19": of_sentences,
}


def settled(value: Any, *, intervals: bool) -> Any:
    """Without the ends of bootstrap intervals."""
    if isinstance(value, dict):
        exact = "of" in value  # a share has an exact interval
        gone = frozenset() if exact or intervals else _RESAMPLED
        return {k: settled(v, intervals=intervals) for k, v in value.items() if k not in gone}
    return value


@pytest.mark.parametrize("name", READERS)
def test_every_row_is_computed_again_from_the_table(name: str) -> None:
    result = read_result(RESULTS / f"{name}.json")
    lines = (RESULTS / f"{name}.table.jsonl").read_text("utf-8").splitlines()
    again = READERS[name]([json.loads(line) for line in lines])
    stands = [row for row in result.rows if row["name"] != "refusals"]
    assert len(again) == len(stands)
    for made, row in zip(again, stands, strict=True):
        assert settled(dict(made), intervals=False) == settled(dict(row), intervals=False)


def test_claims_against_their_variants_are_compared_again_from_the_table() -> None:
    result = read_result(RESULTS / "contrast.json")
    lines = (RESULTS / "contrast.table.jsonl").read_text("utf-8").splitlines()
    table = [json.loads(line) for line in lines]
    rows = list(variant_pairs.rows_of(table))
    assert [plain(row) for row in rows] == list(result.rows)
    declaration = declared_study("contrast")
    protocol = Protocol.of(declaration.table("protocol"), seed=result.seeds[0])
    again = bindings_changed.contrasts_of(table, rows, protocol, declaration)
    for record in result.contrasts:
        made = {k: plain(v) for k, v in again[str(record["name"])].items()}
        assert {k: record[k] for k in made if k != "p_holm"} == {
            k: v for k, v in made.items() if k != "p_holm"
        }


def test_every_split_of_sources_has_its_row_and_refuses_where_there_are_too_few() -> None:
    result = read_result(RESULTS / "C16.json")
    lines = (RESULTS / "C16.table.jsonl").read_text("utf-8").splitlines()
    again = of_methods([json.loads(line) for line in lines])
    assert [r["name"] for r in again] == [r["name"] for r in result.rows]
    assert [r["state"] for r in again] == [r["state"] for r in result.rows]
    assert [r.get("where") for r in again] == [r.get("where") for r in result.rows]
