"""What is done about a reading, with the trace that re-derives it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from trueness.contract.errors import InputError, InvalidReading
from trueness.contract.framing import frame_of, html_of, stream_of
from trueness.contract.serial import Json, dumps, plain
from trueness.contract.states import State


class Verdict(StrEnum):
    """What happens to one item or one condition."""

    ACCEPT = "accept"
    REVIEW = "review"
    REJECT = "reject"
    KEEP = "keep"
    WITHHOLD = "withhold"
    TAKE = "take"
    DECLINE = "decline"
    EXCLUDE = "exclude"


@dataclass(frozen=True, slots=True)
class ItemVerdict:
    """What happens to one item, and why in a few words."""

    item: str
    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What is done about one or several readings.

    Parameters
    ----------
    action : str
        ``"withhold"``, ``"choose"`` or ``"gate"``.
    state, reason :
        ``MEASURED`` when a decision was reached; otherwise why none was.
    taken : str or None
        The condition that is taken; None when the action is about items or was declined.
    verdicts : sequence of ItemVerdict
        One for every item or condition decided about.
    details : mapping of str to plain JSON
        Named figures: floors, counts, scores.
    trace : tuple of plain JSON objects
        The steps from the readings' numbers to the verdicts, in order; enough to re-derive them.
    fingerprints : tuple of str
        Of the readings that were read.
    """

    action: str
    state: State
    reason: str
    verdicts: Sequence[ItemVerdict]
    taken: str | None = None
    details: Mapping[str, Json] = field(default_factory=dict)
    trace: tuple[Mapping[str, Json], ...] = ()
    fingerprints: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.taken is not None and self.state is not State.MEASURED:
            msg = f"{self.taken!r} is taken in state {self.state}; only a measured reading decides."
            raise InvalidReading(msg)

    def items(self, verdict: Verdict) -> tuple[str, ...]:
        """Names of the items with this verdict, in input order.

        Raises
        ------
        InputError
            For a word that is no verdict.
        """
        if verdict not in set(Verdict):
            msg = f"{verdict!r} is no verdict; choose one of {', '.join(Verdict)}."
            raise InputError(msg)
        return tuple(v.item for v in self.verdicts if v.verdict == verdict)

    def summary(self) -> str:
        """The decision in one line for a person."""
        return self.reason

    def to_dict(self) -> dict[str, Json]:
        """Plain JSON types."""
        out = plain(self, "decision")
        if not isinstance(out, dict):  # pragma: no cover - a dataclass becomes an object
            raise TypeError
        return out

    def to_json(self, *, indent: int | None = 2) -> str:
        """Strict JSON text of `to_dict`."""
        return dumps(self.to_dict(), indent=indent)

    def to_frame(self, backend: str = "pandas") -> Any:
        """All verdicts as a data frame: item, verdict, reason.

        Parameters
        ----------
        backend : str
            ``"pandas"``, ``"polars"``, ``"pyarrow"``, ``"modin"`` or ``"cudf"``.

        Raises
        ------
        InputError
            For another backend.
        MissingExtraError
            When it is not installed.
        """
        return frame_of(self._columns(), backend)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """All verdicts as `to_frame` has them, for any library that reads Arrow's C stream.

        Parameters
        ----------
        requested_schema : capsule, optional
            Of the protocol; what cannot be met is left as it is.

        Raises
        ------
        CannotSerialise
            For a text with half a character: Arrow is UTF-8.
        MissingExtraError
            When DuckDB is not installed.
        """
        columns = self._columns()
        return stream_of(
            columns, kinds=dict.fromkeys(columns, str), requested_schema=requested_schema
        )

    def _repr_html_(self) -> str:
        """The decision as a notebook shows it: long lists cut, all text escaped."""
        return html_of(self)

    def _columns(self) -> dict[str, list[Json]]:
        verdicts = list(self.verdicts)
        return {
            "item": [v.item for v in verdicts],
            "verdict": [v.verdict.value for v in verdicts],
            "reason": [v.reason for v in verdicts],
        }
