"""Several tables of one run as one table: shards of a file, or the files of a folder."""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import FingerprintMismatch, InputError
from trueness.table.answers import AnswerTable
from trueness.table.column import NULL, Column
from trueness.table.keys import number_epochs, row_keys, without_repeats
from trueness.table.logs.draws import LogReport
from trueness.table.logs.texts import Shelf, Texts
from trueness.table.protocol import Protocol
from trueness.table.sidecar import joined
from trueness.table.singles import SingleWords

T = TypeVar("T", bound=Hashable)

SUFFIXES = frozenset({".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet"})
"""Files of a folder that are taken for shards."""
_OPTIONAL = ("completion", "relation", "entity", "template", "group", "model", "entity_key")


def concat(tables: Sequence[AnswerTable]) -> AnswerTable:
    """One table of the rows of several, in order; the same as if one file had held them.

    Where no table has epochs, draws of an item are numbered through all of them. Where they have,
    exact repeats are dropped and counted.

    Parameters
    ----------
    tables : sequence of AnswerTable
        Shards of one run: equal protocols and extractor.

    Returns
    -------
    AnswerTable
        ``row_number`` counts on from table to table.

    Raises
    ------
    InputError
        For no table, different extractors, epochs in some tables only, or one key with different
        text in two of them.
    FingerprintMismatch
        When a condition was obtained under different protocols; names the differing fields.

    Examples
    --------
    >>> from trueness.table import read_answers
    >>> one, two = (read_answers([{"item": "a", "answer": x}]) for x in "xy")
    >>> concat([one, two]).epoch.tolist()
    [1, 2]
    """
    if len(tables) == 1:
        return tables[0]
    _check_alike(tables)
    shelf = Shelf()
    last = [int(t.row_number.max(initial=0)) for t in tables]
    moved = np.cumsum([0, *last[:-1]])
    optional = {name: _optional(shelf, name, tables) for name in _OPTIONAL}
    table = AnswerTable(
        item=_texts(shelf, [t.item for t in tables], tables),
        condition=_texts(shelf, [t.condition for t in tables], tables),
        answer=_texts(shelf, [t.answer for t in tables], tables),
        epoch=np.concatenate([t.epoch for t in tables]),
        reason=_texts(shelf, [t.reason for t in tables], tables),
        outcome=np.concatenate([t.outcome for t in tables]),
        row_number=np.concatenate([t.row_number + m for t, m in zip(tables, moved, strict=True)]),
        target=_golds(shelf, tables),
        observer=_tuples([t.observer for t in tables], tables),
        logprob=_numbers([t.logprob for t in tables], tables, np.nan),
        weight=_numbers([t.weight for t in tables], tables, 1),
        extras=_extras(shelf, tables),
        arrays=joined(tables),
        extractor=tables[0].extractor,
        completed=all(t.completed for t in tables),
        protocols=_protocols(tables),
        planned=_planned(tables),
        observed=tables[0].observed
        if all(t.observed == tables[0].observed for t in tables)
        else {},
        log=_log([t.log for t in tables]),
        named=all(t.named for t in tables),
        notes=tuple(dict.fromkeys(note for t in tables for note in t.notes)),
    )
    table = replace(table, **optional)  # type: ignore[arg-type] # columns of text
    table = _keyed_apart(table, tables)
    if table.log is not None:
        n_items = len(np.unique(table.item.codes))
        table = replace(table, log=replace(table.log, n_draws=len(table), n_items=n_items))
    return table


def shard_files(folder: Path) -> list[Path]:
    """Files of a folder that may be shards of one table, in order of name."""
    found = (p for p in folder.iterdir() if p.suffix.lower() in SUFFIXES and p.is_file())
    return sorted(p for p in found if not p.name.startswith("."))


def _keyed_apart(table: AnswerTable, tables: Sequence[AnswerTable]) -> AnswerTable:
    keys = row_keys(table)
    n_before = sum(t.n_repeated for t in tables)
    if tables[0].epochs_numbered:
        numbers = number_epochs(keys)
        epoch = table.epoch if numbers is None else numbers
        return replace(table, epoch=epoch, epochs_numbered=True, n_repeated=n_before)
    table = without_repeats(table, keys)
    return replace(table, n_repeated=table.n_repeated + n_before)


def _check_alike(tables: Sequence[AnswerTable]) -> None:
    if not tables:
        msg = "no table was given; at least one is wanted. Name a file with answers."
        raise InputError(msg)
    rules = dict.fromkeys(t.extractor for t in tables)
    if len(rules) > 1:
        listed = " and ".join("none" if rule is None else repr(rule) for rule in rules)
        msg = (
            f"the tables were keyed by different extractors: {listed}. Their keys cannot be "
            "compared; export all of them again from their completions."
        )
        raise InputError(msg)
    if len({t.epochs_numbered for t in tables}) > 1:
        msg = (
            "some of the tables number the draws of an item and some do not, so it is not known "
            "which draws are the same. Give all of them a column epoch, or none."
        )
        raise InputError(msg)


def _texts(
    shelf: Shelf, columns: Sequence[Column[str] | None], tables: Sequence[AnswerTable]
) -> Column[str]:
    """Columns of text one after another; distinct words are kept once."""
    words, n_words = Texts(shelf), 0
    for column in columns:
        for word in () if column is None else column.words:
            words.add(word, n_words)
            n_words += 1
    return _joined(words.column(n_words), columns, tables)


def _joined(
    words: Column[T], columns: Sequence[Column[T] | None], tables: Sequence[AnswerTable]
) -> Column[T]:
    """Codes of all rows, from the number that each column's words got among all."""
    numbers = np.append(words.codes, np.int32(NULL))
    parts: list[NDArray[np.int32]] = []
    start = 0
    for column, table in zip(columns, tables, strict=True):
        if column is None:
            parts.append(np.full(len(table), NULL, dtype=np.int32))
            continue
        at = np.where(column.codes == NULL, len(words.codes), column.codes + start)
        parts.append(numbers[at])
        start += len(column.words)
    return Column(np.concatenate(parts), words.words)


def _optional(shelf: Shelf, name: str, tables: Sequence[AnswerTable]) -> Column[str] | None:
    columns: list[Column[str] | None] = [getattr(t, name) for t in tables]
    return None if all(c is None for c in columns) else _texts(shelf, columns, tables)


def _tuples(columns: Sequence[Column[T] | None], tables: Sequence[AnswerTable]) -> Column[T] | None:
    there = [c for c in columns if c is not None]
    if not there:
        return None
    return _joined(Column.of(word for c in there for word in c.words), columns, tables)


def _golds(shelf: Shelf, tables: Sequence[AnswerTable]) -> Column[tuple[str, ...]] | None:
    columns = [t.target for t in tables]
    bases: list[Column[str] | None] = []
    for column in columns:
        if column is None:
            bases.append(None)
        elif isinstance(column.words, SingleWords):
            bases.append(Column(column.codes, column.words.base))
        else:
            return _tuples(columns, tables)
    if all(base is None for base in bases):
        return None
    joined = _texts(shelf, bases, tables)
    return Column(joined.codes, SingleWords(joined.words))


N = TypeVar("N", np.float64, np.int64)


def _numbers(
    parts: Sequence[NDArray[N] | None], tables: Sequence[AnswerTable], absent: float
) -> NDArray[N] | None:
    kinds = [p.dtype for p in parts if p is not None]
    if not kinds:
        return None
    filled = [
        np.full(len(t), absent, dtype=kinds[0]) if p is None else p
        for p, t in zip(parts, tables, strict=True)
    ]
    return np.concatenate(filled)


def _extras(shelf: Shelf, tables: Sequence[AnswerTable]) -> dict[str, Column[str]]:
    names = dict.fromkeys(name for t in tables for name in t.extras)
    return {name: _texts(shelf, [t.extras.get(name) for t in tables], tables) for name in names}


def _protocols(tables: Sequence[AnswerTable]) -> dict[str, Protocol]:
    merged: dict[str, Protocol] = {}
    for table in tables:
        for condition, protocol in table.protocols.items():
            known = merged.setdefault(condition, protocol)
            if known.fingerprint != protocol.fingerprint:
                msg = (
                    f"condition {condition!r} was obtained under different protocols in two of "
                    f"the tables: {', '.join(known.differences(protocol))} differ. Compare them "
                    "instead, or name shards of one run."
                )
                raise FingerprintMismatch(msg)
    return merged


def _planned(tables: Sequence[AnswerTable]) -> dict[str, int]:
    merged: dict[str, int] = {}
    for table in tables:
        for condition, draws in table.planned.items():
            if merged.setdefault(condition, draws) != draws:
                msg = (
                    f"condition {condition!r} was planned with {merged[condition]} draws an item "
                    f"in one table and {draws} in another; equally many are wanted. Read them "
                    "one by one."
                )
                raise InputError(msg)
    return merged


def _log(reports: Sequence[LogReport | None]) -> LogReport | None:
    """One report of several logs of one tool; None of anything else."""
    there = [report for report in reports if report is not None]
    if len(there) < len(reports) or len({r.tool for r in there}) > 1:
        return None
    dropped: dict[str, int] = {}
    for reason, count in (pair for r in there for pair in r.dropped.items()):
        dropped[reason] = dropped.get(reason, 0) + count
    facts = there[0].protocol
    return replace(
        there[0],
        n_read=sum(r.n_read for r in there),
        dropped=dropped,
        duplicates=[d for r in there for d in r.duplicates],
        protocol={k: v for k, v in facts.items() if all(r.protocol.get(k) == v for r in there)},
        warnings=list(dict.fromkeys(w for r in there for w in r.warnings)),
    )
