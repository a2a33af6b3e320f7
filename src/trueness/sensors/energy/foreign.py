"""The chance level that a table itself shows: claims against other sources' evidence."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.contract.serial import Json
from trueness.sensors.energy.params import Params
from trueness.stats.span_columns import measure_columns
from trueness.stats.span_item import SpanItem
from trueness.stats.span_rules import SpanRules
from trueness.stats.span_variants import Variant
from trueness.table.evidence import EvidenceTable

FEWEST = 4
"""Fewer foreign sources than these give no level."""
TOO_FEW = "too_few_foreign"
_SETS = 256
"""Sets of evidence that are held as one array."""
_STEPS = 8
"""So many candidates are looked at for each source that is wanted."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """The mean energy of one claim against ``m`` other sources' evidence, or why there is none."""

    mean: float | None
    m: int = 0
    reason: str | None = None

    def to_dict(self) -> dict[str, Json]:
        """Plain JSON."""
        return {"mean": self.mean, "m": self.m, "reason": self.reason}


def foreign_levels(
    table: EvidenceTable,
    ready: Mapping[int, SpanItem],
    rules: SpanRules,
    params: Params,
    *,
    look: Callable[[SpanItem, SpanRules], Variant] | None = None,
) -> dict[int, Foreign]:
    """The level of every claim that can be measured, by row; of those drawn, in a large table.

    A claim is measured against the evidence of other sources that has as many distinct passages
    and shares none with its own. Which ones is drawn by the seed and the names of the items, so
    that the order of the rows changes nothing.

    Parameters
    ----------
    table : EvidenceTable
    ready : mapping of int to SpanItem
        By row: what can be measured.
    rules : SpanRules
    params : Params
        ``foreign`` sources a claim, for at most ``foreign_claims`` claims.
    look : callable, optional
        Another measure than the energy of the span, one claim at a time.
    """
    if not params.foreign:
        return {}
    drawn = _drawn(table, list(ready), params.seed)
    found: dict[int, Foreign] = {}
    pairs = _pairs(table, drawn, params)
    if look is None:
        sums = _energies(ready, pairs, rules, table)
    else:
        sums = _looked(ready, pairs, rules, look)
    for row in drawn[: params.foreign_claims]:
        values = sums.get(row, [])
        if len(values) < min(FEWEST, params.foreign):
            found[row] = Foreign(None, len(values), TOO_FEW)
        else:
            found[row] = Foreign(float(np.mean(np.sort(values))), len(values))
    return found


def summary(table: EvidenceTable, levels: Mapping[int, Foreign], params: Params) -> dict[str, Json]:
    """The mean over the claims that have a level, what it rests on, and each by item.

    It stands beside the items and not among their fields: it depends on the other items.
    """
    means = sorted(f.mean for f in levels.values() if f.mean is not None)
    return {
        "mean": float(np.mean(means)) if means else None,
        "n_claims": len(means),
        "m": params.foreign,
        "seed": params.seed,
        "per_item": {table.item[row] or "": levels[row].to_dict() for row in sorted(levels)},
    }


def _drawn(table: EvidenceTable, rows: Sequence[int], seed: int) -> list[int]:
    """Rows in an order that the seed and their names decide."""

    def key(row: int) -> bytes:
        name = f"{seed}:{table.item[row]}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(name).digest()

    return sorted(rows, key=key)


def _pairs(table: EvidenceTable, drawn: Sequence[int], params: Params) -> dict[int, list[int]]:
    """By row of evidence: the rows of claims that are measured against it."""
    asked = set(drawn[: params.foreign_claims])
    by_size: dict[int, list[int]] = {}
    for row in drawn:
        by_size.setdefault(len(_distinct(table, row)), []).append(row)
    out: dict[int, list[int]] = {}
    for alike in by_size.values():
        for place, row in enumerate(alike):
            if row in asked:
                for other in _others(table, alike, place, params.foreign):
                    out.setdefault(other, []).append(row)
    return out


def _others(table: EvidenceTable, alike: Sequence[int], place: int, wanted: int) -> Iterator[int]:
    """Rows after a place, round about, that are foreign to it: one a source."""
    row, sources = alike[place], set()
    own = _source(table, row)
    for step in range(1, min(len(alike), 1 + _STEPS * wanted)):
        other = alike[(place + step) % len(alike)]
        source = _source(table, other)
        if source == own or source in sources or _shared(table, row, other):
            continue
        sources.add(source)
        yield other
        if len(sources) == wanted:
            return


def _energies(
    ready: Mapping[int, SpanItem],
    pairs: Mapping[int, Sequence[int]],
    rules: SpanRules,
    table: EvidenceTable,
) -> dict[int, list[float]]:
    """By row of claims: energies against every set of evidence that was drawn for it."""
    found: dict[int, list[float]] = {}
    for others in _alike(table, pairs):
        evidence = np.array([_rows(ready[o], _distinct(table, o)) for o in others])
        claims = np.array([[ready[row].claim for row in pairs[o]] for o in others])
        energy = measure_columns(claims, evidence, rules=rules).energy
        for other, values in zip(others, energy.tolist(), strict=True):
            for row, value in zip(pairs[other], values, strict=True):
                if np.isfinite(value):
                    found.setdefault(row, []).append(value)
    return found


def _looked(
    ready: Mapping[int, SpanItem],
    pairs: Mapping[int, Sequence[int]],
    rules: SpanRules,
    look: Callable[[SpanItem, SpanRules], Variant],
) -> dict[int, list[float]]:
    """The same by another measure, pair by pair."""
    found: dict[int, list[float]] = {}
    for other, rows in pairs.items():
        evidence = ready[other]
        for row in rows:
            value = look(SpanItem(ready[row].claim, evidence.evidence, evidence.texts), rules).value
            if value is not None:
                found.setdefault(row, []).append(value)
    return found


def _alike(table: EvidenceTable, pairs: Mapping[int, Sequence[int]]) -> Iterator[list[int]]:
    """Rows of evidence with equally many passages and claims, a part at a time."""
    shapes: dict[tuple[int, int], list[int]] = {}
    for other, rows in pairs.items():
        shapes.setdefault((len(_distinct(table, other)), len(rows)), []).append(other)
    for others in shapes.values():
        for start in range(0, len(others), _SETS):
            yield others[start : start + _SETS]


def _distinct(table: EvidenceTable, row: int) -> tuple[int, ...]:
    """Places of the distinct passages of a row that are not blank."""
    first: dict[str, int] = {}
    for place, text in enumerate(table.passages(row)):
        if text.strip():
            first.setdefault(text, place)
    return tuple(first.values())


def _rows(item: SpanItem, places: Sequence[int]) -> NDArray[np.float64]:
    rows: NDArray[np.float64] = np.asarray(item.evidence, np.float64)[list(places)]
    return rows


def _source(table: EvidenceTable, row: int) -> tuple[str, str]:
    """The source of a row; the row itself where none is named."""
    named = None if table.group is None else table.group[row]
    return ("item", table.item[row] or "") if named is None else ("group", named)


def _shared(table: EvidenceTable, row: int, other: int) -> bool:
    """Whether two rows have a passage in common."""
    return not set(table.passages(row)).isdisjoint(table.passages(other))
