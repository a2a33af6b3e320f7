import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.stats.betting import bet, bet_sizes

TESTS = Path(__file__).parents[1]
GOLDEN = json.loads((TESTS / "golden" / "atlas_comparison.json").read_text())
VECTORS = [v for v in GOLDEN if v["kind"] == "betting"]
STREAMS = st.lists(st.floats(-1, 1), min_size=1, max_size=40)


@pytest.mark.parametrize("vector", VECTORS, ids=[v["name"] for v in VECTORS])
def test_golden_streams(vector: dict[str, dict[str, Any]]) -> None:
    given_ = vector["input"]
    found = bet(given_["differences"], null_mean=given_["null_mean"], alpha=given_["alpha"])
    assert found.e_values.tolist() == pytest.approx(vector["expected"]["e_value"], abs=1e-12)


def by_hand(seen: list[float], mean: float, alpha: float) -> float:
    """The formula, one factor at a time."""
    up = down = 1.0
    for i, x in enumerate(seen, start=1):
        total = 1.0
        for j in range(1, i):
            total += (seen[j - 1] - sum(seen[:j]) / (j + 1)) ** 2
        size = math.sqrt(2 * math.log(2 / alpha) / (total / i * i * math.log(1 + i)))
        up *= 1 + min(size, 0.5 / (1 + mean) if mean > -1 else math.inf) * (x - mean)
        down *= 1 - min(size, 0.5 / (1 - mean) if mean < 1 else math.inf) * (x - mean)
    return (up + down) / 2


@given(STREAMS, st.sampled_from([-1.0, -0.3, 0.0, 0.5, 1.0]), st.sampled_from([0.05, 0.2]))
def test_evidence_follows_the_formula(seen: list[float], mean: float, alpha: float) -> None:
    found = bet(seen, null_mean=mean, alpha=alpha)
    assert math.exp(found.log_e_values[-1]) == pytest.approx(by_hand(seen, mean, alpha), rel=1e-9)


@given(STREAMS)
def test_swapping_arms_mirrors_the_interval(seen: list[float]) -> None:
    one, two = bet(seen, margin=0.3), bet([-x for x in seen], margin=0.3)
    np.testing.assert_allclose(one.log_e_values, two.log_e_values, atol=1e-12)
    assert (one.low, one.high) == pytest.approx((-two.high, -two.low), abs=1e-12)
    assert one.equivalent_after == two.equivalent_after


@given(STREAMS, st.floats(-1, 1))
def test_a_mean_outside_of_the_interval_is_one_that_the_test_rejects(
    seen: list[float], mean: float
) -> None:
    found = bet(seen, null_mean=mean, alpha=0.2)
    assert -1 <= found.low < found.high <= 1
    if not found.low - 1e-9 <= mean <= found.high + 1e-9:
        assert found.log_e_values[-1] >= math.log(5) - 1e-9  # never narrower than the set itself


@given(STREAMS)
def test_a_bet_looks_at_earlier_items_only(seen: list[float]) -> None:
    sizes = bet_sizes(np.array(seen))
    other = bet_sizes(np.array([*seen[:-1], -seen[-1]]))
    np.testing.assert_array_equal(sizes, other)


def test_equivalence_is_seen_when_the_interval_lies_inside_of_the_margin() -> None:
    seen = np.random.default_rng(0).choice([-0.25, 0.0, 0.25], 2_000)
    found = bet(seen, margin=0.1)
    assert found.stopped_after is None
    assert found.equivalent_after is not None
    at, before = found.equivalent_after, found.equivalent_after - 1
    inside = bet(seen[:at])
    assert -0.1 < inside.low < inside.high < 0.1
    outside = bet(seen[:before])
    assert not (outside.low > -0.1 and outside.high < 0.1)
    assert bet(seen).equivalent_after is None


def test_long_streams_of_one_value_do_not_overflow() -> None:
    found = bet(np.ones(20_000), margin=0.5)
    assert np.isfinite(found.e_values).all()
    assert found.low > 0.9
    assert found.high == 1
    nothing = bet([])
    assert (nothing.low, nothing.high, nothing.stopped_after) == (-1, 1, None)


@pytest.mark.parametrize(
    ("seen", "options"),
    [([0.0, 1.2], {}), ([math.nan], {}), ([0.0], {"null_mean": 2.0}), ([0.0], {"alpha": 0.0})],
)
def test_what_lies_outside_is_refused(seen: list[float], options: dict[str, float]) -> None:
    with pytest.raises(InputError, match="wanted"):
        bet(seen, **options)
    with pytest.raises(InputError, match="margin"):
        bet([0.0], margin=0.0)


def gold_shift(name: str) -> NDArray[np.float64]:
    """Change of pairwise agreement on gold, item by item."""
    arms = []
    for arm in ("before", "after"):
        lines = (TESTS / "data" / "clouds" / f"{name}.{arm}.jsonl").read_text().splitlines()[1:]
        items = [json.loads(line) for line in lines]
        hits = [(Counter(x["answers"])[x["target"]], len(x["answers"])) for x in items]
        arms.append([n * (n - 1) / (k * (k - 1)) for n, k in hits])
    shift: NDArray[np.float64] = np.array(arms[1]) - np.array(arms[0])
    return shift


def null_stream(rng: np.random.Generator, items: int) -> NDArray[np.float64]:
    laws = rng.dirichlet([1.0, 1.0, 0.5, 0.5], items)
    arms = [rng.multinomial(8, laws) for _ in range(2)]
    before, after = (((n * (n - 1)).sum(axis=1) / 56) for n in arms)
    delta: NDArray[np.float64] = after - before
    return delta


@pytest.mark.slow
def test_a_null_stream_seldom_stops() -> None:
    rng = np.random.default_rng(1)
    stops = sum(bet(null_stream(rng, 400)).stopped_after is not None for _ in range(1_000))
    assert stops <= 50


@pytest.mark.slow
def test_the_shift_of_the_inversion_slice_is_found_soon() -> None:
    shift, rng = gold_shift("synthetic_inversion"), np.random.default_rng(2)
    stops = [bet(rng.choice(shift, 400)).stopped_after for _ in range(200)]
    found = [n for n in stops if n is not None]
    assert len(found) == 200
    assert 20 < np.median(found) < 60


@pytest.mark.slow
def test_the_interval_holds_at_every_time_with_its_probability() -> None:
    rng, misses = np.random.default_rng(3), 0
    for _ in range(300):
        seen = rng.choice([-0.5, 0.0, 1.0], 150, p=[0.3, 0.5, 0.2])
        misses += bet(seen, null_mean=0.05).stopped_after is not None
    assert misses / 300 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 300)


@pytest.mark.slow
def test_items_sorted_by_difficulty_are_blind_ground() -> None:
    """The guarantee needs a random order: sorted items stop although nothing changed."""
    rng, stops = np.random.default_rng(4), 0
    for _ in range(50):
        stops += bet(np.sort(null_stream(rng, 400))).stopped_after is not None
    assert stops == 50
