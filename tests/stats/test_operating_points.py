"""Coverage, partial areas, separations and twins against plain counting."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.auroc import rank_wrong_above_right
from trueness.stats.logistic import fit_ridge_logistic, ridge_logistic_of
from trueness.stats.multiplicity import holm
from trueness.stats.operating_points import (
    coverage_at,
    paired_accuracy,
    partial_area,
    separation,
)

GOLDEN = {
    v["name"]: v
    for v in json.loads((Path(__file__).parents[1] / "golden" / "gate.json").read_text())
}
RISKS = st.lists(st.integers(0, 8).map(float), min_size=1, max_size=9)


def vector(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    return GOLDEN[name]["input"], GOLDEN[name]["expected"]


@pytest.mark.parametrize("name", ["coverage_at_far_0_1", "coverage_at_far_1_10"])
def test_golden_coverages(name: str) -> None:
    asked, wanted = vector(name)
    found = coverage_at(asked["supported"], asked["unsupported"], far=Fraction(asked["far"]))
    assert found.coverage == Fraction(wanted["coverage"])
    assert found.threshold == wanted["threshold"]


def test_golden_partial_area() -> None:
    asked, wanted = vector("partial_auroc_far_0_2")
    found = partial_area(asked["supported"], asked["unsupported"], max_far=asked["max_far"])
    assert found is not None
    assert found.area == pytest.approx(wanted["area"], abs=1e-12)
    assert found.normalised == pytest.approx(wanted["normalised"], abs=1e-12)
    assert found.mcclish == pytest.approx(wanted["mcclish"], abs=1e-12)


def test_golden_separations() -> None:
    asked, wanted = vector("d_prime_both")
    found = separation(asked["supported"], asked["unsupported"])
    assert found.supported_sd == pytest.approx(wanted["separation_supported_sd"], abs=1e-12)
    assert found.d_prime == pytest.approx(wanted["d_prime"], abs=1e-12)


def test_golden_twins() -> None:
    asked, wanted = vector("paired_accuracy")
    pairs = asked["pairs"]
    found = paired_accuracy([p["wrong"] for p in pairs], [p["right"] for p in pairs])
    assert found.accuracy == Fraction(wanted["paired_accuracy"])
    counts = (wanted["wins"], wanted["losses"], wanted["ties"])
    assert (found.wins, found.losses, found.ties) == counts
    assert found.p_two_sided == Fraction(wanted["sign_test_two_sided"])


def test_golden_area_under_the_curve_and_correction() -> None:
    asked, wanted = vector("auroc_with_ties")
    found = rank_wrong_above_right(asked["unsupported"], asked["supported"])
    assert found.auroc == Fraction(wanted["auroc"])
    asked, wanted = vector("auroc_one_class")
    one = rank_wrong_above_right(asked["unsupported"], asked["supported"])
    assert (one.auroc, one.state) == (wanted["auroc"], wanted["state"])
    asked, wanted = vector("holm")
    adjusted = holm([Fraction(p) for p in asked["p"]])
    assert [str(p) for p in adjusted] == wanted["adjusted"]


def test_the_published_separation_is_in_population_deviations_of_the_supported() -> None:
    asked, wanted = vector("published_sd_implied")
    spread = (asked["mean_unsupported"] - asked["mean_supported"]) / asked["separation"]
    assert spread == pytest.approx(wanted["supported_sd"], abs=1e-12)
    low, high = asked["mean_supported"] - spread, asked["mean_supported"] + spread
    found = separation([low, high], [asked["mean_unsupported"]])
    assert found.supported_sd == pytest.approx(asked["separation"], abs=1e-9)


@given(RISKS, RISKS, st.fractions(0, 1, max_denominator=10))
def test_coverage_is_that_of_trying_every_threshold(
    right: list[float], wrong: list[float], far: Fraction
) -> None:
    found = coverage_at(right, wrong, far=far)
    tried = [
        Fraction(sum(r < t for r in right), len(right))
        for t in [*right, *wrong, 99.0]
        if Fraction(sum(w < t for w in wrong), len(wrong)) <= far
    ]
    assert found.coverage == max(tried, default=Fraction(0))


@given(RISKS, RISKS)
def test_the_whole_partial_area_is_the_area_under_the_curve(
    right: list[float], wrong: list[float]
) -> None:
    whole = partial_area(right, wrong, max_far=1.0)
    ranked = rank_wrong_above_right(wrong, right, rng=np.random.default_rng(0), min_class=1)
    assert whole is not None
    assert ranked.auroc is not None
    assert whole.area == pytest.approx(float(ranked.auroc), abs=1e-12)


def test_a_class_that_is_missing_or_constant_gives_none() -> None:
    assert partial_area([], [1.0], max_far=0.05) is None
    assert separation([1.0, 1.0], [2.0, 2.0]).supported_sd is None
    assert separation([1.0], [2.0]).d_prime is None
    assert coverage_at([], [1.0], far=Fraction(0)).coverage is None
    assert paired_accuracy([], []).accuracy is None


def test_risks_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(InputError, match="not finite"):
        separation([float("nan")], [1.0])
    with pytest.raises(ShapeError, match="one of each"):
        paired_accuracy([1.0], [])
    with pytest.raises(InputError, match="max_far"):
        partial_area([1.0], [2.0], max_far=0.0)


# the ridge logistic score


def test_a_ridge_score_is_where_its_gradient_vanishes() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(80, 3)) * [1, 10, 0.1] + [0, 5, -2]
    y = rng.random(80) < 1 / (1 + np.exp(-x[:, 0]))
    score = fit_ridge_logistic(x, y, ridge=2.0, names=["a", "b", "c"])
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    error = score.predict_proba(x)[:, 1] - y
    assert np.abs(z.T @ error + 2.0 * score.coefficients).max() < 1e-4
    assert abs(error.sum()) < 1e-4


def test_a_saved_score_scores_the_same_and_a_column_that_never_varies_is_harmless() -> None:
    rng = np.random.default_rng(4)
    x = np.column_stack([rng.normal(size=40), np.full(40, 7.0)])
    score = fit_ridge_logistic(x, x[:, 0] > 0.2)
    again = ridge_logistic_of(json.loads(json.dumps(score.to_json())))
    assert (again.predict_proba(x) == score.predict_proba(x)).all()
    assert np.isfinite(score.predict_proba(x)).all()


@pytest.mark.parametrize(
    "change", [{"schema": "other"}, {"means": [1.0]}, {"scales": [0.0]}, {"intercept": "x"}]
)
def test_a_score_that_was_changed_is_refused(change: dict[str, Any]) -> None:
    score = fit_ridge_logistic([[0.0], [1.0]], [False, True])
    data = score.to_json() | change
    if "means" in change:
        data["coefficients"] = [1.0, 2.0]
    with pytest.raises(InputError):
        ridge_logistic_of(data)


def test_a_score_needs_both_classes_and_finite_columns() -> None:
    with pytest.raises(InputError, match="both classes"):
        fit_ridge_logistic([[0.0], [1.0]], [True, True])
    with pytest.raises(InputError, match="finite"):
        fit_ridge_logistic([[0.0], [np.inf]], [True, False])
    with pytest.raises(ShapeError, match="columns"):
        fit_ridge_logistic([[0.0], [1.0]], [False, True]).predict_proba([[1.0, 2.0]])
