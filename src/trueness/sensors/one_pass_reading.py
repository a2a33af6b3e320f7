"""What one pass showed of a table's answers, as a reading: mean, interval, states, contract."""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.contract import Contract, ItemReading, Reading, State
from trueness.contract.blocks import Bar, Bars, Fact, Facts, Part, Statement
from trueness.contract.errors import InputError
from trueness.contract.serial import Json, canonical
from trueness.sensors.claim_reading import contract_notes
from trueness.sensors.claims import check_interval
from trueness.stats.paired_means import Units
from trueness.stats.sup_t import resampled_means
from trueness.table import AnswerTable

VERSION = 1
"""Of these sensors: a threshold that was made with another one does not carry over."""
_BINS = 10

Floats: TypeAlias = NDArray[np.float64]
Seen: TypeAlias = list[tuple[State, str | None, float | None]]
"""State, reason and value of every item."""


@dataclass(frozen=True, slots=True)
class Params:
    """Which answers, and how the interval of the mean is made.

    Parameters
    ----------
    only : str or None
        The condition, where a table holds several.
    level, replicates, seed :
        Of the bootstrap over items, or over groups where every item has one.

    Raises
    ------
    InputError
        When a field is out of its range.
    """

    only: str | None = None
    level: float = 0.95
    replicates: int = 2_000
    seed: int = 0

    def __post_init__(self) -> None:
        check_interval(self.level, self.replicates, self.seed)


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Rows of each item of one condition.

    Parameters
    ----------
    table : AnswerTable
    names : tuple of str
        In the order in which they come.
    rows : tuple of (n_draws,) int
    """

    table: AnswerTable
    names: tuple[str, ...]
    rows: tuple[NDArray[np.intp], ...]

    @classmethod
    def of(cls, table: AnswerTable) -> "Items":
        """The items of a table of one condition."""
        codes = table.item.codes
        first = {c: i for i, c in reversed(list(enumerate(codes.tolist())))}
        order = sorted(first, key=first.__getitem__)
        names = tuple(str(table.item.words[c]) for c in order)
        return cls(table, names, tuple(np.flatnonzero(codes == c) for c in order))

    def source(self, item: int) -> str:
        """The group of an item, where there is one, else its own name."""
        group = self.table.group
        found = None if group is None else group[int(self.rows[item][0])]
        return self.names[item] if found is None else found

    @property
    def grouped(self) -> bool:
        """Whether every item has a group."""
        group = self.table.group
        return group is not None and all(group[int(r[0])] is not None for r in self.rows)


def measure_items(
    table: AnswerTable,
    params: Params | None,
    *,
    contract: Contract,
    look: Callable[[Items], Seen | str],
    says: str = "how sure one pass was, not whether it was right",
) -> Reading:
    """The reading: the mean over measured items, its interval, states, blocks.

    Parameters
    ----------
    table : AnswerTable
        Of one condition, or the parameters name one.
    params : Params or None
    contract : Contract
    look : callable
        What is seen of every item, or why nothing can be.
    says : str
        What the number tells and what not, in a few words.

    Raises
    ------
    InputError
        For several conditions of which none is named.
    """
    params = params or Params()
    items = Items.of(_of_condition(table, params.only))
    found = look(items)
    if isinstance(found, str):
        found = [(State.NOT_APPLICABLE, found, None)] * len(items.names)
    entries = tuple(
        ItemReading(name, state, reason, value)
        for name, (state, reason, value) in zip(items.names, found, strict=True)
    )
    values = np.array([np.nan if e.value is None else e.value for e in entries])
    n = int(np.isfinite(values).sum())
    state, reason = _state(entries)
    value = math.fsum(values[np.isfinite(values)].tolist()) / n if n else None
    low, high, kind = _interval(values, items, params)
    identity = _identity(items.table)
    text = (
        f"{contract.sensor} is {value:.4g} on average ({n:,} items): {contract.unit}. "
        f"It says {says}."
        if value is not None
        else f"Nothing was measured: {reason}."
    )
    middle = () if value is None else (_histogram(values, contract),)
    return Reading(
        sensor=contract.sensor,
        direction=contract.direction,
        state=state,
        reason=reason,
        value=value,
        low=low,
        high=high,
        interval_kind=kind,
        n_measured=n,
        n_items=len(entries),
        per_item=entries,
        details={"n_items": len(entries), "n_measured": n, "status": contract.status.value},
        blocks=(
            Statement(text, "neutral" if n else "problem"),
            *middle,
            _states(entries),
            *contract_notes(contract),
        ),
        fingerprint=_fingerprint(contract, identity, params),
        versions={"numpy": np.__version__, "scipy": version("scipy")},
        seed=params.seed,
        identity=identity,
    )


def _of_condition(table: AnswerTable, condition: str | None) -> AnswerTable:
    if condition is not None:
        return table.only(condition)
    if len(table.conditions) > 1:
        msg = (
            f"the table holds {len(table.conditions)} conditions "
            f"({', '.join(map(repr, table.conditions))}); one pass belongs to one of them. "
            "Name it: only=…"
        )
        raise InputError(msg)
    return table


def _state(entries: Sequence[ItemReading]) -> tuple[State, str | None]:
    """Measured when an item is, else the state that most items have, with its reason."""
    if any(e.state is State.MEASURED for e in entries):
        return State.MEASURED, None
    kinds = [(e.state, e.reason) for e in entries]
    state, reason = max(dict.fromkeys(kinds), key=kinds.count)
    return state, reason


def _interval(
    values: Floats, items: Items, params: Params
) -> tuple[float | None, float | None, str | None]:
    """Percentiles of the mean over resampled groups, or over items where not all have one."""
    known = np.flatnonzero(np.isfinite(values))
    sources = [items.source(int(i)) if items.grouped else items.names[int(i)] for i in known]
    members: dict[str, list[float]] = {}
    for source, value in zip(sources, values[known].tolist(), strict=True):
        members.setdefault(source, []).append(value)
    if len(members) < 2:  # noqa: PLR2004 - one unit has no spread
        return None, None, None
    ordered = [members[name] for name in sorted(members)]  # no order of rows moves a bit
    sums = np.array([math.fsum(m) for m in ordered])
    units = Units(sums[:, np.newaxis], np.array([[float(len(m))] for m in ordered]))
    rng = np.random.default_rng(params.seed)
    means = resampled_means(units, replicates=params.replicates, rng=rng)[:, 0]
    tail = (1 - params.level) / 2
    low, high = np.quantile(means, [tail, 1 - tail]).tolist()
    value = math.fsum(values[known].tolist()) / len(known)
    what = "groups" if items.grouped else "items"
    kind = f"{100 * params.level:g}% bootstrap over {len(ordered):,} {what}"
    return min(low, value), max(high, value), kind


def _identity(table: AnswerTable) -> dict[str, Json]:
    used = set(table.conditions)
    fingerprints = sorted(p.fingerprint for name, p in table.protocols.items() if name in used)
    return {"version": VERSION, "protocols": list[Json](fingerprints)}


def _fingerprint(contract: Contract, identity: dict[str, Json], params: Params) -> str:
    parts: dict[str, Json] = {
        "sensor": contract.sensor,
        "direction": contract.direction.value,
        "identity": identity,
        "interval": [params.level, params.replicates, params.seed],
    }
    return hashlib.sha256(canonical(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _histogram(values: Floats, contract: Contract) -> Bars:
    known = values[np.isfinite(values)]
    top = max(float(known.max()), contract.range[0] + 1e-9)
    counts, edges = np.histogram(known, _BINS, (contract.range[0], min(contract.range[1], top)))
    bars = tuple(
        Bar(f"{edges[i]:.2g} to {edges[i + 1]:.2g}", (Part("items", float(c), f"{c:,}"),))
        for i, c in enumerate(counts.tolist())
    )
    return Bars(f"Items by {contract.sensor}", bars, limit=float(counts.max()), axis="items")


def _states(entries: Sequence[ItemReading]) -> Facts:
    kinds = [f"{e.state.value}{f': {e.reason}' if e.reason else ''}" for e in entries]
    return Facts(
        "States",
        tuple(
            Fact(kind, f"{kinds.count(kind):,}", f"of {len(kinds):,} items")
            for kind in dict.fromkeys(kinds)
        ),
    )
