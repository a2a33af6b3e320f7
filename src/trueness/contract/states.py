"""The closed vocabularies that every room shares."""

from enum import StrEnum


class State(StrEnum):
    """What a number is worth. Only ``MEASURED`` carries a value."""

    MEASURED = "MEASURED"
    SILENT = "SILENT"
    """A bound that proves nothing here. Not a pass."""
    NO_EVIDENCE = "NO_EVIDENCE"
    """There was nothing to measure."""
    NOT_APPLICABLE = "NOT_APPLICABLE"
    """A precondition fails; the reason says which."""
    DEGENERATE = "DEGENERATE"
    """Zero or non-finite input."""
    UNSTABLE = "UNSTABLE"
    """The observation itself did not repeat, or a cutoff decides the number."""


class Direction(StrEnum):
    """Which way a value gets worse."""

    HIGHER_IS_WORSE = "higher_is_worse"
    HIGHER_IS_BETTER = "higher_is_better"
    NEITHER = "neither"


class Status(StrEnum):
    """How far a sensor's claim has been established."""

    PROVED = "proved"
    VALIDATED = "validated"
    EXPLORATORY = "exploratory"
