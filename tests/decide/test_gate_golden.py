"""The golden vectors of the gate."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trueness.contract.errors import (
    AmbiguousLabels,
    DependentItems,
    FingerprintMismatch,
    InvalidReading,
    TooFewCalibrationItems,
)
from trueness.decide.deciding import decide
from trueness.decide.gate import Gate
from trueness.decide.labels import unsupported_codes
from trueness.decide.lines import encoded, hash_of
from trueness.decide.policy import policy_of
from trueness.decide.retracing import replay_rows
from trueness.decide.stored import compare_fingerprints

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "gate.json").read_text())
BY_NAME = {v["name"]: v for v in GOLDEN}


def vector(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    return BY_NAME[name]["input"], BY_NAME[name]["expected"]


def named(chosen: Any) -> list[Any]:
    return [pytest.param(v["input"], v["expected"], id=v["name"]) for v in GOLDEN if chosen(v)]


def gate_for(asked: dict[str, Any]) -> Gate:
    level = 1 - Fraction(asked.get("delta", "1/20"))
    method = "exact" if asked["method"] == "exact" else "conformal"
    unit = asked.get("unit", "item")
    if asked["method"] == "grouped_conformal":
        unit = "grouped_conformal"
    population = asked.get("population", "measured")
    return Gate(asked["budget"], level, method=method, unit=unit, population=population)


@pytest.mark.parametrize("name", ["threshold_with_ties", "threshold_inside_an_atom"])
def test_golden_thresholds_are_strict(name: str) -> None:
    asked, wanted = vector(name)
    gate = gate_for(asked).fit(asked["negatives"], [True] * len(asked["negatives"]))
    threshold = gate.fitted.calibration.threshold
    assert threshold is not None
    assert (threshold.k, gate.threshold_) == (wanted["k"], wanted["threshold"])
    for key, value in wanted.items():
        if key.startswith("accepts_value_"):
            verdict = gate.predict([float(key.rsplit("_", 1)[1])])[0]
            assert (verdict == "accept") == value
    accepted = (gate.predict(asked["negatives"]) == "accept").sum()
    assert accepted == wanted["calibration_accepted"]


def test_golden_unmeasured_negatives_rank_last() -> None:
    asked, wanted = vector("threshold_unmeasured_population_all")
    gate = gate_for(asked).fit(asked["negatives"], [True] * 10)
    threshold = gate.fitted.calibration.threshold
    assert threshold is not None
    assert (threshold.n, threshold.k) == (wanted["n"], wanted["k"])
    assert gate.threshold_ == wanted["threshold"]


def test_golden_rejection_is_above_the_atom() -> None:
    asked, wanted = vector("reject_threshold_is_above_the_atom")
    values = [*asked["supported"], *range(-20, 0)]
    labels = [False] * 10 + [True] * 20
    level = 1 - Fraction(asked["delta"])
    gate = Gate("1/2", level, reject_budget=asked["reject_budget"]).fit(values, labels)
    assert gate.fitted.policy.reject == wanted["rho"]
    rank = gate.fitted.calibration.reject
    assert rank is not None
    assert rank.k == wanted["k"]
    rejected = (gate.predict([9, 10]) == "reject").tolist()
    assert rejected == [wanted["rejects_value_9"], wanted["rejects_value_10"]]


@pytest.mark.parametrize(
    ("asked", "wanted"), named(lambda v: v["input"].get("method") == "grouped_conformal")
)
def test_golden_grouped_thresholds(asked: dict[str, Any], wanted: dict[str, Any]) -> None:
    values = [v for g in asked["groups"] for v in g]
    sources = [f"s{i}" for i, g in enumerate(asked["groups"]) for _ in g]
    gate = gate_for(asked)
    if "raises" in wanted:
        with pytest.raises(TooFewCalibrationItems) as raised:
            gate.fit(values, [True] * len(values), sources)
        assert (raised.value.n, raised.value.n_needed) == (wanted["n"], wanted["n_needed"])
        return
    assert gate.fit(values, [True] * len(values), sources).threshold_ == wanted["threshold"]


def test_golden_worst_of_source() -> None:
    asked, wanted = vector("worst_of_source")
    values = [v for g in asked["groups"] for v in g]
    sources = [f"s{i}" for i, g in enumerate(asked["groups"]) for _ in g]
    gate = gate_for(asked).fit(values, [True] * len(values), sources)
    threshold = gate.fitted.calibration.threshold
    assert threshold is not None
    assert (threshold.n, threshold.k) == (wanted["n"], wanted["k"])
    assert gate.threshold_ == wanted["threshold"]


def test_golden_items_of_shared_sources_are_refused() -> None:
    asked, _ = vector("pooled_items_of_shared_sources_refused")
    sources = [f"s{i % asked['sources']}" for i in range(asked["n"])]
    with pytest.raises(DependentItems, match=r"'s0' with 10.*source_one"):
        gate_for(asked).fit(np.arange(asked["n"]), [True] * asked["n"], sources)


@pytest.mark.parametrize(
    ("asked", "wanted"),
    named(lambda v: v["name"].startswith("exact_k_") and "raises" in v["expected"]),
)
def test_golden_refusals_carry_every_number(asked: dict[str, Any], wanted: dict[str, Any]) -> None:
    with pytest.raises(TooFewCalibrationItems) as raised:
        gate_for(asked).fit(np.arange(asked["n"]), np.ones(asked["n"], dtype=bool))
    error = raised.value
    assert (error.n, error.n_needed) == (wanted["n"], wanted["n_needed"])
    assert error.smallest_budget == pytest.approx(wanted["smallest_budget"], abs=1e-12)
    assert "59 needed" in str(error)
    assert "0.0503" in str(error)
    assert "conformal" in str(error)


def test_forty_items_are_told_the_smallest_budget_they_could_carry() -> None:
    with pytest.raises(TooFewCalibrationItems, match=r"40 .*59 needed.*0\.072"):
        Gate().fit(np.arange(40), np.ones(40, dtype=bool))


@pytest.mark.parametrize(("asked", "wanted"), named(lambda v: v["source"] == "decision table"))
def test_golden_decisions(asked: dict[str, Any], wanted: dict[str, Any]) -> None:
    policy = policy_of(asked["policy"])
    if "raises" in wanted:
        with pytest.raises(InvalidReading):
            decide(policy, asked["row"])
        return
    assert decide(policy, asked["row"]) == (wanted["verdict"], wanted["rule"])


@pytest.mark.parametrize(("asked", "wanted"), named(lambda v: v["name"].startswith("fingerprint_")))
def test_golden_fingerprints(asked: dict[str, Any], wanted: dict[str, Any]) -> None:
    if wanted["match"]:
        compare_fingerprints(asked["calibration"], asked["reading"])
        return
    with pytest.raises(FingerprintMismatch, match='revision = "a1"; this reading has "b2"') as it:
        compare_fingerprints(asked["calibration"], asked["reading"])
    assert list(it.value.differs) == wanted["differs"]


def test_golden_hash_of_a_row() -> None:
    asked, wanted = vector("trace_row_hash")
    assert encoded(asked["row"]) == wanted["canonical"]
    assert hash_of(asked["row"]) == wanted["hash"]


@pytest.mark.parametrize(("asked", "wanted"), named(lambda v: v["name"].startswith("replay_")))
def test_golden_replays(asked: dict[str, Any], wanted: dict[str, Any]) -> None:
    found = replay_rows(asked["trace"], asked["manifest"], policy_of(asked["policy"]))
    assert found.ok == wanted["ok"]
    assert len(found.problems) == len(wanted["problems"])
    for problem, expected in zip(found.problems, wanted["problems"], strict=True):
        assert (problem.seq, problem.kind) == (expected["seq"], expected["kind"])
        if "recorded" in expected:
            assert (problem.recorded, problem.derived) == (
                expected["recorded"],
                expected["derived"],
            )


def test_golden_labels_of_zero_and_one_are_refused() -> None:
    asked, _ = vector("labels_zero_one_refused")
    with pytest.raises(AmbiguousLabels, match="--positive supported"):
        unsupported_codes(asked["labels"])
    assert unsupported_codes(asked["labels"], positive="unsupported").tolist() == [0, 1, 1, 0]
    assert unsupported_codes(asked["labels"], positive="supported").tolist() == [1, 0, 0, 1]
