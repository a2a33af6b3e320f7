"""All that is known of claims for telling them apart: one call, one column a quantity."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.contract import State
from trueness.contract.serial import Json
from trueness.sensors.baselines import word_overlap
from trueness.sensors.claims import refused_text, span_item, vectors_of
from trueness.sensors.energy.params import Params
from trueness.sensors.energy.sentences import Parts, features
from trueness.stats.sentence_features import ADDED, DERIVED, SETS, STRUCTURAL, STRUCTURAL_ADDED
from trueness.stats.span import Span, measure_spans
from trueness.stats.span_axes import AXES
from trueness.stats.span_item import Refused, SpanItem
from trueness.table.evidence import EvidenceTable

Floats: TypeAlias = NDArray[np.float64]

ENERGY = "energy"
CLAIM = (ENERGY, "relative", "chance", "null_quantile", "cutoff_gap", "n", "rank", "r", "influence")
"""Of the whole claim; ``influence`` is the largest of a passage."""
LENGTH = (*STRUCTURAL, *STRUCTURAL_ADDED)
BUNDLE = tuple(name for name in SETS["geometry"] if name not in DERIVED)
"""Features of the sentences' geometry, linearly independent of one another."""
RIVALS: Mapping[str, float] = {
    "top1": -1.0,
    "mean_cosine": -1.0,
    "centroid": -1.0,
    "best_sin2": 1.0,
    "word_overlap": -1.0,
}
"""Simpler measures, and the sign that makes high point to unsupported, fixed by their contracts."""


@dataclass(frozen=True, slots=True)
class ClaimFeatures:
    """Columns of numbers about claims.

    Parameters
    ----------
    columns : mapping of str to (n,) float
        As measured, in the direction of the quantity; nan where there is none.
    states : (n,) tuple of str
        Of the whole claim's energy, with the reason.
    """

    columns: Mapping[str, Floats]
    states: tuple[str, ...]

    def risk(self, name: str) -> Floats:
        """A column turned so that high points to unsupported, by its contract's direction."""
        return RIVALS.get(name, 1.0) * self.columns[name]

    def several(self, names: Sequence[str]) -> list[Floats]:
        """Some columns in the order of their names."""
        return [self.columns[name] for name in names]

    def counts(self) -> dict[str, Json]:
        """How many claims are in which state."""
        return {state: self.states.count(state) for state in sorted(set(self.states))}


def claim_features(
    table: EvidenceTable, params: Params | None = None, *, influence: bool = True
) -> ClaimFeatures:
    """Energy and axes of every whole claim, its sentences' features, baselines and lengths.

    Parameters
    ----------
    table : EvidenceTable
        Embedded. A claim whose sentences were not split has no features of sentences.
    params : Params, optional
        Of the energy.
    influence : bool
        Whether passages are left out one by one as well; without, those columns are nan.

    Raises
    ------
    InputError
        When the texts were not embedded.
    """
    params = params or Params()
    noise = vectors_of(table).noise
    items = [span_item(table, row) for row in range(len(table))]
    sentences = [_sentences(table, row, items[row]) for row in range(len(table))]
    flat = [*items, *(item for row in sentences for item in row)]
    spans = _spans(flat, params, noise, influence=influence)
    whole, rest = spans[: len(items)], iter(spans[len(items) :])
    parts = [tuple(next(rest) for _ in row) for row in sentences]
    return ClaimFeatures(
        {**_claim(whole), **_bundle(table, parts, params), **_texts(table)},
        tuple(s.state.value + (f" {s.reason}" if s.reason else "") for s in whole),
    )


def measured_spans(
    table: EvidenceTable, params: Params | None = None, *, influence: bool = False
) -> list[Span]:
    """The span of every whole claim of an embedded table."""
    items = [span_item(table, row) for row in range(len(table))]
    return _spans(items, params or Params(), vectors_of(table).noise, influence=influence)


def column_of(values: Sequence[float | None]) -> Floats:
    """(n,) float, nan for None."""
    return np.array([math.nan if v is None else v for v in values], np.float64)


def _sentences(
    table: EvidenceTable, row: int, whole: SpanItem | Refused
) -> list[SpanItem | Refused]:
    """The sentences of a claim, all holding its evidence as one object."""
    marked = None if table.sentences is None else table.sentences[row]
    if not marked or not isinstance(whole, SpanItem):
        return []
    found = [span_item(table, row, text) for text, _ in marked]
    return [
        SpanItem(i.claim, whole.evidence, whole.texts, i.claim_text, i.text_too_long)
        if isinstance(i, SpanItem)
        else i
        for i in found
    ]


def _spans(
    items: Sequence[SpanItem | Refused], params: Params, noise: float, *, influence: bool
) -> list[Span]:
    ready = [i for i in items if isinstance(i, SpanItem)]
    found = iter(measure_spans(ready, rules=params.rules(noise), influence=influence))
    return [
        next(found) if isinstance(i, SpanItem) else Span(i.state, i.reason, bad_rows=i.rows)
        for i in items
    ]


def _claim(spans: Sequence[Span]) -> dict[str, Floats]:
    found = {
        name: column_of([getattr(s, name) if s.state is State.MEASURED else None for s in spans])
        for name in CLAIM
        if name != "influence"
    }
    found["influence"] = column_of([_largest(s) for s in spans])
    return found | {name: column_of([s.axes.get(name) for s in spans]) for name in AXES}


def _bundle(
    table: EvidenceTable, parts: Sequence[tuple[Span, ...]], params: Params
) -> dict[str, Floats]:
    """Aggregates of sentences, by name."""
    made: list[dict[str, Json]] = []
    for row, spans in enumerate(parts):
        marked = None if table.sentences is None else table.sentences[row]
        known = Parts(marked, spans) if marked and spans else None
        made.append(features(known, table.claim[row], params))
    names = (*SETS["geometry"], *LENGTH, *ADDED)
    return {name: column_of([_number(f.get(name)) for f in made]) for name in names}


def _texts(table: EvidenceTable) -> dict[str, Floats]:
    """What needs no vector: shared words."""
    shared = [
        None
        if refused_text(table.claim[row], table.passages(row))
        else word_overlap(table.claim[row] or "", table.passages(row))
        for row in range(len(table))
    ]
    return {"word_overlap": column_of(shared)}


def _largest(span: Span) -> float | None:
    return max((v for v in span.influence or () if v is not None), default=None)


def _number(value: Json) -> float | None:
    return float(value) if isinstance(value, int | float) else None
