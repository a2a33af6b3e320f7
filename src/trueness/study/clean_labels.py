"""C18: what a label means: declarative claims or questions, answers alone, whole holdings."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from trueness.backends.embedder import Embedder
from trueness.contract.errors import InputError
from trueness.stats.operating_points import separation
from trueness.study.assessed import above_half, absent, difference, generator, percentile
from trueness.study.claim_features import ENERGY, column_of, measured_spans
from trueness.study.crossed import Crossed, Floats, kept
from trueness.study.embedded_inputs import ready, vectors_of
from trueness.study.found import Found
from trueness.study.protocol import Protocol, Scored, scored_from, scored_of
from trueness.study.published import published_of
from trueness.study.results import Record
from trueness.study.searched import hard_centroid
from trueness.study.slices import HALUEVAL, HALUEVAL_ANSWERS, PUBMEDQA, Slice
from trueness.study.task import Progress, Task
from trueness.table.column import Column

QUESTION = "question"
_MISSING = (
    "no data whose labels are whole holdings or judged claims comes along: run it with --data FILE"
)


def run(task: Task) -> Found:
    """How the separation of right and wrong hangs on what was labelled.

    Parameters
    ----------
    task : Task
        ``inputs``: a file stands for the data whose labels are to be looked at.
        ``seed``: of the resamples.
        ``repeats``: groups of each slice.
    """
    found = ready(task)
    table = [
        scored.to_record()
        for scored in _scored(
            {part.name: part for part in found.slices}, found.embedder, task.progress
        )
    ]
    protocol = Protocol(seed=task.seed)
    rows, contrasts = judged(table, protocol)
    return Found(
        rows=rows,
        contrasts=contrasts,
        draws={"repeats": task.repeats},
        notes=() if contrasts["given"]["estimate"] is not None else (f"Not run: {_MISSING}.",),
        published=published_of(task.declaration, {"rows": rows}),
        data=found.data(),
        model=found.model(),
        table=tuple(table),
    )


def judged(
    table: Sequence[Record], protocol: Protocol
) -> tuple[tuple[Record, ...], dict[str, Record]]:
    """One row a population and wording, and the contrasts, from the table alone.

    Parameters
    ----------
    table : sequence of mapping
        As a run leaves them.
    protocol : Protocol
    """
    known = {scored.name: scored for scored in map(scored_from, table)}
    rows = tuple(
        {"name": f"{name}_{column}", **_row(scored, column, protocol)}
        for name, scored in known.items()
        for column in scored.columns
    )
    contrasts: dict[str, Record] = {
        "questions": _compared(known.get(PUBMEDQA), ("claim", QUESTION), protocol),
        "answers": _compared(known.get(HALUEVAL), ("claim", "answer"), protocol),
        "given": absent(_MISSING),
    }
    for name in ("own", "synthetic"):
        if name in known:
            contrasts["given"] = apart(known[name], "claim", protocol)
    return rows, contrasts


def apart(scored: Scored, column: str, protocol: Protocol) -> Record:
    """Separation of unsupported and supported in the supported's deviations, over sources.

    Parameters
    ----------
    scored : Scored
    column : str
    protocol : Protocol
    """
    risk, wrong, groups = scored.columns[column], scored.unsupported, scored.groups
    there = ~np.isnan(risk)
    estimate = _separated(risk[there], wrong[there])
    if estimate is None:
        return absent("a class is empty or does not vary")
    names, code = np.unique(groups[there], return_inverse=True)
    members = [np.flatnonzero(code == i) for i in range(len(names))]
    rng = generator(protocol)
    resampled = np.full(protocol.resamples, np.nan)
    for turn in range(protocol.resamples):
        drawn = rng.integers(len(members), size=len(members))
        rows = np.concatenate([members[i] for i in drawn.tolist()])
        value = _separated(risk[there][rows], wrong[there][rows])
        resampled[turn] = np.nan if value is None else value
    found = percentile(resampled, estimate, 0.0, protocol)
    return {**found, "unit": "source", "n": len(names), "n_rows": int(there.sum())}


def _separated(risk: Floats, wrong: Any) -> float | None:
    if wrong.all() or not wrong.any():
        return None
    return separation(risk[~wrong], risk[wrong]).supported_sd


def _row(scored: Scored, column: str, protocol: Protocol) -> Record:
    ranked = above_half(scored, column, protocol)
    risk = scored.columns[column]
    there = ~np.isnan(risk)
    right, wrong = (risk[there & (scored.unsupported == side)] for side in (False, True))
    return {
        "data": scored.data,
        "column": column,
        "n_supported": len(right),
        "n_unsupported": len(wrong),
        "n_unmeasured": int((~there).sum()),
        "mean_supported": float(right.mean()) if len(right) else None,
        "mean_unsupported": float(wrong.mean()) if len(wrong) else None,
        "separation_supported_sd": _separated(risk[there], scored.unsupported[there]),
        "auroc": ranked["estimate"],
        "auroc_low": ranked["low"],
        "auroc_high": ranked["high"],
    }


def _compared(scored: Scored | None, columns: tuple[str, str], protocol: Protocol) -> Record:
    if scored is None or any(c not in scored.columns for c in columns):
        return absent("this data has no second wording of its claims")
    return difference(scored, *columns, protocol)


def _scored(
    parts: Mapping[str, Slice], embedder: Embedder, progress: Progress | None
) -> list[Scored]:
    """Populations with one column a wording of the same claims."""
    found = []
    for name, part in parts.items():
        if name == PUBMEDQA:
            asked = vectors_of(_asking(part), embedder, progress)
            found.append(_against_foreign(part, {"claim": part, QUESTION: asked}))
        elif name == HALUEVAL and HALUEVAL_ANSWERS in parts:
            found.append(_labelled(part, {"claim": part, "answer": parts[HALUEVAL_ANSWERS]}))
        elif name not in {HALUEVAL, HALUEVAL_ANSWERS}:
            found.append(_labelled(part, {"claim": part}))
    return found


def _asking(part: Slice) -> Slice:
    """The same rows with their question as the claim."""
    asked = part.table.extras.get(QUESTION)
    if asked is None:
        msg = f"{part.name} has no column {QUESTION}; a wording as a question needs it. Add it."
        raise InputError(msg)
    table = replace(part.table, claim=Column.of(asked.values()), sentences=None, vectors=None)
    return replace(part, name=f"{part.name}, questions", table=table)


def _against_foreign(part: Slice, wordings: Mapping[str, Slice]) -> Scored:
    """Own evidence against the nearest foreign one, in the eyes of each wording."""
    usable = ~part.unsupported
    for worded in wordings.values():
        rows = Crossed.of(worded.table, usable).rows
        usable = usable & np.isin(np.arange(len(part.table)), rows)
    base = Crossed.of(part.table, usable)
    every = np.arange(len(base))
    columns = {}
    for name, worded in wordings.items():
        crossed = Crossed.of(worded.table, usable)
        near = hard_centroid(crossed.pool(), crossed.claims(), crossed.centroids())
        places = near.matched
        foreign = np.full(len(base), np.nan)
        foreign[places] = crossed.measures(places, near.evidence_from[places], (ENERGY,))[ENERGY]
        own = crossed.measures(every, every, (ENERGY,))[ENERGY]
        columns[name] = np.concatenate([own, foreign])
    return scored_of(
        part.name,
        [f"{item} {side}" for side in ("own", "foreign") for item in base.items],
        [*base.groups, *base.groups],
        np.repeat([False, True], len(base)),
        columns,
        data=part.name,
    )


def _labelled(part: Slice, wordings: Mapping[str, Slice]) -> Scored:
    """As labelled, one column a wording."""
    items = [str(name) for name in part.table.item.values()]
    columns = {name: _energies(worded) for name, worded in wordings.items()}
    return scored_of(part.name, items, part.groups, part.unsupported, columns, data=part.name)


def _energies(part: Slice) -> Floats:
    return kept(column_of([s.energy for s in measured_spans(part.table)]))
