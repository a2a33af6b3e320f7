"""Claims against their evidence: read, embed, measure."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from trueness import sensors
from trueness.api.means import SENSOR, check_read, means_of
from trueness.backends.embedder import Embedder
from trueness.backends.entailment import Entailer
from trueness.backends.protocol import Model
from trueness.collect.embedding import Advance
from trueness.contract import Reading
from trueness.contract.errors import InputError
from trueness.table.evidence import EvidenceTable
from trueness.table.evidence_reading import read_evidence


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
    check_read(sensors.find(sensor), weights=weights)
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
