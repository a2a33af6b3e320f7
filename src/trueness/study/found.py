"""What the run of a study hands back; the record around it is the same for every study."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from trueness.study.results import Record
from trueness.study.spent import Spent


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
    spent : Spent
        Of models: passes, requests, tokens.
    data : tuple of mapping
        What it ran on: id, sha256, licence, how many were used and dropped, by reason.
    model : mapping or None
        Identity of the model or embedder that was asked.
    protocols : tuple of mapping
        Fingerprint and text of each, where answers were collected.
    table : tuple of mapping
        The rows from which everything above can be computed again.
    not_applicable : str or None
        Why the study has no answer here; its declared expressions are not read then.
    """

    rows: tuple[Record, ...]
    contrasts: Mapping[str, Record]
    draws: Record
    notes: tuple[str, ...] = ()
    published: tuple[Record, ...] = ()
    spent: Spent = field(default_factory=Spent)
    data: tuple[Record, ...] = ()
    model: Record | None = None
    protocols: tuple[Record, ...] = ()
    table: tuple[Record, ...] = ()
    not_applicable: str | None = None
