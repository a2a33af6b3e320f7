"""Every truth that a declaration allows, by walking through all of them; nothing clever.

Knows the words of a declaration and the rows of a table, and nothing of certificates.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from typing import Any

from orbit_tables import Cell, answer_table, declared

from trueness.contract import Reading
from trueness.contract.errors import InputError
from trueness.sensors.orbits import Params, measure
from trueness.table import AnswerTable

Truth = tuple[frozenset[str], ...]
"""For every entity its right answers; empty where it is one that nobody gave or listed."""


@dataclass(frozen=True)
class Case:
    """A small table and what is declared about it."""

    names: tuple[str, ...]
    answers: tuple[tuple[Cell, ...], ...]
    declare: Mapping[str, Any] = field(default_factory=dict)
    inverse: Mapping[str, Cell] = field(default_factory=dict)

    def table(self) -> AnswerTable:
        return answer_table(self.names, self.answers, inverse=dict(self.inverse))

    def params(self) -> Params:
        return declared(**self.declare)

    def reading(self) -> Reading:
        return measure(self.table(), self.params())

    def declaring(self, **more: object) -> "Case":
        return replace(self, declare={**self.declare, **more})

    @property
    def everyone(self) -> tuple[str, ...]:
        """All entities that have a right answer: declared, asked, then named by an answer back."""
        back = [o for o in self.inverse.values() if o is not None and o != "!error"]
        return tuple(dict.fromkeys([*self.declare.get("entities", ()), *self.names, *back]))

    @property
    def n_declared(self) -> int:
        return len(dict.fromkeys([*self.declare.get("entities", ()), *self.names]))

    @property
    def slots(self) -> list[tuple[str, str]]:
        """Answered slots as (entity, answer), forward first."""
        ahead = [
            (e, a)
            for e, row in zip(self.names, self.answers, strict=True)
            for a in row
            if a is not None and a != "!error"
        ]
        return ahead + self.slots_back

    @property
    def slots_back(self) -> list[tuple[str, str]]:
        return [(o, a) for a, o in self.inverse.items() if o is not None and o != "!error"]


def is_refused(case: Case) -> bool:
    try:
        case.params()
    except InputError:
        return True
    return False


def upper_of(declare: Mapping[str, Any]) -> tuple[Mapping[str, int], int | None]:
    """Upper limits of listed answers, and the limit of all others."""
    listed: dict[str, int] = dict(declare.get("capacities", {}))
    other: int | None = 1 if declare.get("relation") == "injective" else None
    other = declare.get("default_capacity", other)
    if declare.get("closed"):
        other = 0
    for name in ("admissible", "golds"):
        if name in declare:
            counted = Counter(declare[name])
            listed = {**(dict.fromkeys(counted, 1) if name == "admissible" else counted), **listed}
            other = 0
    return listed, other


def lower_of(declare: Mapping[str, Any]) -> Mapping[str, int]:
    rows = declare.get("rows_per_entity", 1)
    many = rows > 1 if isinstance(rows, int) else any(r > 1 for r in rows.values())
    if "golds" in declare and not many and not declare.get("slack"):
        return Counter(declare["golds"])
    found: Mapping[str, int] = declare.get("lower", {})
    return found


def truths(case: Case) -> Iterator[Truth]:
    """Every truth of a counted relation."""
    d = case.declare
    listed, other = upper_of(d)
    pool = {a for _, a in case.slots} | set(listed) | set(d.get("lower", {}))
    pool |= {a for answers in d.get("candidates", {}).values() for a in answers}
    pool |= set(case.inverse)
    seen = set()
    for exempt in _exempt(case.n_declared, d.get("slack", 0)):
        choices = [
            list(_choices(case, e, name, sorted(pool), exempt=e in exempt))
            for e, name in enumerate(case.everyone)
        ]
        for truth in product(*choices):
            if truth in seen or not _within(case, truth, exempt, listed, other):
                continue
            seen.add(truth)
            yield truth


def _exempt(n: int, slack: int) -> Iterator[tuple[int, ...]]:
    yield from combinations(range(n), min(slack, n))


def _choices(
    case: Case, e: int, name: str, pool: list[str], *, exempt: bool
) -> Iterator[frozenset[str]]:
    d = case.declare
    listed, other = upper_of(d)
    outside = e >= case.n_declared
    rows = d.get("rows_per_entity", 1)
    many = rows > 1 if isinstance(rows, int) else any(rows.get(n, 1) > 1 for n in case.everyone)
    most = rows if isinstance(rows, int) else rows.get(name, 1)
    named = d.get("candidates", {}).get(name)
    mine = [a for a in pool if named is None or a in named]
    if not exempt:
        mine = [a for a in mine if a not in d.get("filler", ()) and listed.get(a, other) != 0]
        identity = d.get("identity", "allowed")
        if not outside and identity != "allowed" and (identity == "never" or name not in identity):
            mine = [a for a in mine if a != name]
    closed = other == 0 and not exempt and is_closed(d)
    if many or outside or (named is None and not closed):
        yield frozenset()
    for size in range(1, most + 1):
        yield from map(frozenset, combinations(mine, size))


def is_closed(d: Mapping[str, Any]) -> bool:
    return bool(d.get("closed")) or "admissible" in d or "golds" in d


def _within(
    case: Case,
    truth: Truth,
    exempt: tuple[int, ...],
    listed: Mapping[str, int],
    other: int | None,
) -> bool:
    used = Counter(a for e, held in enumerate(truth) if e not in exempt for a in held)
    if any(
        limit is not None and c > limit for a, c in used.items() for limit in [listed.get(a, other)]
    ):
        return False
    owned = Counter(a for held in truth[: case.n_declared] for a in held)
    return all(owned[a] >= least for a, least in lower_of(case.declare).items())


def right_slots(case: Case, truth: Truth) -> list[bool]:
    """Per answered slot, forward first, whether this truth makes it right."""
    at = dict(zip(case.everyone, truth, strict=True))
    return [a in at[e] for e, a in case.slots]


def ordered_truths(case: Case) -> Iterator[tuple[Fraction, ...]]:
    """Every truth of an ordered relation on a grid fine enough for three entities."""
    d, n = case.declare, len(case.everyone)
    step = Fraction(1) if d.get("values") == "integer" else Fraction(1, 4)
    low = Fraction(d.get("low", -3))
    high = Fraction(d.get("high", 8))
    grid = [low + i * step for i in range(int((high - low) / step) + 1)]
    if d.get("values") == "integer":
        grid = [Fraction(i) for i in range(-3, 9) if low <= i <= high]
    chosen = combinations if d.get("strict", True) else combinations_with_replacement
    for truth in chosen(grid, n):
        yield truth[::-1] if d["relation"] == "decreasing" else truth


def spaced_truths(case: Case) -> Iterator[tuple[Fraction, ...]]:
    """Truths of a metric relation on a grid of halves."""
    far = Fraction(case.declare["separation"])
    grid = [Fraction(i, 2) for i in range(-2, 13)]
    for truth in product(grid, repeat=len(case.names)):
        if all(abs(x - y) > far for x, y in combinations(truth, 2)):
            yield truth


def numeric_errors(case: Case, truth: tuple[Fraction, ...], radius: Fraction) -> int:
    at = dict(zip(case.everyone, truth, strict=True))
    return sum(not _near(a, at[e], radius) for e, a in case.slots)


def _near(answer: str, value: Fraction, radius: Fraction) -> bool:
    try:
        return abs(Fraction(answer) - value) <= radius
    except ValueError:
        return False


def involutions(case: Case) -> Iterator[Truth]:
    """Every way to pair the entities with one another or with names outside, each used once."""
    d = case.declare
    names = case.names
    outside = sorted({a for _, a in case.slots} - set(names))
    yield from _paired(names, outside, d, {})


def _paired(
    names: tuple[str, ...], outside: list[str], d: Mapping[str, Any], made: dict[str, str | None]
) -> Iterator[Truth]:
    free = [n for n in names if n not in made]
    if not free:
        yield tuple(frozenset() if made[n] is None else frozenset({str(made[n])}) for n in names)
        return
    first = free[0]
    for mate in free[1:]:
        yield from _paired(names, outside, d, {**made, first: mate, mate: first})
    if d.get("fixed_points"):
        yield from _paired(names, outside, d, {**made, first: first})
    if not d.get("closed"):
        yield from _paired(names, outside, d, {**made, first: None})
        for mate in outside:
            rest = [o for o in outside if o != mate]
            yield from _paired(names, rest, d, {**made, first: mate})
