"""The one door for answers: any file or data frame, any names, one table."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from trueness.contract.errors import InputError
from trueness.table.aliases import resolve
from trueness.table.answers import AnswerTable
from trueness.table.assemble import assemble
from trueness.table.bulk import BulkSource, read_bulk_delimited, read_parquet
from trueness.table.bulk_lines import LineSource, OddContentError, read_bulk_lines
from trueness.table.cells import CellSource, Source
from trueness.table.delimited import read_delimited
from trueness.table.frames import read_frame
from trueness.table.jsonlines import FORMAT, read_json
from trueness.table.logs.sniffing import log_reader
from trueness.table.shapes import long
from trueness.table.shards import concat, shard_files
from trueness.table.side_by_side import by_model
from trueness.table.sidecar import beside
from trueness.table.sniff import FileKind, sniff

BULK_BYTES = 4_000_000
"""Delimited files from this size on are read by DuckDB; smaller ones cell by cell."""


def read_answers(
    source: object,
    *,
    item: str | None = None,
    entity: str | None = None,
    answer: str | None = None,
    completion: str | None = None,
    target: str | None = None,
    epoch: str | None = None,
    condition: str | None = None,
    relation: str | None = None,
    template: str | None = None,
    group: str | None = None,
    model: str | None = None,
    question: str | None = None,
    outcome: str | None = None,
    reason: str | None = None,
    logprob: str | None = None,
    weight: str | None = None,
    all_sampling: bool = False,
    keep: bool = False,
) -> AnswerTable:
    r"""The answers of a file or data frame, one row a draw.

    The kind of a file is told by its content: JSON lines (ours or anybody's), JSON, CSV with
    ``, ; tab |``, Parquet, or the log of another tool: a file or its folder. Columns are
    recognised by the names that other tools give them.

    Parameters
    ----------
    source : path, data frame, list of dicts, dict of lists, or list of paths
        Where the answers are. A folder, or several paths, are shards of one table. Data frames of
        any library that narwhals knows, or anything that offers Arrow's C stream.
    item, entity, answer, ... : str or None
        Names of columns; they win over every recognised name. ``answer`` and ``completion`` both
        name the text that was answered; where both are given, ``answer`` holds keys.
    all_sampling : bool
        Of an OpenAI evals log: also events of a judge or a follow-up are draws.
    keep : bool
        Also keep columns that play no part, as evidence, so that rows can be written again with
        all that they held. Logs of other tools have none.

    Returns
    -------
    AnswerTable
        Where the source holds raw text, ``completion`` is set and ``answer`` is empty until the
        rows are keyed by an extractor. ``notes`` says what had to be decided.

    Raises
    ------
    InputError
        When the source cannot be read, or a column is absent, ambiguous or holds no text.

    Examples
    --------
    >>> rows = [{"country": "France", "answer": "Paris"}, {"country": "Chad", "answer": "Paris"}]
    >>> table = read_answers(rows, entity="country")
    >>> len(table), table.completion.values()
    (2, ['Paris', 'Paris'])
    """
    if isinstance(source, AnswerTable):
        return source
    explicit = {
        "item": item,
        "entity": entity,
        "answer": answer,
        "completion": completion,
        "target": target,
        "epoch": epoch,
        "condition": condition,
        "relation": relation,
        "template": template,
        "group": group,
        "model": model,
        "question": question,
        "outcome": outcome,
        "reason": reason,
        "logprob": logprob,
        "weight": weight,
    }
    if all_sampling:
        return _all_sampling(source)
    shards = _shards(source)
    if shards is None:
        return _read(source, explicit, keep=keep)
    try:
        return concat([_read(path, explicit, keep=keep) for path in shards])
    except InputError as error:
        if isinstance(source, (list, tuple)):
            raise
        msg = f"{source} is a folder and its files are shards of one table, but {error}"
        raise InputError(msg) from error


def _shards(source: object) -> Sequence[object] | None:
    """The files of a list of paths, or of a folder that is no log of a tool; None of others."""
    if isinstance(source, (list, tuple)) and source:
        return source if all(isinstance(s, (str, os.PathLike)) for s in source) else None
    if not isinstance(source, (str, os.PathLike)) or not Path(source).is_dir():
        return None
    if log_reader(Path(source)) is not None:
        return None
    return shard_files(Path(source)) or None


def _all_sampling(source: object) -> AnswerTable:
    from trueness.table.logs import openai_evals  # noqa: PLC0415 - read when such a log is

    path = Path(source) if isinstance(source, (str, os.PathLike)) else None
    if path is None or log_reader(path) is not openai_evals:
        msg = (
            f"all sampling events are wanted of {source!s:.200}, which is no log of OpenAI evals; "
            "other logs have no such events. Leave it out."
        )
        raise InputError(msg)
    return openai_evals.read(path, all_sampling=True)


def _read(source: object, explicit: Mapping[str, str | None], *, keep: bool) -> AnswerTable:
    if isinstance(source, (str, os.PathLike)):
        reader = log_reader(Path(source))
        if reader is not None:
            _check_no_columns(Path(source), explicit)
            return reader.read(Path(source))
    bulk = _large_lines(source)
    if bulk is not None:
        try:
            return _with_arrays(_assembled(bulk, explicit, keep=keep), source)
        except (OddContentError, InputError):
            del bulk  # read line by line, it works or says in which line the fault is
    return _with_arrays(_assembled(_opened(source), explicit, keep=keep), source)


def _with_arrays(table: AnswerTable, source: object) -> AnswerTable:
    """The table with the arrays that lie beside its file, if any do."""
    return beside(table, Path(source)) if isinstance(source, (str, os.PathLike)) else table


def _assembled(
    opened: Source, explicit: Mapping[str, str | None], *, keep: bool = False
) -> AnswerTable:
    if isinstance(opened, CellSource):
        opened = by_model(opened)
    native = opened.header is not None and FORMAT in opened.header
    roles = resolve(opened.names, explicit, native=native, keep=keep)
    if isinstance(opened, CellSource):
        opened, roles = long(opened, roles)
    elif isinstance(opened, LineSource):
        roles = opened.load(roles)
    elif isinstance(opened, BulkSource):
        opened.load([*roles.columns.values(), *roles.evidence.values()])
    return assemble(opened, roles)


def _large_lines(source: object) -> LineSource | None:
    """A large JSON lines file as DuckDB sees it; None for everything else."""
    if not isinstance(source, (str, os.PathLike)):
        return None
    path = Path(source)
    large = path.is_file() and path.stat().st_size >= BULK_BYTES
    return read_bulk_lines(path) if large and sniff(path) is FileKind.JSON else None


def _check_no_columns(path: Path, explicit: Mapping[str, str | None]) -> None:
    named = [name for name, column in explicit.items() if column is not None]
    if named:
        flags = ", ".join(f"--{name}" for name in named)
        msg = (
            f"{path} is the log of another tool, whose columns are known; {flags} was given. "
            "Leave it out."
        )
        raise InputError(msg)


def _opened(source: object) -> Source:
    if not isinstance(source, (str, os.PathLike)):
        return read_frame(source)
    path = Path(source)
    kind = sniff(path)
    if kind is FileKind.JSON:
        return read_json(path)
    if kind is FileKind.PARQUET:
        return read_parquet(path)
    bulk = read_bulk_delimited(path) if path.stat().st_size >= BULK_BYTES else None
    return read_delimited(path) if bulk is None else bulk
