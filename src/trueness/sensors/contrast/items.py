"""One claim beside its contradictions: gains, energies, and what follows from them."""

from collections.abc import Sequence
from dataclasses import dataclass

from trueness.contract import ItemReading, State
from trueness.contract.serial import Json
from trueness.sensors.claims import refused_text, span_item, vectors_of
from trueness.sensors.contrast.params import Params
from trueness.stats.span import Span, measure_spans
from trueness.stats.span_item import Refused, SpanItem
from trueness.stats.span_rules import SpanRules
from trueness.table.contrasts import Likelihoods, Variant
from trueness.table.evidence import EvidenceTable

CONTROL = "paraphrase"
"""Kind of a variant that is no contradiction: listed, and counted nowhere."""
NO_CONTRAST = "no_contrast"
_ALL = 1_000_000
"""Passages that are read: the sensor has no limit of its own."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A variant of a claim, or the claim itself, as both arms see it.

    Parameters
    ----------
    given : float or None
        Log-probability behind the evidence, in nats; None where it is not known.
    gain : float or str
        Nats that the evidence adds; a text says why that is not known.
    energy : float or None
        None where it is not measured.
    """

    variant: Variant | None
    given: float | None
    gain: float | str
    energy: float | None


def entry(table: EvidenceTable, row: int, likelihoods: Likelihoods, params: Params) -> ItemReading:
    """What is written down of one claim."""
    item, claim = table.item[row] or "", table.claim[row]
    more: dict[str, Json] = {} if table.group is None else {"group": table.group[row]}
    refused = refused_text(claim, table.passages(row))
    if refused is not None:
        return ItemReading(item, refused.state, refused.reason, None, {**more, **_nothing(None)})
    variants = _kept(table, row, params)
    if not any(v.kind != CONTROL for v in variants):
        made = None if table.contradicted is None else table.contradicted[row]
        why = None if made is None else made.reason
        extra = {**more, **_nothing(why)}
        return ItemReading(item, State.NOT_APPLICABLE, NO_CONTRAST, None, extra)
    own, *others = _seen(table, row, variants, likelihoods, params)
    against = [s for s in others if s.variant is not None and s.variant.kind != CONTROL]
    extra = {**more, **_written(own, others, params, _noise(table, params))}
    failed = [s.gain for s in (own, *against) if isinstance(s.gain, str)]
    if failed:
        return ItemReading(item, State.NOT_APPLICABLE, failed[0], None, extra)
    return ItemReading(item, State.MEASURED, None, _margin(own, against), extra)


def _kept(table: EvidenceTable, row: int, params: Params) -> list[Variant]:
    """The first contradictions of each kind."""
    made = None if table.contradicted is None else table.contradicted[row]
    kept: list[Variant] = []
    for variant in made.found if made is not None else ():
        if sum(v.kind == variant.kind for v in kept) < params.per_kind:
            kept.append(variant)
    return kept


def _seen(
    table: EvidenceTable,
    row: int,
    variants: Sequence[Variant],
    likelihoods: Likelihoods,
    params: Params,
) -> list[Seen]:
    """The claim, then its variants."""
    claim, passages = table.claim[row] or "", table.passages(row)
    texts = [claim, *(v.text for v in variants)]
    energies = _energies(table, row, texts, params)
    return [
        Seen(variant, _given(likelihoods, passages, text), likelihoods.gain(passages, text), energy)
        for variant, text, energy in zip([None, *variants], texts, energies, strict=True)
    ]


def _given(likelihoods: Likelihoods, passages: tuple[str, ...], text: str) -> float | None:
    found = likelihoods.given.get((passages, text))
    return found if isinstance(found, float) else None


def _energies(
    table: EvidenceTable, row: int, texts: Sequence[str], params: Params
) -> list[float | None]:
    """Energy of each text against the passages of a row; None where it is not measured."""
    item = span_item(table, row)
    vectors = vectors_of(table)
    if isinstance(item, Refused) or item.text_too_long:
        return [None] * len(texts)
    rules = SpanRules(embedding_noise=_noise(table, params), max_passages=_ALL)
    items = [
        SpanItem(vector, item.evidence, texts=item.texts, claim_text=text)
        for vector, text in zip(vectors.claim.rows(texts), texts, strict=True)
    ]
    spans: list[Span] = measure_spans(items, rules=rules, influence=False)
    failed = [bool(vectors.claim.faults([text])) for text in texts]
    return [None if bad else s.energy for s, bad in zip(spans, failed, strict=True)]


def _noise(table: EvidenceTable, params: Params) -> float:
    """Length of the noise of a unit row: energies that lie closer are the same."""
    return max(vectors_of(table).noise, params.embedding_noise or 0.0)


def _margin(own: Seen, against: Sequence[Seen]) -> float | None:
    """Gain of the claim minus the largest of the others; None where one is not known."""
    gains = [s.gain for s in against]
    known = [g for g in gains if not isinstance(g, str)]
    if isinstance(own.gain, str) or not known or len(known) < len(gains):
        return None
    return own.gain - max(known)


def _written(own: Seen, others: Sequence[Seen], params: Params, noise: float) -> dict[str, Json]:
    against = [s for s in others if s.variant is not None and s.variant.kind != CONTROL]
    kinds = list(dict.fromkeys(s.variant.kind for s in against if s.variant is not None))
    by_kind: dict[str, Json] = {}
    route: list[Json] = []
    for kind in kinds:
        members = [s for s in against if s.variant is not None and s.variant.kind == kind]
        routed = params.route == "energy" and any(_accepted(own, s, params, noise) for s in members)
        route += [f"binding:{kind}"] if routed else []
        energies = [s.energy for s in members]
        lowest = min((e for e in energies if e is not None), default=None)
        by_kind[kind] = {
            "n": len(members),
            "value": _margin(own, members),
            "energy_margin": None if None in (lowest, own.energy) else _minus(lowest, own.energy),
            "routed": routed,
        }
    gains = [s.gain for s in against if not isinstance(s.gain, str)]
    best = max(gains) if len(gains) == len(against) else None
    return {
        "gain": None if isinstance(own.gain, str) else own.gain,
        "given": own.given,
        "energy": own.energy,
        "best_gain": best,
        "n_contrasts": len(against),
        "why_none": None,
        "kinds": by_kind,
        "variants": [_line(s) for s in others],
        "route": route,
    }


def _accepted(own: Seen, other: Seen, params: Params, noise: float) -> bool:
    """Whether the energy that lets the claim pass lets this contradiction pass as well."""
    if own.energy is None or other.energy is None:
        return False
    if params.accept is None:
        return other.energy <= own.energy + noise
    return max(own.energy, other.energy) < params.accept


def _minus(one: float | None, two: float | None) -> float | None:
    return None if one is None or two is None else one - two


def _line(seen: Seen) -> dict[str, Json]:
    v = seen.variant
    place: dict[str, Json] = {}
    if v is not None:
        place = {
            "kind": v.kind, "text": v.text, "start": v.start, "stop": v.stop, "before": v.before,
            "after": v.after,
        }  # fmt: skip
    lost = isinstance(seen.gain, str)
    return {
        **place,
        "gain": None if lost else seen.gain,
        "given": seen.given,
        "reason": seen.gain if lost else None,
        "energy": seen.energy,
    }


def _nothing(why: str | None) -> dict[str, Json]:
    """The same fields where nothing was compared."""
    return {
        "gain": None, "given": None, "energy": None, "best_gain": None, "n_contrasts": 0,
        "why_none": why, "kinds": {}, "variants": [], "route": [],
    }  # fmt: skip
