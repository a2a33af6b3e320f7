"""How a score is split from what it is tried on: rows, sources, named entities, domains."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from trueness.study.assessed import assessed, difference
from trueness.study.claim_features import BUNDLE, LENGTH, ClaimFeatures, claim_features
from trueness.study.controls import Control, Numbers, scored
from trueness.study.populations import LABELLED, NEAREST, Bench, Population
from trueness.study.protocol import Floats, Ints, Protocol, Scored, fitted, ridge_scorer

if TYPE_CHECKING:
    from trueness.study.results import Record

FEATURES = (*BUNDLE, *LENGTH)
ROW, SOURCE, ENTITY, DOMAIN = "row", "source", "entity", "domain"
_POPULATIONS = (LABELLED, NEAREST)
_NAME = re.compile(r"[A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+)+")
"""Two or more words in a row that begin with a capital: a rule of thumb for names."""


def _scores(bench: Bench) -> Sequence[Scored]:
    there = [bench.populations[n] for n in _POPULATIONS if n in bench.populations]
    known = {p.name: claim_features(p.table) for p in there}
    found = []
    for population in there:
        bench.task.say(f"splits of {population.name}")
        part = scored(population, {})
        columns = known[population.name].several(FEATURES)
        made = {
            ROW: fitted(columns, part.unsupported, np.arange(len(part.items)), bench.protocol),
            SOURCE: fitted(columns, part.unsupported, part.groups, bench.protocol),
        }
        apart, _ = disjoint_groups(population, folds=bench.protocol.folds)
        if apart is not None:
            made[ENTITY] = fitted(columns, part.unsupported, apart, bench.protocol)
        others = [p for p in there if p.data != population.data or p.data == "synthetic"]
        elsewhere = next((p for p in others if p.name != population.name), None)
        if elsewhere is not None:
            made[DOMAIN] = from_elsewhere(
                known[population.name], known[elsewhere.name], elsewhere, bench.protocol
            )
        found.append(scored(population, made))
    return found


def from_elsewhere(
    here: ClaimFeatures, there: ClaimFeatures, elsewhere: Population, protocol: Protocol
) -> Floats:
    """(n,) Scores of one population by a model of another one alone."""
    columns = [
        np.concatenate(pair)
        for pair in zip(here.several(FEATURES), there.several(FEATURES), strict=True)
    ]
    n = len(here.states)
    wrong = np.concatenate([np.zeros(n, np.bool_), elsewhere.unsupported])
    held = np.arange(len(wrong)) < n
    return ridge_scorer(columns, wrong, ridge=protocol.ridge)(~held, held)


def disjoint_groups(population: Population, *, folds: int) -> tuple[Ints | None, str]:
    """Sources joined wherever they share a named entity, or why they cannot be dealt.

    A named entity is what a column ``entity`` says; without it two or more capitalised words in a
    row.

    Parameters
    ----------
    population : Population
    folds : int
        The largest set of joined sources may hold at most one part in so many.

    Returns
    -------
    (n,) int or None, and a sentence
    """
    names = [_names(population, row) for row in range(len(population.items))]
    if not any(names):
        return None, f"{population.name}: no named entity was found; not split by entities."
    codes = np.unique(population.groups, return_inverse=True)[1].astype(np.int64).reshape(-1)
    joined = components(codes.tolist(), names)
    sizes = np.bincount(np.unique(np.stack([codes, joined]), axis=1)[1])
    largest, n = int(sizes.max()), int(codes.max()) + 1
    if largest * folds > n:
        return None, (
            f"{population.name}: {largest} of {n} sources hang together by shared entities, so "
            f"that {folds} folds without a shared entity cannot be built; not run."
        )
    return joined, f"{population.name}: {len(sizes)} sets of sources without a shared entity."


def components(groups: Sequence[int], names: Sequence[frozenset[str]]) -> Ints:
    """(n,) Number of the set that a row's source hangs together with through shared names.

    >>> components([0, 1, 2], [frozenset("a"), frozenset("ab"), frozenset("c")]).tolist()
    [0, 0, 1]
    """
    parent = {group: group for group in groups}

    def root(group: int) -> int:
        while parent[group] != group:
            parent[group] = parent[parent[group]]
            group = parent[group]
        return group

    first: dict[str, int] = {}
    for group, some in zip(groups, names, strict=True):
        for name in sorted(some):
            parent[root(group)] = root(first.setdefault(name, group))
    roots = [root(group) for group in groups]
    return np.unique(roots, return_inverse=True)[1].astype(np.int64).reshape(-1)


def _names(population: Population, row: int) -> frozenset[str]:
    table = population.table
    declared = table.extras.get("entity")
    if declared is not None:
        return frozenset({str(declared[row])}) if declared[row] else frozenset()
    texts = (table.claim[row] or "", *table.passages(row))
    return frozenset(" ".join(n.split()) for t in texts for n in _NAME.findall(t))


def _leakage(parts: Mapping[str, Scored], protocol: Protocol) -> Numbers:
    rows: list[Record] = []
    contrasts: dict[str, Record] = {}
    for name, part in parts.items():
        rows += [
            {"name": f"{name}_{split}", "population": name, **assessed(part, split, protocol)}
            for split in part.columns
        ]
        contrasts[name] = difference(part, ROW, SOURCE, protocol)
        for split in (ENTITY, DOMAIN):
            if split in part.columns:
                contrasts[f"{name}_{split}"] = difference(part, SOURCE, split, protocol)
    return Numbers(rows, contrasts)


def _notes(bench: Bench) -> list[str]:
    there = [bench.populations[n] for n in _POPULATIONS if n in bench.populations]
    lines = [disjoint_groups(p, folds=bench.protocol.folds)[1] for p in there]
    return [*lines, "domain: fitted on the other population alone, where there is another."]


C4 = Control(_scores, _leakage, _notes)
