"""Which class of an item is right: golds of both tables in the classes that they share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.stats.clouds import GOLD, NONE, OPEN, WRONG
from trueness.table import NULL, OUTCOMES, AnswerTable, Column, Outcome

if TYPE_CHECKING:
    from trueness.sensors.atlas.arms import Words

ANSWERED = OUTCOMES.index(Outcome.ANSWERED)
EXPECTED = "expected_outcome"
"""Column that says ``no_answer`` where that is the right outcome (a false premise)."""
_NEVER = -2
_SHOWN = 3

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Rights:
    """The right classes of every item.

    Parameters
    ----------
    items : tuple of str
    known : (n_items,) bool
        Items whose right answer is known.
    premise : (n_items,) bool
        Items whose right outcome is no answer.
    golds : Column of tuple of str
        Accepted keys of every item; null where unknown.
    codes : (n_items, n_golds) int64
        Their classes; -2 where a key was never drawn.
    words : Words
    """

    items: tuple[str, ...]
    known: NDArray[np.bool_]
    premise: NDArray[np.bool_]
    golds: Column[tuple[str, ...]]
    codes: Ints
    words: "Words"

    def take(self, items: NDArray[np.intp]) -> "Rights":
        """The same for some of the items."""
        where = items.tolist()
        return Rights(
            tuple(self.items[i] for i in where),
            self.known[items],
            self.premise[items],
            self.golds.take(items),
            self.codes[items],
            self.words,
        )

    def classes(self, side: int, table: AnswerTable, at: Ints) -> Ints:
        """The class of every row; all right answers of an item are one."""
        code = shared_codes(self.words, side, table)
        quiet = table.outcome != ANSWERED
        code[quiet] = self.words.none + self._reason(table, quiet)
        code[self._is_gold(code, at)] = self.words.gold
        return code

    def roles(self, side: int, table: AnswerTable, at: Ints) -> NDArray[np.int8]:
        """``GOLD``, ``WRONG``, ``NONE`` or ``OPEN`` for every row that came back."""
        code = shared_codes(self.words, side, table)
        quiet = table.outcome != ANSWERED
        role = np.where(self.known[at], np.int8(WRONG), np.int8(OPEN))
        role[self._is_gold(code, at) & ~quiet] = GOLD
        role[quiet] = np.where(self.premise[at[quiet]], np.int8(GOLD), np.int8(NONE))
        return role

    def _is_gold(self, code: Ints, at: Ints) -> NDArray[np.bool_]:
        hit = np.zeros(len(code), np.bool_)
        for j in range(self.codes.shape[1]):
            hit |= self.codes[at, j] == code
        return hit

    def _reason(self, table: AnswerTable, quiet: NDArray[np.bool_]) -> Ints:
        """Offset of the class of no answer: 0, or one an outcome."""
        place = {name: i + 1 for i, name in enumerate(self.words.reasons)}
        offset = np.array([place.get(outcome.value, 0) for outcome in OUTCOMES], np.int64)
        return offset[table.outcome[quiet]]


def shared_codes(words: "Words", side: int, table: AnswerTable) -> Ints:
    """Classes of a table's answers in the space of both tables; -1 for no answer."""
    own = table.answer.codes.astype(np.int64)
    if side == 0:
        return own
    first = words.columns[0].words
    found = table.answer.codes_in(first).astype(np.int64)
    return np.where((found == NULL) & (own != NULL), own + len(first), found)


def rights_of(
    rows: Sequence[tuple[AnswerTable, Ints]], words: "Words", items: tuple[str, ...]
) -> Rights:
    """The right classes of the items, from the targets of one or two tables.

    Raises
    ------
    InputError
        When an item has two targets, in one table or before and after.
    """
    premise = np.zeros(len(items), np.bool_)
    for table, at in rows:
        column = table.extras.get(EXPECTED)
        if column is not None:
            right = [str(w) == Outcome.NO_ANSWER.value for w in column.words]
            premise[at[np.array([*right, False])[column.codes]]] = True
    golds = _agreed(items, [_targets(table, at, items) for table, at in rows])
    # no answer is right on a false premise, whatever else is listed
    golds = Column(np.where(premise, np.int32(NULL), golds.codes), golds.words)
    known = (golds.codes != NULL) | premise
    return Rights(items, known, premise, golds, _gold_codes(words, golds), words)


def _targets(table: AnswerTable, at: Ints, items: tuple[str, ...]) -> Column[tuple[str, ...]]:
    """The golds of every item as one table has them."""
    column = table.target
    if column is None:
        return Column(np.full(len(items), NULL, np.int32), ())
    code = np.full(len(items), NULL, np.int64)
    known = column.codes != NULL
    code[at[known]] = column.codes[known]
    wrong = known & (code[at] != column.codes)
    if wrong.any():
        row = int(np.argmax(wrong))
        other = column.words[int(code[at[row]])]
        msg = (
            f"item {items[at[row]]!r} has two targets, {column[row]!r} and {other!r}; an item has "
            "one right answer, or one list of them. Give all its draws the same."
        )
        raise InputError(msg)
    used, codes = np.unique(code, return_inverse=True)
    texts = [() if c == NULL else tuple(column.words[c]) for c in used.tolist()]
    codes = codes.reshape(-1).astype(np.int32)
    empty = np.array([not t for t in texts], np.bool_)
    return Column(np.where(empty[codes], np.int32(NULL), codes), tuple(texts))


def _agreed(
    items: tuple[str, ...], sides: Sequence[Column[tuple[str, ...]]]
) -> Column[tuple[str, ...]]:
    """The golds of every item, or an error that names items with others before than after."""
    first = sides[0]
    if len(sides) == 1:
        return first
    second = sides[1]
    both = np.flatnonzero((first.codes != NULL) & (second.codes != NULL))
    pairs = np.stack([first.codes[both], second.codes[both]], axis=1)
    distinct, which = np.unique(pairs, axis=0, return_inverse=True)
    differs = np.array(
        [set(first.words[a]) != set(second.words[b]) for a, b in distinct.tolist()], np.bool_
    )
    wrong = both[differs[which.reshape(-1)]] if len(both) else both
    if len(wrong):
        shown = "; ".join(
            f"{items[i]!r}: {' and '.join(' | '.join(map(repr, g)) for g in golds)}"
            for i in wrong[:_SHOWN].tolist()
            for golds in [(first[i] or (), second[i] or ())]
        )
        msg = (
            f"{len(wrong)} items have another target after than before ({shown}). "
            "Compare answers to the same items."
        )
        raise InputError(msg)
    later = np.where(second.codes == NULL, NULL, second.codes + len(first.words))
    codes = np.where(first.codes == NULL, later, first.codes).astype(np.int32)
    return Column(codes, (*first.words, *second.words))


def _gold_codes(words: "Words", golds: Column[tuple[str, ...]]) -> Ints:
    """(n_items, n_golds): classes of the golds in the shared space."""
    flat: Column[str] = Column.of(key for keys in golds.words for key in keys)
    code = np.full(len(flat.words) + 1, _NEVER, np.int64)
    offset = 0
    each = Column(np.arange(len(flat.words), dtype=np.int32), flat.words)
    for column in words.columns:
        found = each.codes_in(column.words).astype(np.int64)
        fresh = (code[:-1] == _NEVER) & (found != NULL)
        code[:-1][fresh] = found[fresh] + offset
        offset += len(column.words)
    length = np.array([len(g) for g in golds.words], np.int64)
    table = np.full((len(golds.words) + 1, int(length.max(initial=0))), _NEVER, np.int64)
    word = np.repeat(np.arange(len(length)), length)
    place = np.arange(len(word)) - np.repeat(np.cumsum(length) - length, length)
    table[word, place] = code[flat.codes]
    return table[golds.codes]  # code -1 reads the last row
