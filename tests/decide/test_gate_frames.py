"""calibrate, gate and replay take any table; what would change nothing is refused."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from trueness.api.gating import calibrate, gate, ground_by
from trueness.api.grounding import ground
from trueness.api.readings import measured
from trueness.api.replaying import replay
from trueness.backends import open_embedder
from trueness.contract.errors import BackendError, DependentItems, InputError
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
    idle = ({"window": 64}, {"embedder": letters}, {"limit": 3}, {"corpus": ["a"]}, {"rank": 3})
    for given in idle:
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


def test_a_grid_that_nothing_tests_is_refused() -> None:
    grid: Any
    for grid in ("nan", "0.1,0.2", [0.1], [float("nan")], ["a"], [], 3, str(LABELLED)):
        with pytest.raises(InputError, match=r"only accepted_error tests one"):
            calibrate(LABELLED, label="label", budget=0.05, grid=grid, **OVERLAP)
    for grid in ("nan", [float("nan")], ["a"], [], 3):
        with pytest.raises(InputError, match="grid"):
            calibrate(
                LABELLED, label="label", budget=0.05, error="accepted_error", grid=grid, **OVERLAP
            )


def test_labels_are_named_once() -> None:
    labels = {r["item"]: r["label"] for r in rows()}
    with pytest.raises(InputError, match="labels are named twice"):
        calibrate(LABELLED, label="label", labels=labels, budget=0.05, **OVERLAP)


def test_what_is_of_a_wrong_type_is_one_clear_error() -> None:
    made = calibrate(LABELLED, label="label", budget=0.05, **OVERLAP)
    wrong: Any = 3
    for call in (
        lambda: gate(LABELLED, made, kind=["kind"]),  # type: ignore[arg-type] # on purpose
        lambda: gate(LABELLED, made, sensor="energy"),
        lambda: calibrate(LABELLED, label=["label"], budget=0.05, **OVERLAP),  # type: ignore[arg-type] # on purpose
        lambda: calibrate(LABELLED, label="label", policy=wrong, budget=0.05, **OVERLAP),
        lambda: calibrate(LABELLED, label="label", policy=[], budget=0.05, **OVERLAP),  # type: ignore[arg-type] # on purpose
        lambda: ground(LABELLED, embedder=letters, select=wrong),
        lambda: ground(LABELLED, embedder=letters, limit="x"),  # type: ignore[arg-type] # on purpose
        lambda: ground(LABELLED, embedder=letters, entailer=wrong),
        lambda: ground(LABELLED, embedder=letters, revision=wrong),
    ):
        with pytest.raises(InputError):
            call()


def test_a_gate_from_unsupported_claims_alone_says_so() -> None:
    wrong = [row for row in rows() if row["label"] == "unsupported"]
    made = calibrate(wrong, label="label", budget=0.05, **OVERLAP)
    assert "no item is labelled supported" in " ".join(made.notes())


def test_too_many_passages_are_refused_before_anything_is_embedded() -> None:
    seen: list[str] = []

    def counted(texts: list[str]) -> list[list[float]]:
        seen.extend(texts)
        return letters(texts)

    many = [{"claim": "a b", "evidence": [f"passage {i}" for i in range(100)]}]
    for sensor in ("energy", "energy.cone"):
        with pytest.raises(InputError, match="100 passages and at most 64"):
            ground(many, embedder=counted, sensor=sensor)
    assert not [text for text in seen if text.startswith("passage")]
    assert ground(many, embedder=letters, max_passages=100).n_items == 1


def test_missing_and_blank_passages_are_counted_in_a_note() -> None:
    claims = [{"claim": "a b", "evidence": ["a c", None, " "]}, {"claim": "a", "evidence": ["b"]}]
    said = json.dumps(ground(claims, embedder=letters).to_dict())
    assert "2 of 4 passages are blank or missing" in said


def test_an_embedder_that_raises_its_own_error_is_named() -> None:
    class OwnError(Exception):
        """An error of the embedder's own."""

    def broken(texts: list[str]) -> list[list[float]]:
        raise OwnError(texts[0])

    with pytest.raises(BackendError, match=r"broken failed on .*OwnError"):
        ground([{"claim": "a", "evidence": ["b"]}], embedder=broken)


def test_an_embedder_object_that_raises_its_own_error_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class OwnError(Exception):
        """An error of the embedder's own."""

    def broken(*_: object) -> list[list[float]]:
        raise OwnError

    embedder = open_embedder(letters)
    monkeypatch.setattr(type(embedder), "embed", broken)
    with pytest.raises(BackendError, match=r"letters failed on .*OwnError"):
        ground([{"claim": "a", "evidence": ["b"]}], embedder=embedder)
