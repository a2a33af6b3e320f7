"""Completions of a whole table to keys: once for every distinct text, stop reason and choices."""

import json
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.extract.answering import Answerer
from trueness.extract.extraction import answerer
from trueness.extract.result import FLAG, UNIT, Extraction
from trueness.extract.settings import Settings
from trueness.extract.shown_choices import shown_choices
from trueness.table.answers import OUTCOMES, AnswerTable, Outcome
from trueness.table.column import NULL, Column, pick

BATCH = 4_000
"""So many distinct texts are in memory at a time."""
SPELLING = "spelling"
"""Extra with the text that a key was made from, so that movements of spelling can be told."""
FLAGS = ("approximate", "label_text_mismatch")
_ANSWERED = OUTCOMES.index(Outcome.ANSWERED)
_PLACE = {outcome: i for i, outcome in enumerate(OUTCOMES)}
_STOP = "stop_reason"
Codes = NDArray[np.int32]
T = TypeVar("T", bound=Hashable)


@dataclass(slots=True)
class _Words:
    """Words in order of first appearance, and the code of each row."""

    index: dict[str, int] = field(default_factory=dict)
    codes: list[int] = field(default_factory=list)

    def add(self, word: str | None) -> None:
        code = NULL if not word else self.index.setdefault(word, len(self.index))
        self.codes.append(code)

    def column(self, row_of: NDArray[np.intp], rows: NDArray[np.bool_]) -> Column[str]:
        """A column of the table from one entry a distinct combination."""
        codes = np.full(len(rows), NULL, dtype=np.int32)
        codes[rows] = np.array(self.codes, dtype=np.int32)[row_of]
        return by_appearance(Column(codes, tuple(self.index)))


def keyed_completions(table: AnswerTable, settings: Settings) -> AnswerTable:
    """The table with outcome, key and reason of every row by the rules of some settings.

    Rows whose outcome was recorded as something else than ``answered`` keep it. With the extractor
    ``tool`` the text is what the log stored as the tool's answer.

    Raises
    ------
    InputError
        When ``tool`` is asked for and no answer of a tool was recorded, or choices are no list.
    """
    text = _texts(table, settings)
    choices = _choices(table, settings)
    stop = table.extras.get(_STOP)
    open_rows = table.outcome == _ANSWERED
    parts, row_of = _distinct(text.codes, _codes(stop), _codes(choices), rows=open_rows)
    outcomes: list[int] = []
    keys, reasons, units, flags, spellings = (_Words() for _ in range(5))
    for found in _extracted(text, stop, choices, parts, settings):
        outcomes.append(_PLACE[found.outcome])
        keys.add(found.key)
        reasons.add(found.reason)
        units.add(found.unit if found.key is not None else None)
        flags.add(_flag(found))
        spellings.add(found.raw if found.key is not None else None)
    outcome = table.outcome.copy()
    outcome[open_rows] = np.array(outcomes, dtype=np.int8)[row_of]
    extras = dict(table.extras)
    for name, words in ((UNIT, units), (FLAG, flags), (SPELLING, spellings)):
        if words.index:
            extras[name] = words.column(row_of, open_rows)
    return replace(
        table,
        outcome=outcome,
        answer=keys.column(row_of, open_rows),
        reason=_merged(table.reason, reasons.column(row_of, open_rows), open_rows),
        extras=extras,
    )


def keyed_golds(table: AnswerTable, settings: Settings) -> tuple[AnswerTable, tuple[str, ...]]:
    """The table with golds as keys, and notes that list items whose gold has none."""
    target = table.target
    if target is None:
        return table, ()
    choices = _choices(table, settings)
    parts, row_of = _distinct(target.codes, _codes(choices), rows=target.codes != NULL)
    index: dict[tuple[str, ...], int] = {}
    codes = []
    for code, chosen in parts.tolist():
        rules = _rules_for(settings, choices, chosen)
        keys = (rules.gold(text) for text in target.words[code])
        golds = tuple(dict.fromkeys(key for key in keys if key is not None))
        codes.append(index.setdefault(golds, len(index)) if golds else NULL)
    new = np.full(len(table), NULL, dtype=np.int32)
    new[target.codes != NULL] = np.array(codes, dtype=np.int32)[row_of]
    lost = np.flatnonzero((new == NULL) & (target.codes != NULL))
    table = replace(table, target=by_appearance(Column(new, tuple(index))))
    return table, _lost(table, lost)


def by_appearance(column: Column[T]) -> Column[T]:
    """The same values with words numbered in order of the rows, whatever order made them.

    >>> by_appearance(Column(np.array([2, -1, 0], dtype=np.int32), ("a", "b", "c"))).words
    ('c', 'a')
    """
    used, first = np.unique(column.codes, return_index=True)
    order = used[np.argsort(first)]
    order = order[order != NULL]
    new = np.full(len(column.words) + 1, NULL, dtype=np.int32)  # code -1 reads the last entry
    new[order] = np.arange(len(order), dtype=np.int32)
    return Column(new[column.codes], tuple(pick(column.words, order.tolist())))


def _lost(table: AnswerTable, rows: NDArray[np.intp]) -> tuple[str, ...]:
    """A note about items without a gold key."""
    items = list(dict.fromkeys(table.item.codes[rows].tolist()))
    if not items:
        return ()
    named = ", ".join(repr(word) for word in pick(table.item.words, items[:_NAMED]))
    more = " …" if len(items) > _NAMED else ""
    note = (
        f"{len(items)} items have a target without a key (gold_unparsed) and count as without "
        f"gold: {named}{more}"
    )
    return (note,)


_NAMED = 20


def _texts(table: AnswerTable, settings: Settings) -> Column[str]:
    """The column that is read."""
    if settings.extractor == "tool":
        if "tool_answer" not in table.extras:
            msg = (
                "the extractor 'tool' needs the answers that a tool stored, and the table has no "
                "tool_answer column. Use another extractor, or read the tool's own log."
            )
            raise InputError(msg)
        return table.extras["tool_answer"]
    if table.completion is None:
        msg = (
            "the table has no completions, so there is nothing to extract from. Read it with keys."
        )
        raise InputError(msg)
    return table.completion


def _choices(table: AnswerTable, settings: Settings) -> Column[str] | None:
    return shown_choices(table) if settings.kind == "option" else None


def _codes(column: Column[str] | None) -> Codes | None:
    return None if column is None else column.codes


def _distinct(
    *columns: Codes | None, rows: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Distinct rows of some columns in ascending order, and which one each open row is."""
    n = int(np.count_nonzero(rows))
    nothing = np.full(n, NULL, dtype=np.int32)
    parts = [nothing if column is None else column[rows] for column in columns]
    packed = np.zeros(n, dtype=np.int64)
    for part in parts:  # each column is packed into what the others have left
        _, packed_part = np.unique(part, return_inverse=True)
        packed = packed * (int(packed_part.max(initial=0)) + 1) + packed_part.reshape(-1)
        _, packed = np.unique(packed, return_inverse=True)
        packed = packed.reshape(-1).astype(np.int64)
    _, first, row_of = np.unique(packed, return_index=True, return_inverse=True)
    return np.stack([part[first] for part in parts], axis=1).astype(np.int64), row_of.reshape(-1)


def _extracted(
    text: Column[str],
    stop: Column[str] | None,
    choices: Column[str] | None,
    parts: NDArray[np.int64],
    settings: Settings,
) -> Iterator[Extraction]:
    """One result a distinct combination; texts are fetched in batches."""
    stops = [] if stop is None else list(stop.words)
    missing = _missing(settings)
    for start in range(0, len(parts), BATCH):
        batch = parts[start : start + BATCH].tolist()
        codes = list(dict.fromkeys(code for code, _, _ in batch if code != NULL))
        texts = dict(zip(codes, pick(text.words, codes), strict=True))
        for code, stopped, chosen in batch:
            if code == NULL:
                yield missing
                continue
            rules = _rules_for(settings, choices, chosen)
            yield rules.extraction(texts[code], None if stopped == NULL else stops[stopped])


def _missing(settings: Settings) -> Extraction:
    """What a row without a text is: missing, or an answer that a tool did not find."""
    if settings.extractor == "tool":
        return Extraction(Outcome.NO_ANSWER, reason="no_candidate")
    return Extraction(Outcome.ERROR, reason="missing_completion")


def _rules_for(settings: Settings, choices: Column[str] | None, code: int) -> Answerer:
    """The rules for a row: with the options that were shown to it, by their texts."""
    if choices is None or code == NULL:
        return answerer(settings)
    texts = _listed(choices.words[code])
    return answerer(replace(settings, labels=None, choices=texts, choices_by_text=True))


def _listed(text: str) -> tuple[str, ...]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, list) or not found or not all(isinstance(x, str) for x in found):
        msg = (
            f"choices are {text[:80]!r}; wanted is a JSON list of the options' texts in the order "
            "in which they were shown. Write one such list a row."
        )
        raise InputError(msg)
    return tuple(found)


def _flag(found: Extraction) -> str | None:
    return "; ".join(note for note in found.notes if note in FLAGS) or None


def _merged(recorded: Column[str], found: Column[str], open_rows: NDArray[np.bool_]) -> Column[str]:
    """Recorded reasons where the outcome was recorded, the extractor's everywhere else."""
    words: Sequence[str] = tuple(dict.fromkeys([*recorded.words, *found.words]))
    old, new = recorded.codes_in(words), found.codes_in(words)
    return Column(np.where(open_rows, new, old).astype(np.int32), words)
