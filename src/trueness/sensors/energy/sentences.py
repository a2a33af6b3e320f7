"""The sentences of a claim, each against all passages, and their aggregates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trueness.contract import State
from trueness.contract.serial import Json, plain
from trueness.extract.sentences import paragraph_count
from trueness.sensors.claims import span_item
from trueness.sensors.energy.params import Params
from trueness.stats.sentence_features import SentenceNumbers, sentence_features
from trueness.stats.sentence_features import coverage as covered
from trueness.stats.span import Span, measure_spans
from trueness.stats.span_item import Refused, SpanItem
from trueness.stats.span_rules import SpanRules
from trueness.table.evidence import EvidenceTable, Marked


@dataclass(frozen=True, slots=True)
class Parts:
    """The sentences of one claim with what was seen of each."""

    marked: tuple[Marked, ...]
    spans: tuple[Span, ...]
    entailment: NDArray[np.float64] | None = None
    """(n_sentences, n_passages) as an entailer judges; None without one."""
    contradiction: NDArray[np.float64] | None = None

    def counted(self, rule: Literal["apart", "counted"]) -> list[int]:
        """Places of the sentences that aggregates are made of."""
        return [i for i, (_, mark) in enumerate(self.marked) if mark is None or rule == "counted"]


def parts_of(table: EvidenceTable, row: int, rules: SpanRules) -> Parts | None:
    """Every sentence of a claim against all its passages; None where they were not split."""
    marked = None if table.sentences is None else table.sentences[row]
    if not marked:
        return None
    items = _shared([span_item(table, row, text) for text, _ in marked])
    spans = tuple(spans_of(items, rules))
    if table.judged is None:
        return Parts(marked, spans)
    passages = [p for p in table.passages(row) if p.strip()]
    return Parts(marked, spans, *table.judged.columns(passages, [text for text, _ in marked]))


def _shared(items: Sequence[SpanItem | Refused]) -> list[SpanItem | Refused]:
    """The same items, all holding one object of evidence, so that it is decomposed once."""
    first = next((i for i in items if isinstance(i, SpanItem)), None)
    if first is None:
        return list(items)
    return [
        SpanItem(i.claim, first.evidence, first.texts, i.claim_text, i.text_too_long)
        if isinstance(i, SpanItem)
        else i
        for i in items
    ]


def spans_of(items: Sequence[SpanItem | Refused], rules: SpanRules) -> list[Span]:
    """Spans of items in their order; those refused beforehand keep their state."""
    ready = [i for i in items if isinstance(i, SpanItem)]
    found = iter(measure_spans(ready, rules=rules))
    return [
        next(found) if isinstance(i, SpanItem) else Span(i.state, i.reason, bad_rows=i.rows)
        for i in items
    ]


def written(parts: Parts | None, params: Params) -> list[Json]:
    """The sentences as plain JSON, in their order."""
    if parts is None:
        return []
    return [
        {
            "sub": number,
            "text": text,
            "mark": mark,
            "counted": mark is None or params.marked == "counted",
            "state": span.state.value,
            "reason": span.reason,
            "value": span.energy,
            "relative": span.relative,
            "top1": span.axes.get("top1"),
            "margin": span.axes.get("margin"),
            "coverage": _coverage(span, params),
            "influence": None if span.influence is None else list(span.influence),
            "support": list(span.support) or None,
            "carried_by": carried_by(span),
            "entailment": _row(parts.entailment, number - 1),
            "contradiction": _row(parts.contradiction, number - 1),
        }
        for number, ((text, mark), span) in enumerate(
            zip(parts.marked, parts.spans, strict=True), start=1
        )
    ]


def carried_by(span: Span) -> list[Json]:
    """Numbers, from 0, of the passages that carry most: the first of each cluster of `support`.

    The only one where there is one; none where no deletion was measured.
    """
    if span.state is State.MEASURED and len(span.clusters) == 1:
        return [span.clusters[0][0]]
    return [span.clusters[c][0] for c in span.support]


def features(parts: Parts | None, claim: str | None, params: Params) -> dict[str, Json]:
    """Aggregates over the measured sentences of a claim; nothing is filled with 0."""
    chosen = [] if parts is None else parts.counted(params.marked)
    spans = [] if parts is None else [parts.spans[i] for i in chosen]
    numbers = SentenceNumbers(
        energy=_column(s.energy for s in spans),
        top1=_column(s.axes.get("top1") for s in spans),
        margin=_column(s.axes.get("margin") for s in spans),
        coverage=_column(_coverage(s, params) for s in spans),
        relative=_column(s.relative for s in spans),
        gain=_column(s.axes.get("gain") for s in spans),
        influence=_column(_largest(s) for s in spans),
        entailment=_rows(None if parts is None else parts.entailment, chosen),
        contradiction=_rows(None if parts is None else parts.contradiction, chosen),
        n_unstable=sum(s.state is State.UNSTABLE for s in spans),
    )
    found = sentence_features(
        numbers,
        energy_cut=params.energy_cut,
        paragraph_count=None if claim is None else paragraph_count(claim),
        char_count=None if claim is None else len(claim),
    )
    bounds = found.frac_above_bounds
    return {
        **{name: plain(value) for name, value in found.values.items()},
        "frac_above_bounds": None if bounds is None else list(bounds),
        "n_measured": found.n_measured,
        "n_sentences": found.n_sentences,
    }


def _column(values: object) -> NDArray[np.float64]:
    return np.array([np.nan if v is None else v for v in values], np.float64)  # type: ignore[attr-defined] # a generator


def _coverage(span: Span, params: Params) -> float | None:
    if not span.cosines:
        return None
    return float(covered(np.array([span.cosines]), cut=params.coverage_cut)[0])


def _largest(span: Span) -> float | None:
    return max((v for v in span.influence or () if v is not None), default=None)


def _rows(table: NDArray[np.float64] | None, chosen: list[int]) -> NDArray[np.float64] | None:
    """Some rows; None where nothing in them is known."""
    found = None if table is None else table[chosen]
    return None if found is None or np.isnan(found).all() else found


def _row(table: NDArray[np.float64] | None, row: int) -> Json:
    """One row as plain numbers, in the order of the passages that are not blank."""
    if table is None:
        return None
    return [None if np.isnan(v) else float(v) for v in table[row]]
