"""Every certificate against all truths of its declaration, on small seeded tables.

The enumeration below knows nothing of matchings: it walks through every assignment of right
answers, every set of exempt entities, and keeps those the declaration allows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest

from trueness.stats.capacity import UNLIMITED
from trueness.stats.problem import TransportResult
from trueness.stats.transport import (
    most_right,
)
from trueness.stats.votes import Candidates, Limits, Votes

Truth = dict[int, frozenset[int]]


@dataclass(frozen=True)
class Case:
    """One small table and its declaration, in plain Python."""

    n_entities: int
    n_answers: int
    slots: tuple[tuple[int, int, int], ...]  # column, entity, answer
    upper: tuple[int, ...]
    lower: tuple[int, ...]
    rows: int = 1
    candidates: tuple[tuple[int, tuple[int, ...]], ...] = ()
    closed: bool = False
    barred: frozenset[tuple[int, int]] = frozenset()
    slack: int = 0
    n_outside: int = 0

    def votes(self, column: int | None = None) -> Votes:
        held = [s for s in self.slots if column is None or s[0] == column]
        return Votes.of(
            self.n_entities,
            self.n_answers,
            [e for _, e, _ in held],
            [a for _, _, a in held],
            [(e, a) in self.barred for _, e, a in held],
            self.n_outside,
        )

    def limits(self) -> Limits:
        by_entity = {e: list(answers) for e, answers in self.candidates}
        return Limits(
            np.array(self.upper, dtype=np.int64),
            np.array(self.lower, dtype=np.int64),
            np.full(self.n_entities, self.rows, dtype=np.int64),
            Candidates.of(self.n_entities, by_entity) if self.candidates else None,
            self.closed,
            np.array(sorted(self.barred), dtype=np.int64).reshape(-1, 2),
            self.slack,
        )


def truths(case: Case) -> Iterator[Truth]:
    """Every allowed truth; an entity without a listed right answer has the empty set."""
    n = case.n_entities
    for size in range(min(case.slack, n) + 1):
        for exempt in combinations(range(n), size):
            yield from _extend(case, frozenset(exempt), 0, {})


def _extend(case: Case, exempt: frozenset[int], e: int, truth: Truth) -> Iterator[Truth]:
    if e == case.n_entities:
        if _meets_totals(case, exempt, truth):
            yield dict(truth)
        return
    for choice in _choices(case, exempt, e):
        truth[e] = choice
        if e in exempt or _within_upper(case, exempt, truth):
            yield from _extend(case, exempt, e + 1, truth)
        del truth[e]


def _choices(case: Case, exempt: frozenset[int], e: int) -> Iterator[frozenset[int]]:
    named = dict(case.candidates)
    pool = [a for a in range(case.n_answers) if e not in named or a in named[e]]
    if e not in exempt:
        pool = [a for a in pool if (e, a) not in case.barred and case.upper[a] > 0]
    outside = e >= case.n_entities - case.n_outside
    filled = case.rows == 1 and not outside
    must = filled and (e in named or (case.closed and e not in exempt))
    for size in range(int(must), case.rows + 1):
        yield from map(frozenset, combinations(pool, size))


def _within_upper(case: Case, exempt: frozenset[int], truth: Truth) -> bool:
    held = [a for e, answers in truth.items() if e not in exempt for a in answers]
    return all(held.count(a) <= case.upper[a] for a in set(held))


def _meets_totals(case: Case, exempt: frozenset[int], truth: Truth) -> bool:
    declared = [e for e in truth if e < case.n_entities - case.n_outside and e not in exempt]
    held = [a for e in declared for a in truth[e]]
    return all(held.count(a) >= low for a, low in enumerate(case.lower))


def right_slots(case: Case, truth: Truth) -> int:
    return sum(a in truth[e] for _, e, a in case.slots)


def most_by_enumeration(case: Case) -> int | None:
    return max((right_slots(case, truth) for truth in truths(case)), default=None)


def check_witness(case: Case, found: TransportResult) -> None:
    """The witness attains the number and breaks nothing but what the slack allows."""
    named = dict(case.candidates)
    truth: Truth = {e: frozenset() for e in range(case.n_entities)}
    for e, a in zip(found.entity.tolist(), found.answer.tolist(), strict=True):
        assert a not in truth[e]
        truth[e] |= {a}
        assert e not in named or a in named[e]
        assert found.exempt[e] or (e, a) not in case.barred
    assert all(len(answers) <= case.rows for answers in truth.values())
    assert int(found.exempt.sum()) <= case.slack
    exempt = frozenset(np.flatnonzero(found.exempt).tolist())
    assert _within_upper(case, exempt, truth)
    assert right_slots(case, truth) == found.right


def draw(rng: np.random.Generator, **wanted: object) -> Case:
    """A random case; keywords say which assumptions it has."""
    n, m = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    columns = int(rng.integers(1, 4)) if wanted.get("columns", True) else 1
    outside = int(rng.integers(1, 3)) if wanted.get("inverse") else 0
    said = 0.85
    slots = [
        (t, e, int(rng.integers(m)))
        for t in range(columns)
        for e in range(n)
        if rng.random() < said
    ]
    if outside:
        asked = [a for a in range(m) if rng.random() < said]
        slots += [(columns, int(rng.integers(n + outside)), a) for a in asked]
    style = rng.random()
    upper = [int(u) for u in rng.integers(0 if style < 0.4 else 1, 4, m)]
    if style > 0.7:
        upper = [1] * m
    if not wanted.get("closed") and rng.random() < 0.3:
        upper[int(rng.integers(m))] = UNLIMITED
    lower = [0] * m
    if wanted.get("lower"):
        lower = [int(min(rng.integers(0, 3), u)) for u in upper]
    barred = set()
    if wanted.get("barred"):
        barred = {(e, int(rng.integers(m))) for e in range(n) if rng.random() < 0.5}
    candidates = []
    if wanted.get("candidates"):
        for e in range(n):
            if rng.random() < 0.7:
                size = int(rng.integers(0 if rng.random() < 0.1 else 1, m + 1))
                candidates.append((e, tuple(sorted(rng.permutation(m)[:size].tolist()))))
    return Case(
        n + outside,
        m,
        tuple(slots),
        tuple(upper),
        tuple(lower),
        int(rng.integers(2, 4)) if wanted.get("several") else 1,
        tuple(candidates),
        bool(wanted.get("closed")),
        frozenset(barred),
        int(rng.integers(1, 3)) if wanted.get("slack") else 0,
        outside,
    )


KINDS: dict[str, dict[str, bool]] = {
    "open": {},
    "closed": {"closed": True},
    "open with echo": {"barred": True},
    "closed with echo": {"closed": True, "barred": True},
    "lower limits": {"lower": True},
    "closed lower limits": {"lower": True, "closed": True},
    "lower limits with echo": {"lower": True, "barred": True},
    "closed lower limits with echo": {"lower": True, "closed": True, "barred": True},
    "candidates": {"candidates": True},
    "closed candidates": {"candidates": True, "closed": True},
    "candidates with echo": {"candidates": True, "barred": True},
    "closed candidates with echo": {"candidates": True, "barred": True, "closed": True},
    "candidates with lower limits": {"candidates": True, "lower": True, "closed": True},
    "slack": {"slack": True},
    "closed slack": {"slack": True, "closed": True},
    "slack with echo": {"slack": True, "barred": True},
    "closed slack with echo": {"slack": True, "barred": True, "closed": True},
    "slack with candidates": {"slack": True, "candidates": True},
    "slack with candidates and echo": {"slack": True, "candidates": True, "barred": True},
    "closed slack with candidates": {"slack": True, "candidates": True, "closed": True},
    "several right answers": {"several": True},
    "several right answers, closed": {"several": True, "closed": True, "barred": True},
    "several right answers with candidates": {"several": True, "candidates": True},
    "several right answers with slack": {"several": True, "slack": True},
    "several right answers with slack and candidates": {
        "several": True,
        "slack": True,
        "candidates": True,
        "barred": True,
    },
    "inverse": {"inverse": True},
    "closed inverse": {"inverse": True, "closed": True},
    "closed inverse with echo": {"inverse": True, "closed": True, "barred": True},
    "inverse with lower limits": {"inverse": True, "lower": True},
    "closed inverse with lower limits": {"inverse": True, "lower": True, "closed": True},
    "inverse with candidates": {"inverse": True, "candidates": True},
    "inverse with slack": {"inverse": True, "slack": True},
    "one column": {"columns": False},
    "one column with candidates": {"columns": False, "candidates": True},
}
N_CASES = 250


def cases(name: str, number: int = N_CASES) -> Iterator[Case]:
    rng = np.random.default_rng([sorted(KINDS).index(name), 7])
    for _ in range(number):
        yield draw(rng, **KINDS[name])


@pytest.mark.parametrize("name", KINDS)
def test_the_certificate_is_the_best_over_all_truths(name: str) -> None:
    for case in cases(name):
        best = most_by_enumeration(case)
        found = most_right(case.votes(), case.limits())
        assert found.feasible == (best is not None), case
        if best is not None:
            assert found.right == best, case
            assert found.exact, case
            check_witness(case, found)
