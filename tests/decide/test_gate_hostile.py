"""Gate files, traces and values that somebody changed, or that are no such thing."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from trueness.contract import Direction, ItemReading, Reading, State
from trueness.contract.blocks import Statement
from trueness.contract.errors import (
    AmbiguousLabels,
    InputError,
    InvalidReading,
    PolicyError,
    ShapeError,
    TooFewCalibrationItems,
    TruenessError,
)
from trueness.contract.serial import Json
from trueness.decide.calibrating import apply_gate, calibrate
from trueness.decide.columns import columns_of_items
from trueness.decide.gate import Gate
from trueness.decide.hashing import hash_json
from trueness.decide.lines import GENESIS, encoded, hash_of
from trueness.decide.policy import policy_of
from trueness.decide.promise import promise_of
from trueness.decide.retracing import replay
from trueness.decide.stored import gate_of, read_gate

N = 70
BEYOND = 10**400
"""A whole number beyond every float."""


def reading() -> Reading:
    items = [
        ItemReading(
            f"i{i}",
            State.MEASURED if i % 9 else State.NO_EVIDENCE,
            None if i % 9 else "no_evidence",
            i / N if i % 9 else None,
            {"group": f"g{i}", "sub": f"part {i}"},
        )
        for i in range(N * 2)
    ]
    n = sum(i.value is not None for i in items)
    return Reading(
        sensor="energy",
        direction=Direction.HIGHER_IS_WORSE,
        state=State.MEASURED,
        reason=None,
        value=0.5,
        n_measured=n,
        n_items=len(items),
        blocks=(Statement("measured", "neutral"),),
        per_item=items,
    )


def labels() -> dict[str, object]:
    return {f"i{i}": i >= N for i in range(N * 2)}


def written(folder: Path) -> tuple[Path, Path]:
    """A gate file and the trace of what it decided."""
    gate = calibrate(reading(), labels(), promise_of(reject_budget=0.1))
    gate.write(folder / "gate.json")
    apply_gate(gate, reading(), trace=folder / "trace.jsonl")
    return folder / "gate.json", folder / "trace.jsonl"


def chained(rows: list[dict[str, Json]]) -> str:
    """The rows as a trace whose chain is whole: what somebody without a key can write."""
    prev, lines = GENESIS, []
    for row in rows:
        made = dict(row)
        if "manifest" in made:
            made["last"] = prev
        made["prev"] = prev
        made["hash"] = prev = hash_of(made)
        lines.append(encoded(made))
    return "\n".join(lines) + "\n"


def test_a_trace_as_it_was_written_fits(tmp_path: Path) -> None:
    gate, trace = written(tmp_path)
    rows = [json.loads(line) for line in trace.read_text("utf-8").splitlines()]
    assert chained(rows) == trace.read_text("utf-8")
    assert replay(trace, read_gate(gate), reading=reading()).ok


@pytest.mark.parametrize(
    ("at", "name", "value"),
    [
        (1, "group", "another source"),
        (1, "sub", "another part"),
        (0, "reason", "claim_zero"),
        (1, "diagnostics", {"spread": 1.0}),
        (1, "approved_by", "somebody"),
        (-1, "approved_by", "somebody"),
        (-1, "manifest", 1),
    ],
)
def test_a_field_that_was_changed_is_found_though_the_chain_is_whole(
    tmp_path: Path, at: int, name: str, value: Json
) -> None:
    gate, trace = written(tmp_path)
    rows = [json.loads(line) for line in trace.read_text("utf-8").splitlines()]
    rows[at][name] = value
    trace.write_text(chained(rows), "utf-8")
    assert not replay(trace, read_gate(gate), reading=reading()).ok


@pytest.mark.parametrize(
    ("at", "name"),
    [(0, "value"), (0, "risk"), (1, "sub"), (1, "group"), (0, "reason"), (-1, "verdicts")],
)
def test_a_field_that_was_taken_out_is_found_without_the_reading(
    tmp_path: Path, at: int, name: str
) -> None:
    gate, trace = written(tmp_path)
    rows = [json.loads(line) for line in trace.read_text("utf-8").splitlines()]
    del rows[at][name]
    trace.write_text(chained(rows), "utf-8")
    assert not replay(trace, read_gate(gate)).ok


def _set(data: dict[str, Json], where: str, value: Json) -> None:
    *lead, last = where.split(".")
    place: dict[str, Json] = data
    for name in lead:
        found = place[name]
        assert isinstance(found, dict)
        place = found
    place[last] = value


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("sensor", "energy.cone"),
        ("notes", ["nothing to say"]),
        ("approved_by", "somebody"),
        ("calibration_hash", ""),
        ("policy_hash", ""),
        ("calibration.schema", "another"),
        ("calibration.says", "With confidence 0.99, from 9,000 items, nothing is wrong."),
        ("calibration.holds", "always"),
        ("calibration.threshold", 0.9),
        ("calibration.approved_by", "somebody"),
        ("policy.diagnostics", None),
    ],
)
def test_a_gate_file_that_says_something_else_than_its_parts_is_refused(
    tmp_path: Path, where: str, value: Json
) -> None:
    path, _ = written(tmp_path)
    data = json.loads(path.read_text("utf-8"))
    _set(data, where, value)
    with pytest.raises(InputError, match="contradicts itself"):
        gate_of(data).checked()


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("rank.n", 9000),
        ("rank.k", 60),
        ("rank.guarantee", 0.9999),
        ("reject_rank.n", 9000),
        ("rank", None),
    ],
)
def test_a_rank_that_the_stored_risks_do_not_have_is_refused_with_its_hash_made_anew(
    tmp_path: Path, where: str, value: Json
) -> None:
    path, _ = written(tmp_path)
    data = json.loads(path.read_text("utf-8"))
    _set(data["calibration"], where, value)
    made = gate_of(data)
    data |= {"calibration": made.calibration.to_dict(), "calibration_hash": made.calibration.hash}
    assert any("rank" in why for _, why in gate_of(data).faults())


def test_coefficients_of_a_saved_score_that_were_changed_are_found(tmp_path: Path) -> None:
    path, _ = written(tmp_path)
    data = json.loads(path.read_text("utf-8"))
    data |= {"score": {"weights": [1.0]}, "score_hash": hash_json({"weights": [1.0]})}
    assert not gate_of(data).faults()
    data["score"] = {"weights": [2.0]}
    assert gate_of(data).faults()
    del data["score_hash"]
    assert gate_of(data).faults()


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"schema":"trueness.gate/1","schema":"trueness.gate/1"}',
        '{"schema":' + "9" * 5000 + "}",
        "",
        '{"schema": NaN}',
    ],
    ids=["deep", "a key twice", "many digits", "empty", "nan"],
)
def test_what_is_no_gate_file_is_one_clear_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "gate.json"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError):
        read_gate(path)


@pytest.mark.parametrize("where", ["tau", "rho", "rank.tau", "promise.budgets_tried"])
@pytest.mark.parametrize("value", [BEYOND, float("inf"), 1e300, True, "x", [], {}])
def test_numbers_of_a_gate_file_that_no_float_holds_are_one_clear_error(
    tmp_path: Path, where: str, value: Json
) -> None:
    path, _ = written(tmp_path)
    data = json.loads(path.read_text("utf-8"))
    _set(data["calibration"], where, value)
    with pytest.raises(InputError):
        gate_of(data).checked()


def test_a_diagnostic_beyond_every_float_is_one_clear_error() -> None:
    item = ItemReading("i", State.MEASURED, None, 0.5, {"spread": BEYOND})
    with pytest.raises(InvalidReading, match="spread"):
        columns_of_items([item], Direction.HIGHER_IS_WORSE)


def test_masked_values_are_not_measured_and_not_counted() -> None:
    values = np.ma.array(np.arange(60.0), mask=[True] * 30 + [False] * 30)
    with pytest.raises(TooFewCalibrationItems, match="30 unsupported items"):
        Gate().fit(values, [True] * 60)


@pytest.mark.parametrize(
    ("values", "labels", "error"),
    [
        ([BEYOND], [True], InvalidReading),
        ([np.complex128(1 + 2j)], [True], InputError),
        ([1.0], np.ones((1, 1), dtype=np.bool_), ShapeError),
        ([1.0], np.ones((1, 2), dtype=np.bool_), ShapeError),
        ([1.0], {1: True, "b": True, None: False}, InputError),
        ([1.0, 2.0], [True, "unsupported"], AmbiguousLabels),
    ],
)
def test_values_and_labels_that_are_none_are_one_clear_error(
    values: object, labels: object, error: type[TruenessError]
) -> None:
    with pytest.raises(error):
        Gate().fit(values, labels)  # type: ignore[arg-type] # that is what is refused


@pytest.mark.parametrize(
    "given",
    [
        {"budget": "1e-300"},
        {"budget": "1e-9999999999"},
        {"budgets_tried": 1.5},
        {"budgets_tried": BEYOND},
        {"seed": -1},
        {"seed": "a"},
        {"negatives": ""},
        {"negatives": None},
    ],
    ids=str,
)
def test_a_promise_that_nobody_can_keep_is_one_clear_error(given: dict[str, object]) -> None:
    with pytest.raises(TruenessError):
        Gate(**given).fit(list(range(60)), [True] * 60)  # type: ignore[arg-type] # as above


@pytest.mark.parametrize("grid", ["abc", 5, ["a"], [None], [BEYOND], [1, [2]], {1: 2}], ids=str)
def test_a_grid_that_is_none_is_one_clear_error(grid: object) -> None:
    gate = Gate(error="accepted_error", grid=grid)  # type: ignore[arg-type] # as above
    with pytest.raises(InputError):
        gate.fit(list(range(60)), [False] * 60)


def test_a_score_that_is_none_is_one_clear_error() -> None:
    with pytest.raises(InputError, match="predict_proba"):
        Gate(combined=5).fit([[1.0]], [True])  # type: ignore[arg-type] # as above


POLICIES: list[Callable[[], object]] = [
    lambda: 5,
    lambda: {1: 2, "a": 3},
    lambda: {"kind": "value_only", "accept": BEYOND},
    lambda: {"kind": "value_only", "accept": 0.5, "on_unmeasured": []},
    lambda: {"kind": "band", "accept": 0.5, "gap": 0.1, "low_edge": []},
]


@pytest.mark.parametrize("given", POLICIES)
def test_a_policy_that_is_none_is_one_clear_error(given: Callable[[], object]) -> None:
    with pytest.raises(PolicyError):
        policy_of(given())  # type: ignore[arg-type] # as above
