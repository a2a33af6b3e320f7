"""Which of several conditions to take, from their readings and one number to minimise.

A score is read from ``details[minimise]``: a share of the same slots under every condition. Where
its numerator and denominator stand beside it as whole numbers (``n_not_right`` and
``n_right_or_not`` for ``not_right_floor``, ``details[minimise + "_parts"]`` for any other), scores
are compared as exact fractions and must share one denominator; otherwise as the floats they are,
which for shares of one denominator is the same comparison.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from trueness.contract import Decision, Reading, State
from trueness.contract.errors import InputError, InvalidReading, PolicyError
from trueness.contract.serial import Json
from trueness.decide.contest import NOT_RIGHT, Contender, Contest

_BARE = "none"
"""The condition that puts nothing in front of the question."""
_COUNTS = {NOT_RIGHT: ("n_not_right", "n_right_or_not")}
_WITH_A_SCORE = frozenset({State.MEASURED, State.SILENT, State.NO_EVIDENCE})
"""A zero of a bound is a score, and so is a table that holds no-answers only."""


def choose(
    readings: Mapping[str, Reading],
    *,
    baseline: str = _BARE,
    minimise: str = NOT_RIGHT,
    costs: Mapping[str, int] | None = None,
    excluded: Mapping[str, str] | None = None,
) -> Decision:
    """The condition whose score is strictly below the baseline's and lowest, or a decline.

    Parameters
    ----------
    readings : mapping of condition to Reading
        In declared order, each about the same slots.
    baseline : str
        The condition to beat.
    minimise : str
        Name of the detail to minimise.
    costs : mapping of condition to int, optional
        Added tokens, for every candidate; without it they are not known, and ties go to the
        declared order alone.
    excluded : mapping of condition to reason, optional
        Conditions that may not be taken. Their scores are reported where there is a reading.

    Returns
    -------
    Decision
        ``taken`` is the condition, or None when declined; the verdict of every condition, all
        scores, ties, and the trace that `replay_choice` re-derives. Readings without a score are
        excluded with their reason; without a score of the baseline nothing is decided.

    Raises
    ------
    InputError
        When the baseline has no reading or is excluded, or a cost is missing or no whole number.
    InvalidReading
        When a score contradicts its parts or lies outside of [0, 1].
    PolicyError
        When scores are shares of different numbers of slots.
    """
    barred = dict(excluded or {})
    _check_names(readings, baseline, barred)
    tokens = _costs(readings, baseline, costs, barred)
    scores = _scores(readings, minimise)
    for name, reading in readings.items():
        if scores[name] is None:
            barred.setdefault(name, _without_score(reading, minimise))
    steps = _read_steps(readings, scores, tokens, barred)
    if baseline in barred:
        return _undecided(readings, baseline, barred[baseline], steps)
    _check_same_slots(scores, barred)
    contest = _contest(baseline, minimise, scores, tokens, barred)
    return Decision(
        action="choose",
        state=State.MEASURED,
        reason=contest.reason(),
        verdicts=contest.verdicts(),
        taken=contest.taken,
        details=contest.details(),
        trace=(*steps, contest.step()),
        fingerprints=_fingerprints(readings),
    )


@dataclass(frozen=True, slots=True)
class _Score:
    value: Fraction
    n_slots: int | None


def _without_score(reading: Reading, minimise: str) -> str:
    return f"no {minimise}: {reading.reason or reading.state.value}"


def _check_names(
    readings: Mapping[str, Reading], baseline: str, excluded: Mapping[str, str]
) -> None:
    if baseline not in readings or baseline in excluded:
        given = ", ".join(map(repr, readings)) or "none"
        msg = (
            f"the baseline {baseline!r} must have a reading and not be excluded; readings are "
            f"given of {given}. Measure the baseline, or name another one."
        )
        raise InputError(msg)


def _costs(
    readings: Mapping[str, Reading],
    baseline: str,
    costs: Mapping[str, object] | None,
    excluded: Mapping[str, str],
) -> dict[str, int]:
    if costs is None:
        return {}
    missing = [n for n in readings if n not in {*costs, *excluded, baseline}]
    if missing:
        msg = (
            f"no cost is given for {', '.join(map(repr, missing))}; give the added tokens of every "
            "candidate, or of none."
        )
        raise InputError(msg)
    return {name: _tokens(name, costs[name]) for name in readings if name in costs}


def _tokens(name: str, tokens: object) -> int:
    if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
        msg = f"the cost of {name!r} is {tokens!r}; a whole number of added tokens is wanted."
        raise InputError(msg)
    return tokens


def _tokens_of(name: str, tokens: Mapping[str, int]) -> int | None:
    """Added tokens of a condition; none in front of the bare question, None where not known."""
    return tokens.get(name, 0 if name == _BARE else None)


def _scores(readings: Mapping[str, Reading], minimise: str) -> dict[str, _Score | None]:
    """Exact fractions where every reading has its parts, else the fractions that the floats are."""
    scored = {n: r for n, r in readings.items() if _number(r, minimise, n) is not None}
    exact = all(_parts(r, minimise) is not None for r in scored.values())
    return {
        name: _score(name, reading, minimise, exact=exact) if name in scored else None
        for name, reading in readings.items()
    }


def _number(reading: Reading, minimise: str, name: str) -> float | None:
    if reading.state not in _WITH_A_SCORE:
        return None
    value = reading.details.get(minimise)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        msg = f"{minimise} of {name!r} is {value!r}; a share in [0, 1] is wanted."
        raise InvalidReading(msg)
    return float(value)


def _score(name: str, reading: Reading, minimise: str, *, exact: bool) -> _Score:
    value = _number(reading, minimise, name) or 0.0
    if not exact:
        return _Score(Fraction(value), None)
    parts = _parts(reading, minimise)
    match parts:
        case [int(count), int(n_slots)] if 0 <= count <= n_slots > 0 and count / n_slots == value:
            return _Score(Fraction(count, n_slots), n_slots)
    msg = (
        f"{minimise} of {name!r} is {value!r} and its parts are {parts!r}; two whole numbers with "
        "that quotient are wanted."
    )
    raise InvalidReading(msg)


def _parts(reading: Reading, minimise: str) -> Json:
    """Numerator and denominator of the number; None where the reading does not tell them."""
    found = [reading.details.get(name) for name in _COUNTS.get(minimise, ())]
    if found and None not in found:
        return found
    return reading.details.get(f"{minimise}_parts")


def _check_same_slots(scores: Mapping[str, _Score | None], excluded: Mapping[str, str]) -> None:
    sizes = {n: s.n_slots for n, s in scores.items() if s is not None and n not in excluded}
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{n!r} of {size}" for n, size in sizes.items())
        msg = (
            f"the scores are shares of different numbers of slots: {told}. Measure every condition "
            "on the slots that all of them have, and choose again."
        )
        raise PolicyError(msg)


def _contest(
    baseline: str,
    minimise: str,
    scores: Mapping[str, _Score | None],
    tokens: Mapping[str, int],
    excluded: Mapping[str, str],
) -> Contest:
    order = _order(scores, excluded)
    found = {name: s.value for name in order if (s := scores.get(name)) is not None}
    return Contest(
        baseline=baseline,
        minimise=minimise,
        contenders=[
            Contender(name, score, _tokens_of(name, tokens), order[name])
            for name, score in found.items()
            if name not in excluded
        ],
        excluded={name: excluded[name] for name in order if name in excluded},
        excluded_scores={name: score for name, score in found.items() if name in excluded},
    )


def _read_steps(
    readings: Mapping[str, Reading],
    scores: Mapping[str, _Score | None],
    tokens: Mapping[str, int],
    excluded: Mapping[str, str],
) -> tuple[dict[str, Json], ...]:
    steps: list[dict[str, Json]] = []
    for name, order in _order(readings, excluded).items():
        reading, score = readings.get(name), scores.get(name)
        steps.append(
            {
                "step": "read",
                "condition": name,
                "order": order,
                "state": None if reading is None else reading.state.value,
                "fingerprint": None if reading is None else reading.fingerprint,
                "score": None if score is None else str(score.value),
                "added_tokens": _tokens_of(name, tokens),
                "excluded": excluded.get(name),
            }
        )
    return tuple(steps)


def _order(declared: Mapping[str, object], excluded: Mapping[str, str]) -> dict[str, int]:
    """Every condition's place: those with a reading as declared, then the excluded without one."""
    return {name: place for place, name in enumerate(dict.fromkeys((*declared, *excluded)))}


def _undecided(
    readings: Mapping[str, Reading],
    baseline: str,
    why: str,
    trace: tuple[dict[str, Json], ...],
) -> Decision:
    state = readings[baseline].state
    return Decision(
        action="choose",
        state=State.NO_EVIDENCE if state in _WITH_A_SCORE else state,
        reason=f"nothing is chosen: the baseline {baseline!r} has {why}",
        verdicts=(),
        details={"baseline": baseline, "winner": None, "intervened": False},
        trace=trace,
        fingerprints=_fingerprints(readings),
    )


def _fingerprints(readings: Mapping[str, Reading]) -> tuple[str, ...]:
    return tuple(r.fingerprint for r in readings.values() if r.fingerprint is not None)
