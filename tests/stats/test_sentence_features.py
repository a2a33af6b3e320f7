import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.sentence_features import (
    DERIVED,
    SETS,
    FeatureSet,
    SentenceNumbers,
    coverage,
    sentence_features,
)

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/energy_sentences.json").read_text("utf-8"))
AGGREGATES = [v for v in GOLDEN if v["name"].startswith("aggregate_")]
UNITS = st.floats(0, 1)
MAYBE = st.lists(st.one_of(UNITS, st.none()), max_size=12)


def _row(found: list[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if e is None else e for e in found], np.float64)


def _number(given_number: object) -> float:
    return float(Fraction(str(given_number)))


@pytest.mark.parametrize("vector", AGGREGATES, ids=lambda v: v["name"])
def test_aggregates_are_those_of_the_vectors(vector: dict[str, Any]) -> None:
    energies = [None if e is None else _number(e) for e in vector["input"]["sentence_energies"]]
    cut = _number(vector["input"]["above"])
    found = sentence_features(SentenceNumbers(_row(energies)), energy_cut=cut)
    counts = {"n_measured": found.n_measured, "n_sentences": found.n_sentences}
    got: dict[str, Any] = {**found.values, **counts, "frac_above_bounds": found.frac_above_bounds}
    for name, wanted in vector["expected"].items():
        if isinstance(wanted, list):
            assert got[name] == pytest.approx([_number(w) for w in wanted], abs=1e-12)
        else:
            assert got[name] == pytest.approx(_number(wanted), abs=1e-12), name


def test_there_are_vectors() -> None:
    assert len(AGGREGATES) == 2


def test_sets_have_the_published_sizes() -> None:
    sizes = {name: len(features) for name, features in SETS.items()}
    assert sizes == {
        "geometry": 13,
        "entailment": 4,
        "structural": 2,
        "published": 19,
        "independent": 16,
    }
    assert not DERIVED & set(SETS["independent"])
    assert set(SETS["published"]) - set(SETS["independent"]) == DERIVED
    assert all(len(set(features)) == len(features) for features in SETS.values())


@pytest.mark.parametrize("chosen", SETS)
def test_every_set_can_be_selected_and_nothing_is_filled(chosen: FeatureSet) -> None:
    found = sentence_features(SentenceNumbers(np.empty(0)), energy_cut=0.5)
    assert len(found.select(chosen)) == len(SETS[chosen])
    assert {v for k, v in found.values.items() if not k.endswith(("_count", "unstable"))} == {None}
    assert found.values["sentence_count"] == 0
    assert found.values["high_energy_count"] is None
    assert found.frac_above_bounds is None


def test_a_claim_of_which_nothing_was_measured_has_only_bounds() -> None:
    found = sentence_features(SentenceNumbers(_row([None, None])), energy_cut=0.5)
    assert found.values["frac_above"] is None
    assert found.values["mean_energy"] is None
    assert found.frac_above_bounds == (0.0, 1.0)
    assert (found.n_measured, found.n_sentences) == (0, 2)


@given(MAYBE, UNITS)
def test_aggregates_equal_a_plain_count(found: list[float | None], cut: float) -> None:
    got = sentence_features(SentenceNumbers(_row(found)), energy_cut=cut)
    known = sorted(e for e in found if e is not None)
    above = sum(e > cut for e in known)
    assert got.n_measured == len(known)
    if not known:
        assert got.values["max_energy"] is None
        return
    at = 0.9 * (len(known) - 1)
    low, high = known[int(at)], known[min(int(at) + 1, len(known) - 1)]
    assert got.values["p90_energy"] == pytest.approx(low + (at - int(at)) * (high - low), abs=1e-12)
    assert got.values["max_energy"] == known[-1]
    assert got.values["min_energy"] == known[0]
    assert got.values["mean_energy"] == pytest.approx(sum(known) / len(known))
    assert got.values["high_energy_count"] == above
    assert got.values["frac_above"] == above / len(known)
    assert got.frac_above_bounds is not None
    low, high = got.frac_above_bounds
    assert low <= above / len(known) <= high


@given(MAYBE, UNITS, st.randoms(use_true_random=False))
def test_the_order_of_sentences_changes_nothing(
    found: list[float | None], cut: float, chance: Any
) -> None:
    other = list(found)
    chance.shuffle(other)
    a = sentence_features(SentenceNumbers(_row(found)), energy_cut=cut)
    b = sentence_features(SentenceNumbers(_row(other)), energy_cut=cut)
    for name, value in a.values.items():
        assert b.values[name] == pytest.approx(value, abs=1e-12), name
    assert a.frac_above_bounds == b.frac_above_bounds


@given(st.lists(UNITS, min_size=1, max_size=8), UNITS, st.data())
def test_the_bounds_hold_whatever_the_missing_sentences_are(
    truth: list[float], cut: float, data: st.DataObject
) -> None:
    missing = data.draw(st.sets(st.integers(0, len(truth) - 1)))
    seen = [None if i in missing else e for i, e in enumerate(truth)]
    got = sentence_features(SentenceNumbers(_row(seen)), energy_cut=cut)
    assert got.frac_above_bounds is not None
    low, high = got.frac_above_bounds
    assert low <= sum(e > cut for e in truth) / len(truth) <= high


def test_a_cut_is_strict() -> None:
    got = sentence_features(SentenceNumbers(np.array([0.5, 0.5])), energy_cut=0.5)
    assert got.values["frac_above"] == 0.0
    assert coverage(np.array([[0.3, 0.3000001]])).tolist() == [0.5]


def test_coverage_without_passages_or_with_an_unknown_cosine_is_unknown() -> None:
    assert np.isnan(coverage(np.empty((2, 0)))).all()
    assert np.isnan(coverage(np.array([[np.nan, 0.9]]))).all()
    with pytest.raises(ShapeError, match="n_sentences, n_passages"):
        coverage(np.array([0.1]))


def test_margins_come_only_from_sentences_with_two_passages() -> None:
    numbers = SentenceNumbers(
        np.array([0.1, 0.2]), top1=np.array([0.9, 0.7]), margin=np.array([np.nan, 0.4])
    )
    got = sentence_features(numbers, energy_cut=0.5)
    assert got.values["mean_sim_margin"] == got.values["min_sim_margin"] == 0.4
    assert got.values["min_sim_top1"] == 0.7


def test_entailment_is_over_pairs_and_support_over_the_best_passage() -> None:
    table = np.array([[0.9, 0.1], [0.2, 0.3], [np.nan, np.nan]])
    numbers = SentenceNumbers(np.array([0.1, 0.2, 0.3]), entailment=table, contradiction=1 - table)
    values = sentence_features(numbers, energy_cut=0.5).values
    assert values["max_entailment"] == 0.9
    assert values["min_entailment"] == 0.1
    assert values["mean_entailment"] == pytest.approx(1.5 / 4)
    assert values["entailment_gap"] == pytest.approx(0.8)
    assert values["weakest_support"] == 0.3
    assert values["mean_support"] == pytest.approx(0.6)
    assert values["strongest_contradiction"] == pytest.approx(0.9)


def test_a_two_way_entailer_says_nothing_about_contradiction() -> None:
    numbers = SentenceNumbers(np.array([0.1]), entailment=np.array([[0.9]]))
    values = sentence_features(numbers, energy_cut=0.5).values
    assert values["strongest_contradiction"] is None
    assert values["weakest_support"] == 0.9


def test_entailment_without_passages_makes_no_number() -> None:
    numbers = SentenceNumbers(np.array([0.1]), entailment=np.empty((1, 0)))
    values = sentence_features(numbers, energy_cut=0.5).values
    assert values["weakest_support"] is None
    assert values["max_entailment"] is None


def test_arrays_that_do_not_fit_or_are_infinite_are_refused() -> None:
    energy = np.array([0.1, 0.2])
    with pytest.raises(ShapeError, match=r"top1 has shape \(1,\)"):
        sentence_features(SentenceNumbers(energy, top1=np.array([0.1])), energy_cut=0.5)
    with pytest.raises(ShapeError, match="one row a sentence"):
        sentence_features(SentenceNumbers(energy, entailment=energy), energy_cut=0.5)
    with pytest.raises(InputError, match="infinite"):
        sentence_features(SentenceNumbers(np.array([np.inf])), energy_cut=0.5)
    with pytest.raises(InputError, match="energy_cut is nan"):
        sentence_features(SentenceNumbers(energy), energy_cut=float("nan"))
