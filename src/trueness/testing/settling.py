"""What an assertion comes to: nothing, a failure in words, or that nobody can tell."""

from collections.abc import Sequence
from typing import Literal, NoReturn
from unittest import SkipTest

from trueness.api.asserting import standing
from trueness.contract import Reading, State
from trueness.contract.errors import InputError, TruenessError
from trueness.report import Check, Outcome

Missing = Literal["error", "skip"]
"""What happens when nothing could be measured."""

SHOWN = 5
"""So many items are named."""


class Unmeasured(TruenessError):  # noqa: N818 - named by what is the case, as the other kinds are
    """What was asserted about could not be measured: the assertion neither holds nor fails.

    Parameters
    ----------
    message : str
        The assertion, the state and the reason.
    state : State or None
        Of the reading; None where only some items could not be measured.
    reason : str
        Why there is no number.
    """

    def __init__(self, message: str, *, state: State | None = None, reason: str = "") -> None:
        super().__init__(message)
        self.state = state
        self.reason = reason


def settle(check: Check, reading: Reading, missing: Missing) -> None:
    """Nothing where the assertion holds; raises where it does not or nobody can tell."""
    __tracebackhide__ = True
    outcome = standing(check, reading.state)
    if outcome is Outcome.FAILED:
        raise AssertionError("\n".join([f"{check.name}: {check.message}.", *said(reading)]))
    if outcome is Outcome.UNDECIDED:
        text = f"{check.name}: {why(reading)}.\n{reading.statement}"
        leave(text, missing, state=reading.state, reason=str(reading.reason))


def leave(text: str, missing: Missing, *, state: State | None, reason: str) -> NoReturn:
    """Raise what says that nobody can tell: `Unmeasured`, or the skip of a test."""
    __tracebackhide__ = True
    if missing == "skip":
        raise SkipTest(text)
    raise Unmeasured(text, state=state, reason=reason)


def missing_of(word: object) -> Missing:
    """What was named for readings without a number.

    Raises
    ------
    InputError
        For another word.
    """
    if word == "error" or word == "skip":  # noqa: PLR1714 - so that the type is known
        return word
    msg = f"unmeasured is {word!r}; choose 'error' or 'skip'."
    raise InputError(msg)


def why(reading: Reading) -> str:
    """Why there is no number, with the state."""
    return f"could not be measured ({reading.state}): {reading.reason}"


def said(reading: Reading) -> list[str]:
    """The finding in words, its number with interval and n, and the first items singled out."""
    lines = [reading.statement]
    if reading.value is not None:
        ends = [e if e is None else f"{e:.4g}" for e in (reading.low, reading.high)]
        interval = "" if ends == [None, None] else f" [{ends[0]}, {ends[1]}]"
        kind = f" ({reading.interval_kind})" if interval else ""
        n = f"{reading.n_measured:,} of {reading.n_items:,} measured"
        lines.append(f"Value {reading.value:.4g}{interval}{kind}; {n}.")
    if names := list(reading.flagged.items[: SHOWN + 1]):
        lines.append(f"Flagged: {_first(names, len(reading.flagged.items))}.")
    return lines


def _first(names: Sequence[str], n: int) -> str:
    more = f" and {n - SHOWN:,} more" if n > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
