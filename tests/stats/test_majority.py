"""What n votes would decide: against vectors and against every subset."""

import json
import math
from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.stats.clouds import GOLD, NONE, OPEN, WRONG, Clouds
from trueness.stats.majority import OUTCOMES, Policy, exact_majority, majority, pass_at

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "atlas_clouds.json").read_text(encoding="utf-8")
)
VOTES = [pytest.param(v, id=v["name"]) for v in GOLDEN if v["kind"] == "vote"]
POLICIES: tuple[Policy, ...] = get_args(Policy)
SIDES = {"g": "gold", "G": "gold", "-": "none"}
ROLES = {"gold": GOLD, "wrong": WRONG, "none": NONE}
CLOUD = st.text("gGab-cd", min_size=1, max_size=8)


def spelled(*clouds: str) -> Clouds:
    """One item a text: g and G are right, - is no answer."""
    draws = [(i, a) for i, cloud in enumerate(clouds) for a in cloud]
    roles = [ROLES[SIDES.get(a, "wrong")] for _, a in draws]
    return Clouds.of([i for i, _ in draws], [ord(a) for _, a in draws], roles, n_items=len(clouds))


@pytest.mark.parametrize("vector", VOTES)
def test_golden_votes(vector: dict[str, Any]) -> None:
    cloud, gold = vector["input"]["cloud"], vector["input"]["gold"]
    roles = [NONE if a is None else GOLD if a == gold else WRONG for a in cloud]
    codes = [0 if a is None else ord(a[-1]) for a in cloud]
    clouds = Clouds.of([0] * len(cloud), codes, roles, n_items=1)
    for policy, curve in vector["expected"]["majority"].items():
        found = majority(clouds, [int(n) for n in curve], policy=policy)
        for place, (n, shares) in enumerate(curve.items()):
            exact = exact_majority(clouds, int(n), policy=policy)
            assert exact is not None
            assert {x: str(p) for x, p in exact.items()} == shares
            assert {x: found[x][0, place] for x in OUTCOMES} == {
                x: float(Fraction(p)) for x, p in shares.items()
            }
    passes = vector["expected"]["pass_at"]
    found_passes = pass_at(clouds, [int(n) for n in passes])[0]
    np.testing.assert_allclose(
        found_passes, [float(Fraction(p)) for p in passes.values()], atol=1e-15
    )


def brute(cloud: str, n: int, policy: Policy) -> dict[str, Fraction]:
    won = dict.fromkeys(OUTCOMES, Fraction(0))
    subsets = list(combinations(cloud, n))
    for subset in subsets:
        votes = Counter(a for a in subset if policy == "votes" or a != "-")
        top = max(votes.values(), default=0)
        tied = [a for a, count in votes.items() if count == top] or ["-"]
        for a in tied:
            won[SIDES.get(a, "wrong")] += Fraction(1, len(tied) * len(subsets))
    return won


@pytest.mark.parametrize("policy", POLICIES)
@given(CLOUD)
def test_shares_are_those_over_all_subsets(policy: Policy, cloud: str) -> None:
    clouds, sizes = spelled(cloud), range(1, len(cloud) + 1)
    found = majority(clouds, sizes, policy=policy)
    for place, n in enumerate(sizes):
        wanted = brute(cloud, n, policy)
        assert exact_majority(clouds, n, policy=policy) == wanted
        for outcome in OUTCOMES:
            assert found[outcome][0, place] == float(wanted[outcome])


@given(CLOUD)
def test_pass_is_the_share_of_subsets_with_a_right_answer(cloud: str) -> None:
    sizes = range(1, len(cloud) + 1)
    wanted = [np.mean([bool(set("gG") & set(s)) for s in combinations(cloud, n)]) for n in sizes]
    np.testing.assert_allclose(pass_at(spelled(cloud), sizes)[0], wanted, atol=1e-15)


@given(st.lists(CLOUD, min_size=1, max_size=5))
def test_one_vote_is_a_draw_and_shares_sum_to_one(clouds: list[str]) -> None:
    for policy in POLICIES:
        found = majority(spelled(*clouds), (1, 2, 5), policy=policy)
        total = np.sum([found[x] for x in OUTCOMES], axis=0)
        measured = np.isfinite(total)
        assert total[measured] == pytest.approx(1.0, abs=1e-15)
        draws = [sum(SIDES.get(a, "wrong") == "gold" for a in c) / len(c) for c in clouds]
        assert found["gold"][:, 0].tolist() == draws
        assert measured.tolist() == [[True, len(c) > 1, len(c) > 4] for c in clouds]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("k", [70, 130, 1100])
def test_many_draws_neither_overflow_nor_lose_digits(policy: Policy, k: int) -> None:
    counts = [k // 2, k // 5, k // 10, k // 10, k // 10]
    roles = [GOLD, WRONG, NONE, WRONG, WRONG]
    clouds = Clouds.of([0] * 5, range(5), roles, n_items=1, weight=counts)
    for n in (5, 40):
        exact = exact_majority(clouds, n, policy=policy)
        found = majority(clouds, (n,), policy=policy)
        assert exact is not None
        assert {x: v[0, 0] for x, v in found.items()} == pytest.approx(
            {x: float(p) for x, p in exact.items()}, rel=1e-9, abs=1e-15
        )


def test_numbers_beyond_any_float_are_kept_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    clouds = spelled("gGab-c", "gg--aab")
    floats = [majority(clouds, (1, 3, 6), policy=policy) for policy in POLICIES]
    monkeypatch.setattr("trueness.stats.majority._LARGEST_FLOAT", 0)
    for wanted, policy in zip(floats, POLICIES, strict=True):
        for outcome, values in majority(clouds, (1, 3, 6), policy=policy).items():
            np.testing.assert_array_equal(values, wanted[outcome])


def test_voting_on_a_concentrated_wrong_answer_hardens_it() -> None:
    wrong = majority(spelled("aaaaaggg"), (1, 3, 5, 7))["wrong"][0]
    assert (np.diff(wrong) > 0).all()


def test_without_a_right_answer_only_no_answer_is_known() -> None:
    clouds = Clouds.of([0] * 3, [0, 0, 1], [OPEN, OPEN, NONE], n_items=1)
    found = majority(clouds, (1,))
    assert math.isnan(found["gold"][0, 0])
    assert math.isnan(found["wrong"][0, 0])
    assert found["none"][0, 0] == 1 / 3
    assert math.isnan(pass_at(clouds, (1,))[0, 0])


def test_more_votes_than_draws_are_not_measured() -> None:
    clouds = Clouds.of([1], [0], [GOLD], n_items=2)
    assert np.isnan(majority(clouds, (1, 2))["gold"]).tolist() == [[True, True], [False, True]]
    assert np.isnan(pass_at(clouds, (1, 2))).tolist() == [[True, True], [False, True]]
    assert exact_majority(clouds, 1) is None


def test_votes_and_policies_that_are_none_are_refused() -> None:
    with pytest.raises(InputError, match="0 votes cannot be cast"):
        majority(spelled("g"), (0,))
    with pytest.raises(InputError, match="policy is 'quorum'"):
        majority(spelled("g"), (1,), policy="quorum")  # type: ignore[arg-type] # a wrong value on purpose
