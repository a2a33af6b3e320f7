"""The sensor of claims with the real embedder: what it is good for, and where it is blind."""

import json
from collections.abc import Mapping
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from trueness.api.grounding import ground
from trueness.backends.embedder import Embedder
from trueness.backends.registry import open_embedder
from trueness.contract import State

pytestmark = pytest.mark.real

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs/examples/claims.jsonl"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return open_embedder("embedded")


def test_another_subject_lies_outside_and_a_changed_number_does_not(embedder: Embedder) -> None:
    reading = ground(EXAMPLE, group="source", embedder=embedder)
    energy = {i.item: i.value for i in reading.per_item}
    known = {name: v for name, v in energy.items() if v is not None}
    foreign = [v for name, v in known.items() if name.endswith("-foreign")]
    rest = [v for name, v in known.items() if not name.endswith("-foreign")]
    assert min(foreign) > max(rest)
    assert known["everest-quantity"] < known["everest-carried"]  # blind, as it says
    assert energy["photosynthesis-none"] is None


def test_emptied_and_permuted_evidence(embedder: Embedder) -> None:
    rows = lines(EXAMPLE)
    before = ground(rows, group="source", embedder=embedder)
    turned = [{**r, "evidence": r["evidence"][::-1]} for r in rows]
    after = ground(turned, group="source", embedder=embedder)
    assert [(i.state, i.value) for i in after.per_item] == [
        (i.state, i.value) for i in before.per_item
    ]
    rows[0]["evidence"] = []
    emptied = ground(rows, group="source", embedder=embedder)
    assert emptied.per_item[0].state is State.NO_EVIDENCE
    assert list(emptied.per_item)[1:] == list(before.per_item)[1:]


def test_every_wrong_binding_lies_below_every_claim_with_foreign_evidence(
    embedder: Embedder,
) -> None:
    rows = lines(ROOT / "src/trueness/data/claims/binding.jsonl")
    step = len(rows) // 2
    shifted = [rows[(i + step) % len(rows)] for i in range(len(rows))]
    wrong = measured([_row(r, "wrong", r) for r in rows], embedder)
    right = measured([_row(r, "supported", r) for r in rows], embedder)
    foreign = measured(
        [_row(r, "supported", o) for r, o in zip(rows, shifted, strict=True)], embedder
    )
    assert max(wrong) < min(foreign)
    assert mean(right) < mean(wrong) < 0.5 < mean(foreign)


def measured(rows: list[dict[str, Any]], embedder: Embedder) -> list[float]:
    found = ground(rows, embedder=embedder, foreign=0)
    values = [i.value for i in found.per_item if i.value is not None]
    assert len(values) == len(rows)
    return values


def _row(item: Mapping[str, Any], kind: str, source: Mapping[str, Any]) -> dict[str, Any]:
    return {"item": item["id"], "claim": item[kind], "evidence": source["evidence"]}
