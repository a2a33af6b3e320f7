"""What claims are measured by: the sensor, its parameters, and what embeds, cuts and judges."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from trueness import sensors
from trueness.backends.embedder import Embedder
from trueness.backends.entailers import open_entailer
from trueness.backends.entailment import Entailer
from trueness.backends.protocol import Model
from trueness.backends.registry import open_embedder, open_model
from trueness.backends.vectors import VectorCache
from trueness.collect.contrasting import contrast_table, score_table
from trueness.collect.corpora import read_corpus
from trueness.collect.embedding import Advance, embed_table
from trueness.collect.judging_pairs import judge_table
from trueness.collect.passages import Cuts, cut
from trueness.collect.selecting import parse_selection
from trueness.contract import Reading
from trueness.contract.errors import InputError
from trueness.table.evidence import EvidenceTable

SENSOR = "energy"


@dataclass(frozen=True, slots=True)
class Means:
    """What a table of claims is measured by; made by `means_of`."""

    module: Any
    params: Any
    cuts: Cuts
    embedder: str | Embedder | Callable[[list[str]], Any]
    revision: str | None
    noise: float | None
    corpus: str | Path | Sequence[str] | None
    judge: Entailer | None
    model: str | Model | None
    cache: VectorCache | None
    advance: Advance | None

    def embedded(self, table: EvidenceTable) -> EvidenceTable:
        """The table, cut, with vectors where the sensor reads them."""
        if table.vectors is not None:
            return table
        if self.model is not None:
            table = contrast_table(table, per_kind=self.params.per_kind)
        texts = None if self.corpus is None else read_corpus(self.corpus)
        if not self.module.NEEDS_VECTORS:
            return cut(table, self.cuts, None)
        return embed_table(
            table,
            open_embedder(self.embedder, revision=self.revision, download=False),
            cuts=self.cuts,
            noise=self.noise,
            corpus=texts,
            check=getattr(self.params, "check", None),
            cache=self.cache,
            advance=self.advance,
        )

    def measured(self, table: EvidenceTable) -> Reading:
        """The reading of a table that was embedded."""
        if self.judge is not None:
            table = judge_table(table, self.judge, cache=self.cache)
        if self.model is not None and table.likelihoods is None:
            kept = None if self.cache is None else self.cache.path
            table = _scored(table, self.model, kept, self.advance)
        found: Reading = self.module.measure(table, self.params)
        return found


def means_of(
    sensor: str = SENSOR,
    *,
    embedder: str | Embedder | Callable[[list[str]], Any] = "embedded",
    revision: str | None = None,
    split: Literal["sentences", "none"] = "sentences",
    window: int | None = None,
    overlap: int = 0,
    select: str | None = None,
    corpus: str | Path | Sequence[str] | None = None,
    entailer: str | Entailer | None = None,
    entailer_labels: Mapping[str, int] | None = None,
    model: str | Model | None = None,
    cache: str | Path | None = None,
    advance: Advance | None = None,
    **params: Any,
) -> Means:
    """What a table is measured by, from the parameters of `ground`; all of it is checked here.

    Raises
    ------
    InputError, AmbiguousLabels, MissingExtraError, BackendError
    """
    module = sensors.find(sensor)
    check_read(module, corpus=corpus, entailer=entailer)
    for name, text in (("select", select), ("revision", revision)):
        if not isinstance(text, str | None):
            msg = f"{name} is {text!r}, a {type(text).__name__}; give a text, or leave it out."
            raise InputError(msg)
    ways = _selected(select, params, {"window": window, "overlap": overlap})
    return Means(
        module,
        params_of(module, params | ways.sensor),
        Cuts(split, **ways.cuts),
        embedder,
        revision,
        params.get("embedding_noise"),
        corpus,
        None if entailer is None else open_entailer(entailer, labels=entailer_labels),
        _asked(module, model),
        None if cache is None else VectorCache(Path(cache)),
        advance,
    )


def check_read(module: Any, **given: object) -> None:
    """Refuse what a sensor does not read: it would change nothing, and nobody would see that.

    Raises
    ------
    InputError
        Naming the sensors that read it.
    """
    reads: frozenset[str] = getattr(module, "READS", frozenset())
    idle = [name for name, value in given.items() if value is not None and name not in reads]
    if not idle:
        return
    users = [n for n in sensors.SENSORS if idle[0] in getattr(sensors.find(n), "READS", ())]
    msg = (
        f"{idle[0]} is given, and the sensor {module.CONTRACT.sensor!r} does not read it. Leave it "
        f"out, or name a sensor that does: {', '.join(users)}."
    )
    raise InputError(msg)


def _asked(module: Any, model: str | Model | None) -> str | Model | None:
    """The language model that a sensor needs; refuses one that nobody would ask."""
    if getattr(module, "NEEDS_SCORES", False):
        return model or "embedded"
    if model is not None:
        msg = (
            f"the sensor {module.CONTRACT.sensor!r} asks no language model, and a model was named. "
            "Leave it out, or name the sensor contrast."
        )
        raise InputError(msg)
    return None


def _scored(
    table: EvidenceTable, model: str | Model, cache: Path | None, advance: Advance | None
) -> EvidenceTable:
    """The table with likelihoods; a model that was opened for it is closed again."""
    if not isinstance(model, str):
        return score_table(table, model, cache=cache, advance=advance)
    opened = open_model(model, download=False)
    try:
        return score_table(table, opened, cache=cache, advance=advance)
    finally:
        opened.close()


@dataclass(frozen=True, slots=True)
class _Ways:
    """A selection carried out: by the sensor, or where passages are cut."""

    sensor: dict[str, Any]
    cuts: dict[str, Any]


def _selected(select: str | None, params: Mapping[str, Any], cuts: dict[str, Any]) -> _Ways:
    if select is None:
        return _Ways({}, cuts)
    found = parse_selection(select)
    given = {**params, **{k: v for k, v in cuts.items() if v}}
    twice = [name for name in found if name in given]
    if twice:
        msg = (
            f"select is {select!r} and {twice[0]} is {given[twice[0]]!r}; say it once, by select "
            "or by its parts."
        )
        raise InputError(msg)
    if "window" in found:
        return _Ways({}, found)
    return _Ways(found, cuts)


def params_of(module: Any, given: dict[str, Any]) -> Any:
    """The parameters of a sensor of claims.

    Raises
    ------
    InputError
        When the sensor reads no claims, or has no such parameter.
    """
    name = module.CONTRACT.sensor
    if getattr(module, "TABLE", "answers") != "evidence":
        known = [n for n in sorted(sensors.SENSORS) if _reads_claims(n)]
        msg = f"the sensor {name!r} reads no claims with evidence. Choose: {', '.join(known)}."
        raise InputError(msg)
    known = sorted(f.name for f in fields(module.Params))
    if unknown := sorted(set(given) - set(known)):
        msg = (
            f"{unknown[0]!r} is no parameter of {name!r}; its parameters are: "
            f"{', '.join(known)}. Name one of these."
        )
        raise InputError(msg)
    return module.Params(**given)


def _reads_claims(name: str) -> bool:
    return getattr(sensors.find(name), "TABLE", "answers") == "evidence"
