"""C15 and C9: what more, fewer, repeated and reordered passages do."""

import json
from pathlib import Path
from typing import Any

import pytest
from bags import bag_of, written

from trueness.study import copies, retrieval_drift
from trueness.study.carrying_out import Carried, carry_out
from trueness.study.declarations import declared_study
from trueness.study.inputs import Inputs
from trueness.study.results import Outcome

DRIFT = retrieval_drift.Settings.of(declared_study("C15"), 0)


@pytest.fixture(scope="module")
def drift() -> Carried:
    return carry_out("C15", inputs=Inputs(world="synthetic"), limit=130)


def row(carried: Carried, name: str) -> Any:
    return next(r for r in carried.result.rows if r["name"] == name)


def test_more_passages_never_raise_the_energy_and_fewer_never_lower_it(drift: Carried) -> None:
    for side in ("supported", "unsupported"):
        for name in ("random_1", "random_4", "random_16", "near_1", "near_4", "near_16"):
            assert row(drift, name)[side]["largest_rise"] <= 1e-9
        assert row(drift, "drop_1")[side]["energy_change"] > 0
        assert row(drift, "drop_2")[side]["energy"] > row(drift, "drop_1")[side]["energy"]


def test_a_gate_lets_more_foreign_evidence_through_the_more_passages_there_are(
    drift: Carried,
) -> None:
    shares = [
        row(drift, name)["unsupported"]["accepted"]["share"]
        for name in ("base", "near_1", "near_4", "near_16")
    ]
    assert shares == sorted(shares)
    assert shares[-1] > 0.5
    assert drift.result.reading.outcome is Outcome.REFUTED
    assert row(drift, "near_16")["unsupported"]["turned_to_review"] == 0


def test_as_many_directions_as_dimensions_measure_nothing_and_are_counted(drift: Carried) -> None:
    assert row(drift, "near_64")["supported"]["n_unmeasured"] == 130
    assert row(drift, "near_64")["supported"]["energy"] is None


def test_drift_is_read_again_from_its_table(drift: Carried) -> None:
    table = [json.loads(json.dumps(dict(r))) for r in drift.table]
    rows, contrasts = retrieval_drift.judged(table, DRIFT)
    assert list(rows) == list(drift.result.rows)
    assert set(contrasts) == {str(c["name"]) for c in drift.result.contrasts}


def test_copies_and_orders_do_not_move_the_energy_of_the_made_world() -> None:
    carried = carry_out("C9", inputs=Inputs(world="synthetic"), limit=6)
    assert carried.result.reading.outcome is Outcome.SUPPORTED
    for name in ("copies_merged", "copies_kept", "orders"):
        (found,) = (c for c in carried.result.contrasts if c["name"] == name)
        assert found["estimate"] == pytest.approx(0.0, abs=1e-12)
    table = [json.loads(json.dumps(dict(r))) for r in carried.table]
    assert list(copies.rows_of(table)) == list(carried.result.rows)


def test_a_cap_between_equal_directions_leaves_the_energy_to_chance_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[Any] = [
        {
            "claim": f"a{i} b{i}",
            "evidence": [f"a{i} x{i}", f"b{i} y{i}", f"c{i} z{i}"],
            "label": "supported",
            "group": str(i),
        }
        for i in range(4)
    ]
    words = bag_of(rows)
    monkeypatch.setattr("trueness.study.embedded_inputs.embedder_of", lambda *_: words)
    data = written(tmp_path / "ties.jsonl", rows)
    carried = carry_out("C9", inputs=Inputs(data=data))
    (capped,) = (c for c in carried.result.contrasts if c["name"] == "unstable_under_a_cap")
    assert capped["estimate"] == 1.0
    full: Any = next(r for r in carried.result.rows if r["name"] == "own_exact_full_none_8")
    assert full["unstable"] == 0
    assert full["largest"] == pytest.approx(0.0, abs=1e-12)


def test_other_words_for_the_same_passage_can_only_lower_the_full_energy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[Any] = [
        {
            "claim": f"it is reported that a{i}",
            "evidence": [f"a{i} x{i}"],
            "label": "supported",
            "group": str(i),
        }
        for i in range(3)
    ]
    words = bag_of([*rows, {"claim": " ".join(copies.FRAMES), "evidence": []}])
    monkeypatch.setattr("trueness.study.embedded_inputs.embedder_of", lambda *_: words)
    carried = carry_out("C9", inputs=Inputs(data=written(tmp_path / "own.jsonl", rows)))
    (reworded,) = (c for c in carried.result.contrasts if c["name"] == "reworded")
    assert float(str(reworded["estimate"])) < -0.1
