"""Runs of HELM: a folder with ``scenario_state.json`` and ``run_spec.json``."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.table.answers import AnswerTable, Outcome
from trueness.table.logs.draws import Draw, LogReport, TableBuilder
from trueness.table.logs.messages import digest, one_line
from trueness.table.logs.runs import NO_CONDITION
from trueness.table.logs.sniffing import HELM, log_files, written_by
from trueness.table.logs.streamed import JsonStream, members
from trueness.table.sniff import undecodable_note, unreadable

_STATES = frozenset({"request_states"})
_STATE_FILE, _SPEC_FILE = "scenario_state.json", "run_spec.json"
_PROMPT_PARTS = (
    "global_prefix",
    "global_suffix",
    "instructions",
    "input_prefix",
    "input_suffix",
    "reference_prefix",
    "reference_suffix",
    "output_prefix",
    "output_suffix",
    "instance_prefix",
    "chain_of_thought_prefix",
    "chain_of_thought_suffix",
    "substitutions",
    "method",
)
"""Parts of an adapter that make the prompt."""
_DECODING = ("temperature", "top_p", "max_tokens", "top_k_per_token", "stop_sequences")
_LENGTH = frozenset({"length", "max_tokens"})


@dataclass(slots=True)
class _Run:
    """What was found in a run beside its draws."""

    path: Path
    adapter: Mapping[str, Any] = field(default_factory=dict)
    whole: bool = True
    n_undecodable: int = 0
    n_cached: int = 0
    requests: dict[str, list[Json]] = field(default_factory=dict)
    """Setting of a request → its distinct values."""

    def note(self, request: Mapping[str, Any]) -> None:
        """Keep the settings of a request that are new."""
        for name in (*_DECODING, "model"):
            values = self.requests.setdefault(name, [])
            if name in request and request[name] not in values:
                values.append(request[name])

    def one(self, name: str) -> Json:
        """The value that all requests share, else the adapter's; None where neither says it."""
        values = self.requests.get(name, [])
        return values[0] if len(values) == 1 else self.adapter.get(name) if not values else None


def sniffs(path: Path) -> bool:
    """Whether a folder is a run of HELM, or a file its states."""
    return written_by(path) == HELM


def read(path: Path) -> AnswerTable:
    """The draws of a run: the completions of every request state.

    States of one instance that differ in perturbation, choice of examples, reference or mode are
    conditions of their own. Where letters stand for options, the options are kept beside each
    draw and the gold is the option's text.

    Parameters
    ----------
    path : path
        The folder of a run, or its ``scenario_state.json``.

    Raises
    ------
    InputError
        When the run cannot be read or no text was sampled in it.
    """
    states = _state_file(path)
    run = _Run(states)
    report = LogReport("helm")
    builder = TableBuilder()
    for state in _states(run):
        report.n_read += 1
        for draw in _draws(state, run, report):
            builder.add(draw)
    spec = _spec(states.parent / _SPEC_FILE)
    run.adapter = run.adapter or _mapping(spec.get("adapter_spec"))
    report.protocol = _protocol(run, spec)
    planned = run.adapter.get("num_outputs")
    report.planned = planned if type(planned) is int else None
    _warn(run, report)
    return builder.table(report, completed=run.whole)


def _state_file(path: Path) -> Path:
    if not path.is_dir():
        return path
    if (path / _STATE_FILE).is_file():
        return path / _STATE_FILE
    files = log_files(path, HELM)
    if len(files) != 1:
        msg = (
            f"the folder {path} holds {len(files)} runs of HELM; one at a time is wanted. "
            f"Name the folder of one run: {', '.join(str(p.parent) for p in files[:3])}."
        )
        raise InputError(msg)
    return files[0]


def _states(run: _Run) -> Iterator[Mapping[str, Any]]:
    """Request states, one by one; where the file is cut off, those that are whole."""
    try:
        with run.path.open("rb") as file:
            stream = JsonStream(file)
            try:
                for name, value in members(stream, _STATES):
                    if name == "adapter_spec":
                        run.adapter = _mapping(value)
                    elif name == "request_states" and isinstance(value, Mapping):
                        yield value
            except (ValueError, RecursionError):
                run.whole = False
            run.n_undecodable = stream.n_undecodable
    except OSError as error:
        raise unreadable(run.path, error) from error


def _spec(path: Path) -> Mapping[str, Any]:
    try:
        return _mapping(json.loads(path.read_text("utf-8", "backslashreplace")))
    except (OSError, ValueError, RecursionError):
        return {}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _draws(state: Mapping[str, Any], run: _Run, report: LogReport) -> Iterator[Draw]:
    request, result = _mapping(state.get("request")), _mapping(state.get("result"))
    if request.get("max_tokens") == 0:
        report.drop("a given text that was scored, nothing sampled")
        return
    run.note(request)
    run.n_cached += bool(result.get("cached")) and not request.get("random")
    about = _about(state, request)
    if result.get("success") is False or not result:
        wanted = request.get("num_completions")
        reason = one_line(result.get("error") or "no result")
        for number in range(1, 1 + (wanted if type(wanted) is int else 1)):
            yield Draw(epoch=number, completion=None, outcome=Outcome.ERROR, reason=reason, **about)
        return
    for number, completion in enumerate(map(_mapping, _listed(result.get("completions"))), start=1):
        text = completion.get("text")
        extras = {**about["extras"], "stop_reason": _stopped(completion)}
        yield Draw(
            epoch=number,
            completion=text if isinstance(text, str) else None,
            logprob=_logprob(completion),
            **{**about, "extras": extras},
        )


def _about(state: Mapping[str, Any], request: Mapping[str, Any]) -> dict[str, Any]:
    """What all draws of a state share."""
    instance = _mapping(state.get("instance"))
    text = _mapping(instance.get("input")).get("text")
    options = _mapping(state.get("output_mapping"))
    model = request.get("model")
    extras: dict[str, str | None] = {
        "prompt_hash": digest(request.get("prompt")),
        "doc_hash": digest(text),
    }
    if options:
        ordered = [options[label] for label in sorted(options)]
        extras["choices"] = extras["choice_order"] = json.dumps(ordered, ensure_ascii=False)
    return {
        "item": str(instance["id"]) if instance.get("id") is not None else digest(text),
        "condition": _condition(state, instance),
        "target": _golds(instance),
        "model": model if isinstance(model, str) else None,
        "extras": extras,
    }


def _condition(state: Mapping[str, Any], instance: Mapping[str, Any]) -> str:
    """What sets a state apart from the others of its instance; ``none`` for the plain one."""
    parts = {
        "perturbation": _perturbation(_mapping(instance.get("perturbation"))),
        "trial": state.get("train_trial_index") or None,
        "reference": state.get("reference_index"),
        "mode": state.get("request_mode"),
    }
    told = [f"{name}={value}" for name, value in parts.items() if value is not None]
    return ";".join(told) or NO_CONDITION


def _perturbation(perturbation: Mapping[str, Any]) -> str | None:
    name = perturbation.get("name")
    settings = {k: v for k, v in perturbation.items() if k not in _NO_SETTING and v is not None}
    if name is None or not settings:
        return name
    return f"{name} {json.dumps(settings, sort_keys=True, ensure_ascii=False)}"


_NO_SETTING = frozenset({"name", "robustness", "fairness", "computed_on", "seed"})


def _golds(instance: Mapping[str, Any]) -> tuple[str, ...] | None:
    golds = [
        _mapping(reference.get("output")).get("text")
        for reference in map(_mapping, _listed(instance.get("references")))
        if "correct" in _listed(reference.get("tags"))
    ]
    return tuple(g for g in golds if isinstance(g, str)) or None


def _stopped(completion: Mapping[str, Any]) -> str | None:
    reason = _mapping(completion.get("finish_reason")).get("reason")
    if not isinstance(reason, str):
        return None
    return "length" if reason in _LENGTH else reason


def _logprob(completion: Mapping[str, Any]) -> float | None:
    """The log-probability; one without tokens is a placeholder."""
    value = completion.get("logprob")
    known = isinstance(value, (int, float)) and bool(completion.get("tokens"))
    return float(value) if known and value is not None else None


def _protocol(run: _Run, spec: Mapping[str, Any]) -> dict[str, Json]:
    parts = {name: run.adapter[name] for name in _PROMPT_PARTS if name in run.adapter}
    scenario = _mapping(spec.get("scenario_spec"))
    task = scenario.get("class_name") or spec.get("name")
    facts: dict[str, Json] = {name: run.one(name) for name in ("model", *_DECODING)}
    facts["num_fewshot"] = run.adapter.get("max_train_instances")
    facts["task"] = f"{task} {digest(scenario['args'])[:8]}" if scenario.get("args") else task
    facts["template"] = digest(parts) if parts else None
    if facts["temperature"] == 0:
        facts["independent_draws"] = False
    return {name: value for name, value in facts.items() if value is not None}


def _warn(run: _Run, report: LogReport) -> None:
    if not run.whole:
        report.warnings.append("the file was cut off; what is whole was read.")
    if run.n_cached:
        report.warnings.append(
            f"{run.n_cached} requests were served from a cache without a random part: repeats are "
            "not independent."
        )
    if report.protocol.get("temperature") == 0 and (report.planned or 1) > 1:
        report.warnings.append("repeats drawn without sampling: one effective draw an item.")
    mixed = [name for name, values in run.requests.items() if len(values) > 1]
    if mixed:
        report.warnings.append(
            f"requests differ in {', '.join(mixed)}: these are unknown of the run."
        )
    if run.n_undecodable:
        report.warnings.append(undecodable_note(run.n_undecodable))
