"""Agreement of r draws: against vectors, brute force, and where it is blind."""

import json
import math
from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.stats.clouds import GOLD, NONE, OPEN, PARTS, WRONG, Clouds
from trueness.stats.masses import sorted_masses
from trueness.stats.spectrum import (
    exact_spectrum,
    h2_from_u2,
    h2_plugin,
    plugin_collision,
    rarefied_plugin,
    slice_mean,
    spectrum,
    spectrum_counts,
)
from trueness.stats.spectrum_variance import exact_variance_hat, power_sum, variance_hat

TESTS = Path(__file__).parents[1]
GOLDEN = json.loads((TESTS / "golden" / "atlas_clouds.json").read_text(encoding="utf-8"))
ROLES = {"g": GOLD, "-": NONE}
CLOUD = st.text("gab-c", min_size=1, max_size=9)
ORDERS = (1, 2, 3, 4)


def golden(kind: str) -> list[Any]:
    return [pytest.param(v, id=v["name"]) for v in GOLDEN if v["kind"] == kind]


def listed(cloud: list[str | None], gold: str | None) -> Clouds:
    """A cloud of the vectors, in which null is no answer."""
    codes = {a: place for place, a in enumerate(dict.fromkeys(cloud))}
    right = OPEN if gold is None else WRONG
    roles = [NONE if a is None else GOLD if a == gold else right for a in cloud]
    known = [gold is not None]
    return Clouds.of(
        [0] * len(cloud), [codes[a] for a in cloud], roles, n_items=1, gold_known=known
    )


def spelled(*clouds: str) -> Clouds:
    """One item a text: g is right, - is no answer."""
    draws = [(i, a) for i, cloud in enumerate(clouds) for a in cloud]
    roles = [ROLES.get(a, WRONG) for _, a in draws]
    return Clouds.of([i for i, _ in draws], [ord(a) for _, a in draws], roles, n_items=len(clouds))


def fractions(values: dict[str, Fraction | None]) -> dict[str, str | None]:
    return {part: None if x is None else str(x) for part, x in values.items()}


@pytest.mark.parametrize("vector", golden("spectrum"))
def test_golden_spectra(vector: dict[str, Any]) -> None:
    clouds, expected = listed(vector["input"]["cloud"], vector["input"]["gold"]), vector["expected"]
    assert clouds.draws[0] == expected["k"]
    for name, parts in expected["parts"].items():
        found = fractions(exact_spectrum(clouds, int(name)))
        assert found == (
            dict.fromkeys(PARTS) if parts is None else {**dict.fromkeys(PARTS), **parts}
        )
        floats = spectrum(clouds, (int(name),))
        for part, text in found.items():
            value = floats[part][0, 0]
            assert math.isnan(value) if text is None else value == float(Fraction(text))
    for name, text in expected["plugin"].items():
        assert str(power_sum(sorted_masses(clouds), int(name))) == text


@pytest.mark.parametrize("vector", golden("spectrum"))
def test_golden_entropies_and_variances(vector: dict[str, Any]) -> None:
    clouds, expected = listed(vector["input"]["cloud"], vector["input"]["gold"]), vector["expected"]
    assert h2_plugin(clouds)[0] == pytest.approx(expected["h2_plugin"], abs=1e-12)
    found = h2_from_u2(spectrum(clouds, (2,))["total"])[0, 0]
    wanted = expected["h2_unbiased_collision"]
    assert math.isnan(found) if wanted is None else found == pytest.approx(wanted, abs=1e-12)
    for name, parts in expected["variance_hat"].items():
        exact = fractions(exact_variance_hat(clouds, int(name)))
        assert exact == ({**dict.fromkeys(PARTS), **(parts or {})})
        for part, value in variance_hat(clouds, (int(name),)).items():
            text = exact[part]
            assert math.isnan(value[0, 0]) if text is None else value[0, 0] == float(Fraction(text))


@pytest.mark.parametrize("vector", golden("rarefied_plugin"))
def test_golden_rarefied_collisions(vector: dict[str, Any]) -> None:
    cloud, k0 = vector["input"]["cloud"], vector["input"]["k0"]
    wanted = Fraction(vector["expected"]["expected"])
    subsets = list(combinations(cloud, k0))
    brute = sum(sum(n * n for n in Counter(s).values()) for s in subsets)
    assert Fraction(brute, k0 * k0 * len(subsets)) == wanted
    u2 = spectrum(listed(cloud, None), (2,))["total"][:, 0]
    assert rarefied_plugin(u2, k0)[0] == pytest.approx(float(wanted), abs=1e-15)
    assert rarefied_plugin(u2, len(cloud)) == pytest.approx(plugin_collision(listed(cloud, None)))


@pytest.mark.parametrize("vector", golden("bootstrap_bias"))
def test_resampling_draws_replaces_the_estimate_by_the_plug_in(vector: dict[str, Any]) -> None:
    cloud = vector["input"]["cloud"]
    assert str(exact_spectrum(listed(cloud, None), 2)["total"]) == vector["expected"]["u2"]
    again = [exact_spectrum(listed(list(x), None), 2)["total"] for x in product(cloud, repeat=4)]
    mean = sum((x for x in again if x is not None), Fraction(0)) / len(again)
    assert str(mean) == vector["expected"]["mean_u2_of_resampled"]
    assert float(mean) == plugin_collision(listed(cloud, None))[0]


@pytest.mark.parametrize("vector", golden("label_swap"))
def test_blind_to_labels_in_the_total_and_not_in_the_parts(vector: dict[str, Any]) -> None:
    laws = [
        {x: Fraction(p) for x, p in vector["input"][side].items()} for side in ("before", "after")
    ]
    for r, total in vector["expected"]["total"].items():
        assert all(str(power_sum(list(law.values()), int(r))) == total for law in laws)
    for side, law in zip(("before", "after"), laws, strict=True):
        assert str(law["gold"] ** 2) == vector["expected"][f"gold_{side}"]
        assert str(law["wrong"] ** 2) == vector["expected"][f"wrong_{side}"]
    before, after = spectrum(spelled("gggggga--a"), ORDERS), spectrum(spelled("aaaaaag--g"), ORDERS)
    np.testing.assert_array_equal(before["total"], after["total"])
    assert (before["gold"] != after["gold"]).all()
    assert (before["wrong"] != after["wrong"]).all()


@pytest.mark.parametrize("vector", golden("isospectral"))
def test_blind_to_what_only_higher_orders_show(vector: dict[str, Any]) -> None:
    laws = [[Fraction(p) for p in vector["input"][side]] for side in "pq"]
    for r in range(2, 6):
        assert {str(power_sum(law, r)) for law in laws} == {vector["expected"][f"c{r}"]}
    assert [str(power_sum(law, 6)) for law in laws] == [vector["expected"][f"c6_{s}"] for s in "pq"]
    apart = sum(abs(a - b) for a, b in zip(*map(sorted, laws), strict=True)) / 2
    assert str(apart) == vector["expected"]["tv_sorted"]
    counts = [[int(72 * p) for p in law] for law in laws]
    clouds = [Clouds.of([0] * 6, range(6), [WRONG] * 6, n_items=1, weight=n) for n in counts]
    one, other = (spectrum(c, (2, 3, 4, 5, 6))["total"][0] for c in clouds)
    np.testing.assert_array_equal(one[:4], other[:4])
    assert one[4] != other[4]


@pytest.mark.parametrize("vector", golden("published_integers"))
def test_published_sums_are_those_of_slices_built_to_match(vector: Any) -> None:
    side = {"published/gsm8k_base": "before", "published/gsm8k_r1_zero": "after"}[vector["name"]]
    file = TESTS / "data" / "clouds" / f"synthetic_inversion.{side}.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()][1:]
    draws = [(i, a, row["target"]) for i, row in enumerate(rows) for a in row["answers"]]
    codes = {a: place for place, a in enumerate({a for _, a, _ in draws})}
    roles = [NONE if a is None else GOLD if a == gold else WRONG for _, a, gold in draws]
    clouds = Clouds.of(
        [i for i, *_ in draws], [codes[a] for _, a, _ in draws], roles, n_items=len(rows)
    )
    counts, expected = spectrum_counts(clouds), vector["expected"]
    assert counts.tuples.sum(0).tolist() == expected["denominators"]
    for part, numerators in expected["numerators"].items():
        assert counts.agreeing[part].sum(0).tolist() == numerators
    for part, published in expected["published"].items():
        assert slice_mean(spectrum(clouds)[part]).value.round(4).tolist() == published


def brute(cloud: str, r: int, part: str) -> float:
    keep = {"gold": "g", "wrong": "abc", "none": "-", "semantic": "gabc", "total": "gabc-"}[part]
    tuples = list(combinations(cloud, r))
    agree = [len(set(t)) == 1 and t[0] in keep for t in tuples]
    return sum(agree) / len(tuples) if tuples else math.nan


@given(st.lists(CLOUD, min_size=1, max_size=4))
def test_agreement_is_the_share_of_subsets_that_agree(clouds: list[str]) -> None:
    found = spectrum(spelled(*clouds), ORDERS)
    for part in PARTS:
        wanted = [[brute(cloud, r, part) for r in ORDERS] for cloud in clouds]
        np.testing.assert_array_equal(found[part], wanted)


@given(st.lists(CLOUD, min_size=1, max_size=4))
def test_parts_add_up_to_the_total_in_whole_numbers(clouds: list[str]) -> None:
    agreeing = spectrum_counts(spelled(*clouds), ORDERS).agreeing
    parts = agreeing["gold"] + agreeing["wrong"] + agreeing["none"]
    np.testing.assert_array_equal(agreeing["total"], parts)
    np.testing.assert_array_equal(agreeing["semantic"], agreeing["gold"] + agreeing["wrong"])


@given(CLOUD, st.permutations("gab-c"))
def test_relabelling_changes_no_total(cloud: str, names: list[str]) -> None:
    renamed = cloud.translate(dict(zip(map(ord, "gab-c"), names, strict=True)))
    one, other = (spectrum(spelled(c), ORDERS)["total"] for c in (cloud, renamed))
    np.testing.assert_array_equal(one, other)


@given(CLOUD)
def test_merging_two_classes_never_lowers_the_total(cloud: str) -> None:
    apart, merged = (
        spectrum(spelled(c), ORDERS)["total"] for c in (cloud, cloud.replace("a", "b"))
    )
    measured = np.isfinite(apart)
    assert (merged[measured] >= apart[measured]).all()


@given(CLOUD)
def test_more_draws_agree_at_most_as_often(cloud: str) -> None:
    for values in spectrum(spelled(cloud), ORDERS).values():
        measured = values[np.isfinite(values)]
        assert (np.diff(measured) <= 0).all()


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=5).filter(any))
def test_many_draws_do_not_overflow(counts: list[int]) -> None:
    size = len(counts)
    clouds = Clouds.of([0] * size, range(size), [WRONG] * size, n_items=1, weight=counts)
    for r, value in zip(ORDERS, spectrum(clouds, ORDERS)["total"][0], strict=True):
        exact = exact_spectrum(clouds, r)["total"]
        assert (
            math.isnan(value) if exact is None else value == pytest.approx(float(exact), rel=1e-12)
        )


def test_few_draws_of_one_item_stay_exact_beside_many_of_another() -> None:
    clouds = Clouds.of([0, 1, 1], [0, 0, 1], [WRONG] * 3, n_items=2, weight=[10**7, 2, 1])
    found = spectrum(clouds, (2, 3, 4))["total"]
    assert found[1, :2] == pytest.approx([1 / 3, 0.0])
    assert math.isnan(found[1, 2])
    with pytest.raises(InputError, match="10000000 draws; its tuples of 3"):
        spectrum_counts(clouds, (3,))


def test_too_few_draws_leave_the_mean_and_its_denominator() -> None:
    mean = slice_mean(spectrum(spelled("gga", "gg", "a"), (2, 3))["total"])
    assert mean.value.tolist() == pytest.approx([2 / 3, 0.0])
    assert mean.n.tolist() == [2, 1]


def test_without_a_right_answer_there_is_no_gold_and_no_wrong() -> None:
    found = spectrum(listed(["a", "a", None, None], None), (2,))
    assert {x: v[0, 0] for x, v in found.items() if np.isfinite(v[0, 0])} == {
        "total": 1 / 3,
        "none": 1 / 6,
        "semantic": 1 / 6,
    }


def test_orders_that_are_none_are_refused() -> None:
    for order in (0, 1.5):
        with pytest.raises(InputError, match="an order is"):
            spectrum(spelled("ga"), (order,))  # type: ignore[arg-type] # a wrong value on purpose
    with pytest.raises(InputError, match="k0 is 0"):
        rarefied_plugin(np.array([0.5]), 0)
    assert spectrum(spelled("ga"), ())["total"].shape == (1, 0)
    assert rarefied_plugin(np.array([np.nan]), 1).tolist() == [1.0]
