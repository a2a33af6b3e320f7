"""Traces of random readings under random policies: replayed, edited, cut."""

import copy
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trueness.contract import Direction, ItemReading, Reading, State, Verdict
from trueness.contract.blocks import Statement
from trueness.contract.errors import CannotSerialise, FingerprintMismatch, InputError, PolicyError
from trueness.contract.serial import Json
from trueness.decide.calibrating import apply_gate, calibrate, policy_for
from trueness.decide.columns import columns_of_items, columns_of_reading
from trueness.decide.deciding import decide, decide_columns
from trueness.decide.lines import hash_of, why
from trueness.decide.policy import policy_of
from trueness.decide.problems import Replayed
from trueness.decide.promise import promise_of
from trueness.decide.retracing import replay
from trueness.decide.stored import GateFile, gate_of, read_gate
from trueness.decide.trace import read_key

STATES = st.sampled_from(list(State))
POLICIES: tuple[dict[str, Json], ...] = (
    {"kind": "value_only"},
    {"kind": "value_only", "on_unmeasured": "reject"},
    {"kind": "band", "gap": 0.25, "diagnostics": {"spread": {"max": 6}}},
    {"kind": "band", "gap": 0.0},
    {"kind": "axes_first", "diagnostics": {"spread": {"max": 6, "min": 1}}},
)


def item(name: str, value: float | None, **extra: Any) -> ItemReading:
    if value is None:
        return ItemReading(name, State.NO_EVIDENCE, "no passage – é", extra=extra)
    return ItemReading(name, State.MEASURED, value=value, extra=extra)


def reading(items: list[ItemReading], **changes: Any) -> Reading:
    made = Reading(
        sensor="tea.leaves",
        direction=Direction.HIGHER_IS_WORSE,
        state=State.MEASURED,
        reason=None,
        value=0.5,
        n_measured=sum(i.state is State.MEASURED for i in items),
        n_items=len(items),
        blocks=(Statement("made up"),),
        per_item=items,
        fingerprint="f00d",
        identity={"embedder": {"id": "minilm", "revision": "a1"}, "rank": "full"},
    )
    return replace(made, **changes)


def random_reading(seed: int, n: int, *, plain: bool = False) -> Reading:
    rng = np.random.default_rng(seed)
    items = []
    for i in range(n):
        value = None if rng.random() < 0.1 else float(np.round(rng.random() * 2, 3))
        extra: dict[str, Any] = {} if plain else {"spread": float(np.round(rng.random() * 9, 2))}
        if not plain and rng.random() < 0.1:
            extra["route"] = ["number_check_failed"]
        if not plain and rng.random() < 0.1:
            del extra["spread"]
        name = f'claim "{i}" \\ ü' if not plain and rng.random() < 0.1 else f"claim {i}"
        items.append(item(name, value, group=f"s{i}", **extra))
    return reading(items)


CALIBRATION = reading([item(f"c{i}", 0.5 + i / 100, group=f"g{i}", spread=2.0) for i in range(60)])


def gate_with(policy: dict[str, Json] | None = None, **asked: Any) -> GateFile:
    promise = promise_of(**{"budget": 0.1, "level": 0.95, **asked})
    return calibrate(CALIBRATION, [True] * 60, promise, policy=policy)


def traced(tmp: Path, gate: GateFile, seen: Reading, **more: Any) -> tuple[Path, Path]:
    trace, stored = tmp / "trace.jsonl", tmp / "gate.json"
    gate.write(stored)
    apply_gate(read_gate(stored), seen, trace=trace, **more)
    return trace, stored


def kinds(found: Replayed) -> set[str]:
    return {p.kind for p in found.problems}


@pytest.mark.parametrize("policy", POLICIES, ids=[str(i) for i in range(len(POLICIES))])
@pytest.mark.parametrize("plain", [True, False])
def test_a_thousand_random_rows_replay_without_a_problem(
    tmp_path: Path, policy: dict[str, Json], *, plain: bool
) -> None:
    seen = random_reading(7, 1000, plain=plain)
    gate = gate_with(policy)
    if plain and policy.get("diagnostics"):
        with pytest.raises(PolicyError, match="'spread', which no item of this reading has"):
            traced(tmp_path, gate, seen)
        return
    trace, stored = traced(tmp_path, gate, seen)
    again = read_gate(stored, checked=False)
    for given_ in (seen, None):
        found = replay(trace, again, reading=given_)
        assert (found.ok, found.n_rows) == (True, 1000), found.problems[:3]
    rows = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    for row in rows[:-1]:
        assert decide(again.policy, row) == (row["verdict"], row["rule"])
        assert row["hash"] == hash_of(row)
        assert why(row, again.policy).startswith(
            {"accept": "accepted: ", "review": "reviewed: ", "reject": "rejected: "}[row["verdict"]]
        )
    assert rows[-1]["verdicts"]["accept"] == sum(r.get("verdict") == "accept" for r in rows[:-1])


def test_every_line_is_the_canonical_json_with_its_hash_put_in(tmp_path: Path) -> None:
    trace, _ = traced(tmp_path, gate_with(POLICIES[2]), random_reading(1, 50))
    for line in trace.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text = json.dumps(
            row, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        )
        assert line == text or "manifest" in row
    names = (
        "seq item sub group state reason value risk diagnostics route verdict rule tau rho "
        "policy_hash calibration_hash fingerprint_hash reading_hash population error budget level "
        "prev hash"
    )
    first = json.loads(trace.read_text(encoding="utf-8").splitlines()[0])
    assert sorted(first) == sorted(names.split())


def edits(value: Any) -> list[Any]:
    """Other values of the same field, near and far."""
    if isinstance(value, bool) or value is None:
        return [0.125, "x"]
    if isinstance(value, int):
        return [value + 1, float(value), None]
    if isinstance(value, float):
        return [math.nextafter(value, 9), -value - 1, None]
    if isinstance(value, str):
        return [value + "x", value[:-1] + ("0" if value[-1:] != "0" else "1"), None]
    if isinstance(value, list):
        return [[*value, "more"]]
    return [{**value, "accept": 10**6}]


@pytest.mark.parametrize("place", [0, 4, 9, 10])
def test_any_edit_of_any_single_field_is_reported(tmp_path: Path, place: int) -> None:
    trace, stored = traced(tmp_path, gate_with(POLICIES[2]), random_reading(3, 10))
    gate = read_gate(stored)
    lines = trace.read_text(encoding="utf-8").splitlines()
    row = json.loads(lines[place])
    for name in row:
        changes = [{**row, name: other} for other in edits(row[name])]
        changes.append({k: v for k, v in row.items() if k != name})
        for changed in changes:
            text = json.dumps(changed, ensure_ascii=False)
            trace.write_text("\n".join([*lines[:place], text, *lines[place + 1 :]]), "utf-8")
            assert not replay(trace, gate).ok, (name, changed.get(name))


def forged(rows: list[dict[str, Any]]) -> str:
    """The same rows with all hashes made again, as somebody without a key could."""
    prev = "0" * 64
    for row in rows:
        row["prev"] = prev
        if "manifest" in row:
            row["last"], row["count"] = prev, len(rows) - 1
            counts = {v: sum(r.get("verdict") == v for r in rows) for v in row["verdicts"]}
            row["verdicts"] = counts
        row["hash"] = prev = hash_of({k: v for k, v in row.items() if k != "hmac"})
    return "\n".join(json.dumps(r, ensure_ascii=False) for r in rows) + "\n"


def test_a_rewritten_trace_still_cannot_hold_a_wrong_verdict(tmp_path: Path) -> None:
    trace, stored = traced(tmp_path, gate_with(), random_reading(4, 30, plain=True))
    rows = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    reviewed = next(r for r in rows if r.get("rule") == "between")
    reviewed["verdict"] = "accept"
    trace.write_text(forged(rows), "utf-8")
    found = replay(trace, read_gate(stored))
    assert kinds(found) == {"verdict"}
    assert found.problems[0].derived == "review"
    assert any("without a key" in limit for limit in found.limits)


def test_a_rewritten_value_passes_without_the_reading_and_key_and_not_with_either(
    tmp_path: Path,
) -> None:
    seen = random_reading(4, 30, plain=True)
    secret = tmp_path / "key"
    secret.write_text("tea\n")
    key = read_key(secret)
    trace, stored = traced(tmp_path, gate_with(), seen, key=key)
    gate = read_gate(stored)
    assert replay(trace, gate, reading=seen, key=key).ok
    rows = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    target = next(r for r in rows if r.get("rule") == "between")
    target |= {"value": 0.01, "risk": 0.01, "verdict": "accept", "rule": "below_accept"}
    trace.write_text(forged(rows), "utf-8")
    assert replay(trace, gate).ok  # the printed limit
    assert kinds(replay(trace, gate, reading=seen)) == {"value"}
    assert kinds(replay(trace, gate, key=key)) == {"hash"}


CUTS: dict[str, tuple[Callable[[list[str]], list[str]], set[str]]] = {
    "one line removed": (lambda x: x[:3] + x[4:], {"chain", "order", "count"}),
    "the last decision removed": (lambda x: x[:-2] + x[-1:], {"count", "last"}),
    "the manifest removed": (lambda x: x[:-1], {"count", "last"}),
    "a line twice": (lambda x: x[:3] + x[2:], {"chain", "duplicate", "count"}),
    "two lines exchanged": (lambda x: [*x[:3], x[4], x[3], *x[5:]], {"chain", "order"}),
    "one digit changed": (
        lambda x: [x[0].replace('"seq":1', '"seq":2'), *x[1:]],
        {"hash", "order"},
    ),
    "half a line": (lambda x: [*x[:3], x[3][:40], *x[4:]], {"hash", "chain", "order", "count"}),
    "no object": (lambda x: [*x[:3], "[1]", *x[4:]], {"hash", "chain", "order", "count"}),
    "a key twice": (lambda x: [x[0][:-1] + ',"value":0.1}', *x[1:]], {"hash", "chain", "order"}),
    "a number that is none": (
        lambda x: [x[0].replace('"seq":1', '"seq":1e999'), *x[1:]],
        {"hash", "chain", "order"},
    ),
    "nested beyond reading": (lambda x: ["[" * 100_000, *x[1:]], {"hash", "chain", "order"}),
}


@pytest.mark.parametrize("name", CUTS)
def test_cut_and_damaged_traces_are_named(tmp_path: Path, name: str) -> None:
    trace, stored = traced(tmp_path, gate_with(), random_reading(5, 12, plain=True))
    change, wanted = CUTS[name]
    lines = trace.read_text(encoding="utf-8").splitlines()
    trace.write_text("\n".join(change(lines)) + "\n", "utf-8")
    found = replay(trace, read_gate(stored))
    assert wanted <= kinds(found), found.problems
    assert all(p.sentence() for p in found.problems)
    json.dumps(found.to_dict(), allow_nan=False)


def test_a_changed_gate_file_is_refused_by_the_gate_and_listed_by_replay(tmp_path: Path) -> None:
    seen = random_reading(6, 12, plain=True)
    trace, stored = traced(tmp_path, gate_with(reject_budget=None), seen)
    data = json.loads(stored.read_text(encoding="utf-8"))
    changes: list[tuple[tuple[str, ...], Any, set[str]]] = [
        (("calibration", "tau"), 0.9, {"calibration", "threshold"}),
        (("calibration", "promise", "budget"), 0.2, {"calibration", "threshold"}),
        (("calibration", "fingerprint", "rank"), "8", {"calibration", "fingerprint"}),
        (("calibration", "counts", "n_items"), 61, {"calibration"}),
        (("policy", "accept"), 0.9, {"policy", "threshold"}),
        (("policy", "on_unmeasured"), "reject", {"policy", "verdict"}),
    ]
    for path, value, wanted in changes:
        changed = copy.deepcopy(data)
        place = changed
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        stored.write_text(json.dumps(changed), "utf-8")
        with pytest.raises(InputError, match="contradicts itself"):
            read_gate(stored)
        assert wanted <= kinds(replay(trace, read_gate(stored, checked=False))), path


def test_a_gate_of_other_hashes_is_named(tmp_path: Path) -> None:
    trace, _ = traced(tmp_path, gate_with(), random_reading(6, 12, plain=True))
    other = gate_with({"kind": "value_only", "on_unmeasured": "reject"})
    assert {"policy", "verdict"} <= kinds(replay(trace, other))
    stricter = gate_with(budget=0.05, seed=1)
    assert {"policy", "calibration", "threshold"} <= kinds(replay(trace, stricter))


def test_a_field_that_every_row_repeats_is_named_once_for_each_wrong_value(tmp_path: Path) -> None:
    trace, _ = traced(tmp_path, gate_with(), random_reading(6, 40, plain=True))
    found = replay(trace, gate_with(budget=0.05))
    repeated = [p for p in found.problems if "wherever it is so" in p.detail]
    assert len(repeated) == len({p.detail for p in repeated})
    assert {p.kind for p in repeated} == {"policy", "calibration", "threshold"}


def test_marks_of_formats_and_patterns_in_a_population_do_no_harm(tmp_path: Path) -> None:
    seen = random_reading(6, 40, plain=True)
    negatives = 'nearest (K = 1) 60 %s of 100 % \\d+ [a-z]* "é"'
    trace, stored = traced(tmp_path, gate_with(negatives=negatives), seen)
    assert replay(trace, read_gate(stored), reading=seen).ok
    row = json.loads(trace.read_text("utf-8").splitlines()[0])
    assert negatives in row["population"]
    assert row["hash"] == hash_of(row)


def test_a_reading_without_items_is_a_manifest_and_nothing_else(tmp_path: Path) -> None:
    seen = reading([], state=State.NO_EVIDENCE, reason="nothing", value=None)
    trace, stored = traced(tmp_path, gate_with(), seen)
    assert len(trace.read_text("utf-8").splitlines()) == 1
    assert replay(trace, read_gate(stored), reading=seen).ok


def test_a_long_trace_with_one_edit_names_that_row_alone(tmp_path: Path) -> None:
    seen = random_reading(12, 9000, plain=True)
    trace, stored = traced(tmp_path, gate_with(), seen)
    lines = trace.read_text("utf-8").splitlines()
    lines[7000] = lines[7000].replace('"state":"', '"state":"UN', 1)
    trace.write_text("\n".join(lines) + "\n", "utf-8")
    found = replay(trace, read_gate(stored), reading=seen)
    assert {p.seq for p in found.problems if p.kind in {"hash", "value"}} == {7001}
    assert found.n_rows == 9000


def test_another_reading_is_named_by_value_and_count(tmp_path: Path) -> None:
    seen = random_reading(6, 12, plain=True)
    trace, stored = traced(tmp_path, gate_with(), seen)
    gate = read_gate(stored)
    assert kinds(replay(trace, gate, reading=random_reading(8, 12, plain=True))) == {"value"}
    longer = reading([*seen.per_item, item("one more", 0.3)])
    assert "count" in kinds(replay(trace, gate, reading=longer))


def test_a_reading_from_another_embedder_is_refused_with_the_key(tmp_path: Path) -> None:
    seen = random_reading(6, 12, plain=True)
    other = replace(seen, identity={"embedder": {"id": "minilm", "revision": "b2"}, "rank": "full"})
    with pytest.raises(
        FingerprintMismatch, match=r'embedder\.revision = "a1"; this reading has "b2"'
    ):
        apply_gate(gate_with(), other, trace=tmp_path / "t")
    silent = replace(seen, identity={})
    with pytest.raises(FingerprintMismatch):
        apply_gate(gate_with(), silent)


def test_an_emptied_evidence_set_is_reviewed_by_state_and_never_accepted(tmp_path: Path) -> None:
    seen = reading([item("full", 0.1), item("emptied", None)])
    decision = apply_gate(gate_with(), seen)
    assert [v.verdict for v in decision.verdicts] == [Verdict.ACCEPT, Verdict.REVIEW]
    assert decision.verdicts[1].reason == "reviewed: NO_EVIDENCE, no passage – é"
    assert "negatives: as labelled" in decision.reason
    json.loads(decision.to_json())
    trace, _ = traced(tmp_path, gate_with(), seen)
    assert json.loads(trace.read_text("utf-8").splitlines()[1])["rule"] == "state"


def test_half_a_character_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises((CannotSerialise, InputError), match="character"):
        apply_gate(gate_with(), reading([item("\ud800", 0.1)]), trace=tmp_path / "t")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (('{"protocol": {"model": "m"}}', '{"item": "q", "answer": "7"}'), "an answer table"),
        (('{"line": "reading", "sensor": "energy"}', '{"line": "item"}'), "a reading"),
        (("{", ' "schema": "trueness.gate/1",', "}"), "a gate file"),
        (('{"claim": "c", "evidence": []}',), "JSON lines of claim, evidence"),
        (("item,answer", "q,7"), "a file without decisions"),
    ],
)
def test_what_is_no_trace_is_told_apart_from_one_that_does_not_fit(
    lines: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    given = tmp_path / "given.jsonl"
    given.write_text("\n".join(lines) + "\n", "utf-8")
    with pytest.raises(InputError, match=f"given.jsonl is no trace but {said}. Name what gate"):
        replay(given, gate_with())


def test_an_empty_trace_and_one_that_is_not_there_are_one_clear_error(tmp_path: Path) -> None:
    empty = tmp_path / "t"
    empty.write_text("\n")
    with pytest.raises(InputError, match="is empty"):
        replay(empty, gate_with())
    with pytest.raises(InputError, match="cannot be read"):
        replay(tmp_path / "none", gate_with())
    with pytest.raises(InputError, match="cannot be written"):
        apply_gate(gate_with(), random_reading(1, 3), trace=tmp_path / "no" / "folder")
    with pytest.raises(InputError, match="the key"):
        read_key(tmp_path / "none")
    with pytest.raises(InputError, match="is empty"):
        read_key(empty)


def test_a_reason_is_short_and_in_the_terms_of_the_value() -> None:
    row: dict[str, Json] = {"verdict": "review", "rule": "between", "tau": 0.5318470896257149}
    assert why({**row, "risk": 0.8095808137251504}) == (
        "reviewed: risk 0.809581 is not below 0.531847"
    )
    assert why({**row, "risk": 0.6, "value": 0.6, "rho": 0.75}) == (
        "reviewed: risk 0.6 is not below 0.531847, nor at or above 0.75"
    )
    turned = {**row, "tau": -0.5, "rho": -0.25, "risk": -0.375, "value": 0.375}
    assert why(turned) == "reviewed: value 0.375 is not above 0.5, nor at or below 0.25"
    assert why({**turned, "rule": "below_accept", "risk": -0.75, "value": 0.75}) == (
        "reviewed: value 0.75 is above 0.5"
    )
    assert why({**turned, "rho": None, "risk": -0.0, "value": 0.0}) == (
        "reviewed: value 0 is not above 0.5"
    )


def test_a_diagnostic_beyond_its_limit_is_said_in_few_digits() -> None:
    policy = policy_of(
        {"kind": "axes_first", "accept": 0.5, "diagnostics": {"m": {"min": 0.1, "max": 0.8}}}
    )
    row: dict[str, Json] = {"verdict": "review", "rule": "diagnostic"}
    for value, said in ((0.9768169263268596, "m 0.976817 above 0.8"), (0.05, "m 0.05 below 0.1")):
        assert why({**row, "diagnostics": {"m": value}}, policy) == f"reviewed: {said}"


@given(st.floats(-2, 2), st.floats(-2, 2))
def test_numbers_of_a_reason_are_equal_only_where_they_are(risk: float, tau: float) -> None:
    said = why({"verdict": "accept", "rule": "below_accept", "risk": risk, "tau": tau})
    left, right = said.removeprefix("accepted: risk ").split(" is below ")
    assert (float(left) == float(right)) == (risk == tau)
    assert (float(left) < float(right)) == (risk < tau)


# decisions


def items_of(rows: list[tuple[State, float, bool]]) -> list[ItemReading]:
    return [
        ItemReading(
            f"i{n}",
            state,
            None if state is State.MEASURED else "why",
            value if state is State.MEASURED else None,
            {"spread": value * 5, **({"route": ["relation"]} if routed else {})},
        )
        for n, (state, value, routed) in enumerate(rows)
    ]


ROWS = st.lists(
    st.tuples(STATES, st.floats(0, 3).map(lambda x: round(x, 1)), st.booleans()),
    min_size=1,
    max_size=30,
)


@st.composite
def policies(draw: st.DrawFn) -> dict[str, Json]:
    kind = draw(st.sampled_from(["value_only", "band", "axes_first"]))
    tau = round(draw(st.floats(0.1, 2)), 1)
    made: dict[str, Json] = {
        "kind": kind,
        "accept": tau,
        "on_unmeasured": draw(st.sampled_from(["review", "reject"])),
    }
    if kind == "band":
        made["gap"] = draw(st.floats(0, 0.99))
    elif draw(st.booleans()):
        made["reject"] = tau + draw(st.floats(0, 1))
    if kind != "value_only" and draw(st.booleans()):
        limit = draw(st.sampled_from(["max", "min"]))
        made["diagnostics"] = {"spread": {limit: draw(st.floats(0, 15))}}
    return made


@given(policies(), ROWS)
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_the_policy_only_measured_risks_below_tau_are_accepted(
    given_: dict[str, Json], rows: list[tuple[State, float, bool]]
) -> None:
    policy = policy_of(given_)
    columns = columns_of_items(items_of(rows), Direction.HIGHER_IS_WORSE)
    rulings = decide_columns(policy, columns)
    for place, (state, value, routed) in enumerate(rows):
        verdict, rule = rulings.at(place)
        if verdict is Verdict.ACCEPT:
            assert state is State.MEASURED
            assert value < policy.accept
            assert not routed
        if state is not State.MEASURED:
            assert (verdict, rule) == (policy.on_unmeasured, "state")
        elif routed:
            assert (verdict, rule) == (Verdict.REVIEW, "routed")
    assert policy_of(policy.to_dict()) == policy


@given(policies(), ROWS)
@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
def test_one_row_at_a_time_is_decided_as_all_at_once_in_either_direction(
    given_: dict[str, Json], rows: list[tuple[State, float, bool]]
) -> None:
    policy = policy_of(given_)
    entries = items_of(rows)
    rulings = decide_columns(policy, columns_of_items(entries, Direction.HIGHER_IS_WORSE))
    turned = [replace(e, value=None if e.value is None else -e.value) for e in entries]
    mirrored = decide_columns(policy, columns_of_items(turned, Direction.HIGHER_IS_BETTER))
    for place, entry in enumerate(entries):
        row: dict[str, Json] = {
            "state": entry.state.value,
            "value": entry.value,
            "diagnostics": {"spread": entry.extra["spread"]},
            "route": entry.extra.get("route"),
        }
        assert decide(policy, row) == rulings.at(place) == mirrored.at(place)


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({"kind": "ladder", "accept": 1}, "unknown"),
        ({"kind": "value_only"}, "accept is None"),
        ({"kind": "value_only", "accept": math.nan}, "finite"),
        ({"kind": "value_only", "accept": True}, "finite"),
        ({"kind": "value_only", "accept": 1, "rejct": 2}, "no key 'rejct'"),
        ({"kind": "value_only", "accept": 1, "reject": 0.5}, "at least accept"),
        ({"kind": "value_only", "accept": 1, "gap": 0.1}, "only a band"),
        ({"kind": "value_only", "accept": 1, "diagnostics": {"s": {"max": 1}}}, "no diagnostic"),
        ({"kind": "band", "accept": 1}, "gap is None"),
        ({"kind": "band", "accept": 1, "gap": 1}, "below 1"),
        ({"kind": "band", "accept": 1, "gap": -0.1}, "at least 0"),
        ({"kind": "band", "accept": 0, "gap": 0.1}, "above 0"),
        ({"kind": "band", "accept": 1, "gap": 0.1, "reject": 2}, "Leave it out"),
        ({"kind": "band", "accept": 1, "gap": 0.1, "low_edge": 0.95}, "computed"),
        ({"kind": "axes_first", "accept": 1, "diagnostics": {"s": {"most": 1}}}, "limit of s"),
        (
            {"kind": "axes_first", "accept": 1, "diagnostics": {"s": {"max": 1, "min": 2}}},
            "nothing",
        ),
        ({"kind": "axes_first", "accept": 1, "diagnostics": ["s"]}, "limits by name"),
        ({"kind": "value_only", "accept": 1, "on_unmeasured": "accept"}, "never accepted"),
    ],
)
def test_a_policy_that_cannot_be_carried_out_is_refused_at_load(
    given_: dict[str, Json], said: str
) -> None:
    with pytest.raises(PolicyError, match=said):
        policy_of(given_)


def test_zero_is_a_threshold_and_a_missing_diagnostic_is_beyond_its_limit() -> None:
    zero = policy_of({"kind": "value_only", "accept": 0, "reject": 0})
    assert decide(zero, {"state": "MEASURED", "value": 0}).verdict is Verdict.REJECT
    axes = policy_of({"kind": "axes_first", "accept": 1, "diagnostics": {"s": {"max": 1}}})
    missing: list[dict[str, Json]] = [{}, {"diagnostics": {}}, {"diagnostics": {"s": None}}]
    for row in missing:
        assert decide(axes, {"state": "MEASURED", "value": 0.1, **row}).rule == "diagnostic"


def test_a_policy_may_be_stricter_than_the_calibration_and_never_laxer() -> None:
    gate = gate_with(reject_budget=None)
    tau = gate.calibration.tau
    assert policy_for(gate.calibration, {"kind": "value_only", "accept": tau / 2}).accept == tau / 2
    with pytest.raises(PolicyError, match="promise holds below"):
        policy_for(gate.calibration, {"kind": "value_only", "accept": math.nextafter(tau, 9)})


def test_a_value_without_a_direction_cannot_be_gated() -> None:
    with pytest.raises(PolicyError, match="neither better nor worse"):
        columns_of_reading(reading([item("a", 0.1)], direction=Direction.NEITHER))


def test_a_saved_gate_decides_alike_and_its_file_is_strict_json(tmp_path: Path) -> None:
    seen = random_reading(9, 200)
    for policy in POLICIES:
        gate = gate_with(policy)
        path = tmp_path / "gate.json"
        gate.write(path)
        again = read_gate(path)
        assert again.calibration.hash == gate.calibration.hash
        assert gate_of(again.to_dict()).policy == gate.policy
        one, two = apply_gate(gate, seen), apply_gate(again, seen)
        assert list(one.verdicts) == list(two.verdicts)
        assert "NaN" not in path.read_text(encoding="utf-8")


def test_no_string_of_the_deciding_modules_is_a_sensors_name() -> None:
    folder = Path(__file__).parents[2] / "src" / "trueness" / "decide"
    text = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    for name in ("orbits", "atlas", "energy", "contrast"):
        assert f'"{name}"' not in text
    assert "pickle" not in text
    assert "joblib" not in text
