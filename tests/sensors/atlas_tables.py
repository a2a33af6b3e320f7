"""Tables of repeated draws made by hand for the tests of the atlas; keys are given."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trueness.contract.serial import Json
from trueness.table import OUTCOMES, AnswerTable, Column, Outcome, Protocol

Cell = str | None
ERROR = "!error"
REFUSED = "!refused"
TRUNCATED = "!truncated"
_SAID = {None: "no_answer", ERROR: "error", REFUSED: "refused", TRUNCATED: "truncated"}


def drawn(
    clouds: Mapping[str, Sequence[Cell]],
    *,
    golds: Mapping[str, str | tuple[str, ...]] | str | None = "g",
    greedy: Mapping[str, Cell] | None = None,
    groups: Mapping[str, str] | None = None,
    protocol: Mapping[str, Json] | None = None,
    extras: Mapping[str, Mapping[str, str]] | None = None,
    **more: Any,
) -> AnswerTable:
    """One row a draw; None is no answer; ``golds`` as one text is every item's."""
    rows = [(i, e, a, "none") for i, cloud in clouds.items() for e, a in enumerate(cloud, 1)]
    rows += [(i, 1, a, "greedy") for i, a in (greedy or {}).items()]
    items = [r[0] for r in rows]
    said = [_SAID.get(r[2], "answered") for r in rows]
    right = dict.fromkeys(items, golds) if isinstance(golds, str) else (golds or {})
    given = {i: (g,) if isinstance(g, str) else g for i, g in right.items()}
    fields = {"temperature": 0.7, **(protocol or {})}
    protocols = {"none": Protocol(fields), "greedy": Protocol({**fields, "temperature": 0})}
    return AnswerTable(
        item=Column.of(items),
        epoch=np.array([r[1] for r in rows], dtype=np.int32),
        condition=Column.of([r[3] for r in rows]),
        outcome=np.array([OUTCOMES.index(Outcome(o)) for o in said], dtype=np.int8),
        answer=Column.of(
            [r[2] if o == "answered" else None for r, o in zip(rows, said, strict=True)]
        ),
        reason=Column.of([None if o == "answered" else "given" for o in said]),
        row_number=np.arange(1, len(rows) + 1),
        target=None if golds is None else Column.of([given.get(i) for i in items]),
        group=None if groups is None else Column.of([groups.get(i) for i in items]),
        extras={n: Column.of([v.get(i) for i in items]) for n, v in (extras or {}).items()},
        protocols=protocols if greedy else {"none": protocols["none"]},
        extractor="verbatim",
        **more,
    )


def spread(n_items: int, cloud: Sequence[Cell]) -> dict[str, Sequence[Cell]]:
    """The same cloud for every item."""
    return {f"q{i:03}": cloud for i in range(n_items)}
