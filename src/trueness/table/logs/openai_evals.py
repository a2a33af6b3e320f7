"""Logs of OpenAI evals: a line with the spec, then events, then a final report."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.table.answers import AnswerTable, Outcome
from trueness.table.jsonlines import Lines
from trueness.table.logs.draws import FIELDS, Draw, LogReport, TableBuilder
from trueness.table.logs.messages import digest, one_line, said
from trueness.table.logs.sniffing import OPENAI_EVALS, log_files, written_by
from trueness.table.sniff import decoded, undecodable_note, unreadable

_SHOWN = 3
_SAMPLING, _ERROR = "sampling", "error"


@dataclass(slots=True)
class _Log:
    """Where the events of one file stand, by sample; events themselves stay in the file."""

    path: Path
    spec: Mapping[str, Any] = field(default_factory=dict)
    events: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """Sample → (event number, place in the file) of its events."""
    ended: bool = False
    n_read: int = 0
    n_other: int = 0
    n_undecodable: int = 0


@dataclass(slots=True)
class _Sample:
    """Events of one sample, in the order in which they happened."""

    name: str
    events: list[Mapping[str, Any]]
    drawn: list[Mapping[str, Any]] = field(default_factory=list)
    followed: int = 0


def sniffs(path: Path) -> bool:
    """Whether a file, or a folder of files, is a log of OpenAI evals."""
    return written_by(path) == OPENAI_EVALS


def read(path: Path, *, all_sampling: bool = False) -> AnswerTable:
    """The draws of a log: the sampling events whose prompt is the sample's first one.

    Events are taken in the order of their numbers, whatever thread wrote them. Sampling events
    with another prompt belong to a judge or to a later turn; they are counted and left out.

    Parameters
    ----------
    path : path
        A log, or a folder with one.
    all_sampling : bool
        Whether sampling events with another prompt are draws too.

    Raises
    ------
    InputError
        When a line is broken, two events of a run have one number and different content, or
        there is no sampling event.
    """
    log = _scanned(_file(path))
    report = LogReport("openai_evals", n_read=log.n_read)
    report.protocol = _protocol(log.spec)
    report.unknown = tuple(name for name in FIELDS if name not in report.protocol)
    if log.n_other:
        report.drop("event that belongs to no sample", log.n_other)
    builder = TableBuilder()
    judged: list[str] = []
    with log.path.open("rb") as file:
        for name in log.events:
            sample = _sample(log, file, name, report, all_sampling=all_sampling)
            before = len(builder)
            for draw in _draws(sample):
                builder.add(draw)
            if len(builder) == before:
                report.drop("sample without a sampling event")
            if sample.followed:
                judged.append(name)
                report.drop("sampling event of a judge or a later turn", sample.followed)
    _warn(report, log, judged)
    return builder.table(report, completed=log.ended)


def _file(path: Path) -> Path:
    if not path.is_dir():
        return path
    files = log_files(path, OPENAI_EVALS)
    if len(files) != 1:
        msg = (
            f"the folder {path} holds {len(files)} logs of OpenAI evals; one run at a time is "
            f"wanted. Name one: {', '.join(str(p) for p in files[:_SHOWN])}."
        )
        raise InputError(msg)
    return files[0]


def _scanned(path: Path) -> _Log:
    log = _Log(path)
    lines = Lines(path, decoder=json.JSONDecoder())
    try:
        with path.open("rb") as file:
            for number, row in lines.rows(file):
                _enter(log, row, number, lines.start)
    except OSError as error:
        raise unreadable(path, error) from error
    log.n_undecodable = lines.n_undecodable
    return log


def _enter(log: _Log, row: Mapping[str, Any], number: int, place: int) -> None:
    log.n_read += 1
    if isinstance(row.get("spec"), Mapping):
        if log.spec:
            msg = (
                f"{log.path}, line {number}: a second run begins; one run a file is wanted. "
                "Split the file at its lines with a spec."
            )
            raise InputError(msg)
        log.spec = row["spec"]
    elif "final_report" in row:
        log.ended = True
    elif isinstance(row.get("sample_id"), str):
        event = row.get("event_id")
        at = event if type(event) is int else number
        log.events.setdefault(row["sample_id"], []).append((at, place))
    else:
        log.n_other += 1


def _sample(
    log: _Log, file: IO[bytes], name: str, report: LogReport, *, all_sampling: bool
) -> _Sample:
    sample = _Sample(name, list(_events(log, file, name, report)))
    sampling = [e for e in sample.events if e.get("type") == _SAMPLING]
    first = _prompt(sampling[0]) if sampling else None
    for event in sampling:
        if all_sampling or _prompt(event) == first:
            sample.drawn.append(event)
    sample.followed = len(sampling) - len(sample.drawn)
    return sample


def _events(
    log: _Log, file: IO[bytes], name: str, report: LogReport
) -> Iterator[Mapping[str, Any]]:
    """Events of a sample by number; one that was written twice counts once."""
    number, before = None, b""
    for event, place in sorted(log.events[name]):
        file.seek(place)
        line = file.readline().strip()
        if event == number:
            if line != before:
                msg = (
                    f"{log.path}: sample {name!r} has event {event} twice with different content. "
                    "Name a log of one run."
                )
                raise InputError(msg)
            report.drop("exact repeat of an event")
            continue
        number, before = event, line
        value: Mapping[str, Any] = json.loads(decoded(line)[0])
        yield value


def _prompt(event: Mapping[str, Any]) -> object:
    return _data(event).get("prompt")


def _data(event: Mapping[str, Any]) -> Mapping[str, Any]:
    data = event.get("data")
    return data if isinstance(data, Mapping) else {}


def _draws(sample: _Sample) -> Iterator[Draw]:
    """Draws and missing draws of a sample; a verdict goes with the draw before it."""
    target = _target(sample.events)
    drawn = {id(event) for event in sample.drawn}
    places = [i for i, e in enumerate(sample.events) if id(e) in drawn or e.get("type") == _ERROR]
    for place, after in pairwise([*places, len(sample.events)]):
        event = sample.events[place]
        if event.get("type") == _ERROR:
            yield _missing(sample.name, event, target)
            continue
        texts = _texts(_data(event).get("sampled"))
        verdict = _verdict(sample.events[place + 1 : after]) if len(texts) == 1 else {}
        extras = {**verdict, "prompt_hash": digest(_prompt(event))}
        for text in texts:
            yield Draw(sample.name, 0, text, target=target, extras=extras)


def _texts(sampled: object) -> list[str | None]:
    if isinstance(sampled, list):
        return [said(text) for text in sampled] or [None]
    return [said(sampled)]


def _missing(name: str, event: Mapping[str, Any], target: tuple[str, ...] | None) -> Draw:
    data = _data(event)
    kind, message = data.get("type"), data.get("message")
    reason = one_line(kind or message or "error")
    extras = {"error": None if message is None else one_line(message)}
    return Draw(
        name, 0, None, outcome=Outcome.ERROR, reason=reason, target=target, extras=extras
    )  # fmt: skip


def _verdict(events: Sequence[Mapping[str, Any]]) -> dict[str, str | None]:
    """What the tool made of a draw: picked text and score of the next event that has them."""
    for event in events:
        data = _data(event)
        if event.get("type") != _SAMPLING and {"correct", "picked", "score"} & data.keys():
            picked, correct = data.get("picked"), data.get("correct", data.get("score"))
            return {
                "tool_answer": picked if isinstance(picked, str) or picked is None else str(picked),
                "tool_score": None if correct is None else json.dumps(correct),
            }
    return {}


def _target(events: Sequence[Mapping[str, Any]]) -> tuple[str, ...] | None:
    """Golds by the first event that names what was expected."""
    for event in events:
        expected = _data(event).get("expected")
        listed = expected if isinstance(expected, list) else [expected]
        golds = tuple(v if isinstance(v, str) else json.dumps(v) for v in listed if v is not None)
        if golds:
            return golds
    return None


def _protocol(spec: Mapping[str, Any]) -> dict[str, Json]:
    config = spec.get("run_config")
    config = config if isinstance(config, Mapping) else {}
    models = spec.get("completion_fns") or config.get("completion_fns")
    name = ", ".join(map(str, models)) if isinstance(models, list) else spec.get("model_name")
    spec_of = config.get("eval_spec")
    arguments = spec_of.get("args") if isinstance(spec_of, Mapping) else None
    facts: dict[str, Json] = {
        "model": name if isinstance(name, str) and name else None,
        "seed": config.get("seed"),
        "task": spec.get("eval_name"),
    }
    settings = config.get("completion_args") or config.get("completion_fn_args")
    for key in ("temperature", "top_p", "max_tokens"):
        for place in (settings, arguments):
            if isinstance(place, Mapping) and isinstance(place.get(key), (int, float)):
                facts.setdefault(key, place[key])
    return {key: value for key, value in facts.items() if value is not None}


def _warn(report: LogReport, log: _Log, judged: list[str]) -> None:
    if not log.ended:
        report.warnings.append("no final report: the run did not come to its end.")
    if judged:
        names = ", ".join(judged[:_SHOWN]) + ("…" if len(judged) > _SHOWN else "")
        count = report.dropped["sampling event of a judge or a later turn"]
        report.warnings.append(
            f"{count} sampling events have another prompt than the first one of their sample "
            f"({names}): a judge's or a later turn's, left out."
        )
    if log.n_undecodable:
        report.warnings.append(undecodable_note(log.n_undecodable))
