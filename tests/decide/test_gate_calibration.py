"""From labelled items to thresholds: units, populations, budgets, evaluation, labels."""

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueness.contract import Direction, ItemReading, Reading, State
from trueness.contract.blocks import Statement
from trueness.contract.errors import (
    AmbiguousLabels,
    CannotSerialise,
    DependentItems,
    FingerprintMismatch,
    InputError,
    InvalidReading,
    PolicyError,
    ShapeError,
    TooFewCalibrationItems,
)
from trueness.decide.calibrating import calibrate
from trueness.decide.columns import Columns, columns_of_values
from trueness.decide.evaluation import BROKEN
from trueness.decide.gate import Gate
from trueness.decide.grids import quantile_grid
from trueness.decide.labels import unsupported_codes
from trueness.decide.promise import Promise, promise_of, share_json
from trueness.decide.stored import GateFile, compare_fingerprints, gate_of
from trueness.stats.acceptance import exact_rank
from trueness.stats.logistic import fit_ridge_logistic

RISKS = st.lists(st.floats(-100, 100), min_size=8, max_size=40)
HALF: dict[str, Any] = {"budget": "1/2", "level": "9/10"}


def reading(values: list[float | None], **changes: Any) -> Reading:
    items = [
        ItemReading(f"i{n}", State.NO_EVIDENCE, "nothing", extra={"group": f"g{n}"})
        if value is None
        else ItemReading(f"i{n}", State.MEASURED, value=value, extra={"group": f"g{n}"})
        for n, value in enumerate(values)
    ]
    given_: dict[str, Any] = {
        "sensor": "tea.leaves",
        "direction": Direction.HIGHER_IS_WORSE,
        "state": State.MEASURED,
        "reason": None,
        "value": 0.5,
        "n_measured": sum(v is not None for v in values),
        "n_items": len(items),
        "blocks": (Statement("made up"),),
        "per_item": items,
        "fingerprint": "f00d",
        "versions": {"tea": "1"},
        **changes,
    }
    return Reading(**given_)


def tau_of(values: Any, **asked: Any) -> float:
    return Gate(**{**HALF, **asked}).fit(values, [True] * len(values)).threshold_


@given(RISKS, st.integers(0, 9))
def test_a_threshold_does_not_depend_on_the_rows_order(risks: list[float], seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(risks))
    assert tau_of(risks) == tau_of([risks[i] for i in order])


@given(st.lists(st.integers(-50, 50), min_size=8, max_size=40))
def test_a_threshold_follows_an_increasing_map_and_mirrors_a_turned_direction(
    risks: list[int],
) -> None:
    assert tau_of([r**3 for r in risks]) == tau_of(risks) ** 3
    assert tau_of([-r for r in risks], direction="higher_is_better") == -tau_of(risks)


@given(RISKS)
def test_no_more_than_the_rank_less_one_of_the_calibration_items_are_accepted(
    risks: list[float],
) -> None:
    k = exact_rank(len(risks), Fraction(1, 2), delta=Fraction(1, 10))
    gate = Gate(**HALF).fit(risks, [True] * len(risks))
    assert (gate.predict(risks) == "accept").sum() <= k - 1


def test_where_lower_is_worse_high_values_are_accepted() -> None:
    gate = Gate(direction="higher_is_better", **HALF).fit(np.arange(10), [True] * 10)
    assert gate.threshold_ == 7
    assert gate.fitted.calibration.tau == -7
    assert gate.predict([7, 7.5]).tolist() == ["review", "accept"]


def test_budgets_and_levels_are_the_decimals_they_print_as() -> None:
    assert promise_of(budget=0.29, level=0.9).delta == Fraction(1, 10)
    conformal = Gate(0.29, method="conformal").fit(np.arange(99), [True] * 99)
    threshold = conformal.fitted.calibration.threshold
    assert threshold is not None
    assert threshold.k == 29
    assert (threshold.guarantee, threshold.expected) == (None, 0.29)
    assert share_json(Fraction("0.29")) == 0.29


def test_a_promise_in_expectation_is_never_shown_with_a_level() -> None:
    gate = Gate(0.1, method="conformal").fit(np.arange(30), [True] * 30)
    calibration = gate.fitted.calibration
    assert "On average over calibrations" in calibration.sentence()
    assert "0.95" not in calibration.sentence()
    assert calibration.to_dict()["holds"] == "in_expectation"


def test_trying_several_budgets_divides_delta_by_their_number() -> None:
    one = Gate(0.05).fit(np.arange(250), [True] * 250).fitted.calibration
    many = Gate(0.05, budgets_tried=5).fit(np.arange(250), [True] * 250).fitted.calibration
    assert many.promise.delta == Fraction(1, 100)
    assert many.tau < one.tau
    assert many.to_dict()["promise"]["budgets_tried"] == 5  # type: ignore[index, call-overload] # plain JSON


# populations


def test_unmeasured_negatives_are_left_out_or_rank_last_and_are_counted_either_way() -> None:
    values = [3.0, 1.0, 4.0, None, 5.0, 9.0, 2.0, None, 5.0, 8.0, 6.0, 7.0]
    measured = Gate(**HALF).fit(values, [True] * 12).fitted.calibration
    everyone = Gate(population="all", **HALF).fit(values, [True] * 12).fitted.calibration
    assert measured.threshold is not None
    assert everyone.threshold is not None
    assert (measured.threshold.n, everyone.threshold.n) == (10, 12)
    assert measured.counts["n_unsupported_unmeasured"] == 2
    assert everyone.counts["n_unsupported_unmeasured"] == 2
    assert "measured items" in measured.promise.who
    assert "all items" in everyone.promise.who


def test_a_rank_among_the_unmeasured_gives_the_largest_measured_risk() -> None:
    values = [1.0, 2.0, *[None] * 20]
    gate = Gate("1/2", "9/10", population="all").fit(values, [True] * 22)
    assert gate.threshold_ == 2.0
    assert gate.predict([2.0, 1.5, None]).tolist() == ["review", "accept", "review"]
    stored = json.loads(json.dumps(gate.fitted.to_dict(), allow_nan=False))
    assert gate_of(stored).calibration.rederived() == (2.0, None)


@pytest.mark.parametrize("population", ["measured", "all"])
def test_no_measured_negative_is_too_few(population: str) -> None:
    with pytest.raises(TooFewCalibrationItems) as raised:
        Gate(population=population).fit([None] * 80, [True] * 80)
    assert raised.value.n == 0
    with pytest.raises(TooFewCalibrationItems):
        Gate(population=population).fit(np.arange(80), [False] * 80)


# sources


def of_sources(seed: int, sizes: list[int]) -> tuple[NDArray[np.float64], list[str]]:
    rng = np.random.default_rng(seed)
    names = [f"s{i}" for i, size in enumerate(sizes) for _ in range(size)]
    return rng.random(len(names)), names


def test_twins_are_dependent_and_one_of_each_gives_the_threshold_of_the_negatives() -> None:
    risks = np.arange(200) / 200
    labels = [i % 2 == 0 for i in range(200)]
    names = [f"s{i // 2}" for i in range(200)]
    with pytest.raises(DependentItems, match=r"100 sources .* 'source_one' \(for twins the same"):
        Gate().fit(risks, labels, names)
    one = Gate(unit="source_one").fit(risks, labels, names)
    assert one.threshold_ == Gate().fit(risks, labels).threshold_


def test_the_worst_of_a_source_is_stricter_than_one_of_it() -> None:
    values, names = of_sources(1, [5] * 100)
    labels = [True] * 500
    taus = {
        unit: Gate(unit=unit).fit(values, labels, names).threshold_
        for unit in ("source_one", "source_worst", "grouped_conformal")
    }
    assert taus["source_worst"] < taus["source_one"]
    assert taus["source_worst"] < taus["grouped_conformal"]
    shuffled = np.random.default_rng(2).permutation(500)
    for unit, tau in taus.items():
        again = Gate(unit=unit).fit(values[shuffled], labels, [names[i] for i in shuffled])
        assert again.threshold_ == tau


def test_grouped_conformal_is_in_expectation_whatever_method_was_asked() -> None:
    values, names = of_sources(1, [3] * 40)
    gate = Gate(unit="grouped_conformal").fit(values, [True] * 120, names)
    assert gate.fitted.calibration.promise.in_expectation
    assert gate_of(json.loads(json.dumps(gate.fitted.to_dict()))).calibration.rederived() == (
        gate.fitted.calibration.tau,
        None,
    )


def test_a_source_unit_without_sources_is_refused_and_items_without_sources_are_assumed() -> None:
    with pytest.raises(DependentItems, match="needs the source of every item"):
        Gate(unit="source_one").fit(np.arange(80), [True] * 80)
    plain = Gate().fit(np.arange(80), [True] * 80).fitted.calibration
    assert plain.independence == "assumed"
    assert plain.evaluation["how"] == "not evaluated"
    with pytest.raises(InputError, match="have no source"):
        Gate().fit(np.arange(80), [True] * 80, ["a", *[""] * 79])


# rejecting


@given(st.lists(st.integers(0, 6), min_size=10, max_size=40))
@settings(max_examples=60)
def test_an_atom_of_the_supported_is_never_rejected_beyond_the_rank(supported: list[int]) -> None:
    gate = Gate("1/2", "9/10", reject_budget="1/2")
    gate.fit([*supported, *range(-30, 0)], [False] * len(supported) + [True] * 30)
    rho = gate.fitted.calibration.rho
    assert rho is not None
    k = exact_rank(len(supported), Fraction(1, 2), delta=Fraction(1, 10))
    assert sum(s >= rho for s in supported) <= k - 1


def test_rho_below_tau_becomes_tau_and_both_promises_are_said_at_the_joint_level() -> None:
    values = [*np.linspace(5, 6, 80), *np.linspace(0, 1, 80)]
    gate = Gate("1/10", reject_budget="1/10").fit(values, [True] * 80 + [False] * 80)
    calibration = gate.fitted.calibration
    assert calibration.rho == calibration.tau
    assert any("rejects less and accepts the same" in note for note in calibration.notes)
    assert any("together at 0.9" in note for note in calibration.notes)
    assert gate.fitted.faults() == ()
    assert gate.predict([4.0, 6.0]).tolist() == ["accept", "reject"]


def test_too_few_supported_items_to_reject_any_is_the_same_error() -> None:
    with pytest.raises(TooFewCalibrationItems, match="supported items"):
        Gate(reject_budget=0.05).fit(np.arange(90), [True] * 80 + [False] * 10)


def test_a_band_cannot_promise_a_reject_budget() -> None:
    policy: dict[str, Any] = {"kind": "band", "gap": 0.1}
    with pytest.raises(PolicyError, match="no reject_budget covers"):
        Gate("1/2", reject_budget="1/2", policy=policy).fit(
            np.arange(1, 41), [True] * 20 + [False] * 20
        )


def test_the_worst_of_a_source_is_its_greatest_risk_where_supported_are_rejected() -> None:
    values, names = of_sources(3, [4] * 90)
    labels = [i % 4 < 2 for i in range(360)]
    gate = Gate(0.1, reject_budget=0.1, unit="source_worst").fit(values, labels, names)
    side = gate.fitted.calibration.supported
    assert side is not None
    greatest = [
        max(values[i] for i in range(360) if i // 4 == s and not labels[i]) for s in range(90)
    ]
    assert sorted((-side.risks).tolist()) == sorted(greatest)


# the error of what is accepted


def mixed(seed: int, n: int) -> tuple[NDArray[np.float64], list[bool]]:
    rng = np.random.default_rng(seed)
    risks = rng.random(n)
    return risks, (rng.random(n) < risks**3).tolist()


def test_accepted_error_takes_the_laxest_point_before_the_first_failure() -> None:
    risks, wrong = mixed(0, 2000)
    grid = [0.1, 0.2, 0.3, 0.4, 0.6, 0.9]
    gate = Gate(0.05, error="accepted_error", grid=grid).fit(risks, wrong)
    tested = gate.fitted.calibration.grid
    assert tested is not None
    sequence = tested.tested(gate.fitted.calibration.promise)
    assert sequence.index is not None
    assert gate.threshold_ == grid[sequence.index]
    accepted = risks < gate.threshold_
    assert np.array(wrong)[accepted].mean() <= 0.05
    assert "the accepted are unsupported" in gate.fitted.calibration.sentence()
    stored = gate_of(json.loads(json.dumps(gate.fitted.to_dict(), allow_nan=False)))
    assert stored.checked().calibration.tau == gate.threshold_


def test_a_grid_that_begins_where_too_few_are_accepted_says_why() -> None:
    risks, wrong = mixed(0, 2000)
    with pytest.raises(TooFewCalibrationItems, match="the grid begins where too few"):
        Gate(0.05, error="accepted_error", grid=[0.001, 0.3]).fit(risks, wrong)
    with pytest.raises(InputError, match="no threshold of the grid keeps"):
        Gate(0.05, error="accepted_error", grid=[0.9]).fit(risks, wrong)
    with pytest.raises(InputError, match="fixed beforehand"):
        Gate(0.05, error="accepted_error").fit(risks, wrong)
    with pytest.raises(InputError, match="finite thresholds"):
        Gate(0.05, error="accepted_error", grid=[math.inf]).fit(risks, wrong)
    with pytest.raises(InputError, match="a source as a whole has no label"):
        Gate(0.05, error="accepted_error", unit="source_worst", grid=[0.3]).fit(risks, wrong)
    with pytest.raises(InputError, match="Use method 'exact'"):
        Gate(0.05, error="accepted_error", method="conformal", grid=[0.3]).fit(risks, wrong)


def test_a_grid_of_quantiles_comes_from_another_split_in_either_direction() -> None:
    risks, wrong = mixed(1, 3000)
    grid = quantile_grid(risks[:1000])
    plain = Gate(0.05, error="accepted_error", grid=grid[5:]).fit(risks[1000:], wrong[1000:])
    turned = Gate(
        0.05,
        error="accepted_error",
        grid=[-t for t in grid[5:]],
        direction="higher_is_better",
    ).fit(-risks[1000:], wrong[1000:])
    assert turned.threshold_ == -plain.threshold_
    names = [f"s{i // 2}" for i in range(2000)]
    one = Gate(0.05, error="accepted_error", unit="source_one", grid=grid[10:])
    fitted = one.fit(risks[1000:], wrong[1000:], names).fitted.calibration
    assert fitted.grid is not None
    assert len(fitted.grid.risks) == 1000
    with pytest.raises(InputError):
        quantile_grid(np.array([np.nan]))


# what is printed beside a threshold


def separated(seed: int, n: int) -> tuple[NDArray[np.float64], list[bool], list[str]]:
    rng = np.random.default_rng(seed)
    labels = [i % 2 == 0 for i in range(n)]
    risks = rng.normal(size=n) + 3 * np.array(labels)
    return risks, labels, [f"s{i}" for i in range(n)]


def evaluation_of(gate: Gate) -> dict[str, Any]:
    return json.loads(json.dumps(gate.fitted.calibration.to_dict()))["evaluation"]  # type: ignore[no-any-return] # plain JSON


def test_five_source_folds_are_cross_fitted_with_supported_coverage_first() -> None:
    gate = Gate().fit(*separated(0, 600))
    seen = evaluation_of(gate)
    assert seen["how"].startswith("cross-fitted, 5 folds disjoint by source")
    assert seen["supported_coverage"]["of"] == 300
    assert seen["supported_coverage"]["share"] > 0.7
    assert seen["unsupported"]["accepted"]["low"] <= 0.05
    assert seen["broken"] is False
    shares = [seen["supported"][v]["share"] for v in ("accepted", "reviewed", "rejected")]
    assert sum(shares) == pytest.approx(1)
    assert seen["reviewed_per_accepted"] > 0


def test_too_few_for_folds_is_not_evaluated_and_says_so() -> None:
    risks, labels, names = separated(0, 130)
    seen = evaluation_of(Gate().fit(risks, labels, names))
    assert seen["how"] == "not evaluated"
    assert "four fifths" in seen["why"]
    few = Gate("1/2", "9/10").fit(np.arange(4), [True] * 4, list("abcd"))
    assert "fewer than 5 folds" in evaluation_of(few)["why"]


def split(seed: int, n: int, lead: str, shift: float = 0.0) -> tuple[Any, Any, Any]:
    risks, labels, names = separated(seed, n)
    return risks - shift, labels, [lead + name for name in names]


def held(promise: Promise, one: tuple[Any, Any, Any], two: tuple[Any, Any, Any]) -> dict[str, Any]:
    made = calibrate(one[0], one[1], promise, groups=one[2], evaluation=two)
    return json.loads(json.dumps(made.to_dict()))["calibration"]["evaluation"]  # type: ignore[no-any-return] # plain JSON


def test_a_split_that_shares_a_source_is_refused_and_drift_breaks_the_promise_in_words() -> None:
    promise = promise_of()
    one = split(1, 400, "a")
    fine = held(promise, one, split(2, 400, "b"))
    assert fine["how"] == "held out, disjoint by source"
    assert fine["broken"] is False
    drifted = held(promise, one, split(2, 400, "b", shift=3))
    assert drifted["broken"] is True
    assert drifted["says"] == BROKEN
    with pytest.raises(DependentItems, match="400 sources stand in both"):
        held(promise, one, split(3, 400, "a"))
    with pytest.raises(DependentItems, match="one of calibration and evaluation"):
        held(promise, one, (*split(3, 400, "b")[:2], None))


@pytest.mark.parametrize("unit", ["source_one", "source_worst", "grouped_conformal"])
def test_trials_are_sources_where_items_share_them(unit: str) -> None:
    rng = np.random.default_rng(5)
    labels = [i % 2 == 0 for i in range(1200)]
    risks = rng.normal(size=1200) + 3 * np.array(labels)
    names = [f"s{i // 6}" for i in range(1200)]
    seen = evaluation_of(Gate(unit=unit).fit(risks, labels, names))
    assert seen["unsupported"]["accepted"]["of"] == 200
    assert seen["supported"]["accepted"]["of"] == 200


def test_supported_coverage_of_the_worst_of_a_source_is_of_items_and_not_of_any_item() -> None:
    rng = np.random.default_rng(5)
    labels = [i % 8 == 0 for i in range(3200)]
    risks = np.where(labels, 5.0, 0.0) + 10 * (rng.random(3200) < 0.5)
    names = [f"s{i // 8}" for i in range(3200)]
    seen = evaluation_of(Gate(unit="source_worst").fit(risks, labels, names))
    assert 0.4 < seen["supported_coverage"]["share"] < 0.6  # any of seven would be nearly all


def test_a_reject_threshold_that_was_given_says_that_it_promises_nothing() -> None:
    policy: dict[str, Any] = {"kind": "value_only", "reject": 100.0}
    gate = Gate(policy=policy, **HALF).fit(np.arange(10), [True] * 10)
    assert any("carries no promise" in note for note in gate.fitted.notes())
    assert gate.predict([99.0, 100.0]).tolist() == ["review", "reject"]


def test_the_error_of_what_is_accepted_is_observed_among_the_accepted() -> None:
    risks, wrong = mixed(3, 3000)
    names = [f"s{i}" for i in range(3000)]
    gate = Gate(0.05, error="accepted_error", grid=[0.2, 0.3, 0.4]).fit(risks, wrong, names)
    seen = evaluation_of(gate)
    accepted = sum(seen[c]["accepted"]["count"] for c in ("supported", "unsupported"))
    assert seen["observed_error"]["of"] == accepted


# readings, labels, mappings


def test_labels_and_sources_may_be_keyed_on_item_and_the_readings_own_sources_are_used() -> None:
    values = [float(v) for v in range(70)]
    labels = {f"i{n}": "unsupported" for n in range(65)}
    seen = reading([*values, None])
    gate = Gate().fit(seen, labels)
    counts = gate.fitted.calibration.counts
    assert (counts["n_labelled"], counts["n_sources"]) == (65, 71)
    assert gate.fitted.sensor == "tea.leaves"
    assert gate.fitted.calibration.versions == {"tea": "1"}
    assert gate.predict(seen)[-1] == "review"
    with pytest.raises(InputError, match="name no item, such as 'j0'"):
        Gate().fit(seen, {"j0": "supported"})
    groups = {f"i{n}": f"h{n}" for n in range(71)}
    assert Gate().fit(seen, labels, groups).threshold_ == gate.threshold_


def test_bare_values_are_refused_by_a_gate_that_was_fitted_on_a_reading() -> None:
    gate = Gate("1/2", "9/10").fit(reading([float(v) for v in range(10)]), [True] * 10)
    with pytest.raises(FingerprintMismatch, match="bare values"):
        gate.predict([1.0])
    other = reading([1.0], fingerprint="beef")
    with pytest.raises(FingerprintMismatch, match="fingerprint"):
        gate.decide(other)
    turned = reading([1.0], direction=Direction.HIGHER_IS_BETTER)
    with pytest.raises(FingerprintMismatch, match="direction"):
        gate.decide(turned)


def test_a_reading_cut_to_its_first_items_cannot_be_gated() -> None:
    whole = reading([1.0] * 12_000)
    cut = Reading.from_dict(json.loads(whole.to_json()))
    with pytest.raises(PolicyError, match="max_items=None"):
        Gate().fit(cut, [True] * 12_000)


@pytest.mark.parametrize(
    ("labels", "error"),
    [
        ([0, 1], AmbiguousLabels),
        (np.array([0, 1]), AmbiguousLabels),
        ([0.0, 1.0], AmbiguousLabels),
        ([True, "supported"], AmbiguousLabels),
        (["true", "false"], InputError),
        ([2, 1], InputError),
        ("supported", InputError),
        (["Supported", "unsupported"], InputError),
    ],
)
def test_labels_that_may_mean_either_are_refused(labels: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        unsupported_codes(labels)


def test_labels_are_read_one_way_only() -> None:
    assert unsupported_codes([True, np.False_, None]).tolist() == [1, 0, -1]
    assert unsupported_codes(np.array([True, False])).tolist() == [1, 0]
    assert unsupported_codes([1.0, 0, None], positive="supported").tolist() == [0, 1, -1]
    with pytest.raises(InputError, match="positive"):
        unsupported_codes([1], positive="wrong")


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ([1.0, float("nan")], InvalidReading),
        (np.array([1.0, np.inf]), InvalidReading),
        ([1.0, "2"], InputError),
        ([True, 1.0], InputError),
        ("12", InputError),
        (3.0, InputError),
        (np.zeros((2, 2)), ShapeError),
    ],
)
def test_values_that_are_no_values_are_refused(values: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        Gate().fit(values, [True, True])


def test_columns_of_different_lengths_and_infinite_diagnostics_are_refused() -> None:
    with pytest.raises(InputError, match="labels for 3 items"):
        Gate().fit([1, 2, 3], [True])
    with pytest.raises(InputError, match="sources for 3 items"):
        Gate().fit([1, 2, 3], [True] * 3, ["a"])
    state = np.zeros(1, dtype=np.int8)
    one = np.ones(1)
    with pytest.raises(ShapeError):
        Columns(["a", "b"], state, one, Direction.HIGHER_IS_WORSE)
    with pytest.raises(InvalidReading, match="infinite"):
        Columns(["a"], state, one, Direction.HIGHER_IS_WORSE, {"spread": np.array([np.inf])})


@pytest.mark.parametrize(
    "asked",
    [
        {"budget": 0},
        {"budget": 1},
        {"budget": "much"},
        {"level": 0.5},
        {"level": 1},
        {"error": "other"},
        {"method": "percentile"},
        {"unit": "row"},
        {"population": "some"},
        {"budgets_tried": 0},
        {"direction": "sideways"},
        {"direction": "neither"},
    ],
)
def test_a_promise_that_means_nothing_is_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Gate(**asked).fit(np.arange(100), [True] * 100)


# the estimator's shape


def test_parameters_are_got_and_set_by_name_and_a_clone_decides_alike() -> None:
    gate = Gate(0.1, unit="item", seed=3)
    clone = Gate(**gate.get_params())
    assert clone.get_params() == gate.get_params()
    assert gate.set_params(budget=0.2).budget == 0.2
    with pytest.raises(InputError, match="no parameter 'bugdet'"):
        gate.set_params(bugdet=0.1)
    with pytest.raises(InputError, match="no threshold yet"):
        Gate().predict([1.0])


def test_a_saved_gate_with_its_score_predicts_alike_and_nothing_is_stored_as_code(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(400, 2))
    wrong = rows[:, 0] + rng.normal(size=400) > 0
    score = fit_ridge_logistic(rows[:200], wrong[:200])
    gate = Gate(0.1, combined=score).fit(rows[200:], wrong[200:])
    path = tmp_path / "gate.json"
    gate.save(str(path))
    again = Gate.load(str(path))
    assert (again.predict(rows) == gate.predict(rows)).all()
    assert again.get_params()["budget"] == 0.1

    class Opaque:
        def predict_proba(self, x: Any) -> NDArray[np.float64]:
            return score.predict_proba(x)

    opaque = Gate(0.1, combined=Opaque()).fit(rows[200:], wrong[200:])
    with pytest.raises(CannotSerialise, match="Opaque has no to_json"):
        opaque.save(path)


def test_a_score_of_another_shape_is_refused() -> None:
    class One:
        def predict_proba(self, x: Any) -> NDArray[np.float64]:
            return np.zeros((len(x), 1))

    with pytest.raises(InputError, match=r"wanted \(n, 2\)"):
        Gate(combined=One()).fit(np.zeros((3, 2)), [True] * 3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no JSON"),
        ("[]", "schema"),
        ('{"schema": "trueness.gate/1"}', "cannot be read"),
        ('{"schema": NaN}', "NaN"),
    ],
)
def test_a_file_that_is_no_gate_is_one_clear_error(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "gate.json"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        Gate.load(path)
    with pytest.raises(InputError, match="cannot be read"):
        Gate.load(tmp_path / "none")


def test_decisions_of_bare_values_carry_the_population_and_the_independence() -> None:
    gate = Gate(negatives="nearest centroid, K = 1, own source excluded", **HALF)
    decision = gate.fit(np.arange(10), [True] * 10).decide([0.5, 50.0])
    assert "nearest centroid, K = 1" in decision.reason
    assert decision.details["independence"] == "assumed"
    assert decision.verdicts[0].reason == "accepted: risk 0.5 is below 2"
    with pytest.raises(InputError, match="no items to trace"):
        gate.decide([1.0], trace=Path("t"))


def test_a_gate_file_holds_its_evaluation_under_its_hash() -> None:
    made: GateFile = Gate().fit(*separated(0, 600)).fitted
    data = json.loads(json.dumps(made.to_dict()))
    data["calibration"]["evaluation"]["broken"] = True
    assert [kind for kind, _ in gate_of(data).faults()] == ["calibration"]
    columns = columns_of_values([1.0], Direction.HIGHER_IS_WORSE)
    assert len(columns) == 1


def test_a_gate_prints_as_what_it_was_made_with() -> None:
    assert repr(Gate()) == "Gate()"
    assert repr(Gate(0.1, unit="source_one")) == "Gate(budget=0.1, unit='source_one')"


def test_a_refused_reading_is_told_by_its_sensor_first_and_then_by_its_embedder() -> None:
    made: dict[str, Any] = {"cut": 0.3, "embedder": {"id": "a", "width": 3}, "sensor": "one"}
    with pytest.raises(FingerprintMismatch, match=r'with embedder\.id = "a"; this reading has "b"'):
        compare_fingerprints(made, {**made, "cut": 0.5, "embedder": {"id": "b", "width": 9}})
    with pytest.raises(FingerprintMismatch, match=r'with sensor = "one".*3 keys differ') as it:
        compare_fingerprints(made, {"embedder": {"id": "b", "width": 3}, "sensor": "two"})
    assert it.value.differs == ("sensor", "embedder.id", "cut")
