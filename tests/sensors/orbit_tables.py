"""Tables made by hand for the tests of certified errors; keys are given."""

from collections.abc import Mapping, Sequence

import numpy as np

from trueness.extract import exact_number
from trueness.sensors.orbits import Declaration, Params
from trueness.table import OUTCOMES, AnswerTable, Column, Outcome

Cell = str | None


def answer_table(
    entities: Sequence[str],
    answers: Sequence[Sequence[Cell]],
    *,
    outcomes: Sequence[Sequence[str]] | None = None,
    golds: Sequence[str | None] | None = None,
    inverse: Mapping[str, Cell] | None = None,
) -> AnswerTable:
    """One row for every entity and column; ``None`` is no answer, ``"!error"`` a missing row."""
    rows = [
        (e, t, answers[i][t], outcomes[i][t] if outcomes else None, golds[i] if golds else None)
        for i, e in enumerate(entities)
        for t in range(len(answers[i]))
    ]
    back = [(asked, 0, owner, None, None) for asked, owner in (inverse or {}).items()]
    said = [r[3] or _outcome(r[2]) for r in (*rows, *back)]
    keys = [
        a if o == "answered" else None
        for (_, _, a, _, _), o in zip((*rows, *back), said, strict=True)
    ]
    relation = ["r"] * len(rows) + ["r^-1"] * len(back)
    n = len(relation)
    return AnswerTable(
        item=Column.of(
            [f"{k}|{r[0]}|{r[1]}" for k, r in zip(relation, (*rows, *back), strict=True)]
        ),
        epoch=np.ones(n, dtype=np.int32),
        condition=Column.of(["none"] * n),
        outcome=np.array([OUTCOMES.index(Outcome(o)) for o in said], dtype=np.int8),
        answer=Column.of(keys),
        reason=Column.of([None if o == "answered" else "given" for o in said]),
        row_number=np.arange(1, n + 1),
        relation=Column.of(relation),
        entity=Column.of([r[0] for r in (*rows, *back)]),
        template=Column.of([str(r[1]) for r in (*rows, *back)]),
        entity_key=Column.of([r[0] for r in (*rows, *back)]),
        target=Column.of([None if r[4] is None else (r[4],) for r in (*rows, *back)])
        if golds
        else None,
        extractor="verbatim",
    )


def _outcome(answer: Cell) -> str:
    if answer is None:
        return "no_answer"
    return "error" if answer == "!error" else "answered"


def declared(**fields: object) -> Params:
    """Parameters whose answers are keys already."""
    made = Declaration(**fields)  # type: ignore[arg-type] # the vectors' own names
    return Params.of(made, key=str, number=exact_number)
