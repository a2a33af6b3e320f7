"""calibrate, gate and replay take any table; what would change nothing is refused."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from trueness.api.gating import calibrate, gate, ground_by, replay
from trueness.api.grounding import ground
from trueness.api.readings import measured
from trueness.contract.errors import DependentItems, InputError
from trueness.decide.stored import GateFile

ROOT = Path(__file__).parents[2]
LABELLED = ROOT / "docs" / "examples" / "labelled.jsonl"
OVERLAP: dict[str, Any] = {"sensor": "baseline.word_overlap", "group": "source"}


def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in LABELLED.read_text("utf-8").splitlines()]


def letters(texts: list[str]) -> list[list[float]]:
    return [[1.0, *(float(t.lower().count(c)) for c in "abcdefghijklmn")] for t in texts]


def of(made: GateFile) -> dict[str, Any]:
    return {k: v for k, v in made.to_dict().items() if k != "notes"}


SOURCES = [rows, lambda: pd.DataFrame(rows()), lambda: pl.DataFrame(rows()), lambda: str(LABELLED)]


@pytest.mark.parametrize("source", SOURCES, ids=["dicts", "pandas", "polars", "text"])
def test_every_kind_of_table_gives_the_gate_and_the_decisions_of_its_file(
    source: Any, tmp_path: Path
) -> None:
    wanted = calibrate(LABELLED, label="label", budget=0.05, **OVERLAP)
    made = calibrate(source(), label="label", budget=0.05, **OVERLAP)
    assert of(made) == of(wanted)
    decided = gate(source(), made, group="source")
    assert decided.to_dict() == gate(LABELLED, wanted, group="source").to_dict()
    reading, again = ground_by(source(), made, group="source")
    assert again.verdicts == decided.verdicts
    assert reading.to_dict()["value"] == measured(LABELLED, **OVERLAP).value
    labels = [{"item": r["item"], "label": r["label"]} for r in rows()]
    beside = calibrate(reading, labels=pd.DataFrame(labels), budget=0.05)
    assert beside.calibration.tau == wanted.calibration.tau
    stored, trace, about = (tmp_path / name for name in ("g.json", "t.jsonl", "r.json"))
    made.write(stored)
    kinds = [{**r, "what": "role_swap"} for r in rows()]
    gate(kinds, made, group="source", kind="what", trace=trace)
    about.write_text(measured(kinds, **OVERLAP).to_json(), "utf-8")
    assert replay(trace, stored, reading=about, claims=kinds, kind="what").ok


def test_an_evaluation_and_a_policy_in_hand_are_taken() -> None:
    half = [r for r in rows() if int(r["item"].split()[1]) < 125]
    other = pl.DataFrame(rows()[125:])
    limits = {"kind": "axes_first", "diagnostics": {}}
    made = calibrate(half, label="label", budget=0.05, evaluate=other, policy=limits, **OVERLAP)
    assert made.policy.kind.value == "axes_first"
    assert "supported" in made.calibration.evaluation


@pytest.mark.parametrize("source", [3, None, [], [3], {"claim": 3}, object()])
def test_what_is_no_table_is_one_clear_error(source: Any) -> None:
    made = calibrate(LABELLED, label="label", budget=0.05, **OVERLAP)
    for call in (
        lambda: calibrate(source, label="label", budget=0.05, **OVERLAP),
        lambda: gate(source, made),
        lambda: gate(LABELLED, source),
        lambda: gate(source, made, kind="what"),
    ):
        with pytest.raises(InputError):
            call()


def test_claims_in_a_list_of_texts_are_told_that_their_evidence_is_missing() -> None:
    made = calibrate(LABELLED, label="label", budget=0.05, **OVERLAP)
    with pytest.raises(InputError, match="2 claims and no evidence"):
        gate(["Ann won.", "Bob lost."], made)


# What would change nothing


@pytest.mark.parametrize(
    ("given", "users"),
    [
        ({"corpus": ["a b", "c d"]}, "energy.corpus, energy.whitened"),
        ({"weights": "w"}, "energy.weighted"),
    ],
)
@pytest.mark.parametrize("sensor", ["energy", "energy.cone", "baseline.top1"])
def test_what_a_sensor_does_not_read_is_refused(
    given: dict[str, Any], users: str, sensor: str
) -> None:
    claims = [{"claim": "a b", "evidence": ["a c"], "w": [1.0]}]
    (name,) = given
    with pytest.raises(InputError, match=f"{name} is given, .* does not read it.*{users}"):
        ground(claims, sensor=sensor, embedder=letters, **given)


def test_an_entailer_is_refused_where_nothing_reads_it() -> None:
    with pytest.raises(InputError, match=r"entailer is given, .* name a sensor that does: energy"):
        ground(
            [{"claim": "a", "evidence": ["b"]}], sensor="energy.hull", entailer="cross-encoder:x"
        )


def test_what_a_written_reading_has_no_use_for_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(measured(LABELLED, **OVERLAP).to_json(), "utf-8")
    made = calibrate(LABELLED, label="label", budget=0.05, **OVERLAP)
    assert gate(path, made, group="source").details["n_accept"]
    for given in ({"window": 64}, {"embedder": letters}, {"limit": 3}, {"corpus": ["a", "b"]}):
        with pytest.raises(
            InputError, match="the reading was made before: it would change nothing"
        ):
            gate(path, made, **given)


def test_a_column_of_sources_is_refused_where_the_reading_has_none() -> None:
    named = [{k if k != "source" else "page": v for k, v in r.items()} for r in rows()]
    bare = measured(named, sensor="baseline.word_overlap")
    labels = {r["item"]: r["label"] for r in rows()}
    assert calibrate(bare, labels=labels, budget=0.05).calibration.independence == "assumed"
    with pytest.raises(InputError, match="no item of the reading has a source"):
        calibrate(bare, labels=labels, budget=0.05, group="page")


def test_what_a_sensor_of_answers_has_no_use_for_is_refused() -> None:
    answers = [{"item": str(i), "answers": ["x", "y", None], "target": "x"} for i in range(5)]
    with pytest.raises(InputError, match=r"corpus is given, .*reads answers and no evidence"):
        measured(answers, sensor="atlas", corpus=["a", "b"])
    assert measured(answers, sensor="atlas", cache=None).n_items == 5


# Claims that are made of others


def test_made_claims_share_their_source_so_one_of_each_source_is_the_unit() -> None:
    right = [r for r in rows() if r["label"] == "supported"]
    made = calibrate(
        right, unsupported="nearest", budget=0.05, group="source", embedder=letters, revision="1"
    )
    assert made.calibration.promise.unit.value == "source_one"
    assert "unit source_one" in made.calibration.sentence()
    with pytest.raises(DependentItems, match=r"share their source with them.*Leave unit out"):
        calibrate(
            right, unsupported="random", budget=0.05, group="source", unit="item", embedder=letters
        )


def test_weights_go_with_the_evidence_that_is_exchanged() -> None:
    right = [
        {**r, "w": [1.0 + k for k in range(len(r["evidence"]))]}
        for r in rows()
        if r["label"] == "supported"
    ]
    how: dict[str, Any] = {"group": "source", "embedder": letters, "revision": "1"}
    made = calibrate(
        right, unsupported="random", budget=0.05, sensor="energy.weighted", weights="w", **how
    )
    assert made.sensor == "energy.weighted"
    with pytest.raises(InputError, match="does not read it"):
        calibrate(right, unsupported="random", budget=0.05, weights="w", **how)
