"""C9: the same passages several times, in other words, and in another order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from trueness.backends.embedder import Embedder
from trueness.contract.serial import Json
from trueness.contract.states import State
from trueness.sensors.claims import vectors_of as sidecar_of
from trueness.sensors.energy.params import Params
from trueness.stats.span import Span, measure_spans
from trueness.stats.span_item import SpanItem
from trueness.stats.span_rules import SpanRules
from trueness.study.assessed import absent
from trueness.study.claim_features import column_of
from trueness.study.crossed import Crossed, Floats
from trueness.study.declarations import Declaration
from trueness.study.embedded_inputs import levels, ready, vectors_of
from trueness.study.found import Found
from trueness.study.measurable import check_supported
from trueness.study.results import Record
from trueness.study.slices import SUPPORTED, Slice
from trueness.study.task import Progress, Task
from trueness.table.evidence_reading import read_evidence

FRAMES = (
    "According to the source, {}",
    "It is reported that {}",
    "The text says: {}",
    "As the document puts it, {}",
    "In other words, {}",
    "One reads there that {}",
    "To repeat it: {}",
)
"""What a passage is put into so that it says the same in other words."""
FULL = "full"
EXACT, REWORDED, ORDERS = "exact", "reworded", "orders"
_DIGITS = 12
KEPT, MERGED = "none", "both"
"""Whether equal passages are left as they are or counted as one."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the declaration fixes."""

    times: tuple[int, ...]
    caps: tuple[int, ...]
    orders: int
    tolerance: float

    @classmethod
    def of(cls, declaration: Declaration) -> "Settings":
        """As declared."""
        return cls(
            times=levels(declaration, "times", int),
            caps=levels(declaration, "cap", int),
            orders=levels(declaration, "orders", int)[0],
            tolerance=levels(declaration, "tolerance", float)[0],
        )

    def rules(self) -> dict[str, dict[str, Any]]:
        """Rank rules by name."""
        return {
            FULL: {"rank": FULL},
            **{f"cap{cap}": {"rank": "cap", "cap": cap} for cap in self.caps},
        }


def run(task: Task) -> Found:
    """How far copies, rewordings and orders of passages move the energy.

    Parameters
    ----------
    task : Task
        ``seed``: of the passage that is copied and of the orders.
        ``repeats``: groups of each slice.
    """
    settings = Settings.of(task.declaration)
    found = ready(task)
    table: list[Record] = []
    for part in found.slices:
        moved = _Moved.of(part, found.embedder, task.seed, task.progress)
        table += [{"data": part.name, "item": list(moved.crossed.items)}]
        table += moved.records(settings)
    rows = tuple(rows_of(table))
    return Found(
        rows=rows,
        contrasts=contrasts_of(rows),
        draws={
            "repeats": task.repeats,
            "orders": settings.orders,
            "tolerance": settings.tolerance,
            "frames": len(FRAMES),
        },
        data=found.data(),
        model=found.model(),
        table=tuple(table),
    )


def rows_of(table: Sequence[Mapping[str, Any]]) -> Iterator[Record]:
    """One row for each slice, change, rule and treatment of equal passages.

    Parameters
    ----------
    table : sequence of mapping
        As a run leaves them.
    """
    for record in table:
        if "drift" not in record:
            continue
        drift = column_of(record["drift"])
        there = drift[~np.isnan(drift)]
        n, unstable = record["n"], record["unstable"]
        keys = ("data", "change", "rule", "dedup", "times")
        yield {
            "name": "_".join(str(record[k]) for k in keys if record[k] is not None),
            **{k: record[k] for k in keys},
            "n": n,
            "n_measured_twice": len(there),
            "largest": float(np.abs(there).max()) if len(there) else None,
            "mean": float(there.mean()) if len(there) else None,
            "unstable": unstable / n if n else None,
            "turned_state": record["turned_state"],
        }


def contrasts_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Record]:
    """The largest drift of exact copies and of orders under the shipped rule, and the rest."""

    def worst(field: str, **wanted: str) -> Record:
        found = [r for r in rows if all(r[k] == v for k, v in wanted.items())]
        known = [r for r in found if r[field] is not None]
        if not known:
            return absent("this data has none")
        top = max(known, key=lambda r: abs(r[field]))
        return {
            "estimate": top[field],
            "n": sum(int(r["n_measured_twice"]) for r in known),
            "where": top["name"],
            "state": State.MEASURED.value,
        }

    return {
        "copies_merged": worst("largest", change=EXACT, rule=FULL, dedup=MERGED),
        "copies_kept": worst("largest", change=EXACT, rule=FULL, dedup=KEPT),
        "orders": worst("largest", change=ORDERS, rule=FULL, dedup=KEPT),
        "reworded": worst("mean", change=REWORDED, rule=FULL, dedup=MERGED),
        "unstable_under_a_cap": _capped(rows),
    }


def _capped(rows: Sequence[Mapping[str, Any]]) -> Record:
    """The largest share of claims whose energy a cap leaves to chance, with exact copies."""
    found = [r for r in rows if r["rule"] != FULL and r["unstable"] is not None]
    if not found:
        return absent("no cap is declared")
    top = max(found, key=lambda r: float(r["unstable"]))
    return {
        "estimate": top["unstable"],
        "n": top["n"],
        "where": top["name"],
        "state": State.MEASURED.value,
    }


@dataclass(frozen=True, slots=True)
class _Moved:
    """Claims of a slice with their passages as vectors, and the same passages reworded."""

    part: Slice
    crossed: Crossed
    reworded: Mapping[str, Floats]
    seed: int

    @classmethod
    def of(cls, part: Slice, embedder: Embedder, seed: int, progress: Progress | None) -> "_Moved":
        """With the rewordings of one passage a claim embedded; a made world has none."""
        parts = part.table.extras.get("part")
        right = ~part.unsupported
        if parts is not None:
            right &= np.array([word == SUPPORTED for word in parts.values()], np.bool_)
        check_supported(part)
        crossed = Crossed.of(part.table, right)
        reworded: dict[str, Floats] = {}
        if part.embedder is None:
            texts = [crossed.texts(place)[0] for place in range(len(crossed))]
            rows: list[Mapping[str, Json]] = [
                {"item": str(i), "claim": text, "evidence": [_framed(f, text) for f in FRAMES]}
                for i, text in enumerate(dict.fromkeys(texts))
            ]
            other = Slice(f"{part.name}, reworded", read_evidence(rows), "", "", {})
            known = vectors_of(other, embedder, progress).table
            for row in range(len(known)):
                framed = known.passages(row)
                sidecar = sidecar_of(known)
                if len(framed) == len(FRAMES) and not sidecar.evidence.faults(framed):
                    reworded[str(known.claim[row])] = sidecar.evidence.rows(framed)
        return cls(part, crossed, reworded, seed)

    def records(self, settings: Settings) -> Iterator[Record]:
        """A record for every change, rule and treatment of equal passages."""
        for name, given in settings.rules().items():
            for dedup in (KEPT, MERGED):
                rules = _rules(given, dedup, sidecar_of(self.part.table).noise)
                before = self._measured(rules, None, 1)
                head = {"data": self.part.name, "rule": name, "dedup": dedup}
                for times in settings.times:
                    for change in (EXACT, REWORDED):
                        after = self._measured(rules, change, times)
                        if after:
                            entry = self._compared(before, [after])
                            yield {**head, "change": change, "times": times, **entry}
                if dedup == KEPT:
                    orders = [
                        self._measured(rules, ORDERS, number) for number in range(settings.orders)
                    ]
                    entry = self._compared(before, orders)
                    yield {**head, "change": ORDERS, "times": None, **entry}

    def _compared(
        self, before: Mapping[int, Span], after: Sequence[Mapping[int, Span]]
    ) -> dict[str, Json]:
        """The largest drift of every claim over some changes, and what became unstable."""
        places = [p for p in before if all(p in other for other in after)]
        drifts: list[Json] = [None] * len(before)
        for place in places:
            one = before[place].energy
            others = [found[place].energy for found in after]
            moved = [b - one for b in others if one is not None and b is not None]
            drifts[place] = _largest(moved)
        return {
            "n": len(places),
            "drift": drifts,
            "unstable": sum(any(f[p].state is State.UNSTABLE for f in after) for p in places),
            "turned_state": sum(
                any(f[p].state is not before[p].state for f in after) for p in places
            ),
        }

    def _measured(self, rules: SpanRules, change: str | None, times: int) -> dict[int, Span]:
        """The claims that a change applies to, measured after it."""
        claims = self.crossed.claims()
        items: dict[int, SpanItem] = {}
        for place in range(len(self.crossed)):
            texts = self.crossed.texts(place)
            known = sidecar_of(self.part.table).evidence.rows(texts)
            made = self._changed(place, texts, known, change, times)
            if made is not None:
                items[place] = SpanItem(claims[place], made[0], made[1])
        spans = measure_spans(list(items.values()), rules=rules, influence=False)
        return dict(zip(items, spans, strict=True))

    def _changed(
        self,
        place: int,
        texts: tuple[str, ...],
        rows: Floats,
        change: str | None,
        times: int,
    ) -> tuple[Floats, list[str]] | None:
        """Passages after a change; None where it changes nothing."""
        if change == ORDERS:
            order = np.random.default_rng([self.seed, place, times]).permutation(len(texts))
            return (rows[order], [texts[i] for i in order]) if len(texts) > 1 else None
        if change == EXACT:
            more = np.repeat(rows[:1], times - 1, axis=0)
            return np.concatenate([rows, more]), [*texts, *[texts[0]] * (times - 1)]
        if change == REWORDED:
            framed = self.reworded.get(texts[0])
            if framed is None:
                return None
            said = [_framed(frame, texts[0]) for frame in FRAMES[: times - 1]]
            return np.concatenate([rows, framed[: times - 1]]), [*texts, *said]
        return rows, list(texts)


def _largest(moved: Sequence[float]) -> float | None:
    """The drift farthest from 0, with the digits that are kept."""
    found = max(moved, key=lambda drift: abs(drift), default=None)  # noqa: PLW0108 - a type that abs alone lacks
    return None if found is None else round(found, _DIGITS)


def _framed(frame: str, text: str) -> str:
    return frame.format(text)


def _rules(given: Mapping[str, Any], dedup: str, noise: float) -> SpanRules:
    kind: Literal["none", "both"] = "none" if dedup == KEPT else "both"
    return replace(Params(**given).rules(noise), dedup=kind)
