import json
from pathlib import Path

import pytest

from trueness.contract.errors import InputError
from trueness.stats.planning import (
    ASSUMED_SDS,
    auroc_half_width_size,
    auroc_test_size,
    ceiling_width_size,
    difference_size,
    equivalence_power,
    equivalence_size,
)

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "orbits.json").read_text())
COMPARED = json.loads((Path(__file__).parents[1] / "golden" / "atlas_comparison.json").read_text())
PLANS = {v["input"]["what"]: v for v in GOLDEN if v["kind"] == "plan"}


def test_golden_plans() -> None:
    assert len(PLANS) == 3
    test = PLANS["auroc_test"]
    keys = ("alpha", "power", "wrong_share")
    found = auroc_test_size(test["input"]["auroc"], **{k: test["input"][k] for k in keys})
    assert found == test["expected"]["n_total"]
    width = PLANS["auroc_half_width"]
    found = auroc_half_width_size(width["input"]["auroc"], half_width=width["input"]["half_width"])
    assert found == width["expected"]["n_per_class"]
    ceiling = PLANS["accuracy_ceiling"]
    found = ceiling_width_size(ceiling["input"]["width"], delta=ceiling["input"]["delta"])
    assert found == ceiling["expected"]["n_slots"]


def test_impossible_plans_are_refused() -> None:
    with pytest.raises(InputError, match="one half"):
        auroc_test_size(0.5)
    with pytest.raises(InputError, match="above 0 and below 1"):
        auroc_half_width_size(0.7, half_width=0)
    with pytest.raises(InputError, match="above 0 and below 1"):
        ceiling_width_size(0.1, delta=1)


def test_golden_sizes_of_paired_comparisons() -> None:
    sizes = {"plan_difference": difference_size, "plan_equivalence": equivalence_size}
    seen = 0
    for vector in COMPARED:
        if vector["kind"] in sizes:
            options = dict(vector["input"])
            options.pop("true_difference", None)
            size = options.pop("effect", None) or options.pop("margin")
            assert sizes[vector["kind"]](size, **options) == vector["expected"]["items"]
            seen += 1
    assert seen == 6


def test_a_size_has_its_power_and_one_fewer_has_not() -> None:
    for margin in (0.03, 0.05, 0.1, 0.5):
        items = equivalence_size(margin)
        assert equivalence_power(items, margin) >= 0.8 > equivalence_power(items - 1, margin)
    assert equivalence_power(25, 0.05) == 0
    assert ASSUMED_SDS[0][1] == 0.35


def test_impossible_comparisons_are_refused() -> None:
    for wrong in ({"sd": 0.0}, {"power": 1.0}, {"alpha": 0.0}):
        with pytest.raises(InputError, match="above 0"):
            difference_size(0.1, **wrong)
        with pytest.raises(InputError, match="above 0"):
            equivalence_size(0.1, **wrong)
