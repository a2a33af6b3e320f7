"""Samples files of lm-evaluation-harness: a line per filter and document becomes a row a repeat."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.table.answers import AnswerTable
from trueness.table.column import Column
from trueness.table.jsonlines import Lines
from trueness.table.logs import lm_eval_protocol as told
from trueness.table.logs.draws import Draw, LogReport, TableBuilder
from trueness.table.logs.lm_eval_records import (
    LikelihoodsError,
    Record,
    evidence_of,
    golds_of,
    likelihoods_of,
    record_of,
)
from trueness.table.logs.runs import NO_CONDITION, labels
from trueness.table.logs.sniffing import LM_EVAL, log_files, written_by
from trueness.table.protocol import Protocol
from trueness.table.sniff import undecodable_note, unreadable

_NOTHING = "None"
"""The tool writes a missing response as this text."""


@dataclass(slots=True)
class Run:
    """One run of one task: its files, and what was seen in them."""

    files: list[Path]
    results: Mapping[str, Any]
    task: str
    condition: str = NO_CONDITION
    digests: dict[str, int] = field(default_factory=dict)
    settings: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    first_filter: str | None = None
    filters: set[str] = field(default_factory=set)
    n_repeats: int = 0
    n_nothing: int = 0
    n_torn: int = 0
    n_undecodable: int = 0
    has_likelihoods: bool = False


def sniffs(path: Path) -> bool:
    """Whether a file or folder holds samples of lm-evaluation-harness."""
    return written_by(path) == LM_EVAL


def read(path: Path) -> AnswerTable:
    """The draws of one samples file, or of all of them in a folder.

    The repeats of a document are its draws, once, however many filters the tool applied. A folder
    of several tasks or runs gives a condition each; files with names of one's own in one folder
    are parts of one run.

    Parameters
    ----------
    path : path
        A samples file, or the folder that the tool wrote to.

    Raises
    ------
    InputError
        When a document carries two different sets of responses (names it), when nothing was
        sampled because choices were scored, or for a form that is not known.
    """
    runs = _runs(log_files(path, LM_EVAL) if path.is_dir() else [path])
    builder, report = TableBuilder(), LogReport("lm-evaluation-harness")
    for run in runs:
        for file in run.files:
            _read_file(file, run, builder, report)
    drawn = [run for run in runs if run.digests]
    if not drawn and runs[0].has_likelihoods:
        raise _nothing_sampled(path)
    protocols = {r.condition: _protocol(r) for r in drawn}
    planned = {r.condition: told.repeats_planned(r.results, r.task) for r in drawn}
    _report(report, runs, protocols)
    return builder.table(
        report,
        completed=not any(run.n_torn for run in runs),
        protocols={c: Protocol(facts) for c, facts in protocols.items()},
        planned={c: k for c, k in planned.items() if k is not None},
    )


def log_probabilities(path: Path) -> dict[str, tuple[float, ...]]:
    """The log-probability of every given choice, a document each, of a multiple-choice file.

    These are no draws: they go beside a cloud as an observer. A document with one that is not
    finite is left out.

    Parameters
    ----------
    path : path
        One samples file.

    Raises
    ------
    InputError
        When a document holds none (names it).
    """
    found: dict[str, tuple[float, ...]] = {}
    for where, row in _lines(path, Lines(path, decoder=json.JSONDecoder())):
        values = likelihoods_of(row)
        if not values:
            msg = (
                f"{where} holds no log-probabilities; a task that scores given choices is wanted. "
                "Read sampled texts as draws instead."
            )
            raise InputError(msg)
        if all(map(math.isfinite, values)):
            found.setdefault(str(row.get("doc_id")), values)
    return found


def with_observer(table: AnswerTable, values: Mapping[str, tuple[float, ...]]) -> AnswerTable:
    """The table with numbers seen beside each item, such as `log_probabilities` gives.

    Items without any are null.
    """
    each = Column.of(values.get(item) for item in table.item.words)
    return replace(table, observer=Column(each.codes[table.item.codes], each.words))


def by_document(table: AnswerTable) -> AnswerTable:
    """The table with documents' hashes as items, so that runs with other positions pair.

    A document that stands several times in its task is told apart by a number.

    Raises
    ------
    InputError
        When a row has no hash.
    """
    hashes = table.extras.get("doc_hash")
    if hashes is None or (hashes.codes < 0).any():
        msg = (
            "the table has rows without a doc_hash; samples of lm-evaluation-harness are wanted. "
            "Pair the runs on their items instead."
        )
        raise InputError(msg)
    pairs = dict(zip(table.item.codes.tolist(), hashes.codes.tolist(), strict=True))
    names: dict[int, str] = {}
    count: dict[int, int] = {}
    for item, code in pairs.items():
        count[code] = count.get(code, 0) + 1
        again = "" if count[code] == 1 else f"#{count[code]}"
        names[item] = hashes.words[code] + again
    return replace(table, item=Column.of(names[i] for i in table.item.codes.tolist()))


def _runs(files: list[Path]) -> list[Run]:
    grouped: dict[tuple[Path, str, str], list[Path]] = {}
    for file in files:
        grouped.setdefault((file.parent, *told.named(file)), []).append(file)
    runs: list[Run] = []
    parts: list[tuple[str, ...]] = []
    for (folder, _, time), members in grouped.items():
        results = told.results_beside(members[0])
        run = Run(members, results, told.task_of(members[0], results))
        runs.append(run)
        parts.append((run.task, told.model_of(results) or folder.name, time, str(members[0])))
    for run, name in zip(runs, labels(parts), strict=True):
        run.condition = name
    return runs


def _lines(path: Path, lines: Lines) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        with path.open("rb") as file:
            for number, row in lines.rows(file):
                yield f"{path}, line {number}", row
    except OSError as error:
        raise unreadable(path, error) from error


def _read_file(path: Path, run: Run, builder: TableBuilder, report: LogReport) -> None:
    lines = Lines(path, decoder=json.JSONDecoder())
    for where, row in _lines(path, lines):
        report.n_read += 1
        try:
            record = record_of(row, where)
        except LikelihoodsError:
            run.has_likelihoods = True
            report.drop("log-likelihoods of given texts")
            continue
        if _is_new(record, run, report, where):
            _add(record, row, run, builder)
    run.n_torn += lines.torn
    run.n_undecodable += lines.n_undecodable


def _is_new(record: Record, run: Run, report: LogReport, where: str) -> bool:
    """Whether the draws of a document were not seen yet; other filters repeat them."""
    name = record.filter_name
    if name is not None:
        run.filters.add(name)
    if run.first_filter is None:
        run.first_filter = name
    digest = record.digest()
    before = run.digests.get(record.doc)
    if before is None:
        run.digests[record.doc] = digest
        return True
    if before != digest:
        msg = (
            f"doc {record.doc} carries two different sets of responses; the second is in {where}. "
            "Lines of one document, one a filter, must repeat the same ones: keep one run a file."
        )
        raise InputError(msg)
    report.drop("exact repeat" if name == run.first_filter else "line of another filter")
    return False


def _add(record: Record, row: Mapping[str, Any], run: Run, builder: TableBuilder) -> None:
    run.settings.setdefault(json.dumps(record.settings, sort_keys=True), record.settings)
    run.n_repeats = max(run.n_repeats, len(record.responses))
    golds = golds_of(row)
    evidence = evidence_of(row, len(record.responses))
    for epoch, text in enumerate(record.responses, start=1):
        run.n_nothing += text == _NOTHING
        builder.add(
            Draw(
                record.doc,
                epoch,
                text,
                condition=run.condition,
                target=golds,
                extras=evidence[epoch - 1],
            )
        )


def _protocol(run: Run) -> dict[str, Json]:
    return told.protocol_of(run.results, run.task, list(run.settings.values()))


def _report(
    report: LogReport, runs: list[Run], protocols: Mapping[str, Mapping[str, Json]]
) -> None:
    told_by_all = list(protocols.values())
    first = told_by_all[0] if told_by_all else {}
    report.protocol = {k: v for k, v in first.items() if all(o.get(k) == v for o in told_by_all)}
    versions = {told.tool_version(run.results) for run in runs}
    report.version = versions.pop() if len(versions) == 1 else None
    planned = {told.repeats_planned(run.results, run.task) for run in runs}
    report.planned = planned.pop() if len(planned) == 1 else None
    for run in runs:
        prefix = f"{run.condition}: " if len(runs) > 1 else ""
        report.warnings += [prefix + said for said in _said_of(run)]


def _said_of(run: Run) -> Iterator[str]:
    if run.n_torn:
        yield "The last line was cut off and is left out."
    if run.n_undecodable:
        yield undecodable_note(run.n_undecodable)
    if run.has_likelihoods:
        yield "documents whose choices were scored hold no sampled text and are left out."
    if run.n_nothing:
        yield (
            f"{run.n_nothing} responses are the text 'None', which the tool also writes for a "
            "missing one."
        )
    documents = told.documents_planned(run.results, run.task)
    if documents is not None and len(run.digests) < documents:
        yield f"{len(run.digests)} of the {documents} documents of the run are here."
    if len(run.settings) > 1:
        yield f"requests have {len(run.settings)} different settings; only shared ones are facts."
    yield from told.warnings_of(run.results, list(run.settings.values()), run.n_repeats)


def _nothing_sampled(path: Path) -> InputError:
    msg = (
        f"{path} holds log-likelihoods of given choices (multiple_choice): no text was sampled, so "
        "there is no cloud. Sampled text (output_type: generate_until) is wanted; the "
        "log-probabilities are read by trueness.table.logs.lm_eval.log_probabilities."
    )
    return InputError(msg)
