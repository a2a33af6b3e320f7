import json
import math
from pathlib import Path

import numpy as np
import pytest

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.jacobians import jacobian_summary
from trueness.stats.observers import observe
from trueness.stats.witnesses import (
    derangement,
    log_volume_change,
    path_change,
    pooling,
    quiet_gradient,
    quiet_logit,
    winding,
    winding_determinant,
    winding_jacobian,
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


def test_no_summary_of_jacobians_tells_an_injective_domain_from_another() -> None:
    """Winding: the same grid on a strip, and with its upper half moved up by a turn."""
    x, y = (g.ravel() for g in np.meshgrid(np.linspace(-1, 1, 5), np.linspace(0, 3, 6)))
    turned = np.where(y > 1.5, y + 2 * math.pi, y)
    strip = [jacobian_summary(j, window=(1, 2)) for j in winding_jacobian(x, y)]
    taller = [jacobian_summary(j, window=(1, 2)) for j in winding_jacobian(x, turned)]
    for one, two in zip(strip, taller, strict=True):
        assert one.sigma_max == pytest.approx(two.sigma_max, rel=1e-12)
        assert one.stable_rank == pytest.approx(2.0)
        assert two.stable_rank == pytest.approx(2.0)
        assert one.log_volume == pytest.approx(two.log_volume, abs=1e-12)
        assert one.n_null == two.n_null == 0
    low, high = winding(x, y), winding(x, y + 2 * math.pi)
    assert low == pytest.approx(high, abs=1e-12)  # the taller domain holds both: not injective
    assert len(np.unique(low.round(9), axis=0)) == len(x)  # the strip alone is injective


def test_pooled_entities_look_like_others_at_every_point_and_differ_as_a_partition() -> None:
    found = pooling(6)
    jacobians = [winding_jacobian(*s.T) for s in (found.apart, found.pooled)]
    for j in jacobians[1]:  # each has a partner among the entities that are kept apart
        assert np.abs(jacobians[0] - j).max(axis=(1, 2)).min() < 1e-12
    answers = [
        len(np.unique(a.round(9), axis=0)) for a in (found.answers_apart, found.answers_pooled)
    ]
    assert answers == [12, 6]
    with pytest.raises(InputError, match="at least 1 pair"):
        pooling(0)


def test_a_derangement_has_the_statistics_of_the_truth() -> None:
    """One observation, two truths: 0 errors and n, and nothing label-free differs."""
    n = 7
    answers = np.arange(n)
    truths = [answers, derangement(n)]
    assert [int((answers != t).sum()) for t in truths] == [0, n]
    laws = np.bincount(answers, minlength=n) / n
    seen = [observe(laws).numbers.tobytes() for _ in truths]  # the truth enters nowhere
    assert seen[0] == seen[1]
    assert len({*answers.tolist()}) == n


def test_a_quiet_point_moves_the_answer_beyond_every_gradient() -> None:
    assert not quiet_gradient(np.zeros(4)).any()
    moved = path_change(quiet_gradient, np.zeros(4), end=[2.0, 0.0, 0.0, 0.0])
    assert moved == pytest.approx(4.0)
    assert quiet_logit([2.0, 0, 0, 0], threshold=1.0) == -1.0 + moved
