"""Which items to withhold, from any reading that singles items out, with what is proved.

What a reading must bring:

* ``flagged``: the items singled out and, where proved, their precision and recall floors.
* ``per_item``: one entry an item. State ``NO_EVIDENCE`` says that there is no answer to keep: the
  item is withheld by its outcome and counted apart.
* For a wanted coverage, ``extra["withhold_rank"]`` of the items in the guaranteed order: 1 is
  withheld first, every whole number once. With it the detail ``guaranteed_wrong``: a list of pairs
  ``[t, count]`` that say that at least ``count`` of the first ``t`` items are wrong, or a list of
  counts whose entry ``t`` says so. It is about the order's own first ``t`` items: what the best
  set of that size would prove is more, and false here. Between known sizes the count follows: it
  never falls when an item is added and rises by at most one.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from trueness.contract import Decision, ItemVerdict, Reading, Rows, State, Verdict
from trueness.contract.errors import InvalidReading, PolicyError
from trueness.contract.serial import Json
from trueness.decide.shares import exact_share, percent_down

RANK = "withhold_rank"
CURVE = "guaranteed_wrong"

_KEPT, _WITHHELD, _BY_OUTCOME = range(3)
_DECIDABLE = frozenset({State.MEASURED, State.SILENT})
_KEPT_BECAUSE = {
    "flagged": "not singled out; that is no sign that it is right",
    "order": "later in the guaranteed order; that is no sign that it is right",
    "outcome": "nothing is proved about it; that is no sign that it is right",
}


def withhold(reading: Reading, *, coverage: float | str | Fraction | None = None) -> Decision:
    r"""What to keep and what to withhold, item by item, with the proved floors.

    Without ``coverage`` the flagged items are withheld. With it, the first
    :math:`t = \lfloor (1 - c) N \rfloor` items of the guaranteed order are, where ``N`` counts the
    items that have an answer; with ``g`` of them proved wrong, at least ``g / t`` of the withheld
    are wrong and at least ``g / (g + N - t)`` of all wrong ones are withheld. An item that is kept
    is never called right.

    Parameters
    ----------
    reading : Reading
        Of any sensor; see the module for what it must bring.
    coverage : float, Fraction or text, optional
        Share of the answered items to keep at least, in [0, 1].

    Returns
    -------
    Decision
        One verdict an item, in the reading's order, made on demand. A ``SILENT`` reading withholds
        nothing but the items without an answer, and says that this is not a pass. A reading in any
        other state but ``MEASURED`` decides nothing: its state and reason come back without
        verdicts.

    Raises
    ------
    PolicyError
        When the coverage is no share, the reading has no guaranteed order or the order does not
        reach that far, or not every item is listed.
    InvalidReading
        When flagged items, ranks or counts contradict one another.

    Examples
    --------
    >>> from trueness.contract import Direction, Flagged, ItemReading
    >>> from trueness.contract.blocks import Statement
    >>> items = [ItemReading(name, State.MEASURED, value=1.0) for name in ("Chad", "Peru", "Oman")]
    >>> seen = Reading("made", Direction.HIGHER_IS_WORSE, State.MEASURED, None, 1 / 3, 3, 3,
    ...     (Statement("At least one is wrong."),), per_item=items,
    ...     flagged=Flagged(("Chad", "Peru"), 0.5, 0.5))
    >>> decision = withhold(seen)
    >>> decision.items(Verdict.WITHHOLD), decision.details["precision_floor"]
    (('Chad', 'Peru'), 0.5)
    """
    wanted = None if coverage is None else exact_share("coverage", coverage)
    if reading.state not in _DECIDABLE:
        return _undecided(reading)
    if len(reading.per_item) != reading.n_items:
        msg = (
            f"the reading lists {len(reading.per_item)} of its {reading.n_items} items; all of "
            "them are needed. Write it with max_items=None, or measure again."
        )
        raise PolicyError(msg)
    if reading.state is State.SILENT:
        plan = _by_outcome_only(reading)
    elif wanted is None:
        plan = _by_flag(reading)
    else:
        plan = _by_order(reading, wanted)
    return _decision(reading, plan, wanted)


def replay_withhold(decision: Decision, reading: Reading) -> tuple[str, ...]:
    """What does not follow when the decision is derived again; empty when all of it does.

    Parameters
    ----------
    decision : Decision
        That `withhold` is said to have reached.
    reading : Reading
        The reading it is said to rest on.
    """
    wanted = decision.details.get("wanted_coverage")
    again = withhold(reading, coverage=wanted if isinstance(wanted, str) else None)
    problems = [
        f"{name} is {getattr(decision, name)!r}; the reading gives {getattr(again, name)!r}"
        for name in ("action", "state", "reason", "taken", "details", "trace", "fingerprints")
        if getattr(decision, name) != getattr(again, name)
    ]
    if len(decision.verdicts) != len(again.verdicts):
        problems.append(f"{len(decision.verdicts)} verdicts for {len(again.verdicts)} items")
        return tuple(problems)
    pairs = zip(decision.verdicts, again.verdicts, strict=True)
    problems += [f"{a.item!r} is {a.verdict}; derived {b.verdict}" for a, b in pairs if a != b]
    return tuple(problems)


@dataclass(frozen=True, slots=True)
class _Plan:
    """What happens to each item, and what is proved about those withheld by proof."""

    rule: str
    codes: bytearray
    precision_floor: float | None = None
    recall_floor: float | None = None
    proved_wrong: int | None = None

    def count(self, code: int) -> int:
        return self.codes.count(code)


def _by_outcome_only(reading: Reading) -> _Plan:
    codes = bytearray(reading.n_items)
    for position, item in enumerate(reading.per_item):
        if item.state is State.NO_EVIDENCE:
            codes[position] = _BY_OUTCOME
    return _Plan("outcome", codes)


def _by_flag(reading: Reading) -> _Plan:
    codes = bytearray(reading.n_items)
    flagged = set(reading.flagged.items)
    unseen = set(flagged)
    for position, item in enumerate(reading.per_item):
        if item.item in flagged:
            _check_flagged_once(item.item, item.state, unseen)
            codes[position] = _WITHHELD
        elif item.state is State.NO_EVIDENCE:
            codes[position] = _BY_OUTCOME
    if unseen:
        msg = (
            f"{len(unseen)} flagged items are none of the reading's items, such as "
            f"{min(unseen)!r}. Flag items by the name they have in per_item."
        )
        raise InvalidReading(msg)
    floors = reading.flagged
    return _Plan("flagged", codes, floors.precision_floor, floors.recall_floor)


def _check_flagged_once(item: str, state: State, unseen: set[str]) -> None:
    if state is State.NO_EVIDENCE:
        msg = f"{item!r} is flagged and has no answer; only items with an answer can be flagged."
        raise InvalidReading(msg)
    if item not in unseen:
        msg = f"{item!r} is flagged and names two items; give every item its own name."
        raise InvalidReading(msg)
    unseen.discard(item)


def _by_order(reading: Reading, coverage: Fraction) -> _Plan:
    codes = bytearray(reading.n_items)
    ranked: dict[int, int] = {}
    for position, item in enumerate(reading.per_item):
        if item.state is State.NO_EVIDENCE:
            codes[position] = _BY_OUTCOME
        elif RANK in item.extra:
            _rank(ranked, item.item, item.extra[RANK], position)
    n_answered = reading.n_items - codes.count(_BY_OUTCOME)
    size = int((1 - coverage) * n_answered)
    _check_order(reading, ranked, size, n_answered)
    for rank in range(1, size + 1):
        codes[ranked[rank]] = _WITHHELD
    wrong = _guaranteed(reading.details, size) if size else 0
    rest = wrong + n_answered - size
    return _Plan(
        "order",
        codes,
        wrong / size if size else None,
        wrong / rest if rest else None,
        wrong,
    )


def _rank(ranked: dict[int, int], item: str, rank: Json, position: int) -> None:
    if isinstance(rank, bool) or not isinstance(rank, int) or rank < 1 or rank in ranked:
        msg = f"{item!r} has {RANK} {rank!r}; every rank is a whole number from 1, used once."
        raise InvalidReading(msg)
    ranked[rank] = position


def _check_order(reading: Reading, ranked: Mapping[int, int], size: int, n_answered: int) -> None:
    if size and not ranked:
        msg = (
            f"this reading of {reading.sensor!r} has no guaranteed order, so no coverage can be "
            "asked for. Leave coverage out to withhold the flagged items."
        )
        raise PolicyError(msg)
    if ranked and max(ranked) != len(ranked):
        msg = f"{len(ranked)} items have ranks up to {max(ranked)}; ranks run from 1 without gaps."
        raise InvalidReading(msg)
    if size > len(ranked):
        msg = (
            f"{size} of {n_answered} answered items would have to be withheld and the guaranteed "
            f"order names {len(ranked)}. Ask for a coverage of at least "
            f"{n_answered - len(ranked)}/{n_answered}."
        )
        raise PolicyError(msg)


def _guaranteed(details: Mapping[str, Json], size: int) -> int:
    """At least so many of the first ``size`` items are wrong, from the sizes that are known.

    With ``g`` wrong among the first ``s``, there are at least ``g`` among the first ``t >= s`` and
    at least ``g - (s - t)`` among the first ``t <= s``.
    """
    known = sorted(_known(details))
    at = bisect_right(known, size, key=lambda point: point[0])
    from_below = max((count for _, count in known[:at]), default=0)
    from_above = max((count - (known_size - size) for known_size, count in known[at:]), default=0)
    return max(from_below, from_above, 0)


def _known(details: Mapping[str, Json]) -> list[tuple[int, int]]:
    curve = details.get(CURVE)
    if curve is None:
        msg = (
            f"the reading ranks its items and has no {CURVE}: nothing is proved about the order. "
            "Leave coverage out to withhold the flagged items."
        )
        raise PolicyError(msg)
    entries = _listed(CURVE, curve)
    counts = all(isinstance(entry, int) for entry in entries)
    pairs = [[*pair] for pair in enumerate(entries)] if counts else entries
    return [_point(_listed(CURVE, pair)) for pair in pairs]


def _listed(name: str, value: Json) -> list[Json]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        msg = f"{name} holds {value!r}; a list is wanted."
        raise InvalidReading(msg)
    return list(value)


def _point(entry: list[Json]) -> tuple[int, int]:
    match entry:
        case [int(size), int(count)] if 0 <= count <= size:
            return size, count
    msg = (
        f"{entry!r} stands in the guaranteed curve; a size and a whole count of at most that size "
        "are wanted."
    )
    raise InvalidReading(msg)


def _decision(reading: Reading, plan: _Plan, wanted: Fraction | None) -> Decision:
    details = _details(reading, plan, wanted)
    return Decision(
        action="withhold",
        state=reading.state,
        reason=_reason(reading, plan, wanted),
        verdicts=_verdicts(reading, plan),
        details=details,
        trace=_trace(reading, plan, details),
        fingerprints=() if reading.fingerprint is None else (reading.fingerprint,),
    )


def _undecided(reading: Reading) -> Decision:
    return Decision(
        action="withhold",
        state=reading.state,
        reason=f"nothing is kept or withheld: {reading.reason}",
        verdicts=(),
        fingerprints=() if reading.fingerprint is None else (reading.fingerprint,),
    )


def _details(reading: Reading, plan: _Plan, wanted: Fraction | None) -> dict[str, Json]:
    kept, withheld, gone = map(plan.count, (_KEPT, _WITHHELD, _BY_OUTCOME))
    return {
        "n_items": reading.n_items,
        "n_answered": kept + withheld,
        "n_kept": kept,
        "n_withheld": withheld,
        "n_withheld_by_outcome": gone,
        "coverage": kept / (kept + withheld) if kept + withheld else None,
        "wanted_coverage": None if wanted is None else str(wanted),
        "precision_floor": plan.precision_floor,
        "recall_floor": plan.recall_floor,
        "guaranteed_wrong_count": plan.proved_wrong,
        "floors_are": "proved" if plan.precision_floor is not None else "not defined",
    }


def _trace(reading: Reading, plan: _Plan, details: dict[str, Json]) -> tuple[dict[str, Json], ...]:
    return (
        {
            "step": "read",
            "sensor": reading.sensor,
            "state": reading.state.value,
            "fingerprint": reading.fingerprint,
        },
        {"step": "rule", "rule": plan.rule, "wanted_coverage": details["wanted_coverage"]},
        {"step": "count", **{k: v for k, v in details.items() if k.startswith("n_")}},
        {"step": "floors", **{k: details[k] for k in ("precision_floor", "recall_floor")}},
    )


def _verdicts(reading: Reading, plan: _Plan) -> Rows[ItemVerdict]:
    proved = f"one of {plan.count(_WITHHELD)} withheld together, {_floor_words(plan)}"

    def verdict(position: int) -> ItemVerdict:
        item = reading.per_item[position]
        code = plan.codes[position]
        if code == _BY_OUTCOME:
            return ItemVerdict(item.item, Verdict.WITHHOLD, item.reason or "there is no answer")
        if code == _WITHHELD:
            return ItemVerdict(item.item, Verdict.WITHHOLD, proved)
        return ItemVerdict(item.item, Verdict.KEEP, _KEPT_BECAUSE[plan.rule])

    return Rows(reading.n_items, verdict)


def _floor_words(plan: _Plan) -> str:
    if plan.precision_floor is None:
        return "with nothing proved about them"
    return f"at least {percent_down(plan.precision_floor)} of them wrong (proved)"


def _reason(reading: Reading, plan: _Plan, wanted: Fraction | None) -> str:
    kept, withheld, gone = map(plan.count, (_KEPT, _WITHHELD, _BY_OUTCOME))
    if reading.state is State.SILENT:
        parts = ["nothing is proved wrong, so no answer is withheld; this is not a pass."]
    else:
        parts = [f"{withheld} of {kept + withheld} answered items are withheld"]
        parts[0] += f", {_floor_words(plan)}" if withheld else ""
        parts[0] += _recall_words(plan) if withheld else ""
        parts[0] += "."
    if wanted is not None and reading.state is State.SILENT:
        parts.append(f"A coverage of {wanted} has no guaranteed set.")
    if gone:
        parts.append(f"{gone} more are withheld because there is no answer.")
    parts.append(f"The {kept} kept are not called right.")
    return " ".join(parts)


def _recall_words(plan: _Plan) -> str:
    if plan.recall_floor is None:
        return ""
    return f"; they hold at least {percent_down(plan.recall_floor)} of all wrong ones (proved)"
