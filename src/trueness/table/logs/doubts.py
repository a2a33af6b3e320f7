"""What draws of a log tell against themselves: too few of them, or all of them the same."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from trueness.table.answers import OUTCOMES, AnswerTable, Outcome
from trueness.table.column import NULL

_MISSING = OUTCOMES.index(Outcome.ERROR)


def doubts(table: AnswerTable) -> list[str]:
    """Sentences about each condition: items short of the planned draws, draws that never differ."""
    several = len(table.conditions) > 1
    found: list[str] = []
    for code, condition in enumerate(table.condition.words):
        rows = np.flatnonzero(table.condition.codes == code)
        if len(rows):
            prefix = f"condition {condition!r}: " if several else ""
            found += [prefix + said for said in _of_one(table, rows, condition)]
    return found


def _of_one(table: AnswerTable, rows: NDArray[np.intp], condition: str) -> Iterator[str]:
    drawn = rows[table.outcome[rows] != _MISSING]
    n_missing = len(rows) - len(drawn)
    if n_missing:
        yield f"{n_missing} of {len(rows)} draws are missing; they count for nothing."
    planned = table.planned.get(condition)
    n_items = len(np.unique(table.item.codes[rows]))
    counts = np.unique(table.item.codes[drawn], return_counts=True)[1]
    n_short = 0 if planned is None else n_items - int(np.count_nonzero(counts >= planned))
    if n_short:
        yield f"{n_short} of {n_items} items have fewer than the {planned} draws planned."
    fields = table.protocols[condition].fields if condition in table.protocols else {}
    temperature = fields.get("temperature")
    hot = isinstance(temperature, (int, float)) and temperature > 0
    if hot and never_differ(table, drawn):
        yield (
            f"all draws of every item are the same text, at temperature {temperature}: "
            "served from a cache?"
        )


def never_differ(table: AnswerTable, rows: NDArray[np.intp]) -> bool:
    """Whether every item with several draws has one text, and there is such an item."""
    if table.completion is None or not len(rows):
        return False
    items, texts = table.item.codes[rows], table.completion.codes[rows]
    order = np.lexsort((texts, items))
    items, texts = items[order], texts[order]
    again = items[1:] == items[:-1]
    same = (texts[1:] == texts[:-1]) & (texts[1:] != NULL)
    return bool(again.any() and same[again].all())
