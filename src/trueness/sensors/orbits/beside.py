"""Three numbers beside a partition: equal partitions can have opposite causes."""

from statistics import fmean, median

import numpy as np

from trueness.contract.serial import Json
from trueness.sensors.orbits.slots import Slots
from trueness.table import AnswerTable

_RANK, _GAP, _GAP_SD, _CONSTRAINED = (
    "gold_rank", "logit_gap", "logit_gap_sd", "right_if_constrained",
)  # fmt: skip


def numbers_beside(table: AnswerTable, slots: Slots) -> dict[str, Json]:
    """What the logits said of the right answers, where they were recorded; else nothing at all.

    ``gold_rank`` is the median rank of the right first token over wrong answers, ``logit_gap`` and
    ``logit_gap_sd`` the mean distance to the largest logit there; ``constrained_accuracy`` the
    share of slots in which the right answer leads among the relation's right answers.
    """
    if _RANK not in table.extras or table.target is None:
        return {}
    rows = slots.row[slots.answered].tolist()
    wrong = [row for row in rows if table.answer[row] not in (table.target[row] or ())]
    ranks, gaps, wide = (_values(table, name, wrong) for name in (_RANK, _GAP, _GAP_SD))
    leads = _values(table, _CONSTRAINED, slots.row.tolist())
    return {
        "gold_rank": median(ranks) if ranks else None,
        "logit_gap": fmean(gaps) if gaps else None,
        "logit_gap_sd": fmean(wide) if wide else None,
        "constrained_accuracy": fmean(leads) if leads else None,
        "n_constrained": len(leads),
    }


def _values(table: AnswerTable, name: str, rows: list[int]) -> list[float]:
    """Finite numbers of a column of evidence."""
    column = table.extras.get(name)
    found = [] if column is None else [column[row] for row in rows]
    numbers = (_number(text) for text in found if text is not None)
    return [n for n in numbers if n is not None and np.isfinite(n)]


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
