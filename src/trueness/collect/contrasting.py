"""Claims with their contradictions, and how likely a model finds both with and without evidence."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from trueness.backends.protocol import Model
from trueness.backends.scoring import Continuation, Scored, scorer_of
from trueness.collect.score_cache import CachedScorer
from trueness.extract.contradictions.making import CONTRADICTIONS, PER_KIND, contradicted
from trueness.table.column import Column
from trueness.table.contrasts import Contradicted, Likelihoods, Passages
from trueness.table.evidence import EvidenceTable

PROMPT = "contrast/1"
"""Name of what stands before a text that is scored; part of every fingerprint."""
_HEAD = "Statement:"
_VERSION = "backend_version"
"""Of a model's identity: recorded, and no part of a fingerprint."""
_WITH, _WITHOUT = "given", "alone"
_NOT_FINITE = "not_finite"
Advance = Callable[[int, int, str], None]


def prompt_of(passages: Passages) -> str:
    r"""What stands before a claim: its passages and a heading, or the heading alone.

    The heading stands in both, so that a model without a start-of-text token has something to begin
    behind, and so that both texts follow the same words.

    >>> prompt_of(("A is.", " B is.")), prompt_of(())
    ('A is. B is.\n\nStatement:', 'Statement:')
    """
    body = " ".join(p.strip() for p in passages if p.strip())
    return f"{body}\n\n{_HEAD}" if body else _HEAD


def contrast_table(table: EvidenceTable, *, per_kind: int = PER_KIND) -> EvidenceTable:
    """The table with the contradictions of every claim; made before it is embedded."""
    found = [
        contradicted(claim, table.passages(row), per_kind=per_kind)
        if claim is not None and claim.strip() and any(p.strip() for p in table.passages(row))
        else None
        for row, claim in enumerate(table.claim.values())
    ]
    return replace(table, contradicted=Column.of(found))


def score_table(
    table: EvidenceTable,
    model: Model,
    *,
    cache: Path | None = None,
    advance: Advance | None = None,
) -> EvidenceTable:
    """The table with the likelihoods of every claim that has contradictions, and of these.

    Every distinct pair of evidence and text is scored once, and every distinct text once without
    evidence. A failure is kept as its reason.

    Parameters
    ----------
    table : EvidenceTable
        With contradictions.
    model : Model
        That offers ``scores``.
    cache : Path, optional
        A file of earlier scores; None neither reads nor writes one.
    advance : callable, optional
        Is told (texts done, texts in all, "score").

    Raises
    ------
    InputError
        When the model does not say how likely a given text is.
    BackendError
        When none could be tried.
    """
    scorer = scorer_of(model, what="the sensor contrast")
    if cache is not None:
        scorer = CachedScorer(model, scorer, cache)
    pairs = sorted(set(_pairs(table)))
    texts = sorted({text for _, text in pairs})
    asked = [
        *(Continuation((str(i), _WITH), prompt_of(p), f" {t}") for i, (p, t) in enumerate(pairs)),
        *(Continuation((str(i), _WITHOUT), prompt_of(()), f" {t}") for i, t in enumerate(texts)),
    ]
    found: dict[tuple[str, str], float | str] = {}
    for score in scorer.score(asked) if asked else ():
        found[score.key] = _value(score)
        if advance is not None:
            advance(len(found), len(asked), "score")
    given = {pair: found.get((str(i), _WITH), "no_reply") for i, pair in enumerate(pairs)}
    alone = {text: found.get((str(i), _WITHOUT), "no_reply") for i, text in enumerate(texts)}
    known = dict(model.identity)
    versions = {"model backend": str(known.pop(_VERSION, "not said"))}
    identity = {**known, "prompt": PROMPT, "edits": CONTRADICTIONS}
    likelihoods = Likelihoods(given, alone, identity, versions, n_scored=len(asked))
    return replace(table, likelihoods=likelihoods)


def _pairs(table: EvidenceTable) -> Iterator[tuple[Passages, str]]:
    """Evidence with each text that is scored behind it."""
    made = [None] * len(table) if table.contradicted is None else table.contradicted.values()
    for row, contrasts in enumerate(made):
        claim, passages = table.claim[row], table.passages(row)
        if isinstance(contrasts, Contradicted) and contrasts.found and claim is not None:
            yield passages, claim
            for variant in contrasts.found:
                yield passages, variant.text


def _value(score: Scored) -> float | str:
    if score.error is not None:
        return score.error
    value = score.logprob
    finite = value is not None and abs(value) < float("inf")
    return float(value) if finite and value is not None else _NOT_FINITE
