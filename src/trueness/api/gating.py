"""Thresholds from labelled readings, decisions about new ones, and their replay."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from trueness.api.exchanging import exchanged
from trueness.api.labelling import CLAIMS, labels_of
from trueness.api.readings import SENSOR, head_of, is_reading, loaded, measured
from trueness.api.routing import kind_routes
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
from trueness.decide.retracing import Replayed
from trueness.decide.retracing import replay as replayed
from trueness.decide.routes import routed
from trueness.decide.stored import SCHEMA, GateFile, read_gate
from trueness.decide.trace import read_key

_PROMISE = (
    "budget", "level", "error", "method", "unit", "population", "reject_budget", "budgets_tried",
    "negatives", "seed",
)  # fmt: skip


def calibrate(
    source: str | Path | Reading,
    *,
    label: str | None = None,
    labels: str | Path | Mapping[str, object] | None = None,
    sensor: str = SENSOR,
    positive: str | None = None,
    unsupported: Literal["labelled", "nearest", "random"] = "labelled",
    policy: str | Path | None = None,
    evaluate: str | Path | None = None,
    grid: Grid | None = None,
    **given: Any,
) -> GateFile:
    """A gate: the threshold that keeps an error budget, the policy, and what it does.

    Parameters
    ----------
    source : path or Reading
        A table of claims or answers, measured by ``sensor``, or a reading that was written.
    label : str, optional
        Column of the table that says ``supported`` or ``unsupported``.
    labels : path or mapping, optional
        Labels by item, beside a reading: CSV or JSON lines with ``item`` and ``label``.
    sensor : str
    positive : ``"supported"`` or ``"unsupported"``, optional
        What the number 1 means.
    unsupported : {"labelled", "nearest", "random"}
        Who they are: labelled, or the supported claims against another source's evidence, the
        nearest or any. It becomes the population's name.
    policy : path, optional
        A policy as JSON; ``value_only`` without.
    evaluate : path, optional
        Another table with other sources, on which the gate is looked at.
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

    def labelled(of: str | Path | Reading) -> tuple[Reading, dict[str, object], str | None]:
        if unsupported == "labelled":
            found = measured(of, sensor=sensor, label=label, **given)
            return found, labels_of(of, label=label, labels=labels, given=given), None
        if labels is not None or isinstance(of, Reading) or is_reading(Path(of)):
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
        policy=None if policy is None else _object(Path(policy)),
        grid=grid_of(grid, reading, promise, lambda path: measured(path, sensor=sensor, **given)),
        evaluation=other,
    )


def gate(
    source: str | Path | Reading,
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
    source : path or Reading
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
        When kinds are named and the source is a reading, which has no columns.
    """
    made = _opened(gate_file)
    reading = _read_for(made, source, kind, relation_check, given)
    secret = None if key is None else read_key(Path(key))
    return apply_gate(made, reading, trace=None if trace is None else Path(trace), key=secret)


def _flags(
    source: str | Path | Reading,
    sensor: str,
    kind: str | None,
    relation_check: str | None,
    given: Mapping[str, Any],
) -> dict[str, tuple[str, ...]]:
    """Why claims go to a person, by item; nothing where no column of kinds is named."""
    if kind is None:
        if relation_check is not None:
            msg = "a relation check stands beside a kind; name the column of kinds as well."
            raise InputError(msg)
        return {}
    if isinstance(source, Reading) or is_reading(Path(source)):
        msg = f"the column {kind!r} of kinds is read from the table of claims; hand in the table."
        raise InputError(msg)
    columns = {name: given[name] for name in CLAIMS if given.get(name) is not None}
    return kind_routes(
        Path(source), sensor=sensor, kind=kind, relation_check=relation_check, columns=columns
    )


def ground_by(
    source: str | Path | Reading,
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
    made = _opened(gate_file)
    sensor = given.pop("sensor", None)
    if sensor is not None and made.sensor and sensor != made.sensor:
        msg = f"the gate is for {made.sensor} and the sensor is {sensor}; leave --sensor out."
        raise InputError(msg)
    reading = _read_for(made, source, kind, relation_check, given)
    secret = None if key is None else read_key(Path(key))
    return marked(made, reading, trace=None if trace is None else Path(trace), key=secret)


def _opened(gate_file: str | Path | GateFile) -> GateFile:
    return gate_file if isinstance(gate_file, GateFile) else read_gate(Path(gate_file))


def _read_for(
    made: GateFile,
    source: str | Path | Reading,
    kind: str | None,
    relation_check: str | None,
    given: Mapping[str, Any],
) -> Reading:
    """What a gate decides about: measured by its sensor, with the flags of kinds it is blind to."""
    sensor = made.sensor or SENSOR
    flags = _flags(source, sensor, kind, relation_check, given)
    return routed(measured(source, sensor=sensor, **given), flags)


def gate_blocks(gate_file: str | Path | GateFile) -> tuple[Block, ...]:
    """What a page shows of a calibration: promise, curve, and what it did on other sources."""
    return calibration_blocks(_opened(gate_file))


def is_gate(path: Path) -> bool:
    """Whether a file begins as a gate file that `calibrate` wrote."""
    head = head_of(path)
    return head is not None and head.get("schema") == SCHEMA


def replay(
    trace: str | Path,
    gate_file: str | Path,
    *,
    reading: str | Path | None = None,
    key: str | Path | None = None,
    claims: str | Path | None = None,
    kind: str | None = None,
    relation_check: str | None = None,
) -> Replayed:
    """Every decision of a trace derived again, and what does not fit.

    Parameters
    ----------
    trace, gate_file : path
    reading : path, optional
        The reading that was decided about, to compare values with.
    key : path, optional
        File with the secret that signed the trace.
    claims : path, optional
        Table of the claims, where a column of kinds sent some of them to review.
    kind, relation_check : str, optional
        As `gate` was given them.

    Raises
    ------
    InputError
        When a column of kinds is named without a table and a reading.
    """
    made = read_gate(Path(gate_file), checked=False)
    about = None if reading is None else loaded(Path(reading))
    if kind is not None or relation_check is not None:
        if about is None or claims is None:
            msg = "kinds are compared with a reading and read from a table; give both of them."
            raise InputError(msg)
        about = routed(about, _flags(claims, made.sensor or SENSOR, kind, relation_check, {}))
    secret = None if key is None else read_key(Path(key))
    return replayed(Path(trace), made, reading=about, key=secret)


def _object(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8-sig"), object_pairs_hook=once)
    except (OSError, ValueError, RecursionError) as error:
        msg = f"the policy {path} is no JSON that can be read ({error}). Write an object."
        raise InputError(msg) from error
    if not isinstance(found, dict):
        msg = f"the policy {path} holds a {type(found).__name__}; an object is wanted."
        raise InputError(msg)
    return found
