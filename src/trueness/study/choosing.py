"""Choosing among the conditions of one table, on the slots that they have in common.

This room says what may be compared, pairs the rows and measures; ``decide.choose`` then reads the
numbers and picks, or declines.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trueness.collect.ensembles import added_tokens
from trueness.contract import Decision, Reading, State
from trueness.contract.errors import InputError
from trueness.contract.serial import Json, canonical
from trueness.decide.choose import choose
from trueness.decide.contest import NOT_RIGHT
from trueness.decide.shares import exact_share
from trueness.study.pairing import Pair, PairedSlots, asked_in_two_wordings
from trueness.table import AnswerTable

if TYPE_CHECKING:
    from trueness.sensors.orbits.declaration import Declaration

Measure = Callable[[AnswerTable], Reading]

ANSWER_SET, PARAPHRASES = "answer_set", "paraphrases"
EMPTY = "none"
"""The empty condition; never a candidate."""

_DECLARE = "say which answers there are: --relation-file or --admissible"
_ACCEPT = "accept agreement alone: --accept-label-free"
_OTHER_SPACE = "answer space differs from the baseline"
_BLIND = {
    ANSWER_SET: "blind to the right answers permuted among the entities",
    PARAPHRASES: "blind to stable distinct garbage, which wins",
}


def choose_condition(
    table: AnswerTable,
    *,
    measure: Measure,
    answer_set: bool,
    baseline: str = EMPTY,
    candidates: Sequence[str] | None = None,
    accept_label_free: bool = False,
    inverse_asked: bool = False,
    min_common: float | str | Fraction = Fraction(9, 10),
    answer_spaces: Mapping[str, str] | None = None,
    added_tokens: Mapping[str, int] | None = None,
    minimise: str = NOT_RIGHT,
) -> Decision:
    """The condition with provably fewest answers not right, of these, or a decline.

    Parameters
    ----------
    table : AnswerTable
        Rows of the baseline and of every candidate.
    measure : callable
        From the rows of one condition to a reading with ``minimise`` among its details. Under it
        an entity's own name must be nobody's answer unless the relation declares that it may be.
    answer_set : bool
        Whether the declaration behind ``measure`` says which answers there are: an unlisted
        answer is then nobody's.
    baseline : str
        The condition to beat.
    candidates : sequence of str, optional
        In declared order. Without it: all other conditions, in the order of the table's
        protocols, those without a protocol after them by name.
    accept_label_free : bool
        Choose by agreement between wordings alone, which stable distinct garbage wins.
    inverse_asked : bool
        The table holds the inverse questions too.
    min_common : share
        A candidate that shares fewer of all slots with the baseline is excluded.
    answer_spaces : mapping of condition to str, optional
        Which answers the condition allows; without it what the protocols say, else ``"free"``.
    added_tokens : mapping of condition to int, optional
        What a candidate costs; without it what the protocols say.
    minimise : str
        Name of the detail to minimise.

    Returns
    -------
    Decision
        See `trueness.decide.choose.choose`; with the level, the common slots and the pairing of
        every candidate. ``NOT_APPLICABLE`` when nothing says which answers count or agreement was
        not accepted as a reason.

    Raises
    ------
    InputError
        When there is nothing to choose among, a name stands twice or is missing, or a candidate
        is the baseline under another name.
    """
    least = exact_share("min_common", min_common)
    names = _candidates(table, baseline, candidates)
    level, refusal = _level(
        table.only(baseline),
        answer_set=answer_set,
        accepted=accept_label_free,
        inverse_asked=inverse_asked,
    )
    if refusal is not None:
        return refusal
    excluded = _other_spaces(table, baseline, names, answer_spaces)
    if candidates is None and EMPTY in names:
        excluded.setdefault(EMPTY, "the empty condition is no candidate")
    slots = PairedSlots.of(table, (baseline, *names))
    pairs = slots.pairs(baseline, [n for n in names if n not in excluded])
    excluded |= {p.name: p.too_few(least) for p in pairs if p.share < least}
    common = slots.common([baseline, *(n for n in names if n not in excluded)])
    if not common.any():
        return _refusal(State.NO_EVIDENCE, "no slot is measured under every condition")
    readings = _readings(slots, measure, (baseline, *names), common, excluded)
    decision = choose(
        readings,
        baseline=baseline,
        minimise=minimise,
        costs=_added_tokens(table, names) if added_tokens is None else added_tokens,
        excluded=excluded,
    )
    return _with_pairing(decision, level, int(common.sum()), pairs, least)


def for_choosing(declaration: "Declaration") -> "Declaration":
    """The declaration under which conditions are compared.

    An entity's own name is nobody's answer unless the declaration says that it may be: a prompt
    that is echoed must not win. Its other fields stay as they are.
    """
    return replace(declaration, identity="never") if declaration.identity is None else declaration


def lists_answers(declaration: "Declaration") -> bool:
    """Whether the declaration says which answers there are, so that garbage counts as not right.

    Limits of some answers do not: while an unlisted answer may be right, distinct garbage wins.
    Whole numbers in a declared order between two limits are such a list.
    """
    return declaration.unlisted_capacity == 0 or declaration.counts_up


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a condition stands in a race over the same planned slots.

    ``count`` is the number of slots not right: over all of them when the condition was asked to
    the end, proved so far (certified errors and no-answers) while it is being asked.
    """

    count: int
    added_tokens: int = 0
    order: int = 0


def can_stop(candidate: Standing, finished: Iterable[Standing], *, baseline_count: int) -> bool:
    """Whether a candidate can no longer be taken, whatever its remaining answers are.

    What is proved of some slots never exceeds what is proved of all of them. So a candidate has
    lost once its count reaches the baseline's, exceeds that of a finished candidate, or equals it
    and would lose the tie (more added tokens, or as many and declared later). Counts hold while no
    row is missing: when a later condition brings missing rows, ask stopped candidates to the end.

    Parameters
    ----------
    candidate : Standing
        Of the condition being asked.
    finished : iterable of Standing
        Candidates asked to the end, without the baseline.
    baseline_count : int
        Of the baseline, asked to the end; at 0 every candidate stops at once.

    Examples
    --------
    >>> can_stop(Standing(3, 10, 2), [Standing(3, 5, 1)], baseline_count=8)
    True
    >>> can_stop(Standing(3, 2, 2), [Standing(3, 5, 1)], baseline_count=8)
    False
    """
    if candidate.count >= baseline_count:
        return True
    return any(_key(candidate) > _key(other) for other in finished)


def stopped(candidate: Standing, n_slots: int) -> str:
    """The reason under which a stopped candidate is listed.

    >>> stopped(Standing(7), 20)
    'stopped at ≥ 7/20'
    """
    return f"stopped at ≥ {candidate.count}/{n_slots}"


def _key(standing: Standing) -> tuple[int, int, int]:
    return standing.count, standing.added_tokens, standing.order


def _candidates(table: AnswerTable, baseline: str, given: Sequence[str] | None) -> tuple[str, ...]:
    """Names of the candidates in declared order, checked."""
    held = table.conditions
    if isinstance(given, str):
        msg = f"candidates is the text {given!r}; a list of names is wanted: [{given!r}]."
        raise InputError(msg)
    names = _declared_order(table, baseline) if given is None else tuple(given)
    reserved = {baseline} if given is None else {baseline, EMPTY}
    wrong = [n for i, n in enumerate(names) if n in reserved or n in names[:i]]
    if wrong:
        msg = (
            f"{wrong[0]!r} cannot be a candidate: it is the baseline, the empty condition or "
            "listed twice. Give every candidate a name of its own."
        )
        raise InputError(msg)
    absent = [n for n in (baseline, *names) if n not in held]
    if absent or not names:
        what = f"{absent[0]!r} has no rows" if absent else "there is nothing to choose among"
        msg = (
            f"{what}; the table holds {', '.join(map(repr, held))}. Ask the baseline and at least "
            "one candidate, or name others."
        )
        raise InputError(msg)
    _check_protocols(table, baseline, names)
    return names


def _declared_order(table: AnswerTable, baseline: str) -> tuple[str, ...]:
    held = set(table.conditions) - {baseline}
    declared = [n for n in table.protocols if n in held]
    return (*declared, *sorted(held.difference(declared)))


def _check_protocols(table: AnswerTable, baseline: str, names: Sequence[str]) -> None:
    base = table.protocols.get(baseline)
    if base is None or not base.fields:
        return
    for name in names:
        other = table.protocols.get(name)
        if other is not None and other.fingerprint == base.fingerprint:
            msg = (
                f"candidate {name!r} has the protocol of the baseline {baseline!r}: it is the same "
                "condition. Remove it."
            )
            raise InputError(msg)


def _level(
    base: AnswerTable, *, answer_set: bool, accepted: bool, inverse_asked: bool
) -> tuple[str, Decision | None]:
    if answer_set:
        return ANSWER_SET, None
    if not inverse_asked and not asked_in_two_wordings(base):
        why = "any distinct garbage would win"
        todo = f"{_DECLARE}, or ask in two wordings and {_ACCEPT}"
        return "", _refusal(State.NOT_APPLICABLE, "one template and no answer set", why, todo)
    if not accepted:
        why = "stable distinct garbage would win"
        reason = "label-free selection must be accepted explicitly"
        return "", _refusal(State.NOT_APPLICABLE, reason, why, f"{_DECLARE}, or {_ACCEPT}")
    return PARAPHRASES, None


def _refusal(state: State, reason: str, because: str = "", todo: str = "") -> Decision:
    nothing: dict[str, Json] = {"winner": None, "intervened": False, "because": because}
    return Decision(
        action="choose",
        state=state,
        reason=reason,
        verdicts=(),
        details=nothing | ({"to_do": todo} if todo else {}),
    )


def _other_spaces(
    table: AnswerTable,
    baseline: str,
    names: Sequence[str],
    given: Mapping[str, str] | None,
) -> dict[str, str]:
    spaces = {n: (given or {}).get(n) or _answer_space(table, n) for n in (baseline, *names)}
    return {n: _OTHER_SPACE for n in names if spaces[n] != spaces[baseline]}


def _answer_space(table: AnswerTable, name: str) -> str:
    """What the protocol says about allowed answers; free where it says nothing."""
    said = _condition_fields(table, name).get("allowed")
    return "free" if said is None else canonical(said)


def _added_tokens(table: AnswerTable, names: Sequence[str]) -> dict[str, int] | None:
    """Lengths from the protocols, counted or else aimed at; None unless every candidate has one."""
    known: dict[str, int] = {}
    for name in names:
        length = added_tokens(_condition_fields(table, name))
        if length is None:
            return None
        known[name] = length
    return known


def _condition_fields(table: AnswerTable, name: str) -> Mapping[str, Json]:
    protocol = table.protocols.get(name)
    said = None if protocol is None else protocol.fields.get("condition")
    return said if isinstance(said, Mapping) else {}


def _with_pairing(
    decision: Decision, level: str, n_common: int, pairs: Sequence[Pair], least: Fraction
) -> Decision:
    """The decision with the level and the pairing that its readings rest on."""
    found: dict[str, Json] = {
        "level": level,
        "n_common": n_common,
        "min_common": str(least),
        "blind_to": _BLIND[level],
        "echo": "an entity's own name is nobody's answer unless the relation declares it",
    }
    steps: tuple[Mapping[str, Json], ...] = (
        {"step": "level", "level": level},
        *(p.step(least) for p in pairs),
    )
    return replace(decision, details={**decision.details, **found}, trace=(*steps, *decision.trace))


def _readings(
    slots: PairedSlots,
    measure: Measure,
    names: Sequence[str],
    common: NDArray[np.bool_],
    excluded: Mapping[str, str],
) -> dict[str, Reading]:
    """One reading a condition; an excluded one on what it shares with the baseline, if anything."""
    out: dict[str, Reading] = {}
    for name in names:
        shared = slots.common([names[0], name]) if name in excluded else common
        if shared.any():
            out[name] = measure(slots.rows(name, shared))
    return out
