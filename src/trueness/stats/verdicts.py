"""The table of verdicts about a paired comparison, and what one is made of."""

from dataclasses import dataclass
from enum import StrEnum

from trueness.contract.states import State
from trueness.stats.clouds import PARTS

FEW_MOVERS = 10
"""Below so many items with a difference, a clause is marked: intervals are too short there."""
MOVED_NOTE = "items moved, the mean did not"
"""Of a verdict ``unchanged`` when some item's law changed."""

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Entry:
    """One order of one part: the mean difference and everything known about it."""

    order: int
    part: str
    estimate: float | None
    """Mean of after minus before; None when no item is measured in both arms."""
    state: State = State.MEASURED
    """``DEGENERATE``: the units do not differ, no band. ``NO_EVIDENCE``: fewer than two units."""
    n: int = 0
    """Items measured in both arms."""
    n_units: int = 0
    """The same as groups, where items are grouped."""
    n_movers: int | None = None
    """Items whose difference is not 0."""
    se: float | None = None
    """For the population of items."""
    se_fixed_slice: float | None = None
    """For exactly these items; None unless ``fixed_slice_state`` is ``MEASURED``."""
    fixed_slice_state: State = State.NOT_APPLICABLE
    band: Interval | None = None
    """All entries together."""
    pointwise: Interval | None = None
    """This entry alone; only to compare with publications."""
    t90: Interval | None = None
    """Of the equivalence test: 90 % at level .95, 95 % when strict."""
    epsilon_star: float | None = None
    """The smallest margin at which equivalence to 0 would have been shown."""
    p_adjusted: float | None = None
    """Of the sign flip, all entries together."""


class Relation(StrEnum):
    """What a clause says about a part."""

    UP = "up"
    DOWN = "down"
    EQUIVALENT = "equivalent"
    NOT_EQUIVALENT = "not equivalent"
    BELOW_MARGIN = "below margin"
    NOT_ANSWERING_UP = "not none down with semantic up"
    NO_OTHER_ROW = "no row from 1 to 6"


@dataclass(frozen=True, slots=True)
class Numbers:
    """What one clause read at one order."""

    part: str
    order: int
    estimate: float | None
    low: float | None
    """Of the band for directions, of the equivalence interval otherwise."""
    high: float | None
    epsilon_star: float | None
    p_adjusted: float | None
    """Only where a direction rests on it: an entry without spread."""
    n_movers: int | None
    holds: bool


@dataclass(frozen=True, slots=True)
class Clause:
    """One condition of one row."""

    row: int
    verdict: str
    part: str
    relation: Relation
    holds: bool
    numbers: tuple[Numbers, ...]
    """One for each declared order, the primary one first; of ``NOT_ANSWERING_UP`` one for each of
    its two directions; of ``NO_OTHER_ROW`` none."""

    @property
    def also_at(self) -> tuple[int, ...]:
        """Orders beyond the primary one at which it holds too."""
        if self.relation is Relation.NOT_ANSWERING_UP:
            return ()
        return tuple(at.order for at in self.numbers[1:] if at.holds)

    @property
    def few_movers(self) -> bool:
        """Whether fewer than ten items carry the difference at an order that it rests on."""
        first = self.relation in (Relation.UP, Relation.DOWN, Relation.BELOW_MARGIN)
        used = self.numbers[:1] if first else self.numbers
        return any(at.n_movers is not None and at.n_movers < FEW_MOVERS for at in used)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Name, reason, and every clause of the table."""

    name: str
    reason: str | None
    """Why it is unresolved; None otherwise."""
    clauses: tuple[Clause, ...]
    failed: tuple[Clause, ...]
    """With ``margin_not_met``: the clauses that a row lacked, all its directions held."""
    margin: float
    alpha: float
    """Of each clause, and of all directions together."""
    error_rate: float
    """Nominal probability at most of naming a verdict wrongly: twice alpha."""
    notes: tuple[str, ...]
    primary_order: int


Pair = tuple[str, Relation]

UNCHANGED = "unchanged"
UNRESOLVED = "unresolved"
_UP, _DOWN, _SAME = Relation.UP, Relation.DOWN, Relation.EQUIVALENT
_MOVED, _BELOW = Relation.NOT_EQUIVALENT, Relation.BELOW_MARGIN

TABLE: tuple[tuple[str, tuple[Pair, ...]], ...] = (
    (UNCHANGED, tuple((part, _SAME) for part in PARTS)),
    (
        "consolidation",
        (("total", _UP), ("total", _MOVED), ("gold", _UP), ("wrong", _BELOW), ("none", _BELOW)),
    ),
    (
        "harmful_consolidation",
        (("total", _UP), ("total", _MOVED), ("wrong", _UP), ("gold", _BELOW), ("none", _BELOW)),
    ),
    ("near_isospectral_inversion", (("total", _SAME), ("gold", _DOWN), ("wrong", _UP))),
    ("recovery", (("total", _SAME), ("gold", _UP), ("wrong", _DOWN))),
    (
        "no_answer_attractor",
        (("total", _UP), ("total", _MOVED), ("none", _UP), ("semantic", _DOWN)),
    ),
    (
        "fragmentation",
        (
            ("total", _DOWN),
            ("total", _MOVED),
            ("gold", _BELOW),
            ("wrong", _BELOW),
            ("none", _BELOW),
            ("semantic", _BELOW),
            ("none and semantic", Relation.NOT_ANSWERING_UP),
        ),
    ),
    (
        "answering_up",
        (("none", _DOWN), ("semantic", _UP), ("rows 1 to 6", Relation.NO_OTHER_ROW)),
    ),
)
"""Rows of the table in order: name, and what must hold of which part."""
VERDICTS = (*(name for name, _ in TABLE), UNRESOLVED)
