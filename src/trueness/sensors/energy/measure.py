"""The energy of every claim of a table."""

from collections.abc import Sequence

from trueness.contract import ItemReading, Reading
from trueness.contract.serial import Json
from trueness.sensors import energy as sensor
from trueness.sensors.claim_reading import Sight, no_claims, reading_of
from trueness.sensors.claims import VERSION, embedder_identity, refused_text, span_item, vectors_of
from trueness.sensors.energy import draw
from trueness.sensors.energy.foreign import foreign_levels, summary
from trueness.sensors.energy.params import Params
from trueness.sensors.energy.rows import entry
from trueness.sensors.energy.sentences import Parts, features, parts_of, spans_of, written
from trueness.stats.span_item import SpanItem
from trueness.table.evidence import EvidenceTable

_MEANS = ("best_sin2", "mean_cosine", "centroid", "top1", "gain")


def measure(table: EvidenceTable, params: Params | None = None) -> Reading:
    """How far the claims of a table lie outside the span of their evidence.

    Parameters
    ----------
    table : EvidenceTable
        With vectors; the sensor calls no model.
    params : Params or None

    Returns
    -------
    Reading
        ``value`` is the mean energy of the measured claims. Every claim is in ``per_item`` with
        its state: one without evidence is ``NO_EVIDENCE`` and not energy 1.

    Raises
    ------
    InputError
        When the texts were not embedded, or a claim has more passages than are measured.
    """
    if not isinstance(table, EvidenceTable):
        return no_claims(sensor.CONTRACT)
    params = params or Params()
    rules = params.rules(vectors_of(table).noise)
    params.check(table)
    items = [span_item(table, row) for row in range(len(table))]
    spans = spans_of(items, rules)
    parts = [parts_of(table, row, rules) for row in range(len(table))]
    ready = {
        row: i
        for row, i in enumerate(items)
        if isinstance(i, SpanItem) and spans[row].energy is not None
    }
    levels = foreign_levels(table, ready, rules, params)
    entries = [
        entry(table.item[row] or "", span, _more(table, row, parts[row], params))
        for row, span in enumerate(spans)
    ]
    sight = Sight(
        contract=sensor.CONTRACT,
        items=entries,
        identity={
            "version": VERSION,
            **embedder_identity(table),
            **params.identity(rules.embedding_noise),
            "entailer": None if table.judged is None else dict(table.judged.identity),
        },
        details={
            **_details(entries, parts),
            "chance_empirical": summary(table, levels, params),
        },
        aside=params.aside(),
    )
    return reading_of(
        table, sight, params, said=draw.said, draw=lambda r: draw.blocks(r, table, params)
    )


def _more(table: EvidenceTable, row: int, parts: Parts | None, params: Params) -> dict[str, Json]:
    """What stands beside the span: source, sentences and their aggregates."""
    refused = refused_text(table.claim[row], table.passages(row)) is not None
    more: dict[str, Json] = {} if table.group is None else {"group": table.group[row]}
    if refused or table.sentences is None:
        return {**more, "sentences": None, "diagnostics": {}}
    return {
        **more,
        "sentences": written(parts, params),
        "diagnostics": features(parts, table.claim[row], params),
    }


def _details(entries: Sequence[ItemReading], parts: Sequence[Parts | None]) -> dict[str, Json]:
    measured = [e for e in entries if e.value is not None]
    marks = [mark for p in parts if p is not None for _, mark in p.marked]
    named = sorted({m for m in marks if m})
    counts: dict[str, Json] = {m: marks.count(m) for m in named}
    return {
        "chance": _mean(measured, "chance"),
        "relative": _mean(measured, "relative"),
        **{name: _mean(measured, name) for name in _MEANS},
        "n_sentences": len(marks),
        "sentences_marked": counts,
    }


def _mean(entries: Sequence[ItemReading], name: str) -> float | None:
    values = [v for e in entries if isinstance(v := e.extra.get(name), (int, float))]
    return sum(values) / len(values) if values else None
