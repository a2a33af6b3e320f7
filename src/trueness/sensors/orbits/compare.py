"""What changed between two tables of answers to the same questions."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from trueness.contract import Reading, State
from trueness.contract.blocks import Block, Cell, Fact, Facts, Notes, Statement, Table
from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.sensors import orbits
from trueness.sensors.orbits.draw import cut
from trueness.sensors.orbits.finding import Finding, find
from trueness.sensors.orbits.limits import Params
from trueness.sensors.orbits.slots import Slots, slots_of
from trueness.sensors.orbits.tally import Tally, right_slots, tally
from trueness.stats.comparison import (
    MISSING,
    NO_ANSWER,
    PartitionComparison,
    compare_partitions,
)
from trueness.stats.repair import RepairVerdict, repair_verdict
from trueness.table import NULL, AnswerTable, Column

MAX_CHANGED = 50
"""Changed answers shown."""
_OUTCOMES = ("answered", "no_answer", "missing")
_BLIND = (
    "whether a change is for the better: separated is not right",
    "a difference of two lower bounds is no bound of the difference in errors",
)
_DEGENERATE = "degenerate here: one side is all apart or one block, so the index says nothing"

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Side:
    """One table on the common slots that came back on both sides."""

    finding: Finding
    counts: Tally
    right: NDArray[np.bool_] | None

    @property
    def not_right(self) -> int | None:
        found = self.finding.certificate
        return None if found is None else found.certified_errors + self.counts.n_no_answer

    @property
    def floor(self) -> Fraction | None:
        asked = self.counts.n_answered + self.counts.n_no_answer
        return None if self.not_right is None or not asked else Fraction(self.not_right, asked)

    @property
    def certified(self) -> int | None:
        found = self.finding.certificate
        return None if found is None else found.certified_errors

    @property
    def accuracy(self) -> float | None:
        """Right slots over slots that came back, no-answers among them; None without golds."""
        if self.right is None or not len(self.right):
            return None
        return int(self.right.sum()) / len(self.right)


@dataclass(frozen=True, slots=True)
class _Joined:
    """Slots of both tables with one entity and one column."""

    before: Slots
    after: Slots
    at_before: NDArray[np.intp]
    at_after: NDArray[np.intp]
    codes_before: Ints
    codes_after: Ints

    @property
    def came_back(self) -> NDArray[np.bool_]:
        back: NDArray[np.bool_] = (self.codes_before != MISSING) & (self.codes_after != MISSING)
        return back


@dataclass(frozen=True, slots=True)
class _Change:
    joined: _Joined
    sides: tuple[_Side, _Side]
    partition: PartitionComparison
    verdict: RepairVerdict | None
    notes: tuple[str, ...]

    @property
    def n_common(self) -> int:
        return int(self.joined.came_back.sum())

    @property
    def value(self) -> float | None:
        before, after = (side.floor for side in self.sides)
        return None if before is None or after is None else float(after - before)


def compare(
    before: AnswerTable, after: AnswerTable, params: Params | None = None, *, rand: bool = False
) -> Reading:
    """What changed between two tables, on the entities and columns that both hold.

    Parameters
    ----------
    before, after : AnswerTable
        One condition each, answers keyed by the same rules.
    params : Params or None
        The declaration, for both sides.
    rand : bool
        Also give the adjusted Rand index, with a warning where it is degenerate.

    Returns
    -------
    Reading
        ``value`` is the change of ``not_right_floor``, after less before, on the slots that came
        back on both sides; negative is fewer answers proved not right. A difference of two lower
        bounds, so no bound itself. ``SILENT`` when nothing is proved on either side,
        ``NO_EVIDENCE`` when no slot came back on both, ``NOT_APPLICABLE`` and ``UNSTABLE`` as in
        `measure`. The partition is compared in every state.

    Raises
    ------
    InputError
        Several conditions in a table, or no entity and column in common.
    """
    params = params or Params()
    for name, table in (("before", before), ("after", after)):
        _check_one_condition(name, table)
    change = _compare(before, after, params)
    state, reason = _state(change)
    value = change.value if state is State.MEASURED else None
    return Reading(
        sensor=orbits.CONTRACT.sensor,
        direction=orbits.CONTRACT.direction,
        state=state,
        reason=reason,
        value=value,
        n_measured=change.partition.n_compared,
        n_items=len(change.joined.at_before),
        details=_details(change, rand=rand),
        blocks=_blocks(change, state, reason),
        versions={"numpy": np.__version__},
    )


def _check_one_condition(name: str, table: AnswerTable) -> None:
    if len(table.conditions) > 1:
        msg = (
            f"the table {name} holds {len(table.conditions)} conditions "
            f"({', '.join(table.conditions[:5])}); compare one at a time: table.only(condition)."
        )
        raise InputError(msg)


def _compare(before: AnswerTable, after: AnswerTable, params: Params) -> _Change:
    joined = _join(slots_of(before, params), slots_of(after, params))
    back = joined.came_back
    one = _side(before, joined.before.row[joined.at_before[back]], params)
    two = _side(after, joined.after.row[joined.at_after[back]], params)
    partition = compare_partitions(
        _within_columns(joined, joined.codes_before), _within_columns(joined, joined.codes_after)
    )
    verdict = None
    if partition.n_compared:
        verdict = repair_verdict(
            pairs_merged=partition.pairs_merged,
            pairs_split=partition.pairs_split,
            answers_changed=partition.n_changed,
        )
    return _Change(joined, (one, two), partition, verdict, _notes(before, after, joined))


def _join(before: Slots, after: Slots) -> _Joined:
    """The common slots in the order of the first table, with answers in one code space."""
    entity = Column(after.entity, after.entities).codes_in(before.entities).astype(np.int64)
    column = Column(after.column, after.columns).codes_in(before.columns).astype(np.int64)
    width = len(before.columns)
    there = np.where((entity == NULL) | (column == NULL), NULL, entity * width + column)
    here = before.entity.astype(np.int64) * width + before.column
    _, at_before, at_after = np.intersect1d(here, there, assume_unique=False, return_indices=True)
    if not len(at_before):
        msg = (
            f"no slot is in both tables: {len(before.entities):,} entities in columns "
            f"{', '.join(before.columns[:3])} before, {len(after.entities):,} in "
            f"{', '.join(after.columns[:3])} after. Give both the same entities and columns."
        )
        raise InputError(msg)
    order = np.argsort(at_before, kind="stable")
    at_before, at_after = at_before[order], at_after[order]
    key = Column(after.key, after.keys).codes_in(before.keys).astype(np.int64)
    key = np.where((key == NULL) & (after.key != NULL), len(before.keys) + after.key, key)
    return _Joined(
        before,
        after,
        at_before,
        at_after,
        _codes(before, before.key.astype(np.int64))[at_before],
        _codes(after, key)[at_after],
    )


def _codes(slots: Slots, key: Ints) -> Ints:
    out: Ints = np.where(slots.missing, MISSING, np.where(slots.answered, key, NO_ANSWER))
    return out


def _within_columns(joined: _Joined, codes: Ints) -> Ints:
    """Codes that are never equal in two columns: an orbit lies within one column."""
    width = len(joined.before.columns)
    if width == 1:
        return codes
    column = joined.before.column[joined.at_before]
    out: Ints = np.where(codes < 0, codes, codes * width + column)
    return out


def _side(table: AnswerTable, rows: NDArray[np.integer], params: Params) -> _Side:
    part = table.take(rows)
    slots = slots_of(part, params)
    counts = tally(slots, part, params.filler)
    right = right_slots(slots, part)
    return _Side(
        find(slots, part, params, counts),
        counts,
        None if right is None else right & slots.answered,
    )


def _notes(before: AnswerTable, after: AnswerTable, joined: _Joined) -> tuple[str, ...]:
    out = [
        f"{n:,} slots stand {where} only and are left out"
        for where, n in (
            ("before", len(joined.before) - len(joined.at_before)),
            ("after", len(joined.after) - len(joined.at_after)),
        )
        if n
    ]
    if joined.before.back or joined.after.back:
        out.append("answers to inverse questions are left out")
    if before.extractor != after.extractor:
        out.append(
            f"answers were keyed by different rules ({before.extractor} and {after.extractor}): "
            "a changed key need not be a changed answer"
        )
    return tuple(out)


def _state(change: _Change) -> tuple[State, str | None]:
    findings = [side.finding for side in change.sides]
    for bad in (State.NOT_APPLICABLE, State.UNSTABLE):
        for name, found in zip(("before", "after"), findings, strict=True):
            if found.state is bad:
                return bad, f"{name}: {found.reason}"
    if not change.n_common:
        return State.NO_EVIDENCE, "no slot came back in both tables"
    if not any(side.not_right for side in change.sides):
        return State.SILENT, "nothing is proved about the answers of either table"
    return State.MEASURED, None


def _details(change: _Change, *, rand: bool) -> dict[str, Json]:
    p, (one, two) = change.partition, change.sides
    compared = bool(p.n_compared)
    before, after = one.floor, two.floor
    return {
        "outcomes": [list(row) for row in p.outcomes],
        "outcome_names": list(_OUTCOMES),
        "n_common": change.n_common,
        "n_compared": p.n_compared,
        "verdict": None if change.verdict is None else change.verdict.value,
        "pairs_merged": p.pairs_merged,
        "pairs_split": p.pairs_split,
        "pairs_together_in_both": p.pairs_together_in_both,
        "n_changed": p.n_changed,
        "churn": None if p.churn is None else float(p.churn),
        "split_information": p.split_information if compared else None,
        "merge_information": p.merge_information if compared else None,
        "variation_of_information": p.variation_of_information if compared else None,
        "certified_errors_before": one.certified,
        "certified_errors_after": two.certified,
        "certified_errors_change": _less(two.certified, one.certified),
        "not_right_floor_before": None if before is None else float(before),
        "not_right_floor_after": None if after is None else float(after),
        "not_right_floor_change": change.value,
        **_accuracy(change),
        **_adjusted_rand(change, asked=rand),
    }


def _less(after: int | None, before: int | None) -> int | None:
    return None if after is None or before is None else after - before


def _accuracy(change: _Change) -> dict[str, Json]:
    """Accuracies and McNemar's exact p; the p only for one column, where slots are entities."""
    one, two = (side.right for side in change.sides)
    known = one is not None and two is not None and len(one) > 0
    out: dict[str, Json] = {
        "accuracy_before": change.sides[0].accuracy if known else None,
        "accuracy_after": change.sides[1].accuracy if known else None,
        "n_right_before_only": None,
        "n_right_after_only": None,
        "mcnemar_p": None,
    }
    if one is None or two is None or not known:
        return out
    lost, won = int((one & ~two).sum()), int((~one & two).sum())
    out["n_right_before_only"], out["n_right_after_only"] = lost, won
    if len(change.joined.before.columns) == 1:
        from trueness.stats.mcnemar import mcnemar  # noqa: PLC0415 - slow to load, seldom needed

        out["mcnemar_p"] = float(mcnemar(lost, won).p_exact)
    return out


def _adjusted_rand(change: _Change, *, asked: bool) -> dict[str, Json]:
    out: dict[str, Json] = {"adjusted_rand": None, "adjusted_rand_warning": None}
    if not asked:
        return out
    if len(change.joined.before.columns) > 1:
        return out | {"adjusted_rand_warning": "not defined over several columns"}
    index = change.partition.adjusted_rand()
    warning = _DEGENERATE if change.partition.adjusted_rand_is_degenerate else None
    return {
        "adjusted_rand": None if index is None else float(index),
        "adjusted_rand_warning": warning,
    }


def _blocks(change: _Change, state: State, reason: str | None) -> tuple[Block, ...]:
    out: list[Block] = [_statement(change, state, reason), _moves(change), _facts(change)]
    changed = _changed(change)
    if changed.rows:
        out.append(changed)
    out.append(Notes("Blind to", (*_BLIND, *orbits.CONTRACT.blind_to), "blind_spots"))
    if change.notes:
        out.append(Notes("Notes", change.notes, "notes"))
    return tuple(out)


def _statement(change: _Change, state: State, reason: str | None) -> Statement:
    p = change.partition
    told = "No answer could be compared."
    if change.verdict is not None:
        told = (
            f"{change.verdict.value.capitalize()}: of {p.n_compared:,} answers given on both "
            f"sides {p.n_changed:,} changed; {p.pairs_split:,} pairs came apart and "
            f"{p.pairs_merged:,} came together."
        )
    if state is not State.MEASURED:
        tone = "silent" if state is State.SILENT else "problem"
        return Statement(f"{told} The floors cannot be told apart: {reason}.", tone)
    one, two = change.sides
    floors = (
        f"Proved not right: {one.not_right:,} of {change.n_common:,} before, "
        f"{two.not_right:,} after."
    )
    follow = "A difference of two lower bounds bounds nothing; separated is not better."
    return Statement(f"{told} {floors}", "finding", (follow,))


def _moves(change: _Change) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (name.replace("_", " "), *row)
        for name, row in zip(_OUTCOMES, change.partition.outcomes, strict=True)
    ]
    head = ("before \\ after", *(n.replace("_", " ") for n in _OUTCOMES))
    return Table("What came back", head, tuple(rows), n_rows=len(rows))


def _facts(change: _Change) -> Facts:
    p, one, two = change.partition, *change.sides
    facts = [
        Fact("pairs come together", f"{p.pairs_merged:,}", f"n = {p.n_compared:,}"),
        Fact("pairs come apart", f"{p.pairs_split:,}", f"n = {p.n_compared:,}"),
        Fact("answers changed", f"{p.n_changed:,} of {p.n_compared:,}", "churn"),
        Fact("split information", f"{p.split_information:.4f} bits", "H(after | before)"),
        Fact("merge information", f"{p.merge_information:.4f} bits", "H(before | after)"),
    ]
    if one.certified is not None and two.certified is not None:
        counts = f"{one.certified:,} before, {two.certified:,} after"
        facts.append(Fact("certainly wrong", counts, "each proved"))
        counts = f"{one.not_right:,} before, {two.not_right:,} after, of {change.n_common:,}"
        facts.append(Fact("certainly not right", counts, "each proved"))
    accuracy = _accuracy(change)
    if accuracy["accuracy_before"] is not None:
        shown = f"{accuracy['accuracy_before']:.4f} before, {accuracy['accuracy_after']:.4f} after"
        p_value = accuracy["mcnemar_p"]
        how = "golds" if p_value is None else f"golds; exact McNemar p = {p_value:.4g}"
        facts.append(Fact("accuracy", shown, how))
    return Facts("Before and after", tuple(facts))


def _changed(change: _Change) -> Table:
    j = change.joined
    both = (j.codes_before >= 0) & (j.codes_after >= 0)
    moved = np.flatnonzero(both & (j.codes_before != j.codes_after))
    rows = []
    for i in moved[:MAX_CHANGED].tolist():
        b, a = int(j.at_before[i]), int(j.at_after[i])
        entity, said = j.before.entities[int(j.before.entity[b])], j.before.keys
        names = (
            entity,
            said[int(j.before.key[b])],
            j.after.keys[int(j.after.key[a])],
        )
        rows.append(tuple(map(cut, names)))
    return Table("Answers that changed", ("entity", "before", "after"), tuple(rows), len(moved))
