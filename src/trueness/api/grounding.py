"""Claims against their evidence: read, embed, measure."""

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
from trueness.table.evidence_reading import read_evidence

SENSOR = "energy"


def ground(
    source: object,
    evidence: object = None,
    *,
    sensor: str = SENSOR,
    embedder: str | Embedder | Callable[[list[str]], Any] = "embedded",
    revision: str | None = None,
    claim: str | None = None,
    item: str | None = None,
    group: str | None = None,
    label: str | None = None,
    weights: str | None = None,
    limit: int | None = None,
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
) -> Reading:
    """Which claims are not carried by their evidence, as far as their embeddings show it.

    Parameters
    ----------
    source : path, data frame, list of dicts, EvidenceTable, or list of n str
        One row a claim; a list of texts are the claims themselves.
    evidence : str, or sequence of n lists of texts
        Name of the column; beside a list of claims their evidence: lists of passages, texts that
        are split, or None.
    sensor : str
        ``energy``, one of its variants such as ``energy.cone``, a baseline, or ``contrast``.
    embedder : str, Embedder, or callable ``list[str] -> (n, d)``
    revision : str, optional
        Of a callable: without one no threshold can be saved.
    claim, item, group, label, weights : str, optional
        Names of columns; ``weights`` holds a number above 0 for each passage, for
        `energy.weighted`.
    limit : int, optional
        Only so many of the first claims.
    split : {"sentences", "none"}
        What becomes of evidence that is one text.
    window, overlap : int
        Passages longer than the embedder reads: cut into windows of so many tokens that share so
        many sentences. Without a window they are refused.
    select : str, optional
        Which passages are measured: ``all``, ``first(m)``, ``top(m)`` by cosine to the claim, or
        ``window(tokens, overlap)``. The same for every use of a threshold.
    corpus : path, or sequence of str, optional
        Texts of a declared corpus, in a file one a line: for `energy.corpus`, `energy.whitened`.
    entailer : str or Entailer, optional
        Judges every sentence against every passage, beside the energy; see
        `trueness.backends.entailers.ENTAILERS`.
    entailer_labels : mapping of str to int, optional
        Places of its labels, where its own names do not tell.
    model : str or Model, optional
        The language model that `contrast` asks how likely it finds claims and contradictions:
        ``embedded`` when left out, or any that offers ``scores``.
    cache : path, optional
        File of vectors of earlier runs.
    advance : callable, optional
        Is told (texts done, texts in all, role).
    **params
        Parameters of the sensor.

    Returns
    -------
    Reading
        Every claim is in ``per_item`` with its state.

    Raises
    ------
    InputError
        When the source cannot be read, or a name is unknown.
    BackendError, MissingExtraError
        When the embedder cannot be had, or fails on every text.

    Examples
    --------
    >>> def letters(texts): return [[float(t.count(c)) for c in "abcdefgh"] for t in texts]
    >>> reading = ground(["bad"], [["bed", "cab"]], embedder=letters)
    >>> reading.per_item[0].state.value, 0 < reading.value < 1
    ('MEASURED', True)
    """
    names = {"claim": claim, "item": item, "group": group, "label": label, "weights": weights}
    table = _table(source, evidence, names, limit=limit)
    means = means_of(
        sensor,
        embedder=embedder,
        revision=revision,
        split=split,
        window=window,
        overlap=overlap,
        select=select,
        corpus=corpus,
        entailer=entailer,
        entailer_labels=entailer_labels,
        model=model,
        cache=cache,
        advance=advance,
        **params,
    )
    return means.measured(means.embedded(table))


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
            cache=self.cache,
            advance=self.advance,
        )

    def measured(self, table: EvidenceTable) -> Reading:
        """The reading of a table that was embedded."""
        if self.judge is not None:
            table = judge_table(table, self.judge, cache=self.cache)
        if self.model is not None and table.likelihoods is None:
            table = _scored(table, self.model, self.advance)
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


def _scored(table: EvidenceTable, model: str | Model, advance: Advance | None) -> EvidenceTable:
    """The table with likelihoods; a model that was opened for it is closed again."""
    if not isinstance(model, str):
        return score_table(table, model, advance=advance)
    opened = open_model(model, download=False)
    try:
        return score_table(table, opened, advance=advance)
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


def _table(
    source: object, evidence: object, names: Mapping[str, str | None], *, limit: int | None
) -> EvidenceTable:
    """The table of a source, or of claims and their evidence side by side."""
    if evidence is None or isinstance(evidence, str):
        if isinstance(source, (list, tuple)) and source and isinstance(source[0], str):
            msg = f"{len(source)} claims and no evidence; give one list of passages a claim."
            raise InputError(msg)
        return read_evidence(source, evidence=evidence, limit=limit, **names)
    if not isinstance(source, Sequence) or isinstance(source, (str, bytes)):
        msg = (
            f"evidence is a {type(evidence).__name__} beside a {type(source).__name__}; give a "
            "list of claims and a list with the evidence of each, or one table."
        )
        raise InputError(msg)
    if not isinstance(evidence, Sequence) or len(evidence) != len(source):
        n = len(evidence) if isinstance(evidence, Sequence) else type(evidence).__name__
        msg = f"{len(source)} claims and evidence for {n}; give one list of passages a claim."
        raise InputError(msg)
    if any(names.values()):
        msg = "columns were named, and the claims are a list without columns. Leave them out."
        raise InputError(msg)
    pairs = zip(source, evidence, strict=True)
    return read_evidence([{"claim": c, "evidence": e} for c, e in pairs], limit=limit)
