"""Risks of right and wrong claims by kind, and of claims against foreign evidence."""

from collections.abc import Iterator, Sequence

import numpy as np

from trueness.backends.entailment import Entailer, judge_pairs
from trueness.study.claim_features import ENERGY
from trueness.study.crossed import BASELINES, Crossed, Floats, Ints, kept
from trueness.study.measurable import check_supported
from trueness.study.negatives import Negatives, deranged
from trueness.study.results import Record
from trueness.study.searched import hard_centroid
from trueness.study.slices import SUPPORTED, Slice

MEASURES = (ENERGY, *BASELINES)
ENTAILMENT = "entailment"
"""Measured only where an entailer is named: 1 minus the largest probability of a passage."""
RANDOM, NEAREST = "random", "nearest"
"""Foreign evidence picked at random, and the nearest to the claim."""
_PARAPHRASE = "control_paraphrase"


def measured(part: Slice, seed: int, *, entailer: Entailer | None = None) -> Iterator[Record]:
    """Risks of pairs by kind, and of claims against foreign evidence, column by column.

    Parameters
    ----------
    part : Slice
        With vectors; the kind of a wrong claim stands in a column ``kind``.
    seed : int
        Of the foreign evidence.
    entailer : Entailer, optional
        Is asked about every passage and claim.
    """
    crossed = Crossed.of(part.table, np.ones(len(part.table), dtype=np.bool_))
    places = {row: place for place, row in enumerate(crossed.rows.tolist())}
    every = np.arange(len(crossed))
    own = _measures(crossed, every, every, MEASURES, entailer)
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
                for measure in own
            },
        }
    yield from foreign_risks(part, seed, entailer=entailer)


def foreign_risks(
    part: Slice,
    seed: int,
    *,
    measures: Sequence[str] = MEASURES,
    entailer: Entailer | None = None,
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
    entailer : Entailer, optional

    Yields
    ------
    mapping
        One for each population and measure, a list a column.
    """
    check_supported(part)
    right = np.array([_is_right(part, row) for row in range(len(part.table))])
    crossed = Crossed.of(part.table, right)
    pool = crossed.pool([_source(part, row) for row in crossed.rows.tolist()])
    made: dict[str, Negatives] = {
        RANDOM: deranged(pool, seed=seed),
        NEAREST: hard_centroid(pool, crossed.claims(), crossed.centroids()),
    }
    for name, negatives in made.items():
        matched = negatives.matched
        foreign = negatives.evidence_from[matched]
        risks = _measures(crossed, matched, foreign, measures, entailer)
        for measure in risks:
            yield {
                "data": part.name,
                "negatives": name,
                "population": negatives.population,
                "measure": measure,
                "risk": [_number(v) for v in risks[measure].tolist()],
            }


def _measures(
    crossed: Crossed,
    claims: Ints,
    evidence: Ints,
    names: Sequence[str],
    entailer: Entailer | None,
) -> dict[str, Floats]:
    """Risks by measure, entailment among them where there is an entailer."""
    found = crossed.measures(claims, evidence, names)
    if entailer is None:
        return found
    risks = np.empty(len(claims))
    for i, (claim, other) in enumerate(zip(claims.tolist(), evidence.tolist(), strict=True)):
        said = str(crossed.table.claim[int(crossed.rows[claim])])
        judged = judge_pairs(entailer, [(text, said) for text in crossed.texts(other)])
        risks[i] = 1.0 - max(each.entailment for each in judged)
    return {**found, ENTAILMENT: kept(risks)}


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


def _at(values: Floats, place: int | None) -> float | None:
    return None if place is None else _number(float(values[place]))


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
