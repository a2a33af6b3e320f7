"""The sentences a certificate rests on, and how much of it rests on each alone."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from trueness.sensors.orbits.declaration import COUNTED, NUMERIC, Declaration, Kind
from trueness.sensors.orbits.limits import Params


@dataclass(frozen=True, slots=True)
class Assumption:
    """One assumption; ``resting`` of the certified errors vanish without it.

    ``resting`` is None where it was not computed.
    """

    sentence: str
    resting: int | None = None

    def __str__(self) -> str:
        if self.resting is None:
            return self.sentence
        return f"{self.sentence} ({self.resting:,} of the proved errors rest on this alone)"


@dataclass(frozen=True, slots=True)
class _Clause:
    sentence: str
    without: Params | None = None


def assumptions(
    params: Params,
    *,
    n_columns: int,
    golds_known: bool,
    certified: int,
    recertify: Callable[[Params], int] | None,
) -> tuple[Assumption, ...]:
    """Every assumption of a declaration, in plain words.

    Parameters
    ----------
    params : Params
    n_columns : int
        Columns of the table.
    golds_known : bool
        The key was checked against golds, so its safety is no assumption.
    certified : int
        The certified errors.
    recertify : callable or None
        From changed parameters to their certified errors; None where that would cost too much.
    """
    out = []
    for clause in _clauses(params, n_columns, golds_known=golds_known):
        resting = None
        if recertify is not None and clause.without is not None and certified:
            resting = max(0, certified - recertify(clause.without))
        out.append(Assumption(clause.sentence, resting))
    return tuple(out)


def _clauses(params: Params, n_columns: int, *, golds_known: bool) -> Iterator[_Clause]:
    yield from _relation(params)
    if params.declaration.relation in COUNTED:
        yield from _lists(params)
    yield from _exceptions(params)
    if n_columns > 1:
        yield _Clause(f"the {n_columns} columns ask the same question")
    yield from _keys(params, n_columns, golds_known=golds_known)


def _relation(params: Params) -> Iterator[_Clause]:
    d = params.declaration
    if d.relation not in COUNTED:
        yield _Clause(_SPECIAL[d.relation](d))
        return
    if d.many_rows:
        yield _Clause("an entity has at most the declared number of right answers")
    else:
        yield _Clause("an entity has one right answer")
    if d.unlisted_capacity == 1:
        free = replace(params, declaration=replace(d, relation="capacity", default_capacity=None))
        yield _Clause("the entities have pairwise different right answers", free)
    elif d.unlisted_capacity is not None and not d.is_closed:
        free = replace(params, declaration=replace(d, relation="capacity", default_capacity=None))
        yield _Clause(f"no answer is right for more than {d.unlisted_capacity} entities", free)


def _lists(params: Params) -> Iterator[_Clause]:
    d, n = params.declaration, len(params.upper)
    opened = replace(params, declaration=d.opened(), lower={})
    if d.golds is not None:
        yield _Clause(
            f"the right answers are the {n} listed ones, as often as they are listed",
            replace(opened, upper={}),
        )
    elif d.admissible is not None:
        yield _Clause(
            f"every right answer is one of the {n} listed ones, and each of them belongs to at "
            "most one of these entities",
            replace(opened, upper={}),
        )
    elif d.capacities:
        yield _Clause(
            f"{n} answers are right for at most as many entities as declared",
            replace(params, upper={}),
        )
        if d.closed:
            yield _Clause("every right answer is among those listed", opened)
    if d.lower:
        yield _Clause(
            f"{len(d.lower)} answers are right for at least as many entities as declared",
            replace(params, lower={}),
        )
    if params.candidates:
        yield _Clause(
            f"for {len(params.candidates)} entities the right answer is among their candidates",
            replace(params, candidates={}),
        )


def _exceptions(params: Params) -> Iterator[_Clause]:
    d = params.declaration
    if params.identity is not None:
        kept = f", except {len(params.identity)} named ones" if params.identity else ""
        yield _Clause(f"no entity is its own answer{kept}", replace(params, identity=None))
    if params.filler:
        yield _Clause(
            f"{len(params.filler)} filler answers are nobody's", replace(params, filler=frozenset())
        )
    if d.slack:
        yield _Clause(f"at most {d.slack} entities break the limits")


def _keys(params: Params, n_columns: int, *, golds_known: bool) -> Iterator[_Clause]:
    d = params.declaration
    if d.relation in NUMERIC:
        yield _Clause("an answer that is no number is not right")
    if golds_known:
        return
    if d.relation in COUNTED and d.unlisted_capacity is not None:
        yield _Clause("the answer key does not merge two different right answers")
    if d.is_closed:
        yield _Clause("no right answer is spelled outside of the list")
    if n_columns > 1:
        yield _Clause("one right answer has one key")


def _ordered(d: Declaration) -> str:
    ties = "strictly " if d.strict else ""
    whole = " by whole numbers" if d.values == "integer" else ""
    limits = "".join(
        f"{word}{limit}"
        for word, limit in ((", from ", d.low), (", up to ", d.high))
        if limit is not None
    )
    way = "increase" if d.relation == Kind.INCREASING else "decrease"
    return f"the right answers {ties}{way}{whole} in the order of the entities{limits}"


def _involution(d: Declaration) -> str:
    where = "all partners are among the entities" if d.is_closed else "each partner is used once"
    alone = "an entity may be its own partner" if d.fixed_points else "no entity is its own partner"
    return f"if b is right for a, a is right for b; {where}; {alone}"


def _metric(d: Declaration) -> str:
    return (
        f"the right answers of two entities lie more than {d.separation} apart, and an answer is "
        f"right within {d.tolerance_radius}"
    )


_SPECIAL: dict[str, Callable[[Declaration], str]] = {
    Kind.INCREASING: _ordered,
    Kind.DECREASING: _ordered,
    Kind.INVOLUTION: _involution,
    Kind.METRIC: _metric,
}
