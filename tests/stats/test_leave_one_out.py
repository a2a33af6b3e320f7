"""Leaving passages out by formulas, against measuring what is left by a plain decomposition."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from trueness.stats.containment import CUTOFF, MEASURED, RANK_TOLERANCE, WHOLE_SPACE, contain
from trueness.stats.leave_one_out import leave_one_out
from trueness.stats.secular import deleted_roots
from trueness.stats.span_rules import SpanRules

Floats = NDArray[np.float64]

RULES = {
    "full": SpanRules(embedding_noise=1e-9),
    "noisy": SpanRules(embedding_noise=1e-6),
    "cap 2": SpanRules(rank="cap", cap=2, embedding_noise=1e-9),
    "cap 4": SpanRules(rank="cap", cap=4, embedding_noise=1e-6),
    "variance": SpanRules(rank="variance", q=0.8, embedding_noise=1e-9),
}


@dataclass(frozen=True)
class Plain:
    verdict: int
    energy: float
    near: float
    """Relative distance of the nearest threshold."""
    gap: float
    """Of the singular values at the cutoff that was used, over the largest."""
    weakest: float
    """Singular value that is kept, over the largest."""

    @property
    def energy_error(self) -> float:
        """What is promised at a gap of 1e-3; below it rounding moves any energy by so much."""
        return 1e-12 if self.gap >= 1e-3 else 2e-14 / self.gap

    @property
    def influence_error(self) -> float:
        promised = self.gap >= 1e-3 and self.weakest >= 1e-2
        return 1e-11 if promised else 1e-11 + 2e-14 / self.gap + 2e-15 / self.weakest**2


def plain_span(units: Floats, claim: Floats, rules: SpanRules) -> Plain:
    """All by one decomposition."""
    n = len(units)
    _, sigma, right = np.linalg.svd(units)
    sigma = np.concatenate([sigma, np.zeros(n + 1 - len(sigma))])
    mass = np.zeros(n)
    mass[: min(units.shape)] = (right[: min(units.shape)] @ claim)[:n] ** 2

    def rest(kept: int) -> float:
        basis = right[:kept]
        part = claim - basis.T @ (basis @ claim)
        return float(part @ part)

    def kept_at(tolerance: float) -> int:
        k = int((sigma[:n] > tolerance * sigma[0]).sum())
        lam = sigma[:k] ** 2
        r = np.array([k])
        return int(rules.retained(np.append(lam, np.zeros(n - k))[None], r)[0])

    k, r = int((sigma[:n] > rules.rank_tol * sigma[0]).sum()), kept_at(rules.rank_tol)
    delta = rules.embedding_noise * np.sqrt(n)
    safe = delta * (1 + 1 / rules.energy_tol)
    gap = sigma[r - 1] - sigma[r]
    bound = min(1.0, delta / (gap - delta)) if gap > delta else 1.0
    low = high = rest(r)
    first = last = r
    if gap < safe:
        ties = sigma[:-1] - sigma[1:] < safe
        first, last = r - 1, r + 1
        while first > 0 and ties[first - 1]:
            first -= 1
        while last < n + 1 and ties[last - 1]:
            last += 1
        low, high = (0.0 if last > k else rest(last)), rest(first)
    wide = rest(kept_at(10 * rules.rank_tol)) - rest(kept_at(rules.rank_tol / 10))
    ratios = np.array([t * rules.rank_tol * sigma[0] for t in (0.1, 1, 10)])
    near = min(
        np.abs(sigma[:n, None] / ratios - 1).min(),
        np.abs(np.append(sigma[:-1] - sigma[1:], 1) / safe - 1).min(),
        abs(wide - rules.energy_tol),
        abs(high - low - rules.energy_tol),
    )
    verdict = MEASURED
    if wide > rules.energy_tol:
        verdict = RANK_TOLERANCE
    if bound > rules.energy_tol and high - low > rules.energy_tol:
        verdict = CUTOFF
    cut = (sigma[first - 1] - sigma[first]) / sigma[0] if first else 1.0
    return Plain(verdict, high, float(near), cut, sigma[r - 1] / sigma[0])


def unit(rows: Floats) -> Floats:
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True), np.float64)


def families(rng: np.random.Generator) -> Iterator[tuple[Floats, Floats]]:
    """Evidence of every awkward kind: graded, repeated, dependent, tied, nearly dependent."""
    for n, d in ((2, 5), (3, 4), (5, 9), (6, 40), (9, 12)):
        claim = rng.normal(size=d)
        rows = rng.normal(size=(n, d))
        yield rows, claim
        yield rows * np.geomspace(1, 1e-6, d), claim
        small = 10.0 ** rng.uniform(-8, -1)
        near = rows.copy()
        near[-1] = near[0] + small * near[-1]
        yield near, claim
        yield near, near[0] - near[-1] if rng.random() < 0.7 else claim
        dependent = rows.copy()
        dependent[-1] = dependent[: n - 1].sum(axis=0)
        yield dependent, claim
        repeated = rows.copy()
        repeated[-1] = repeated[0]
        yield repeated, claim
        yield np.eye(d)[rng.permutation(d)[: min(n, d)]], claim
        blocks = np.eye(d)[rng.integers(0, max(2, n - 1), n)]
        yield blocks + (rng.random() < 0.5) * small * rows, claim
        thin = rng.normal(size=(n, 2)) @ rng.normal(size=(2, d))
        yield thin + (rng.random() < 0.5) * small * rows, claim


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("seed", range(3))
def test_energies_and_deletions_are_those_of_a_plain_decomposition(name: str, seed: int) -> None:
    rules, rng = RULES[name], np.random.default_rng([seed, len(name)])
    checked = deleted = 0
    for rows, claim in families(rng):
        units, c = unit(rows), unit(claim)
        wanted = plain_span(units, c, rules)
        if wanted.near < 1e-3:
            continue  # a threshold is met by rounding
        checked += 1
        found = contain(rows[None], claim[None, None], rules)
        verdict, energy = int(found.verdict[0, 0]), found.energy[0, 0]
        whole = found.retained[0] == rows.shape[1]
        assert verdict == (WHOLE_SPACE if whole else wanted.verdict)
        assert energy == pytest.approx(wanted.energy, abs=wanted.energy_error)
        left = leave_one_out(found, claim[None, None], rules)
        for j in range(0 if whole else len(rows)):
            without = plain_span(np.delete(units, j, axis=0), c, rules)
            if without.near < 1e-3:
                continue
            deleted += 1
            assert left.verdict[0, 0, j] == without.verdict
            if without.verdict == MEASURED:
                influence = without.energy - energy
                error = max(wanted.influence_error, without.influence_error)
                assert left.influence[0, 0, j] == pytest.approx(influence, abs=error)
    assert checked > 25
    assert deleted > 60


def test_a_root_is_the_eigenvalue_that_a_deletion_leaves() -> None:
    rng = np.random.default_rng(4)
    for n in (2, 3, 7, 20):
        units = unit(rng.normal(size=(n, 2 * n)) * np.geomspace(1, 1e-3, 2 * n))
        matrix = units @ units.T
        lam, vectors = (a[..., ::-1] for a in np.linalg.eigh(matrix))
        for j in range(n):
            places = np.arange(n - 1)
            squares = np.repeat(vectors[j : j + 1] ** 2, n - 1, axis=0)
            roots = deleted_roots(np.repeat(lam[None], n - 1, axis=0), squares, places)
            left = np.delete(np.delete(matrix, j, 0), j, 1)
            np.testing.assert_allclose(roots.mu, np.linalg.eigvalsh(left)[::-1], atol=2e-14)
            assert (roots.mu <= lam[:-1] + 1e-15).all()
            assert (roots.mu >= lam[1:] - 1e-15).all()


def test_a_root_beside_its_pole_keeps_its_relative_distance() -> None:
    for square in (1e-8, 1e-16, 1e-24):
        lam = np.array([[3.0, 2.0, 1.0]])
        squares = np.array([[0.4, square, 0.6]])
        roots = deleted_roots(
            np.repeat(lam, 2, axis=0), np.repeat(squares, 2, axis=0), np.arange(2)
        )
        assert roots.mu[0] == pytest.approx(2.2, rel=1e-7)  # the root without the middle term
        assert 1 / roots.inverse[1, 1] == pytest.approx(5 * square, rel=1e-6, abs=0)


def test_claims_of_shared_evidence_have_the_influence_they_have_alone() -> None:
    rng = np.random.default_rng(2)
    rows, claims = rng.normal(size=(3, 6, 20)), rng.normal(size=(3, 4, 20))
    for rules in RULES.values():
        together = leave_one_out(contain(rows, claims, rules), claims, rules)
        for c in range(4):
            one = claims[:, c : c + 1]
            alone = leave_one_out(contain(rows, one, rules), one, rules)
            np.testing.assert_allclose(
                together.influence[:, c], alone.influence[:, 0], atol=1e-13, equal_nan=True
            )


def test_influence_may_be_negative_under_a_cap() -> None:
    rules = SpanRules(rank="cap", cap=1)
    rows = np.array([[[1.0, 0, 0, 0], [1, 0.1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0.3]]])
    claim = np.array([[[0.0, 0, 1, 0.15]]])
    found = contain(rows, claim, rules)
    without = leave_one_out(found, claim, rules).influence[0, 0]
    assert without == pytest.approx([-1, -1, 0, 0], abs=1e-3)
