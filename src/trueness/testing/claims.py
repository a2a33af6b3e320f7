"""The assertion that claims are carried by their evidence, as far as a gate can tell."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trueness.api.asserting import RULINGS, rulings, share, words
from trueness.contract import Decision
from trueness.contract.errors import InputError
from trueness.report import Check, Outcome
from trueness.testing.settling import SHOWN, Missing, leave, missing_of, why

if TYPE_CHECKING:
    from pathlib import Path

    from trueness.decide.gate import Gate
    from trueness.decide.stored import GateFile

_CALIBRATING = frozenset(
    (
        *("label", "labels", "positive", "unsupported", "policy", "grid", "evaluate"),
        *("error", "method", "unit", "population", "reject_budget", "budgets_tried", "negatives"),
    )
)
"""What only a calibration takes."""
_OF_BOTH = frozenset(("level", "seed"))
"""What means the promise beside a budget, and the intervals of the reading beside a gate."""


def assert_grounded(
    claims: object,
    evidence: object = None,
    *,
    gate: "str | Path | GateFile | Gate | None" = None,
    budget: float | None = None,
    calibration: object = None,
    at_most: float = 0.0,
    fail_on: str | Sequence[str] = ("review", "reject"),
    unmeasured: Missing = "error",
    **measured: Any,
) -> Decision:
    """The decision of a gate that accepts the claims on their evidence.

    The gate keeps an error budget among unsupported claims of its own population; that a claim is
    accepted is not that it is right.

    Parameters
    ----------
    claims : path, data frame, list of dicts, list of str, EvidenceTable, or Reading
    evidence : str, or one list of passages a claim, optional
        As `trueness.ground` takes it.
    gate : path, GateFile or fitted `trueness.Gate`, optional
        What ``trueness calibrate`` wrote. It names the sensor.
    budget : float, optional
        In place of a gate: the share of unsupported claims that may be accepted, with
        ``calibration``, from which the threshold is made now.
    calibration : path, data frame, list of dicts, EvidenceTable or Reading, optional
        Labelled claims of other sources than those asserted about.
    at_most : float
        The share of the claims that may get a verdict of ``fail_on``. Claims that could not be
        measured are counted each way.
    fail_on : str with commas, or sequence of str
        Verdicts that fail: by default every claim has to be accepted.
    unmeasured : {"error", "skip"}
        As in `assert_error_floor`; also when only some claims could not be measured, and these
        would decide.
    **measured
        As `trueness.ground` takes it; beside ``budget`` also what `trueness.api.gating.calibrate`
        takes: ``label``, ``level``, ``unit`` …

    Raises
    ------
    AssertionError
        When more claims than that get one of these verdicts.
    Unmeasured
        When that depends on claims that could not be measured.
    InputError, ProtocolError, BackendError, MissingExtraError
        When the claims, the gate or the embedder cannot be used.
    """
    __tracebackhide__ = True
    from trueness.api.gating import ground_by  # noqa: PLC0415 - needs numpy

    failing = words(fail_on, RULINGS, name="fail_on", what="verdicts")
    most, missing = share(at_most, name="at_most"), missing_of(unmeasured)
    columns = {"evidence": evidence} if isinstance(evidence, str) else {}
    made = _gate(gate, budget, calibration, measured | columns)
    idle = _CALIBRATING | (_OF_BOTH if gate is None else frozenset())
    how = {k: v for k, v in measured.items() if k not in idle}
    if evidence is not None:
        how["evidence"] = evidence
    reading, decision = ground_by(claims, made, **how)
    check = rulings("", decision, failing, most=most)
    if not reading.n_measured:
        check = Check("", check.name, Outcome.UNDECIDED, why(reading))
    text = "\n".join([f"{check.name}: {check.message}.", decision.summary(), *_listed(decision)])
    if check.outcome is Outcome.FAILED:
        raise AssertionError(text)
    if check.outcome is Outcome.UNDECIDED:
        state = None if reading.n_measured else reading.state
        leave(text, missing, state=state, reason=reading.reason or check.message)
    return decision


def _gate(
    gate: Any, budget: float | None, calibration: object, measured: Mapping[str, Any]
) -> "str | Path | GateFile":
    """The gate that was named, or the one that labelled claims and a budget make."""
    from trueness.api.gating import calibrate  # noqa: PLC0415 - needs numpy
    from trueness.decide.gate import Gate  # noqa: PLC0415 - as above

    labelled = budget is not None and calibration is not None
    named = gate is not None
    if named is labelled or (named and (budget is not None or calibration is not None)):
        said = {"gate": gate, "budget": budget, "calibration": calibration}
        given = " and ".join(k for k, v in said.items() if v is not None) or "nothing"
        msg = (
            f"{given} is given; claims are judged by a gate, or by a budget with a calibration of "
            "labelled claims. Give gate=FILE that `trueness calibrate` wrote, or both of these."
        )
        raise InputError(msg)
    if labelled:
        return calibrate(calibration, budget=budget, **measured)
    if idle := sorted(_CALIBRATING & measured.keys()):
        msg = f"{idle[0]} is given, and the gate was calibrated before. Leave it out."
        raise InputError(msg)
    return gate.fitted if isinstance(gate, Gate) else gate


def _listed(decision: Decision) -> list[str]:
    """The first items that were not accepted, and why."""
    found = [f"{v.item}: {v.reason}" for v in decision.verdicts if v.verdict != "accept"]
    more = [f"… and {len(found) - SHOWN:,} more"] if len(found) > SHOWN else []
    return [*found[:SHOWN], *more]
