"""Thresholds from labelled readings, and decisions about new ones."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from trueness.api.exchanging import exchanged, unit_of
from trueness.api.labelling import labels_of
from trueness.api.means import SENSOR
from trueness.api.readings import is_reading, measured
from trueness.api.replaying import named_file, opened, secret_of
from trueness.api.routing import Routes, flags_of
from trueness.api.thresholds import Grid, grid_of
from trueness.contract import Decision, Reading
from trueness.contract.blocks import Block
from trueness.contract.errors import InputError
from trueness.contract.serial import once
from trueness.decide.calibrating import apply_gate
from trueness.decide.calibrating import calibrate as calibrated
from trueness.decide.marking import marked
from trueness.decide.picture import calibration_blocks
from trueness.decide.promise import promise_of
from trueness.decide.routes import routed
from trueness.decide.stored import GateFile

_PROMISE = (
    "budget", "level", "error", "method", "unit", "population", "reject_budget", "budgets_tried",
    "negatives", "seed",
)  # fmt: skip


def calibrate(
    source: object,
    *,
    label: str | None = None,
    labels: object = None,
    sensor: str = SENSOR,
    positive: str | None = None,
    unsupported: Literal["labelled", "nearest", "random"] = "labelled",
    policy: str | Path | Mapping[str, Any] | None = None,
    evaluate: object = None,
    grid: Grid | None = None,
    **given: Any,
) -> GateFile:
    """A gate: the threshold that keeps an error budget, the policy, and what it does.

    Parameters
    ----------
    source : path, data frame, list of dicts, table or Reading
        Claims or answers, measured by ``sensor``, or a reading, in hand or as it was written.
    label : str, optional
        Column of the table that says ``supported`` or ``unsupported``.
    labels : path, data frame, list of dicts or mapping, optional
        Labels by item, beside a reading: a table with ``item`` and ``label``, or a mapping.
    sensor : str
    positive : ``"supported"`` or ``"unsupported"``, optional
        What the number 1 means.
    unsupported : {"labelled", "nearest", "random"}
        Who they are: labelled, or the supported claims against another source's evidence, the
        nearest or any. It becomes the population's name, and the unit is ``source_one`` unless
        another is named.
    policy : path or mapping, optional
        A policy, or a file with it as JSON; ``value_only`` without.
    evaluate : path, data frame, list of dicts, table or Reading, optional
        Another one with other sources, on which the gate is looked at.
    grid : sequence of float, text with commas, or path, optional
        For ``accepted_error``: thresholds fixed beforehand, or an unlabelled table of other
        sources whose quantiles they are.
    **given
        The promise (``budget``, ``level``, ``unit``, ``error``, ``method``, ``population``,
        ``reject_budget``, ``negatives``, ``seed``), and what `trueness.api.ground` takes.

    Raises
    ------
    TooFewCalibrationItems, DependentItems, AmbiguousLabels, PolicyError, InputError
        Never a threshold by default.
    """
    asked = {k: given.pop(k) for k in _PROMISE if k in given}
    named = {"label": label, "positive": positive}
    if unsupported != "labelled":
        asked["unit"] = unit_of(asked.get("unit"))

    def labelled(of: object) -> tuple[Reading, dict[str, object], str | None]:
        if unsupported == "labelled":
            known = labels_of(of, label=label, labels=labels, given=given)
            return measured(of, sensor=sensor, label=label, **given), known, None
        if labels is not None or is_reading(of):
            msg = (
                f"unsupported is {unsupported!r}, which is made from a table with its evidence; "
                "hand in the table, without a reading and without a file of labels."
            )
            raise InputError(msg)
        seed = int(asked.get("seed") or 0)
        made = exchanged(of, unsupported, sensor=sensor, seed=seed, **named, **given)
        return made.reading, dict(made.labels), made.population

    reading, known, population = labelled(source)
    if population is not None and not asked.get("negatives"):
        asked["negatives"] = population
    promise = promise_of(**{k: v for k, v in asked.items() if v is not None})
    other = None
    if evaluate is not None:
        other = (*labelled(evaluate)[:2], None)
    return calibrated(
        reading,
        known,
        promise,
        positive=positive,
        policy=policy if policy is None or isinstance(policy, Mapping) else _object(policy),
        grid=grid_of(grid, reading, promise, lambda path: measured(path, sensor=sensor, **given)),
        evaluation=other,
    )


def gate(
    source: object,
    gate_file: str | Path | GateFile,
    *,
    trace: str | Path | None = None,
    key: str | Path | None = None,
    kind: str | None = None,
    relation_check: str | None = None,
    **given: Any,
) -> Decision:
    """Accept, review or reject every item by a calibrated gate, with a trace that replays.

    Parameters
    ----------
    source : path, data frame, list of dicts, table or Reading
    gate_file : path or GateFile
        It names the sensor.
    trace : path, optional
        Where the decisions go, one line each.
    key : path, optional
        File with the secret that signs the trace.
    kind : str, optional
        Column of the table with the kind of each claim. Kinds that no threshold on the measure
        catches go to review: see `trueness.api.routing.blind_kinds`.
    relation_check : str, optional
        Column that says ``passed`` where such a claim was checked and holds.
    **given
        As in `trueness.api.ground`.

    Raises
    ------
    FingerprintMismatch
        When the reading was made otherwise than the calibration's.
    InputError
        When kinds are named and the source is a reading, which has no columns; when something is
        given that a reading has no use for, or gate, trace or key is no path.
    """
    made = opened(gate_file)
    reading, routes = _read_for(made, source, kind, relation_check, given)
    decision = apply_gate(made, reading, trace=_written(trace), key=secret_of(key))
    return _noted(decision, routes)


def ground_by(
    source: object,
    gate_file: str | Path | GateFile,
    *,
    trace: str | Path | None = None,
    key: str | Path | None = None,
    kind: str | None = None,
    relation_check: str | None = None,
    **given: Any,
) -> tuple[Reading, Decision]:
    """A reading with the threshold of a gate drawn into it, and what the gate decides.

    Parameters
    ----------
    source, gate_file, trace, key, kind, relation_check :
        As in `gate`.
    **given
        As in `trueness.api.ground`; a sensor must be the gate's own.

    Raises
    ------
    FingerprintMismatch
        When the reading was made otherwise than the calibration's.
    """
    made = opened(gate_file)
    sensor = given.pop("sensor", None)
    if sensor is not None and made.sensor and sensor != made.sensor:
        msg = f"the gate is for {made.sensor} and the sensor is {sensor}; leave --sensor out."
        raise InputError(msg)
    reading, routes = _read_for(made, source, kind, relation_check, given)
    found, decision = marked(made, reading, trace=_written(trace), key=secret_of(key))
    return found, _noted(decision, routes)


def _written(trace: str | Path | None) -> Path | None:
    return None if trace is None else named_file(trace, "the trace")


def _read_for(
    made: GateFile,
    source: object,
    kind: str | None,
    relation_check: str | None,
    given: Mapping[str, Any],
) -> tuple[Reading, Routes]:
    """What a gate decides about: measured by its sensor, with the flags of kinds it is blind to."""
    sensor = made.sensor or SENSOR
    if "sensor" in given:
        msg = f"sensor is {given['sensor']!r}, and the gate names its own: {sensor}. Leave it out."
        raise InputError(msg)
    routes = flags_of(source, sensor=sensor, kind=kind, relation_check=relation_check, given=given)
    return routed(measured(source, sensor=sensor, **given), routes.flags), routes


def _noted(decision: Decision, routes: Routes) -> Decision:
    """The decision with what has to be said of kinds beside its other notes."""
    if not routes.notes:
        return decision
    had = decision.details["notes"]
    notes = [*(had if isinstance(had, list) else []), *routes.notes]
    return replace(decision, details={**decision.details, "notes": notes})


def gate_blocks(gate_file: str | Path | GateFile) -> tuple[Block, ...]:
    """What a page shows of a calibration: promise, curve, and what it did on other sources."""
    return calibration_blocks(opened(gate_file))


def _object(policy: object) -> dict[str, Any]:
    path = named_file(policy, "the policy")
    try:
        found = json.loads(path.read_text("utf-8-sig"), object_pairs_hook=once)
    except (OSError, ValueError, RecursionError) as error:
        msg = f"the policy {path} is no JSON that can be read ({error}). Write an object."
        raise InputError(msg) from error
    if not isinstance(found, dict):
        msg = f"the policy {path} holds a {type(found).__name__}; an object is wanted."
        raise InputError(msg)
    return found
