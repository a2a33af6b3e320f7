"""Claims of a table against the evidence of any of its rows: their own, or another source's."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.contract.states import State
from trueness.sensors.baselines import word_overlap
from trueness.sensors.claims import refused_text, span_item, vectors_of
from trueness.sensors.energy.params import Params
from trueness.stats.containment import VERDICTS, contain
from trueness.stats.passages import passages_of
from trueness.stats.span import Span, measure_spans
from trueness.stats.span_item import Refused, SpanItem
from trueness.stats.span_rules import SpanRules
from trueness.study.claim_features import ENERGY, RIVALS, column_of
from trueness.study.guards import Pool
from trueness.study.searched import evidence_centroids
from trueness.table.evidence import EvidenceTable

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

BASELINES = (*RIVALS, "length")
"""What stands beside the energy; all of them as risks, where low is safe."""
DIGITS = 6
"""Digits after the point that a table of a result keeps; decisions are taken on the kept ones."""


@dataclass(frozen=True, slots=True)
class Crossed:
    """Rows of a table whose claims are measured against each other's evidence.

    Parameters
    ----------
    table : EvidenceTable
        With vectors.
    rows : (n,) int
        Rows that take part; positions below are positions in this list.
    groups : (n,) tuple of str
        Their sources.
    rules : SpanRules
    """

    table: EvidenceTable
    rows: Ints
    groups: tuple[str, ...]
    rules: SpanRules

    @classmethod
    def of(
        cls, table: EvidenceTable, rows: NDArray[np.bool_], *, rules: SpanRules | None = None
    ) -> "Crossed":
        """The rows of a table that are marked and can be measured at all.

        Parameters
        ----------
        table : EvidenceTable
        rows : (n_rows,) bool
        rules : SpanRules, optional
            By default those of the energy as it is shipped.
        """
        found = [
            row
            for row in np.flatnonzero(rows).tolist()
            if isinstance(item := span_item(table, row), SpanItem) and not item.text_too_long
        ]
        column = table.group
        groups = tuple("" if column is None else str(column[row]) for row in found)
        usual = Params().rules(vectors_of(table).noise)
        return cls(table, np.array(found, np.int64), groups, rules or usual)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def items(self) -> tuple[str, ...]:
        """(n,) Names of the rows."""
        return tuple(str(self.table.item[row]) for row in self.rows.tolist())

    def pool(self, sources: Sequence[str] | None = None) -> Pool:
        """The rows as a pool of evidence: own source out, and whatever shares a passage.

        Parameters
        ----------
        sources : (n,) sequence of str, optional
            In place of the groups.
        """
        passages = [frozenset(map(_folded, self.table.passages(r))) for r in self.rows.tolist()]
        return Pool(self.items, list(sources or self.groups), passages=passages)

    def texts(self, place: int) -> tuple[str, ...]:
        """Passages of a row, without the blank ones."""
        return tuple(t for t in self.table.passages(int(self.rows[place])) if t.strip())

    def claims(self) -> Floats:
        """(n, d) Vectors of the claims."""
        vectors = vectors_of(self.table)
        return vectors.claim.rows([str(self.table.claim[row]) for row in self.rows.tolist()])

    def centroids(self) -> Floats:
        """(n, d) Means of the unit passages of every row."""
        sets = [units_of(self._evidence(place)) for place in range(len(self))]
        return evidence_centroids(np.concatenate(sets), [len(s) for s in sets])

    def spans(self, claims: Ints, evidence: Ints) -> list[Span]:
        """Each claim against the evidence at its side.

        Parameters
        ----------
        claims, evidence : (n_pairs,) int
            Positions.
        """
        held: dict[int, SpanItem] = {}
        found = []
        for claim, other in zip(claims.tolist(), evidence.tolist(), strict=True):
            one = _item(self.table, int(self.rows[claim]))
            two = held.setdefault(other, _item(self.table, int(self.rows[other])))
            found.append(SpanItem(one.claim, two.evidence, two.texts, one.claim_text))
        return measure_spans(found, rules=self.rules, influence=False)

    def measures(
        self, claims: Ints, evidence: Ints, names: Sequence[str] = (ENERGY, *BASELINES)
    ) -> dict[str, Floats]:
        """Risks of each claim against the evidence at its side, low is safe; nan: not measured."""
        spans = self.spans(claims, evidence)
        pairs = [
            (str(self.table.claim[int(self.rows[c])]), self.table.passages(int(self.rows[e])))
            for c, e in zip(claims.tolist(), evidence.tolist(), strict=True)
        ]
        return {name: _risks(name, spans, pairs) for name in names}

    def grid(self) -> Floats:
        """(n, n) Energy of every claim against every row's evidence; nan: not measured."""
        found = np.full((len(self), len(self)), np.nan)
        rows = np.flatnonzero(np.linalg.norm(self.claims(), axis=1) > 0)
        claims = self.claims()[None, rows]
        for place in range(len(self)):
            texts = self.texts(place)
            held = passages_of(self._evidence(place), self.rules, texts=texts)
            if not isinstance(held, Refused):
                seen = contain(held.rows[None], claims, self.rules)
                there = seen.verdict[0] == VERDICTS.index("measured")
                found[rows[there], place] = seen.energy[0][there]
        return kept(found)

    def _evidence(self, place: int) -> Floats:
        """(n, d) Vectors of the passages that are not blank."""
        return vectors_of(self.table).evidence.rows(self.texts(place))


def units_of(vectors: Floats) -> Floats:
    """(m, d) The vectors that have a direction, scaled to length 1."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    there = lengths[:, 0] > 0
    found: Floats = vectors[there] / lengths[there]
    return found


def kept(values: Floats) -> Floats:
    """Values with the digits that a result's table keeps."""
    found: Floats = np.round(values, DIGITS)
    return found


def _risks(
    name: str, spans: Sequence[Span], pairs: Sequence[tuple[str, tuple[str, ...]]]
) -> Floats:
    if name in _OF_TEXT:
        look = _OF_TEXT[name]
        values = [None if refused_text(*pair) is not None else look(*pair) for pair in pairs]
    elif name == ENERGY:
        values = [s.energy for s in spans]
    else:
        values = [s.axes.get(name) if s.state is State.MEASURED else None for s in spans]
    return kept(RIVALS.get(name, 1.0) * column_of(values))


_OF_TEXT: Mapping[str, Callable[[str, tuple[str, ...]], float | None]] = {
    "word_overlap": word_overlap,
    "length": lambda claim, _: float(len(claim.strip())),
}


def _item(table: EvidenceTable, row: int) -> SpanItem:
    found = span_item(table, row)
    if not isinstance(found, SpanItem):
        msg = f"row {row} cannot be measured ({found.reason}); take the rows that `of` keeps."
        raise InputError(msg)
    return found


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
