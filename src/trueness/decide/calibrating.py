"""From a reading and its labels to a gate file, and from a gate file to decisions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trueness.contract import Decision, Direction, ItemVerdict, Reading, Rows, State
from trueness.contract.errors import InputError, PolicyError
from trueness.contract.serial import Json
from trueness.decide.calibration import Calibration, Codes, with_evaluation
from trueness.decide.columns import Columns, columns_of_reading, columns_of_values
from trueness.decide.curves import curve_of, doubt_of
from trueness.decide.deciding import RULES, VERDICTS, Rulings, check_policy, decide_columns
from trueness.decide.evaluation import cross_fitted, held_out
from trueness.decide.fitting import calibrate_columns
from trueness.decide.labels import unsupported_codes
from trueness.decide.lines import Context, why
from trueness.decide.policy import Kind, Policy, policy_of
from trueness.decide.promise import Promise
from trueness.decide.stored import GateFile, compare_fingerprints, identity_of, reading_hash
from trueness.decide.trace import write_trace

Labels = Mapping[str, object] | Sequence[object] | NDArray[np.generic]
Groups = Mapping[str, str] | Sequence[str] | NDArray[np.str_]


def calibrate(
    source: object,
    labels: Labels,
    promise: Promise,
    *,
    groups: Groups | None = None,
    positive: str | None = None,
    policy: Mapping[str, Json] | None = None,
    grid: Sequence[float] | None = None,
    direction: Direction = Direction.HIGHER_IS_WORSE,
    evaluation: tuple[object, Labels, Groups | None] | None = None,
) -> GateFile:
    """A gate: the threshold that keeps a promise, the policy that uses it, and what it does.

    Parameters
    ----------
    source : Reading, or (n,) values
        None among bare values stands for an item that was not measured.
    labels : by item, or one an item in order
        See `trueness.decide.labels.unsupported_codes`; None and items that a mapping does not
        name are left out and counted.
    promise : Promise
    groups : by item, or one an item in order, optional
        Sources. Without it the reading's own, if every item has one.
    positive : ``"supported"`` or ``"unsupported"``, optional
        What the number 1 means.
    policy : mapping, optional
        Without ``accept``: the calibrated threshold; default ``value_only``.
    grid : sequence of float, optional
        For ``accepted_error``.
    direction : Direction
        Of bare values.
    evaluation : (source, labels, groups), optional
        A split disjoint by source. Without it five source folds are cross-fitted where there are
        sources.

    Returns
    -------
    GateFile

    Raises
    ------
    TooFewCalibrationItems, DependentItems, AmbiguousLabels, PolicyError, InputError
        See the parts; never a threshold by default.
    """
    columns, codes, names = _labelled(source, labels, groups, positive, direction=direction)
    identity = identity_of(source) if isinstance(source, Reading) else {}
    versions = source.versions if isinstance(source, Reading) else {}

    def fitted(rows: NDArray[np.intp] | None) -> tuple[Calibration, Policy]:
        part = columns if rows is None else columns.at(rows)
        made = calibrate_columns(
            part,
            codes if rows is None else codes[rows],
            promise,
            groups=names if names is None or rows is None else [names[i] for i in rows],
            grid=grid,
            fingerprint=identity,
            versions=versions,
        )
        return made, policy_for(made, policy)

    calibration, chosen = fitted(None)
    check_policy(chosen, columns)
    if evaluation is None:
        seen = cross_fitted(lambda rows: fitted(rows)[1], columns, codes, promise, groups=names)
    else:
        if isinstance(evaluation[0], Reading) and isinstance(source, Reading):
            compare_fingerprints(identity, identity_of(evaluation[0]))
        other, other_codes, other_names = _labelled(
            *evaluation, positive, direction=columns.direction
        )
        seen = held_out(
            chosen, other, other_codes, promise, groups=other_names, calibrated_on=names
        )
    sensor = source.sensor if isinstance(source, Reading) else ""
    curve = curve_of(columns, codes, promise.population, calibration.tau)
    notes = (*calibration.notes, *doubt_of(curve, calibration.tau))
    found = replace(with_evaluation(calibration, seen, curve), notes=notes)
    return GateFile(found, chosen, sensor)


def policy_for(calibration: Calibration, given: Mapping[str, Json] | None = None) -> Policy:
    """The policy with the calibrated thresholds put in.

    Parameters
    ----------
    calibration : Calibration
    given : mapping, optional
        A policy file; ``accept`` and ``reject`` may be left out.

    Raises
    ------
    PolicyError
        When the file accepts or rejects more than the calibration promises.
    """
    policy = policy_of(given or {"kind": Kind.VALUE_ONLY.value}, accept=calibration.tau)
    if policy.accept > calibration.tau:
        msg = (
            f"the policy accepts below {policy.accept!r} and the promise holds below "
            f"{calibration.tau!r}. Leave accept out, or lower it."
        )
        raise PolicyError(msg)
    if calibration.rho is None:
        return policy
    if policy.kind is Kind.BAND:
        msg = (
            "a band rejects by its own edge, which no reject_budget covers. Leave reject_budget "
            "out, or use value_only or axes_first."
        )
        raise PolicyError(msg)
    if policy.reject is not None and policy.reject < calibration.rho:
        msg = (
            f"the policy rejects from {policy.reject!r} and the promise holds from "
            f"{calibration.rho!r}. Leave reject out, or raise it."
        )
        raise PolicyError(msg)
    return policy if policy.reject is not None else replace(policy, reject=calibration.rho)


def apply_gate(
    gate: GateFile, reading: Reading, *, trace: Path | None = None, key: bytes | None = None
) -> Decision:
    """Accept, review or reject every item of a reading, and write the trace.

    Parameters
    ----------
    gate : GateFile
    reading : Reading
        Of the fingerprint that the threshold was made with.
    trace : Path, optional
        Where the decisions go, one line each; see `trueness.decide.retracing.replay`.
    key : bytes, optional
        Signs the manifest.

    Returns
    -------
    Decision
        Action ``gate``, one verdict an item, made on demand.

    Raises
    ------
    FingerprintMismatch
        When the reading's fingerprint differs in any key.
    PolicyError, InvalidReading, InputError
        When the policy or the reading cannot be used, or the gate file was changed.
    """
    columns = gate.checked().columns(reading)
    rulings = decide_columns(gate.policy, columns)
    if trace is not None:
        context = Context(gate, reading_hash(reading))
        write_trace(trace, context, columns, rulings, key=key)
    prints = () if reading.fingerprint is None else (reading.fingerprint,)
    return decision_of(gate, columns, rulings, fingerprints=prints)


def decision_of(
    gate: GateFile, columns: Columns, rulings: Rulings, *, fingerprints: tuple[str, ...] = ()
) -> Decision:
    """The rulings as the one result type that reports and exit codes read."""
    counts = rulings.counts()
    n = len(columns)
    promise = gate.calibration.promise
    reason = (
        f"{counts['accept']} of {n} items are accepted, {counts['review']} reviewed, "
        f"{counts['reject']} rejected. {gate.calibration.sentence()}"
    )
    details: dict[str, Json] = {
        "n_items": n,
        "n_measured": int(columns.measured.sum()),
        **{f"n_{verdict}": count for verdict, count in counts.items()},
        "tau": gate.policy.accept,
        "rho": gate.policy.reject,
        "unmeasured_verdict": gate.policy.on_unmeasured.value,
        "population": promise.who,
        "independence": gate.calibration.independence,
        "notes": list(gate.notes()),
        "calibration_hash": gate.calibration.hash,
        "policy_hash": gate.policy.hash,
    }
    return Decision(
        action="gate",
        state=State.MEASURED,
        reason=reason,
        verdicts=_verdicts(gate, columns, rulings),
        details=details,
        fingerprints=fingerprints,
    )


def _verdicts(gate: GateFile, columns: Columns, rulings: Rulings) -> Rows[ItemVerdict]:
    risk = columns.risk

    def verdict(row: int) -> ItemVerdict:
        fields: dict[str, Json] = {
            "verdict": VERDICTS[rulings.verdict[row]].value,
            "rule": RULES[rulings.rule[row]],
            "state": list(State)[columns.state[row]].value,
            "reason": None if columns.reason is None else columns.reason[row],
            "value": float(columns.value[row]),
            "risk": float(risk[row]),
            "tau": gate.policy.accept,
            "rho": gate.policy.reject,
            "route": [] if columns.route is None else list(columns.route[row]),
            "diagnostics": {
                name: float(values[row])
                for name, values in columns.diagnostics.items()
                if not np.isnan(values[row])
            },
        }
        ruling = rulings.at(row)
        return ItemVerdict(columns.items[row], ruling.verdict, why(fields, gate.policy))

    return Rows(len(columns), verdict)


def _labelled(
    source: object,
    labels: Labels,
    groups: Groups | None,
    positive: str | None,
    *,
    direction: Direction,
) -> tuple[Columns, Codes, Sequence[str] | None]:
    """Columns, label codes and sources of the same items in the same order."""
    if isinstance(source, Reading):
        columns = columns_of_reading(source)
    elif isinstance(source, Columns):
        columns = source
    else:
        columns = columns_of_values(source, direction)
    codes = unsupported_codes(_in_order(columns, labels, "labels"), positive=positive)
    if len(codes) != len(columns):
        msg = f"{len(codes)} labels for {len(columns)} items; wanted one an item, in order."
        raise InputError(msg)
    if groups is None:
        own = columns.group
        names = None if own is None or any(g is None for g in own) else [str(g) for g in own]
        return columns, codes, names or None
    ordered = _in_order(columns, groups, "groups")
    if len(ordered) != len(columns):
        msg = f"{len(ordered)} sources for {len(columns)} items; wanted one an item, in order."
        raise InputError(msg)
    return columns, codes, ["" if g is None else str(g) for g in ordered]


def _in_order(
    columns: Columns,
    given: Mapping[str, object] | Sequence[object] | NDArray[np.generic],
    what: str,
) -> Sequence[object] | NDArray[np.generic]:
    if not isinstance(given, Mapping):
        return given
    items = list(columns.items)
    unknown = sorted(set(given) - set(items), key=repr)
    if unknown:
        msg = (
            f"{len(unknown)} of the {what} name no item, such as {unknown[0]!r}; the first item is "
            f"{items[0] if items else 'none'!r}. Key them on item."
        )
        raise InputError(msg)
    if len(set(items)) < len(items):
        msg = f"items share names, so {what} by name do not say which. Give every item its own."
        raise InputError(msg)
    return [given.get(item) for item in items]
