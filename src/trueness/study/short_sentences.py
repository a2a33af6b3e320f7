"""C19: what is never looked at when short sentences are dropped; refusals apart."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from trueness.contract.serial import Json
from trueness.extract.sentence_marks import Mark
from trueness.extract.sentences import split_sentences
from trueness.sensors.energy.params import Params
from trueness.stats.acceptance import reaches
from trueness.stats.rates import Rate, rate
from trueness.study.assessed import absent, difference
from trueness.study.claim_features import claim_features, column_of
from trueness.study.crossed import Floats, kept
from trueness.study.declarations import Declaration
from trueness.study.embedded_inputs import levels, ready
from trueness.study.found import Found
from trueness.study.protocol import Protocol, Scored, scored_of
from trueness.study.results import Record
from trueness.study.slices import Slice
from trueness.study.task import Task
from trueness.table.column import Column
from trueness.table.evidence import EvidenceTable, Marked

KEPT, DROPPED = "kept", "dropped"
"""Largest energy of a claim's sentences: over all of them, and without the short ones."""
REFUSALS = (
    "I don't know.",
    "I cannot answer that from the text.",
    "There is no information about this in the given context.",
    "As an AI language model, I cannot answer this question.",
    "Sorry, but I can't help with that.",
)
"""Refusals of every length, which the splitter is asked about."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the declaration fixes."""

    length: int
    least: float
    level: float
    protocol: Protocol

    @classmethod
    def of(cls, declaration: Declaration, seed: int) -> "Settings":
        """As declared."""
        return cls(
            length=levels(declaration, "length", int)[0],
            least=levels(declaration, "least", float)[0],
            level=levels(declaration, "level", float)[0],
            protocol=Protocol(seed=seed),
        )


def run(task: Task) -> Found:
    """Sentences of each label that a rule on length would never show to the measure.

    Parameters
    ----------
    task : Task
        ``seed``: of the resamples.
        ``repeats``: groups of each slice.
    """
    settings = Settings.of(task.declaration, task.seed)
    found = ready(task, measured=False)  # sentences are counted without evidence too
    table = [_record(part, settings) for part in found.slices]
    rows = tuple(row for record in table for row in rows_of(record, settings))
    return Found(
        rows=(*rows, _refusals()),
        contrasts=contrasts_of(rows, table, settings),
        draws={"repeats": task.repeats, "length": settings.length, "least": settings.least},
        data=found.data(),
        model=found.model(),
        table=tuple(table),
    )


def rows_of(record: Mapping[str, Any], settings: Settings) -> Iterator[Record]:
    """One row a label of a slice.

    Parameters
    ----------
    record : mapping
        As a run leaves it.
    settings : Settings
    """
    unsupported = np.array(record["unsupported"], np.bool_)
    sentences, short = (np.array(record[name], np.int64) for name in ("sentences", "short"))
    marked = np.array(record["marked"], np.int64)
    for name, rows in (("supported", ~unsupported), ("unsupported", unsupported)):
        unseen = (short == sentences) & (sentences > 0)
        yield {
            "name": f"{record['data']}_{name}",
            "data": record["data"],
            "label": name,
            "claims": int(rows.sum()),
            "sentences": int(sentences[rows].sum()),
            "sentences_dropped": _share(short[rows].sum(), sentences[rows].sum(), settings),
            "claims_unseen": _share(unseen[rows].sum(), rows.sum(), settings),
            "claims_touched": _share((short[rows] > 0).sum(), rows.sum(), settings),
            "sentences_marked": int(marked[rows].sum()),
        }


def contrasts_of(
    rows: Sequence[Mapping[str, Any]], table: Sequence[Mapping[str, Any]], settings: Settings
) -> dict[str, Record]:
    """Dropped sentences and unseen claims of the worst slice, and what dropping does to a score.

    Parameters
    ----------
    rows, table : sequence of mapping
    settings : Settings
    """
    wrong = [row for row in rows if row["label"] == "unsupported" and row["claims"]]
    right = [row for row in rows if row["label"] == "supported" and row["claims"]]
    return {
        "unseen": _worst(wrong, "claims_unseen", settings),
        "sentences": _worst(wrong, "sentences_dropped", settings),
        "unseen_supported": {**_worst(right, "claims_unseen", settings), "p": None},
        "score": _scores(table, settings),
    }


def _worst(rows: Sequence[Mapping[str, Any]], field: str, settings: Settings) -> Record:
    known = [row for row in rows if row[field]["of"]]
    if not known:
        return absent("no claim of this label")
    top = max(known, key=lambda row: float(row[field]["share"]))
    seen = top[field]
    return {
        "estimate": seen["share"],
        "low": seen["low"],
        "high": seen["high"],
        "kind": f"{100 * settings.level:g}% Clopper-Pearson",
        "n": seen["of"],
        "p": float(reaches(seen["of"], seen["count"], Fraction(str(settings.least)))),
        "state": seen["state"],
        "where": top["data"],
    }


def _scores(table: Sequence[Mapping[str, Any]], settings: Settings) -> Record:
    """AUROC of the largest sentence energy: all sentences against the long ones alone.

    Of the last slice with both labels, in which claims have several sentences.
    """
    for record in reversed(table):
        scored = _scored(record)
        if scored.unsupported.any() and not scored.unsupported.all():
            return {**difference(scored, KEPT, DROPPED, settings.protocol), "where": scored.data}
    return absent("a class is empty")


def _scored(record: Mapping[str, Any]) -> Scored:
    return scored_of(
        record["data"],
        record["item"],
        record["group"],
        np.array(record["unsupported"], np.bool_),
        {name: column_of(record[name]) for name in (KEPT, DROPPED)},
        data=record["data"],
    )


def _record(part: Slice, settings: Settings) -> Record:
    """Sentences of every claim: how many, how many short, and the largest energy either way."""
    split = [() if s is None else s for s in _sentences(part.table)]
    short = [sum(len(text) <= settings.length for text, _ in found) for found in split]
    largest, long_only = (
        claim_features(table, Params(marked="counted"), influence=False).columns["max_energy"]
        for table in (part.table, _without_short(part.table, settings.length))
    )
    return {
        "data": part.name,
        "item": [str(name) for name in part.table.item.values()],
        "group": list[Json](part.groups),
        "unsupported": list(part.unsupported.astype(int).tolist()),
        "sentences": [len(found) for found in split],
        "short": list[Json](short),
        "marked": [sum(mark is not None for _, mark in found) for found in split],
        KEPT: _plain(largest),
        DROPPED: _plain(long_only),
    }


def _sentences(table: EvidenceTable) -> list[tuple[Marked, ...] | None]:
    return [] if table.sentences is None else list(table.sentences.values())


def _without_short(table: EvidenceTable, length: int) -> EvidenceTable:
    """The same table as if short sentences were not there."""
    long_only = [
        tuple(s for s in found or () if len(s[0]) > length) or None for found in _sentences(table)
    ]
    return replace(table, sentences=Column.of(long_only))


def _refusals() -> Record:
    """How many of the listed refusals the splitter sets apart, and how many are short."""
    apart = [any(s.mark == Mark.REFUSAL for s in split_sentences(text)) for text in REFUSALS]
    texts: list[Json] = [text for text, seen in zip(REFUSALS, apart, strict=True) if not seen]
    return {
        "name": "refusals",
        "listed": len(REFUSALS),
        "apart": sum(apart),
        "not_apart": texts,
    }


def _share(count: int, of: int, settings: Settings) -> dict[str, Json]:
    found: Rate = rate(int(count), int(of), level=settings.level)
    return found.to_dict()


def _plain(values: Floats) -> list[Json]:
    return [None if np.isnan(v) else v for v in kept(values).tolist()]
