"""C13: wrong claims in the words of their evidence, kind by kind, and what a gate lets through."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from trueness.backends.cross_encoder import CrossEncoder
from trueness.contract.serial import Json, dumps
from trueness.contract.states import State
from trueness.stats.acceptance import reaches
from trueness.stats.multiplicity import holm
from trueness.stats.operating_points import paired_accuracy
from trueness.stats.rates import Rate, rate
from trueness.study.accepting import Threshold, threshold
from trueness.study.assessed import above_half, absent
from trueness.study.binding_items import made_binding_items
from trueness.study.binding_risks import ENTAILMENT, MEASURES, NEAREST, RANDOM, measured
from trueness.study.claim_features import ENERGY, column_of
from trueness.study.crossed import Floats
from trueness.study.declarations import Declaration
from trueness.study.embedded_inputs import levels, ready
from trueness.study.found import Found
from trueness.study.protocol import Protocol, scored_of
from trueness.study.results import Record
from trueness.study.slices import SUPPORTED, Slice, binding_items, binding_rows
from trueness.study.task import Task
from trueness.study.worlds import NEIGHBOUR, NOVEL
from trueness.table.evidence_reading import read_evidence

MADE = "binding_made"
"""Name of the slice of items that were made by seed."""
_OTHER_CONTENT = frozenset({NOVEL, NEIGHBOUR})
"""Kinds of the made world that are no binding errors: they bring in something else."""
_NO_ENTAILER = (
    "Entailment was not run: no weights of an entailment model come along; name a cross-encoder "
    "with --model."
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the declaration fixes."""

    budget: float
    level: float
    per_kind: int
    protocol: Protocol

    @classmethod
    def of(cls, declaration: Declaration, seed: int) -> "Settings":
        """As declared."""
        return cls(
            budget=levels(declaration, "budget", float)[0],
            level=levels(declaration, "level", float)[0],
            per_kind=levels(declaration, "per_kind", int)[0],
            protocol=Protocol(seed=seed),
        )


def run(task: Task) -> Found:
    """Pairs of a right and a wrong claim by kind, and the share of wrong ones that is accepted.

    Parameters
    ----------
    task : Task
        ``seed``: of made items, foreign evidence and resamples.
        ``repeats``: groups of each slice.
    """
    settings = Settings.of(task.declaration, task.seed)
    made = made_slice(task.seed, per_kind=settings.per_kind, most=task.repeats)
    without_model = replace(task, inputs=replace(task.inputs, model=None))
    found = ready(without_model, more=[made])
    entailer = None if task.inputs.model is None else CrossEncoder(task.inputs.model)
    table = [
        record for part in found.slices for record in measured(part, task.seed, entailer=entailer)
    ]
    rows = tuple(row for part in found.slices for row in rows_of(table, part.name, settings))
    return Found(
        rows=rows,
        contrasts=_contrasts(task.declaration, rows, main=found.slices[-1].name, settings=settings),
        draws={"repeats": task.repeats, "budget": settings.budget, "level": settings.level},
        notes=() if entailer is not None else (_NO_ENTAILER,),
        data=found.data(),
        model=found.model(),
        table=tuple(table),
    )


def made_slice(seed: int, *, per_kind: int, most: int) -> Slice:
    """Binding items made by seed, the kinds taking turns, none of them among the shipped.

    Parameters
    ----------
    seed, per_kind : int
        As in `made_binding_items`.
    most : int
        Items that are used.
    """
    known = [str(item["supported"]) for item in binding_items()]
    items = made_binding_items(seed, per_kind=per_kind, known=known)[:most]
    rows = [row for item in items for row in binding_rows(item)]
    digest = hashlib.sha256("\n".join(map(dumps, rows)).encode()).hexdigest()
    return Slice(MADE, read_evidence(rows), digest, "Apache-2.0", {})


def rows_of(table: Sequence[Record], data: str, settings: Settings) -> Iterator[Record]:
    """One row a kind of a slice, from the rows of the table alone.

    Parameters
    ----------
    table : sequence of mapping
        As a run leaves them.
    data : str
        Name of the slice.
    settings : Settings
    """
    ours = [record for record in table if record["data"] == data]
    gates = {
        (str(r["measure"]), str(r["negatives"])): threshold(
            _column(r, "risk"),
            budget=settings.budget,
            level=settings.level,
            population=str(r["population"]),
        )
        for r in ours
        if "negatives" in r
    }
    claims = [record for record in ours if "kind" in record]
    measures = [m for m in (*MEASURES, ENTAILMENT) if claims and m in claims[0]]
    found = [_row(record, measures, gates, settings) for record in claims]
    for measure in measures:
        entries: list[Any] = [row[measure] for row in found]
        tested = [entry for entry in entries if entry["p"] is not None]
        corrected = holm([float(entry["p"]) for entry in tested])
        for entry, p in zip(tested, corrected, strict=True):
            entry["p_holm"] = float(p)
    yield from found
    for negatives in (RANDOM, NEAREST):
        yield {
            "name": f"{data}_gate_{negatives}",
            "data": data,
            **{m: gates[m, negatives].to_dict() for m in measures if (m, negatives) in gates},
        }


def _row(
    record: Record,
    measures: Sequence[str],
    gates: dict[tuple[str, str], Threshold],
    settings: Settings,
) -> dict[str, Json]:
    """Everything of one kind."""
    per_measure = {m: _judged(record, m, gates, settings) for m in measures}
    share: Any = per_measure[ENERGY]["accepted"]
    blind = None if share["share"] is None else share["share"] > 2 * settings.budget
    items = record["item"]
    return {
        "name": f"{record['data']}_{record['kind']}",
        "data": record["data"],
        "kind": record["kind"],
        "n": len(items) if isinstance(items, list) else 0,
        "blind": blind,
        "route": "review" if blind else None,
        ENTAILMENT: "not run",
        **per_measure,
        **_both(record, gates, settings),
    }


def _both(
    record: Record, gates: dict[tuple[str, str], Threshold], settings: Settings
) -> dict[str, Json]:
    """Wrong claims that the gate on energy and the one on entailment both accept."""
    if ENTAILMENT not in record or (ENTAILMENT, RANDOM) not in gates:
        return {}
    sides = {m: _side(record, m, "wrong") for m in (ENERGY, ENTAILMENT)}
    there = ~np.isnan(sides[ENERGY]) & ~np.isnan(sides[ENTAILMENT])
    passed = [gates[m, RANDOM].accepted(side) for m, side in sides.items()]
    count = int((passed[0] & passed[1] & there).sum())
    share = rate(count, int(there.sum()), level=settings.level)
    return {"accepted_by_both": share.to_dict()}


def _judged(
    record: Record, measure: str, gates: dict[tuple[str, str], Threshold], settings: Settings
) -> dict[str, Json]:
    right, said, wrong = (_side(record, measure, s) for s in (SUPPORTED, "paraphrase", "wrong"))
    both = ~np.isnan(right) & ~np.isnan(wrong)
    twins = paired_accuracy(wrong[both], right[both])
    share = rate(twins.wins, int(both.sum()), level=settings.level)
    against = ~np.isnan(said) & ~np.isnan(wrong)
    return {
        "mean_supported": _mean(right),
        "mean_paraphrase": _mean(said),
        "mean_wrong": _mean(wrong),
        "difference": _mean((wrong - right)[both]),
        "above": share.to_dict(),
        "ties": twins.ties,
        "p": float(twins.p_two_sided) if both.any() else None,
        "paraphrase_difference": _mean((wrong - said)[against]),
        **_ranked(right, said, wrong, settings),
        "accepted": _accepted(gates.get((measure, RANDOM)), wrong, settings),
        "accepted_nearest": _accepted(gates.get((measure, NEAREST)), wrong, settings),
        "accepted_supported": _accepted(gates.get((measure, RANDOM)), right, settings),
    }


def _ranked(right: Floats, said: Floats, wrong: Floats, settings: Settings) -> dict[str, Json]:
    """AUROC of the wrong claims against the supported ones and their paraphrases."""
    sides = (right, said, wrong)
    scores = np.concatenate(sides)
    groups = [str(i) for side in sides for i in range(len(side))]
    gone = np.repeat([False, False, True], [len(side) for side in sides])
    there = ~np.isnan(scores)
    scored = scored_of(
        "kind",
        [str(i) for i in np.flatnonzero(there)],
        [g for g, keep in zip(groups, there, strict=True) if keep],
        gone[there],
        {"risk": scores[there]},
    )
    found = above_half(scored, "risk", settings.protocol)
    return {"auroc": found["estimate"], "auroc_low": found["low"], "auroc_high": found["high"]}


def _contrasts(
    declaration: Declaration, rows: Sequence[Record], *, main: str, settings: Settings
) -> dict[str, Record]:
    """One contrast a kind of the main slice, all of them together, and the shipped set."""
    by_kind: dict[str, Record] = {
        str(row["kind"]): row for row in rows if row["data"] == main and "kind" in row
    }
    found: dict[str, Record] = {
        kind: _beyond_budget([row], settings) for kind, row in by_kind.items()
    }
    ours = [row for kind, row in by_kind.items() if kind not in _OTHER_CONTENT]
    found["every_kind"] = _beyond_budget(ours, settings)
    shipped = [row for row in rows if "kind" in row and row["data"] not in {main, MADE}]
    found["shipped"] = _beyond_budget(shipped, settings) if shipped else absent("other data")
    return {c.name: found.get(c.name, absent("no such kind")) for c in declaration.contrasts}


def _beyond_budget(rows: Sequence[Record], settings: Settings) -> Record:
    """The accepted share of the wrong claims of some kinds, against twice the budget."""
    shares: list[Any] = [row[ENERGY]["accepted"] for row in rows]  # type: ignore[index, call-overload] # an object
    count, of = sum(s["count"] for s in shares), sum(s["of"] for s in shares)
    if not of:
        return absent("too few foreign pairs for a threshold")
    seen = rate(count, of, level=settings.level)
    kinds = [str(row["kind"]) for row in rows if row["blind"]]
    return {
        "estimate": seen.share,
        "low": seen.low,
        "high": seen.high,
        "kind": f"{100 * settings.level:g}% Clopper-Pearson",
        "n": of,
        "p": _tail(seen, settings),
        "state": State.MEASURED.value,
        "blind": len(kinds),
        "where": _said(rows, kinds),
    }


def _said(rows: Sequence[Record], blind: Sequence[str]) -> str:
    """Which kinds are blind; of a single one, how its pairs lie."""
    if len(rows) > 1:
        return f"{len(blind)} of {len(rows)} kinds blind, to review: {', '.join(blind)}"
    found: Any = rows[0][ENERGY]
    verdict = "blind, to review" if blind else "not blind"
    ranked = "none" if found["auroc"] is None else f"{found['auroc']:.2f}"
    return f"{verdict}; wrong − right {found['difference']:+.3f}, AUROC {ranked}"


def _tail(seen: Rate, settings: Settings) -> float:
    """Probability of so many or more accepted at twice the budget, exactly."""
    doubled = 2 * Fraction(str(settings.budget))
    return float(reaches(seen.of, seen.count, doubled))


def _accepted(gate: Threshold | None, risks: Floats, settings: Settings) -> dict[str, Json]:
    found = Threshold(None, 0) if gate is None else gate
    return found.share(risks, level=settings.level).to_dict()


def _side(record: Record, measure: str, side: str) -> Floats:
    sides: Any = record[measure]
    return column_of(sides[side])


def _column(record: Record, name: str) -> Floats:
    values: Any = record[name]
    return column_of(values)


def _mean(values: Floats) -> float | None:
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else None
