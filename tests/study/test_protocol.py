"""Nothing that is learnt sees the source it is tried on; what is resampled is paired."""

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.serial import Json
from trueness.stats.cluster_partial import resampled_partial_areas
from trueness.stats.operating_points import partial_area
from trueness.study.assessed import (
    AUROC,
    PARTIAL,
    above_half,
    assessed,
    auroc,
    auroc_bounds,
    difference,
    paired,
    two_sided,
)
from trueness.study.protocol import (
    Bools,
    Floats,
    Protocol,
    Scored,
    fitted,
    folds_of,
    out_of_fold,
    ridge_scorer,
    scored_from,
    scored_of,
)

QUICK = Protocol(repeats=2, resamples=200)


def twins(n: int, shift: float, seed: int = 0, **more: Floats) -> Scored:
    """A supported and an unsupported row a source, the latter higher by a shift."""
    rng = np.random.default_rng(seed)
    wrong = np.arange(2 * n) % 2 == 1
    risk = rng.normal(size=2 * n) + shift * wrong
    names = [f"r{i}" for i in range(2 * n)]
    groups = [f"g{i // 2}" for i in range(2 * n)]
    return scored_of("made", names, groups, wrong, {"risk": risk, **more})


@given(
    groups=st.lists(st.integers(0, 12), min_size=1, max_size=60),
    folds=st.integers(2, 7),
    seed=st.integers(0, 5),
)
def test_a_source_is_never_on_both_sides_of_a_fold(
    groups: list[int], folds: int, seed: int
) -> None:
    found = folds_of(groups, folds=folds, seed=seed)
    for group in set(groups):
        assert len({f for f, g in zip(found, groups, strict=True) if g == group}) == 1
    sizes = np.bincount([found[groups.index(g)] for g in set(groups)])
    assert sizes.max() - sizes.min() <= 1


def test_scores_of_a_row_come_from_models_that_never_saw_its_source() -> None:
    groups = np.arange(40) // 2
    seen: list[tuple[set[int], set[int]]] = []

    def spy(learnt: Bools, held: Bools) -> Floats:
        seen.append((set(groups[learnt].tolist()), set(groups[held].tolist())))
        return np.zeros(int(held.sum()))

    out_of_fold(spy, groups, Protocol())
    assert len(seen) == 25
    assert all(not (learnt & held) and len(learnt | held) == 20 for learnt, held in seen)


def test_scaling_is_of_the_rows_learnt_from_alone() -> None:
    x, wrong = np.arange(20.0), np.arange(20) % 2 == 1
    learnt = np.arange(20) < 10
    one = ridge_scorer([x], wrong)(learnt, ~learnt)
    moved = np.where(learnt, x, x * 1000)
    two = ridge_scorer([moved], wrong)(learnt, ~learnt)
    assert not np.array_equal(one, two)  # the rows held out are other ones …
    again = ridge_scorer([moved], wrong)(learnt, learnt)
    assert np.array_equal(again, ridge_scorer([x], wrong)(learnt, learnt))  # … the model the same


def test_rows_without_a_number_keep_none_and_take_no_part() -> None:
    made = twins(60, 2.0)
    holed = made.columns["risk"].copy()
    holed[:5] = np.nan
    found = fitted([holed], made.unsupported, made.groups, QUICK)
    assert np.isnan(found[:5]).all()
    assert np.isfinite(found[5:]).all()


def test_a_fold_whose_others_are_all_of_one_class_scores_nothing() -> None:
    wrong = np.array([True, False, False, False])
    found = fitted([np.arange(4.0)], wrong, np.arange(4), Protocol(folds=4, repeats=1))
    assert np.isnan(found[0])


def test_one_fold_and_columns_of_another_length_are_refused() -> None:
    with pytest.raises(InputError, match="two or more"):
        folds_of([0, 1], folds=1)
    with pytest.raises(ShapeError, match="one number a row"):
        scored_of("p", ["a"], ["g"], [True], {"risk": [0.1, 0.2]})


def test_a_population_is_read_back_to_the_bit() -> None:
    made = twins(5, 1.0, odd=np.array([np.nan, 0.1 + 0.2] * 5))
    again = scored_from(made.to_record())
    assert again.items == made.items
    assert again.name == made.name
    for name, column in made.columns.items():
        assert np.array_equal(column, again.columns[name], equal_nan=True)
    assert np.array_equal(made.groups, again.groups)


@settings(max_examples=60)
@given(
    rows=st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=2, max_size=20),
    far=st.sampled_from([0.05, 0.3, 1.0]),
)
def test_weighted_partial_areas_are_those_of_repeated_rows(
    rows: list[tuple[int, bool]], far: float
) -> None:
    scores = np.array([float(s) for s, _ in rows])
    wrong = np.array([w for _, w in rows])
    clusters = np.arange(len(rows)) // 2
    found = resampled_partial_areas(
        scores, wrong, clusters, rng=np.random.default_rng(1), n_resamples=5, max_far=far
    )
    n = int(clusters.max()) + 1
    drawn = np.random.default_rng(1).integers(0, n, (5, n))
    for value, groups in zip(found.tolist(), drawn.tolist(), strict=True):
        picked = np.concatenate([np.flatnonzero(clusters == g) for g in groups])
        whole = partial_area(
            scores[picked][~wrong[picked]], scores[picked][wrong[picked]], max_far=far
        )
        assert (whole is None) == np.isnan(value)
        assert whole is None or value == pytest.approx(whole.normalised, abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=2, max_size=30))
def test_the_auroc_is_the_share_of_pairs_in_the_right_order(rows: list[tuple[int, bool]]) -> None:
    right = [s for s, w in rows if not w]
    gone = [s for s, w in rows if w]
    if right and gone:
        pairs = [(u > v) + (u == v) / 2 for u in gone for v in right]
        found = auroc(np.array([float(s) for s, _ in rows]), np.array([w for _, w in rows]))
        assert found == pytest.approx(sum(pairs) / len(pairs), abs=1e-12)


def test_a_difference_of_a_column_with_itself_is_exactly_nothing() -> None:
    made = twins(40, 1.0)
    for statistic in (AUROC, PARTIAL):
        found = difference(made, "risk", "risk", QUICK, statistic=statistic)
        assert found["estimate"] == found["low"] == found["high"] == 0.0
        assert found["p"] == 1.0


def test_a_paired_difference_is_narrower_than_the_two_intervals_apart() -> None:
    made = twins(100, 1.0)
    near = made.columns["risk"] + 0.01 * np.random.default_rng(3).normal(size=200)
    both = scored_of("made", made.items, [f"{g}" for g in made.groups], made.unsupported,
                     {"risk": made.columns["risk"], "near": near})  # fmt: skip
    apart = above_half(both, "risk", QUICK)
    close = difference(both, "risk", "near", QUICK)
    assert _width(close) < _width(apart) / 4


def _width(record: Mapping[str, Json]) -> float:
    low, high = record["low"], record["high"]
    assert isinstance(low, float)
    assert isinstance(high, float)
    return high - low


def test_few_sources_get_an_estimate_and_no_interval() -> None:
    found = assessed(twins(29, 3.0), "risk", QUICK)
    assert found["state"] == "NOT_APPLICABLE"
    assert found["low"] is None
    assert isinstance(found["estimate"], float)


def test_one_class_alone_is_no_evidence() -> None:
    made = scored_of("p", ["a", "b"], ["g", "h"], [True, True], {"risk": [0.0, 1.0]})
    assert assessed(made, "risk", QUICK)["state"] == "NO_EVIDENCE"


def test_unmeasured_rows_are_counted_and_bound_the_figure_both_ways() -> None:
    made = scored_of(
        "p", list("abcd"), list("gghh"), [True, False, True, False], {"r": [2.0, 1.0, None, 0.0]}
    )
    low, high = auroc_bounds(made, "r")
    assert (low, high) == (0.5, 1.0)
    assert assessed(made, "r", QUICK)["n_missing"] == 1


def test_twins_are_paired_within_their_source_and_ties_count_half() -> None:
    made = scored_of(
        "p", list("abcdef"), list("gghhii"), [True, False] * 3, {"r": [2, 1, 0, 1, 5, 5]}
    )
    found = paired(made, "r")
    assert (found["wins"], found["losses"], found["ties"]) == (1, 1, 1)
    assert found["estimate"] == 0.5
    assert found["p"] == 1.0


def test_no_effect_is_found_at_most_as_often_as_the_level_says() -> None:
    p = [float(str(above_half(twins(40, 0.0, seed), "risk", QUICK)["p"])) for seed in range(60)]
    assert sum(v <= 0.05 for v in p) <= 8  # 60 at .05: 3 expected, 99.6 % at most 8
    assert two_sided(np.zeros(10), 0.0) == 1.0


def test_a_planted_effect_is_found() -> None:
    found = above_half(twins(60, 1.5), "risk", QUICK)
    assert isinstance(found["low"], float)
    assert found["low"] > 0.5
