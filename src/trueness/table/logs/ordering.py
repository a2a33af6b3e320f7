"""The order of rows: by condition, item and epoch, whatever order they were read in."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trueness.table.answers import AnswerTable

_NUMBER = re.compile(r"\d+")
_DIGITS = 12


def order_of(table: AnswerTable) -> NDArray[np.intp]:
    """Rows by condition, item and epoch; numbers in names count as numbers."""
    rank = ranks(table.item.words)
    conditions = ranks(table.condition.words)[table.condition.codes]
    return np.lexsort((table.epoch, rank[table.item.codes], conditions))


def ranks(words: Sequence[str]) -> NDArray[np.int64]:
    """The place of every word among all of them, sorted; numbers in them count as numbers.

    >>> ranks(("s10", "s9", "a")).tolist()
    [2, 1, 0]
    """
    keys = [(_NUMBER.sub(lambda m: m.group().zfill(_DIGITS), word), word) for word in words]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    rank = np.empty(len(keys), dtype=np.int64)
    rank[order] = np.arange(len(keys))
    return rank
