"""What a sensor of claims saw, as a reading: the mean, its interval, states, contract."""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Protocol

import numpy as np

from trueness.contract import Contract, Direction, ItemReading, Reading, State
from trueness.contract.blocks import Bar, Bars, Block, Fact, Facts, Notes, Part, Statement
from trueness.contract.serial import Json, canonical
from trueness.stats.paired_means import Units
from trueness.stats.sup_t import resampled_means
from trueness.table.evidence import EvidenceTable

BINS = 10
_LINE = 200
_GROUPS = 2


class Resampled(Protocol):
    """Parameters that say how an interval is made."""

    @property
    def level(self) -> float:
        """Of the interval."""

    @property
    def replicates(self) -> int:
        """Resamples."""

    @property
    def seed(self) -> int:
        """Of the generator."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What a sensor saw of a table, before it is a reading.

    Parameters
    ----------
    contract : Contract
    items : sequence of ItemReading
        One a claim, in the order of the table.
    identity : mapping
        What a threshold depends on, key by key.
    details : mapping
        Named figures beside those that every reading of claims has.
    aside : mapping
        What these figures depend on and no threshold does: part of the fingerprint only.
    """

    contract: Contract
    items: Sequence[ItemReading]
    identity: Mapping[str, Json]
    details: Mapping[str, Json]
    aside: Mapping[str, Json] = field(default_factory=dict)


def reading_of(
    table: EvidenceTable,
    sight: Sight,
    params: Resampled,
    *,
    said: Callable[[float, int], str],
    draw: Callable[[Reading], Sequence[Block]],
) -> Reading:
    """The reading: the mean over measured claims, its interval, states, blocks.

    Parameters
    ----------
    table : EvidenceTable
    sight : Sight
    params : Resampled
    said : callable
        The finding in plain words, from the mean and the number of claims in it.
    draw : callable
        The blocks between the statement and the states, from the reading without them.
    """
    contract, items = sight.contract, sight.items
    states = Counter(i.state.value for i in items)
    reasons = Counter(i.reason for i in items if i.reason)
    values = np.array([np.nan if i.value is None else i.value for i in items])
    n = int(np.isfinite(values).sum())
    value = _mean(values) if n else None
    low, high, kind = _interval(values, table, params) if n else (None, None, None)
    state, reason = _state(items, reasons)
    text = said(value, n) if value is not None else f"No claim could be measured: {reason}."
    groups = table.group
    bare = Reading(
        sensor=contract.sensor,
        direction=contract.direction,
        state=state,
        reason=reason,
        value=value,
        low=low,
        high=high,
        interval_kind=kind,
        n_measured=n,
        n_items=len(items),
        per_item=items,
        details={
            "n_items": len(items),
            "states": dict(states),
            "reasons": {str(k): v for k, v in reasons.items()},
            "n_groups": None if groups is None else len({g for g in groups.values() if g}),
            **sight.details,
        },
        blocks=(Statement(text, "neutral" if n else "problem"),),
        fingerprint=_fingerprint(sight, params),
        versions=_versions(table),
        seed=params.seed,
        identity=dict(sight.identity),
    )
    middle = draw(bare)
    blocks = (*bare.blocks, *middle, _states(bare), *contract_notes(contract), *_said(table, sight))
    return replace(bare, blocks=blocks)


def no_claims(contract: Contract) -> Reading:
    """The reading of a table that holds answers and no claims with evidence."""
    why = "the table holds answers and no claims with evidence; use trueness ground"
    return Reading(
        sensor=contract.sensor,
        direction=contract.direction,
        state=State.NOT_APPLICABLE,
        reason=why,
        value=None,
        n_measured=0,
        n_items=0,
        blocks=(Statement(f"Nothing was measured: {why}.", "problem"), *contract_notes(contract)),
    )


def histogram(
    reading: Reading, span: tuple[float, float], *, chance: float | None = None, name: str
) -> Bars:
    """How many claims lie where on the scale, with the chance level marked."""
    values = [i.value for i in reading.per_item if i.value is not None]
    edges = np.linspace(*span, BINS + 1)
    counts, _ = np.histogram(np.clip(values, *span), edges)
    at = None if chance is None else int(np.clip(np.digitize(chance, edges) - 1, 0, BINS - 1))
    bars = tuple(
        Bar(
            f"{edges[i]:.2g} to {edges[i + 1]:.2g}",
            (Part("claims", float(c), f"{c:,}"),),
            display="◂ chance level" if i == at else "",
        )
        for i, c in enumerate(counts.tolist())
    )
    note = ""
    if chance is not None:
        note = (
            f"A random direction would lie at {chance:.3f} on average: claims there share no more "
            "with their evidence than that. Real texts on other subjects lie lower."
        )
    top = float(max(counts.max(initial=0), 1))
    title, ends = f"Claims by {name}", tuple(float(e) for e in edges)
    return Bars(title, bars, limit=top, axis="claims", note=note, edges=ends)


def contract_notes(contract: Contract) -> tuple[Block, ...]:
    """What the sensor measures, by what proxy, and what it cannot see."""
    lines = (
        f"Property: {contract.property}.",
        f"Proxy: {contract.proxy}.",
        f"Unit: {contract.unit}. Range {contract.range[0]:g} to {contract.range[1]:g}.",
        f"Needed: {contract.reference_needed}.",
        f"Status: {contract.status.value}. Source: {contract.source}.",
    )
    return (
        Notes("Blind to", contract.blind_to, "blind_spots"),
        Notes("Contract", lines, "assumptions"),
    )


def worse_first(reading: Reading) -> list[ItemReading]:
    """The measured items, those that lie worse first; equal ones in the order of the table."""
    measured = [i for i in reading.per_item if i.value is not None]
    sign = 1.0 if reading.direction is Direction.HIGHER_IS_BETTER else -1.0
    return sorted(measured, key=lambda i: sign * (i.value or 0.0))


def _interval(
    values: np.ndarray[tuple[int], np.dtype[np.float64]], table: EvidenceTable, params: Resampled
) -> tuple[float | None, float | None, str | None]:
    """Percentiles of the mean over resampled groups, or over items where not all have one."""
    units, grouped = _units(values, table)
    n = len(units.sums)
    if n < _GROUPS:
        return None, None, None
    rng = np.random.default_rng(params.seed)
    means = resampled_means(units, replicates=params.replicates, rng=rng)[:, 0]
    tail = (1.0 - params.level) / 2.0
    low, high = (float(q) for q in np.quantile(means, (tail, 1.0 - tail)))
    value = _mean(values)
    what = "groups" if grouped else "items"
    kind = f"{100 * params.level:g}% bootstrap over {n:,} {what}, {params.replicates:,}"
    return min(low, value), max(high, value), f"{kind} resamples"


def _units(
    values: np.ndarray[tuple[int], np.dtype[np.float64]], table: EvidenceTable
) -> tuple[Units, bool]:
    """What is resampled as one, in an order of names: groups where every measured item has one."""
    known = np.flatnonzero(np.isfinite(values)).tolist()
    groups = table.group
    grouped = groups is not None and all(groups[row] is not None for row in known)
    names = groups if grouped and groups is not None else table.item
    members: dict[str, list[float]] = {}
    for row in known:
        members.setdefault(names[row] or "", []).append(float(values[row]))
    ordered = [members[name] for name in sorted(members)]
    sums = np.array([math.fsum(m) for m in ordered])
    counts = np.array([float(len(m)) for m in ordered])
    return Units(sums[:, None], counts[:, None]), grouped


def _mean(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """The mean of what is known, exact enough not to depend on the order."""
    known = values[np.isfinite(values)]
    return math.fsum(known.tolist()) / len(known)


def _state(items: Sequence[ItemReading], reasons: Counter[str]) -> tuple[State, str | None]:
    """The state of the whole: measured when an item is, else the commonest with all reasons."""
    if any(i.state is State.MEASURED for i in items):
        return State.MEASURED, None
    commonest = Counter(i.state for i in items).most_common(1)[0][0]
    return commonest, ", ".join(f"{n:,} {why}" for why, n in reasons.most_common(5))


def _fingerprint(sight: Sight, params: Resampled) -> str:
    parts: dict[str, Json] = {
        "sensor": sight.contract.sensor,
        "direction": sight.contract.direction.value,
        "identity": dict(sight.identity),
        "interval": [params.level, params.replicates, params.seed],
    }
    if sight.aside:
        parts["aside"] = dict(sight.aside)
    return hashlib.sha256(canonical(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _versions(table: EvidenceTable) -> dict[str, str]:
    found = {"numpy": np.__version__, "scipy": version("scipy")}
    found |= dict(table.vectors.versions if table.vectors is not None else {})
    found |= dict(table.judged.versions if table.judged is not None else {})
    return found | dict(table.likelihoods.versions if table.likelihoods is not None else {})


def _states(reading: Reading) -> Facts:
    n = reading.n_items
    counts = Counter((i.state.value, (i.reason or "").partition(":")[0]) for i in reading.per_item)
    return Facts(
        "States",
        tuple(
            Fact(f"{state} {reason}".strip(), f"{count:,}", f"of {n:,} claims")
            for (state, reason), count in counts.most_common()
        ),
    )


def _said(table: EvidenceTable, sight: Sight) -> tuple[Block, ...]:
    lines = tuple(f"{key}: {value}"[:_LINE] for key, value in _flat(sight.identity))
    notes = (*table.notes, *(table.vectors.notes if table.vectors is not None else ()))
    out: tuple[Block, ...] = (Notes("Notes", notes, "notes"),) if notes else ()
    return (*out, Notes("Protocol", lines, "protocol"))


def _flat(found: Mapping[str, Json], lead: str = "") -> list[tuple[str, str]]:
    out: list[tuple[str, str]] = []
    for key, value in found.items():
        if isinstance(value, Mapping):
            out += _flat(value, f"{lead}{key}.")
        else:
            out.append((f"{lead}{key}", canonical(value)))
    return out
