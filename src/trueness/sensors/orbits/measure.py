"""From a table to the reading of certified errors."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from trueness.contract import Flagged, ItemReading, Reading, Rows, State
from trueness.contract.blocks import Block
from trueness.contract.errors import InputError
from trueness.contract.serial import Json, canonical
from trueness.sensors import orbits
from trueness.sensors.orbits.assumptions import Assumption, assumptions
from trueness.sensors.orbits.beside import numbers_beside
from trueness.sensors.orbits.certificate import Certificate
from trueness.sensors.orbits.certify import certify
from trueness.sensors.orbits.draw import Drawing, blocks
from trueness.sensors.orbits.finding import Finding, find
from trueness.sensors.orbits.golds import caution
from trueness.sensors.orbits.limits import Params
from trueness.sensors.orbits.recovery import recovery_details
from trueness.sensors.orbits.sampled import Ceiling, ceiling_of
from trueness.sensors.orbits.slots import ANSWERED, ERROR, Back, Slots, slots_of
from trueness.sensors.orbits.symmetry_scores import Symmetry, symmetry_details, symmetry_of
from trueness.sensors.orbits.tally import Tally, tally
from trueness.table import OUTCOMES, AnswerTable

RECERTIFY_SLOTS = 2_000_000
"""One column of at most so many slots is certified again without each assumption."""
LINE = 300
"""Characters of one printed protocol line."""
RECERTIFY_PAIRS = 5_000
"""The same for several columns or candidates, where a certificate costs more."""


def measure(table: AnswerTable, params: Params | None = None) -> Reading:
    """The certified errors of one condition's answers.

    Parameters
    ----------
    table : AnswerTable
        One condition, answers keyed.
    params : Params or None
        The declaration in the table's keys; None declares nothing.

    Returns
    -------
    Reading
        ``value`` is certified errors over answered slots. ``SILENT`` when nothing is proved,
        ``NO_EVIDENCE`` when nothing was answered, ``NOT_APPLICABLE`` when the declaration is
        inconsistent or contradicts the golds, ``UNSTABLE`` when answers did not repeat.

    Raises
    ------
    InputError
        Several conditions, two rows of one slot that disagree, a declaration that names what the
        table does not have.
    """
    params = params or Params()
    if len(table.conditions) > 1:
        msg = (
            f"the table holds {len(table.conditions)} conditions "
            f"({', '.join(table.conditions[:5])}); certify one at a time: table.only(condition)."
        )
        raise InputError(msg)
    slots = slots_of(table, params)
    counts = tally(slots, table, params.filler)
    finding = find(slots, table, params, counts)
    rests = _assumptions(slots, params, counts, finding)
    beside = _beside(table, slots, params, counts, finding)
    return _reading(table, slots, params, counts, finding, rests, beside)


@dataclass(frozen=True, slots=True)
class _Beside:
    """What the same table says apart from the certificate."""

    ceiling: Ceiling
    symmetry: Symmetry | None
    caution: tuple[str, ...]
    details: dict[str, Json]

    @property
    def blocks(self) -> tuple[Block, ...]:
        drawn = () if self.symmetry is None else self.symmetry.blocks()
        return (*self.ceiling.blocks(), *drawn)


def _beside(
    table: AnswerTable, slots: Slots, params: Params, counts: Tally, finding: Finding
) -> _Beside:
    ceiling = ceiling_of(table, slots, params.declaration, counts=counts, finding=finding)
    symmetry = symmetry_of(table, slots)
    warned = () if finding.state is State.NOT_APPLICABLE else caution(slots, table, params)
    named = {
        **ceiling.details(),
        **recovery_details(slots),
        **symmetry_details(symmetry),
        **numbers_beside(table, slots),
    }
    return _Beside(ceiling, symmetry, warned, named)


def _assumptions(
    slots: Slots, params: Params, counts: Tally, finding: Finding
) -> Sequence[Assumption]:
    found = finding.certificate
    if found is None:
        return ()
    cheap = len(slots.columns) == 1 and not params.candidates
    affordable = len(slots) <= (RECERTIFY_SLOTS if cheap else RECERTIFY_PAIRS)

    def again(changed: Params) -> int:
        other = certify(slots, changed, ranked=False)
        return other.certified_errors if isinstance(other, Certificate) else 0

    recertify: Callable[[Params], int] | None = again if affordable else None
    return assumptions(
        params,
        n_columns=len(slots.columns),
        golds_known=counts.true_errors is not None,
        certified=found.certified_errors,
        recertify=recertify,
    )


def _reading(  # noqa: PLR0917 - the seven things that a reading is made of
    table: AnswerTable,
    slots: Slots,
    params: Params,
    counts: Tally,
    finding: Finding,
    rests: Sequence[Assumption],
    beside: _Beside,
) -> Reading:
    found = finding.certificate
    measured = finding.state is State.MEASURED and found is not None
    value = float(found.error_floor or 0) if measured and found is not None else None
    items = _item_names(table, slots)
    drawing = Drawing(
        state=finding.state,
        reason=finding.reason,
        slots=slots,
        tally=counts,
        params=params,
        certificate=found,
        assumptions=(*rests, *beside.ceiling.assumptions()),
        blind_to=orbits.CONTRACT.blind_to,
        protocol=_protocol_lines(table, params),
        notes=(
            *table.notes,
            *params.notes,
            *(found.notes if found else ()),
            *beside.caution,
        ),
        more=beside.blocks,
    )
    return Reading(
        sensor=orbits.CONTRACT.sensor,
        direction=orbits.CONTRACT.direction,
        state=finding.state,
        reason=finding.reason,
        value=value,
        low=value,
        high=1.0 if measured else None,
        interval_kind="proved lower bound" if measured else None,
        n_measured=counts.n_answered,
        n_items=counts.n_slots,
        per_item=Rows(counts.n_slots, _per_item(slots, items, finding, beside.symmetry)),
        flagged=_flagged(items, finding),
        details=details(counts, slots, found) | beside.details,
        blocks=blocks(drawing),
        fingerprint=_fingerprint(table, params),
        versions=_versions(table),
    )


def _flagged(items: Callable[[int], str], finding: Finding) -> Flagged:
    found = finding.certificate
    if found is None or finding.state is not State.MEASURED:
        return Flagged()
    where = np.flatnonzero(found.withheld)
    return Flagged(
        Rows(len(where), lambda i: items(int(where[i]))),
        _number(found.precision_floor),
        _number(found.recall_floor),
    )


def _item_names(table: AnswerTable, slots: Slots) -> Callable[[int], str]:
    """From a slot to its item's name; draws of one item carry their number."""
    several = not table.epochs_numbered and len(np.unique(table.epoch)) > 1
    n = len(slots)

    def name(slot: int) -> str:
        row = int(slots.row[slot]) if slot < n else slots.back[slot - n].row
        item = str(table.item[row])
        return f"{item}#{int(table.epoch[row])}" if several else item

    return name


def _per_item(
    slots: Slots, items: Callable[[int], str], finding: Finding, symmetry: Symmetry | None
) -> Callable[[int], ItemReading]:
    found = finding.certificate
    measured = finding.state is State.MEASURED

    def entry(slot: int) -> ItemReading:
        if slot >= len(slots):
            return _asked_back(items(slot), slots.back[slot - len(slots)], finding)
        outcome = int(slots.outcome[slot])
        extra: dict[str, Json] = {
            "entity": slots.entities[int(slots.entity[slot])],
            "column": slots.columns[int(slots.column[slot])],
            "outcome": OUTCOMES[outcome].value,
            "answer": slots.keys[int(slots.key[slot])] if outcome == ANSWERED else None,
        }
        if symmetry is not None:
            extra |= symmetry.of_entity(int(slots.entity[slot]))
        if outcome != ANSWERED:
            return _nothing_said(items(slot), outcome, extra)
        if found is None or not measured:
            return ItemReading(items(slot), finding.state, finding.reason, None, extra)
        if found.rank is not None:
            extra["withhold_rank"] = int(found.rank[slot])
        if not found.withheld[slot]:
            why = "nothing contradicts this answer; not a pass"
            return ItemReading(items(slot), State.SILENT, why, None, extra)
        return ItemReading(items(slot), State.MEASURED, None, found.share_of(slot), extra)

    return entry


def _nothing_said(item: str, outcome: int, extra: dict[str, Json]) -> ItemReading:
    why = "missing" if outcome == ERROR else "no answer"
    return ItemReading(item, State.NO_EVIDENCE, why, None, extra)


def _asked_back(item: str, back: Back, finding: Finding) -> ItemReading:
    """An inverse question takes part in the certificate and is never singled out."""
    extra: dict[str, Json] = {
        "asked": back.asked,
        "column": "asked back",
        "outcome": OUTCOMES[back.outcome].value,
        "answer": back.owner,
    }
    if back.owner is None:
        return _nothing_said(item, back.outcome, extra)
    if finding.state in {State.MEASURED, State.SILENT}:
        return ItemReading(item, State.SILENT, "asked back; not singled out", None, extra)
    return ItemReading(item, finding.state, finding.reason, None, extra)


def details(counts: Tally, slots: Slots, found: Certificate | None) -> dict[str, Json]:
    """Named figures, present in every state; None where not defined."""
    k = None if found is None else found.certified_errors
    asked = counts.n_answered + counts.n_no_answer
    not_right = None if k is None else k + counts.n_no_answer
    out: dict[str, Json] = {
        "n_entities": counts.n_entities,
        "n_columns": len(slots.columns),
        "n_slots": counts.n_slots,
        "n_answered": counts.n_answered,
        "n_no_answer": counts.n_no_answer,
        "n_error": counts.n_error,
        "n_repeats": slots.n_repeats,
        "n_orbits": len(counts.sizes),
        "largest_orbit": counts.largest_orbit,
        "n_echo": counts.n_echo,
        "n_other_entity": counts.n_other,
        "n_filler": counts.n_filler,
        "certified_errors": k,
        "error_floor": _share(k, counts.n_answered),
        "n_not_right": not_right,
        "n_right_or_not": asked,
        "not_right_floor": _share(not_right, asked),
        "true_errors": counts.true_errors,
        "certificate_kind": None if found is None else ("exact" if found.exact else "relaxation"),
    }
    return out | _of_certificate(found)


def _of_certificate(found: Certificate | None) -> dict[str, Json]:
    if found is None:
        names = (
            "n_withheld precision_floor recall_floor break_even_slack sum_of_single_column_floors "
            "some_column_has_at_least simple_floor witness_is_unique breakdown guaranteed_wrong"
        )
        return dict.fromkeys(names.split())
    return {
        "n_withheld": found.n_withheld,
        "precision_floor": _number(found.precision_floor),
        "recall_floor": _number(found.recall_floor),
        "break_even_slack": found.break_even_slack,
        "sum_of_single_column_floors": found.single_columns,
        "some_column_has_at_least": found.some_column,
        "simple_floor": found.simple_floor,
        "witness_is_unique": found.witness_is_unique,
        "breakdown": dict(found.breakdown),
        "guaranteed_wrong": [[n, g] for n, g in found.curve],
    }


def _share(part: int | None, whole: int) -> float | None:
    return None if part is None or not whole else part / whole


def _number(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _protocol_lines(table: AnswerTable, params: Params) -> tuple[str, ...]:
    lines = [f"{name}: {value}" for name, value in params.declaration.said().items()][:40]
    lines = [line if len(line) <= LINE else f"{line[: LINE - 1]}…" for line in lines]
    if table.extractor:
        lines.append(f"answers keyed by {table.extractor}")
    for condition, protocol in table.protocols.items():
        lines.append(f"condition {condition}: protocol {protocol.fingerprint[:16]}")
        lines += [f"{k}: {canonical(v)[:200]}" for k, v in protocol.fields.items()]
    return tuple(lines)


def _fingerprint(table: AnswerTable, params: Params) -> str:
    parts = {
        "sensor": orbits.CONTRACT.sensor,
        "extractor": table.extractor,
        "protocols": {c: p.fingerprint for c, p in table.protocols.items()},
        "declaration": params.declaration.said(),
    }
    return hashlib.sha256(canonical(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _versions(table: AnswerTable) -> dict[str, str]:
    versions = {"numpy": np.__version__}
    if table.extractor:
        versions["extractor"] = table.extractor
    return versions
