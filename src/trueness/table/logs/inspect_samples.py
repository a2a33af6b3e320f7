"""One sample of an inspect_ai log as a draw, and the choice among several of one epoch."""

import hashlib
import json
import math
from array import array
from collections.abc import Callable, Mapping
from typing import Any

from trueness.table.answers import Outcome
from trueness.table.logs.draws import Draw, LogReport, TableBuilder
from trueness.table.logs.inspect_protocol import as_mapping

_ELSEWHERE = ("attachment://", "tc://")
_STOPS = {"max_tokens": "length", "model_length": "length"}
_NAMED_ERROR = 200
"""So many characters of an error's message are its name."""


class Attachments:
    """Long texts that a sample keeps apart.

    Parameters
    ----------
    texts : mapping of name to text
    more : callable or None
        Reads the others; called once, when one is not there.
    """

    def __init__(
        self, texts: Mapping[str, Any], more: Callable[[], Mapping[str, Any]] | None = None
    ) -> None:
        self._texts, self._more = texts, more

    def resolved(self, text: str) -> str | None:
        """The text, or what it refers to; None when that is not there."""
        for mark in _ELSEWHERE:
            if text.startswith(mark):
                found = self._find(text.removeprefix(mark))
                return found if isinstance(found, str) else None
        return text

    def _find(self, name: str) -> object:
        if name not in self._texts and self._more is not None:
            self._texts, self._more = {**self._texts, **self._more()}, None
        return self._texts.get(name)


def draw_of(
    sample: Mapping[str, Any], attachments: Attachments, report: LogReport, *, condition: str
) -> Draw | None:
    """The draw that a sample holds; None for one without an id, which is counted."""
    name, epoch = sample.get("id"), sample.get("epoch", 1)
    if not isinstance(name, (str, int)) or type(epoch) is not int or epoch < 1:
        report.drop("sample without an id and an epoch")
        return None
    output = as_mapping(sample.get("output"))
    choice = _first_choice(output)
    stop = choice.get("stop_reason")
    completion, lost = _completion(output, choice, attachments)
    outcome, reason = _outcome(sample, stop, completion, lost=lost)
    if outcome is None and _only_reasons(choice) and _STOPS.get(str(stop)) is None:
        outcome, reason = Outcome.NO_ANSWER, "reasoning_only"
    return Draw(
        str(name),
        epoch,
        completion,
        condition=condition,
        outcome=outcome,
        reason=reason,
        target=_golds(sample.get("target")),
        logprob=_logprob(choice),
        extras=_extras(sample, stop) | {"prompt_hash": _prompt_hash(sample, attachments)},
    )


def _first_choice(output: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = output.get("choices")
    return as_mapping(choices[0]) if isinstance(choices, list) and choices else {}


def _completion(
    output: Mapping[str, Any], choice: Mapping[str, Any], attachments: Attachments
) -> tuple[str | None, bool]:
    """The text of a draw, and whether a part of it is lost."""
    content = as_mapping(choice.get("message")).get("content")
    if content is None:
        content = output.get("completion")
    parts = [content] if isinstance(content, str) else _texts(content)
    if parts is None:
        return None, False
    found = [attachments.resolved(part) for part in parts]
    if any(text is None for text in found):
        return None, True
    return "\n".join(text for text in found if text is not None), False


def _texts(content: object) -> list[str] | None:
    """Texts of content blocks; reasoning, images and tools are none."""
    if not isinstance(content, list):
        return None
    blocks = [as_mapping(block) for block in content]
    return [str(b.get("text") or "") for b in blocks if b.get("type") == "text"]


def _only_reasons(choice: Mapping[str, Any]) -> bool:
    content = as_mapping(choice.get("message")).get("content")
    if not isinstance(content, list):
        return False
    kinds = {as_mapping(block).get("type") for block in content}
    return "reasoning" in kinds and "text" not in kinds


def _outcome(
    sample: Mapping[str, Any], stop: object, completion: str | None, *, lost: bool
) -> tuple[Outcome | None, str | None]:
    """What the log itself says of a draw; nothing where its text decides."""
    missing = _error_name(sample)
    if stop == "content_filter":
        missing = missing or "content_filter"
    if lost:
        missing = missing or "unresolved_attachment"
    if missing is not None:
        return Outcome.ERROR, missing
    if sample.get("limit"):
        return Outcome.TRUNCATED, "truncated"
    return (Outcome.NO_ANSWER, "empty") if completion is None else (None, None)


def _error_name(sample: Mapping[str, Any]) -> str | None:
    error = sample.get("error")
    if error:
        message = str(as_mapping(error).get("message") or "").strip()
        return message.split("\n")[0][:_NAMED_ERROR] or "error"
    return "invalidated" if sample.get("invalidation") else None


def _golds(target: object) -> tuple[str, ...] | None:
    golds = target if isinstance(target, list) else [target]
    return tuple(g for g in golds if isinstance(g, str) and g) or None


def _logprob(choice: Mapping[str, Any]) -> float | None:
    """The log-probability of the whole text: the sum over its tokens."""
    tokens = as_mapping(choice.get("logprobs")).get("content")
    if not isinstance(tokens, list) or not tokens:
        return None
    each = [as_mapping(token).get("logprob") for token in tokens]
    known = [float(value) for value in each if isinstance(value, (int, float))]
    total = sum(known)
    return total if len(known) == len(each) and math.isfinite(total) else None


def _extras(sample: Mapping[str, Any], stop: object) -> dict[str, str | None]:
    extras: dict[str, str | None] = {}
    if isinstance(stop, str):
        extras["stop_reason"] = _STOPS.get(stop, stop)
    choices = sample.get("choices")
    if isinstance(choices, list) and choices:
        extras["choices"] = json.dumps(choices, ensure_ascii=False)
    fallback = as_mapping(as_mapping(sample.get("output")).get("fallback")).get("model")
    if fallback is not None:
        extras["served_by"] = str(fallback)
    limit = as_mapping(sample.get("limit")).get("type")
    if limit is not None:
        extras["limit"] = str(limit)
    return extras | _scores(sample)


def _prompt_hash(sample: Mapping[str, Any], attachments: Attachments) -> str | None:
    """What identifies the question: its texts, who says them, and the choices given."""
    asked = sample.get("input")
    messages = asked if isinstance(asked, list) else [{"role": "user", "content": asked}]
    said: list[tuple[object, str]] = []
    for message in map(as_mapping, messages):
        content = message.get("content")
        parts = [content] if isinstance(content, str) else _texts(content)
        found = [attachments.resolved(part) for part in parts or []]
        if not found or any(text is None for text in found):
            return None
        said.append((message.get("role"), "\n".join(map(str, found))))
    text = json.dumps([said, sample.get("choices")], ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _scores(sample: Mapping[str, Any]) -> dict[str, str | None]:
    """What scorers wrote, as evidence: all of them by name where there are several."""
    scores = as_mapping(sample.get("scores"))
    extras: dict[str, str | None] = {}
    for name, score in scores.items():
        values = (_plain(as_mapping(score).get("answer")), _plain(as_mapping(score).get("value")))
        for kind, value in zip(("tool_answer", "tool_score"), values, strict=True):
            extras.setdefault(kind, value)
            if len(scores) > 1:
                extras[f"{kind}:{name}"] = value
    return extras


def _plain(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return json.dumps(value, ensure_ascii=False)


class Attempts:
    """Samples of one run and epoch, of which one is kept: one without an error, else the latest."""

    def __init__(self, builder: TableBuilder, report: LogReport) -> None:
        self._builder, self._report = builder, report
        self._rows: dict[tuple[str, str], dict[int, int]] = {}
        self._digests = array("Q")
        self._failed = bytearray()
        self._n_limited = 0
        self._n_served = 0

    def add(self, draw: Draw, run: str) -> None:
        """Take the next sample, in order of time."""
        epochs = self._rows.setdefault((run, draw.item), {})
        before = epochs.get(draw.epoch)
        digest, failed = _digest(draw), draw.outcome is Outcome.ERROR
        if before is not None and self._digests[before] == digest:
            self._report.drop("exact repeat")
            return
        which = "later sample kept"
        if before is not None and failed and not self._failed[before]:
            which = "sample without an error kept"
        else:
            epochs[draw.epoch] = self._add(draw, digest)
        if before is not None:
            if epochs[draw.epoch] != before:
                self._builder.drop(before)
            self._report.drop("another attempt")
            self._report.duplicates.append(f"item {draw.item!r}, epoch {draw.epoch}: {which}")

    def _add(self, draw: Draw, digest: int) -> int:
        self._digests.append(digest)
        self._failed.append(draw.outcome is Outcome.ERROR)
        self._n_limited += draw.outcome is Outcome.TRUNCATED
        self._n_served += "served_by" in draw.extras
        return self._builder.add(draw)

    def finish(self) -> None:
        """Write what was found into the report."""
        if self._n_limited:
            self._report.warnings.append(
                f"{self._n_limited} samples were stopped by a limit and count as truncated."
            )
        if self._n_served:
            self._report.warnings.append(
                f"{self._n_served} samples were served by another model than the one asked; "
                "the column served_by names it."
            )


def _digest(draw: Draw) -> int:
    text = f"{draw.outcome}\x00{draw.reason}\x00{draw.completion}"
    raw = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(raw, "big")
