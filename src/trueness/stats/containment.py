"""How much of a unit claim lies outside the span of its evidence, for many sets at once."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.stats.cutoff import Cutoff, cutoff_of
from trueness.stats.gram import Gram, exact_gram, gram, sharpened
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
    spectrum = _spectrum(rows, lengths, rules)
    lengths_of_claims = np.sqrt(np.vecdot(claims, claims))
    rank = spectrum.rank(rules.rank_tol)
    retained = rules.retained(spectrum.lam, rank)
    cutoff = cutoff_of(spectrum.sigma, retained, rules)
    cosines = spectrum.products(claims) / lengths_of_claims[:, :, None]
    along = cosines @ spectrum.vectors
    projection = _Projection(spectrum, claims, lengths_of_claims, along)
    energy = projection.energy(retained)
    tol_low, tol_high = _tolerance_range(projection, energy, retained, rules)
    low, high = _bracket(projection, energy, rank, cutoff)
    explained = projection.explained(cutoff.first)
    closure = np.abs(1.0 - explained - high)
    verdict = np.zeros(energy.shape, np.int8)
    verdict[closure > CLOSURE_TOL] = CLOSURE
    verdict[tol_high - tol_low > rules.energy_tol] = RANK_TOLERANCE
    loose = cutoff.noise_bound > rules.energy_tol
    verdict[loose[:, None] & (high - low > rules.energy_tol)] = CUTOFF
    verdict[retained == rows.shape[2]] = WHOLE_SPACE
    return Containment(
        spectrum, rank, retained, cutoff, cosines, along, np.clip(explained, 0.0, 1.0), high,
        closure, low, high, tol_low, tol_high, verdict,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class _Projection:
    """Claims, with their lengths, and what is needed to project them onto leading directions."""

    gram: Gram
    claims: Floats
    lengths: Floats
    along: Floats

    def explained(self, kept: Ints) -> Floats:
        """Mass in the first so many directions of each set."""
        share = self.along**2 * _inverse(self.gram.lam, kept)[:, None, :]
        mass: Floats = share.sum(axis=2)
        return mass

    def energy(self, kept: Ints) -> Floats:
        """Squared residual after the first so many directions of each set."""
        scaled = self.along * _inverse(self.gram.lam, kept)[:, None, :]
        weights = scaled @ self.gram.vectors.swapaxes(1, 2)
        residual = self.gram.combined(weights * self.lengths[:, :, None])
        residual -= self.claims
        return _clipped(np.vecdot(residual, residual) / self.lengths**2)

    def energy_of(self, sets: Ints, kept: Ints) -> Floats:
        """The same for some of the sets."""
        part = _Projection(
            self.gram.take(sets), self.claims[sets], self.lengths[sets], self.along[sets]
        )
        return part.energy(kept)


def _spectrum(rows: Floats, lengths: Floats | None, rules: SpanRules) -> Gram:
    """By products; by a decomposition of the rows where products are not precise enough."""
    if rules.rank_tol < _LEAST_GRAM_TOL:
        return exact_gram(rows, lengths)
    spectrum = gram(rows, lengths)
    rank = spectrum.rank(rules.rank_tol)
    retained = rules.retained(spectrum.lam, rank)
    cut = retained < rows.shape[1]
    if not cut.any():
        return spectrum
    here = np.arange(len(rows))
    after = spectrum.lam[here, np.minimum(retained, rows.shape[1] - 1)]
    gap = spectrum.lam[here, retained - 1] - after
    weak = np.flatnonzero(cut & (gap < _LEAST_GRAM_GAP * spectrum.lam[:, 0]))
    if len(weak):
        better = sharpened(spectrum.take(weak), retained[weak])
        spectrum.lam[weak], spectrum.vectors[weak] = better.lam, better.vectors
    return spectrum


def _inverse(lam: Floats, kept: Ints) -> Floats:
    """1 / lam for the first so many of each set, 0 for the rest."""
    within = np.arange(lam.shape[1]) < kept[:, None]
    return np.divide(1.0, lam, out=np.zeros_like(lam), where=within)


def _clipped(energy: Floats) -> Floats:
    if energy.size and energy.max() > 1.0 + _CLIP:
        msg = f"an energy of {energy.max()!r} lies above 1: the projection failed; report this."
        raise FloatingPointError(msg)
    return np.minimum(energy, 1.0)


def _tolerance_range(
    projection: _Projection, energy: Floats, retained: Ints, rules: SpanRules
) -> tuple[Floats, Floats]:
    """Energies at a tenth and at ten times the rank tolerance."""
    if projection.gram.lam.shape[1] == 1:
        return energy, energy
    ends = []
    for factor in (0.1, 10.0):
        kept = projection.gram.rank(factor * rules.rank_tol)
        kept = rules.retained(projection.gram.lam, kept)
        other = np.flatnonzero(kept != retained)
        end = energy
        if len(other):
            end = energy.copy()
            end[other] = projection.energy_of(other, kept[other])
        ends.append(end)
    return ends[0], ends[1]


def _bracket(
    projection: _Projection, energy: Floats, rank: Ints, cutoff: Cutoff
) -> tuple[Floats, Floats]:
    """Least and largest energy over every choice within the tied block; the energy without one."""
    tied = np.flatnonzero(cutoff.first != cutoff.last)
    if not len(tied):
        return energy, energy
    low, high = energy.copy(), energy.copy()
    high[tied] = projection.energy_of(tied, cutoff.first[tied])
    inside = cutoff.last[tied] <= rank[tied]
    low[tied[~inside]] = 0.0
    if inside.any():
        low[tied[inside]] = projection.energy_of(tied[inside], cutoff.last[tied[inside]])
    return low, high
