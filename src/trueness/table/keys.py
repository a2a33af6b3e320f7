"""Keys of rows: (item, epoch, condition), never the position."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.table.answers import AnswerTable
from trueness.table.column import NULL, Column


def row_keys(table: AnswerTable) -> NDArray[np.int64]:
    """One whole number for each (item, condition, model): equal numbers, equal labels."""
    keys, n_keys = table.item.codes.astype(np.int64), len(table.item.words)
    for column in (table.condition, table.model):
        if column is not None and column.codes.any():
            n_words = len(column.words) + 1
            keys, n_keys = keys * n_words + (column.codes + 1), n_keys * n_words
            if n_keys > _SPARSE * len(keys):
                keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
                n_keys = len(keys)
    return keys


_SPARSE = 4
"""Whole numbers up to so many times the rows may stay as they are."""


def epochs_of(column: Column[str], notes: list[str]) -> NDArray[np.int32]:
    """Whole numbers from 1 of a column of epochs; epochs that start at 0 are moved, with a note.

    Raises
    ------
    InputError
        For a row whose epoch is no whole number from 0; names it.
    """
    values = np.zeros(len(column.words) + 1, dtype=np.int64)
    values[-1] = NULL
    for i, word in enumerate(column.words):
        text = word.strip()
        small = text.isdecimal() and len(text) < len(str(np.iinfo(np.int32).max))
        values[i] = int(text) if small else NULL
    epochs = values[column.codes]
    if (epochs < 0).any():
        row = int(np.argmax(epochs < 0))
        msg = (
            f"row {row + 1} has the epoch {column[row]!r}; a whole number from 1 is wanted. "
            "Number the draws of each item, or leave the column out."
        )
        raise InputError(msg)
    if (epochs == 0).any():
        notes.append("Epochs start at 0 in the source: each was raised by one.")
        epochs = epochs + 1
    return epochs.astype(np.int32)


def number_epochs(keys: NDArray[np.int64]) -> NDArray[np.int32] | None:
    """Epochs from 1 in file order within each key; None when every key stands once."""
    if not len(keys) or int(np.bincount(keys).max()) <= 1:
        return None
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    lengths = np.diff(np.r_[starts, len(keys)])
    epochs = np.empty(len(keys), dtype=np.int32)
    epochs[order] = np.arange(len(keys)) - np.repeat(starts, lengths) + 1
    return epochs


def without_repeats(
    table: AnswerTable, keys: NDArray[np.int64], *, last_wins: bool = False
) -> AnswerTable:
    """The table with one row for each key.

    Exact repeats are dropped and counted. With ``last_wins`` a later row replaces an earlier one,
    as in a journal that was resumed.

    Raises
    ------
    InputError
        When two rows have one key and different text; names item, epoch and both rows.
    """
    if _ascending(keys, table.epoch):
        return table
    order = np.lexsort((np.arange(len(keys)), table.epoch, keys))
    k, e = keys[order], table.epoch[order]
    again = np.r_[False, (k[1:] == k[:-1]) & (e[1:] == e[:-1])]
    if not again.any():
        return table
    if last_wins:
        keep = np.ones(len(keys), dtype=np.bool_)
        keep[order[:-1][again[1:]]] = False
        return table.take(keep)
    first = order[np.maximum.accumulate(np.where(again, 0, np.arange(len(order))))]
    _refuse_unequal(table, first[again], order[again])
    keep = np.ones(len(keys), dtype=np.bool_)
    keep[order[again]] = False
    return replace(table.take(keep), n_repeated=int(again.sum()))


def _ascending(keys: NDArray[np.int64], epoch: NDArray[np.int32]) -> bool:
    """Whether each row's key and epoch come after those before: then none stands twice."""
    later = keys[1:] > keys[:-1]
    later |= (keys[1:] == keys[:-1]) & (epoch[1:] > epoch[:-1])
    return bool(later.all())


def _refuse_unequal(table: AnswerTable, one: NDArray[np.intp], two: NDArray[np.intp]) -> None:
    differs = table.outcome[one] != table.outcome[two]
    for column in (table.completion, table.answer, table.reason):
        if column is not None:
            differs |= column.codes[one] != column.codes[two]
    if table.weight is not None:
        differs |= table.weight[one] != table.weight[two]
    if differs.any():
        at = int(np.argmax(differs))
        i, j = int(one[at]), int(two[at])
        msg = (
            f"item {table.item[i]!r} has epoch {table.epoch[i]} twice with different text, in rows "
            f"{table.row_number[i]} and {table.row_number[j]}. Number the draws of each item, or "
            "remove one of the rows."
        )
        raise InputError(msg)
