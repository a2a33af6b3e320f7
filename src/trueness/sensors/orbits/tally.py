"""Counts that stand beside every certificate: classes of slots, orbits, true errors."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.sensors.orbits.slots import Slots
from trueness.table import NULL, AnswerTable, Column

TEXT_LIMIT = 120


@dataclass(frozen=True, slots=True)
class Orbit:
    """Slots of one column that share an answer key."""

    column: int
    key: int
    size: int


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of one table's slots.

    ``sizes`` are the orbit sizes with their ``orbit_key`` and ``orbit_column`` codes, in no
    particular order. ``true_errors`` is None unless every answered slot has a gold.
    """

    n_entities: int
    n_slots: int
    n_answered: int
    n_error: int
    n_echo: int | None
    n_other: int | None
    n_filler: int
    sizes: NDArray[np.int32]
    orbit_key: NDArray[np.int32]
    orbit_column: NDArray[np.int32]
    true_errors: int | None

    @property
    def n_no_answer(self) -> int:
        """Slots in which the model gave no answer, refused or was cut off."""
        return self.n_slots - self.n_answered - self.n_error

    @property
    def largest_orbit(self) -> int | None:
        """Size of the largest orbit; None when nothing was answered."""
        return int(self.sizes.max()) if len(self.sizes) else None

    def largest(self, most: int) -> Iterator[Orbit]:
        """Orbits, largest first, equal sizes by column and key code."""
        few = np.arange(len(self.sizes))
        if most < len(few):  # only the largest need sorting; equal ones stand in order
            at_least = np.cumsum(np.bincount(self.sizes)[::-1])[::-1]
            least = int(np.flatnonzero(at_least >= most)[-1])
            larger, equal = self.sizes > least, self.sizes == least
            few = np.concatenate([np.flatnonzero(larger), np.flatnonzero(equal)[:most]])
        key, column, size = self.orbit_key[few], self.orbit_column[few], self.sizes[few]
        order = few[np.lexsort((key, column, -size))[:most]]
        for at in order.tolist():
            yield Orbit(int(self.orbit_column[at]), int(self.orbit_key[at]), int(self.sizes[at]))


def tally(slots: Slots, table: AnswerTable, filler: frozenset[str]) -> Tally:
    """Count the classes of slots, the orbits, and the true errors where golds are known."""
    answered = slots.answered
    key = slots.key if answered.all() else slots.key[answered]
    sizes, orbit_key, orbit_column = _orbits(
        key, slots.column[answered], len(slots.keys), len(slots.columns)
    )
    is_filler = filler_codes(slots, filler)
    own = None if slots.own is None else slots.own[answered]
    n_filler = np.count_nonzero(is_filler[key] & (~own if own is not None else True))
    return Tally(
        n_entities=len(slots.entities),
        n_slots=len(slots) + len(slots.back),
        n_answered=int(np.count_nonzero(answered)) + sum(b.owner is not None for b in slots.back),
        n_error=int(np.count_nonzero(slots.missing)) + sum(b.missing for b in slots.back),
        n_echo=None if own is None else int(np.count_nonzero(own)),
        n_other=None if slots.other is None else int(np.count_nonzero(slots.other)),
        n_filler=int(n_filler),
        sizes=sizes,
        orbit_key=orbit_key,
        orbit_column=orbit_column,
        true_errors=_true_errors(slots, table),
    )


def filler_codes(slots: Slots, filler: frozenset[str]) -> NDArray[np.bool_]:
    """Per key code, whether it is a declared filler; one more entry for no answer."""
    out = np.zeros(len(slots.keys) + 1, dtype=np.bool_)
    if filler:
        out[Column.of(sorted(filler)).codes_in(slots.keys)] = True
        out[NULL] = False
    return out


def _orbits(
    key: NDArray[np.int32], column: NDArray[np.int32], n_keys: int, n_columns: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    if n_columns == 1:
        counts = np.bincount(key, minlength=n_keys)
        used = np.flatnonzero(counts)
        sizes = (counts if len(used) == n_keys else counts[used]).astype(np.int32)
        return sizes, used.astype(np.int32), np.broadcast_to(np.int32(0), used.shape)
    used, counts = np.unique(column.astype(np.int64) * n_keys + key, return_counts=True)
    key, column = used % max(1, n_keys), used // max(1, n_keys)
    return counts.astype(np.int32), key.astype(np.int32), column.astype(np.int32)


def _true_errors(slots: Slots, table: AnswerTable) -> int | None:
    """Answered slots whose key is none of their golds; None where a gold is missing."""
    right = right_slots(slots, table)
    told = [b.right for b in slots.back if b.owner is not None]
    if right is None or any(r is None for r in told):
        return None
    return int(np.count_nonzero(slots.answered & ~right)) + sum(not r for r in told)


def right_slots(slots: Slots, table: AnswerTable) -> NDArray[np.bool_] | None:
    """Which slots are right by the golds; None unless every answered slot has a gold."""
    target = table.target
    if target is None:
        return None
    gold = target.codes[slots.row]
    answered = slots.answered
    if (gold[answered] == NULL).any():
        return None
    pair = gold.astype(np.int64) * (len(slots.keys) + 1) + slots.key
    distinct, back = np.unique(np.where(answered, pair, NULL), return_inverse=True)
    said = np.zeros(len(distinct), dtype=np.bool_)
    for at, code in enumerate(distinct.tolist()):
        if code >= 0:
            which, key = divmod(code, len(slots.keys) + 1)
            said[at] = slots.keys[key] in target.words[which]
    return said[back]
