"""One claim with its evidence as handed in, and the states that forbid a measurement."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State
from trueness.stats.gram import ZERO
from trueness.stats.span_rules import Floats


@dataclass(frozen=True, slots=True, eq=False)
class SpanItem:
    """A claim and its evidence, as vectors and, where known, as texts.

    Items that share their evidence should hold the same objects: it is decomposed once.

    Attributes
    ----------
    claim : (d,) float
    evidence : (n, d) float, or None
    texts : sequence of n str, optional
        The passages; blank ones are left out.
    claim_text : str, optional
    text_too_long : bool
        Whether a text was longer than its embedder reads.
    weights : (n,) float above 0, optional
    embedders : str
        Who made the vectors, for messages.
    """

    claim: ArrayLike
    evidence: ArrayLike | None
    texts: Sequence[str] | None = None
    claim_text: str | None = None
    text_too_long: bool = False
    weights: ArrayLike | None = None
    embedders: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a claim is not measured against its passages; ``rows`` are those at fault."""

    state: State
    reason: str | None = None
    rows: tuple[int, ...] = ()


def claim_vector(claim: ArrayLike) -> Floats:
    """The claim as one float64 vector.

    Raises
    ------
    ShapeError
        Unless it is one vector of positive dimension.
    """
    vector = numbers("claim", claim)
    if vector.ndim != 1 or not len(vector):
        msg = f"claim must be one vector of positive dimension, got shape {vector.shape}; "
        msg += "measure several claims one by one, or in one batch."
        raise ShapeError(msg)
    return vector


def evidence_rows(
    evidence: ArrayLike | None, d: int, *, texts: Sequence[str] | None = None, embedders: str = ""
) -> Floats | None:
    """The passages as (n, d) float64; None when there is none, or none with text.

    Parameters
    ----------
    evidence : (n, d) or (d,) float, or None
    d : int
        Dimension of the claim.
    texts : sequence of n str, optional
    embedders : str
        Who made the vectors, for the message.

    Raises
    ------
    ShapeError
        When the width is not the claim's, or the number of texts not that of the rows.
    """
    if texts is not None and not any(text.strip() for text in texts):
        return None
    if evidence is None:
        return None
    rows = numbers("evidence", evidence)
    if rows.shape == (0,) or (rows.ndim == 2 and not len(rows)):  # noqa: PLR2004 - two axes
        return None
    if rows.shape == (d,):
        rows = rows[None, :]
    if rows.ndim != 2 or rows.shape[1] != d:  # noqa: PLR2004 - two axes
        msg = (
            f"claim has dimension {d} and evidence has shape {rows.shape}; evidence must be "
            f"(n_passages, {d}). Embed both with the same model{embedders and f': {embedders}'}."
        )
        raise ShapeError(msg)
    if texts is not None and len(texts) != len(rows):
        msg = f"{len(rows)} passages and {len(texts)} texts; give one text for each passage."
        raise ShapeError(msg)
    return rows


def claim_fault(vector: Floats, text: str | None = None) -> Refused | None:
    """Why the claim cannot be measured; None when it can."""
    if text is not None and not text.strip():
        return Refused(State.NOT_APPLICABLE, "no_claim")
    if not np.isfinite(vector).all():
        return Refused(State.DEGENERATE, "claim_not_finite")
    if np.abs(vector).max() < ZERO:
        return Refused(State.DEGENERATE, "claim_zero")
    return None


def numbers(name: str, values: ArrayLike) -> Floats:
    """Any array of real numbers as float64; an error that says ``name`` otherwise."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiub":
            msg = f"{name} holds {array.dtype}; give real numbers."
            raise InputError(msg)
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        msg = f"{name} is no array of numbers ({error}); give rows of equal length."
        raise ShapeError(msg) from error
