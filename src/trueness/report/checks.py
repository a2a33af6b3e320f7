"""An assertion about a reading, as the command line makes it and a test report shows it."""

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """What became of an assertion. What could not be measured is neither passed nor failed."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Check:
    """One assertion about one reading.

    Parameters
    ----------
    reading : str
        Name of the reading it is about.
    name : str
        The assertion as the user stated it, e.g. ``"max error floor 0.1"``.
    outcome : Outcome
    message : str
        What was found, in one sentence.
    """

    reading: str
    name: str
    outcome: Outcome
    message: str
