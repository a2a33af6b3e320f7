"""How much of a unit claim lies outside the span of its evidence, for many sets at once."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.stats.cutoff import Cutoff, cutoff_of
from trueness.stats.gram import Gram, exact_gram, gram, sharpened
from trueness.stats.products import Products, inner_products
from trueness.stats.span_rules import Floats, Ints, SpanRules

Codes: TypeAlias = NDArray[np.int8]

VERDICTS = ("measured", "rank_equals_dimension", "cutoff", "rank_tolerance", "closure")
"""What the codes of :attr:`Containment.verdict` stand for."""
MEASURED, WHOLE_SPACE, CUTOFF, RANK_TOLERANCE, CLOSURE = range(len(VERDICTS))
CLOSURE_TOL = 1e-6
_CLIP = 1e-12
_LEAST_GRAM_TOL = 5e-5
_LEAST_GRAM_GAP = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Containment:
    """Energies of claims against their sets of passages.

    Arrays of shape (n_sets,) speak of the evidence, those of shape (n_sets, n_claims) of a
    claim against it. Energies of claims whose verdict is not ``MEASURED`` are computed all the
    same: read them through their verdict.

    Attributes
    ----------
    gram : Gram
    sigma : (n_sets, n) float, descending
        Singular values of the unit rows.
    rank, retained : (n_sets,) int
        Numerical rank k and the directions r that the rule keeps.
    cutoff : Cutoff
    cosines : (n_sets, n_claims, n) float
        Of the claim with each passage, or root weight times cosine for weighted rows.
    along : (n_sets, n_claims, n) float
        The cosines in the directions of the spectrum, a = U^T s.
    explained, energy, closure : (n_sets, n_claims) float
        Mass within the span, squared residual, and the distance of their sum from 1.
    low, high : (n_sets, n_claims) float
        Ends of the energies that the tied block allows.
    tol_low, tol_high : (n_sets, n_claims) float
        Energies at a tenth and at ten times the rank tolerance.
    verdict : (n_sets, n_claims) int8
        A place in ``VERDICTS``.
    """

    gram: Gram
    sigma: Floats
    rank: Ints
    retained: Ints
    cutoff: Cutoff
    cosines: Floats
    along: Floats
    explained: Floats
    energy: Floats
    closure: Floats
    low: Floats
    high: Floats
    tol_low: Floats
    tol_high: Floats
    verdict: Codes


def contain(
    rows: Floats, claims: Floats, rules: SpanRules, *, lengths: Floats | None = None
) -> Containment:
    r"""Squared residuals of unit claims against the span of unit rows.

    .. math:: \| c - E^T U_r \Lambda_r^{-1} U_r^T E c \|^2

    the residual form always, since 1 - explained loses the small energies.

    Parameters
    ----------
    rows : (n_sets, n, d) float
        Passages: finite, none of them zero, entries of ordinary size (see
        :func:`trueness.stats.gram.plain`).
    claims : (n_sets, n_claims, d) float
        Likewise. Every claim of a set is measured against all its passages.
    rules : SpanRules
        Of which selection and deduplication are not applied here.
    lengths : (n_sets, n) float, optional
        Divisors of the rows; their own lengths when left out.

    Examples
    --------
    >>> found = contain(np.array([[[1.0, 0.0]]]), np.array([[[4.0, 3.0]]]), SpanRules())
    >>> found.energy.round(12).tolist()
    [[0.36]]
    """
    return contained(inner_products(rows, claims), rules, lengths=lengths)


def contained(
    products: Products, rules: SpanRules, *, lengths: Floats | None = None
) -> Containment:
    """The same where the inner products are known; see :func:`contain`."""
    spectrum, (wide, rank, narrow) = _spectrum(products, lengths, rules)
    retained = rules.retained(spectrum.lam, rank)
    sigma = spectrum.sigma
    cutoff = cutoff_of(sigma, retained, rules)
    projection = _Projection.of(spectrum, products)
    energy, explained = projection.split(retained)
    tol_low, tol_high = energy, energy
    if wide is not narrow:
        kept = (rules.retained(spectrum.lam, wide), rules.retained(spectrum.lam, narrow))
        tol_low, tol_high = (_at(projection, energy, retained, other) for other in kept)
    low, high, explained = _bracket(projection, (energy, explained), rank, cutoff)
    closure = np.abs(1.0 - explained - high)
    verdict = np.zeros(energy.shape, np.int8)
    np.putmask(verdict, closure > CLOSURE_TOL, CLOSURE)
    np.putmask(verdict, tol_high - tol_low > rules.energy_tol, RANK_TOLERANCE)
    loose = (cutoff.noise_bound > rules.energy_tol)[:, None]
    np.putmask(verdict, loose & (high - low > rules.energy_tol), CUTOFF)
    verdict[retained == products.rows.shape[2]] = WHOLE_SPACE
    return Containment(
        spectrum, sigma, rank, retained, cutoff, projection.cosines, projection.along,
        np.minimum(explained, 1.0), high, closure, low, high, tol_low, tol_high, verdict,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class _Projection:
    """Claims, and what is needed to project them onto leading directions."""

    gram: Gram
    products: Products
    scale: Floats
    cosines: Floats
    along: Floats

    @classmethod
    def of(cls, spectrum: Gram, products: Products) -> "_Projection":
        lengths = np.sqrt(products.squares)[:, :, None]
        scale = lengths / spectrum.lengths[:, None, :]
        cosines = products.between / (spectrum.lengths[:, None, :] * lengths)
        return cls(spectrum, products, scale, cosines, cosines @ spectrum.vectors)

    def split(self, kept: Ints) -> tuple[Floats, Floats]:
        """Squared residual and mass of the claims after so many leading directions of each set."""
        scaled = self.along * _inverse(self.gram.lam, kept)[:, None, :]
        weights = scaled @ self.gram.vectors.swapaxes(1, 2)
        weights *= self.scale
        energy = self.products.residuals(weights) / self.products.squares
        return _clipped(energy), np.vecdot(scaled, self.along)

    def split_of(self, sets: Ints, kept: Ints) -> tuple[Floats, Floats]:
        """The same for some of the sets."""
        arrays = self.scale[sets], self.cosines[sets], self.along[sets]
        part = _Projection(self.gram.take(sets), self.products.take(sets), *arrays)
        return part.split(kept)


def _spectrum(
    products: Products, lengths: Floats | None, rules: SpanRules
) -> tuple[Gram, tuple[Ints, Ints, Ints]]:
    """The spectrum and its ranks.

    By products; by a decomposition of the rows where products are not precise enough.
    """
    coarse = rules.rank_tol >= _LEAST_GRAM_TOL
    spectrum = (gram if coarse else exact_gram)(products.rows, lengths, among=products.among)
    lam, ranks = spectrum.lam, _ranks(spectrum, rules)
    retained = rules.retained(lam, ranks[1])
    cut = np.flatnonzero(retained < lam.shape[1]) if coarse else np.empty(0, np.int64)
    if len(cut):
        last = retained[cut]
        gap = lam[cut, last - 1] - lam[cut, last]
        cut = cut[gap < _LEAST_GRAM_GAP * lam[cut, 0]]
    if len(cut):
        better = sharpened(spectrum.take(cut), retained[cut])
        lam[cut], spectrum.vectors[cut] = better.lam, better.vectors
        ranks = _ranks(spectrum, rules)
    return spectrum, ranks


def _ranks(spectrum: Gram, rules: SpanRules) -> tuple[Ints, Ints, Ints]:
    """At a tenth of the rank tolerance, at it, and at ten times it; one array if they agree."""
    narrow = spectrum.rank(10.0 * rules.rank_tol)
    if (narrow == spectrum.lam.shape[1]).all():
        return narrow, narrow, narrow
    return spectrum.rank(0.1 * rules.rank_tol), spectrum.rank(rules.rank_tol), narrow


def _inverse(lam: Floats, kept: Ints) -> Floats:
    """1 / lam for the first so many of each set, 0 for the rest."""
    within = np.arange(lam.shape[1]) < kept[:, None]
    if within.all():
        return 1.0 / lam
    return np.divide(1.0, lam, out=np.zeros_like(lam), where=within)


def _clipped(energy: Floats) -> Floats:
    if energy.size and energy.max() > 1.0 + _CLIP:
        msg = f"an energy of {energy.max()!r} lies above 1: the projection failed; report this."
        raise FloatingPointError(msg)
    return np.minimum(energy, 1.0)


def _at(projection: _Projection, energy: Floats, retained: Ints, kept: Ints) -> Floats:
    """Energies after other numbers of directions than those retained."""
    other = np.flatnonzero(kept != retained)
    if not len(other):
        return energy
    found = energy.copy()
    found[other] = projection.split_of(other, kept[other])[0]
    return found


def _bracket(
    projection: _Projection, split: tuple[Floats, Floats], rank: Ints, cutoff: Cutoff
) -> tuple[Floats, Floats, Floats]:
    """Least and largest energy over every choice within the tied block, and the mass before it.

    The energy itself and the mass retained where nothing is tied.
    """
    energy, explained = split
    if cutoff.first is cutoff.last:
        return energy, energy, explained
    tied = np.flatnonzero(cutoff.first != cutoff.last)
    low, high, explained = energy.copy(), energy.copy(), explained.copy()
    high[tied], explained[tied] = projection.split_of(tied, cutoff.first[tied])
    inside = tied[cutoff.last[tied] <= rank[tied]]
    low[tied] = 0.0
    if len(inside):
        low[inside] = projection.split_of(inside, cutoff.last[inside])[0]
    return low, high, explained
