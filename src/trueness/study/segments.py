"""The same evidence in passages of another size."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from trueness.extract.sentences import split_sentences
from trueness.study.slices import Slice
from trueness.table.column import Column

SIZES: Mapping[str, int | None] = {"sentence": 1, "three": 3, "five": 5, "paragraph": None}
"""Sentences of a passage; None keeps the passages, or the one text, that the source has."""


def segmented(part: Slice, size: int | None) -> Slice:
    """A slice whose evidence is cut into passages of so many sentences, none of them in two.

    Parameters
    ----------
    part : Slice
        Without vectors; every text of its evidence is cut by itself.
    size : int or None
        As in `SIZES`.
    """
    table = part.table
    passages = [
        tuple(p for text in table.passages(row) for p in blocks(text, size))
        for row in range(len(table))
    ]
    evidence = Column.of(texts or None for texts in passages)
    whole = np.zeros(len(table), np.bool_)
    return replace(part, table=replace(table, evidence=evidence, whole=whole))


def blocks(text: str, size: int | None) -> Sequence[str]:
    """A text in blocks of so many sentences, as they stand in it.

    >>> blocks("One. Two. Three.", 2)
    ['One. Two.', 'Three.']
    """
    if size is None:
        return [text]
    found = split_sentences(text)
    ends = [found[i : i + size] for i in range(0, len(found), size)]
    return [text[part[0].start : part[-1].end] for part in ends]
