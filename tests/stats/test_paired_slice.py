import json
import math
from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State
from trueness.stats.clouds import PARTS
from trueness.stats.paired_slice import Comparison, compare_deltas

TESTS = Path(__file__).parents[1]
GOLDEN = json.loads((TESTS / "golden" / "atlas_comparison.json").read_text())
SLICES = {v["name"]: v for v in GOLDEN if v["kind"] == "slice_comparison"}
PUBLISHED = {v["name"]: v for v in GOLDEN if v["kind"].startswith("published")}
ORDERS = (2, 3, 4)
MIRROR = {"near_isospectral_inversion": "recovery", "recovery": "near_isospectral_inversion"}

Floats = NDArray[np.float64]


def items_of(name: str, arm: str) -> list[dict[str, Any]]:
    lines = (TESTS / "data" / "clouds" / f"{name}.{arm}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines[1:]]


def class_counts(item: dict[str, Any]) -> dict[str, list[int]]:
    """Counts of the classes of each part."""
    counts = Counter(item["answers"])
    none = counts.pop(None, 0)
    gold = counts.pop(item["target"], 0)
    wrong = list(counts.values())
    return {
        "total": [gold, none, *wrong],
        "gold": [gold],
        "wrong": wrong,
        "none": [none],
        "semantic": [gold, *wrong],
    }


def agreement(counts: list[int], draws: int, r: int) -> Fraction:
    return Fraction(sum(math.comb(n, r) for n in counts), math.comb(draws, r))


def variance_hat(counts: list[int], draws: int, r: int) -> Fraction:
    singles = [math.comb(n, r) for n in counts]
    pairs = sum(math.comb(n, r) * math.comb(n - r, r) for n in counts if n >= r)
    bracket = pairs + sum(singles) ** 2 - sum(one**2 for one in singles)
    scale = math.comb(draws, r) * math.comb(draws - r, r)
    return agreement(counts, draws, r) ** 2 - Fraction(bracket, scale)


def matrices(name: str, arm: str) -> tuple[list[list[Fraction]], list[list[Fraction]]]:
    means, variances = [], []
    for item in items_of(name, arm):
        parts, k = class_counts(item), len(item["answers"])
        keys = [(parts[part], k, r) for r in ORDERS for part in PARTS]
        means.append([agreement(*key) for key in keys])
        variances.append([variance_hat(*key) for key in keys])
    return means, variances


def floats(rows: list[list[Fraction]]) -> Floats:
    return np.array([[float(x) for x in row] for row in rows])


def compared(name: str, **options: Any) -> Comparison:
    (before, var_before), (after, var_after) = (matrices(name, arm) for arm in ("before", "after"))
    delta = [
        [b - a for a, b in zip(*rows, strict=True)] for rows in zip(before, after, strict=True)
    ]
    found: Comparison = compare_deltas(
        floats(delta),
        orders=ORDERS,
        variance=(floats(var_before), floats(var_after)),
        **{"rng": np.random.default_rng(0), **options},
    )
    return found


@pytest.mark.parametrize("name", SLICES)
def test_a_golden_slice_gives_its_means_errors_and_intervals(name: str) -> None:
    expected = SLICES[name]["expected"]
    file = SLICES[name]["input"]["file"].partition("/")[2]
    before, after = matrices(file, "before")[0], matrices(file, "after")[0]
    found = compared(file)
    assert found.n_items == expected["items"] == len(before)
    for j, (r, part) in enumerate((r, part) for r in ORDERS for part in PARTS):
        entry, want = found.entry(r, part), expected[f"{part}_r{r}"]
        left = sum((row[j] for row in before), Fraction(0)) / len(before)
        right = sum((row[j] for row in after), Fraction(0)) / len(after)
        exact = (want["before"], want["after"], want["delta"])
        assert (left, right, right - left) == tuple(Fraction(text) for text in exact)
        assert entry.estimate == pytest.approx(float(right - left), abs=1e-12)
        assert entry.se == pytest.approx(want["se"], abs=1e-9)
        assert entry.t90 == pytest.approx(tuple(want["t90"]), abs=1e-9)
        assert entry.epsilon_star == pytest.approx(want["epsilon_star"], abs=1e-9)
        if want["se_fixed_slice"] is None:
            assert (entry.se_fixed_slice, entry.fixed_slice_state) == (None, State.UNSTABLE)
        else:
            assert entry.se_fixed_slice == pytest.approx(want["se_fixed_slice"], abs=1e-9)
        assert (entry.band is None) == (want["se"] == 0) == (entry.state is State.DEGENERATE)


@pytest.mark.parametrize("name", SLICES)
@pytest.mark.parametrize("seed", [0, 1, 2026])
def test_a_golden_slice_gives_its_band_and_verdicts(name: str, seed: int) -> None:
    expected = SLICES[name]["expected"]
    file = SLICES[name]["input"]["file"].partition("/")[2]
    for margin, verdict in expected["verdict_by_margin"].items():
        found = compared(file, margin=float(margin), rng=np.random.default_rng(seed))
        assert found.verdict.name == verdict
        assert found.critical == pytest.approx(expected["sup_t_critical_value_95"], abs=0.06)


def test_the_inversion_slice_names_the_margins_it_would_have_needed() -> None:
    found = compared("synthetic_inversion").verdict
    assert (found.name, found.reason) == ("unresolved", "margin_not_met")
    (clause,) = found.failed
    assert (clause.verdict, clause.part) == ("near_isospectral_inversion", "total")
    needed = [at.epsilon_star for at in clause.numbers]
    assert needed == pytest.approx([0.146, 0.140, 0.136], abs=5e-4)


def test_the_simultaneous_band_is_wider_than_the_published_kind_of_interval() -> None:
    entry = compared("synthetic_inversion").entry(4, "wrong")
    assert entry.band == pytest.approx((-0.031, 0.247), abs=0.004)
    assert entry.band is not None
    assert entry.pointwise is not None
    assert entry.band[0] < 0 < entry.pointwise[0]  # "all exclude zero" is a pointwise claim


def test_the_published_integers_are_those_of_the_unbiased_estimator() -> None:
    for name, arm in (("gsm8k_base", "before"), ("gsm8k_r1_zero", "after")):
        vector = PUBLISHED[f"published/{name}"]
        rows = matrices("synthetic_inversion", arm)[0]
        means = [sum(column, Fraction(0)) / len(rows) for column in zip(*rows, strict=True)]
        for part, numerators in vector["expected"]["numerators"].items():
            for i, numerator in enumerate(numerators):
                found = means[5 * i + PARTS.index(part)]
                assert found == Fraction(numerator, vector["expected"]["denominators"][i])


def test_the_published_changes_are_those_of_the_slices() -> None:
    expected = PUBLISHED["published/intervals_and_tests"]["expected"]
    for file, key in (("consolidation", "v3"), ("attractor", "gpqa")):
        entry = compared(f"synthetic_{file}").entry(2, "total")
        want = Fraction(expected[f"delta_collision_{key}"])
        assert entry.estimate == pytest.approx(float(want), abs=1e-12)


def test_strict_halves_the_error_of_every_clause() -> None:
    plain, strict = compared("synthetic_inversion"), compared("synthetic_inversion", strict=True)
    assert (plain.verdict.alpha, strict.verdict.alpha) == pytest.approx((0.05, 0.025))
    assert (plain.verdict.error_rate, strict.verdict.error_rate) == pytest.approx((0.1, 0.05))
    assert plain.critical is not None
    assert strict.critical is not None
    assert strict.critical > plain.critical
    for one, two in zip(plain.entries, strict.entries, strict=True):
        assert one.t90 is not None
        assert two.t90 is not None
        assert two.t90[0] < one.t90[0] <= one.t90[1] < two.t90[1]


@pytest.mark.parametrize("name", ["inversion", "consolidation", "attractor"])
def test_row_order_changes_nothing_and_swapping_arms_mirrors_everything(name: str) -> None:
    before, after = (floats(matrices(f"synthetic_{name}", arm)[0]) for arm in ("before", "after"))
    delta = after - before
    shuffled = np.random.default_rng(5).permutation(len(delta))
    options: dict[str, Any] = {"orders": ORDERS, "margin": 0.15, "replicates": 999}
    first = compare_deltas(delta, rng=np.random.default_rng(1), **options)
    again = compare_deltas(delta[shuffled], rng=np.random.default_rng(1), **options)
    other = compare_deltas(-delta, rng=np.random.default_rng(1), **options)
    assert first.critical == pytest.approx(again.critical, rel=1e-9)
    assert first.critical == pytest.approx(other.critical, rel=1e-9)
    for one, two, three in zip(first.entries, again.entries, other.entries, strict=True):
        assert one.p_adjusted == two.p_adjusted == three.p_adjusted
        assert three.estimate == pytest.approx(-(one.estimate or 0.0), abs=1e-12)
        if one.band is not None:
            assert two.band == pytest.approx(one.band, abs=1e-12)
            assert three.band == pytest.approx((-one.band[1], -one.band[0]), abs=1e-12)
    assert again.verdict.name == first.verdict.name
    wanted = {
        "inversion": ("near_isospectral_inversion", "recovery"),
        "consolidation": ("consolidation", "fragmentation"),
        "attractor": ("no_answer_attractor", "answering_up"),
    }
    assert (first.verdict.name, other.verdict.name) == wanted[name]


def test_each_entry_has_its_own_items() -> None:
    rng = np.random.default_rng(3)
    delta = rng.uniform(-0.5, 0.5, (30, 5))
    delta[10:, 1:3] = np.nan
    found = compare_deltas(delta, orders=(2,), rng=rng, replicates=500)
    assert [entry.n for entry in found.entries] == [30, 10, 10, 30, 30]
    alone = compare_deltas(delta[:10], orders=(2,), rng=rng, replicates=500).entry(2, "gold")
    gold = found.entry(2, "gold")
    assert (gold.estimate, gold.se) == pytest.approx((alone.estimate, alone.se))


def test_groups_count_as_one_each() -> None:
    rng = np.random.default_rng(4)
    delta = np.repeat(rng.uniform(-0.5, 0.5, (12, 5)), 5, axis=0)
    groups = np.repeat(np.arange(12), 5)
    found = compare_deltas(delta, orders=(2,), groups=groups, rng=rng, replicates=500)
    once = compare_deltas(delta[::5], orders=(2,), rng=rng, replicates=500)
    assert (found.n_items, found.n_groups) == (60, 12)
    for one, two in zip(found.entries, once.entries, strict=True):
        assert (one.n, one.n_units) == (60, 12)
        assert one.se == pytest.approx(two.se)
        assert one.t90 == pytest.approx(two.t90)
        assert one.p_adjusted == two.p_adjusted
    assert found.flips_enumerated


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_items_resolve_nothing(n: int) -> None:
    found = compare_deltas(np.ones((n, 5)), orders=(2,), rng=np.random.default_rng(0))
    assert (found.verdict.name, found.verdict.reason) == ("unresolved", "insufficient_evidence")
    assert found.critical is None
    for entry in found.entries:
        assert entry.state is State.NO_EVIDENCE
        assert (entry.band, entry.t90, entry.epsilon_star) == (None, None, None)
        assert entry.estimate == (1.0 if n else None)


def test_equal_differences_have_a_direction_by_their_signs_and_no_band() -> None:
    delta = np.tile([0.5, 0.5, 0.0, 0.0, 0.5], (20, 1))
    found = compare_deltas(delta, orders=(2,), margin=0.2, rng=np.random.default_rng(0))
    assert found.verdict.name == "consolidation"
    assert {entry.state for entry in found.entries} == {State.DEGENERATE}
    assert (found.entry(2, "gold").p_adjusted or 1) < 1e-3
    few = compare_deltas(delta[:5], orders=(2,), margin=0.5, rng=np.random.default_rng(0))
    assert few.entry(2, "gold").p_adjusted == 1 / 16
    assert few.verdict.reason == "insufficient_evidence"


def test_opposite_shifts_cancel_and_the_note_says_that_items_moved() -> None:
    delta = np.zeros((200, 5))
    delta[0], delta[1] = [0.3, 0.3, 0, 0, 0.3], [-0.3, -0.3, 0, 0, -0.3]
    rng = np.random.default_rng(0)
    found = compare_deltas(delta, orders=(2,), rng=rng, replicates=500, omnibus_p=0.001)
    assert found.verdict.name == "unchanged"
    assert found.verdict.notes == ("items moved, the mean did not",)
    narrow = compare_deltas(delta[:4], orders=(2,), rng=rng, replicates=500, omnibus_p=0.001)
    assert (narrow.verdict.name, narrow.verdict.notes) == ("unresolved", ())


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(2, 40))
def test_swapping_arms_mirrors_the_verdict(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    gold, wrong = rng.choice([0.0, 0.25, -0.5, 1.0], (2, n)) * rng.uniform(-1, 1)
    gold, wrong = gold / 2, wrong / 2
    delta = np.column_stack([gold + wrong, gold, wrong, 0 * gold, gold + wrong])
    options: dict[str, Any] = {"orders": (2,), "margin": 0.3, "replicates": 20}
    one = compare_deltas(delta, rng=np.random.default_rng(seed), **options)
    two = compare_deltas(-delta, rng=np.random.default_rng(seed), **options)
    if one.verdict.name in MIRROR:
        assert two.verdict.name == MIRROR[one.verdict.name]
    unchanged = {one.verdict.name, two.verdict.name} & {"unchanged"}
    assert not unchanged or one.verdict.name == two.verdict.name


@pytest.mark.parametrize(
    ("shape", "options", "words"),
    [
        ((3, 5), {"orders": (2, 3)}, "wanted"),
        ((3, 10), {"orders": (2, 2)}, "different"),
        ((3, 5), {"orders": (2,), "level": 1.0}, "level"),
        ((3, 5), {"orders": (2,), "margin": 0.0}, "margin"),
        ((3, 5), {"orders": (2,), "replicates": 1}, "replicates"),
        ((3, 5), {"orders": (2,), "groups": np.zeros(4, dtype=np.int64)}, "groups"),
    ],
)
def test_what_does_not_fit_is_refused(
    shape: tuple[int, int], options: dict[str, Any], words: str
) -> None:
    with pytest.raises((InputError, ShapeError), match=words):
        compare_deltas(np.zeros(shape), rng=np.random.default_rng(0), **options)


def test_the_small_loop_of_this_file_is_the_count_of_subsets() -> None:
    answers = ["a", "a", "b", None, "a"]
    counts = class_counts({"answers": answers, "target": "a"})
    same = [len(set(chosen)) == 1 for chosen in combinations(answers, 2)]
    assert agreement(counts["total"], 5, 2) == Fraction(sum(same), len(same))


def cloud_deltas(rng: np.random.Generator, laws: Floats, draws: int) -> Floats:
    """Differences of two arms drawn from the same laws over (gold, none, wrong…)."""
    arms = []
    for _ in range(2):
        counts = rng.multinomial(draws, laws)
        pairs = counts * (counts - 1) / (draws * (draws - 1))
        gold, none, wrong = pairs[:, 0], pairs[:, 1], pairs[:, 2:].sum(axis=1)
        arms.append(np.column_stack([gold + none + wrong, gold, wrong, none, gold + wrong]))
    delta: Floats = arms[1] - arms[0]
    return delta


@pytest.mark.slow
@pytest.mark.parametrize("items", [25, 100])
def test_a_slice_in_which_nothing_changed_seldom_gets_a_verdict(items: int) -> None:
    rng, runs, wrong = np.random.default_rng(items), 200, 0
    for _ in range(runs):
        laws = rng.dirichlet([1.5, 0.5, 0.7, 0.4, 0.3], items)
        delta = cloud_deltas(rng, laws, 8)
        found = compare_deltas(delta, orders=(2,), rng=rng, replicates=199)
        wrong += found.verdict.name not in ("unchanged", "unresolved")
    assert wrong / runs <= 0.1 + 3 * math.sqrt(0.1 * 0.9 / runs)


@pytest.mark.slow
def test_arrows_err_seldom_where_nothing_changed() -> None:
    rng, runs, arrows = np.random.default_rng(9), 400, 0
    for _ in range(runs):
        delta = cloud_deltas(rng, rng.dirichlet([1, 0.5, 1, 0.5], 60), 8)
        found = compare_deltas(delta, orders=(2,), rng=rng, replicates=199)
        held = (c for c in found.verdict.clauses if c.relation in ("up", "down"))
        arrows += any(clause.holds for clause in held)
    assert arrows / runs <= 0.1 + 3 * math.sqrt(0.1 * 0.9 / runs)
