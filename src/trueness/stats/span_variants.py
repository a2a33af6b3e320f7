"""Other ways to hold a claim against its evidence: each a measure of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State
from trueness.stats.cone import Nearest, nearest_in_cone, nearest_in_hull
from trueness.stats.containment import MEASURED, VERDICTS, WHOLE_SPACE, contain
from trueness.stats.gram import ZERO, gram, unit
from trueness.stats.passages import Passages, prepared
from trueness.stats.span import Span, measure_spans
from trueness.stats.span_item import Refused, SpanItem
from trueness.stats.span_rules import Floats, SpanRules

_AT_MEAN = 1e-12
_SINGULAR = 1e-12
_CERTAIN = 1e-10


@dataclass(frozen=True, slots=True)
class Variant:
    """A value with its state; ``figures`` holds what the measure adds, as plain numbers."""

    state: State
    reason: str | None = None
    value: float | None = None
    figures: Mapping[str, float | int | list[float]] = field(default_factory=dict)
    span: Span | None = None


def affine(item: SpanItem, rules: SpanRules) -> Variant:
    r"""Share of the claim's distance from the passages' mean that leaves their affine span.

    :math:`\|(I-P)(c-m)\|^2 / \|c-m\|^2`, m the mean of the unit rows, P onto the differences.

    >>> round(affine(SpanItem([3, 4, 0], np.eye(2, 3)), SpanRules()).value, 12)
    0.8
    """
    ready = _ready(item, rules)
    if isinstance(ready, Variant):
        return ready
    units, claim = unit(ready[0].rows), unit(ready[1])
    mean = units.mean(axis=0)
    rows, moved = units - mean, claim - mean
    if np.abs(rows).max() < _AT_MEAN:
        return Variant(State.NOT_APPLICABLE, "one_passage")
    if np.sqrt(moved @ moved) < _AT_MEAN:
        return Variant(State.DEGENERATE, "claim_at_mean")
    found = contain(rows[None], moved[None, None], rules, lengths=np.ones((1, len(rows))))
    code = int(found.verdict[0, 0])
    share = float(found.energy[0, 0])
    figures = {"unnormalised": share * float(moved @ moved), "rank": int(found.rank[0])}
    if code == MEASURED:
        return Variant(State.MEASURED, None, share, figures)
    return Variant(_state(code), VERDICTS[code], None, {"rank": int(found.rank[0])})


def corpus(item: SpanItem, rules: SpanRules, *, mean: ArrayLike) -> Variant:
    """The energy after a declared mean of the corpus's unit vectors has been taken off.

    >>> round(corpus(SpanItem([0, 1, 0], [[1, 0, 0]]), SpanRules(), mean=[0.5, 0, 0]).value, 12)
    0.8
    """
    return _moved(item, rules, _vector("mean", mean), None)


def whitened(
    item: SpanItem,
    rules: SpanRules,
    *,
    mean: ArrayLike,
    covariance: ArrayLike,
    shrinkage: float = 0.0,
    corpus_size: int | None = None,
) -> Variant:
    r"""The energy of whitened unit vectors, :math:`((1-g) C + g\,tr(C)/d\,I)^{-1/2} (x - m)`.

    Without shrinkage the corpus must hold at least two texts a dimension; None says that the
    covariance is known otherwise.

    >>> item = SpanItem([4, 3, 0], [[1, 0, 0]])
    >>> found = whitened(item, SpanRules(), mean=np.zeros(3), covariance=np.diag([4.0, 1, 1]))
    >>> round(found.value * 13, 9)
    9.0
    """
    centre, c = _vector("mean", mean), np.asarray(covariance, np.float64)
    d = len(centre)
    if c.shape != (d, d) or not np.isfinite(c).all() or not np.allclose(c, c.T):
        msg = f"covariance has shape {c.shape}; give a finite symmetric ({d}, {d}) matrix."
        raise ShapeError(msg)
    if not 0.0 <= shrinkage <= 1.0:
        msg = f"shrinkage is {shrinkage!r}; give a share in [0, 1]."
        raise InputError(msg)
    if corpus_size is not None and corpus_size < 2 * d and shrinkage == 0:
        return Variant(State.NOT_APPLICABLE, "corpus_too_small")
    root = _root(c.tobytes(), d, float(shrinkage))
    if root is None:
        return Variant(State.NOT_APPLICABLE, "covariance_singular")
    return _moved(item, rules, centre, root)


def weighted(item: SpanItem, rules: SpanRules, *, weights: ArrayLike) -> Variant:
    """The energy with rows scaled by the roots of weights: only a truncated span moves.

    >>> item = SpanItem([1, 2, 2], [[1, 0, 0], [1, 1, 0]])
    >>> round(weighted(item, SpanRules(), weights=[1, 5]).value * 9, 9)
    4.0
    """
    return _of_span(measure_spans([replace(item, weights=weights)], rules=rules)[0])


def sigma(item: SpanItem, rules: SpanRules, *, power: float = 1.0) -> Variant:
    r"""Energy with each direction counted by its strength, 1 - sum (sigma_i / sigma_1)^p mass_i.

    >>> item = SpanItem([3, 4, 0], [[1, 0, 0]] * 4 + [[0, 1, 0]])
    >>> round(sigma(item, SpanRules(dedup="none")).value, 12)
    0.32
    """
    _positive("power", power, zero=True)
    ready = _ready(item, rules)
    if isinstance(ready, Variant):
        return ready
    passages, claim = ready
    found = contain(passages.rows[None], claim[None, None], rules)
    code = int(found.verdict[0, 0])
    if code != MEASURED:
        return Variant(_state(code), VERDICTS[code])
    kept = int(found.cutoff.first[0])
    lam = found.gram.lam[0, :kept]
    mass = found.along[0, 0, :kept] ** 2 / lam
    lost = (1.0 - (lam / lam[:1]) ** (power / 2.0)) @ mass
    value = min(float(found.energy[0, 0]) + float(lost), 1.0)
    return Variant(State.MEASURED, None, value, {"rank": int(found.rank[0])})


def ridge(item: SpanItem, rules: SpanRules, *, penalty: float) -> Variant:
    r"""Least of :math:`\|c - E^T \beta\|^2 + l \|\beta\|^2`, which is 1 - s^T (K + l I)^-1 s.

    No cutoff, so no tie; copies of a passage count, m of them as l / m.

    >>> round(ridge(SpanItem([4, 3], [[1, 0]]), SpanRules(), penalty=1.0).value, 12)
    0.68
    """
    _positive("penalty", penalty)
    ready = _ready(item, rules)
    if isinstance(ready, Variant):
        return ready
    units, claim = unit(ready[0].rows), unit(ready[1])
    spectrum = gram(units[None])
    along = spectrum.vectors[0].T @ (units @ claim)
    beta = spectrum.vectors[0] @ (along / (spectrum.lam[0] + penalty))
    rest = claim - beta @ units
    value = min(float(rest @ rest + penalty * (beta @ beta)), 1.0)
    coefficients = beta[ready[0].order].tolist()
    return Variant(State.MEASURED, None, value, {"coefficients": coefficients})


def cone(item: SpanItem, rules: SpanRules) -> Variant:
    r"""Squared distance from the cone: :math:`\min_{\beta \ge 0} \|c - E^T \beta\|^2`.

    It sees the sign. ``kkt_residual`` certifies that nothing is nearer.

    >>> cone(SpanItem([-1, 0], [[1, 0]]), SpanRules()).value
    1.0
    """
    ready = _ready(item, rules)
    if isinstance(ready, Variant):
        return ready
    units, claim = unit(ready[0].rows), unit(ready[1])
    found = nearest_in_cone(units, claim)
    return _nearest(ready[0], claim, found, "coefficients")


def hull(item: SpanItem, rules: SpanRules) -> Variant:
    r"""Squared distance from the convex hull of the unit rows, in [0, 4].

    >>> hull(SpanItem([-1, 0], [[1, 0]]), SpanRules()).value
    4.0
    """
    ready = _ready(item, rules)
    if isinstance(ready, Variant):
        return ready
    units, claim = unit(ready[0].rows), unit(ready[1])
    found = nearest_in_hull(units, claim)
    return _nearest(ready[0], claim, found, "weights")


def kernel(
    item: SpanItem,
    rules: SpanRules,
    *,
    kernel: Literal["rbf", "poly"] = "rbf",
    width: float = 1.0,
    degree: int = 2,
) -> Variant:
    r"""Energy in the space of a kernel, :math:`1 - s^T K^+ s / k(c, c)`; its chance is not r/d.

    ``rbf``: :math:`\exp(-\|x-y\|^2 / 2 h^2)` with h the width; ``poly``: :math:`(x \cdot y)^q`
    with q the degree; both of unit vectors.

    >>> item = SpanItem([4, 3], [[1, 0]])
    >>> round(kernel(item, SpanRules(), kernel="poly", degree=2).value * 625, 9)
    369.0
    """
    if kernel not in ("rbf", "poly"):
        msg = f"kernel is {kernel!r}; choose rbf or poly."
        raise InputError(msg)
    _positive("width", width)
    _positive("degree", degree)
    ready = _ready(item, rules)
    if isinstance(ready, Variant):
        return ready
    units, claim = unit(ready[0].rows), unit(ready[1])
    inner, s = _products(units), units @ claim
    if kernel == "rbf":
        inner, s = (np.exp((x - 1.0) / width**2) for x in (inner, s))
    else:
        inner, s = inner**degree, s**degree
    lam, vectors = (a[..., ::-1] for a in np.linalg.eigh(inner))
    mass = np.cumsum((vectors.T @ s) ** 2 / np.where(lam > 0, lam, np.inf))
    ranks = [int((lam > (f * rules.rank_tol) ** 2 * lam[0]).sum()) for f in (0.1, 1.0, 10.0)]
    low, value, high = (float(np.clip(1.0 - mass[k - 1], 0.0, 1.0)) for k in ranks)
    if high - low > rules.energy_tol:
        return Variant(State.UNSTABLE, "rank_tolerance", None, {"rank": ranks[1]})
    return Variant(State.MEASURED, None, value, {"rank": ranks[1]})


def _ready(item: SpanItem, rules: SpanRules) -> tuple[Passages, Floats] | Variant:
    found = prepared(item, rules)
    if isinstance(found, Refused):
        return Variant(found.state, found.reason)
    return found


def _state(code: int) -> State:
    return State.NOT_APPLICABLE if code == WHOLE_SPACE else State.UNSTABLE


def _of_span(span: Span) -> Variant:
    return Variant(span.state, span.reason, span.energy, span=span)


def _products(units: Floats) -> Floats:
    products = units @ units.T
    np.fill_diagonal(products, 1.0)
    return products


def _nearest(passages: Passages, claim: Floats, found: Nearest, name: str) -> Variant:
    if found.residual > _CERTAIN:
        return Variant(State.UNSTABLE, "not_certified", None, {"kkt_residual": found.residual})
    rest = claim - found.coefficients @ unit(passages.rows)
    by_cluster = found.coefficients[passages.order].tolist()
    figures = {"kkt_residual": found.residual, name: by_cluster}
    return Variant(State.MEASURED, None, float(rest @ rest), figures)


class _Root(NamedTuple):
    """An inverse root of a covariance, and the most that it stretches a vector."""

    matrix: Floats
    growth: float


@lru_cache(maxsize=2)
def _root(covariance: bytes, d: int, shrinkage: float) -> _Root | None:
    """Decomposed once for all claims of a table; None where it is singular."""
    c = np.frombuffer(covariance, np.float64).reshape(d, d)
    lam, vectors = np.linalg.eigh((1 - shrinkage) * c + shrinkage * np.trace(c) / d * np.eye(d))
    if lam[0] <= _SINGULAR * lam[-1]:
        return None
    return _Root((vectors / np.sqrt(lam)) @ vectors.T, float(1 / np.sqrt(lam[0])))


def _moved(item: SpanItem, rules: SpanRules, mean: Floats, root: _Root | None) -> Variant:
    """The core measure of vectors from which a mean is taken, turned by a root."""
    found = prepared(item, replace(rules, dedup="none"))
    if isinstance(found, Refused):
        return Variant(found.state, found.reason)
    claim = unit(found[1])
    if claim.shape != mean.shape:
        msg = f"the mean has dimension {len(mean)} and the claim {len(claim)}; use one embedder."
        raise ShapeError(msg)
    moved = claim - mean
    if np.sqrt(moved @ moved) < _AT_MEAN:
        return Variant(State.DEGENERATE, "claim_at_mean")
    given = np.asarray(item.evidence, np.float64).reshape(-1, len(mean))
    here = np.abs(given).max(axis=1) >= ZERO
    rows = np.zeros_like(given)
    rows[here] = unit(given[here]) - mean
    rows[np.sqrt(np.vecdot(rows, rows)) < _AT_MEAN] = 0.0
    moved, rows = (moved, rows) if root is None else (moved @ root.matrix, rows @ root.matrix)
    lengths = np.sqrt(np.vecdot(rows, rows))
    growth = 1.0 if root is None else root.growth
    noise = rules.embedding_noise * max(1.0, growth / lengths[lengths > 0].min(initial=np.inf))
    quieter = replace(rules, embedding_noise=noise)
    return _of_span(measure_spans([replace(item, claim=moved, evidence=rows)], rules=quieter)[0])


def _vector(name: str, values: ArrayLike) -> Floats:
    vector = np.asarray(values, np.float64)
    if vector.ndim != 1 or not np.isfinite(vector).all():
        msg = (
            f"{name} has shape {vector.shape}; give one finite vector of the embedder's dimension."
        )
        raise ShapeError(msg)
    return vector


def _positive(name: str, value: float, *, zero: bool = False) -> None:
    if not 0.0 <= value < np.inf or (value == 0.0 and not zero):
        msg = f"{name} is {value!r}; give a finite number {'from' if zero else 'above'} 0."
        raise InputError(msg)
