"""Scores of an evaluation as rows of an answer table, and readings of them as metrics."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from trueness import api
from trueness.contract.errors import InputError, TruenessError
from trueness.table import AnswerTable

MARK = "trueness"
"""Where our own scorer leaves what a metric needs, in a score's metadata."""

_LOG = logging.getLogger(__name__)


def check_kind(kind: str) -> None:
    """Refuse a sort of answer that there is not, before anything is asked.

    Raises
    ------
    InputError
        Naming those there are.
    """
    api.read([{"item": "a", "completion": "a"}], answer_kind=kind)


def table_of(scores: Sequence[Any], *, kind: str, entity: str | None = None) -> AnswerTable:
    """The answers of scored samples, a row a sample and epoch.

    Parameters
    ----------
    scores : sequence of inspect_ai.scorer.SampleScore
        One for every epoch of every sample.
    kind : str
        How the ``answer`` of another tool's score is keyed. Scores of our own scorer hold the whole
        completion and say how it is keyed.
    entity : str, optional
        Name in the samples' metadata; the sample's id stands for it otherwise.

    Raises
    ------
    InputError
        When no score holds an answer, or a sample has no such metadata.
    """
    own = [found for s in scores if (found := (s.score.metadata or {}).get(MARK)) is not None]
    if own and len(own) < len(scores):
        msg = (
            f"{len(own)} of {len(scores)} scores come from the scorer trueness/answers; the metric "
            "reads either those or another scorer's."
        )
        raise InputError(msg)
    if not own and all(s.score.answer is None for s in scores):
        msg = "no score holds an answer; use a scorer that records it, such as trueness/answers."
        raise InputError(msg)
    epochs: Counter[str] = Counter()
    rows = []
    for s in scores:
        item = str(s.sample_id)
        epochs[item] += 1  # draws of one sample are told apart, never ordered
        row: dict[str, Any] = {"item": item, "epoch": epochs[item], "entity": _entity(s, entity)}
        rows.append(row | (_own(s.score) if own else {"answer": s.score.answer or ""}))
    return api.read(rows, answer_kind=own[0]["answer_kind"] if own else kind)


def _own(score: Any) -> dict[str, Any]:
    left = score.metadata[MARK]
    said = {"completion": score.explanation or "", "stop_reason": left.get("stop_reason")}
    return said | ({"target": left["target"]} if left.get("target") else {})


def _entity(scored: Any, name: str | None) -> str:
    if name is None:
        return str(scored.sample_id)
    found = (scored.sample_metadata or {}).get(name)
    if found is None:
        known = ", ".join(sorted(scored.sample_metadata or {})) or "none"
        msg = (
            f"sample {scored.sample_id!r} has no metadata {name!r}; it has: {known}. Name the one "
            "that says what the question is about, or leave entity out: the id stands for it."
        )
        raise InputError(msg)
    return str(found)


class Figures:
    """The figures of a metric that are there; what cannot be measured is said once and left out.

    Nothing raises here: an evaluation that was paid for is not lost with its last step.

    Parameters
    ----------
    name : str
        Of the metric.
    empty : mapping of str to float
        The counts when nothing was measured.
    """

    def __init__(self, name: str, empty: Mapping[str, float]) -> None:
        self._name = name
        self._empty = empty
        self._said: set[str] = set()

    def of(
        self, scores: Sequence[Any], measure: Callable[[], Mapping[str, float | None]]
    ) -> dict[str, float]:
        """What was measured of scores.

        Parameters
        ----------
        scores : sequence of inspect_ai.scorer.SampleScore
            So far: inspect_ai also shows metrics while samples are still coming in.
        measure : callable
            None among its figures stands for what was not measured.
        """
        if not scores:
            return dict(self._empty)
        try:
            found = measure()
        except TruenessError as error:
            self.say(str(error), len(scores))
            return dict(self._empty)
        return {key: float(value) for key, value in found.items() if value is not None}

    def say(self, why: str, n: int) -> None:
        """Warn why a metric of so many scores has no number, once for each reason."""
        if why not in self._said:
            self._said.add(why)
            _LOG.warning("%s could not be measured from %d scores: %s", self._name, n, why)
