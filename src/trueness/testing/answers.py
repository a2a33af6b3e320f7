"""Assertions about tables of answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from trueness import api
from trueness.api.asserting import REGRESSIONS, USABLE, error_floor, share, verdict, words
from trueness.contract import Reading
from trueness.contract.errors import InputError
from trueness.report import Outcome
from trueness.testing.settling import Missing, missing_of, settle


def assert_error_floor(
    answers: object, *, at_most: float, unmeasured: Missing = "error", **declared: Any
) -> Reading:
    """The certificate of answers of which at most so large a share is proved wrong.

    It cannot show that answers are right. A certificate that proves nothing (``SILENT``) does not
    fail, as on the command line; its state says so.

    Parameters
    ----------
    answers : path, data frame, list of dicts, AnswerTable, or Reading of `trueness.certify`
    at_most : float
        The largest share proved wrong that is let through, in [0, 1].
    unmeasured : {"error", "skip"}
        What happens when nothing could be measured: raise `Unmeasured`, or skip the test.
    **declared
        As `trueness.certify` takes it: names of columns, ``condition``, and what is known about
        right answers.

    Raises
    ------
    AssertionError
        When more is proved wrong.
    Unmeasured
        When nothing could be measured.
    InputError
        When the answers or the declaration cannot be used.

    Examples
    --------
    >>> rows = [{"country": c, "answer": "Paris"} for c in ("France", "Peru", "Chad")]
    >>> assert_error_floor(rows, at_most=0.5, entity="country", relation="injective")
    Traceback (most recent call last):
    ...
    AssertionError: max error floor 0.5: the share proved wrong is 0.6667, more than 0.5.
    At least 2 of these 3 answers are wrong. No key was consulted.
    Value 0.6667 [0.6667, 1] (proved lower bound); 3 of 3 measured.
    Flagged: France, Peru, Chad.
    """
    __tracebackhide__ = True
    most, missing = share(at_most, name="at_most"), missing_of(unmeasured)
    reading = _certified(answers, declared)
    settle(error_floor("", reading, most), reading, missing)
    return reading


def assert_no_regression(
    before: object,
    after: object,
    *,
    fail_on: str | Sequence[str] = REGRESSIONS,
    unmeasured: Missing = "error",
    **compared: Any,
) -> Reading:
    """The comparison of two tables of repeated answers that shows no regression.

    That none was shown is not that there is none: the verdict may be ``unresolved``. Name that in
    ``fail_on`` where the data must decide.

    Parameters
    ----------
    before, after : path, data frame, list of dicts or AnswerTable
        Answers to the same questions, several draws each.
    fail_on : str with commas, or sequence of str
        Verdicts that are a regression; by default the four after which less is right, answered or
        agreed on: ``harmful_consolidation``, ``near_isospectral_inversion``,
        ``no_answer_attractor``, ``fragmentation``.
    unmeasured : {"error", "skip"}
        As in `assert_error_floor`.
    **compared
        As `trueness.compare` takes it: ``margin``, ``level``, ``orders``, names of columns.

    Raises
    ------
    AssertionError
        When the verdict is one of these.
    Unmeasured
        When there is no verdict.
    InputError, ProtocolError
        When the tables cannot be read or compared.
    """
    __tracebackhide__ = True
    from trueness.stats.verdicts import VERDICTS  # noqa: PLC0415 - needs numpy

    failing = words(fail_on, VERDICTS, name="fail_on", what="verdicts")
    missing = missing_of(unmeasured)
    if after is None:
        msg = (
            "after is None, and one table alone has no verdict. Give the answers before and after."
        )
        raise InputError(msg)
    reading = api.compare(before, after, **compared)
    check = verdict("", reading, failing)
    if check.outcome is Outcome.UNDECIDED and reading.state in USABLE:
        msg = f"the sensor {reading.sensor!r} gives no verdict; leave sensor out, or name atlas."
        raise InputError(msg)
    settle(check, reading, missing)
    return reading


def _certified(answers: object, declared: Mapping[str, Any]) -> Reading:
    from trueness.api.measuring import DECLARED  # noqa: PLC0415 - needs numpy
    from trueness.api.readings import is_reading, measured  # noqa: PLC0415 - as above

    if not is_reading(answers):
        return api.certify(answers, **declared)
    reading = measured(answers, sensor=DECLARED, **declared)
    if reading.sensor != DECLARED:
        msg = f"the reading is of {reading.sensor!r}; one of {DECLARED!r} proves a floor. Certify."
        raise InputError(msg)
    return reading
