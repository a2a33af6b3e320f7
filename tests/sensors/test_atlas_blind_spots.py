"""Where the atlas says it is blind, it is blind; what the split guards against."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import pytest
from atlas_tables import Cell, drawn, spread

from trueness import api
from trueness.contract import Reading
from trueness.sensors.atlas import CONTRACT, Params, compare, measure
from trueness.table import AnswerTable

QUICK = Params(replicates=200)
P = [Fraction(n, 72) for n in (1, 6, 7, 17, 18, 23)]
Q = [Fraction(n, 72) for n in (2, 3, 11, 13, 21, 22)]


def total(found: Reading, order: int) -> float:
    parts: Any = found.details["parts"]
    value: float = parts[str(order)]["total"]
    return value


def delta(found: Reading, part: str, order: int = 2) -> float:
    parts: Any = found.details["parts"]
    value: float = parts[str(order)][part]["delta"]
    return value


def verdict(found: Reading) -> dict[str, Any]:
    said: Any = found.details["verdict"]
    return dict(said)


def test_the_contract_says_five_things_that_it_cannot_see() -> None:
    assert CONTRACT.blind_to == (
        "labels, if only the total is read: any relabelling leaves every order unchanged",
        "everything about a completion but its extracted key",
        "orders that are not measured: two shapes may agree at orders 2 to 5 and differ at 6",
        "items that are not in the slice",
        "opposite movements of items that cancel in a mean",
    )


def test_swapped_labels_leave_every_total_and_move_gold_and_wrong() -> None:
    one = drawn(spread(20, ("g",) * 6 + ("a",) * 3 + (None,)))
    two = drawn(spread(20, ("a",) * 6 + ("g",) * 3 + (None,)))
    found = compare(one, two, QUICK)
    for order in (2, 3, 4):
        assert delta(found, "total", order) == 0
    assert delta(found, "gold") == pytest.approx(3 / 45 - 15 / 45)
    assert delta(found, "wrong") == pytest.approx(15 / 45 - 3 / 45)


def shape(masses: Sequence[Fraction], order: int) -> float:
    """The total of a cloud with shares that are exactly these masses: every tuple counted."""
    return float(sum(m**order for m in masses))


def test_two_shapes_that_differ_at_order_six_only_read_the_same_before() -> None:
    for order in range(2, 6):
        assert shape(P, order) == pytest.approx(shape(Q, order), abs=1e-15)
    assert shape(P, 6) > shape(Q, 6)
    rng = np.random.default_rng(0)
    n, k = 400, 12
    arms = []
    for masses in (P, Q):
        laws = np.array([float(m) for m in masses])
        drawn_ = rng.choice(6, size=(n, k), p=laws / laws.sum())
        arms.append(
            drawn({f"q{i}": tuple(map(str, row)) for i, row in enumerate(drawn_)}, golds=None)
        )
    found = compare(arms[0], arms[1], replace(QUICK, orders=(2, 3, 4, 5), margin=0.04))
    assert verdict(found)["name"] == "unchanged"
    for masses, arm in zip((P, Q), arms, strict=True):
        seen = measure(arm, replace(QUICK, orders=(2, 3, 4, 5, 6)))
        for order in (2, 3, 4, 5, 6):
            assert total(seen, order) == pytest.approx(shape(masses, order), abs=0.02)


def test_answers_that_differ_in_their_reasoning_only_read_the_same() -> None:
    def table(reasoning: str) -> AnswerTable:
        rows = [
            {"item": f"q{i}", "completion": f"{reasoning} The answer is {a}.", "target": "4"}
            for i in range(5)
            for a in (4, 4, 5, 6)
        ]
        return api.read(rows, answer_kind="number")

    one, two = table("Two and two make four."), table("I looked it up, do not trust me.")
    found = compare(one, two, QUICK)
    assert measure(one, QUICK).details["parts"] == measure(two, QUICK).details["parts"]
    assert [delta(found, part) for part in ("total", "gold", "wrong", "none")] == [0, 0, 0, 0]


def test_items_that_are_not_in_the_slice_are_not_seen() -> None:
    common = spread(20, ("g", "g", "a", "b"))
    one = drawn({**common, "lost": ("g",) * 4})
    two = drawn({**common, "new": ("a",) * 4})
    found = compare(one, two, QUICK)
    assert delta(found, "gold") == 0
    assert found.details["unpaired"] == {"before": 1, "after": 1}


def opposite(n: int) -> tuple[AnswerTable, AnswerTable]:
    """Half of the items become sure of the answer, the other half lose it."""
    sure: tuple[Cell, ...] = ("g",) * 8
    lost: tuple[Cell, ...] = ("a", "b", "c", "d", "e", "f", "h", "i")
    names = [f"q{i:03}" for i in range(n)]
    one = {name: sure if i % 2 else lost for i, name in enumerate(names)}
    two = {name: lost if i % 2 else sure for i, name in enumerate(names)}
    return drawn(one), drawn(two)


def test_opposite_movements_cancel_and_pass_as_unchanged_only_within_the_margin() -> None:
    for n, name in ((30, "unresolved"), (400, "unchanged")):
        one, two = opposite(n)
        found = compare(one, two, QUICK)
        assert delta(found, "total") == pytest.approx(0, abs=1e-12)
        assert verdict(found)["name"] == name
    assert verdict(found)["notes"] == ["items moved, the mean did not"]
    tv: Any = found.details["tv"]
    assert tv["permutation_p"] < 0.01
    assert tv["mean"] == 1


def split_in_two(seed: int) -> str:
    """The verdict about one law drawn twice for every item."""
    rng = np.random.default_rng(seed)
    arms: list[dict[str, tuple[Cell, ...]]] = [{}, {}]
    names: list[Cell] = ["g", "a", "b", None]
    for i in range(25):
        law = rng.dirichlet((1.0, 1.0, 0.5, 0.5))
        codes = rng.choice(4, size=16, p=law)
        for side in (0, 1):
            arms[side][f"q{i}"] = tuple(names[c] for c in codes[8 * side : 8 * side + 8])
    found = compare(drawn(arms[0]), drawn(arms[1]), Params(seed=seed, replicates=1_000))
    return str(verdict(found)["name"])


@pytest.mark.slow
def test_one_law_split_in_two_is_hardly_ever_given_another_verdict() -> None:
    runs, alpha = 200, 0.05
    named = [split_in_two(seed) for seed in range(runs)]
    wrong = sum(name not in {"unresolved", "unchanged"} for name in named)
    rate = 2 * alpha
    assert wrong / runs <= rate + 3 * sqrt(rate * (1 - rate) / runs)


def test_one_law_split_in_two_is_not_given_another_verdict_in_a_few_runs() -> None:
    named = [split_in_two(seed) for seed in range(12)]
    assert sum(name not in {"unresolved", "unchanged"} for name in named) <= 2
