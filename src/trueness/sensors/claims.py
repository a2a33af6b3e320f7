"""What every sensor of claims reads of a table: items to look at, refusals, identities."""

from collections.abc import Sequence

from trueness.contract import State
from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.stats.span_item import Refused, SpanItem
from trueness.table.evidence import EvidenceTable
from trueness.table.vectors import FAILED, TOO_LONG, Vectors

VERSION = 1
"""Of these sensors: a threshold that was made with another one does not carry over."""
_FEWEST = 100


def span_item(table: EvidenceTable, row: int, text: str | None = None) -> SpanItem | Refused:
    """A claim with its passages as vectors and texts, or why it cannot be looked at.

    Parameters
    ----------
    table : EvidenceTable
        With vectors.
    row : int
    text : str, optional
        A sentence of the claim, in its place.
    """
    vectors = vectors_of(table)
    passages = table.passages(row)
    claim = table.claim[row] if text is None else text
    blank = refused_text(claim, passages)
    if blank is not None:
        return blank
    said = claim or ""
    faults = (*vectors.claim.faults([said]), *vectors.evidence.faults(passages))
    failed = [why for why in faults if why.startswith(FAILED)]
    if failed:
        return Refused(State.NOT_APPLICABLE, failed[0])
    return SpanItem(
        vectors.claim.rows([said])[0],
        vectors.evidence.rows(passages),
        texts=passages,
        claim_text=said,
        text_too_long=TOO_LONG in faults,
    )


def refused_text(claim: str | None, passages: Sequence[str]) -> Refused | None:
    """Why texts alone forbid a measurement: no evidence first, then no claim."""
    if not any(p.strip() for p in passages):
        return Refused(State.NO_EVIDENCE, "no_evidence")
    if claim is None or not claim.strip():
        return Refused(State.NOT_APPLICABLE, "no_claim")
    return None


def vectors_of(table: EvidenceTable) -> Vectors:
    """The vectors beside a table.

    Raises
    ------
    InputError
        When its texts were not embedded.
    """
    if table.vectors is None:
        msg = (
            f"the {len(table)} claims have no vectors; a sensor calls no model. Embed the table "
            "first: trueness.ground does both."
        )
        raise InputError(msg)
    return table.vectors


def embedder_identity(table: EvidenceTable) -> dict[str, Json]:
    """What of a fingerprint comes from the embedder and from how texts were cut."""
    vectors = vectors_of(table)
    return {"embedder": dict(vectors.identity), "cuts": dict(vectors.rules)}


def check_interval(level: float, replicates: int, seed: int) -> None:
    """Refuse parameters of an interval that are out of range.

    Raises
    ------
    InputError
    """
    rules = (
        ("level", level, 0.5 <= level < 1.0, "from 0.5 to below 1"),  # noqa: PLR2004 - half is no level
        ("replicates", replicates, is_whole(replicates, _FEWEST), f"a whole number from {_FEWEST}"),
        ("seed", seed, is_whole(seed, 0), "a whole number from 0"),
    )
    for name, value, fits, wanted in rules:
        if not fits:
            msg = f"{name} is {value!r}; wanted: {wanted}. Change it."
            raise InputError(msg)


def is_whole(value: object, least: int) -> bool:
    """Whether a value is a whole number from some least one."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
