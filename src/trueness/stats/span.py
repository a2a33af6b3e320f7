"""How much of a claim lies outside the span of its evidence: one claim, or many."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike

from trueness.contract.states import State
from trueness.stats.chance import null_quantile
from trueness.stats.containment import MEASURED, VERDICTS, WHOLE_SPACE, Containment, contain
from trueness.stats.leave_one_out import Influence, leave_one_out
from trueness.stats.passages import Passages, Seen, prepared
from trueness.stats.span_axes import span_axes
from trueness.stats.span_item import Refused, SpanItem
from trueness.stats.span_rules import Floats, SpanRules

ONLY_PASSAGE = "only_passage"
NOT_MEASURED = "not_measured"
NOT_ASKED = "not_asked"
_TIE = 1e-9
_CHUNK_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Span:
    """What was seen of one claim against its evidence; None means undefined or not measured.

    Attributes
    ----------
    state, reason :
        ``energy``, ``explained``, ``relative`` and ``influence`` are None unless ``MEASURED``.
    energy, explained : float in [0, 1]
        Squared length of the unit claim outside and inside the retained span.
    closure : float
        Distance of their sum from 1; they are computed apart.
    n, d, rank, r, cap : int
        Passages measured, dimension, numerical rank, directions kept, and the declared cap.
    n_available, n_selected, n_blank, n_zero, n_merged : int
        Passages given, those that were to be measured, without text, of length zero, and merged.
    axes : mapping of str to float or None
        See :data:`trueness.stats.span_axes.AXES`.
    sigma : tuple of float
        Singular values, descending.
    cutoff_gap, noise_bound, bracket, tol_range :
        How far the cutoff, the noise and the rank tolerance can move the energy.
    chance, relative, lift, null_quantile, chance_basis :
        1 - r/d, energy over it, 1 minus that, and the share of random directions that are
        contained at least as well: None when similarity to the claim chose the evidence.
    influence, influence_reason :
        Energy without each cluster minus the energy; the reason when there is none at all.
    deletion_reasons : tuple of str or None
        Why the deletion of a cluster is not measured.
    solo, cosines : tuple of float
        Of each cluster: the mass it explains alone, and its cosine.
    support : tuple of int
        Clusters of the largest influence.
    clusters : tuple of tuple of int
        Passages that count as one.
    dropped, bad_rows : tuple of int
        Passages that the selection left out, and those at fault.
    """

    state: State
    reason: str | None = None
    energy: float | None = None
    explained: float | None = None
    closure: float | None = None
    n: int | None = None
    d: int | None = None
    rank: int | None = None
    r: int | None = None
    cap: int | None = None
    n_available: int | None = None
    n_selected: int | None = None
    n_blank: int | None = None
    n_zero: int | None = None
    n_merged: int | None = None
    axes: Mapping[str, float | None] = field(default_factory=dict)
    sigma: tuple[float, ...] = ()
    cutoff_gap: float | None = None
    noise_bound: float | None = None
    bracket: tuple[float, float] | None = None
    tol_range: tuple[float, float] | None = None
    chance: float | None = None
    relative: float | None = None
    lift: float | None = None
    null_quantile: float | None = None
    chance_basis: str | None = None
    influence: tuple[float | None, ...] | None = None
    influence_reason: str | None = None
    deletion_reasons: tuple[str | None, ...] = ()
    solo: tuple[float, ...] = ()
    cosines: tuple[float, ...] = ()
    support: tuple[int, ...] = ()
    clusters: tuple[tuple[int, ...], ...] = ()
    dropped: tuple[int, ...] = ()
    bad_rows: tuple[int, ...] = ()


def measure_span(
    claim: ArrayLike,
    evidence: ArrayLike | None,
    *,
    rules: SpanRules | None = None,
    texts: Sequence[str] | None = None,
    influence: bool = True,
) -> Span:
    r"""Squared distance of a unit claim from the span of its evidence, and all that qualifies it.

    :math:`\min_\beta \| c - E^T \beta \|^2` over the directions that the rules keep. 0 is inside
    the span, 1 is orthogonal to it. It is geometry of embeddings: it says nothing about truth.

    Parameters
    ----------
    claim : (d,) float
    evidence : (n, d) or (d,) float, or None
    rules : SpanRules, optional
    texts : sequence of n str, optional
        Of the passages.
    influence : bool
        Whether the passages are left out one by one as well.

    Raises
    ------
    ShapeError
        When the claim is no vector, or the evidence does not have its width.
    InputError
        When there are more passages than the rules allow.

    Examples
    --------
    >>> span = measure_span([4, 3], [[1, 0]])
    >>> span.state.value, round(span.energy, 12), round(span.relative, 12)
    ('MEASURED', 0.36, 0.72)
    >>> measure_span([4, 3], None).state.value
    'NO_EVIDENCE'
    """
    item = SpanItem(claim, evidence, texts)
    return measure_spans([item], rules=rules, influence=influence)[0]


def measure_spans(
    items: Sequence[SpanItem], *, rules: SpanRules | None = None, influence: bool = True
) -> list[Span]:
    """The same for many items, in their order; those of one size are computed together.

    Evidence that several items hold as the same object is decomposed once. Every item is
    answered: what cannot be measured has a state instead of a number.

    Examples
    --------
    >>> shared = np.eye(2, 3)
    >>> items = [SpanItem([1, 0, 0], shared), SpanItem([0, 0, 1], shared), SpanItem([1], None)]
    >>> [span.energy for span in measure_spans(items)]
    [0.0, 1.0, None]
    """
    rules = rules or SpanRules()
    items = list(items)  # held until the end: evidence is known by its objects
    results: dict[int, Span] = {}
    ready: dict[int, list[tuple[int, Floats]]] = {}
    seen = Seen()
    for place, item in enumerate(items):
        found = prepared(item, rules, seen)
        if isinstance(found, Refused):
            results[place] = Span(found.state, found.reason, bad_rows=found.rows)
        else:
            passages, claim = found
            ready.setdefault(id(passages), []).append((place, claim))
    for part in _parts(ready, seen):
        results.update(_measured(part, rules, influence=influence))
    return [results[place] for place in range(len(items))]


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Sets of equal size with equally many claims each."""

    passages: list[Passages]
    places: list[list[int]]
    claims: Floats


def _parts(ready: Mapping[int, list[tuple[int, Floats]]], seen: Seen) -> Iterator[_Part]:
    """Groups of equal shape, small enough to stay in a processor's cache."""
    groups: dict[tuple[tuple[int, ...], int, bool], list[int]] = {}
    for name, claims in ready.items():
        passages = seen.by_id[name]
        key = (passages.rows.shape, len(claims), passages.weights is None)
        groups.setdefault(key, []).append(name)
    for (shape, n_claims, _), names in groups.items():
        size = max(1, _CHUNK_BYTES // (8 * shape[1] * (shape[0] + n_claims)))
        for start in range(0, len(names), size):
            some = names[start : start + size]
            vectors = np.array([[vector for _, vector in ready[name]] for name in some])
            places = [[place for place, _ in ready[name]] for name in some]
            yield _Part([seen.by_id[name] for name in some], places, vectors)


def _measured(part: _Part, rules: SpanRules, *, influence: bool) -> Iterator[tuple[int, Span]]:
    rows = np.array([p.rows for p in part.passages])
    lengths, roots = None, None
    if part.passages[0].weights is not None:
        roots = np.sqrt(np.array([p.weights for p in part.passages]))
        lengths = np.sqrt(np.vecdot(rows, rows)) / roots
    found = contain(rows, part.claims, rules, lengths=lengths)
    cosines = found.cosines if roots is None else found.cosines / roots[:, None, :]
    axes = span_axes(found, part.claims, cosines, roots=roots)
    without = None
    if influence and rows.shape[1] > 1:
        without = leave_one_out(found, part.claims, rules)
    view = _View(found, cosines, axes, without, rules, influence)
    for s, (passages, places) in enumerate(zip(part.passages, part.places, strict=True)):
        for c, place in enumerate(places):
            yield place, view.span(s, c, passages)


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """Arrays of many claims, read as the spans of single ones."""

    found: Containment
    cosines: Floats
    axes: Mapping[str, Floats]
    without: Influence | None
    rules: SpanRules
    asked: bool

    def span(self, s: int, c: int, passages: Passages) -> Span:
        """The span of claim c against set s."""
        found, code = self.found, int(self.found.verdict[s, c])
        cosines = self.cosines[s, c, passages.order]
        whole = code == WHOLE_SPACE
        n, d = passages.rows.shape
        return Span(
            state=_state(code),
            reason=None if code == MEASURED else VERDICTS[code],
            closure=float(found.closure[s, c]),
            n=n,
            d=d,
            rank=int(found.rank[s]),
            r=int(found.retained[s]),
            cap=self.rules.cap,
            n_available=passages.n_available,
            n_selected=sum(map(len, passages.clusters)),
            n_blank=passages.n_blank,
            n_zero=passages.n_zero,
            n_merged=passages.n_merged,
            axes=self._axes(s, c, measured=code == MEASURED),
            sigma=tuple(found.sigma[s].tolist()),
            cutoff_gap=None if whole else float(found.cutoff.gap[s] / found.sigma[s, 0]),
            noise_bound=None if whole else float(found.cutoff.noise_bound[s]),
            bracket=None if whole else (float(found.low[s, c]), float(found.high[s, c])),
            tol_range=None if whole else (float(found.tol_low[s, c]), float(found.tol_high[s, c])),
            solo=tuple((cosines**2).tolist()),
            cosines=tuple(cosines.tolist()),
            clusters=passages.clusters,
            dropped=passages.dropped,
            **(self._value(s, c, d) if code == MEASURED else _Value()),
            **self._influence(s, c, passages, measured=code == MEASURED),
        )

    def _axes(self, s: int, c: int, *, measured: bool) -> dict[str, float | None]:
        known = {k: float(a[s] if a.ndim == 1 else a[s, c]) for k, a in self.axes.items()}
        axes = {k: None if np.isnan(v) else v for k, v in known.items()}
        return axes if measured else {**axes, "gain": None}

    def _value(self, s: int, c: int, d: int) -> "_Value":
        energy, r = float(self.found.energy[s, c]), int(self.found.retained[s])
        chance = 1.0 - r / d
        basis = self.rules.chance_basis
        tail = null_quantile(np.array(energy), np.array(r), d) if basis == "isotropic" else None
        return _Value(
            energy=energy,
            explained=float(self.found.explained[s, c]),
            chance=chance,
            relative=energy / chance,
            lift=1.0 - energy / chance,
            null_quantile=None if tail is None else float(tail),
            chance_basis=basis,
        )

    def _influence(self, s: int, c: int, passages: Passages, *, measured: bool) -> "_Carried":
        if not measured:
            return _Carried(influence_reason=NOT_MEASURED)
        if self.without is None:
            return _Carried(influence_reason=ONLY_PASSAGE if self.asked else NOT_ASKED)
        values = self.without.influence[s, c, passages.order]
        codes = self.without.verdict[s, c, passages.order]
        known = np.isfinite(values)
        best = values[known].max(initial=-np.inf)
        return _Carried(
            influence=tuple(None if np.isnan(v) else float(v) for v in values),
            deletion_reasons=tuple(None if v == MEASURED else VERDICTS[v] for v in codes),
            support=tuple(np.flatnonzero(known & (values >= best - _TIE)).tolist()),
        )


class _Value(TypedDict, total=False):
    energy: float
    explained: float
    chance: float
    relative: float
    lift: float
    null_quantile: float | None
    chance_basis: str


class _Carried(TypedDict, total=False):
    influence: tuple[float | None, ...]
    influence_reason: str
    deletion_reasons: tuple[str | None, ...]
    support: tuple[int, ...]


def _state(code: int) -> State:
    if code == MEASURED:
        return State.MEASURED
    return State.NOT_APPLICABLE if code == WHOLE_SPACE else State.UNSTABLE
