"""How much the rank at which a span is cut matters, and the size of its passages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trueness.sensors.energy.params import Params
from trueness.study.assessed import auroc, difference
from trueness.study.claim_features import BUNDLE, ENERGY, claim_features
from trueness.study.controls import Control, Numbers, scored
from trueness.study.embedded_inputs import vectors_of
from trueness.study.populations import (
    LABELLED,
    NEAREST,
    Bench,
    Population,
    against,
    foreign_evidence,
    populations_of,
    supported,
)
from trueness.study.protocol import Floats, Protocol, Scored, fitted
from trueness.study.segments import SIZES, segmented
from trueness.study.slices import PUBMEDQA, Slice, slices_of

if TYPE_CHECKING:
    from trueness.study.negatives import Negatives
    from trueness.study.results import Record

FULL, SENTENCE = "full", "sentence"
_SCALAR, _BUNDLE = "energy", "bundle"


@dataclass(frozen=True, slots=True)
class _Rule:
    """A name, and the parameters of the energy that it stands for."""

    name: str
    params: Params
    cap: int | None = None


def _rules(bench: Bench) -> tuple[_Rule, ...]:
    declared = {entry["name"]: entry["values"] for entry in bench.task.declaration.raw["levels"]}
    caps = [_Rule(f"cap_{c}", Params(rank="cap", cap=c), c) for c in declared["cap"]]
    shares = [
        _Rule(f"variance_{round(100 * q)}", Params(rank="variance", q=q))
        for q in declared["variance"]
    ]
    return (*caps, *shares)


def _scores(bench: Bench) -> Sequence[Scored]:
    """Ranks of the scores: an AUROC is exact in them, and they are short."""
    columns: dict[str, dict[str, Floats]] = {}
    first: dict[str, Population] = {}
    for size, population in _segmented(bench):
        bench.task.say(f"ranks of {population.name}, passages: {size}")
        first.setdefault(population.name, population)
        columns.setdefault(population.name, {}).update(_cells(size, population, bench))
    return [scored(first[name], found) for name, found in columns.items()]


def _cells(size: str, population: Population, bench: Bench) -> Iterator[tuple[str, Floats]]:
    """Columns of one segmentation: passages, full rank, and every rule that cuts anything."""
    part = scored(population, {})

    def bundle(columns: Mapping[str, Floats]) -> Floats:
        several = [columns[name] for name in BUNDLE]
        return fitted(several, part.unsupported, part.groups, bench.protocol)

    known = claim_features(population.table, influence=False).columns
    yield f"{size}_n", known["n"]
    yield f"{_SCALAR}_{size}_{FULL}", ranked(known[ENERGY])
    yield f"{_BUNDLE}_{size}_{FULL}", ranked(bundle(known))
    for rule in _rules(bench):
        if rule.cap is not None and not (known["n"] > rule.cap).any():
            continue
        cut = claim_features(population.table, rule.params, influence=False).columns
        within = ~(known["n"] > (cut["r"] if rule.cap is None else rule.cap))
        energy = np.where(within, np.nan, cut[ENERGY])
        if np.isfinite(energy).any():
            yield f"{_SCALAR}_{size}_{rule.name}", ranked(energy)
            if size == SENTENCE and rule.cap is not None:
                score = np.where(within, np.nan, bundle(cut))
                yield f"{_BUNDLE}_{size}_{rule.name}", ranked(score)


def _segmented(bench: Bench) -> Iterator[tuple[str, Population]]:
    """Both populations in passages of every size that differs from the sizes before."""
    names = bench.task.declaration.slices
    for part in slices_of(
        names, bench.task.inputs, seed=bench.protocol.seed, most=bench.task.repeats
    ):
        seen: list[Any] = []
        negatives: Negatives | None = None
        for size, n in SIZES.items():
            cut = segmented(part, n)
            passages = [cut.table.passages(row) for row in range(len(cut.table))]
            if passages in seen:
                continue
            seen.append(passages)
            ready = vectors_of(cut, bench.embedder, None)
            if part.name == PUBMEDQA:
                own = supported(ready)
                negatives = negatives or foreign_evidence(
                    supported(vectors_of(part, bench.embedder, None)),
                    nearest=True,
                    seed=bench.protocol.seed,
                )
                yield size, against(own, negatives, NEAREST, part.name)
            else:
                yield from ((size, p) for p in _others(ready, bench))


def _others(ready: Slice, bench: Bench) -> list[Population]:
    found = populations_of(ready, seed=bench.protocol.seed, absent={})
    return [p for p in found if p.name in (LABELLED, NEAREST)]


def ranked(column: Floats) -> Floats:
    """(n,) Dense ranks from 0, ties alike; nan stays.

    >>> ranked(np.array([0.5, np.nan, 0.1, 0.5])).tolist()
    [1.0, nan, 0.0, 1.0]
    """
    out = np.full(len(column), np.nan)
    there = np.isfinite(column)
    out[there] = np.unique(column[there], return_inverse=True)[1]
    return out


def _read(parts: Mapping[str, Scored], protocol: Protocol) -> Numbers:
    rows: list[Record] = []
    contrasts: dict[str, Record] = {}
    for name, part in parts.items():
        for column in part.columns:
            kind, _, rest = column.partition("_")
            size, _, rule = rest.partition("_")
            if kind not in (_SCALAR, _BUNDLE):
                continue
            record = _cell(part, (kind, size, rule), protocol)
            rows.append({"name": f"{name}_{column}", "population": name, **record})
            if rule != FULL and size == SENTENCE:
                short = f"{name}_{rule}" if kind == _SCALAR else f"{name}_{kind}_{rule}"
                contrasts[short] = record
            elif rule == FULL and kind == _SCALAR and size != SENTENCE:
                contrasts[f"{name}_{size}"] = record
    return Numbers(rows, contrasts, _SAID)


_SAID = (
    "The table holds dense ranks of the scores, from which every AUROC here follows exactly.",
    "A rule is compared with full rank on the claims with more passages than directions kept.",
)


def _cell(part: Scored, cell: tuple[str, str, str], protocol: Protocol) -> "Record":
    """A rule against full rank where it cuts; a size of passages against sentences."""
    kind, size, rule = cell
    column = f"{kind}_{size}_{rule}"
    other = f"{kind}_{SENTENCE if rule == FULL else size}_{FULL}"
    n = part.columns[f"{size}_n"]
    rows = np.isfinite(n)
    if rule.startswith("cap_"):
        rows &= n > int(rule.removeprefix("cap_"))
    elif rule != FULL:
        rows &= np.isfinite(part.columns[column])
    there = part.take(rows)
    both = np.isfinite(there.columns[column]) & np.isfinite(there.columns[other])
    wrong = there.unsupported[both]
    two = bool(wrong.any()) and not wrong.all()
    return {
        "measure": kind,
        "passages": size,
        "rule": rule,
        "share_not_cut": float(1 - rows.mean()),
        "auroc": auroc(there.columns[column][both], wrong) if two else None,
        "auroc_compared": auroc(there.columns[other][both], wrong) if two else None,
        **difference(there, column, other, protocol),
    }


C6 = Control(_scores, _read)
