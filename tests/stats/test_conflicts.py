import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from trueness.contract.errors import InputError
from trueness.stats.conflicts import Conflict, conflict_floor

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "orbits.json").read_text())
VECTORS = [v for v in GOLDEN if v["kind"] == "conflict"]


def fewest_wrong(n: int, conflicts: list[Conflict]) -> int:
    for size in range(n + 1):
        for wrong in itertools.combinations(range(n), size):
            if all(len(set(wrong).intersection(c.slots)) >= c.wrong for c in conflicts):
                return size
    raise AssertionError


@pytest.mark.parametrize("vector", VECTORS, ids=[v["name"] for v in VECTORS])
def test_golden_conflicts(vector: dict[str, dict[str, object]]) -> None:
    given = vector["input"]
    assert isinstance(given["conflicts"], list)
    assert isinstance(given["n_slots"], int)
    conflicts = [Conflict(tuple(c["slots"]), c["at_most_right"]) for c in given["conflicts"]]
    expected = vector["expected"]
    loose = conflict_floor(given["n_slots"], conflicts)
    assert loose.certified_errors == expected["linear_floor"]
    assert loose.linear == Fraction(str(expected["linear_relaxation"]))
    assert loose.packing == expected["best_disjoint_packing"]
    tight = conflict_floor(given["n_slots"], conflicts, exact=True)
    assert tight.certified_errors == expected["hitting_number"]
    assert tight.exact


def test_no_set_of_wrong_slots_is_smaller_on_thousands_of_small_cases() -> None:
    rng = np.random.default_rng(11)
    for case in range(2000):
        n = int(rng.integers(1, 8))
        conflicts = []
        for _ in range(int(rng.integers(0, 6))):
            slots = rng.permutation(n)[: int(rng.integers(1, n + 1))].tolist()
            conflicts.append(Conflict(tuple(slots), int(rng.integers(0, len(slots) + 1))))
        least = fewest_wrong(n, conflicts)
        found = conflict_floor(n, conflicts, exact=case % 4 == 0)
        assert found.packing <= found.certified_errors <= least
        assert found.linear is not None
        assert found.linear <= least
        if case % 4 == 0:
            assert found.exact
            assert found.certified_errors == least
            assert found.hitting_set is not None
            assert all(len(set(found.hitting_set) & set(c.slots)) >= c.wrong for c in conflicts)


def test_many_memberships_are_only_packed() -> None:
    pairs = [Conflict((i, i + 1), 1) for i in range(4)]
    found = conflict_floor(5, pairs, max_memberships=3)
    assert (found.certified_errors, found.linear, found.exact) == (2, None, False)


def test_a_conflict_that_allows_all_its_slots_says_nothing() -> None:
    assert conflict_floor(2, [Conflict((0, 1), 2)]).certified_errors == 0


@pytest.mark.parametrize(
    "conflict", [Conflict((0, 0), 1), Conflict((0, 9), 1), Conflict((0, 1), -1), Conflict((-1,), 0)]
)
def test_impossible_conflicts_are_refused(conflict: Conflict) -> None:
    with pytest.raises(InputError, match="wanted"):
        conflict_floor(3, [conflict])
