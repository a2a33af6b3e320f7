"""Our own file: a header line, then one JSON object a row."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from trueness.contract.serial import Json
from trueness.table.answers import OUTCOMES, AnswerTable
from trueness.table.jsonlines import FORMAT, VERSION
from trueness.table.protocol import Protocol

if TYPE_CHECKING:
    from trueness.table.column import Column

LABELS = (
    "item",
    "condition",
    "relation",
    "entity",
    "template",
    "group",
    "model",
    "entity_key",
    "completion",
    "answer",
    "reason",
)
"""Text columns, in the order in which they are written."""
_OPTIONAL = ("target", "logprob", "observer", "weight")
_ALWAYS = frozenset({"item", "condition", "answer", "reason"})


def header(
    protocols: Mapping[str, Protocol] | None = None,
    *,
    extractor: str | None = None,
    **facts: Json,
) -> dict[str, Json]:
    """The header line of a table.

    Parameters
    ----------
    protocols : mapping of condition to Protocol
        How each condition's answers were obtained.
    extractor : str or None
        Name, version and hash of the rules that made the keys.
    **facts : plain JSON
        ``versions``, ``git``, ``hashes`` … whatever says where the table comes from.

    Examples
    --------
    >>> header({"none": Protocol({"model": "m"})})["protocols"]
    {'none': {'model': 'm'}}
    """
    named: dict[str, Json] = {c: dict(p.fields) for c, p in (protocols or {}).items()}
    return {FORMAT: VERSION, "protocols": named, "extractor": extractor, **facts}


def header_of(table: AnswerTable) -> dict[str, Json]:
    """The header line that says what a table knows beside its rows."""
    return header(
        table.protocols,
        extractor=table.extractor,
        epochs_numbered=table.epochs_numbered,
        n_repeated=table.n_repeated,
        planned=dict(table.planned),
        completed=table.completed,
        notes=list(table.notes),
        **({"observed": dict(table.observed)} if table.observed else {}),
    )


def rows_of(table: AnswerTable) -> Iterator[dict[str, Json]]:
    """Rows as plain objects; null fields are left out, except the answer."""
    columns: dict[str, Column[str]] = {}
    for name in LABELS:
        column = getattr(table, name)
        if column is not None and (name in _ALWAYS or _holds(table, name)):
            columns[name] = column
    columns |= dict(table.extras)
    epochs, outcomes = table.epoch.tolist(), table.outcome.tolist()
    values = {name: column.values() for name, column in columns.items()}
    targets = None if table.target is None else table.target.values()
    logprobs = None if table.logprob is None else table.logprob.tolist()
    observers = None if table.observer is None else table.observer.values()
    weights = None if table.weight is None else table.weight.tolist()
    for i in range(len(table)):
        row: dict[str, Json] = {"item": values["item"][i], "epoch": epochs[i]}
        row["outcome"] = OUTCOMES[outcomes[i]].value
        for name, column_values in values.items():
            value = column_values[i]
            if value is not None or name == "answer":
                row[name] = value
        if targets is not None and targets[i] is not None:
            row["target"] = list(targets[i] or ())
        if logprobs is not None and np.isfinite(logprobs[i]):
            row["logprob"] = logprobs[i]
        if observers is not None and observers[i] is not None:
            row["observer"] = list(observers[i] or ())
        if weights is not None:
            row["weight"] = weights[i]
        yield row


def names_of(table: AnswerTable) -> list[str]:
    """Columns of a flat file: those that hold anything, labels first."""
    names = [n for n in LABELS if n in _ALWAYS or _holds(table, n)]
    names[1:1] = ["epoch"]
    names.insert(names.index("answer"), "outcome")
    optional = [n for n in _OPTIONAL if getattr(table, n) is not None]
    return [*names, *optional, *table.extras]


def _holds(table: AnswerTable, name: str) -> bool:
    column = getattr(table, name)
    return column is not None and (not len(column) or bool((column.codes >= 0).any()))
