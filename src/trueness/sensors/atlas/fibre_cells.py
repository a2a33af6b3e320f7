"""Every condition of every item as a cell: what one pass showed, answers, what vouches for both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.contract.serial import Json
from trueness.stats.clouds import GOLD, NONE, OPEN, WRONG, Clouds
from trueness.stats.fibres import fibre_codes, fibre_pairs, tolerance_pairs
from trueness.table import NULL, OUTCOMES, AnswerTable, Outcome

_ERROR, _ANSWERED = OUTCOMES.index(Outcome.ERROR), OUTCOMES.index(Outcome.ANSWERED)
_OF_CONDITION = frozenset({"condition", "join", "bos"})
"""Fields of a protocol in which two conditions of one run differ."""
_NEEDED = ("model", "backend_version", "decoding", "seed", "dtype")

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Numbers = tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Every (item, condition) of a table.

    Parameters
    ----------
    item, condition : (n_cells,) int64
        Codes of the table; ascending by item, and by condition within one.
    observers : tuple of numbers or None
        What was recorded; None where nothing was, or the draws disagree.
    clouds : Clouds
        Of keys, all right answers of an item as one class.
    right : (n_cells,) int64
        Draws that are right; -1 where that is not known.
    missing : tuple of tuple of str
        What an audit of the cell lacks.
    drawn : (n_cells,) bool
        Whether draws of the cell are independent: greedy ones are one answer, many times.
    """

    item: Ints
    condition: Ints
    observers: tuple[Numbers | None, ...]
    clouds: Clouds
    right: Ints
    missing: tuple[tuple[str, ...], ...]
    drawn: Bools

    @classmethod
    def of(cls, table: AnswerTable) -> "Cells":
        """The cells of a table."""
        width = len(table.condition.words)
        key = table.item.codes.astype(np.int64) * width + table.condition.codes
        cell, at = np.unique(key, return_inverse=True)
        item, condition = np.divmod(cell, width)
        came = table.outcome != _ERROR
        right, known = _right(table)
        code = np.where(table.outcome == _ANSWERED, table.answer.codes, NULL).astype(np.int64)
        code = np.where(right, len(table.answer.words), code)
        role = np.where(code == NULL, np.int8(NONE), np.where(known, np.int8(WRONG), np.int8(OPEN)))
        role = np.where(right, np.int8(GOLD), role).astype(np.int8)
        weight = table.weight
        clouds = Clouds.of(
            at[came],
            code[came],
            role[came],
            n_items=len(cell),
            weight=None if weight is None else weight[came],
        )
        hits = np.bincount(at, right * (1 if weight is None else weight), len(cell))
        told = np.bincount(at, known, len(cell)) > 0
        observers = _observers(table, at, len(cell))
        return cls(
            item=item,
            condition=condition,
            observers=observers,
            clouds=clouds,
            right=np.where(told, hits, -1).astype(np.int64),
            missing=_missing(
                table,
                at,
                item=item,
                condition=condition,
                observers=observers,
                draws=clouds.draws,
            ),
            drawn=_is_drawn(table)[condition],
        )

    @property
    def seen(self) -> Bools:
        """(n_cells,): numbers were recorded, one set for all draws, and a draw came back."""
        there = np.array([o is not None for o in self.observers], np.bool_)
        found: Bools = there & (self.clouds.draws > 0)
        return found

    @property
    def auditable(self) -> Bools:
        """(n_cells,): nothing that an audit needs is missing."""
        return self.seen & np.array([not m for m in self.missing], np.bool_)

    @property
    def fibres(self) -> Ints:
        """(n_cells,): equal codes in one fibre; -1 where nothing was seen."""
        code = np.full(len(self.item), NULL, np.int64)
        start = 0
        for here, numbers in self._alike():
            found = fibre_codes(numbers, item=self.item[here])
            code[here] = found + start
            start += int(found.max()) + 1
        return code

    def pairs(self, near: float | None) -> Ints:
        """(n_pairs, 2): cells of one item whose numbers are equal to the byte, or within ``near``.

        Nearness makes pairs and no classes: it is not transitive.
        """
        if near is None:
            fibre = self.fibres
            seen = np.flatnonzero(fibre != NULL)
            return seen[fibre_pairs(fibre[seen])] if len(seen) else np.zeros((0, 2), np.int64)
        found = [
            here[tolerance_pairs(numbers, near, item=self.item[here])]
            for here, numbers in self._alike()
        ]
        return np.concatenate([np.zeros((0, 2), np.int64), *found])

    def alike(self, chosen: Ints, near: float) -> Ints:
        """(n_pairs, 2): chosen cells of one condition whose numbers lie within ``near``."""
        inside = np.isin(np.arange(len(self.item)), chosen)
        found = [
            part[tolerance_pairs(numbers[inside[here]], near, item=self.condition[part])]
            for here, numbers in self._alike()
            for part in [here[inside[here]]]
        ]
        return np.concatenate([np.zeros((0, 2), np.int64), *found])

    def distance(self, pairs: Ints) -> NDArray[np.float64]:
        """(n_pairs,): largest difference of two cells in any number."""
        found = [
            max(abs(x - y) for x, y in zip(self._numbers(a), self._numbers(b), strict=True))
            for a, b in pairs.tolist()
        ]
        return np.array(found, np.float64)

    def nearest(self) -> float | None:
        """The least distance of two cells of one item; None where no two can be compared."""
        found = self.pairs(np.finfo(np.float64).max)
        return float(self.distance(found).min()) if len(found) else None

    def _numbers(self, cell: int) -> Numbers:
        return self.observers[cell] or ()

    def _alike(self) -> list[tuple[Ints, NDArray[np.float64]]]:
        """Cells whose observers have one length, and their numbers."""
        seen = np.flatnonzero(self.seen).tolist()
        out = []
        for length in sorted({len(self._numbers(i)) for i in seen}):
            here = np.array([i for i in seen if len(self._numbers(i)) == length], np.int64)
            numbers = np.array([self._numbers(i) for i in here.tolist()], np.float64)
            out.append((here, numbers.reshape(len(here), length)))
        return out


def _right(table: AnswerTable) -> tuple[Bools, Bools]:
    """(n_rows,) Whether an answer is one of the row's golds; whether those are known."""
    if table.target is None:
        no = np.zeros(len(table), np.bool_)
        return no, no
    known = table.target.codes != NULL
    answered = (table.outcome == _ANSWERED) & (table.answer.codes != NULL) & known
    pairs = np.stack([table.answer.codes, table.target.codes], axis=1)
    distinct, back = np.unique(pairs, axis=0, return_inverse=True)
    hits = [
        NULL not in (a, t) and table.answer.words[a] in table.target.words[t]
        for a, t in distinct.tolist()
    ]
    return np.array(hits, np.bool_)[back.reshape(-1)] & answered, known


def _observers(table: AnswerTable, at: Ints, n: int) -> tuple[Numbers | None, ...]:
    """What was observed of each cell; None where nothing was, or its draws disagree."""
    column = table.observer
    if column is None:
        return (None,) * n
    low = np.full(n, np.iinfo(np.int64).max)
    high = np.full(n, NULL, np.int64)
    np.minimum.at(low, at, column.codes.astype(np.int64))
    np.maximum.at(high, at, column.codes.astype(np.int64))
    return tuple(
        column.words[int(top)] if top != NULL and bottom == top else None
        for bottom, top in zip(low.tolist(), high.tolist(), strict=True)
    )


def _missing(
    table: AnswerTable,
    at: Ints,
    *,
    item: Ints,
    condition: Ints,
    observers: Sequence[Numbers | None],
    draws: Ints,
) -> tuple[tuple[str, ...], ...]:
    """What every cell lacks of its provenance, its own rows and its condition's."""
    n = len(item)
    failed = np.bincount(at, table.outcome == _ERROR, n) > 0
    raw = np.zeros(len(table), np.bool_)
    if table.completion is not None:
        raw = (table.completion.codes != NULL) | (table.outcome == _ERROR)
    unkept = np.bincount(at, ~raw, n) > 0
    most = np.zeros(int(item.max(initial=-1)) + 1, np.int64)
    np.maximum.at(most, item, draws)
    base = _baselines(item, condition)
    names = [str(word) for word in table.condition.words]
    of_condition = [_of_protocol(table, name, names[base]) for name in names]
    whole = _of_table(table)
    return tuple(
        (
            *whole,
            *of_condition[int(condition[c])],
            *(("numbers of one pass",) if observers[c] is None else ()),
            *(("raw completions",) if unkept[c] else ()),
            *(("draws that failed",) if failed[c] else ()),
            *(
                ("as many draws as the item's other conditions",)
                if draws[c] < most[item[c]]
                else ()
            ),
        )
        for c in range(n)
    )


def _baselines(item: Ints, condition: Ints) -> int:
    """The condition that the most items have first: what others are compared with."""
    first = condition[np.unique(item, return_index=True)[1]]
    return int(np.bincount(first).argmax()) if len(first) else 0


def _of_table(table: AnswerTable) -> tuple[str, ...]:
    """What no cell of a table has."""
    return tuple(
        name
        for name, there in (
            ("name and version of the extractor", table.extractor is not None),
            ("how the numbers were read", bool(table.observed)),
        )
        if not there
    )


def _of_protocol(table: AnswerTable, name: str, baseline: str) -> tuple[str, ...]:
    """What a condition's protocol lacks, or has otherwise than the baseline's."""
    own, base = table.protocols.get(name), table.protocols.get(baseline)
    if own is None or base is None:
        return ("a protocol",)
    fields = own.fields
    weights = fields.get("file_hash") or fields.get("revision")
    lacking = [n for n in _NEEDED if fields.get(n) is None]
    other = [n for n in own.differences(base) if n not in _OF_CONDITION]
    return (
        *(f"the protocol's {n}" for n in lacking),
        *(() if weights else ("hash or revision of the weights",)),
        *(f"the baseline's {n}" for n in other),
    )


def _is_drawn(table: AnswerTable) -> Bools:
    """(n_conditions,): draws are drawn. True where nothing is known of how."""
    protocols = (table.protocols.get(str(name)) for name in table.condition.words)
    found = [p is None or not _is_greedy(p.fields) for p in protocols]
    return np.array(found, np.bool_)


def _is_greedy(fields: Mapping[str, Json]) -> bool:
    decoding, condition = fields.get("decoding"), fields.get("condition")
    heat = decoding.get("temperature") if isinstance(decoding, dict) else None
    noisy = isinstance(condition, dict) and "noise" in condition
    return heat == 0 and not noisy
