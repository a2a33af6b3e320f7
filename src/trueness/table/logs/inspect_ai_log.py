"""Logs of inspect_ai: ``.eval`` archives and ``.json`` files, whole or cut off."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.table.answers import AnswerTable
from trueness.table.logs.archive import Archive, BrokenMemberError, Member
from trueness.table.logs.draws import LogReport, TableBuilder
from trueness.table.logs.inspect_protocol import as_mapping, protocol_of, warnings_of
from trueness.table.logs.inspect_samples import Attachments, Attempts, draw_of
from trueness.table.logs.runs import NO_CONDITION, labels
from trueness.table.logs.sniffing import INSPECT, log_files, written_by
from trueness.table.logs.streamed import JsonStream, members
from trueness.table.protocol import Protocol
from trueness.table.sniff import decoded_json, undecodable_note, unreadable

VERSION = 2
"""The latest version of the log format that is known."""
_SAMPLES = frozenset({"samples"})
_SHELL = "/sample.json"


@dataclass(slots=True)
class Log:
    """One file of a run: what its header says, and what was found wrong with it.

    ``run`` names the run that a log belongs to: a retry writes a new log for the same one.
    """

    path: Path
    header: Mapping[str, Any]
    archive: Archive | None
    whole: bool = True
    condition: str = NO_CONDITION
    n_broken: int = 0
    n_undecodable: int = 0
    seen: set[str] = field(default_factory=set)

    @property
    def spec(self) -> Mapping[str, Any]:
        """The part of the header that says what was run."""
        return as_mapping(self.header.get("eval"))

    @property
    def run(self) -> str:
        """What retries of one run have in common."""
        spec = self.spec
        return str(spec.get("task_id") or spec.get("eval_id") or spec.get("run_id") or self.path)

    @property
    def status(self) -> str:
        """``success``, ``cancelled``, ``error``, or ``started`` where no end was written."""
        return str(self.header.get("status") or "started")


def sniffs(path: Path) -> bool:
    """Whether a file or folder is a log of inspect_ai."""
    return written_by(path) == INSPECT


def read(path: Path) -> AnswerTable:
    """The draws of one log, or of all logs in a folder.

    The draws of an item are its samples over epochs. A folder of several runs gives a condition
    a run; retries of one run are one.

    Parameters
    ----------
    path : path
        An ``.eval`` or ``.json`` log, or a folder of them.

    Raises
    ------
    InputError
        For a later version of the format (names it), a method of compression that is not known,
        or a log without samples.
    """
    files = log_files(path, INSPECT) if path.is_dir() else [path]
    logs = sorted((_opened(p) for p in files), key=_when)
    _name_conditions(logs)
    builder, report = TableBuilder(), LogReport("inspect_ai", _tool_version(logs))
    attempts = Attempts(builder, report)
    for log in logs:
        for sample, attachments in _samples(log):
            report.n_read += 1
            draw = draw_of(sample, attachments, report, condition=log.condition)
            if draw is not None:
                attempts.add(draw, log.run)
    protocols = {log.condition: Protocol(protocol_of(log.header)) for log in logs}
    report.protocol = _shared([dict(p.fields) for p in protocols.values()])
    report.planned = _one([_planned(log) for log in logs])
    latest = {log.run: log for log in logs}
    for log in latest.values():
        report.warnings += _said_of(log, several=len(latest) > 1)
    attempts.finish()
    return builder.table(
        report,
        completed=all(log.whole and log.status == "success" for log in latest.values()),
        protocols=protocols,
        planned={log.condition: _planned(log) for log in logs},
    )


def _when(log: Log) -> tuple[str, str]:
    return str(log.spec.get("created") or ""), str(log.path)


def _opened(path: Path) -> Log:
    with path.open("rb") as file:
        packed = file.read(2) == b"PK"
    log = _archived(path) if packed else Log(path, _json_header(path), None)
    version = log.header.get("version")
    if isinstance(version, int) and version > VERSION:
        msg = (
            f"{path} is an inspect_ai log of version {version}; versions up to {VERSION} are "
            "known. Update trueness, or write the log in an older version."
        )
        raise InputError(msg)
    return log


def _archived(path: Path) -> Log:
    archive = Archive.open(path)
    found = {m.name: m for m in archive.members}  # of one name the last counts
    for name in ("header.json", "_journal/start.json"):
        if name in found:
            try:
                header = json.loads(decoded_json(archive.read(found[name]))[0])
            except (BrokenMemberError, json.JSONDecodeError):
                continue
            whole = archive.whole and name == "header.json"
            return Log(path, as_mapping(header), archive, whole=whole)
    msg = (
        f"{path} is an inspect_ai log without a header that can be read; header.json or "
        "_journal/start.json is wanted. Recover it with inspect_ai, or run it again."
    )
    raise InputError(msg)


def _json_header(path: Path) -> dict[str, Any]:
    """Everything in a JSON log but its samples; where it is cut off, what stands before."""
    header: dict[str, Any] = {}
    try:
        with path.open("rb") as file:
            for name, value in members(JsonStream(file), _SAMPLES):
                if name != "samples":
                    header[name] = value
                elif {"version", "eval", "status"} <= set(header):
                    break
    except (ValueError, RecursionError):
        pass
    except OSError as error:
        raise unreadable(path, error) from error
    return header


def _samples(log: Log) -> Iterator[tuple[Mapping[str, Any], Attachments]]:
    if log.archive is None:
        return _json_samples(log)
    return _archived_samples(log, log.archive)


def _json_samples(log: Log) -> Iterator[tuple[Mapping[str, Any], Attachments]]:
    with log.path.open("rb") as file:
        stream = JsonStream(file)
        try:
            for name, value in members(stream, _SAMPLES):
                if name == "samples" and isinstance(value, Mapping):
                    yield value, Attachments(as_mapping(value.get("attachments")))
        except (ValueError, RecursionError):
            log.whole = False
        log.n_undecodable += stream.n_undecodable


def _archived_samples(
    log: Log, archive: Archive
) -> Iterator[tuple[Mapping[str, Any], Attachments]]:
    chunked = _chunked(archive)
    for member in archive.members:
        if not member.name.startswith("samples/") or not member.name.endswith(".json"):
            continue
        part_of = _owner(member.name, chunked)
        if part_of is not None and member.name != part_of + _SHELL:
            continue
        sample = _loaded(log, archive, member)
        if not isinstance(sample, Mapping):
            continue
        if part_of is None:
            yield sample, Attachments(as_mapping(sample.get("attachments")))
        else:
            yield sample, _kept_apart(log, archive, chunked[part_of])


def _chunked(archive: Archive) -> dict[str, list[Member]]:
    """Samples that are written in parts, and the members that hold their attachments."""
    shells = [m.name.removesuffix(_SHELL) for m in archive.members if m.name.endswith(_SHELL)]
    parts: dict[str, list[Member]] = {name: [] for name in shells}
    for member in archive.members:
        owner = _owner(member.name, parts)
        if owner is not None and member.name.startswith(f"{owner}/attachments/"):
            parts[owner].append(member)
    return parts


def _owner(name: str, chunked: Mapping[str, object]) -> str | None:
    """The chunked sample that a member is part of."""
    at = name.rfind("/")
    while chunked and at > 0:
        if name[:at] in chunked:
            return name[:at]
        at = name.rfind("/", 0, at)
    return None


def _kept_apart(log: Log, archive: Archive, parts: list[Member]) -> Attachments:
    """Attachments of a chunked sample; they are numbered, each part by its first one."""

    def texts() -> dict[str, Any]:
        found: dict[str, Any] = {}
        for part in parts:
            start = part.name.rpartition("/")[2].removesuffix(".json")
            listed = _loaded(log, archive, part)
            if start.isdecimal() and isinstance(listed, list):
                found |= {str(int(start) + i): text for i, text in enumerate(listed)}
        return found

    return Attachments({}, texts)


def _loaded(log: Log, archive: Archive, member: Member) -> object:
    try:
        text, n_bad = decoded_json(archive.read(member))
        value: object = json.loads(text)
    except (BrokenMemberError, json.JSONDecodeError, RecursionError):
        log.n_broken += 1
        log.whole = False
        return None
    log.n_undecodable += n_bad
    return value


def _name_conditions(logs: list[Log]) -> None:
    """A condition a run, named by what it differs in."""
    runs = {log.run: log for log in logs}
    parts = [
        (str(log.spec.get("task")), str(log.spec.get("model")), _when(log)[0], run)
        for run, log in runs.items()
    ]
    named = dict(zip(runs, labels(parts), strict=True))
    for log in logs:
        log.condition = named[log.run]


def _planned(log: Log) -> int:
    epochs = as_mapping(log.spec.get("config")).get("epochs")
    return epochs if isinstance(epochs, int) and epochs > 0 else 1


def _one(values: list[int]) -> int | None:
    return values[0] if len(set(values)) == 1 else None


def _shared(facts: list[dict[str, Json]]) -> dict[str, Json]:
    first, *others = facts
    return {k: v for k, v in first.items() if all(f.get(k) == v for f in others)}


def _tool_version(logs: list[Log]) -> str | None:
    version = as_mapping(logs[0].spec.get("packages")).get("inspect_ai") if logs else None
    return None if version is None else str(version)


def _said_of(log: Log, *, several: bool) -> list[str]:
    said: list[str] = []
    if log.status != "success":
        said.append(f"run was {log.status}: not all of its samples may be here.")
    if not log.whole:
        said.append("the log was cut off; what is whole was read.")
    if log.n_broken:
        said.append(f"{log.n_broken} members of the archive are broken and were left out.")
    if log.n_undecodable:
        said.append(undecodable_note(log.n_undecodable))
    said += warnings_of(log.header, _planned(log))
    return [f"{log.path.name}: {text}" for text in said] if several else said
