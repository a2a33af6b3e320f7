"""Every sentence of a claim against every passage, as an entailer judges it."""

from dataclasses import replace

from trueness.backends.entailment import Entailer, judge_pairs
from trueness.backends.vectors import VectorCache
from trueness.table.evidence import EvidenceTable
from trueness.table.vectors import Judged


def judge_table(
    table: EvidenceTable, entailer: Entailer, *, cache: VectorCache | None = None
) -> EvidenceTable:
    """The table with the judgement of each distinct pair of passage and sentence.

    Parameters
    ----------
    table : EvidenceTable
        With its claims split into sentences.
    entailer : Entailer
    cache : VectorCache, optional

    Raises
    ------
    InputError, BackendError
        As the entailer does.
    """
    pairs = sorted(
        {
            (passage, sentence)
            for row in range(len(table))
            for passage in table.passages(row)
            if passage.strip()
            for sentence, _ in (table.sentences[row] if table.sentences else None) or ()
        }
    )
    found = judge_pairs(entailer, pairs, cache=cache)
    judged = Judged(
        {
            pair: (f.entailment, f.neutral, f.contradiction)
            for pair, f in zip(pairs, found, strict=True)
        },
        identity=dict(entailer.identity),
        versions=dict(entailer.versions),
    )
    return replace(table, judged=judged)
