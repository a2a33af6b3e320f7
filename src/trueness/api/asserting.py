"""Assertions about readings and decisions: one rule for the command line and for test suites."""

import math
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

from trueness.contract import Decision, Reading, State, Verdict
from trueness.contract.errors import InputError
from trueness.report import Check, Outcome

USABLE = frozenset((State.MEASURED, State.SILENT))
"""States about which an assertion is decided. A silent bound was looked at; it is not a pass."""
RULINGS = tuple(v.value for v in (Verdict.ACCEPT, Verdict.REVIEW, Verdict.REJECT))
"""What a gate says about an item."""
REGRESSIONS = (
    "harmful_consolidation",
    "near_isospectral_inversion",
    "no_answer_attractor",
    "fragmentation",
)
"""Verdicts of a comparison after which less is right, answered or agreed on than before."""


def standing(check: Check, state: State) -> Outcome:
    """What an assertion about one reading comes to: it holds, it does not, or nobody can tell.

    Parameters
    ----------
    check : Check
    state : State
        Of the reading. A silent bound was looked at, so that the assertion holds; any other state
        without a number leaves it undecided.
    """
    if check.outcome is Outcome.FAILED:
        return Outcome.FAILED
    return Outcome.PASSED if state in USABLE else Outcome.UNDECIDED


def share(value: object, *, name: str) -> float:
    """A share that was named, in [0, 1].

    Raises
    ------
    InputError
        For anything else.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        msg = f"{name} is {value!r}; a share is wanted, a number from 0 to 1. Change it."
        raise InputError(msg)
    return float(value)


def words(given: object, known: Sequence[str], *, name: str, what: str) -> tuple[str, ...]:
    """Verdicts that fail, from a text with commas or several texts.

    Parameters
    ----------
    given : str, or sequence of str
    known : sequence of str
        Those there are.
    name, what : str
        How the user named them, and what they are: ``"--fail-on"``, ``"verdicts"``.

    Raises
    ------
    InputError
        When one is unknown, or there is none.
    """
    parts = given.split(",") if isinstance(given, str) else given
    if not isinstance(parts, (list, tuple, set, frozenset)):
        msg = f"{name} is {given!r}; name some of the {what} {', '.join(known)}."
        raise InputError(msg)
    found = tuple(filter(None, (str(part).strip() for part in parts)))
    unknown = [n for n in found if n not in known]
    if unknown or not found:
        msg = (
            f"{name} names {', '.join(map(repr, unknown)) or 'nothing'}; {what} are "
            f"{', '.join(known)}. Name some of these with commas."
        )
        raise InputError(msg)
    return found


def error_floor(name: str, reading: Reading, most: float) -> Check:
    """Whether more than a share of the answers is proved wrong.

    Parameters
    ----------
    name : str
        Of the reading.
    reading : Reading
        Of a certificate: its value is a proved share.
    most : float
        In [0, 1].
    """
    title = f"max error floor {most:g}"
    if reading.value is not None and reading.value > most:
        found = f"the share proved wrong is {reading.value:.4g}, more than {most:g}"
        return Check(name, title, Outcome.FAILED, found)
    if reading.state is State.MEASURED:
        found = f"the share proved wrong is not more than {most:g}; this is not a pass"
        return Check(name, title, Outcome.PASSED, found)
    found = f"nothing is proved ({reading.state}): {reading.reason}; this is not a pass"
    return Check(name, title, Outcome.UNDECIDED, found)


def verdict(name: str, reading: Reading, failing: Collection[str]) -> Check:
    """Whether the verdict of a comparison is one of those that fail."""
    title = f"verdict is none of {', '.join(failing)}"
    found = reading.details.get("verdict")
    if not isinstance(found, Mapping):
        return Check(name, title, Outcome.UNDECIDED, f"there is no verdict: {reading.reason}")
    given = str(found["name"])
    outcome = Outcome.FAILED if given in failing else Outcome.PASSED
    return Check(name, title, outcome, f"the verdict is {given}")


def rulings(name: str, decision: Decision, failing: Collection[str], *, most: float = 0.0) -> Check:
    """Whether more than a share of the items got a verdict that fails.

    What could not be measured is counted each way: the assertion holds, or does not, only where
    it would whatever these items are.

    Parameters
    ----------
    name : str
        Of what was decided about.
    decision : Decision
        Of a gate.
    failing : collection of str
        Of `RULINGS`.
    most : float
        The share that may get one of them, in [0, 1].
    """
    n, unknown = _count(decision, "n_items"), _missing(decision, failing)
    bad = sum(_count(decision, f"n_{word}") for word in failing) - unknown
    said = " or ".join(failing)
    title = f"at most {most:g} of the items get {said}" if most else f"no item gets {said}"
    found = f"{bad:,} of {n:,} items were measured and got {said}"
    allowed = math.floor(n * Fraction(str(most)))  # a float is the decimal it prints as
    if bad > allowed:
        return Check(name, title, Outcome.FAILED, f"{found}; at most {allowed:,} were allowed")
    if bad + unknown > allowed:
        found = f"{found}; {unknown:,} more could not be measured"
        return Check(name, title, Outcome.UNDECIDED, f"{found}; at most {allowed:,} were allowed")
    return Check(name, title, Outcome.PASSED, f"{found}; {allowed:,} were allowed")


def _missing(decision: Decision, failing: Collection[str]) -> int:
    """How many items got a failing verdict only because they could not be measured."""
    word = decision.details.get("unmeasured_verdict")
    if word not in failing:
        return 0
    return _count(decision, "n_items") - _count(decision, "n_measured")


def _count(decision: Decision, name: str) -> int:
    found = decision.details.get(name)
    return found if isinstance(found, int) else 0
