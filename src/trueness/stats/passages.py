"""Passages made ready to be measured against: selected, cleaned, merged, in canonical order."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from trueness.contract.errors import InputError
from trueness.contract.states import State
from trueness.stats.duplicates import clusters_of, content_hash
from trueness.stats.gram import ZERO, plain, unit
from trueness.stats.span_item import (
    Refused,
    SpanItem,
    claim_fault,
    claim_vector,
    evidence_rows,
    numbers,
)
from trueness.stats.span_rules import Floats, Ints, SpanRules


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


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """Evidence that has been looked at, by the objects that hold it, and by its own."""

    evidence: dict[tuple[object, ...], Passages | Refused] = field(default_factory=dict)
    by_id: dict[int, Passages] = field(default_factory=dict)


def prepared(
    item: SpanItem, rules: SpanRules, seen: Seen | None = None
) -> tuple[Passages, Floats] | Refused:
    """Passages and claim of an item, by the checks in their order, or what refuses it.

    Parameters
    ----------
    item : SpanItem
    rules : SpanRules
    seen : Seen, optional
        Remembers evidence as long as its objects live: for one batch.

    Examples
    --------
    >>> prepared(SpanItem([0, 0], [[1, 0]]), SpanRules()).reason
    'claim_zero'
    """
    claim = claim_vector(item.claim)
    rows = evidence_rows(item.evidence, len(claim), texts=item.texts, embedders=item.embedders)
    if rows is None:
        return Refused(State.NO_EVIDENCE, "no_evidence")
    fault = claim_fault(claim, item.claim_text)
    if fault is not None:
        return fault
    seen = seen or Seen()
    by_claim = id(item.claim) if rules.selection == "top" else None
    key = (id(item.evidence), id(item.texts), id(item.weights), by_claim)
    found = seen.evidence.get(key)
    if found is None:
        found = passages_of(rows, rules, claim=claim, texts=item.texts, weights=item.weights)
        seen.evidence[key] = found
    if isinstance(found, Refused):
        return found
    if item.text_too_long:
        return Refused(State.NOT_APPLICABLE, "text_too_long")
    seen.by_id[id(found)] = found
    return found, plain(claim)


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
        dropped=() if len(kept) == len(usable) else tuple(np.setdiff1d(usable, kept).tolist()),
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
    if rows.shape[1] == 1:
        return np.zeros(rows.shape[:2], np.int64)
    first = rows[:, :, 0]
    order = first.argsort(axis=1)
    ordered = np.sort(first, axis=1)
    equal = ordered[:, 1:] == ordered[:, :-1]
    for s in np.flatnonzero(equal.any(axis=1)) if equal.any() else ():
        keys = rows[s].T[::-1]
        last = keys if weights is None else np.concatenate([weights[s][None], keys])
        order[s] = np.lexsort(last)
    return order


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
    cosines = np.vecdot(units, unit(claim))
    if len(np.unique(cosines)) == len(cosines):  # no tie that a name would have to break
        return np.sort(usable[np.argsort(-cosines)[: rules.selected]])
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
    given = numbers("weights", weights)
    if given.shape != (n,) or not (np.isfinite(given) & (given > 0)).all():
        msg = f"weights of shape {given.shape}; give {n} finite numbers above 0, one a passage."
        raise InputError(msg)
    sums = np.array([given[kept[list(m)]].sum() for m in members])
    shares = sums * (len(sums) / sums.sum())
    return None if (given == given[0]).all() else shares
