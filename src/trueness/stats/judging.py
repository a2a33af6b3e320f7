"""Which verdict a paired comparison amounts to: every clause of the table with its numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from trueness.contract.errors import InputError
from trueness.contract.states import State
from trueness.stats.clouds import PARTS
from trueness.stats.paired_means import ROUNDING
from trueness.stats.verdicts import (
    MOVED_NOTE,
    TABLE,
    UNCHANGED,
    UNRESOLVED,
    Clause,
    Entry,
    Numbers,
    Relation,
    Verdict,
)

_NEEDS_GOLD = frozenset({"gold", "wrong"})
_ROWS_WITHOUT_GOLD = (0, 5, 6, 7)
_ROWS_OF_CHANGE = range(1, 7)


@dataclass(frozen=True, slots=True)
class _Case:
    """What is judged: entries by part, the primary order first, and the two thresholds."""

    parts: dict[str, tuple[Entry, ...]]
    margin: float
    alpha: float
    gold_known: bool


def judge(
    entries: Sequence[Entry],
    *,
    margin: float = 0.10,
    alpha: float = 0.05,
    gold_known: bool = True,
    omnibus_p: float | None = None,
) -> Verdict:
    r"""The verdict of the table, its reason, and every clause with its numbers.

    Of part x: *up* and *down* when its band at the primary order lies above, below 0 by more than
    1e-12 (without spread: when the adjusted p of the sign flip is at most alpha); *equivalent*
    when its equivalence interval lies inside of ±margin at **every** order; *below margin* when
    the upper end of that interval at the primary order does. The primary order is 2, or the
    smallest when 2 is not among them.

    Parameters
    ----------
    entries : sequence of Entry
        Each of the five parts at each order.
    margin : float in (0, 1]
        Differences smaller than this do not matter; declared before looking.
    alpha : float in (0, 1)
        Error of the directions jointly and of each other clause; the intervals in ``entries``
        must have been made for it.
    gold_known : bool
        False when no item has a gold answer: only rows without directions of gold or wrong remain.
    omnibus_p : float, optional
        Of the test that no item's law changed; only adds a note.

    Returns
    -------
    Verdict
        ``unresolved`` unless exactly one row holds.

    Raises
    ------
    InputError
        If a part is missing at an order, or a number lies outside its range.

    Examples
    --------
    >>> still = [Entry(2, part, 0.0, band=(-0.02, 0.02), t90=(-0.01, 0.01)) for part in PARTS]
    >>> judge(still).name
    'unchanged'
    """
    case = _Case(_by_part(entries), margin, alpha, gold_known)
    if not (0 < margin <= 1 and 0 < alpha < 1):
        msg = (
            f"margin is {margin} and alpha {alpha}; wanted a margin in (0, 1] and an alpha "
            "between 0 and 1. Declare them before looking."
        )
        raise InputError(msg)
    rows = _rows(case)
    name, reason = _choose(case, rows)
    failed = _lacking(rows) if reason == "margin_not_met" else ()
    moved = name == UNCHANGED and omnibus_p is not None and omnibus_p < alpha
    return Verdict(
        name=name,
        reason=reason,
        clauses=tuple(clause for row in rows.values() for clause in row),
        failed=failed,
        margin=margin,
        alpha=alpha,
        error_rate=2 * alpha,
        notes=(MOVED_NOTE,) if moved else (),
        primary_order=case.parts["total"][0].order,
    )


def _by_part(entries: Sequence[Entry]) -> dict[str, tuple[Entry, ...]]:
    orders = sorted({entry.order for entry in entries}, key=lambda r: (r != 2, r))  # noqa: PLR2004 - the primary order
    found = {(entry.part, entry.order): entry for entry in entries}
    wanted = {(part, order) for part in PARTS for order in orders}
    if not orders or set(found) != wanted or len(entries) != len(wanted):
        msg = (
            f"{len(entries)} entries at orders {orders} do not hold each of {', '.join(PARTS)} "
            "once an order. Hand in every part; one that is not measured has estimate None."
        )
        raise InputError(msg)
    return {part: tuple(found[part, order] for order in orders) for part in PARTS}


def _rows(case: _Case) -> dict[int, tuple[Clause, ...]]:
    """The clauses of each row that applies."""
    rows: dict[int, tuple[Clause, ...]] = {}
    for row, (verdict, conditions) in enumerate(TABLE):
        if not case.gold_known and row not in _ROWS_WITHOUT_GOLD:
            continue
        clauses = []
        for part, relation in conditions:
            if part in _NEEDS_GOLD and not case.gold_known:
                continue
            numbers = _numbers(case, part, relation)
            if relation is Relation.NO_OTHER_ROW:
                held = not any(_all_hold(rows[k]) for k in _ROWS_OF_CHANGE if k in rows)
            else:
                held = _holds(relation, numbers)
            clauses.append(Clause(row, verdict, part, relation, held, numbers))
        rows[row] = tuple(clauses)
    return rows


def _holds(relation: Relation, numbers: tuple[Numbers, ...]) -> bool:
    if relation is Relation.EQUIVALENT:
        return all(at.holds for at in numbers)
    if relation is Relation.NOT_EQUIVALENT:
        return any(at.holds for at in numbers)
    if relation is Relation.NOT_ANSWERING_UP:
        return not all(at.holds for at in numbers)
    return numbers[0].holds


def _numbers(case: _Case, part: str, relation: Relation) -> tuple[Numbers, ...]:
    if relation is Relation.NO_OTHER_ROW:
        return ()
    if relation is Relation.NOT_ANSWERING_UP:
        down = _direction(case.parts["none"][0], case.alpha, up=False)
        return (down, _direction(case.parts["semantic"][0], case.alpha, up=True))
    entries = case.parts[part]
    if relation in (Relation.UP, Relation.DOWN):
        up = relation is Relation.UP
        return tuple(_direction(entry, case.alpha, up=up) for entry in entries)
    return tuple(_against_margin(entry, case.margin, relation) for entry in entries)


def _direction(entry: Entry, alpha: float, *, up: bool) -> Numbers:
    low, high = entry.band or (None, None)
    flat = entry.state is State.DEGENERATE
    if low is not None and high is not None:
        held = low > ROUNDING if up else high < -ROUNDING
    elif flat and entry.estimate is not None and entry.p_adjusted is not None:
        toward = entry.estimate if up else -entry.estimate
        held = toward > ROUNDING and entry.p_adjusted <= alpha
    else:
        held = False
    return _seen(entry, low, high, held=held, p=entry.p_adjusted if flat else None)


def _against_margin(entry: Entry, margin: float, relation: Relation) -> Numbers:
    low, high = entry.t90 or (None, None)
    below = high is not None and high < margin - ROUNDING
    inside = below and low is not None and low > -margin + ROUNDING
    held = {
        Relation.BELOW_MARGIN: below,
        Relation.EQUIVALENT: inside,
        Relation.NOT_EQUIVALENT: not inside,
    }[relation]
    return _seen(entry, low, high, held=held)


def _seen(
    entry: Entry, low: float | None, high: float | None, *, held: bool, p: float | None = None
) -> Numbers:
    return Numbers(
        part=entry.part,
        order=entry.order,
        estimate=entry.estimate,
        low=low,
        high=high,
        epsilon_star=entry.epsilon_star,
        p_adjusted=p,
        n_movers=entry.n_movers,
        holds=held,
    )


def _choose(case: _Case, rows: dict[int, tuple[Clause, ...]]) -> tuple[str, str | None]:
    """Name and reason, from the top of the table to its bottom."""
    if _all_hold(rows[0]):
        return UNCHANGED, None
    holding = [row for row in _ROWS_OF_CHANGE if row in rows and _all_hold(rows[row])]
    if len(holding) == 1:
        return TABLE[holding[0]][0], None
    if _all_hold(rows[7]):
        return TABLE[7][0], None
    return UNRESOLVED, _reason(case, rows, n_holding=len(holding))


def _reason(case: _Case, rows: dict[int, tuple[Clause, ...]], *, n_holding: int) -> str:
    if not case.gold_known:
        return "gold_unknown"
    primary = [entries[0] for entries in case.parts.values()]
    if not any(
        _direction(entry, case.alpha, up=up).holds for entry in primary for up in (True, False)
    ):
        return "insufficient_evidence"
    if n_holding > 1:
        return "mixed"
    return "margin_not_met" if _lacking(rows) else "mixed"


def _lacking(rows: dict[int, tuple[Clause, ...]]) -> tuple[Clause, ...]:
    """Failed margin clauses of the rows of change in which nothing else fails."""
    found: list[Clause] = []
    for row in _ROWS_OF_CHANGE:
        failed = [clause for clause in rows.get(row, ()) if not clause.holds]
        if all(
            clause.relation in (Relation.EQUIVALENT, Relation.BELOW_MARGIN) for clause in failed
        ):
            found += failed
    return tuple(found)


def _all_hold(clauses: tuple[Clause, ...]) -> bool:
    return all(clause.holds for clause in clauses)
