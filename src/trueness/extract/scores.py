"""A log's own scores beside what our keys say: evidence, never a key."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from trueness.table.answers import OUTCOMES, AnswerTable, Outcome
from trueness.table.column import NULL, Column, pick

SHOWN = 10
"""So many draws on which the two differ are listed."""
_SCORES = ("tool_score", "is_correct")
_RIGHT, _WRONG, _UNDECIDED = 1, 0, -1
_SAYS = {
    **dict.fromkeys(("true", "c", "1", "1.0"), _RIGHT),
    **dict.fromkeys(("false", "i", "n", "0", "0.0"), _WRONG),
}
"""What scorers write for right and wrong, in any case; other words decide nothing."""
_ERROR = OUTCOMES.index(Outcome.ERROR)


@dataclass(frozen=True, slots=True)
class OtherScore:
    """One draw that the log scored otherwise than our keys do.

    ``answer`` and ``golds`` are keys, ``tool_answer`` is what the log stored; ``log_says_right``
    is its score.
    """

    item: str
    epoch: int
    condition: str
    answer: str | None
    golds: tuple[str, ...]
    tool_answer: str | None
    log_says_right: bool


@dataclass(frozen=True, slots=True)
class OwnScores:
    """How a log's own scores compare with our keys.

    Parameters
    ----------
    n_scored : int
        Draws that came back, have a known gold and a score that says right or wrong.
    n_right_by_log, n_right_here : int
        Of these.
    n_differ : int
        Of these, scored otherwise.
    differ : tuple of OtherScore
        The first `SHOWN` of them, in the order of the rows.
    """

    n_scored: int
    n_right_by_log: int
    n_right_here: int
    n_differ: int
    differ: tuple[OtherScore, ...]


def own_scores(table: AnswerTable) -> OwnScores | None:
    """The scores that a log stored, beside the correctness of our keys.

    Parameters
    ----------
    table : AnswerTable
        Keyed, with the extra ``tool_score`` or ``is_correct``.

    Returns
    -------
    OwnScores or None
        None where no draw with a known gold has a score that says right or wrong, and where
        scores are degrees: other numbers than 0 and 1 are among them.

    Examples
    --------
    >>> from trueness.extract.keying import keyed
    >>> from trueness.table import read_answers
    >>> rows = [{"item": "a", "completion": "#### 10,000", "target": "10000", "score": False}]
    >>> found = own_scores(keyed(read_answers(rows), kind="number"))
    >>> found.n_differ, found.differ[0].log_says_right
    (1, False)
    """
    scores = next((table.extras[name] for name in _SCORES if name in table.extras), None)
    if scores is None or any(map(_is_degree, scores.words)):
        return None
    says = _says(scores)
    with_gold, right = right_rows(table, table.outcome != _ERROR)
    scored = with_gold & (says != _UNDECIDED)
    if not scored.any():
        return None
    differs = scored & ((says == _RIGHT) != right)
    return OwnScores(
        n_scored=_draws(table, scored),
        n_right_by_log=_draws(table, scored & (says == _RIGHT)),
        n_right_here=_draws(table, scored & right),
        n_differ=_draws(table, differs),
        differ=tuple(_listed(table, says, np.flatnonzero(differs)[:SHOWN])),
    )


def right_rows(
    table: AnswerTable, counted: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which rows have a gold, and which of these are right.

    Parameters
    ----------
    table : AnswerTable
        Keyed.
    counted : (n_rows,) bool
        Rows to look at.

    Returns
    -------
    tuple of (n_rows,) bool
    """
    if table.target is None:
        none = np.zeros(len(table), dtype=np.bool_)
        return none, none
    with_gold = counted & (table.target.codes != NULL)
    rows = np.flatnonzero(with_gold)
    pairs = np.stack([table.target.codes[rows], table.answer.codes[rows]], axis=1)
    cells, cell_of = np.unique(pairs, axis=0, return_inverse=True)
    right = np.array(
        [a != NULL and table.answer.words[a] in table.target.words[t] for t, a in cells.tolist()],
        dtype=np.bool_,
    )
    correct = np.zeros(len(table), dtype=np.bool_)
    correct[rows] = right[cell_of.reshape(-1)]
    return with_gold, correct


def _says(scores: Column[str]) -> NDArray[np.int8]:
    """What the score of every row says."""
    words = [_SAYS.get(word.strip().casefold(), _UNDECIDED) for word in scores.words]
    return np.array([*words, _UNDECIDED], dtype=np.int8)[scores.codes]  # NULL takes the last


def _is_degree(word: str) -> bool:
    """Whether a score is a number that says neither right nor wrong."""
    if word.strip().casefold() in _SAYS:
        return False
    try:
        return isfinite(float(word))
    except ValueError:
        return False


def _draws(table: AnswerTable, rows: NDArray[np.bool_]) -> int:
    return int(np.count_nonzero(rows) if table.weight is None else table.weight[rows].sum())


def _listed(
    table: AnswerTable, says: NDArray[np.int8], rows: NDArray[np.intp]
) -> Iterator[OtherScore]:
    tool = table.extras.get("tool_answer")
    for row in rows.tolist():
        golds = None if table.target is None else table.target[row]
        yield OtherScore(
            item=pick(table.item.words, [int(table.item.codes[row])])[0],
            epoch=int(table.epoch[row]),
            condition=str(table.condition[row]),
            answer=table.answer[row],
            golds=golds or (),
            tool_answer=None if tool is None else tool[row],
            log_says_right=bool(says[row] == _RIGHT),
        )
