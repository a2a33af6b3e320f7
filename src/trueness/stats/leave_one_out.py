"""Which passage carries the support: the energy without each passage, exactly."""

from dataclasses import dataclass

import numpy as np

from trueness.stats.containment import MEASURED, Codes, Containment, contain
from trueness.stats.products import Bools
from trueness.stats.secular import deleted_roots
from trueness.stats.span_rules import Floats, Ints, SpanRules

_NULL = 1e-12
_INDEPENDENT = 1e-13
_INTERVAL = 1e-9
_ABSENT = 1e-10
_CHUNK = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Influence:
    """What each passage carries.

    Attributes
    ----------
    influence : (n_sets, n_claims, n) float
        Energy without the passage minus energy with it; nan where the deletion is not measured.
    verdict : (n_sets, n_claims, n) int8
        Of the deletion, a place in :data:`trueness.stats.containment.VERDICTS`.
    """

    influence: Floats
    verdict: Codes


def leave_one_out(found: Containment, claims: Floats, rules: SpanRules) -> Influence:
    r"""Energy without each passage minus the energy with all: signed, by one decomposition.

    Without truncation it is :math:`\beta_j^2 / (K^{-1})_{jj}` with :math:`\beta = K^{-1} s`;
    under a cap the eigenvalues of each principal submatrix are the roots of its secular
    equation. Where a deletion could change what is null or tied, it is measured anew.

    Parameters
    ----------
    found : Containment
        Of sets of at least two passages.
    claims : (n_sets, n_claims, d) float
        The claims it was computed for.
    rules : SpanRules

    Examples
    --------
    >>> rows = np.array([[[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]])
    >>> claims, rules = np.array([[[1.0, 2.0, 2.0]]]), SpanRules()
    >>> found = contain(rows, claims, rules)
    >>> (leave_one_out(found, claims, rules).influence * 18).round(9).tolist()
    [[[1.0, 8.0]]]
    """
    influence = np.zeros(found.cosines.shape)
    verdict = np.zeros(found.cosines.shape, np.int8)
    anew = np.ones((len(found.rank), found.cosines.shape[2]), np.bool_)
    _whole_rank(found, rules, influence, anew)
    _capped(found, rules, influence, anew)
    sets, rows = np.nonzero(anew)
    step = max(1, _CHUNK // (8 * found.gram.rows[0].size))
    for start in range(0, len(sets), step):
        s, j = sets[start : start + step], rows[start : start + step]
        again = _without(found, claims, rules, s, j)
        influence[s, :, j] = again.energy - found.energy[s]
        verdict[s, :, j] = again.verdict
    influence[verdict != MEASURED] = np.nan
    return Influence(influence, verdict)


def _floor(found: Containment, rules: SpanRules) -> Floats:
    """Singular values above this stay above ten times the tolerance and have a safe gap to 0."""
    return np.maximum(10.0 * rules.rank_tol * found.sigma[:, 0], found.cutoff.safe_gap)


def _whole_rank(found: Containment, rules: SpanRules, influence: Floats, anew: Bools) -> None:
    """Sets that keep all their directions, none of them weak, and will after a deletion."""
    if rules.rank == "variance":
        return  # a deletion changes how many directions hold the share
    lam, n = found.gram.lam, found.gram.lam.shape[1]
    floor2 = _floor(found, rules) ** 2
    here = np.arange(len(lam))
    least = lam[here, found.rank - 1]
    good = (found.retained == found.rank) & (least > 2 * floor2)
    deficient = np.flatnonzero(good & (found.rank < n))
    if len(deficient):
        good[deficient] = _discarded(found, deficient) <= _NULL
    sets = slice(None) if good.all() else np.flatnonzero(good)
    if not good.any():
        return
    vectors, squares = found.gram.vectors[sets], found.gram.vectors[sets] ** 2
    within = np.arange(n) < found.rank[sets][:, None]
    inverse = np.divide(1.0, lam[sets], out=np.zeros_like(lam[sets]), where=within)
    beta = (found.along[sets] * inverse[:, None, :]) @ vectors.swapaxes(1, 2)
    diagonal = np.einsum("sji,si->sj", squares, inverse)
    null = np.einsum("sji,si->sj", squares, np.where(within, 0.0, 1.0))
    independent = null < _INDEPENDENT
    left = null / diagonal > 2 * floor2[sets][:, None]
    carried = beta**2 / diagonal[:, None, :]
    influence[sets] = np.where(independent[:, None, :], carried, 0.0)
    anew[sets] = ~(independent | left)


def _discarded(found: Containment, sets: Ints) -> Floats:
    """Largest singular value among the discarded ones, as products of rows do not show it."""
    part = found.gram.take(sets)
    beyond = np.arange(part.lam.shape[1]) >= found.rank[sets][:, None]
    directions = part.combined(part.vectors.swapaxes(1, 2))
    lengths = np.sqrt(np.vecdot(directions, directions))
    largest: Floats = np.where(beyond, lengths, 0.0).max(axis=1)
    return largest


def _capped(found: Containment, rules: SpanRules, influence: Floats, anew: Bools) -> None:
    """Sets cut by a cap, with no tie among the directions kept."""
    if rules.rank != "cap":
        return
    cut = np.flatnonzero(found.retained < found.rank)
    if not len(cut):
        return
    lam, kept, n = found.gram.lam[cut], found.retained[cut], found.gram.lam.shape[1]
    intervals = -np.diff(lam, axis=1)
    used = np.arange(n - 1) < kept[:, None]
    apart = np.where(used, intervals, np.inf).min(axis=1, initial=np.inf) >= _INTERVAL * lam[:, 0]
    sets = cut[apart]
    step = max(1, _CHUNK // (8 * n * n * max(1, int(kept.max()))))
    for start in range(0, len(sets), step):
        _by_roots(found, rules, sets[start : start + step], influence, anew)


def _by_roots(
    found: Containment, rules: SpanRules, sets: Ints, influence: Floats, anew: Bools
) -> None:
    """Explained mass of every deletion from the roots of its secular equation."""
    lam, n = found.gram.lam[sets], found.gram.lam.shape[1]
    kept = int(found.retained[sets[0]])  # the cap: the same for all that are cut
    squares = found.gram.vectors[sets] ** 2
    s, j = np.nonzero((squares[:, :, : kept + 1] > _ABSENT).all(axis=2))
    if not len(s):
        return
    places = np.arange(kept)
    roots = deleted_roots(
        np.repeat(lam[s], kept, axis=0), np.repeat(squares[s, j], kept, axis=0),
        np.tile(places, len(s)),
    )  # fmt: skip
    inverse = roots.inverse.reshape(len(s), kept, n)
    mu = roots.mu.reshape(len(s), kept)
    row = found.gram.vectors[sets][s, j]
    scaled = found.along[sets[s]] * row[:, None, :]
    parts = np.einsum("rci,rli->rcl", scaled, inverse)
    lengths = np.einsum("ri,rli,rli->rl", squares[s, j], inverse, inverse) * mu
    explained = (parts**2 / lengths[:, None, :]).sum(axis=2)
    influence[sets[s], :, j] = 1.0 - explained - found.energy[sets[s]]
    least = np.sqrt(mu[:, -1])
    near = least - _after(lam[s], squares[s, j], kept, least - found.cutoff.safe_gap)
    floor = _floor(found, rules)[sets[s]]
    anew[sets[s], j] = (least <= floor) | (near < found.cutoff.safe_gap)


def _after(lam: Floats, squares: Floats, kept: int, wanted: Floats) -> Floats:
    """At least the first singular value that a deletion cuts off; exact where it must be."""
    last = lam.shape[1] - 1
    if kept == last:
        return np.zeros(len(lam))
    after = np.sqrt(lam[:, kept])
    usable = (squares[:, kept : kept + 2] > _ABSENT).all(axis=1)
    usable &= lam[:, kept] - lam[:, kept + 1] >= _INTERVAL * lam[:, 0]
    ask = np.flatnonzero((after > wanted) & usable)
    if len(ask):
        places = np.full(len(ask), kept)
        mu = deleted_roots(lam[ask], squares[ask], places).mu
        after[ask] = np.sqrt(np.maximum(mu, 0.0))
    return after


def _without(
    found: Containment, claims: Floats, rules: SpanRules, sets: Ints, rows: Ints
) -> Containment:
    """Deletions that no shortcut covers: the remaining passages measured by themselves."""
    places = np.arange(found.gram.rows.shape[1] - 1)
    others = places + (places >= rows[:, None])
    left = found.gram.rows[sets[:, None], others]
    weights = np.diagonal(found.gram.matrix, axis1=1, axis2=2)[sets[:, None], others]
    scale = np.sqrt(weights.mean(axis=1, keepdims=True))  # weights add up to the number of rows
    lengths = found.gram.lengths[sets[:, None], others] * scale
    return contain(left, claims[sets], rules, lengths=lengths)
