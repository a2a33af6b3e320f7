"""Every certificate against all truths of its declaration, on small seeded tables.

The enumeration below knows nothing of matchings: it walks through every assignment of right
answers, every set of exempt entities, and keeps those the declaration allows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pytest

from trueness.stats import problem
from trueness.stats.capacity import UNLIMITED, certify_column, errors_with_lower_limits
from trueness.stats.curve import precision_floor, recall_floor
from trueness.stats.relaxation import column_errors, relaxed_right, simple_floor
from trueness.stats.transport import (
    break_even_slack,
    guaranteed_wrong,
    most_right,
    witness_is_unique,
)
from trueness.stats.transport_result import TransportResult
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
    large = wanted.get("slack") and (wanted.get("several") or wanted.get("inverse"))
    n, m = int(rng.integers(1, 4 if large else 5)), int(rng.integers(1, 5))
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
        lower = [min(int(rng.integers(0, 3)), u) for u in upper]
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
N_CASES = 120


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


@pytest.mark.parametrize("name", KINDS)
def test_every_relaxation_is_sound_and_no_better_than_exact(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for case in cases(name, 60):
        votes, limits = case.votes(), case.limits()
        exact = most_right(votes, limits)
        if not exact.feasible:
            continue
        columns = [case.votes(t) for t in sorted({t for t, _, _ in case.slots})]
        floors = column_errors(columns, limits)
        assert floors <= exact.certified_errors, case
        assert votes.n_slots - relaxed_right(votes, limits) <= exact.certified_errors
        assert relaxed_right(votes, limits) <= relaxed_right(votes, limits, by_component=False)
        for kind, most_edges in (("relaxation", 0), ("exact", 0), ("exact", 2)):
            with monkeypatch.context() as unbranched:
                unbranched.setattr(problem, "BRANCHED_EDGES", 0)
                loose = most_right(
                    votes,
                    limits,
                    kind="exact" if kind == "exact" else "relaxation",
                    max_exact_edges=most_edges,
                    columns=columns,
                )
            assert exact.exact
            assert loose.feasible
            assert loose.certified_errors <= exact.certified_errors, case
            assert loose.exact or loose.certified_errors >= floors
            assert not loose.exact or loose.right == exact.right, case


@pytest.mark.parametrize(
    "name",
    ["open", "closed", "open with echo", "slack", "slack with echo", "candidates", "lower limits"],
)
def test_one_column_in_closed_form(name: str) -> None:
    """Equal to the best over all truths without candidates and lower limits with echo."""
    for case in cases(name, 150):
        column = replace(case, slots=tuple(s for s in case.slots if s[0] == 0))
        best = most_by_enumeration(column)
        if best is None:
            continue
        codes = np.full(case.n_entities, -1)
        for _, e, a in column.slots:
            codes[e] = a
        echo = np.array([(e, a) in case.barred for e, a in enumerate(codes.tolist())])
        upper, lower = case.limits().upper, np.array(case.lower)
        found = certify_column(codes, upper, echo=echo, slack=case.slack)
        k = len(column.slots) - best
        if lower.any():
            counts = np.bincount(codes[codes >= 0], minlength=case.n_answers)
            missing = int((codes < 0).sum())
            assert errors_with_lower_limits(counts, upper, lower, n_missing=missing) == k, case
        elif case.candidates:
            simple = simple_floor(column.votes(), column.limits())
            assert found.certified_errors <= simple <= k, case
        else:
            assert found.certified_errors == k, case
            assert found.break_even_slack == break_even_slack(column.votes(), column.limits())


@pytest.mark.parametrize("name", KINDS)
def test_floors_of_withheld_sets_hold_under_every_truth(name: str) -> None:
    rng = np.random.default_rng(3)
    for case in cases(name, 25):
        votes, limits = case.votes(), case.limits()
        found = most_right(votes, limits)
        if not found.feasible:
            continue
        random_set = rng.random(len(votes.entity)) < 0.5
        for held in (found.withheld_pairs, random_set):
            g = guaranteed_wrong(votes, limits, votes.count * held, votes.barred * held)
            slots = set(votes.pair_codes[held].tolist())
            inside = [(e, a) for _, e, a in case.slots if e * case.n_answers + a in slots]
            if held is found.withheld_pairs and not any(case.lower) and found.exact:
                assert g == found.certified_errors, case  # the default set keeps the certificate
            precision = precision_floor(g, len(inside))
            recall = recall_floor(g, len(inside), len(case.slots))
            for truth in truths(case):
                wrong = len(inside) - sum(a in truth[e] for e, a in inside)
                total = len(case.slots) - right_slots(case, truth)
                assert wrong >= g, case
                assert precision is None or wrong >= precision * len(inside)
                assert recall is None or total == 0 or wrong >= recall * total


@pytest.mark.parametrize("name", KINDS)
def test_a_witness_is_unique_when_one_set_of_right_slots_is_best(name: str) -> None:
    for case in cases(name, 25):
        votes, limits = case.votes(), case.limits()
        found = most_right(votes, limits)
        if not found.feasible:
            continue
        best = {
            tuple(a in truth[e] for _, e, a in case.slots)
            for truth in truths(case)
            if right_slots(case, truth) == found.right
        }
        assert witness_is_unique(votes, limits, found) == (len(best) == 1), case


@pytest.mark.parametrize("name", [name for name in KINDS if "lower" not in name])
def test_break_even_slack_is_the_least_that_leaves_no_error(name: str) -> None:
    for case in cases(name, 12):
        if most_by_enumeration(replace(case, slack=0)) is None or case.n_entities > 4:
            continue
        eased = [replace(case, slack=d) for d in range(case.n_entities + 1)]
        silent = [d for d, c in enumerate(eased) if most_by_enumeration(c) == len(case.slots)]
        assert break_even_slack(case.votes(), case.limits()) == (silent[0] if silent else None), (
            case
        )


@pytest.mark.parametrize("name", [name for name in KINDS if "candidates" in name])
def test_a_violator_has_too_little_room(name: str) -> None:
    n_seen = 0
    for case in cases(name, 300):
        found = most_right(case.votes(), case.limits())
        if found.violator is None:
            assert found.feasible or any(case.lower)
            continue
        n_seen += 1
        named = dict(case.candidates)
        entities = found.violator.entities.tolist()
        everything = range(case.n_answers)
        allowed = {
            a
            for e in entities
            for a in named.get(e, everything)
            if (e, a) not in case.barred and case.upper[a] > 0
        }
        if any(len(named.get(e, everything)) == 0 for e in entities):
            assert allowed == set()
            continue
        assert allowed <= set(found.violator.answers.tolist()), case
        assert sum(case.upper[a] for a in allowed) < len(entities) - case.slack, case
    assert n_seen > 0 or "several" in name
