import json
import math
from pathlib import Path

import numpy as np
import pytest

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.witnesses import (
    derangement,
    log_volume_change,
    path_change,
    winding,
    winding_determinant,
)

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "orbits.json").read_text())
THEOREMS = {v["name"].removeprefix("theorem/"): v for v in GOLDEN if v["kind"] == "theorem"}


def test_winding_is_locally_invertible_and_globally_not() -> None:
    vector = THEOREMS["winding-5"]
    x, y = np.array(vector["input"]["x"]), np.array(vector["input"]["y"])
    assert winding_determinant(x) == pytest.approx(vector["expected"]["determinant"], abs=1e-12)
    assert winding(x, y) == pytest.approx(winding(x, y + 2 * math.pi), abs=1e-12)


def test_a_derangement_is_a_bijection_with_every_answer_wrong() -> None:
    answers = derangement(THEOREMS["derangement-7"]["input"]["n"])
    assert len(set(answers.tolist())) == len(answers)  # nothing collides: certificate 0
    assert (answers != np.arange(len(answers))).all()


def test_path_change_is_the_change_of_the_logit() -> None:
    vector = THEOREMS["path-integral-3-quadratic"]
    given = vector["input"]
    change = path_change(lambda h: 2 * h, given["from"], end=given["to"], steps=given["steps"])
    assert change == pytest.approx(vector["expected"]["change"], abs=1e-9)
    assert path_change(np.cos, [0.0], end=[1.0]) == pytest.approx(math.sin(1))


def test_log_volume_change_is_sum_times_steps() -> None:
    vector = THEOREMS["volume-4"]
    given = vector["input"]
    change = log_volume_change(given["exponents"], steps=given["steps"])
    assert change == vector["expected"]["log_volume_change"]


def test_impossible_constructions_are_refused() -> None:
    with pytest.raises(InputError, match="at least 2 entities"):
        derangement(1)
    with pytest.raises(InputError, match="at least 1 point"):
        path_change(np.cos, [0.0], end=[1.0], steps=0)
    with pytest.raises(ShapeError, match="same layer"):
        path_change(np.cos, [0.0], end=[1.0, 2.0])
    with pytest.raises(ShapeError, match="one logit"):
        path_change(lambda _: [1.0, 2.0], [0.0], end=[1.0])
    with pytest.raises(InputError, match="not finite"):
        log_volume_change([math.inf], steps=1)
    with pytest.raises(InputError, match="at least 0"):
        log_volume_change([0.0], steps=-1)
