"""Certificates of ordered relations, involutions and metric answers."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.sensors.orbits.certificate import Certificate, Inconsistent
from trueness.sensors.orbits.declaration import Kind
from trueness.sensors.orbits.limits import Params
from trueness.sensors.orbits.slots import Slots
from trueness.stats.chains import Monotone, heaviest_chain, why_no_chain
from trueness.stats.involutions import heaviest_pairing, why_no_involution
from trueness.stats.metric import spaced_answers
from trueness.table import NULL, Column

Bools = NDArray[np.bool_]


def ordered(slots: Slots, params: Params) -> Certificate | Inconsistent:
    """Increasing or decreasing right answers, in the order of the entities."""
    d = params.declaration
    declared = Monotone(
        integer=d.values == "integer",
        strict=d.strict,
        low=_limit("low", d.low, params),
        high=_limit("high", d.high, params),
        decreasing=d.relation == Kind.DECREASING,
    )
    reason = why_no_chain(len(slots.entities), declared)
    if reason is not None:
        return Inconsistent(f"the declared values are impossible: {reason}")
    values, answered = _numbers(slots, params)
    found = heaviest_chain(values, declared, answered=answered)

    def witness(e: int) -> Sequence[str]:
        value = found.chosen[e]
        return () if value is None else (_decimal(value),)

    return _certificate(
        slots,
        found.certified_errors,
        exact=True,
        withheld=found.withheld,
        witness=witness,
        breakdown={"no_number": found.no_value_count, "outside_limits": found.outside_count},
    )


def metric(slots: Slots, params: Params) -> Certificate | Inconsistent:
    """True values that lie apart from one another."""
    d = params.declaration
    separation, radius = (
        _limit("separation", d.separation, params),
        _limit("tolerance_radius", d.tolerance_radius, params),
    )
    values, answered = _numbers(slots, params)
    found = spaced_answers(
        values, separation=separation or 0, radius=radius or 0, answered=answered
    )
    return _certificate(
        slots,
        found.certified_errors,
        exact=False,
        withheld=found.withheld,
        breakdown={"no_number": found.no_value_count},
    )


def involution(slots: Slots, params: Params) -> Certificate | Inconsistent:
    """Partners: if b is right for a, then a is right for b."""
    d = params.declaration
    n = len(slots.entities)
    reason = why_no_involution(n, closed=d.is_closed, fixed_points=d.fixed_points)
    if reason is not None:
        return Inconsistent(f"the declared pairs are impossible: {reason}")
    partner = _partners(slots)
    answers = np.full((n, len(slots.columns)), NULL, dtype=np.int64)
    at = slots.answered
    answers[slots.entity[at], slots.column[at]] = partner[at]
    found = heaviest_pairing(answers, closed=d.is_closed, fixed_points=d.fixed_points)

    def witness(e: int) -> Sequence[str]:
        mate = int(found.partners[e])
        if mate == NULL:
            return ()
        return (slots.entities[mate] if mate < n else slots.keys[mate - n],)

    return _certificate(
        slots,
        found.certified_errors,
        exact=found.exact,
        withheld=found.withheld,
        witness=witness if found.exact else None,
        breakdown={},
    )


def _partners(slots: Slots) -> NDArray[np.int64]:
    """For every slot the entity it names; n + key code for a name outside."""
    if slots.own_key is None:
        msg = (
            "the table does not say which answer names which entity; read it with "
            "trueness.read, which keys the entities' names."
        )
        raise InputError(msg)
    owner: dict[str, int] = {}
    for e, key in zip(slots.entity.tolist(), slots.own_key.values(), strict=True):
        if key is not None and owner.setdefault(key, e) != e:
            msg = (
                f"{slots.entities[owner[key]]!r} and {slots.entities[e]!r} are one answer "
                f"({key!r}), so a partner cannot be told; rename or remove one."
            )
            raise InputError(msg)
    named = np.array(list(owner.values()), dtype=np.int64)
    found = Column.of(slots.keys).codes_in(tuple(owner)).astype(np.int64)
    outside = len(slots.entities) + np.arange(len(slots.keys))
    by_key = np.where(found == NULL, outside, named[found] if len(named) else outside)
    out: NDArray[np.int64] = np.append(by_key, NULL)[slots.key]
    return out


def _numbers(slots: Slots, params: Params) -> tuple[list[list[Fraction | None]], Bools]:
    number = _reader(params)
    shape = (len(slots.entities), len(slots.columns))
    values: list[list[Fraction | None]] = [[None] * shape[1] for _ in range(shape[0])]
    answered = np.zeros(shape, dtype=np.bool_)
    parsed: dict[int, Fraction | None] = {}
    for s in np.flatnonzero(slots.answered).tolist():
        e, t, code = int(slots.entity[s]), int(slots.column[s]), int(slots.key[s])
        if code not in parsed:
            parsed[code] = number(slots.keys[code])
        values[e][t] = parsed[code]
        answered[e, t] = True
    return values, answered


def _reader(params: Params) -> Callable[[str], Fraction | None]:
    if params.number is None:
        msg = (
            f"a relation that is {params.declaration.relation} needs to read numbers; pass "
            "number= to Params.of."
        )
        raise InputError(msg)
    return params.number


def _limit(name: str, value: float | str | None, params: Params) -> Fraction | None:
    if value is None:
        return None
    found = _reader(params)(str(value))
    if found is None:
        msg = f"{name} is {value!r}; a finite decimal number is wanted."
        raise InputError(msg)
    return found


def _decimal(value: Fraction | int) -> str:
    value = Fraction(value)
    return str(value.numerator) if value.denominator == 1 else f"{float(value):g}"


def _certificate(
    slots: Slots,
    certified: int,
    *,
    exact: bool,
    withheld: Bools,
    breakdown: dict[str, int],
    witness: Callable[[int], Sequence[str]] | None = None,
) -> Certificate:
    """The withheld set of these kinds keeps the whole certificate."""
    held = np.zeros(len(slots), dtype=np.bool_)
    at = slots.answered
    held[at] = withheld[slots.entity[at], slots.column[at]]
    return Certificate(
        n_answered=int(at.sum()),
        certified_errors=certified,
        exact=exact,
        withheld=held,
        guaranteed_withheld=certified,
        breakdown=breakdown,
        witness=witness,
        single_columns=certified,
        n_columns=len(slots.columns),
    )
