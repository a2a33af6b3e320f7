"""The study ``contrast``: whether a measurement moves when the claim's binding is changed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from trueness.backends.embedder import Embedder
from trueness.backends.protocol import Model
from trueness.backends.registry import open_embedder, open_model
from trueness.backends.vectors import VectorCache
from trueness.backends.weights import cache_dir
from trueness.collect.contrasting import contrast_table, score_table
from trueness.contract import ItemReading
from trueness.contract.serial import Json
from trueness.extract.contradictions.paraphrases import paraphrases_of
from trueness.sensors.contrast import Params, measure
from trueness.study.assessed import absent
from trueness.study.declarations import Declaration
from trueness.study.embedded_inputs import levels
from trueness.study.found import Found
from trueness.study.inputs import Inputs
from trueness.study.measurable import check_supported
from trueness.study.protocol import Protocol
from trueness.study.results import Record
from trueness.study.second_model import with_second_model
from trueness.study.slices import BINDING, SUPPORTED, Slice, binding_items, embedded, slices_of
from trueness.study.spent import Spent
from trueness.study.task import Progress, Task
from trueness.study.variant_pairs import (
    CLAIM,
    MADE,
    MEASURES,
    REWORDED,
    WRONG,
    blind_kinds,
    difference,
    pairs_of,
    pooled,
    rows_of,
    shares,
)
from trueness.table.column import Column
from trueness.table.contrasts import Contradicted, Variant
from trueness.table.evidence import EvidenceTable

_SHIPPED = "shipped:"
"""In front of a kind: the wrong claim that the binding set comes with."""
_MODEL = "embedded"


@with_second_model
def run(task: Task) -> Found:
    """Claims against variants of themselves, by gain, likelihood, energy and length.

    Parameters
    ----------
    task : Task
        ``seed``: of the resamples.
        ``repeats``: sources of each slice, at most.
    """
    task.only("data", "embedder", "model")
    parts = [
        _supported(p)
        for p in _slices(task.declaration, task.inputs, seed=task.seed, most=task.repeats)
    ]
    embedder = open_embedder(task.inputs.embedder or "embedded", download=False)
    name = task.inputs.model or _MODEL
    model = open_model(name, download=False)
    try:
        read = [_read(part, embedder, model, task.say) for part in parts]
    finally:
        model.close()
    table = tuple(record for records, _ in read for record in records)
    rows = tuple(rows_of(table))
    protocol = Protocol.of(task.declaration.table("protocol"), seed=task.seed)
    n_scored = sum(n for _, n in read)
    return Found(
        rows=rows,
        contrasts=contrasts_of(table, rows, protocol, task.declaration),
        draws={"repeats": task.repeats, "resamples": protocol.resamples, "n_scored": n_scored},
        notes=_notes(rows),
        data=tuple(part.record() for part in parts),
        model={**model.identity, "embedder": dict(embedder.identity)},
        table=table,
        spent=Spent(requests=n_scored),
    )


def contrasts_of(
    table: Sequence[Record], rows: Sequence[Record], protocol: Protocol, declaration: Declaration
) -> dict[str, Record]:
    """The declared contrasts, from the rows of the table alone.

    A name is a measure and what the claims stand against, or two measures with ``minus`` between.
    """
    pairs = {role: pairs_of(table, role) for role in (WRONG, MADE, REWORDED)}
    made: dict[str, Record] = {}
    for name in MEASURES:
        made[f"{name}_shipped"] = shares(pairs[WRONG], name)
        made[f"{name}_made"] = pooled(pairs[MADE], name, protocol)
        made[f"{name}_control"] = pooled(pairs[REWORDED], name, protocol)
        made[f"{name}_reworded"] = pooled(_reworded_above(table, MADE), name, protocol)
        made[f"{name}_reworded_shipped"] = shares(_reworded_above(table, WRONG), name)
        for other in MEASURES:
            if name != other:
                key = f"{name}_minus_{other}"
                made[key] = difference(pairs[MADE], name, other, protocol)
    for name, role in (("gain_shipped", WRONG), ("gain_made", MADE)):
        listed = ", ".join(blind_kinds(rows, role)) or "none"
        made[name] = {**made[name], "where": f"blind: {listed}"}
    return {c.name: made.get(c.name, absent("no such contrast")) for c in declaration.contrasts}


def _reworded_above(table: Sequence[Record], role: str) -> list[tuple[Record, Record]]:
    """Harmless rewordings against contradictions: both are edited, and one of them is wrong."""
    return pairs_of(table, role, own=REWORDED)


def _slices(declaration: Declaration, inputs: Inputs, *, seed: int, most: int) -> tuple[Slice, ...]:
    """The declared slices, each cut to its declared number of sources; or the user's file."""
    if inputs.data is not None:
        return slices_of((), inputs, seed=seed, most=most)
    return tuple(
        part
        for name in declaration.slices
        for part in slices_of(
            [name], inputs, seed=seed, most=min(most, levels(declaration, name, int)[0])
        )
    )


def _supported(part: Slice) -> Slice:
    """One supported claim a source, the first.

    Raises
    ------
    NothingToMeasureError
        When there is none with evidence.
    """
    check_supported(part)
    seen: set[str] = set()
    labels = part.table.label
    kept = []
    for row, group in enumerate(part.groups):
        right = labels is not None and labels[row] == SUPPORTED and group not in seen
        kept.append(right)
        seen |= {group} if right else set()
    gone = {"another claim of the source": len(kept) - sum(kept)}
    table = part.table.take(np.array(kept, dtype=np.bool_))
    return replace(part, table=table, n_dropped={**part.n_dropped, **gone})


def _read(part: Slice, embedder: Embedder, model: Model, say: Progress) -> tuple[list[Record], int]:
    """One record a text of a slice, and how many texts the model scored."""
    made = replace(part, table=_with_controls(contrast_table(part.table, per_kind=1), part))
    say(f"embedding {part.name}")
    cache = VectorCache(cache_dir() / "vectors.sqlite")
    ready = embedded(made, embedder, cache=cache, window=embedder.max_tokens)
    say(f"scoring {part.name}")
    table = score_table(ready.table, model, cache=cache.path)
    reading = measure(table, Params(per_kind=1))
    n = 0 if table.likelihoods is None else table.likelihoods.n_scored
    return [r for row, item in enumerate(reading.per_item) for r in _records(part, row, item)], n


def _with_controls(table: EvidenceTable, part: Slice) -> EvidenceTable:
    """The table with one rewording of each claim, and the wrong claims that a set comes with."""
    shipped = {str(item["id"]): item for item in binding_items()} if part.name == BINDING else {}
    found = []
    for row, made in enumerate([] if table.contradicted is None else table.contradicted.values()):
        claim = table.claim[row] or ""
        item = shipped.get(part.groups[row])
        extra = _reworded(claim, table.passages(row)) if item is None else tuple(_came(item))
        found.append(None if made is None else Contradicted((*made.found, *extra), made.reason))
    return replace(table, contradicted=Column.of(found))


def _reworded(claim: str, passages: Sequence[str]) -> tuple[Variant, ...]:
    return paraphrases_of(claim, passages)[:1]


def _came(item: Mapping[str, Any]) -> Iterator[Variant]:
    """The wrong claim and the paraphrase of a binding item."""
    claim, edit = item["supported"], item["edit"]
    start, stop = edit["span_supported"]
    kind = f"{_SHIPPED}{item['kind']}"
    yield Variant(kind, item["wrong"], start, stop, edit["before"], edit["after"])
    said = item["control_paraphrase"]
    yield Variant(REWORDED, said, 0, len(claim), claim, said)


def _records(part: Slice, row: int, item: ItemReading) -> Iterator[Record]:
    """The claim, then every variant of it, with all measures."""
    claim = part.table.claim[row] or ""
    extra: Mapping[str, Any] = item.extra
    variants: Sequence[Any] = extra["variants"]
    n_made = sum(_role(str(v["kind"])) == MADE for v in variants)
    common: dict[str, Json] = {"data": part.name, "item": item.item, "source": part.groups[row]}
    why = None if n_made else extra["why_none"] or item.reason or "no_rule_applies"
    yield {
        **common, "role": CLAIM, "kind": None, "why_none": why, "reason": item.reason,
        **_measures(extra, claim),
    }  # fmt: skip
    for v in variants:
        kind = str(v["kind"])
        yield {
            **common, "role": _role(kind), "kind": kind.removeprefix(_SHIPPED), "why_none": None,
            "reason": v["reason"], **_measures(v, str(v["text"])),
        }  # fmt: skip


def _role(kind: str) -> str:
    if kind == REWORDED:
        return REWORDED
    return WRONG if kind.startswith(_SHIPPED) else MADE


def _measures(seen: Mapping[str, Any], text: str) -> dict[str, Json]:
    return {
        "gain": seen["gain"],
        "likelihood": seen["given"],
        "energy": seen["energy"],
        "length": float(len(text)),
    }


def _notes(rows: Sequence[Record]) -> tuple[str, ...]:
    blind = [name for role in (WRONG, MADE) for name in blind_kinds(rows, role)]
    energy = [name for role in (WRONG, MADE) for name in blind_kinds(rows, role, "energy")]
    return (
        "Contradictions and rewordings are made by rule and were not read by a person.",
        "The word lists were written with the shipped binding set in view.",
        f"Kinds whose interval covers one half, by gain: {', '.join(blind) or 'none'}.",
        f"By energy: {', '.join(energy) or 'none'}.",
    )
