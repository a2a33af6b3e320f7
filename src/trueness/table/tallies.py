"""Draws counted by what became of them."""

import numpy as np
from numpy.typing import NDArray

from trueness.table.answers import OUTCOMES, AnswerTable


def by_outcome(table: AnswerTable, rows: NDArray[np.bool_] | None = None) -> dict[str, int]:
    """Draws by ``outcome`` or ``outcome: reason``, most frequent first.

    Parameters
    ----------
    table : AnswerTable
        A row counts as often as its weight says.
    rows : (n_rows,) bool, optional
        Which rows; all without it.
    """
    chosen = np.ones(len(table), np.bool_) if rows is None else rows
    width = len(table.reason.words) + 1
    key = table.outcome[chosen].astype(np.int64) * width + table.reason.codes[chosen] + 1
    weight = np.ones(len(key), np.int64) if table.weight is None else table.weight[chosen]
    codes, where = np.unique(key, return_inverse=True)
    counts = np.bincount(where, weight, minlength=len(codes)).astype(np.int64)
    out = {}
    for at in np.argsort(-counts, kind="stable").tolist():
        outcome, reason = divmod(int(codes[at]), width)
        said = f": {table.reason.words[reason - 1]}" if reason else ""
        out[f"{OUTCOMES[outcome].value}{said}"] = int(counts[at])
    return out
