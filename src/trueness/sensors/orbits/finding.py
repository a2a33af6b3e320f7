"""What a certificate is worth: found, silent, impossible, contradicted or unstable."""

from dataclasses import dataclass

from trueness.contract import State
from trueness.sensors.orbits.certificate import Certificate, Inconsistent
from trueness.sensors.orbits.certify import certify
from trueness.sensors.orbits.golds import contradiction
from trueness.sensors.orbits.limits import Params
from trueness.sensors.orbits.slots import Slots
from trueness.sensors.orbits.tally import Tally
from trueness.table import NULL, AnswerTable


@dataclass(frozen=True, slots=True)
class Finding:
    """A certificate with its state; None where nothing follows from the declaration."""

    state: State
    reason: str | None
    certificate: Certificate | None


def find(slots: Slots, table: AnswerTable, params: Params, counts: Tally) -> Finding:
    """Certify the slots and say what the certificate is worth."""
    found = certify(slots, params)
    if isinstance(found, Inconsistent):
        return Finding(State.NOT_APPLICABLE, found.reason, None)
    false = contradiction(slots, table, params, counts, found)
    if false is not None:
        return Finding(State.NOT_APPLICABLE, false, None)
    if not counts.n_answered:
        reason = (
            f"no answer among {counts.n_slots:,} slots: {counts.n_no_answer:,} without an answer, "
            f"{counts.n_error:,} missing"
        )
        return Finding(State.NO_EVIDENCE, reason, found)
    unstable = _unstable(table)
    if unstable is not None:
        return Finding(State.UNSTABLE, unstable, found)
    if not found.certified_errors:
        return Finding(State.SILENT, "nothing in these answers contradicts the declaration", found)
    return Finding(State.MEASURED, None, found)


def _unstable(table: AnswerTable) -> str | None:
    for protocol in table.protocols.values():
        mark = protocol.fields.get("unstable")
        if mark:
            return str(mark)
    repeats = table.extras.get("nondeterministic")
    if repeats is not None and (repeats.codes != NULL).any():
        return "the same prompt asked twice gave two answers"
    return None
