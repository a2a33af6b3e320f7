"""C7: a threshold made with one embedder, used with another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.backends.embedder import NOISE, Embedder, Role
from trueness.backends.registry import open_embedder
from trueness.backends.vectors import VectorCache
from trueness.backends.weights import cache_dir
from trueness.collect.embedding import embed_table
from trueness.collect.passages import Cuts
from trueness.contract.errors import BackendError, MissingExtraError
from trueness.contract.serial import Json
from trueness.contract.states import State
from trueness.stats.acceptance import reaches
from trueness.stats.rates import Rate
from trueness.study.accepting import Threshold, threshold
from trueness.study.assessed import above_half, absent
from trueness.study.claim_features import ENERGY, column_of
from trueness.study.crossed import Crossed, Floats
from trueness.study.declarations import Declaration
from trueness.study.embedded_inputs import levels
from trueness.study.found import Found
from trueness.study.inputs import Inputs
from trueness.study.lsa import LsaEmbedder
from trueness.study.measurable import check_supported
from trueness.study.protocol import Protocol, scored_of
from trueness.study.results import Record
from trueness.study.searched import hard_centroid
from trueness.study.slices import Slice, slices_of
from trueness.study.task import Task
from trueness.table.evidence import EvidenceTable

Vectors: TypeAlias = NDArray[np.float64]

LSA = "lsa"
ROTATED, SHIFTED = "rotated", "shifted"
"""Of the made world: the same geometry turned round, and with one direction common to all."""
_COMMON = 1.5


@dataclass(frozen=True, slots=True)
class Settings:
    """What the declaration fixes."""

    budget: float
    level: float
    embedders: tuple[str, ...]
    protocol: Protocol

    @classmethod
    def of(cls, declaration: Declaration, seed: int) -> "Settings":
        """As declared."""
        return cls(
            budget=levels(declaration, "budget", float)[0],
            level=levels(declaration, "level", float)[0],
            embedders=levels(declaration, "embedder", str),
            protocol=Protocol(seed=seed),
        )


def run(task: Task) -> Found:
    """False acceptance at every embedder's threshold under every other.

    Parameters
    ----------
    task : Task
        ``inputs``: a named embedder stands in place of the embedded one.
        ``seed``: of the halves.
        ``repeats``: groups of the slice.
    """
    task.only("data", "embedder", "world")
    settings = Settings.of(task.declaration, task.seed)
    (part,) = slices_of(task.declaration.slices, task.inputs, seed=task.seed, most=task.repeats)
    check_supported(part)
    opened, missing = _opened(part, task.inputs, settings)
    groups = sorted(set(part.groups))
    order = np.random.default_rng(task.seed).permutation(len(groups))
    first = {groups[i] for i in order[: len(groups) // 2].tolist()}
    table: list[Record] = []
    for name, embedder in opened.items():
        task.say(f"embedding {part.name} with {name}")
        vectors = _embedded(part.table, embedder, cached=part.embedder is None)
        table.append(_measured(name, embedder, vectors, part, first))
    rows, contrasts = judged(table, missing, settings)
    return Found(
        rows=rows,
        contrasts={
            c.name: contrasts.get(c.name, absent(_why(c.name, missing)))
            for c in task.declaration.contrasts
        },
        draws={"repeats": task.repeats, "budget": settings.budget, "level": settings.level},
        notes=tuple(f"{name} was not run: {why}" for name, why in missing.items()),
        data=(part.record(),),
        model={"id": "several", "embedders": [dict(e.identity) for e in opened.values()]},
        table=tuple(table),
    )


def judged(
    table: Sequence[Mapping[str, Any]], missing: Mapping[str, str], settings: Settings
) -> tuple[tuple[Record, ...], dict[str, Record]]:
    """One row an embedder and one a pair in either direction, and the contrasts.

    Parameters
    ----------
    table : sequence of mapping
        As a run leaves them.
    missing : mapping of str to str
        Embedders that were not run, and why.
    settings : Settings
    """
    gates = {str(r["embedder"]): _gate(r, settings) for r in table}
    rows: list[Record] = [_alone(r, gates[str(r["embedder"])], settings) for r in table]
    rows += [
        {"name": name, "state": State.NOT_APPLICABLE.value, "where": f"not run: {why}"}
        for name, why in missing.items()
    ]
    shares: dict[tuple[str, str], Rate] = {}
    for one in table:
        for two in table:
            pair = str(one["embedder"]), str(two["embedder"])
            if pair[0] != pair[1]:
                shares[pair] = _accepted(two, gates[pair[0]], settings)
                rows.append(_directed(pair, shares[pair], two, gates, settings))
    return tuple(rows), _contrasts(shares, list(gates), settings)


def _contrasts(
    shares: Mapping[tuple[str, str], Rate], names: Sequence[str], settings: Settings
) -> dict[str, Record]:
    """Every pair by its worse direction, and the worst of all pairs."""
    found: dict[str, Record] = {}
    for one, two in combinations(names, 2):
        worse = max((one, two), (two, one), key=lambda pair: _share(shares[pair]))
        found[f"{one}_{two}"] = _against_budget(shares[worse], worse, settings)
    known = {pair: seen for pair, seen in shares.items() if seen.of}
    found["worst"] = absent("fewer than two embedders with a threshold")
    if known:
        top = max(known, key=lambda pair: _share(known[pair]))
        kept = sum(
            all(shares[p].of > 0 and shares[p].high <= settings.budget for p in (pair, pair[::-1]))
            for pair in combinations(names, 2)
        )
        found["worst"] = {
            **_against_budget(known[top], top, settings),
            "pairs": len(list(combinations(names, 2))),
            "pairs_that_transfer": kept,
        }
    return found


def _against_budget(seen: Rate, pair: tuple[str, str], settings: Settings) -> Record:
    if not seen.of:
        return absent("no threshold, or nothing measured")
    return {
        "estimate": seen.share,
        "low": seen.low,
        "high": seen.high,
        "kind": f"{100 * settings.level:g}% Clopper-Pearson",
        "n": seen.of,
        "p": float(reaches(seen.of, seen.count, Fraction(str(settings.budget)))),
        "state": seen.state.value,
        "where": f"{pair[0]} used with {pair[1]}",
    }


def _alone(record: Mapping[str, Any], gate: Threshold, settings: Settings) -> Record:
    """An embedder under its own threshold, and its AUROC of nearest foreign against own."""
    own, foreign = column_of(record["own"]), column_of(record["foreign"])
    later = ~np.array(record["calibration"], np.bool_)
    there = np.concatenate([~np.isnan(own), ~np.isnan(foreign)])
    scored = scored_of(
        str(record["embedder"]),
        [f"{kind} {item}" for kind in ("own", "foreign") for item in record["item"]],
        [*record["group"], *record["group"]],
        np.repeat([False, True], len(own)),
        {ENERGY: np.where(there, np.concatenate([own, foreign]), np.nan)},
    )
    ranked = above_half(scored, ENERGY, settings.protocol)
    return {
        "name": record["embedder"],
        "state": State.MEASURED.value,
        "dimension": record["dimension"],
        "unmeasured": record["unmeasured"],
        "mean_own": _mean(own),
        "mean_foreign": _mean(foreign),
        "auroc": ranked["estimate"],
        "auroc_low": ranked["low"],
        "auroc_high": ranked["high"],
        "gate": gate.to_dict(),
        "accepted": gate.share(foreign[later], level=settings.level).to_dict(),
        "accepted_supported": gate.share(own[later], level=settings.level).to_dict(),
    }


def _directed(
    pair: tuple[str, str],
    seen: Rate,
    two: Mapping[str, Any],
    gates: Mapping[str, Threshold],
    settings: Settings,
) -> Record:
    """A foreign threshold beside the one that was made for the embedder."""
    later = ~np.array(two["calibration"], np.bool_)
    own = column_of(two["own"])[later]
    return {
        "name": f"{pair[0]}_to_{pair[1]}",
        "from": pair[0],
        "to": pair[1],
        "accepted": seen.to_dict(),
        "accepted_recalibrated": _accepted(two, gates[pair[1]], settings).to_dict(),
        "accepted_supported": gates[pair[0]].share(own, level=settings.level).to_dict(),
        "accepted_supported_recalibrated": gates[pair[1]].share(own).to_dict(),
        "within_budget": bool(seen.of) and seen.high <= settings.budget,
    }


def _gate(record: Mapping[str, Any], settings: Settings) -> Threshold:
    first = np.array(record["calibration"], np.bool_)
    return threshold(
        column_of(record["foreign"])[first],
        budget=settings.budget,
        level=settings.level,
        population=str(record["population"]),
    )


def _accepted(record: Mapping[str, Any], gate: Threshold, settings: Settings) -> Rate:
    later = ~np.array(record["calibration"], np.bool_)
    return gate.share(column_of(record["foreign"])[later], level=settings.level)


def _share(seen: Rate) -> float:
    return -1.0 if seen.share is None else seen.share


def _measured(
    name: str, embedder: Embedder, table: EvidenceTable, part: Slice, first: set[str]
) -> Record:
    """Energies of supported claims on their own and on the nearest foreign evidence."""
    check_supported(replace(part, table=table))
    crossed = Crossed.of(table, ~part.unsupported)
    near = hard_centroid(crossed.pool(), crossed.claims(), crossed.centroids())
    places = near.matched
    own = crossed.measures(places, places, (ENERGY,))[ENERGY]
    foreign = crossed.measures(places, near.evidence_from[places], (ENERGY,))[ENERGY]
    return {
        "embedder": name,
        "identity": dict(embedder.identity),
        "dimension": crossed.claims().shape[1],
        "population": near.population,
        "unmeasured": int((~part.unsupported).sum()) - len(places),
        "item": [crossed.items[i] for i in places.tolist()],
        "group": [crossed.groups[i] for i in places.tolist()],
        "calibration": [int(crossed.groups[i] in first) for i in places.tolist()],
        "own": _plain(own),
        "foreign": _plain(foreign),
    }


def _opened(
    part: Slice, inputs: Inputs, settings: Settings
) -> tuple[dict[str, Embedder], dict[str, str]]:
    """The embedders by name, and why others cannot be had."""
    if part.embedder is not None:
        world = part.embedder
        size = int(str(world.identity["dimension"]))
        return {
            "world": world,
            ROTATED: _Turned(world, _rotation(size), 0.0, ROTATED),
            SHIFTED: _Turned(world, np.eye(size), _COMMON, SHIFTED),
        }, {}
    found: dict[str, Embedder] = {}
    missing: dict[str, str] = {}
    for name in settings.embedders:
        chosen = inputs.embedder or name if name == settings.embedders[0] else name
        try:
            found[name] = _named(chosen, part)
        except (MissingExtraError, BackendError) as error:
            missing[name] = str(error)
    return found, missing


def _named(name: str, part: Slice) -> Embedder:
    if name != LSA:
        return open_embedder(name, download=False)
    texts = [t for row in range(len(part.table)) for t in part.table.passages(row)]
    return LsaEmbedder(texts)


def _embedded(table: EvidenceTable, embedder: Embedder, *, cached: bool) -> EvidenceTable:
    """With vectors; weights of few bits are part of an embedder, its arithmetic is float32."""
    known = str(embedder.identity.get("dtype")) in NOISE
    cache = VectorCache(cache_dir() / "vectors.sqlite") if cached else None
    return embed_table(
        table,
        embedder,
        cuts=Cuts(window=embedder.max_tokens),
        noise=None if known else NOISE["float32"],
        cache=cache,
    )


class _Turned:
    """The made world's vectors turned round, with a direction added that all have in common."""

    max_tokens = None
    exact = True

    def __init__(self, world: Embedder, turn: Vectors, common: float, name: str) -> None:
        self._world = world
        self._turn = turn
        self._shift = np.zeros(len(turn))
        self._shift[0] = common
        self._name = name

    @property
    def identity(self) -> Mapping[str, Json]:
        return {**self._world.identity, "id": f"world:{self._name}"}

    @property
    def versions(self) -> Mapping[str, str]:
        return self._world.versions

    def count_tokens(self, texts: Sequence[str], role: Role) -> tuple[int | None, ...]:
        return self._world.count_tokens(texts, role)

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        made = np.asarray(self._world.embed(texts, role), np.float64)
        moved: Vectors = made @ self._turn + self._shift
        return moved


def _rotation(size: int) -> Vectors:
    found: Vectors = np.linalg.qr(np.random.default_rng(1).standard_normal((size, size)))[0]
    return found


def _why(name: str, missing: Mapping[str, str]) -> str:
    gone = [f"{other}: {why}" for other, why in missing.items() if other in name.split("_")]
    return "; ".join(gone) or "other embedders were run"


def _plain(values: Floats) -> list[Json]:
    return [None if np.isnan(v) else v for v in values.tolist()]


def _mean(values: Floats) -> float | None:
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else None
