"""What a gate on foreign evidence is blind to: claims bound wrongly from their own evidence."""

import numpy as np
from numpy.typing import NDArray

from trueness.decide.gate import Gate
from trueness.study.guards import Pool
from trueness.study.negatives import deranged
from trueness.study.searched import evidence_centroids, hard_centroid

Floats = NDArray[np.float64]
N, D, M = 400, 64, 4


def unit(vectors: Floats) -> Floats:
    made: Floats = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return made


def left_over(claims: Floats, passages: Floats) -> Floats:
    """Share of a claim's square outside of the span of its passages."""
    bases = np.linalg.qr(np.swapaxes(passages, 1, 2))[0]
    inside = np.einsum("nd,ndm->nm", claims, bases)
    found: Floats = 1 - (inside**2).sum(axis=1)
    return found


def world(seed: int) -> tuple[Floats, Floats, Floats]:
    """Passages, supported claims, and other mixtures of the same passages."""
    rng = np.random.default_rng(seed)
    topics = unit(rng.normal(size=(20, D)))
    sources = unit(topics[np.arange(N) % 20] + 0.8 * unit(rng.normal(size=(N, D))))
    passages = unit(sources[:, None] + 0.7 * unit(rng.normal(size=(N, M, D))))

    def mixture() -> Floats:
        weights = rng.dirichlet(np.ones(M), size=N)
        noise = 0.15 * unit(rng.normal(size=(N, D)))
        return unit(unit(np.einsum("nm,nmd->nd", weights, passages)) + noise)

    return passages, mixture(), mixture()


def test_a_gate_fitted_on_foreign_evidence_accepts_wrong_bindings_as_often_as_right_ones() -> None:
    passages, supported, binding = world(0)
    pool = Pool([f"i{i:03}" for i in range(N)], [f"s{i:03}" for i in range(N)])
    centroids = evidence_centroids(passages.reshape(-1, D), [M] * N)
    for made in (deranged(pool), hard_centroid(pool, supported, centroids)):
        foreign = left_over(supported, passages[made.evidence_from])
        gate = Gate(0.05, negatives=made.population).fit(foreign, np.ones(N, dtype=np.bool_))
        right = (gate.predict(left_over(supported, passages)) == "accept").mean()
        wrong = (gate.predict(left_over(binding, passages)) == "accept").mean()
        assert right > 0.9
        assert abs(right - wrong) < 0.05  # blind, at far more than the budget
        assert made.population in gate.fitted.calibration.sentence()


def test_a_threshold_from_random_foreign_evidence_breaks_its_budget_on_the_nearest() -> None:
    passages, supported, _ = world(1)
    pool = Pool([f"i{i:03}" for i in range(N)], [f"s{i:03}" for i in range(N)])
    centroids = evidence_centroids(passages.reshape(-1, D), [M] * N)
    random, nearest = deranged(pool), hard_centroid(pool, supported, centroids)
    far = left_over(supported, passages[random.evidence_from])
    near = left_over(supported, passages[nearest.evidence_from])
    lax = Gate(0.05).fit(far, np.ones(N, dtype=np.bool_))
    strict = Gate(0.05).fit(near, np.ones(N, dtype=np.bool_))
    assert strict.threshold_ < lax.threshold_
    assert (lax.predict(near) == "accept").mean() > 2 * 0.05
