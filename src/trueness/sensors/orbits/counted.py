"""Certificates of counted relations: capacities, lists, candidates, several columns.

Codes in, one `Certificate` out; the arithmetic stands in `trueness.stats`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from trueness.sensors.orbits.certificate import Certificate, Inconsistent
from trueness.sensors.orbits.limits import Params
from trueness.sensors.orbits.slots import Slots
from trueness.stats.capacity import (
    UNLIMITED,
    ColumnCertificate,
    certify_column,
    over_capacity,
    under_use,
)
from trueness.stats.curve import guaranteed_curve
from trueness.stats.votes import Candidates, Limits, Votes
from trueness.table import NULL, Column

if TYPE_CHECKING:
    from trueness.stats.transport_result import TransportResult

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

CURVE_POINTS = 2_000
"""The guaranteed curve is kept in full for so many sizes, beyond that at even steps."""
RANKED_SLOTS = 2_000_000
"""Beyond, slots get no order of withholding and no curve: they would not fit in memory."""
EXACT_ECHO_PAIRS = 200_000
"""A closed list that holds entities' own names is certified exactly up to so many pairs."""
WITNESS_ENTITIES = 200_000


def certify(slots: Slots, params: Params, *, ranked: bool = True) -> Certificate | Inconsistent:
    """The certificate of a counted relation."""
    coded = code_declaration(slots, params)
    impossible = _impossible(slots, params, coded)
    if impossible is not None:
        return impossible
    if len(slots.columns) == 1 and not params.candidates and not slots.back:
        if not _own_name_is_listed(slots, params, coded):
            return _one_column(slots, params, coded, exact=True, ranked=ranked)
        n_pairs = len(slots.entities) * max(1, len(params.upper))
        if params.declaration.kind == "relaxation" or n_pairs > EXACT_ECHO_PAIRS:
            return _one_column(slots, params, coded, exact=False, ranked=ranked)
    return _transport(slots, params, coded)


@dataclass(frozen=True, slots=True)
class Coded:
    """The declaration in the codes of the table's answers, unsaid listed answers behind.

    ``code`` maps listed keys to codes, ``unsaid`` the codes beyond the table's to their keys.
    """

    upper: Ints
    lower: Ints | None
    code: Mapping[str, int]
    unsaid: Mapping[int, str]

    def key(self, code: int, keys: Sequence[str]) -> str:
        """The key of a code."""
        return self.unsaid[code] if code in self.unsaid else keys[code]


def code_declaration(slots: Slots, params: Params) -> Coded:
    """Limits by answer code: said answers first, then those that only the declaration names."""
    named = [
        *params.upper,
        *params.lower,
        *params.filler,
        *(params.asked_back or ()),
        *(b.asked for b in slots.back),
        *(k for keys in params.candidates.values() for k in sorted(keys)),
    ]
    listed = Column.of(dict.fromkeys(named))
    code: dict[str, int] = {}
    unsaid: dict[int, str] = {}
    for word, found in zip(listed.words, listed.codes_in(slots.keys).tolist(), strict=True):
        code[word] = found if found != NULL else len(slots.keys) + len(unsaid)
        if found == NULL:
            unsaid[code[word]] = word
    default = params.declaration.unlisted_capacity
    n = len(slots.keys) + len(unsaid)
    rest = np.int64(UNLIMITED if default is None else default)
    upper = np.full(n, rest) if named else np.broadcast_to(rest, (n,))
    for word, limit in params.upper.items():
        upper[code[word]] = limit
    for word in params.filler:
        upper[code[word]] = 0
    lower = None
    if params.lower and not _lower_is_implied(params, len(slots.entities)):
        lower = np.zeros(n, dtype=np.int64)
        for word, limit in params.lower.items():
            lower[code[word]] = limit
    return Coded(upper, lower, code, unsaid)


def _lower_is_implied(params: Params, n_entities: int) -> bool:
    """With as much upper as lower limit as there are entities, the upper limits say it all."""
    same = dict(params.lower) == {k: v for k, v in params.upper.items() if v}
    return same and params.declaration.is_closed and sum(params.lower.values()) == n_entities


def _impossible(slots: Slots, params: Params, coded: Coded) -> Inconsistent | None:
    n, d = len(slots.entities), params.declaration
    if params.lower and sum(params.lower.values()) > n:
        total = sum(params.lower.values())
        return Inconsistent(
            f"the lower limits add up to {total:,}, and there are {n:,} entities; lower them or "
            "name all entities"
        )
    if d.is_closed and not d.many_rows and not (coded.upper == UNLIMITED).any():
        total = sum(coded.upper.tolist())
        if total < n - d.slack:
            return Inconsistent(
                f"the listed answers are right for at most {total:,} entities, and there are "
                f"{n:,} with a slack of {d.slack}; complete the list or raise the limits"
            )
    return None


def barred_slots(slots: Slots, params: Params, coded: Coded) -> tuple[Bools, Bools]:
    """Echo and filler slots that the declaration rules out; echo goes first."""
    echo = np.zeros(len(slots), dtype=np.bool_)
    if params.identity is not None and slots.own is not None:
        echo = slots.own & slots.answered & ~_may_be_own(slots, params)
    filler = np.zeros(len(slots), dtype=np.bool_)
    if params.filler:
        codes = [coded.code[f] for f in params.filler]
        filler = np.isin(slots.key, codes) & slots.answered & ~echo
    return echo, filler


def _may_be_own(slots: Slots, params: Params) -> Bools:
    if not params.identity:
        return np.zeros(len(slots), dtype=np.bool_)
    at = Column.of(sorted(params.identity)).codes_in(slots.entities)
    return np.isin(slots.entity, at[at != NULL])


def _barred_pairs(slots: Slots, params: Params, coded: Coded) -> Ints:
    """Entities and the codes of their own names, where they may not be their own answer."""
    if params.identity is None or slots.own_key is None:
        return np.empty((0, 2), dtype=np.int64)
    own = slots.own_key.codes_in(slots.keys).astype(np.int64)
    if coded.unsaid:
        unsaid = slots.own_key.codes_in(tuple(coded.unsaid.values()))
        own = np.where((own == NULL) & (unsaid != NULL), unsaid + len(slots.keys), own)
    held = (own != NULL) & ~_may_be_own(slots, params)
    pairs = np.stack([slots.entity[held].astype(np.int64), own[held]], axis=1)
    return np.unique(pairs, axis=0) if len(pairs) else pairs


def _own_name_is_listed(slots: Slots, params: Params, coded: Coded) -> bool:
    if not params.declaration.is_closed or params.identity is None:
        return False
    pairs = _barred_pairs(slots, params, coded)
    return bool((coded.upper[pairs[:, 1]] > 0).any())


def _one_column(
    slots: Slots, params: Params, coded: Coded, *, exact: bool, ranked: bool
) -> Certificate:
    """The closed forms of a single column without candidates, O(n)."""
    echo, filler = barred_slots(slots, params, coded)
    held = echo | filler
    slack = params.declaration.slack
    found = certify_column(
        slots.key,
        coded.upper,
        echo=echo if held.any() else None,
        filler=filler if held.any() else None,
        slack=slack,
    )
    counts = _counts(slots, held, len(coded.upper))
    missing = len(slots.entities) - found.n_answered
    rare = 0 if coded.lower is None else under_use(counts, coded.lower, missing)
    certified = max(found.certified_errors, rare)
    gaps = coded.lower is not None and bool(held.any())
    rank: NDArray[np.int64] | None = None
    curve: tuple[tuple[int, int], ...] = ()
    optimal = False
    if ranked and len(slots) <= RANKED_SLOTS:
        rank, curve, optimal = _order(slots, coded, counts, held, slack)
    guaranteed = max(0, found.break_even_slack - slack)
    return Certificate(
        n_answered=found.n_answered,
        certified_errors=certified,
        exact=exact and not gaps,
        withheld=found.withheld,
        guaranteed_withheld=guaranteed,
        share=None if slack else _class_share(slots, coded, counts, held),
        breakdown=_breakdown(found, coded, rare),
        break_even_slack=None if coded.lower is not None else found.break_even_slack,
        witness=_closed_witness(slots, coded, held, rare, slack),
        single_columns=certified,
        curve=curve,
        curve_is_optimal=optimal,
        rank=rank,
    )


def _counts(slots: Slots, held: Bools, n_keys: int) -> Ints:
    counted = slots.answered & ~held
    key = slots.key if counted.all() else slots.key[counted]
    return np.bincount(key, minlength=n_keys)


def _breakdown(found: ColumnCertificate, coded: Coded, rare: int) -> dict[str, int]:
    out = {
        "echo": found.echo,
        "filler": found.filler,
        "inadmissible": found.inadmissible,
        "over_capacity": found.over_capacity,
    }
    return out if coded.lower is None else {**out, "under_use": rare}


def _class_share(slots: Slots, coded: Coded, counts: Ints, held: Bools) -> Callable[[int], float]:
    """Proved least share of wrong ones in a withheld slot's class.

    Not with slack: the exempt may all stand in one class.
    """

    def share(slot: int) -> float:
        if held[slot]:
            return 1.0
        code = int(slots.key[slot])
        return int(counts[code] - coded.upper[code]) / int(counts[code])

    return share


def _order(
    slots: Slots, coded: Coded, counts: Ints, held: Bools, slack: int
) -> tuple[NDArray[np.int64], tuple[tuple[int, int], ...], bool]:
    """In which order to withhold, and what is guaranteed about the first so many of it."""
    answered = slots.answered
    n_held = int(np.count_nonzero(held))
    nested = guaranteed_curve(counts, coded.upper, n_certain=n_held, slack=slack, exact=False)
    place = np.empty(len(counts), dtype=np.int64)
    place[nested.order] = np.arange(len(counts))
    where = np.append(place, len(counts))[slots.key]
    where[held] = -1
    where = where[answered]
    rank = np.zeros(len(slots), dtype=np.int64)
    order = np.flatnonzero(answered)[np.argsort(where, kind="stable")]
    rank[order] = np.arange(1, len(order) + 1)
    step = max(1, len(nested.guaranteed_wrong) // CURVE_POINTS)
    sizes = np.unique(np.r_[0 : len(nested.guaranteed_wrong) : step, len(order)])
    points = zip(sizes.tolist(), nested.guaranteed_wrong[sizes].tolist(), strict=True)
    return rank, tuple(points), nested.is_optimal


def _closed_witness(
    slots: Slots, coded: Coded, held: Bools, rare: int, slack: int
) -> Callable[[int], Sequence[str]] | None:
    """A truth in which the first cap(a) entities that said a are right; not with lower limits.

    The first others, as many as the slack, are exempt and right as well.
    """
    if coded.lower is not None or rare or len(slots) > WITNESS_ENTITIES:
        return None
    right: dict[int, str] = {}
    used: dict[int, int] = {}
    for s in np.flatnonzero(slots.answered).tolist():
        code = int(slots.key[s])
        within = not held[s] and used.get(code, 0) < coded.upper[code]
        if within:
            used[code] = used.get(code, 0) + 1
        elif slack:
            slack -= 1
        else:
            continue
        right[int(slots.entity[s])] = slots.keys[code]
    return lambda e: (right[e],) if e in right else ()


def _transport(slots: Slots, params: Params, coded: Coded) -> Certificate | Inconsistent:
    """Several columns, candidates or inverse questions: one transport problem."""
    from trueness.stats import transport  # noqa: PLC0415 - slow to load, seldom needed
    from trueness.stats.relaxation import column_errors, simple_floor  # noqa: PLC0415 - as above

    echo, filler = barred_slots(slots, params, coded)
    asked = _Asked.of(slots, coded)
    limits = _limits(slots, params, coded, asked.n_entities)
    votes = asked.votes(echo | filler)
    columns = asked.columns(echo | filler)
    kind: Literal["exact", "relaxation"] = (
        "relaxation" if params.declaration.kind == "relaxation" else "exact"
    )
    found = transport.most_right(votes, limits, kind=kind, columns=columns)
    if not found.feasible:
        return _no_truth(found, slots, coded)
    withheld, guaranteed, share = _withheld(asked, votes, limits, found, kind)
    single = column_errors(columns, limits)
    one = len(slots.columns) == 1 and not slots.back
    simple = simple_floor(votes, limits) if params.candidates and one else None
    return Certificate(
        n_answered=votes.n_slots,
        certified_errors=found.certified_errors,
        exact=found.exact,
        withheld=withheld,
        guaranteed_withheld=guaranteed,
        share=None if limits.slack or slots.back else share,
        breakdown=_transport_breakdown(slots, coded, echo, filler, single, found),
        break_even_slack=transport.break_even_slack(votes, limits),
        witness=_named_witness(found, slots, coded),
        witness_is_unique=transport.witness_is_unique(votes, limits, found),
        single_columns=single,
        n_columns=len(columns),
        simple_floor=simple,
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """Answered slots of both directions, as entity and answer codes; outside owners are last."""

    entity: Ints
    answer: Ints
    column: Ints
    n_forward: int
    n_entities: int
    n_outside: int
    n_answers: int
    slot: NDArray[np.intp]
    n_slots: int

    @classmethod
    def of(cls, slots: Slots, coded: Coded) -> "_Asked":
        at = np.flatnonzero(slots.answered)
        entity = slots.entity[at].astype(np.int64)
        answer = slots.key[at].astype(np.int64)
        column = slots.column[at].astype(np.int64)
        owners, asked, n_outside = _owners(slots, coded)
        n_back = len(slots.columns)
        return cls(
            entity=np.concatenate([entity, owners]),
            answer=np.concatenate([answer, asked]),
            column=np.concatenate([column, np.full(len(owners), n_back, dtype=np.int64)]),
            n_forward=len(at),
            n_entities=len(slots.entities) + n_outside,
            n_outside=n_outside,
            n_answers=len(coded.upper),
            slot=at,
            n_slots=len(slots),
        )

    def barred(self, held: Bools) -> Bools:
        out = np.zeros(len(self.entity), dtype=np.bool_)
        out[: self.n_forward] = held[self.slot]
        return out

    def votes(self, held: Bools, only: Bools | None = None) -> Votes:
        keep = np.ones(len(self.entity), dtype=np.bool_) if only is None else only
        return Votes.of(
            self.n_entities,
            self.n_answers,
            self.entity[keep],
            self.answer[keep],
            self.barred(held)[keep],
            self.n_outside,
        )

    def columns(self, held: Bools) -> list[Votes]:
        return [self.votes(held, self.column == c) for c in np.unique(self.column).tolist()]


def _owners(slots: Slots, coded: Coded) -> tuple[Ints, Ints, int]:
    """Who came back for which answer; names that are no entity become further rows."""
    known: dict[str, int] = {}
    if slots.own_key is not None:
        named = zip(slots.entity.tolist(), slots.own_key.values(), strict=True)
        known = {key: e for e, key in named if key is not None}
    outside: dict[str, int] = {}
    owners, asked = [], []
    for back in slots.back:
        if back.owner is None:
            continue
        if back.owner in known:
            owners.append(known[back.owner])
        else:
            owners.append(len(slots.entities) + outside.setdefault(back.owner, len(outside)))
        asked.append(coded.code[back.asked])
    return np.array(owners, dtype=np.int64), np.array(asked, dtype=np.int64), len(outside)


def _limits(slots: Slots, params: Params, coded: Coded, n_entities: int) -> Limits:
    d = params.declaration
    rows = None
    if d.many_rows:
        default = d.rows_per_entity if isinstance(d.rows_per_entity, int) else 1
        rows = np.full(n_entities, default, dtype=np.int64)
        for e, name in enumerate(slots.entities):
            rows[e] = params.rows.get(name, default)
    candidates = None
    if params.candidates:
        by_entity = {
            e: [coded.code[k] for k in params.candidates[name]]
            for e, name in enumerate(slots.entities)
            if name in params.candidates
        }
        candidates = Candidates.of(n_entities, by_entity)
    return Limits(
        upper=coded.upper,
        lower=coded.lower,
        rows_per_entity=rows,
        candidates=candidates,
        closed=d.is_closed,
        barred_pairs=_barred_pairs(slots, params, coded),
        slack=d.slack,
    )


def _no_truth(found: "TransportResult", slots: Slots, coded: Coded) -> Inconsistent:
    reason = found.reason or "no truth satisfies every limit"
    if found.violator is None:
        return Inconsistent(reason)
    names = tuple(slots.entities[int(e)] for e in found.violator.entities[:20].tolist())
    answers = [coded.key(int(a), slots.keys) for a in found.violator.answers[:20].tolist()]
    return Inconsistent(
        f"{len(found.violator.entities)} entities ({', '.join(names[:5])}) have only "
        f"{found.violator.capacity} right answers among them ({', '.join(answers[:5])}); add "
        "candidates or raise the limits",
        names,
    )


def _withheld(
    asked: _Asked,
    votes: Votes,
    limits: Limits,
    found: "TransportResult",
    kind: Literal["exact", "relaxation"],
) -> tuple[Bools, int, Callable[[int], float]]:
    """Every slot whose component has a positive certificate, and what is proved of the set."""
    from trueness.stats import transport  # noqa: PLC0415 - slow to load, seldom needed

    codes = votes.pair_codes
    order = np.argsort(codes)
    mine = asked.entity * max(asked.n_answers, 1) + asked.answer
    pair = order[np.searchsorted(codes[order], mine)] if len(codes) else mine[:0]
    held = found.withheld_pairs
    forward = np.zeros(len(codes), dtype=np.int64)
    np.add.at(forward, pair[: asked.n_forward], 1)
    barred = np.minimum(votes.barred, forward)
    count = np.minimum(votes.count, forward - barred)
    zero = np.where(held, count, 0)
    guaranteed = transport.guaranteed_wrong(
        votes, limits, zero, np.where(held, barred, 0), kind=kind
    )
    withheld = np.zeros(asked.n_slots, dtype=np.bool_)
    withheld[asked.slot] = held[pair[: asked.n_forward]]
    floor = np.zeros(asked.n_slots)
    floor[asked.slot] = _component_floor(votes, found)[pair[: asked.n_forward]]
    return withheld, guaranteed, lambda slot: float(floor[slot])


def _component_floor(votes: Votes, found: "TransportResult") -> NDArray[np.float64]:
    """Share of certified errors in each pair's component; 1 where never right.

    Not with slack, nor with inverse questions: the wrong answers of a component may all be among
    those asked back.
    """
    n = len(found.component_errors)
    slots_of_pair = votes.count + votes.barred
    inside = found.pair_component >= 0
    size = np.bincount(found.pair_component[inside], slots_of_pair[inside], n)
    share = np.divide(found.component_errors, size, out=np.zeros(n), where=size > 0)
    out: NDArray[np.float64] = np.append(np.minimum(share, 1.0), 1.0)[found.pair_component]
    return out


def _transport_breakdown(  # noqa: PLR0917 - the causes stand side by side
    slots: Slots, coded: Coded, echo: Bools, filler: Bools, single: int, found: "TransportResult"
) -> dict[str, int]:
    held = echo | filler
    open_slots = slots.answered & ~held
    inadmissible = open_slots & (np.append(coded.upper, 1)[slots.key] == 0)
    over = 0
    for column in range(len(slots.columns)):
        mine = open_slots & ~inadmissible & (slots.column == column)
        counts = np.bincount(slots.key[mine], minlength=len(coded.upper)).astype(np.int64)
        over += over_capacity(counts, coded.upper)
    return {
        "echo": int(echo.sum()),
        "filler": int(filler.sum()),
        "inadmissible": int(inadmissible.sum()),
        "over_capacity": over,
        "contradiction": max(0, found.certified_errors - single),
    }


def _named_witness(
    found: "TransportResult", slots: Slots, coded: Coded
) -> Callable[[int], Sequence[str]]:
    right: dict[int, list[str]] = {}
    for e, a in zip(found.entity.tolist(), found.answer.tolist(), strict=True):
        right.setdefault(e, []).append(coded.key(a, slots.keys))
    return lambda e: tuple(right.get(e, ()))
