"""From table rows to slots: one (entity, column) each, in whole-number codes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.sensors.orbits.limits import Params
from trueness.table import NULL, OUTCOMES, AnswerTable, Column, Outcome

ANSWERED = OUTCOMES.index(Outcome.ANSWERED)
ERROR = OUTCOMES.index(Outcome.ERROR)
INVERSE = "^-1"
"""Ends the relation's name in rows that ask the inverse question."""
_COLUMN_PARTS = ("template", "model")
_MAX_COLUMNS = 100_000


@dataclass(frozen=True, slots=True)
class Slots:
    """What was asked and what came back, one entry a slot.

    Parameters
    ----------
    entities : sequence of str
        Declared entities in their order, then others in order of appearance.
    columns : tuple of str
        Ways of asking the same question.
    keys : sequence of str
        Distinct answer keys.
    entity, column, key, outcome : (n_slots,) int
        Codes; ``key`` is -1 where not answered; ``outcome`` as in the table.
    own : (n_slots,) bool or None
        The answer is the entity's own name; None where names have no keys.
    other : (n_slots,) bool or None
        The answer is another entity's name.
    row : (n_slots,) int
        The table row that stands for the slot.
    n_repeats : int
        Rows that repeated another row of the same slot.
    own_key : Column or None
        Each slot's entity, as an answer key.
    back : tuple of Back
        Answers to inverse questions.
    """

    entities: Sequence[str]
    columns: tuple[str, ...]
    keys: Sequence[str]
    entity: NDArray[np.int32]
    column: NDArray[np.int32]
    key: NDArray[np.int32]
    outcome: NDArray[np.int8]
    own: NDArray[np.bool_] | None
    other: NDArray[np.bool_] | None
    row: NDArray[np.int32]
    n_repeats: int
    own_key: Column[str] | None = None
    back: tuple["Back", ...] = ()

    def __len__(self) -> int:
        return len(self.entity)

    @property
    def answered(self) -> NDArray[np.bool_]:
        """Slots with an answer key."""
        answered: NDArray[np.bool_] = self.outcome == ANSWERED
        return answered

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Slots that nothing came back for; they leave every denominator."""
        missing: NDArray[np.bool_] = self.outcome == ERROR
        return missing


@dataclass(frozen=True, slots=True)
class Back:
    """One inverse question, about which entity has this answer.

    ``owner`` is the key that came back, None where nothing was answered; ``outcome`` is coded and
    ``row`` counted as in the table; ``right`` says whether the owner is among the golds, None
    where there are none.
    """

    asked: str
    owner: str | None
    outcome: int
    row: int
    right: bool | None = None

    @property
    def missing(self) -> bool:
        """Whether nothing came back."""
        return self.outcome == ERROR


def _check_one_draw_a_row(table: AnswerTable) -> None:
    """Raise `InputError` for counted draws: a slot is one answer."""
    if table.weight is not None and (table.weight > 1).any():
        row = int(np.argmax(table.weight > 1))
        msg = (
            f"row {int(table.row_number[row])} stands for {int(table.weight[row])} draws; a "
            "certificate is about single answers. Write each draw in a row of its own, or name "
            "other columns."
        )
        raise InputError(msg)


def slots_of(table: AnswerTable, params: Params) -> Slots:
    """The slots of a table's rows.

    Raises
    ------
    InputError
        Two rows of one slot disagree, the columns were not said to ask the same question, or rows
        stand for several draws.
    """
    _check_one_draw_a_row(table)
    at, back = _split(table)
    table = table if at is None else table.take(at)
    named = table.item if table.entity is None else table.entity
    if (named.codes == NULL).any():
        row = int(np.flatnonzero(named.codes == NULL)[0])
        msg = (
            f"row {int(table.row_number[row])} names no entity; every row needs one. "
            "Fill it in or remove the row."
        )
        raise InputError(msg)
    entity, entities = _entity_codes(named, params.entities)
    column, columns = _columns(table)
    if params.declaration.same_question is False and len(columns) > 1:
        msg = (
            f"the table has {len(columns)} columns ({', '.join(columns[:3])} …) that are said not "
            "to ask the same question. Certify them one by one."
        )
        raise InputError(msg)
    rows, n_repeats = _one_row_a_slot(table, entity, column)
    some = rows if n_repeats else slice(None)  # a view where every row is a slot
    own, other = _names_as_answers(table, some)
    named_key = table.entity_key
    return Slots(
        entities=entities,
        columns=columns,
        keys=table.answer.words,
        entity=entity[some],
        column=column[some],
        key=table.answer.codes[some],
        outcome=table.outcome[some],
        own=own,
        other=other,
        row=rows if at is None else at[rows].astype(np.int32),
        n_repeats=n_repeats,
        own_key=None if named_key is None else Column(named_key.codes[some], named_key.words),
        back=back,
    )


def forward(table: AnswerTable) -> AnswerTable:
    """The rows that ask about entities, without those that ask which entity has an answer."""
    inverse = _inverse_rows(table)
    return table if inverse is None else table.take(~inverse)


def _inverse_rows(table: AnswerTable) -> NDArray[np.bool_] | None:
    if table.relation is None:
        return None
    codes = [i for i, w in enumerate(table.relation.words) if w.endswith(INVERSE)]
    return np.isin(table.relation.codes, codes) if codes else None


def _split(table: AnswerTable) -> tuple[NDArray[np.intp] | None, tuple[Back, ...]]:
    """Positions of the forward rows, None for all of them, and the inverse questions."""
    inverse = _inverse_rows(table)
    if inverse is None or table.entity_key is None:
        return None, ()
    back = []
    for row in np.flatnonzero(inverse).tolist():
        asked, owner = table.entity_key[row], table.answer[row]
        gold = None if table.target is None else table.target[row]
        if asked is not None:
            right = None if gold is None else owner in gold
            back.append(Back(asked, owner, int(table.outcome[row]), row, right))
    return np.flatnonzero(~inverse), tuple(back)


def _entity_codes(
    named: Column[str], declared: tuple[str, ...] | None
) -> tuple[NDArray[np.int32], Sequence[str]]:
    """Entity codes, with the declared entities first and in their order."""
    if declared is None:
        used = np.flatnonzero(np.bincount(named.codes, minlength=len(named.words)))
        if len(used) == len(named.words):
            return named.codes, named.words
        lookup = np.full(len(named.words), NULL, dtype=np.int32)
        lookup[used] = np.arange(len(used), dtype=np.int32)
        return lookup[named.codes], [named.words[int(c)] for c in used]
    position = {name: i for i, name in enumerate(declared)}
    names = list(declared)
    lookup = np.full(len(named.words), NULL, dtype=np.int32)
    for code in np.unique(named.codes).tolist():
        word = named.words[code]
        if word not in position:
            position[word] = len(names)
            names.append(word)
        lookup[code] = position[word]
    return lookup[named.codes], names


def _columns(table: AnswerTable) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Column codes from template, model and (where the source had one) epoch."""
    parts: list[tuple[str, NDArray[np.int32], list[str]]] = []
    for name in _COLUMN_PARTS:
        column: Column[str] | None = getattr(table, name)
        if column is not None:
            used, at = np.unique(column.codes, return_inverse=True)
            words = ["-" if c == NULL else column.words[int(c)] for c in used]
            parts.append((name, at.astype(np.int32), words))
    if not table.epochs_numbered:
        epochs, at = np.unique(table.epoch, return_inverse=True)
        parts.append(("draw", at.astype(np.int32), [str(e) for e in epochs.tolist()]))
    parts = [p for p in parts if len(p[2]) > 1]
    if not parts:
        return np.broadcast_to(np.int32(0), (len(table),)), ("all",)
    code = np.zeros(len(table), dtype=np.int64)
    for _, codes, words in parts:
        code = code * len(words) + codes
    distinct, dense = np.unique(code, return_inverse=True)
    if len(distinct) > _MAX_COLUMNS:
        msg = (
            f"the table has {len(distinct)} columns of template, model and draw; at most "
            f"{_MAX_COLUMNS} can be certified together. Name the columns with --epoch and "
            "--template."
        )
        raise InputError(msg)
    names = tuple(_column_name(int(u), parts) for u in distinct)
    return dense.astype(np.int32), names or ("all",)


def _column_name(code: int, parts: list[tuple[str, NDArray[np.int32], list[str]]]) -> str:
    names: list[str] = []
    for name, _, words in reversed(parts):
        code, which = divmod(code, len(words))
        names.append(f"{name} {words[which]}")
    return ", ".join(reversed(names)) or "all"


def _one_row_a_slot(
    table: AnswerTable, entity: NDArray[np.int32], column: NDArray[np.int32]
) -> tuple[NDArray[np.int32], int]:
    """The first row of every slot; repeats must agree."""
    slot: NDArray[np.integer] = entity
    if column.any():
        slot = entity.astype(np.int64) * (int(column.max()) + 1) + column
    if not len(slot) or int(np.bincount(slot).max() if _dense(slot) else _most(slot)) <= 1:
        return np.arange(len(slot), dtype=np.int32), 0
    order = np.argsort(slot, kind="stable")
    same = slot[order][1:] == slot[order][:-1]
    answer, outcome = table.answer.codes[order], table.outcome[order]
    differs = same & ((answer[1:] != answer[:-1]) | (outcome[1:] != outcome[:-1]))
    if differs.any():
        at = int(np.flatnonzero(differs)[0])
        raise InputError(_conflict(table, int(order[at]), int(order[at + 1])))
    keep = np.sort(order[np.r_[True, ~same]])
    return keep.astype(np.int32), len(slot) - len(keep)


def _dense(slot: NDArray[np.integer]) -> bool:
    return int(slot.max()) <= 4 * len(slot) + 1024


def _most(slot: NDArray[np.integer]) -> int:
    return int(np.unique(slot, return_counts=True)[1].max())


def _conflict(table: AnswerTable, first: int, second: int) -> str:
    named = table.item if table.entity is None else table.entity
    said = [
        repr(table.answer[row] or OUTCOMES[int(table.outcome[row])].value)
        for row in (first, second)
    ]
    rows = [int(table.row_number[row]) for row in (first, second)]
    return (
        f"rows {rows[0]} and {rows[1]} both answer for {named[first]!r}: {said[0]} and {said[1]}. "
        "One entity has one row a column. Remove one, or name the column that tells the draws "
        "apart (--epoch or --template)."
    )


def _names_as_answers(
    table: AnswerTable, row: NDArray[np.int32] | slice
) -> tuple[NDArray[np.bool_] | None, NDArray[np.bool_] | None]:
    """Whether each slot's answer is the entity's own name, or another entity's."""
    if table.entity_key is None:
        return None, None
    own_key = table.entity_key.codes_in(table.answer.words)[row]
    key = table.answer.codes[row]
    own = (key != NULL) & (own_key == key)
    is_name = np.zeros(len(table.answer.words) + 1, dtype=np.bool_)
    is_name[own_key] = True
    is_name[NULL] = False
    return own, is_name[key] & ~own
