"""Why no truth exists: entities whose candidates together have too little room."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.stats.edges import Edges

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Violator:
    """Entities X, all answers they may have, and how many entities those can serve: below |X|."""

    entities: Ints
    answers: Ints
    capacity: int


def find_violator(edges: Edges, chosen: Bools, unfilled: Ints) -> Violator:
    """A Hall violator by alternating search from the unfilled rows.

    Parameters
    ----------
    edges : Edges
    chosen : (n_edges,) bool
        A choice that fills as many of the rows that must be filled as possible.
    unfilled : (n,) int
        Rows to start from; one is enough without slack, all with it.
    """
    reached = np.zeros(len(edges.must), dtype=bool)
    reached[unfilled] = True
    seen = np.zeros(len(edges.cap), dtype=bool)
    while True:
        seen[edges.col[reached[edges.row]]] = True
        owners = edges.row[chosen & seen[edges.col]]
        if reached[owners].all():
            break
        reached[owners] = True
    answers = np.unique(edges.answer[seen[edges.col]])
    return Violator(np.flatnonzero(reached), answers, int(edges.cap[seen].sum()))
