"""The table of claims with their evidence: one row a claim, keyed by item, never by position."""

from dataclasses import dataclass, field, fields, replace

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.table.column import NULL, Column
from trueness.table.contrasts import Contradicted, Likelihoods
from trueness.table.vectors import Judged, Vectors

Marked = tuple[str, str | None]
"""A sentence, and what it is besides a statement."""


@dataclass(frozen=True, slots=True, eq=False)
class EvidenceTable:
    """Claims, the passages that are to carry them, and the vectors of both once embedded.

    Parameters
    ----------
    item : Column[str]
        Name of the claim; the unit of pairing, unique.
    claim : Column[str]
        Null where there is none.
    evidence : Column[tuple[str, ...]]
        Passages in the order of the source, blank ones kept; null where there is none.
    row_number : (n_rows,) int64
        Where the row stood in its source, from 1, so that an error can name it.
    whole : (n_rows,) bool
        The source gave one text as evidence: it is still to be split into passages.
    group : Column[str] or None
        Source document or cluster; bootstraps and splits keep it whole.
    label : Column[str] or None
        What is known about the claim; no sensor reads it.
    extras : dict of str to Column[str]
        Further columns, as text.
    sentences : Column[tuple[Marked, ...]] or None
        Of each claim, once they were split.
    weights : Column[tuple[float, ...]] or None
        Of the passages, one each, above 0.
    vectors : Vectors or None
        None until the texts were embedded.
    judged : Judged or None
        None unless an entailer was asked.
    contradicted : Column[Contradicted] or None
        Contradictions of each claim, once they were made.
    likelihoods : Likelihoods or None
        None unless a language model was asked.
    notes : tuple of str
        What a reader had to decide, in sentences.

    Raises
    ------
    InputError
        When an item stands twice, has no name, or there is none at all.
    """

    item: Column[str]
    claim: Column[str]
    evidence: Column[tuple[str, ...]]
    row_number: NDArray[np.int64]
    whole: NDArray[np.bool_]
    group: Column[str] | None = None
    label: Column[str] | None = None
    extras: dict[str, Column[str]] = field(default_factory=dict)
    sentences: Column[tuple[Marked, ...]] | None = None
    weights: Column[tuple[float, ...]] | None = None
    vectors: Vectors | None = None
    judged: Judged | None = None
    contradicted: Column[Contradicted] | None = None
    likelihoods: Likelihoods | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.item):
            msg = "the table is empty; at least one claim is wanted. Check what made it."
            raise InputError(msg)
        if (self.item.codes == NULL).any():
            row = int(self.row_number[int(np.argmax(self.item.codes == NULL))])
            msg = f"row {row} has no item; every claim needs a name of its own. Give it one."
            raise InputError(msg)
        order = np.argsort(self.item.codes, kind="stable")
        codes = self.item.codes[order]
        again = np.flatnonzero(codes[1:] == codes[:-1])
        if len(again):
            one, two = (int(self.row_number[order[i]]) for i in (again[0], again[0] + 1))
            msg = (
                f"item {self.item[int(order[again[0]])]!r} stands in row {one} and in row {two}; "
                "one row a claim is wanted. Give each claim an item of its own."
            )
            raise InputError(msg)

    def __len__(self) -> int:
        return len(self.row_number)

    def passages(self, row: int) -> tuple[str, ...]:
        """The evidence of a row; empty where there is none."""
        return self.evidence[row] or ()

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> "EvidenceTable":
        """Some of the rows, all of the columns; vectors are kept whole."""
        changed: dict[str, object] = {
            "extras": {name: column.take(rows) for name, column in self.extras.items()}
        }
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, Column):
                changed[f.name] = value.take(rows)
            elif isinstance(value, np.ndarray):
                changed[f.name] = value[rows]
        return replace(self, **changed)  # type: ignore[arg-type] # same types as the fields
