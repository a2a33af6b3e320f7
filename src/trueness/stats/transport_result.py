"""What the transport problem found: the number, the witness, or why no truth exists."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.stats.violators import Violator

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class TransportResult:
    """The most right slots, the truth that attains them and the parts they fall into.

    Attributes
    ----------
    right : int
        At most so many slots are right; all of them where no truth exists.
    n_slots : int
        Answered slots, N.
    exact : bool
        Whether the witness attains ``right``; otherwise it is a sound upper bound.
    feasible : bool
        Whether a truth exists that the declaration allows.
    reason : str or None
        Why none exists.
    violator : Violator or None
        Entities whose candidates have too little room, where that is the reason.
    entity, answer : (n_witness,) int
        Right pairs of the witness truth. An entity that is not named has anything else: no
        answer that it was given, or under a closed list any answer with room left.
    exempt : (n_entities,) bool
        Entities that the witness lets break limits.
    pair_component : (n_pairs,) int
        Component of each pair of the votes, without lower limits and slack; -1 for a pair that
        cannot be right.
    component_errors : (n_components,) int
        Certified errors of each component, before slack and without lower limits.
    """

    right: int
    n_slots: int
    exact: bool
    feasible: bool
    reason: str | None
    violator: Violator | None
    entity: Ints
    answer: Ints
    exempt: Bools
    pair_component: Ints
    component_errors: Ints

    @property
    def certified_errors(self) -> int:
        """At least so many answered slots are wrong, k."""
        return self.n_slots - self.right

    @property
    def withheld_pairs(self) -> Bools:
        """Pairs in a component with a certified error before slack, and those never right."""
        positive = np.append(self.component_errors > 0, True)  # pair -1 reads the last entry
        return positive[self.pair_component]

    def answer_of(self, n_entities: int) -> Ints:
        """The witness with one answer an entity: its code, -1 for anything else."""
        out = np.full(n_entities, -1, dtype=np.int64)
        out[self.entity] = self.answer
        return out
