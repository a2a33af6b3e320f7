"""The populations that a control looks at: what is called unsupported in each, and how made.

Claims that someone labelled; supported claims against the nearest or any foreign evidence;
recombined bindings. A world or a file of the user's takes the place of the shipped slices.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from trueness.backends.embedder import Embedder
from trueness.contract.errors import NoNegativePossible
from trueness.contract.serial import Json
from trueness.sensors.claims import vectors_of
from trueness.study.embedded_inputs import vectors_of as with_vectors
from trueness.study.guards import Pool
from trueness.study.measurable import check_measurable
from trueness.study.negatives import Negatives, deranged
from trueness.study.protocol import Protocol
from trueness.study.searched import evidence_centroids, hard_centroid
from trueness.study.slices import (
    BINDING,
    HALUEVAL,
    HALUEVAL_ANSWERS,
    PUBMEDQA,
    Slice,
    embedder_of,
    slices_of,
)
from trueness.study.task import Task
from trueness.table.column import Column
from trueness.table.evidence import EvidenceTable

LABELLED, BARE, NEAREST, RANDOM, BOUND = "labelled", "bare", "nearest", "random", "binding"
"""Labelled by someone; the same answers without their question; foreign evidence; binding."""
_ROLES: Mapping[str, str] = {HALUEVAL: LABELLED, HALUEVAL_ANSWERS: BARE, BINDING: BOUND}
_WORLD = {"novel": LABELLED, "neighbour": NEAREST, "binding": BOUND}
"""Which population a way of being unsupported in the made world stands for."""

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Population:
    """Claims with vectors of which it is known, or taken, which are unsupported.

    Parameters
    ----------
    name : str
    data : str
        Slice that it was made of.
    table : EvidenceTable
        Embedded, with groups.
    unsupported : (n,) bool
    made : mapping
        How the unsupported came about; empty for labelled ones.
    """

    name: str
    data: str
    table: EvidenceTable
    unsupported: Bools
    made: Mapping[str, Json] = field(default_factory=dict)

    @property
    def groups(self) -> list[str]:
        """Source of every row."""
        column = self.table.group
        return [] if column is None else [str(name) for name in column.values()]

    @property
    def items(self) -> list[str]:
        """Names of the rows."""
        return [str(name) for name in self.table.item.values()]


@dataclass(frozen=True, slots=True)
class Bench:
    """What a control works with.

    Parameters
    ----------
    task : Task
    protocol : Protocol
    populations : mapping of str to Population
    absent : mapping of str to str
        Populations that this run does not have, and why.
    embedder : Embedder
    data : tuple of mapping
        Records of the slices.
    """

    task: Task
    protocol: Protocol
    populations: Mapping[str, Population]
    absent: Mapping[str, str]
    embedder: Embedder
    data: tuple[Mapping[str, Json], ...]


def opened(task: Task) -> Bench:
    """Data read, embedded and put into populations; ``repeats`` are groups of each slice.

    Raises
    ------
    NothingToMeasureError
        When no claim can be measured.
    """
    task.only("data", "embedder", "world")
    found = slices_of(task.declaration.slices, task.inputs, seed=task.seed, most=task.repeats)
    embedder = embedder_of(found, task.inputs)
    populations: dict[str, Population] = {}
    absent: dict[str, str] = {}
    ready = [with_vectors(part, embedder, task.progress) for part in found]
    check_measurable(ready)
    for part in ready:
        for made in populations_of(part, seed=task.seed, absent=absent):
            populations.setdefault(made.name, made)
    return Bench(
        task,
        Protocol.of(task.declaration.table("protocol"), seed=task.seed),
        populations,
        absent,
        embedder,
        tuple(part.record() for part in found),
    )


def populations_of(part: Slice, *, seed: int, absent: dict[str, str]) -> list[Population]:
    """The populations that an embedded slice gives; what it cannot give goes into ``absent``."""
    if part.name == "synthetic":
        return [*_of_world(part), *_foreign(part, (RANDOM,), seed=seed, absent=absent)]
    if part.name == PUBMEDQA:
        return _foreign(part, (NEAREST, RANDOM), seed=seed, absent=absent)
    name = _ROLES.get(part.name, LABELLED)
    own = Population(name, part.name, part.table, part.unsupported)
    if part.name in _ROLES:
        return [own]
    return [own, *_foreign(part, (NEAREST, RANDOM), seed=seed, absent=absent)]


def against(part: Slice | Population, negatives: Negatives, name: str, data: str) -> Population:
    """Claims against their own evidence, and the same against another's.

    Parameters
    ----------
    part : Slice or Population
        Of supported claims, in the order that the negatives were made in.
    negatives : Negatives
    name, data : str
    """
    table = part.table
    n, taken = len(table), negatives.matched.tolist()
    claims = [*range(n), *taken]
    evidence = [*range(n), *negatives.evidence_from[taken].tolist()]
    items = [str(table.item[i]) for i in range(n)]
    wrong = np.arange(len(claims)) >= n
    sentences, weights = table.sentences, table.weights
    made = EvidenceTable(
        item=Column.of([*items, *(f"{items[i]} ~ {items[j]}" for i, j in
                                  zip(taken, evidence[n:], strict=True))]),
        claim=Column.of(table.claim[i] for i in claims),
        evidence=Column.of(table.evidence[j] for j in evidence),
        row_number=np.arange(1, len(claims) + 1),
        whole=np.zeros(len(claims), np.bool_),
        group=None if table.group is None else Column.of(table.group[i] for i in claims),
        sentences=None if sentences is None else Column.of(sentences[i] for i in claims),
        weights=None if weights is None else Column.of(weights[j] for j in evidence),
        vectors=table.vectors,
    )  # fmt: skip
    how = {k: v for k, v in negatives.to_dict().items() if k != "evidence_from"}
    return Population(name, data, made, wrong, how)


def supported(part: Slice) -> Slice:
    """The supported claims of a slice."""
    return replace(part, table=part.table.take(~part.unsupported))


def _of_world(part: Slice) -> list[Population]:
    kinds = [str(k) for k in part.table.extras["kind"].values()]
    found = []
    for kind, name in _WORLD.items():
        rows = np.array([k in ("supported", kind) for k in kinds], np.bool_)
        found.append(Population(name, part.name, part.table.take(rows), part.unsupported[rows]))
    return found


def _foreign(
    part: Slice, names: Sequence[str], *, seed: int, absent: dict[str, str]
) -> list[Population]:
    if part.unsupported.all():
        absent |= dict.fromkeys(names, "no claim is labelled supported")
        return []
    own = supported(part)
    found: list[Population] = []
    for name in names:
        try:
            made = foreign_evidence(own, nearest=name == NEAREST, seed=seed)
        except NoNegativePossible as error:
            absent[name] = str(error)
            continue
        found.append(against(own, made, name, part.name))
    return found


def foreign_evidence(own: Slice, *, nearest: bool, seed: int) -> Negatives:
    """The nearest other source's evidence of every claim, or evidence dealt at random.

    Raises
    ------
    NoNegativePossible
        When there is no other source.
    """
    table = own.table
    texts = [frozenset(p.strip() for p in table.passages(r)) for r in range(len(table))]
    items = [str(name) for name in table.item.values()]
    pool = Pool(items, own.groups, passages=texts)
    if not nearest or len(set(own.groups)) < 2:  # noqa: PLR2004 - another source is wanted
        return deranged(pool, seed=seed)
    known = vectors_of(table)
    claims = known.claim.rows([c or "" for c in table.claim.values()])
    claims[[c not in known.claim.place for c in table.claim.values()]] = np.nan
    read = [[p for p in table.passages(r) if p in known.evidence.place] for r in range(len(table))]
    passages = known.evidence.rows([p for some in read for p in some])
    return hard_centroid(pool, claims, evidence_centroids(passages, [len(some) for some in read]))
