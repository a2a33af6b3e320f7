import itertools
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.stats.involutions import heaviest_pairing, why_no_involution
from trueness.stats.matchings import Edges, heaviest_matching

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "orbits.json").read_text())
VECTORS = [v for v in GOLDEN if v["kind"] == "involution"]


@cache
def truths(n: int, n_outside: int, *, closed: bool, fixed_points: bool) -> list[tuple[int, ...]]:
    """Every involution: partner in E, itself, a named outsider, or (-1) a stranger."""
    return list(_truths(n, n_outside, closed=closed, fixed_points=fixed_points))


def _truths(
    n: int, n_outside: int, *, closed: bool, fixed_points: bool
) -> Iterator[tuple[int, ...]]:
    outside = [] if closed else [*range(n, n + n_outside), *([-1] * n)]
    for truth in itertools.product([*range(n), *sorted(set(outside))], repeat=n):
        named = [p for p in truth if p >= n]
        if len(set(named)) < len(named):
            continue
        if any(p == e and not fixed_points for e, p in enumerate(truth)):
            continue
        if all(not 0 <= p < n or truth[p] == e for e, p in enumerate(truth)):
            yield truth


def right_in(answers: NDArray[np.int64], truth: tuple[int, ...]) -> int:
    return int(((answers == np.array(truth)[:, None]) & (answers >= 0)).sum())


@pytest.mark.parametrize("vector", VECTORS, ids=[v["name"] for v in VECTORS])
def test_golden_involutions(vector: dict[str, dict[str, object]]) -> None:
    answers, declare = vector["input"]["answers"], vector["input"]["declare"]
    assert isinstance(answers, dict)
    assert isinstance(declare, dict)
    closed, fixed = bool(declare["closed"]), bool(declare["fixed_points"])
    place = {e: i for i, e in enumerate(answers)}
    codes = np.array([[place.get(a, len(place))] for a in answers.values()])
    expected = vector["expected"]
    if expected["state"] == "NOT_APPLICABLE":
        reason = why_no_involution(len(codes), closed=closed, fixed_points=fixed)
        assert reason == expected["reason"]
        return
    found = heaviest_pairing(codes, closed=closed, fixed_points=fixed)
    assert found.max_right == expected["max_right"]
    assert found.certified_errors == expected["certified_errors"]
    star = len(codes) - len(set(codes[codes < len(codes)].tolist()))
    assert star == expected["theorem1star_floor"]
    assert found.certified_errors >= star


@pytest.mark.parametrize("width", [1, 2, 3])
def test_no_involution_is_better_and_one_is_as_good(width: int) -> None:
    rng = np.random.default_rng(width)
    for _ in range(3000 if width == 1 else 500):
        n, n_outside = int(rng.integers(1, 6)), int(rng.integers(0, 2))
        closed, fixed = bool(rng.integers(2)), bool(rng.integers(2))
        if why_no_involution(n, closed=closed, fixed_points=fixed):
            continue
        answers = rng.integers(-1, n + n_outside, (n, width))
        found = heaviest_pairing(answers, closed=closed, fixed_points=fixed)
        best = max(
            right_in(answers, t) for t in truths(n, n_outside, closed=closed, fixed_points=fixed)
        )
        assert found.max_right == best, (answers, closed, fixed)
        assert found.exact
        assert right_in(answers, tuple(found.partners.tolist())) == best  # the witness, recounted
        kept = np.where(found.withheld, answers, -1)
        again = heaviest_pairing(kept, closed=closed, fixed_points=fixed)
        assert again.certified_errors == found.certified_errors


def test_the_linear_limit_is_never_below_the_best_matching() -> None:
    rng = np.random.default_rng(9)
    for _ in range(400):
        n = 5 if rng.random() < 0.5 else 7
        answers = rng.integers(-1, n, (n, 2))
        exact = heaviest_pairing(answers, closed=True, fixed_points=True)
        loose = heaviest_pairing(answers, closed=True, fixed_points=True, max_exact_edges=0)
        assert loose.max_right >= exact.max_right
        assert loose.exact == (right_in(answers, tuple(loose.partners.tolist())) == loose.max_right)
        assert not loose.exact or loose.max_right == exact.max_right


def test_one_column_gives_what_any_graph_solver_gives() -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        n = 40
        answers = rng.integers(0, n, (n, 1))
        quick = heaviest_pairing(answers, closed=False, fixed_points=True)
        slow = heaviest_pairing(
            np.hstack([answers, np.full((n, 1), -1)]), closed=False, fixed_points=True
        )
        assert slow.exact
        assert quick.max_right == slow.max_right
        assert quick.withheld.sum() == slow.withheld.sum()


def test_long_cycles_take_every_second_edge() -> None:
    for n in (3, 4, 5, 100, 101):
        cycle = np.roll(np.arange(n), -1)[:, None]
        assert heaviest_pairing(cycle, closed=False).max_right == n // 2


def test_a_consistent_permutation_is_silent() -> None:
    found = heaviest_pairing(np.array([[1], [0], [3], [2]]), closed=True)
    assert found.certified_errors == 0
    assert not found.withheld.any()


def test_refusing_everything_proves_nothing() -> None:
    found = heaviest_pairing(np.full((4, 2), -1), closed=True)
    assert (found.n_answered, found.certified_errors) == (0, 0)


def test_an_odd_closed_list_without_fixed_points_is_refused() -> None:
    with pytest.raises(InputError, match="odd number of entities"):
        heaviest_pairing(np.zeros((3, 1), dtype=np.int64), closed=True)


@pytest.mark.parametrize("answers", [np.zeros((2, 1)), np.full((2, 1), -2), np.zeros(2, dtype=int)])
def test_answers_that_are_no_codes_are_refused(answers: NDArray[np.int64]) -> None:
    with pytest.raises(InputError, match=r"wanted whole numbers|must be"):
        heaviest_pairing(answers, closed=True)


def test_a_failing_solver_still_leaves_a_true_limit() -> None:
    from trueness.stats.matchings import _priced  # noqa: PLC0415 - only reachable from inside

    triangle = Edges(np.array([[0, 1], [1, 2], [0, 2]]), np.array([3, 3, 3]))
    assert _priced(triangle, np.zeros(3)) >= 3
    assert heaviest_matching(triangle, 3).right.sum() == 3


@settings(max_examples=200, deadline=None)
@given(st.data(), st.integers(1, 9))
def test_names_and_order_do_not_matter(data: st.DataObject, n: int) -> None:
    codes = data.draw(st.lists(st.integers(-1, n + 1), min_size=n, max_size=n))
    order = np.array(data.draw(st.permutations(range(n))))
    answers = np.array(codes)[:, None]
    rename = np.append(np.append(np.argsort(order), [n + 1, n]), -1)
    moved = rename[answers[order]]
    for fixed in (True, False):
        one = heaviest_pairing(answers, closed=False, fixed_points=fixed)
        two = heaviest_pairing(moved, closed=False, fixed_points=fixed)
        assert one.max_right == two.max_right
