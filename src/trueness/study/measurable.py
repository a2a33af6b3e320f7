"""Whether there is anything to measure: a study of claims that all lack something has no answer."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.sensors.claims import refused_text, span_item
from trueness.stats.span_item import SpanItem
from trueness.study.slices import Slice
from trueness.table.evidence import EvidenceTable


class NothingToMeasureError(InputError):
    """A study does not apply: none of its claims can be measured, and the message says why."""


def check_measurable(parts: Sequence[Slice]) -> None:
    """Refuse embedded slices of which no claim can be measured.

    Raises
    ------
    NothingToMeasureError
        With the reasons and how often each stands.
    """
    if not any(_why(part.table, row) is None for part in parts for row in range(len(part.table))):
        raise nothing(parts, "claims")


def check_supported(part: Slice) -> None:
    """Refuse a slice of which no supported claim can be measured; without vectors, by its texts.

    Raises
    ------
    NothingToMeasureError
        When none is labelled so, or why none of them is measured.
    """
    right = ~part.unsupported
    if not right.any():
        msg = (
            f"{part.name}: none of its {len(part.table)} claims is labelled supported, and this "
            "study changes or exchanges the evidence of supported claims. Add some."
        )
        raise NothingToMeasureError(msg)
    if not any(_why(part.table, row) is None for row in np.flatnonzero(right).tolist()):
        raise nothing([part], "supported claims", right)


def nothing(
    parts: Sequence[Slice], what: str, rows: NDArray[np.bool_] | None = None
) -> NothingToMeasureError:
    """The refusal, with how many claims lack what.

    Parameters
    ----------
    parts : sequence of Slice
    what : str
        What the claims are called.
    rows : (n,) bool, optional
        Which of the one slice are meant.
    """
    reasons: Counter[str] = Counter()
    for part in parts:
        places = range(len(part.table)) if rows is None else np.flatnonzero(rows).tolist()
        reasons.update(_why(part.table, row) or "measurable" for row in places)
    said = ", ".join(f"{n:,} {why}" for why, n in reasons.most_common(5))
    names = ", ".join(part.name for part in parts)
    msg = f"{names}: none of {reasons.total():,} {what} can be measured: {said}. Hand in others."
    return NothingToMeasureError(msg)


def _why(table: EvidenceTable, row: int) -> str | None:
    """Why a claim cannot be measured; None where it can, as far as is known before."""
    claim, passages = table.claim[row], table.passages(row)
    item = refused_text(claim, passages) if table.vectors is None else span_item(table, row)
    if item is None:
        return None
    if isinstance(item, SpanItem):
        return "text_too_long" if item.text_too_long else None
    return (item.reason or item.state.value).partition(":")[0]
