"""C13: wrong claims in the words of their evidence, kind by kind, and what a gate lets through."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from trueness.contract.serial import Json, dumps
from trueness.contract.states import State
from trueness.stats.acceptance import reaches
from trueness.stats.multiplicity import holm
from trueness.stats.operating_points import paired_accuracy
from trueness.stats.rates import Rate, rate
from trueness.study.accepting import Threshold, threshold
from trueness.study.assessed import above_half, absent
from trueness.study.binding_items import made_binding_items
from trueness.study.claim_features import ENERGY, column_of
from trueness.study.crossed import BASELINES, Crossed, Floats
from trueness.study.declarations import Declaration
from trueness.study.embedded_inputs import levels, ready
from trueness.study.found import Found
from trueness.study.inputs import Inputs
from trueness.study.negatives import Negatives, deranged
from trueness.study.protocol import Protocol, scored_of
from trueness.study.results import Record
from trueness.study.runners import Progress
from trueness.study.searched import hard_centroid
from trueness.study.slices import SUPPORTED, Slice, binding_items, binding_rows
from trueness.study.worlds import NEIGHBOUR, NOVEL
from trueness.table.evidence_reading import read_evidence

MADE = "binding_made"
"""Name of the slice of items that were made by seed."""
MEASURES = (ENERGY, *BASELINES)
RANDOM, NEAREST = "random", "nearest"
_OTHER_CONTENT = frozenset({NOVEL, NEIGHBOUR})
"""Kinds of the made world that are no binding errors: they bring in something else."""
_PARAPHRASE = "control_paraphrase"


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


def run(
    declaration: Declaration,
    *,
    inputs: Inputs,
    seed: int,
    repeats: int,
    progress: Progress | None,
) -> Found:
    """Pairs of a right and a wrong claim by kind, and the share of wrong ones that is accepted.

    Parameters
    ----------
    declaration : Declaration
    inputs : Inputs
    seed : int
        Of made items, foreign evidence and resamples.
    repeats : int
        Groups of each slice.
    progress : callable, optional
    """
    settings = Settings.of(declaration, seed)
    made = made_slice(seed, per_kind=settings.per_kind, most=repeats)
    found = ready(
        declaration, inputs=inputs, seed=seed, most=repeats, progress=progress, more=[made]
    )
    table = [record for part in found.slices for record in measured(part, seed)]
    rows = tuple(row for part in found.slices for row in rows_of(table, part.name, settings))
    return Found(
        rows=rows,
        contrasts=_contrasts(declaration, rows, main=found.slices[-1].name, settings=settings),
        draws={"repeats": repeats, "budget": settings.budget, "level": settings.level},
        notes=("Entailment was not run: no weights of an entailment model come along.",),
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
    found = [_row(record, gates, settings) for record in claims]
    for measure in MEASURES:
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
            **{m: gates[m, negatives].to_dict() for m in MEASURES if (m, negatives) in gates},
        }


def foreign_risks(
    part: Slice, seed: int, *, measures: Sequence[str] = MEASURES
) -> Iterator[Record]:
    """Supported claims against another source's evidence: picked at random, and the nearest.

    Items of one template count as one source here: other names in the same sentence are no
    foreign evidence.

    Parameters
    ----------
    part : Slice
        With vectors.
    seed : int
        Of the random assignment.
    measures : sequence of str

    Yields
    ------
    mapping
        One for each population and measure, a list a column.
    """
    right = np.array([_is_right(part, row) for row in range(len(part.table))])
    crossed = Crossed.of(part.table, right)
    pool = crossed.pool([_source(part, row) for row in crossed.rows.tolist()])
    made: dict[str, Negatives] = {
        RANDOM: deranged(pool, seed=seed),
        NEAREST: hard_centroid(pool, crossed.claims(), crossed.centroids()),
    }
    for name, negatives in made.items():
        matched = negatives.matched
        risks = crossed.measures(matched, negatives.evidence_from[matched], measures)
        for measure in measures:
            yield {
                "data": part.name,
                "negatives": name,
                "population": negatives.population,
                "measure": measure,
                "risk": [_number(v) for v in risks[measure].tolist()],
            }


def measured(part: Slice, seed: int) -> Iterator[Record]:
    """Risks of pairs by kind, and of claims against foreign evidence, column by column.

    Parameters
    ----------
    part : Slice
        With vectors; the kind of a wrong claim stands in a column ``kind``.
    seed : int
        Of the foreign evidence.
    """
    crossed = Crossed.of(part.table, np.ones(len(part.table), dtype=np.bool_))
    places = {row: place for place, row in enumerate(crossed.rows.tolist())}
    every = np.arange(len(crossed))
    own = crossed.measures(every, every, MEASURES)
    for kind, sides in sorted(_pairs(part, places).items()):
        yield {
            "data": part.name,
            "kind": kind,
            "item": [part.groups[int(crossed.rows[wrong])] for _, _, wrong in sides],
            **{
                measure: {
                    side: [_at(own[measure], s[i]) for s in sides]
                    for i, side in enumerate((SUPPORTED, "paraphrase", "wrong"))
                }
                for measure in MEASURES
            },
        }
    yield from foreign_risks(part, seed)


def _pairs(part: Slice, places: dict[int, int]) -> dict[str, list[tuple[int, int | None, int]]]:
    """Supported claim, paraphrase and wrong claim of every source, by kind of the wrong one."""
    kinds, parts = (part.table.extras.get(name) for name in ("kind", "part"))
    by_group: dict[str, list[int]] = {}
    for row in places:
        by_group.setdefault(part.groups[row], []).append(row)
    found: dict[str, list[tuple[int, int | None, int]]] = {}
    for rows in by_group.values():
        right = next((r for r in rows if _is_right(part, r)), None)
        said = next((r for r in rows if parts is not None and parts[r] == _PARAPHRASE), None)
        for row in rows if right is not None else ():
            if part.unsupported[row]:
                kind = "every" if kinds is None else str(kinds[row])
                pair = (places[right], None if said is None else places[said], places[row])  # type: ignore[index] # not None here
                found.setdefault(kind, []).append(pair)
    return found


def _is_right(part: Slice, row: int) -> bool:
    """Whether a row is a supported claim and no paraphrase of one."""
    parts = part.table.extras.get("part")
    return not part.unsupported[row] and (parts is None or parts[row] != _PARAPHRASE)


def _source(part: Slice, row: int) -> str:
    """Kind and template of a binding item; else the group."""
    kinds, templates = (part.table.extras.get(name) for name in ("kind", "template"))
    if kinds is None or templates is None:
        return part.groups[row]
    return f"{kinds[row]} {templates[row]}"


def _row(
    record: Record, gates: dict[tuple[str, str], Threshold], settings: Settings
) -> dict[str, Json]:
    """Everything of one kind."""
    per_measure = {m: _judged(record, m, gates, settings) for m in MEASURES}
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
        "entailment": "not run",
        **per_measure,
    }


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
        "where": f"blind, to review: {', '.join(kinds)}" if kinds else "not blind",
    }


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


def _at(values: Floats, place: int | None) -> float | None:
    return None if place is None else _number(float(values[place]))


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
