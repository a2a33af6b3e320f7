"""One draw of a log, what a reader reports beside the table, and the builder that all feed."""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.table.answers import OUTCOMES, AnswerTable, Outcome
from trueness.table.column import NULL, Column
from trueness.table.keys import number_epochs, row_keys, without_repeats
from trueness.table.logs.doubts import doubts
from trueness.table.logs.ordering import order_of
from trueness.table.logs.runs import NO_CONDITION
from trueness.table.logs.texts import Shelf, Texts, Tuples
from trueness.table.protocol import Protocol

FIELDS = (
    "model",
    "revision",
    "temperature",
    "top_p",
    "max_tokens",
    "template",
    "seed",
    "num_fewshot",
    "task",
    "task_version",
)
"""Facts of a protocol that a log may or may not tell; those it does not are listed as unknown."""
_NO_EXTRAS: Mapping[str, str | None] = {}
_POSITION = {outcome: i for i, outcome in enumerate(OUTCOMES)}
_NOT_A_NUMBER = float("nan")


@dataclass(frozen=True, slots=True)
class Draw:
    """One answer of one item, as a log tells it.

    Parameters
    ----------
    item : str
        The log's own name of the sample or document.
    epoch : int
        Which draw of the item, from 1; 0 where the log has no number: then in order of reading.
    completion : str or None
        The raw text; None when it is missing.
    condition : str
        Which protocol produced it.
    outcome, reason :
        What is known before anything is extracted: missing, cut off. None where the text decides.
    target : tuple of str or None
        Golds as the log writes them, not yet extracted.
    group, model, logprob :
        As in `AnswerTable`.
    answer : str or None
        A key already; only where a source holds keys.
    observer : tuple of float or None
        Numbers that were seen beside the answer.
    extras : mapping of str to str or None
        Evidence about the draw, never keys.
    """

    item: str
    epoch: int
    completion: str | None
    condition: str = NO_CONDITION
    outcome: Outcome | None = None
    reason: str | None = None
    target: tuple[str, ...] | None = None
    group: str | None = None
    model: str | None = None
    logprob: float | None = None
    answer: str | None = None
    observer: tuple[float, ...] | None = None
    extras: Mapping[str, str | None] = field(default_factory=lambda: _NO_EXTRAS)


@dataclass(slots=True)
class LogReport:
    """What a reader found beside the draws. Filled while reading, left alone afterwards.

    Parameters
    ----------
    tool : str
        Which tool wrote the log.
    version : str or None
        The tool's version, where the log tells it.
    n_read : int
        Records read: lines, samples or events.
    dropped : dict of reason to count
        Records that made no row of their own.
    n_items, n_draws : int
        What the table holds.
    planned : int or None
        Draws an item that the log says were wanted.
    duplicates : list of str
        Repeats of a key that were resolved, and how.
    protocol : dict
        Facts about how the answers were obtained.
    unknown : tuple of str
        Facts that the log does not tell.
    warnings : list of str
        What a reader of the numbers must know.
    """

    tool: str
    version: str | None = None
    n_read: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    n_items: int = 0
    planned: int | None = None
    n_draws: int = 0
    duplicates: list[str] = field(default_factory=list)
    protocol: dict[str, Json] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    warnings: list[str] = field(default_factory=list)

    def drop(self, reason: str, count: int = 1) -> None:
        """Count records that made no row."""
        self.dropped[reason] = self.dropped.get(reason, 0) + count


_LAST_EPOCH = 2**31 - 1


class TableBuilder:
    """Draws in, a table out; memory holds codes, long texts go to a store on disk.

    Examples
    --------
    >>> builder = TableBuilder()
    >>> builder.add(Draw("2+2", 1, "It is 4."))
    0
    >>> table = builder.table(LogReport("by hand"))
    >>> len(table), table.log.n_items
    (1, 1)
    """

    def __init__(self) -> None:
        self._shelf = Shelf()
        self._texts: dict[str, Texts] = {}
        self._extras: dict[str, Texts] = {}
        self._targets: Tuples[tuple[str, ...]] = Tuples()
        self._observers: Tuples[tuple[float, ...]] = Tuples()
        self._epochs = array("i")
        self._outcomes = array("b")
        self._logprobs = array("d")
        self._dropped: list[int] = []

    def __len__(self) -> int:
        return len(self._epochs)

    def add(self, draw: Draw) -> int:
        """Take one draw; returns its row, counted from 0.

        Raises
        ------
        InputError
            When its epoch is no number of a draw.
        """
        if not 0 <= draw.epoch <= _LAST_EPOCH:
            msg = (
                f"item {draw.item!r} has the epoch {draw.epoch}; a number from 1 to {_LAST_EPOCH} "
                "is wanted. Repair the log."
            )
            raise InputError(msg)
        row = len(self)
        outcome, reason = _known(draw)
        self._text("item", draw.item, row)
        self._text("condition", draw.condition, row)
        self._text("completion", draw.completion, row)
        self._text("answer", draw.answer, row)
        self._text("reason", reason, row)
        self._text("group", draw.group, row)
        self._text("model", draw.model, row)
        for name, value in draw.extras.items():
            _written(self._extras, name, value, row, self._shelf)
        self._targets.add(draw.target)
        self._observers.add(draw.observer)
        self._outcomes.append(_POSITION[outcome])
        self._logprobs.append(_NOT_A_NUMBER if draw.logprob is None else draw.logprob)
        self._epochs.append(draw.epoch)
        return row

    def drop(self, row: int) -> None:
        """Take back one draw."""
        self._dropped.append(row)

    def table(
        self,
        report: LogReport,
        *,
        completed: bool = True,
        protocols: Mapping[str, Protocol] | None = None,
        planned: Mapping[str, int] | None = None,
    ) -> AnswerTable:
        """The table of all draws; the builder is used up.

        Rows stand in order of condition, item and epoch, whatever order they came in; numbers in
        the names of items count as numbers. Exact repeats of a draw are dropped and counted.
        ``report`` is completed in place and goes with the table; its warnings are notes of the
        table too.

        Parameters
        ----------
        report : LogReport
            What the reader found.
        completed : bool
            False when the log was cut off.
        protocols : mapping of condition to Protocol, or None
            None gives every condition the facts of the report.
        planned : mapping of condition to int, or None
            Draws an item that were wanted; None takes the number of the report for all.

        Raises
        ------
        InputError
            When there is no draw, or one item has an epoch twice with different text.
        """
        kept = self._kept(report)
        keys = row_keys(kept)
        table = without_repeats(_numbered(kept, keys), keys)
        if table.n_repeated:
            report.drop("exact repeat", table.n_repeated)
        table = table.take(order_of(table))
        if protocols is None:
            protocols = {c: Protocol(dict(report.protocol)) for c in table.conditions}
        if planned is None:
            every = report.planned
            planned = {} if every is None else dict.fromkeys(table.conditions, every)
        table = replace(table, completed=completed, protocols=protocols, planned=planned)
        self._complete(report, table)
        return replace(table, log=report, notes=tuple(report.warnings))

    def _complete(self, report: LogReport, table: AnswerTable) -> None:
        """Write what the table tells into the report."""
        report.n_draws = len(table)
        report.n_items = len(np.unique(table.item.codes))
        if not report.unknown:
            known = {name for p in table.protocols.values() for name in p.fields}
            report.unknown = tuple(name for name in FIELDS if name not in known)
        if self._shelf.n_escaped:
            report.warnings.append(
                f"{self._shelf.n_escaped} texts hold half a character (a lone surrogate); it is "
                r"written as \udXXX there."
            )
        report.warnings += doubts(table)

    def _text(self, name: str, value: str | None, row: int) -> None:
        if value is not None or name in self._texts:
            _written(self._texts, name, value, row, self._shelf)

    def _kept(self, report: LogReport) -> AnswerTable:
        n = len(self)
        if n == len(self._dropped):
            msg = (
                f"the {report.tool} log holds no draw ({report.n_read} records read); at least one "
                "sampled answer is wanted. Check that the run wrote its samples."
            )
            raise InputError(msg)
        columns = {name: texts.column(n) for name, texts in self._texts.items()}
        empty: Column[str] = Column(np.broadcast_to(np.int32(NULL), (n,)), ())
        logprob = np.array(self._logprobs, dtype=np.float64)
        keys_only = "completion" not in columns and "answer" in columns
        table = AnswerTable(
            item=columns["item"],
            epoch=np.array(self._epochs, dtype=np.int32),
            condition=columns["condition"],
            outcome=np.array(self._outcomes, dtype=np.int8),
            answer=columns.get("answer", empty),
            reason=columns.get("reason", empty),
            row_number=np.arange(1, n + 1, dtype=np.int64),
            completion=None if keys_only else columns.get("completion", empty),
            group=columns.get("group"),
            model=columns.get("model"),
            target=self._targets.column(),
            observer=self._observers.column(),
            logprob=None if np.isnan(logprob).all() else logprob,
            extras={name: texts.column(n) for name, texts in self._extras.items()},
        )
        if not self._dropped:
            return table
        keep = np.ones(n, dtype=np.bool_)
        keep[self._dropped] = False
        return table.take(keep)


def _known(draw: Draw) -> tuple[Outcome, str | None]:
    """What is known of a draw before extraction: answered where a text is there to be read."""
    if draw.outcome is not None:
        return draw.outcome, draw.reason
    if draw.completion is None and draw.answer is None:
        return Outcome.ERROR, draw.reason or "missing_completion"
    return Outcome.ANSWERED, draw.reason


def _written(
    columns: dict[str, Texts], name: str, value: str | None, row: int, shelf: Shelf
) -> None:
    texts = columns.get(name)
    if texts is None:
        texts = columns[name] = Texts(shelf, n_before=row)
    texts.add(value, row)


def _numbered(table: AnswerTable, keys: NDArray[np.int64]) -> AnswerTable:
    """Epochs in order of reading where the log has none."""
    if (table.epoch > 0).all():
        return table
    numbers = number_epochs(keys)
    if numbers is None:
        numbers = np.ones(len(table), dtype=np.int32)
    return replace(table, epoch=numbers, epochs_numbered=True)
