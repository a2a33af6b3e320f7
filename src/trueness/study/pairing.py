"""Which slots of one table's conditions can be compared, and their rows.

A slot is what is asked once under every condition: (relation, entity or item, template, model,
epoch). Rows marked ``error`` leave their slot unmeasured.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from trueness.contract.serial import Json
from trueness.table import NULL, OUTCOMES, AnswerTable, Column, Outcome

_ERROR = OUTCOMES.index(Outcome.ERROR)
_SLOT_PARTS = ("relation", "template", "model")


@dataclass(frozen=True, slots=True)
class Pair:
    """How many slots a candidate shares with the baseline."""

    name: str
    n_common: int
    n_slots: int

    @property
    def share(self) -> Fraction:
        """Common slots of all slots."""
        return Fraction(self.n_common, self.n_slots)

    def too_few(self, least: Fraction) -> str:
        """The reason under which the candidate is excluded."""
        return f"{self.n_common} of {self.n_slots} slots in common, at least {least} wanted"

    def step(self, least: Fraction) -> dict[str, Json]:
        """The step of a decision's trace."""
        return {
            "step": "pair",
            "condition": self.name,
            "n_common": self.n_common,
            "n_slots": self.n_slots,
            "min_common": str(least),
        }


@dataclass(frozen=True, slots=True)
class PairedSlots:
    """Rows by slot and condition.

    Parameters
    ----------
    table : AnswerTable
    names : tuple of str
        The conditions, in the order of the first axis below.
    slot, condition : (n_rows,) int64
        Codes; condition is -1 where a row belongs to none of these.
    asked, measured : (n_conditions, n_slots) bool
        Whether there is a row, and one that came back.
    """

    table: AnswerTable
    names: tuple[str, ...]
    slot: NDArray[np.int64]
    condition: NDArray[np.int64]
    asked: NDArray[np.bool_]
    measured: NDArray[np.bool_]

    @classmethod
    def of(cls, table: AnswerTable, names: tuple[str, ...]) -> "PairedSlots":
        """The slots of all rows, and which of them these conditions have."""
        slot = _slot_codes(table)
        place = {name: i for i, name in enumerate(names)}
        lookup = np.array([place.get(w, NULL) for w in (*table.condition.words, "")])
        lookup[-1] = NULL  # rows without a condition
        condition = lookup[table.condition.codes]
        asked = np.zeros((len(names), int(slot.max()) + 1), dtype=np.bool_)
        measured = asked.copy()
        ours = condition != NULL
        asked[condition[ours], slot[ours]] = True
        back = ours & (table.outcome != _ERROR)
        measured[condition[back], slot[back]] = True
        return cls(table, names, slot, condition, asked, measured)

    def common(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Slots measured under every one of these conditions."""
        found = np.ones(self.measured.shape[1], dtype=np.bool_)
        for name in names:
            found &= self.measured[self.names.index(name)]
        return found

    def pairs(self, baseline: str, names: Sequence[str]) -> tuple[Pair, ...]:
        """Common slots of the baseline and each name, of all slots asked under any of them."""
        ours = [self.names.index(n) for n in (baseline, *names)]
        n_slots = int(self.asked[ours].any(axis=0).sum())
        return tuple(Pair(n, int(self.common([baseline, n]).sum()), n_slots) for n in names)

    def rows(self, name: str, slots: NDArray[np.bool_]) -> AnswerTable:
        """The rows of one condition that came back, on these slots."""
        ours = (self.condition == self.names.index(name)) & slots[self.slot]
        return self.table.take(ours & (self.table.outcome != _ERROR))


def asked_in_two_wordings(table: AnswerTable) -> bool:
    """Whether some entity is asked about in two templates or more."""
    if table.template is None:
        return False
    entity = _compressed(_named(table).codes)
    pairs = np.unique(_joined(entity, table.template.codes))
    return len(pairs) > len(np.unique(entity))


def _slot_codes(table: AnswerTable) -> NDArray[np.int64]:
    code = _compressed(_named(table).codes)
    for name in _SLOT_PARTS:
        column: Column[str] | None = getattr(table, name)
        if column is not None:
            code = _joined(code, column.codes)
    if not table.epochs_numbered:
        code = _joined(code, table.epoch)
    return code


def _named(table: AnswerTable) -> Column[str]:
    return table.item if table.entity is None else table.entity


def _joined(code: NDArray[np.int64], other: NDArray[np.int32]) -> NDArray[np.int64]:
    """One code for every pair that occurs."""
    more = _compressed(other)
    return _compressed(code * (int(more.max()) + 1) + more)


def _compressed(codes: NDArray[np.int32] | NDArray[np.int64]) -> NDArray[np.int64]:
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)
