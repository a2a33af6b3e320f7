import json
from pathlib import Path

import pytest

from trueness.contract.errors import InputError
from trueness.stats.planning import auroc_half_width_size, auroc_test_size, ceiling_width_size

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "orbits.json").read_text())
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
