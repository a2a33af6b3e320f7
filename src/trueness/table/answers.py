"""The table of answers: one row a draw, keyed by (item, epoch, condition), never by position."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.table.column import Column
from trueness.table.protocol import Protocol

if TYPE_CHECKING:
    from trueness.table.logs.draws import LogReport


class Outcome(StrEnum):
    """What became of one draw."""

    ANSWERED = "answered"
    NO_ANSWER = "no_answer"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    ERROR = "error"
    """Missing data: something happened to the draw; never counted for or against the model."""


OUTCOMES = tuple(Outcome)
"""``table.outcome`` holds positions in this tuple."""


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """Observed answers in interned columns.

    Parameters
    ----------
    item : Column[str]
        The prompt or question; the unit of pairing.
    epoch : (n_rows,) int32
        Which draw of the item, from 1.
    condition : Column[str]
        Which protocol produced the row.
    outcome : (n_rows,) int8
        Positions in `OUTCOMES`.
    answer : Column[str]
        Canonical key; null unless the outcome is ``answered``.
    reason : Column[str]
        Why there is no answer; null when answered.
    completion : Column[str] or None
        The raw text, kept.
    relation, entity, template, group, model : Column[str] or None
        What the item asks, about whom, in which wording; its cluster; which model answered.
    entity_key : Column[str] or None
        The answer key of the entity's own name where the extractor's rules cannot be applied to
        it later (a token observable).
    target : Column[tuple[str, ...]] or None
        Accepted gold keys, through the same extractor as the answers.
    logprob : (n_rows,) float64 or None
    weight : (n_rows,) int64 or None
        How often each row was drawn; None when every row is one draw.
    observer : Column[tuple[float, ...]] or None
        Numbers that were seen beside an answer: evidence that never enters a key.
    extras : mapping of str to Column[str]
        Evidence about the row (``tool_answer``, ``attempts`` …), never keys.
    arrays : mapping of str to (n_rows, ...) float array
        Numbers too large for a column that were seen with a row (``hidden_states``); nan where
        there are none. They lie in a file beside the table: `trueness.table.sidecar`.
    row_number : (n_rows,) int64
        Where the row stood in its source, from 1, so that an error can name it.
    extractor : str or None
        Name, version and hash of the rules that made the keys; None while only completions are
        known.
    epochs_numbered : bool
        True when the source had no epoch and rows were numbered in file order per item.
    n_repeated : int
        Exact repeats of a row that were dropped.
    completed : bool
        False when the source was cut off: what is whole was read.
    protocols : mapping of condition to Protocol
    planned : mapping of condition to int
        Draws an item that were wanted; empty where nothing says so.
    observed : mapping
        How the numbers of ``observer`` and ``arrays`` were read; empty where nothing says so.
    log : LogReport or None
        What the reader of another tool's log found beside the rows.
    named : bool
        Entities are normalised, and their own answer keys stand beside them where rules make any.
    notes : tuple of str
        What a reader had to decide, in sentences.
    """

    item: Column[str]
    epoch: NDArray[np.int32]
    condition: Column[str]
    outcome: NDArray[np.int8]
    answer: Column[str]
    reason: Column[str]
    row_number: NDArray[np.int64]
    completion: Column[str] | None = None
    relation: Column[str] | None = None
    entity: Column[str] | None = None
    template: Column[str] | None = None
    group: Column[str] | None = None
    model: Column[str] | None = None
    entity_key: Column[str] | None = None
    target: Column[tuple[str, ...]] | None = None
    logprob: NDArray[np.float64] | None = None
    weight: NDArray[np.int64] | None = None
    observer: Column[tuple[float, ...]] | None = None
    extras: Mapping[str, Column[str]] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[np.floating]] = field(default_factory=dict)
    extractor: str | None = None
    epochs_numbered: bool = False
    n_repeated: int = 0
    completed: bool = True
    protocols: Mapping[str, Protocol] = field(default_factory=dict)
    planned: Mapping[str, int] = field(default_factory=dict)
    observed: Mapping[str, Json] = field(default_factory=dict)
    log: "LogReport | None" = None
    named: bool = False
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.epoch)

    @property
    def n_draws(self) -> int:
        """How many draws the rows stand for."""
        return len(self) if self.weight is None else int(self.weight.sum())

    @property
    def conditions(self) -> tuple[str, ...]:
        """Conditions that have rows, in order of first appearance."""
        codes, words = self.condition.codes, self.condition.words
        used = np.flatnonzero(np.bincount(codes, minlength=len(words))).tolist()
        if len(used) > 1:
            used.sort(key=lambda code: int(np.argmax(codes == code)))
        return tuple(words[code] for code in used)

    def only(self, condition: str) -> "AnswerTable":
        """The rows of one condition.

        Raises
        ------
        InputError
            When no row has it; names the conditions there are.
        """
        if condition not in self.conditions:
            msg = (
                f"condition {condition!r} has no rows; the table holds "
                f"{', '.join(map(repr, self.conditions))}. Name one of these."
            )
            raise InputError(msg)
        code = list(self.condition.words).index(condition)
        return self.take(self.condition.codes == code)

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> "AnswerTable":
        """Some of the rows, all of the columns."""
        changed: dict[str, object] = {
            "extras": {name: column.take(rows) for name, column in self.extras.items()},
            "arrays": {name: array[rows] for name, array in self.arrays.items()},
        }
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, Column):
                changed[f.name] = value.take(rows)
            elif isinstance(value, np.ndarray):
                changed[f.name] = value[rows]
        return replace(self, **changed)  # type: ignore[arg-type] # same types as the fields
