"""The promise, simulated, and the study that must not find what is not there."""

import json
import time
from fractions import Fraction

import numpy as np
import pytest

from trueness.decide.gate import Gate
from trueness.stats.acceptance import exact_rank, guarantee
from trueness.stats.mcnemar import mcnemar
from trueness.study.calibration_proof import WORLDS, Proof, calibration_proof


def check(proof: Proof) -> None:
    assert proof.passed, [row for row in proof.rows if not row.shown]
    failing = {row.rule for row in proof.rows if row.must == "fail"}
    assert failing == {"percentile", "at or below", "pooled items"}
    refused = [row for row in proof.rows if row.must == "refuse"]
    assert all((1 - row.budget) ** row.n > row.delta for row in refused)
    assert all((1 - r.budget) ** r.n <= r.delta for r in proof.rows if r.k and r.rule == "exact")
    json.dumps(proof.to_dict(), allow_nan=False)


def test_a_short_proof_holds_where_it_must_and_fails_where_it_must() -> None:
    check(calibration_proof(calibrations=400, sizes=(59, 100), seed=2))


@pytest.mark.slow
def test_the_whole_proof_passes_in_less_than_two_minutes() -> None:
    start = time.monotonic()
    proof = calibration_proof()
    assert time.monotonic() - start < 120
    check(proof)
    cells = {(r.n, r.budget, r.delta): r for r in proof.rows if r.values == "uniform"}
    row = cells[1000, Fraction(1, 100), Fraction(1, 20)]
    assert row.guarantee == pytest.approx(0.9713, abs=5e-5)


def test_the_same_seed_gives_the_same_rows() -> None:
    one = calibration_proof(calibrations=30, sizes=(59,), seed=5)
    assert one.to_dict() == calibration_proof(calibrations=30, sizes=(59,), seed=5).to_dict()


@pytest.mark.parametrize("world", WORLDS, ids=[w.name for w in WORLDS])
def test_what_lies_below_is_what_is_drawn_below(world: object) -> None:
    made = next(w for w in WORLDS if w is world)
    drawn = made.draw(np.random.default_rng(0), (1, 200_000))[0]
    for tau in (*np.quantile(drawn, [0.05, 0.5, 0.9]), 0.0, 1.0):
        at = np.array([tau])
        assert made.below(at)[0] == pytest.approx((drawn < tau).mean(), abs=0.006)
        assert made.at_or_below(at)[0] == pytest.approx((drawn <= tau).mean(), abs=0.006)


def test_the_gate_itself_keeps_its_budget_in_as_many_calibrations_as_it_guarantees() -> None:
    rng = np.random.default_rng(11)
    kept = []
    for _ in range(1500):
        gate = Gate(budget=0.05).fit(rng.random(100), np.ones(100, dtype=np.bool_))
        kept.append(gate.threshold_ <= 0.05)
    promised = guarantee(
        100, exact_rank(100, Fraction(1, 20), delta=Fraction(1, 20)), Fraction(1, 20)
    )
    assert abs(np.mean(kept) - promised) < 4 * (promised * (1 - promised) / 1500) ** 0.5


def test_a_study_with_permuted_labels_finds_no_more_than_chance() -> None:
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        risks = np.concatenate([rng.normal(0, 1, 60), rng.normal(2, 1, 60)])
        twins = rng.permutation(risks).reshape(60, 2)  # the labels mean nothing any more
        wins = int((twins[:, 0] > twins[:, 1]).sum())
        found += mcnemar(60 - wins, wins).p_exact <= Fraction(1, 20)
    assert found <= 3  # P(Bin(20, 0.05) > 3) is below 0.02
