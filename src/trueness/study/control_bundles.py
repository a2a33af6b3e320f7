"""Several numbers a claim: the bundle of its sentences beside the length of its text."""

from collections.abc import Mapping, Sequence

import numpy as np

from trueness.study.assessed import assessed, difference
from trueness.study.claim_features import BUNDLE, ENERGY, LENGTH, claim_features
from trueness.study.controls import Control, Numbers, scored
from trueness.study.populations import BARE, LABELLED, NEAREST, Bench
from trueness.study.protocol import Floats, Protocol, Scored, fitted
from trueness.study.results import Record

STRATA = 5
"""Parts of equally many claims, by their number of characters."""
_FITTED = {"length": LENGTH, "bundle": BUNDLE, "both": (*BUNDLE, *LENGTH)}


def _length_scores(bench: Bench) -> Sequence[Scored]:
    found = []
    for name in (LABELLED, BARE, NEAREST):
        population = bench.populations.get(name)
        if population is None:
            continue
        bench.task.say(f"length and bundle of {name}")
        known = claim_features(population.table)
        part = scored(population, {each: known.columns[each] for each in (ENERGY, *LENGTH)})
        made = {
            each: fitted(known.several(names), part.unsupported, part.groups, bench.protocol)
            for each, names in _FITTED.items()
        }
        found.append(scored(population, {**part.columns, **made}))
    return found


def _length(parts: Mapping[str, Scored], protocol: Protocol) -> Numbers:
    rows: list[Record] = []
    contrasts: dict[str, Record] = {}
    for name, part in parts.items():
        rows += [
            {"name": f"{name}_{each}", "population": name, **assessed(part, each, protocol)}
            for each in part.columns
        ]
        rows += _strata(name, part, protocol)
        contrasts[name] = difference(part, "bundle", "length", protocol)
        contrasts[f"{name}_added"] = difference(part, "both", "length", protocol)
    return Numbers(rows, contrasts)


def _strata(name: str, part: Scored, protocol: Protocol) -> list[Record]:
    """The energy among claims of about the same length."""
    stratum = strata_of(part.columns["char_count"], STRATA)
    return [
        {
            "name": f"{name}_energy_stratum_{number + 1}",
            "population": name,
            "characters": [
                float(part.columns["char_count"][rows].min()),
                float(part.columns["char_count"][rows].max()),
            ],
            **assessed(part.take(rows), ENERGY, protocol),
        }
        for number in range(STRATA)
        if (rows := stratum == number).any()
    ]


def strata_of(values: Floats, n: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """(n_rows,) Which part of equally many a value is in; equal values are in the same.

    >>> strata_of(np.array([1.0, 1.0, 2.0, 9.0]), 2).tolist()
    [0, 0, 1, 1]
    """
    edges = np.quantile(values, np.arange(1, n) / n)
    return np.searchsorted(edges, values, side="left").astype(np.int64)


C3 = Control(_length_scores, _length)
