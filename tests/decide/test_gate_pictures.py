"""A gate file as a page: promise, curve, budget, what it did elsewhere; thresholds in texts."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness import report
from trueness.contract import Direction, ItemReading, Reading, State, Verdict
from trueness.contract import blocks as b
from trueness.decide.calibrating import calibrate
from trueness.decide.columns import columns_of_values
from trueness.decide.curves import MOST, POINTS, curve_of
from trueness.decide.hashing import hash_json
from trueness.decide.marking import marked
from trueness.decide.picture import calibration_blocks
from trueness.decide.promise import Population, promise_of
from trueness.decide.stored import GateFile, gate_of

N = 160


def gate_file(*, direction: Direction = Direction.HIGHER_IS_WORSE, **asked: Any) -> GateFile:
    rng = np.random.default_rng(0)
    wrong = np.arange(N) % 2 == 1
    values = rng.normal(size=N) + 4 * wrong
    if direction is Direction.HIGHER_IS_BETTER:
        values = -values
    groups = [f"g{i}" for i in range(N)] if asked.pop("sources", True) else None
    return calibrate(
        values.tolist(),
        wrong.tolist(),
        promise_of(**({"budget": 0.05} | asked)),
        groups=groups,
        direction=direction,
        grid=[0.5, 1.0, 1.5, 2.0] if asked.get("error") == "accepted_error" else None,
    )


def of(gate: GateFile, kind: type) -> Any:
    return next(block for block in calibration_blocks(gate) if isinstance(block, kind))


def facts(gate: GateFile) -> Mapping[str, b.Fact]:
    return {fact.name: fact for fact in of(gate, b.Facts).facts}


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.sampled_from([-1, 0, 1])), min_size=1, max_size=60),
    st.integers(-9, 9),
    st.sampled_from(list(Population)),
)
def test_the_curve_counts_what_lies_strictly_below(
    rows: list[tuple[int, int]], tau: int, population: Population
) -> None:
    values = [None if v == 9 else float(v) for v, _ in rows]
    codes = np.array([c for _, c in rows], np.int8)
    found: Any = curve_of(
        columns_of_values(values, Direction.HIGHER_IS_WORSE), codes, population, float(tau)
    )
    if not any(v is not None and c >= 0 for v, c in zip(values, codes, strict=True)):
        assert found == {}
        return
    assert float(tau) in found["risks"]
    assert found["risks"] == sorted(set(found["risks"]))
    for name, code in (("supported", 0), ("unsupported", 1)):
        mine = [v for v, c in zip(values, codes, strict=True) if c == code]
        known = [v for v in mine if v is not None]
        assert found[name] == [sum(v < t for v in known) for t in found["risks"]]
        assert found[f"n_{name}"] == len(mine if population is Population.ALL else known)


def test_a_curve_is_short_and_a_very_long_calibration_has_none() -> None:
    codes = np.zeros(10_000, np.int8)
    values = columns_of_values(np.random.default_rng(0).random(10_000), Direction.HIGHER_IS_WORSE)
    found: Any = curve_of(values, codes, Population.MEASURED, 0.5)
    assert len(found["risks"]) <= POINTS + 2
    many = columns_of_values(np.zeros(MOST + 1), Direction.HIGHER_IS_WORSE)
    assert curve_of(many, np.zeros(MOST + 1, np.int8), Population.MEASURED, 0.0) == {}


@pytest.mark.parametrize("direction", [Direction.HIGHER_IS_WORSE, Direction.HIGHER_IS_BETTER])
def test_the_threshold_stands_on_the_curve_in_the_units_of_the_value(direction: Direction) -> None:
    gate = gate_file(direction=direction)
    curve: b.Curve = of(gate, b.Curve)
    lines = {s.label.split(" ")[0]: s for s in curve.series}
    tau = gate.calibration.value_threshold
    assert lines["threshold"].points == ((tau, 0.0), (tau, 1.0))
    assert {y for _, y in lines["budget"].points} == {0.05}
    for who, k in (("supported", None), ("unsupported", 3 - 1)):
        points = lines[who].points
        assert [x for x, _ in points] == sorted(x for x, _ in points)
        share = next(y for x, y in points if x == tau)
        assert share is not None
        if k is not None:
            rank: Any = gate.calibration.threshold
            assert share == pytest.approx((rank.k - 1) / 80)
    side = "below" if direction is Direction.HIGHER_IS_WORSE else "above"
    assert facts(gate)["threshold"].qualifier == f"accept strictly {side}"


def test_the_page_says_budget_population_guarantee_and_exact_intervals() -> None:
    gate = gate_file(negatives="nearest centroid, K = 1, own source excluded")
    first = calibration_blocks(gate)[0]
    assert isinstance(first, b.Statement)
    assert first.text == gate.calibration.sentence()
    said = facts(gate)
    assert "nearest centroid, K = 1" in said["population"].display
    assert said["n"].display == "80"
    rank: Any = gate.calibration.threshold
    assert (
        float(said["guarantee"].display) <= rank.guarantee < float(said["guarantee"].display) + 1e-4
    )
    dots: b.IntervalDots = of(gate, b.IntervalDots)
    assert dots.reference == 0.05
    assert [(d.group, d.label) for d in dots.dots][::3] == [
        ("supported", "accepted"),
        ("unsupported", "accepted"),
    ]
    assert all(d.low is not None and d.high is not None for d in dots.dots)
    html = report.page({}, overview=calibration_blocks(gate), title="A gate")
    text = report.markdown({}, overview=calibration_blocks(gate))
    for form in (html, text.replace("\\", "")):
        for words in ("nearest centroid, K = 1", "guarantee", "budget 0.05", "exact 95 % interval"):
            assert words in form
    assert "probab" not in html.lower()


def test_another_error_another_method_and_no_sources_say_what_they_are() -> None:
    conformal = facts(gate_file(method="conformal"))
    assert "guarantee" not in conformal
    assert "no confidence level" in conformal["on average at most"].qualifier
    labels = [s.label for s in of(gate_file(error="accepted_error"), b.Curve).series]
    assert "unsupported among the accepted" in labels
    tested = facts(gate_file(error="accepted_error"))
    assert (tested["n"].display, tested["thresholds"].display) == ("160", "4")
    assumed = gate_file(sources=False)
    assert facts(assumed)["independence"].display == "assumed"
    said = [x for x in calibration_blocks(assumed)[1:] if isinstance(x, b.Statement)]
    assert said[0].text.startswith("Not looked at on other sources: there are no sources")
    rejecting = gate_file(reject_budget=0.05)
    assert "reject from" in facts(rejecting)


def test_a_file_keeps_its_curve_and_one_without_is_still_read() -> None:
    gate = gate_file()
    data = json.loads(json.dumps(gate.to_dict()))
    back = gate_of(data)
    assert back.calibration.curve == gate.calibration.curve
    assert not back.faults()
    del data["calibration"]["curve"]
    old = gate_of(data | {"calibration_hash": hash_json(data["calibration"])})
    assert old.calibration.hash != gate.calibration.hash
    assert not old.faults()
    assert not any(isinstance(block, b.Curve) for block in calibration_blocks(old))


def texts(values: list[float | None], direction: Direction) -> Reading:
    items = [
        ItemReading(
            f"i{k}",
            State.MEASURED if v is not None else State.NO_EVIDENCE,
            None if v is not None else "no_evidence",
            v,
        )
        for k, v in enumerate(values)
    ]
    shown = tuple(
        b.MarkedText(
            i.item, (b.Stretch("One.", 1, value=i.value), b.Stretch("Two.")), value=i.value
        )
        for i in items
    )
    return Reading(
        sensor="",
        direction=direction,
        state=State.MEASURED,
        reason=None,
        value=1.0,
        n_measured=sum(v is not None for v in values),
        n_items=len(values),
        blocks=(
            b.Statement("Said."),
            b.Bars("Bins", (b.Bar("low", ()), b.Bar("high", (), display="x")), 1.0),
            b.Bars(
                "Binned",
                (b.Bar("low", ()), b.Bar("high", (), display="x")),
                1.0,
                edges=(-9.0, -8.0, 9.0),
            ),
            b.MarkedTexts("Claims", shown, len(values), ("a",) * 5),
        ),
        per_item=items,
    )


@pytest.mark.parametrize("direction", [Direction.HIGHER_IS_WORSE, Direction.HIGHER_IS_BETTER])
def test_texts_are_marked_on_the_side_on_which_the_gate_decides(direction: Direction) -> None:
    made = gate_file(direction=direction)
    gate = gate_of(json.loads(json.dumps(made.to_dict())))
    tau = gate.calibration.value_threshold
    sign = 1 if direction is Direction.HIGHER_IS_WORSE else -1
    bare = texts([tau, tau - sign * 0.5, tau + sign * 0.5, None], direction)
    identity: Any = {"sensor": "", "direction": direction.value, "fingerprint": None}
    calibrated = replace(gate, calibration=replace(gate.calibration, fingerprint=identity))
    calibrated = replace(calibrated, calibration_hash="")
    reading, decision = marked(calibrated, bare)
    block = next(x for x in reading.blocks if isinstance(x, b.MarkedTexts))
    assert block.cut == tau
    plain, binned = (x for x in reading.blocks if isinstance(x, b.Bars))
    assert [bar.display for bar in plain.bars] == ["", "x"]
    assert [bar.display for bar in binned.bars] == ["", "x  ◂ the gate's threshold"]
    assert [t.beyond for t in block.texts] == [True, False, True, None]
    assert [t.stretches[0].beyond for t in block.texts] == [True, False, True, None]
    assert all(t.stretches[1].beyond is None for t in block.texts)
    verdicts = [v.verdict for v in decision.verdicts]
    assert verdicts == [Verdict.REVIEW, Verdict.ACCEPT, Verdict.REVIEW, Verdict.REVIEW]
    for text, verdict in zip(block.texts, verdicts, strict=True):
        assert text.verdict.startswith(verdict.value)
    assert "its sentences are marked for orientation" in block.note
