"""What a fitted score loses without a group of its features, or with it permuted."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from trueness.contract.states import State
from trueness.stats.cluster_auroc import MIN_CLUSTERS
from trueness.stats.logistic import RidgeLogistic, fit_ridge_logistic
from trueness.stats.sentence_features import COVERAGE, ENERGY, SETS, SIMILARITY, STRUCTURAL
from trueness.study.assessed import (
    AUROC,
    assessed,
    auroc,
    difference,
    generator,
    percentile,
    too_few,
)
from trueness.study.claim_features import LENGTH, claim_features
from trueness.study.controls import Control, Numbers, scored
from trueness.study.populations import LABELLED, NEAREST, Bench
from trueness.study.protocol import (
    Bools,
    Floats,
    Ints,
    Protocol,
    Scored,
    fitted,
    folds_of,
)

if TYPE_CHECKING:
    from trueness.contract.serial import Json
    from trueness.study.results import Record

GROUPS: Mapping[str, tuple[str, ...]] = {
    "similarity": SIMILARITY,
    "coverage": COVERAGE,
    "energy": ENERGY,
    "structure": STRUCTURAL,
}
"""Of the ablation; an entailer would add another one."""
PERMUTED: Mapping[str, tuple[str, ...]] = {
    "similarity": SIMILARITY,
    "coverage": COVERAGE,
    "energy": ENERGY,
    "length": tuple(name for name in LENGTH if name != "sentence_count"),
}
_GIVEN = "sentence_count"
ALL = "all"
_POPULATIONS = (LABELLED, NEAREST)
_PERMUTATIONS = 50
_DEPENDENT = 1e-8
_PERMUTE = 0xA5


def independent(names: Sequence[str], columns: Sequence[Floats]) -> tuple[str, ...]:
    """Features that are no linear combination of those before them and a constant.

    On rows where all of them were measured. A combination of others could show nothing.

    Parameters
    ----------
    names : sequence of str
    columns : sequence of (n,) float

    Examples
    --------
    >>> x, y = np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.0, 5.0])
    >>> independent(["x", "y", "gap", "one"], [x, y, x - y, 1 + 0 * x])
    ('x', 'y')
    """
    table = np.column_stack(list(columns))
    table = table[np.isfinite(table).all(axis=1)]
    table = table - table.mean(axis=0) if len(table) else table
    kept: list[str] = []
    basis = np.zeros((len(table), 0))
    for name, column in zip(names, table.T, strict=True):
        size = float(np.linalg.norm(column))
        rest = column - basis @ (basis.T @ column)
        rest = rest - basis @ (basis.T @ rest)
        left = float(np.linalg.norm(rest))
        if size > _DEPENDENT and left > _DEPENDENT * size:
            kept.append(name)
            basis = np.column_stack([basis, rest / left])
    return tuple(kept)


def _ablation_scores(bench: Bench) -> Sequence[Scored]:
    found = []
    for name in _POPULATIONS:
        population = bench.populations.get(name)
        if population is None:
            continue
        bench.task.say(f"ablation on {name}")
        known, part = claim_features(population.table), scored(population, {})
        whole = _measured(known.several([f for fs in GROUPS.values() for f in fs]))
        kept = _kept(known.columns)
        sets = {ALL: kept}
        for group, members in GROUPS.items():
            sets[f"without_{group}"] = tuple(f for f in kept if f not in members)
            sets[f"only_{group}"] = tuple(f for f in kept if f in members)
        made = {
            label: fitted(
                [np.where(whole, known.columns[f], np.nan) for f in features],
                part.unsupported,
                part.groups,
                bench.protocol,
            )
            for label, features in sets.items()
            if features
        }
        found.append(scored(population, made))
    return found


def _ablation(parts: Mapping[str, Scored], protocol: Protocol) -> Numbers:
    rows: list[Record] = []
    contrasts: dict[str, Record] = {}
    for name, part in parts.items():
        rows += [
            {"name": f"{name}_{label}", "population": name, **assessed(part, label, protocol)}
            for label in part.columns
        ]
        for group in GROUPS:
            if f"without_{group}" in part.columns:
                contrasts[f"{name}_{group}"] = difference(part, ALL, f"without_{group}", protocol)
    return Numbers(rows, contrasts)


def _ablation_notes(bench: Bench) -> list[str]:
    """Which features stood for what, and which were combinations of others."""
    lines = ["entailment: not run, no entailer comes along."]
    for name in _POPULATIONS:
        population = bench.populations.get(name)
        if population is None:
            continue
        columns = claim_features(population.table).columns
        published = [f for f in SETS["published"] if f in columns]
        rank = len(independent(published, [columns[f] for f in published]))
        lines.append(
            f"{name}: features kept {', '.join(_kept(columns))}; of the {len(published)} published "
            f"ones without entailment {rank} are linearly independent here."
        )
    return lines


def _kept(columns: Mapping[str, Floats]) -> tuple[str, ...]:
    names = [f for members in GROUPS.values() for f in members]
    return independent(names, [columns[f] for f in names])


def _measured(columns: Sequence[Floats]) -> Bools:
    """(n,) Rows that have all of the numbers."""
    return np.atleast_1d(np.isfinite(np.stack(columns)).all(axis=0))


def _permuted_scores(bench: Bench) -> Sequence[Scored]:
    """The features themselves: fits, permutations and scores follow from them and the seed."""
    names = [_GIVEN, *(f for members in PERMUTED.values() for f in members)]
    found = []
    for name in _POPULATIONS:
        population = bench.populations.get(name)
        if population is not None:
            bench.task.say(f"features of {name}")
            known = claim_features(population.table)
            found.append(scored(population, {f: known.columns[f] for f in names}))
    return found


def _permuted(parts: Mapping[str, Scored], protocol: Protocol) -> Numbers:
    rows: list[Record] = []
    contrasts: dict[str, Record] = {}
    for name, part in parts.items():
        whole = _measured(list(part.columns.values()))
        for group, members in PERMUTED.items():
            record = importance(part.take(whole), members, protocol)
            record["n_unmeasured"] = int((~whole).sum())
            contrasts[f"{name}_{group}"] = record
            rows.append({"name": f"{name}_{group}", "population": name, **record})
    said = f"{_PERMUTATIONS} permutations, dealt over the {protocol.repeats} dealings of folds."
    return Numbers(rows, contrasts, (said,))


def importance(part: Scored, members: Sequence[str], protocol: Protocol) -> dict[str, "Json"]:
    """The AUROC that is lost when some features are permuted together among held-out rows.

    Rows exchange them within their fold and with rows of as many sentences; the models, of all
    columns, stay as they were fitted on the other folds.

    Parameters
    ----------
    part : Scored
        With the features as columns, all measured, `sentence_count` among them.
    members : sequence of str
        What is permuted.
    protocol : Protocol
    """
    wrong, groups = part.unsupported, part.groups
    n_groups = len(np.unique(groups))
    size: dict[str, Json] = {"unit": "source", "n": n_groups, "n_rows": len(wrong)}
    if wrong.all() or not wrong.any() or n_groups < MIN_CLUSTERS:
        gap = dict.fromkeys(("estimate", "low", "high", "p", "p_holm"))
        why = too_few(n_groups) if wrong.any() and not wrong.all() else "a class is empty"
        return {**size, **gap, "state": State.NOT_APPLICABLE.value, "where": why}
    table = np.column_stack(list(part.columns.values()))
    given = part.columns[_GIVEN]
    moving = [list(part.columns).index(name) for name in members]
    rng = np.random.default_rng([protocol.seed, _PERMUTE, *moving])
    models = list(_models(table, part, protocol))
    plain = [_score(table, folds, fits) for folds, fits in models]
    bases = [_resampled(scores, part, protocol) for scores in plain]
    lost, drawn = 0.0, np.zeros(protocol.resamples)
    for turn in range(_PERMUTATIONS):
        place = turn % len(models)
        folds, fits = models[place]
        order = permuted_within(np.column_stack([folds, given]), rng)
        moved = table.copy()
        moved[:, moving] = table[order][:, moving]
        scores = _score(moved, folds, fits)
        lost += auroc(plain[place], wrong) - auroc(scores, wrong)
        drawn += bases[place] - _resampled(scores, part, protocol)
    found = percentile(drawn / _PERMUTATIONS, lost / _PERMUTATIONS, 0.0, protocol)
    return {**found, **size}


def permuted_within(strata: Floats, rng: np.random.Generator) -> Ints:
    """(n,) A uniform permutation of rows that keeps each in its stratum.

    >>> permuted_within(np.array([[0.0], [1.0], [2.0]]), np.random.default_rng(0)).tolist()
    [0, 1, 2]
    """
    codes = np.unique(strata, axis=0, return_inverse=True)[1].reshape(-1)
    inside = np.lexsort((rng.random(len(codes)), codes))
    order = np.empty(len(codes), np.int64)
    order[np.argsort(codes, kind="stable")] = inside
    return order


def _models(
    table: Floats, part: Scored, protocol: Protocol
) -> Iterator[tuple[Ints, list[RidgeLogistic]]]:
    """Folds of every dealing, and the model of the other folds for each."""
    wrong = part.unsupported
    for repeat in range(protocol.repeats):
        folds = folds_of(part.groups, folds=protocol.folds, seed=[protocol.seed, repeat])
        others = [folds != number for number in range(int(folds.max()) + 1)]
        yield (
            folds,
            [fit_ridge_logistic(table[o], wrong[o], ridge=protocol.ridge) for o in others],
        )


def _score(table: Floats, folds: Ints, fits: Sequence[RidgeLogistic]) -> Floats:
    found = np.empty(len(table))
    for number, fit in enumerate(fits):
        found[folds == number] = fit.predict_proba(table[folds == number])[:, 1]
    return found


def _resampled(scores: Floats, part: Scored, protocol: Protocol) -> Floats:
    return AUROC.resampled(
        scores,
        part.unsupported,
        part.groups,
        rng=generator(protocol),
        n_resamples=protocol.resamples,
    )


C11 = Control(_ablation_scores, _ablation, _ablation_notes)
C12 = Control(_permuted_scores, _permuted)
