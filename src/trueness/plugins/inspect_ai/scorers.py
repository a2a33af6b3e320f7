"""Scorers of inspect_ai: answers under our keys, and claims against their evidence."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any

from anyio import to_thread
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    NOANSWER,
    Score,
    Target,
    frequency,
    mean,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState

from trueness import api
from trueness.api.asserting import RULINGS
from trueness.api.means import SENSOR, Means, means_of
from trueness.api.replaying import opened
from trueness.backends.registry import open_embedder
from trueness.contract import ItemReading, Reading
from trueness.contract.errors import InputError
from trueness.decide.calibrating import apply_gate
from trueness.plugins.inspect_ai.metrics import agreement_spectrum, no_answer_mass
from trueness.plugins.inspect_ai.scored import MARK, check_kind
from trueness.table import AnswerTable
from trueness.table.evidence_reading import read_evidence

Scorer = Callable[[TaskState, Target], Awaitable[Score]]
Encoder = Callable[[list[str]], Any]

_KEPT = ("explained", "rank", "n", "chance", "relative", "top1")
"""Of what the sensor says of a claim, what stands in the score's metadata."""


@scorer(metrics=[agreement_spectrum(), no_answer_mass()])
def answers(answer_kind: str = "auto") -> Scorer:
    """The answer that a completion holds, under our keys, and whether the target has that key.

    ``C``, ``I`` or ``N`` (no answer) where the sample has a target, and ``answered`` or
    ``no_answer`` where it has none. The reason of a score says why a completion holds no answer.

    Parameters
    ----------
    answer_kind : str
        ``auto`` looks for a marked answer in a whole completion; ``short``, ``number``, ``option``,
        ``text`` where the completion is the answer.

    Raises
    ------
    InputError
        For an unknown kind.
    """
    check_kind(answer_kind)

    async def score(state: TaskState, target: Target) -> Score:
        left = {
            "answer_kind": answer_kind,
            "stop_reason": state.output.stop_reason if state.output.choices else None,
            "target": [text for text in target if text],
        }
        text = state.output.completion
        row = {"item": "a", "completion": text, "stop_reason": left["stop_reason"]}
        golds = {"target": left["target"]} if left["target"] else {}
        table = api.read([row | golds], answer_kind=answer_kind)
        return Score(
            value=_value(table),
            answer=table.answer[0],
            explanation=text,
            reason=table.reason[0],
            metadata={MARK: left},
        )

    return score


@scorer(metrics=[mean(), stderr()])
def grounding(
    evidence: str = "evidence",
    sensor: str = "energy",
    embedder: str | Encoder = "embedded",
    revision: str | None = None,
    measured_by: Mapping[str, Any] | None = None,
) -> Scorer:
    """How much of a completion lies outside the span of its evidence, as embeddings show it.

    0 is inside, 1 orthogonal to all passages; it does not say whether the completion is right. A
    sample that could not be measured, such as one without evidence, is unscored, with its state.

    Parameters
    ----------
    evidence : str
        Name in the samples' metadata: a list of passages, or one text that is split.
    sensor : str
        ``energy``, a variant such as ``energy.cone``, or a baseline.
    embedder : str, or callable ``list[str] -> (n, d)``
        ``embedded`` comes with ``trueness doctor --get minilm``.
    revision : str, optional
        Of an embedder that does not know its own.
    measured_by : mapping, optional
        What else `trueness.ground` takes: ``window``, ``select`` …
    """
    more = measured_by or {}
    means = _Means(means_of(sensor, embedder=embedder, revision=revision, **more))

    def measure(state: TaskState) -> Score:
        reading = means.reading(_claim(state, evidence))
        found = reading.per_item[0]
        if found.value is None:
            return _unscored(state, found)
        return _scored(found.value, state, reading, reading.statement)

    return _in_a_thread(measure)


@scorer(metrics=[frequency(RULINGS)])
def gated(
    gate: str,
    evidence: str = "evidence",
    embedder: str | Encoder = "embedded",
    revision: str | None = None,
    measured_by: Mapping[str, Any] | None = None,
) -> Scorer:
    """Whether a calibrated gate accepts a completion on its evidence, reviews or rejects it.

    The gate's promise is about the unsupported claims of its own population. A sample that could
    not be measured is unscored.

    Parameters
    ----------
    gate : str
        The file that ``trueness calibrate`` wrote; it names the sensor.
    evidence, embedder, revision, measured_by :
        As in `grounding`, and as the gate was calibrated.

    Raises
    ------
    InputError
        When the file is no gate.
    """
    made, more = opened(gate), measured_by or {}
    sensor = made.sensor or SENSOR
    means = _Means(means_of(sensor, embedder=embedder, revision=revision, **more))

    def measure(state: TaskState) -> Score:
        reading = means.reading(_claim(state, evidence))
        found, ruled = reading.per_item[0], apply_gate(made, reading).verdicts[0]
        if found.value is None:
            return _unscored(state, found)
        return _scored(ruled.verdict.value, state, reading, ruled.reason)

    return _in_a_thread(measure)


def _value(table: AnswerTable) -> str:
    """What a score says of the one answer of a table."""
    key, golds = table.answer[0], None if table.target is None else table.target[0]
    if not golds:
        return "no_answer" if key is None else "answered"
    if key is None:
        return str(NOANSWER)
    return str(CORRECT if key in golds else INCORRECT)


class _Means:
    """What every sample is measured by: checked when it is made, opened when first needed."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._is_open = not means.module.NEEDS_VECTORS

    def reading(self, row: dict[str, object]) -> Reading:
        """The reading of one claim."""
        if not self._is_open:
            means = self._means
            ready = open_embedder(means.embedder, revision=means.revision, download=False)
            self._means, self._is_open = replace(means, embedder=ready, revision=None), True
        return self._means.measured(self._means.embedded(read_evidence([row])))


def _in_a_thread(measure: Callable[[TaskState], Score]) -> Scorer:
    """A scorer that measures beside the requests of other samples, one sample at a time."""
    lock = Lock()

    def alone(state: TaskState) -> Score:
        with lock:
            return measure(state)

    async def score(state: TaskState, target: Target) -> Score:
        del target
        return await to_thread.run_sync(alone, state)

    return score


def _claim(state: TaskState, name: str) -> dict[str, object]:
    """The row of a sample: its completion as the claim, and the passages of its metadata."""
    if name not in state.metadata:
        known = ", ".join(sorted(state.metadata)) or "none"
        msg = (
            f"sample {state.sample_id!r} has no metadata {name!r}; it has: {known}. Name the one "
            "with the passages: evidence=NAME. A sample without passages has an empty list."
        )
        raise InputError(msg)
    found = state.metadata[name]
    passages = list(found) if isinstance(found, Sequence) and not isinstance(found, str) else found
    return {"item": str(state.sample_id), "claim": state.output.completion, "evidence": passages}


def _scored(value: float | str, state: TaskState, reading: Reading, said: str) -> Score:
    found = reading.per_item[0]
    kept = {name: found.extra[name] for name in _KEPT if name in found.extra}
    figures = {"state": found.state.value, "value": found.value, "sensor": reading.sensor, **kept}
    return Score(
        value=value,
        answer=state.output.completion,
        explanation=said,
        metadata={MARK: {**figures, "fingerprint": reading.fingerprint}},
    )


def _unscored(state: TaskState, found: ItemReading) -> Score:
    return Score.unscored(
        reason=found.state.value,
        answer=state.output.completion,
        explanation=f"could not be measured ({found.state}): {found.reason}",
        metadata={MARK: {"state": found.state.value, "reason": found.reason}},
    )
