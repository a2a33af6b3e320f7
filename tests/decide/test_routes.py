"""A flagged item is reviewed whatever its number, and the flag stands in the trace."""

import json
from pathlib import Path
from typing import Any

import pytest

from trueness.api.gating import calibrate, gate, ground_by
from trueness.api.readings import measured
from trueness.api.replaying import replay
from trueness.api.routing import blind_kinds, kind_routes
from trueness.contract import Direction, ItemReading, Reading, State
from trueness.contract.blocks import Statement
from trueness.contract.errors import InputError
from trueness.decide.deciding import decide
from trueness.decide.policy import policy_of
from trueness.decide.routes import routed
from trueness.decide.stored import GateFile
from trueness.study.results import read_result

ROOT = Path(__file__).parents[2]
LABELLED = ROOT / "docs" / "examples" / "labelled.jsonl"


def reading(**extra: Any) -> Reading:
    items = (
        ItemReading("a", State.MEASURED, None, 0.1, extra),
        ItemReading("b", State.MEASURED, None, 0.2, {}),
    )
    return Reading(
        sensor="s",
        direction=Direction.HIGHER_IS_WORSE,
        state=State.MEASURED,
        reason=None,
        blocks=(Statement("Two items."),),
        value=0.15,
        n_measured=2,
        n_items=2,
        per_item=items,
    )


def test_flags_stand_beside_those_an_item_has_and_once() -> None:
    made = routed(reading(route=["old"]), {"a": ("old", "new")})
    assert made.per_item[0].extra["route"] == ["old", "new"]
    assert made.per_item[1].extra == {}


def test_without_flags_a_reading_is_left_as_it_is() -> None:
    one = reading()
    assert routed(one, {}) is one


def test_a_flag_for_nobody_is_refused() -> None:
    with pytest.raises(InputError, match="'z'"):
        routed(reading(), {"z": ("x",)})


def test_a_flagged_item_is_reviewed_however_safe_it_looks() -> None:
    row: Any = {"state": "MEASURED", "value": 0.0, "route": ["x"]}
    found = decide(policy_of({"kind": "value_only", "accept": 0.5}), row)
    assert (found.verdict.value, found.rule) == ("review", "routed")


@pytest.fixture(scope="module")
def made() -> GateFile:
    return calibrate(
        LABELLED, label="label", group="source", sensor="baseline.word_overlap", budget=0.05
    )


def claims(path: Path, kinds: list[str], checks: list[str | None]) -> Path:
    rows = [json.loads(line) for line in LABELLED.read_text("utf-8").splitlines()]
    right = [row for row in rows if row["label"] == "supported"][: len(kinds)]
    lines = [
        json.dumps({**row, "what": kind, "checked": check})
        for row, kind, check in zip(right, kinds, checks, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def test_a_blind_kind_goes_to_review_unless_its_relation_was_checked(
    made: GateFile, tmp_path: Path
) -> None:
    data = claims(
        tmp_path / "c.jsonl",
        ["role_swap", "role_swap", "summary", "quantity"],
        ["passed", "failed", None, None],
    )
    plain = gate(data, made, group="source", label="label")
    assert plain.details["n_accept"] == 4
    trace = tmp_path / "t.jsonl"
    found = gate(
        data,
        made,
        group="source",
        label="label",
        kind="what",
        relation_check="checked",
        trace=trace,
    )
    assert [v.verdict.value for v in found.verdicts] == ["accept", "review", "accept", "review"]
    lines = [json.loads(line) for line in trace.read_text("utf-8").splitlines()]
    assert lines[1]["rule"] == "routed"
    assert lines[1]["route"] == ["no threshold catches this kind: role_swap"]
    assert lines[0]["route"] == []


def test_a_trace_with_routes_replays_against_its_reading_and_its_kinds(
    made: GateFile, tmp_path: Path
) -> None:
    data = claims(tmp_path / "c.jsonl", ["role_swap", "summary"], [None, None])
    stored, trace, about = (tmp_path / name for name in ("g.json", "t.jsonl", "r.json"))
    made.write(stored)
    about.write_text(measured(data, sensor=made.sensor, group="source").to_json(), "utf-8")
    gate(data, stored, group="source", kind="what", trace=trace)
    assert replay(trace, stored).ok
    assert replay(trace, stored, reading=about, claims=data, kind="what").ok
    without = replay(trace, stored, reading=about)
    assert "value" in without.by_kind  # the reading knows of no route
    with pytest.raises(InputError, match="give both of them"):
        replay(trace, stored, kind="what")


def test_without_a_check_every_claim_of_a_blind_kind_is_reviewed(
    made: GateFile, tmp_path: Path
) -> None:
    data = claims(tmp_path / "c.jsonl", ["role_swap", "summary"], [None, None])
    found = gate(data, made, group="source", label="label", kind="what")
    assert [v.verdict.value for v in found.verdicts] == ["review", "accept"]


def test_columns_that_are_not_there_and_measures_without_a_study_are_refused(
    made: GateFile, tmp_path: Path
) -> None:
    data = claims(tmp_path / "c.jsonl", ["role_swap"], [None])
    with pytest.raises(InputError, match="no column 'sort'"):
        gate(data, made, kind="sort")
    with pytest.raises(InputError, match="name the column of kinds"):
        gate(data, made, relation_check="checked")
    with pytest.raises(InputError, match=r"energy\.cone is blind; known are"):
        kind_routes(data, sensor="energy.cone", kind="what")
    with pytest.raises(InputError, match="hand in the table"):
        gate(reading(), made, kind="what")


def test_the_blind_kinds_are_those_that_the_study_found() -> None:
    result = read_result(ROOT / "results" / "C13.json")
    budget: Any = result.draws["budget"]
    rows: list[Any] = [r for r in result.rows if r["data"] == "binding_made" and "kind" in r]
    assert len(rows) == 12
    for sensor in ("energy", "baseline.best_sin2", "baseline.word_overlap", "baseline.length"):
        measure = sensor.removeprefix("baseline.")
        found = {r["kind"] for r in rows if r[measure]["accepted"]["share"] > 2 * budget}
        assert set(blind_kinds(sensor)) == found
    assert {r["kind"] for r in rows if r["route"] == "review"} == set(blind_kinds("energy"))


@pytest.mark.parametrize("kind", ["role swap", "Role-Swap", "ROLE SWAP", " role_swap "])
def test_a_kind_is_known_however_it_is_spelled(made: GateFile, tmp_path: Path, kind: str) -> None:
    data = claims(tmp_path / "c.jsonl", [kind, "summary"], [None, None])
    found = gate(data, made, group="source", kind="what")
    assert [v.verdict.value for v in found.verdicts] == ["review", "accept"]
    notes: Any = found.details["notes"]
    assert "1 of 2 claims are of a kind that no study names, such as summary" in notes[-1]
    _, decided = ground_by(data, made, group="source", kind="what")
    assert decided.details["notes"] == notes


def test_a_column_without_any_known_kind_is_refused(made: GateFile, tmp_path: Path) -> None:
    data = claims(tmp_path / "c.jsonl", ["swapped", "summary"], [None, None])
    with pytest.raises(InputError, match=r"which says swapped, summary; known are .*role_swap"):
        gate(data, made, kind="what")
    with pytest.raises(InputError, match=r"kind is .* a list; give the name"):
        gate(data, made, kind=["what"])  # type: ignore[arg-type] # on purpose
    with pytest.raises(InputError, match="the gate names its own"):
        gate(data, made, sensor="energy")


def test_replay_takes_gates_and_readings_in_hand_and_names_of_columns(
    made: GateFile, tmp_path: Path
) -> None:
    data = claims(tmp_path / "c.jsonl", ["role_swap", "summary"], [None, None])
    other = {"claim": "c", "evidence": "ev", "item": "k"}
    lines = [json.loads(line) for line in data.read_text("utf-8").splitlines()]
    renamed = [{other.get(name, name): value for name, value in row.items()} for row in lines]
    trace = tmp_path / "t.jsonl"
    gate(renamed, made, kind="what", trace=trace, **other)
    about = measured(renamed, sensor=made.sensor, **other)
    assert replay(trace, made).ok
    assert replay(trace, made, reading=about, claims=renamed, kind="what", **other).ok
    assert replay(trace, made, reading=renamed, claims=renamed, kind="what", **other).ok
    with pytest.raises(InputError, match="no column of kinds"):
        replay(trace, made, reading=about, claims=renamed)
    with pytest.raises(InputError, match="no table is read"):
        replay(trace, made, item="k")
    wrong: Any
    for wrong in (None, [1], 3):
        with pytest.raises(InputError, match="the trace is a"):
            replay(wrong, made)
        with pytest.raises(InputError, match="the gate is a"):
            replay(trace, wrong)
    for wrong in ([1], 3):
        with pytest.raises(InputError, match="the key is a"):
            replay(trace, made, key=wrong)
        for verb in (gate, ground_by):
            with pytest.raises(InputError, match="the trace is a"):
                verb(about, made, trace=wrong)
            with pytest.raises(InputError, match="the key is a"):
                verb(about, made, key=wrong)
            with pytest.raises(InputError, match=r"the gate is a .*; hand in what calibrate"):
                verb(about, wrong)
    with pytest.raises(InputError):
        replay(trace, made, reading=3)
