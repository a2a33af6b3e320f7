"""Other geometries than the linear span: one is chosen on half of the sources, then tried."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from trueness.contract.states import State
from trueness.sensors.claims import span_item, vectors_of
from trueness.sensors.energy.params import Params
from trueness.stats import span_variants
from trueness.stats.span_item import Refused, SpanItem
from trueness.stats.span_rules import SpanRules
from trueness.stats.span_variants import Variant
from trueness.study.assessed import assessed, auroc, difference
from trueness.study.claim_features import ENERGY, claim_features, column_of
from trueness.study.controls import Control, Numbers, scored
from trueness.study.populations import LABELLED, NEAREST, Bench, Population
from trueness.study.protocol import Bools, Floats, Protocol, Scored, folds_of

if TYPE_CHECKING:
    from trueness.study.results import Record

CORE, HALF = "core", "tried"
_POWER, _PENALTY, _WIDTH, _SHRINKAGE = 1.0, 0.1, 1.0, 0.1
"""Of sigma, ridge, the Gaussian kernel and whitening: fixed, none was tuned."""
_LEAST = 0.95
"""A variant that measures less of what the linear span measures cannot be chosen."""
_SPLIT = 0x8A

Look = Callable[[SpanItem, SpanRules], Variant]


def variants(corpus: tuple[Floats, Floats] | None) -> dict[str, Look]:
    """The geometries by name, given mean and covariance of a corpus; without, fewer."""
    relative: dict[str, Look] = {}
    if corpus is not None:
        mean, covariance = corpus
        relative["corpus"] = partial(span_variants.corpus, mean=mean)
        relative["whitened"] = partial(
            span_variants.whitened, mean=mean, covariance=covariance, shrinkage=_SHRINKAGE
        )
    return {
        "affine": span_variants.affine,
        **relative,
        "sigma": partial(span_variants.sigma, power=_POWER),
        "ridge": partial(span_variants.ridge, penalty=_PENALTY),
        "cone": span_variants.cone,
        "hull": span_variants.hull,
        "kernel": partial(span_variants.kernel, kernel="rbf", width=_WIDTH),
    }


def _scores(bench: Bench) -> Sequence[Scored]:
    found = []
    for name in (LABELLED, NEAREST):
        population = bench.populations.get(name)
        if population is None:
            continue
        bench.task.say(f"geometries on {name}")
        part = scored(population, {})
        tried = folds_of(part.groups, folds=2, seed=[bench.protocol.seed, _SPLIT]) == 1
        columns = {HALF: tried.astype(np.float64)}
        columns[CORE] = claim_features(population.table, influence=False).columns[ENERGY]
        columns |= _measured(population, ~tried)
        found.append(scored(population, columns))
    return found


def _measured(population: Population, chosen_on: Bools) -> dict[str, Floats]:
    """(n,) Value of every variant; moments are of the passages of the sources chosen on."""
    table = population.table
    rules = Params().rules(vectors_of(table).noise)
    items = [span_item(table, row) for row in range(len(table))]
    return {
        name: column_of([_value(item, look, rules) for item in items])
        for name, look in variants(moments(population, chosen_on)).items()
    }


def _value(item: SpanItem | Refused, look: Look, rules: SpanRules) -> float | None:
    if not isinstance(item, SpanItem) or item.text_too_long:
        return None
    found = look(item, rules)
    return found.value if found.state is State.MEASURED else None


def moments(population: Population, rows: Bools) -> tuple[Floats, Floats] | None:
    """(d,) and (d, d) Mean and covariance of the distinct passages of some rows, as unit vectors.

    Of supported claims, where there are any: foreign evidence is another source's. None without a
    passage.
    """
    table = population.table
    own = np.flatnonzero(rows & ~population.unsupported).tolist() or np.flatnonzero(rows).tolist()
    known = vectors_of(table).evidence
    texts = sorted({p for row in own for p in table.passages(row) if p in known.place})
    if not texts:
        return None
    vectors = known.rows(texts)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    mean = units.mean(axis=0)
    return mean, (units - mean).T @ (units - mean) / len(units)


def _read(parts: Mapping[str, Scored], protocol: Protocol) -> Numbers:
    rows: list[Record] = []
    contrasts: dict[str, Record] = {}
    for name, part in parts.items():
        tried = part.columns[HALF] == 1
        half, rest = part.take(tried), part.take(~tried)
        names = [each for each in part.columns if each != HALF]
        chosen = choice(rest, names)
        contrasts[name] = {**difference(half, chosen, CORE, protocol), "chosen": chosen}
        for where, some in (("chosen_on", rest), ("tried", half)):
            rows += [
                {
                    "name": f"{name}_{each}_{where}",
                    "population": name,
                    "half": where,
                    **assessed(some, each, protocol),
                }
                for each in names
                if np.isfinite(some.columns[each]).any()
            ]
    return Numbers(rows, contrasts, (_SAID,))


_SAID = (
    f"sigma power {_POWER:g}, ridge penalty {_PENALTY:g}, Gaussian kernel width {_WIDTH:g}, "
    f"whitening shrinkage {_SHRINKAGE:g}; corpus: the passages of the sources chosen on. Only the "
    f"chosen one is tested; a variant that measures less than {_LEAST:g} of what the linear span "
    "measures cannot be chosen."
)


def choice(part: Scored, names: Sequence[str]) -> str:
    """The measure with the largest AUROC on these rows; the linear span where classes lack."""
    wrong = part.unsupported
    if wrong.all() or not wrong.any():
        return CORE
    core = int(np.isfinite(part.columns[CORE]).sum())

    def worth(name: str) -> float:
        there = np.isfinite(part.columns[name])
        few = there.sum() < _LEAST * core or wrong[there].all() or not wrong[there].any()
        return -1.0 if few else auroc(part.columns[name][there], wrong[there])

    return max(names, key=worth)


C8 = Control(_scores, _read)
