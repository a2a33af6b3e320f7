"""What the run of a study hands back; the record around it is the same for every study."""

from collections.abc import Mapping
from dataclasses import dataclass

from trueness.study.results import Record


@dataclass(frozen=True, slots=True)
class Found:
    """Rows, contrasts by name, and what deviated.

    Parameters
    ----------
    rows : tuple of mapping
    contrasts : mapping of str to mapping
        One for each declared contrast: ``n``, ``beyond``, ``open`` and more.
    draws : mapping
        ``repeats`` and more.
    notes : tuple of str
    published : tuple of mapping
    forwards, requests : int
        Of a model.
    """

    rows: tuple[Record, ...]
    contrasts: Mapping[str, Record]
    draws: Record
    notes: tuple[str, ...] = ()
    published: tuple[Record, ...] = ()
    forwards: int = 0
    requests: int = 0
