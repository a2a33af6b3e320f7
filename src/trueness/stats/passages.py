"""What one claim and its passages are before anything is measured: states, or clean rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State
from trueness.stats.duplicates import clusters_of, content_hash
from trueness.stats.gram import ZERO, plain, unit
from trueness.stats.span_rules import Floats, Ints, SpanRules


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a claim is not measured against its passages; ``rows`` are those at fault."""

    state: State
    reason: str | None = None
    rows: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Passages:
    """Rows to measure against: selected, without zeros, one a cluster, in an order of their own.

    Attributes
    ----------
    rows : (n, d) float
        Sorted by content, so that no result depends on the order in which they came.
    order : (n,) int
        Place in ``rows`` of each cluster.
    weights : (n,) float or None
        Of ``rows``, adding up to n; None when all are equal.
    clusters : tuple of tuple of int
        Numbers of the passages given, those counted as one together.
    n_available, n_blank, n_zero, n_merged : int
        Passages given, those without text, those of length zero, and those merged into another.
    dropped : tuple of int
        Passages that the selection left out.
    """

    rows: Floats
    order: Ints
    weights: Floats | None
    clusters: tuple[tuple[int, ...], ...]
    n_available: int
    n_blank: int
    n_zero: int
    n_merged: int
    dropped: tuple[int, ...]


def claim_vector(claim: ArrayLike) -> Floats:
    """The claim as one float64 vector.

    Raises
    ------
    ShapeError
        Unless it is one vector of positive dimension.
    """
    vector = _numbers("claim", claim)
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
    rows = _numbers("evidence", evidence)
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


def passages_of(
    rows: Floats,
    rules: SpanRules,
    *,
    claim: Floats | None = None,
    texts: Sequence[str] | None = None,
    weights: ArrayLike | None = None,
) -> Passages | Refused:
    """Passages ready to be measured against, or why they are not.

    Parameters
    ----------
    rows : (n, d) float
    rules : SpanRules
        Of which selection, deduplication and the maximum are used here.
    claim : (d,) float, optional
        Needed when passages are selected by their cosine to it.
    texts : sequence of n str, optional
        Blank ones are left out.
    weights : (n,) float above 0, optional

    Raises
    ------
    InputError
        When more passages remain than the rules allow, or a weight is not above 0.

    Examples
    --------
    >>> passages_of(np.array([[1.0, 0.0], [0.0, 0.0], [2.0, 0.0]]), SpanRules()).clusters
    ((0, 2),)
    """
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        bad = tuple(np.flatnonzero(~finite).tolist())
        return Refused(State.DEGENERATE, "evidence_not_finite", bad)
    blank = np.zeros(len(rows), np.bool_)
    if texts is not None:
        blank = np.array([not text.strip() for text in texts], np.bool_)
    zero = (np.abs(rows).max(axis=1) < ZERO) & ~blank
    usable = np.flatnonzero(~(zero | blank))
    if not len(usable):
        return Refused(State.DEGENERATE, "evidence_zero", tuple(np.flatnonzero(zero).tolist()))
    kept = _selected(rows, usable, rules, claim, texts)
    _check_number(len(kept), rules)
    ready = plain(rows[kept])
    chosen_texts = None if texts is None else [texts[i] for i in kept]
    clusters = clusters_of(unit(ready), chosen_texts, relation=rules.dedup)
    distinct = ready[list(clusters.chosen)]
    shares = None if weights is None else _shares(weights, len(rows), kept, clusters.members)
    sort = canonical_order(distinct[None], None if shares is None else shares[None])[0]
    return Passages(
        rows=np.ascontiguousarray(distinct[sort]),
        order=np.argsort(sort),
        weights=None if shares is None else shares[sort],
        clusters=tuple(tuple(int(kept[i]) for i in m) for m in clusters.members),
        n_available=len(rows),
        n_blank=int(blank.sum()),
        n_zero=int(zero.sum()),
        n_merged=len(kept) - len(distinct),
        dropped=tuple(np.setdiff1d(usable, kept).tolist()),
    )


def canonical_order(rows: Floats, weights: Floats | None = None) -> Ints:
    """An order of the rows of each set that depends on what they hold alone.

    Parameters
    ----------
    rows : (n_sets, n, d) float
    weights : (n_sets, n) float, optional
        Tell equal rows apart.

    Returns
    -------
    (n_sets, n) int

    Examples
    --------
    >>> canonical_order(np.array([[[2.0, 1.0], [1.0, 5.0], [1.0, 3.0]]])).tolist()
    [[2, 1, 0]]
    """
    first = rows[:, :, 0]
    order = np.argsort(first, axis=1, kind="stable")
    ordered = np.take_along_axis(first, order, axis=1)
    for s in np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1)):
        keys = rows[s].T[::-1]
        last = keys if weights is None else np.concatenate([weights[s][None], keys])
        order[s] = np.lexsort(last)
    return order


def _numbers(name: str, values: ArrayLike) -> Floats:
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


def _selected(
    rows: Floats, usable: Ints, rules: SpanRules, claim: Floats | None, texts: Sequence[str] | None
) -> Ints:
    """Numbers of the rows that the rule keeps, ascending."""
    if rules.selection == "all" or rules.selected is None or len(usable) <= rules.selected:
        return usable
    if rules.selection == "first":
        return usable[: rules.selected]
    if claim is None:
        msg = "passages are selected by their cosine to a claim and no claim is given; give one."
        raise InputError(msg)
    units = unit(rows[usable])
    cosines = np.einsum("nd,d->n", units, unit(claim))
    names = [
        content_hash(u, None if texts is None else texts[i])
        for u, i in zip(units, usable, strict=True)
    ]
    ranked = sorted(range(len(usable)), key=lambda i: (-cosines[i], names[i]))
    return np.sort(usable[ranked[: rules.selected]])


def _check_number(n: int, rules: SpanRules) -> None:
    if n > rules.max_passages:
        msg = (
            f"{n} passages and at most {rules.max_passages} are measured; select some by "
            "selection='first' or 'top', or raise max_passages."
        )
        raise InputError(msg)


def _shares(
    weights: ArrayLike, n: int, kept: Ints, members: tuple[tuple[int, ...], ...]
) -> Floats | None:
    """Weights of the clusters, adding up to their number; None when all are equal."""
    given = _numbers("weights", weights)
    if given.shape != (n,) or not (np.isfinite(given) & (given > 0)).all():
        msg = f"weights of shape {given.shape}; give {n} finite numbers above 0, one a passage."
        raise InputError(msg)
    sums = np.array([given[kept[list(m)]].sum() for m in members])
    shares = sums * (len(sums) / sums.sum())
    return None if (given == given[0]).all() else shares
