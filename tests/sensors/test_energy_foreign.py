"""The chance level that a table itself shows: claims against other sources' evidence."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueness.api.grounding import ground
from trueness.contract import Reading
from trueness.contract.errors import InputError
from trueness.stats.span import measure_span

D = 12


def directions(texts: Sequence[str]) -> NDArray[np.float64]:
    """A direction of its own for every text, the same in every order."""
    return np.array(
        [np.random.default_rng([*t.encode()]).standard_normal(D) for t in texts], np.float64
    )


def table(sizes: Sequence[int], *, sources: Sequence[str] | None = None) -> list[dict[str, Any]]:
    return [
        {
            "item": f"i{k}",
            "group": f"g{k}" if sources is None else sources[k],
            "claim": f"claim {k}",
            "evidence": [f"passage {k} {j}" for j in range(n)],
        }
        for k, n in enumerate(sizes)
    ]


def seen(rows: list[dict[str, Any]], **params: Any) -> Reading:
    return ground(rows, embedder=directions, revision="1", **params)


def levels(reading: Reading) -> dict[str, tuple[Any, ...]]:
    found: Any = reading.details["chance_empirical"]
    return {item: tuple(level.values()) for item, level in found["per_item"].items()}


def test_it_is_the_mean_energy_against_every_other_source_of_that_size() -> None:
    rows = table([3, 2, 3, 3, 2, 3, 3, 3, 2, 2, 2])
    found = levels(seen(rows, foreign=20))
    for row in rows:
        others = [
            measure_span(directions([row["claim"]])[0], directions(o["evidence"])).energy
            for o in rows
            if o is not row and len(o["evidence"]) == len(row["evidence"])
        ]
        mean, m, reason = found[row["item"]]
        assert (m, reason) == (len(others), None)
        assert mean == pytest.approx(fmean(e for e in others if e is not None), abs=1e-12)


@settings(max_examples=15)
@given(st.permutations(range(14)), st.integers(1, 6), st.integers(0, 3))
def test_the_order_of_rows_changes_no_bit(order: list[int], m: int, seed: int) -> None:
    rows = table([2, 3] * 7)
    asked = {"foreign": m, "seed": seed, "replicates": 100}
    assert levels(seen(rows, **asked)) == levels(seen([rows[i] for i in order], **asked))


def test_another_seed_draws_other_sources() -> None:
    rows = table([2] * 30)
    one, two = (levels(seen(rows, foreign=4, seed=s, replicates=100)) for s in (0, 1))
    assert one != two
    assert {m for _, m, _ in one.values()} == {4}


def test_neither_the_own_source_nor_a_shared_passage_is_foreign() -> None:
    rows = table([2] * 12, sources=["a"] * 4 + list("bcdefghi"))
    for row in rows[4:6]:
        row["evidence"] = ["passage 0 0", f"more {row['item']}"]  # shares one with i0
    found = levels(seen(rows, foreign=16))
    assert found["i0"][1] == 6
    assert found["i1"][1] == 8
    assert found["i6"][1] == 8 - 1 + 1  # one claim of source a, seven others


def test_too_few_none_asked_and_not_measured_say_so() -> None:
    rows = table([1, 1, 1, 1, 2, 2])
    found = levels(seen(rows))
    assert found["i0"] == (None, 3, "too_few_foreign")
    assert found["i4"] == (None, 1, "too_few_foreign")
    assert levels(seen(rows, foreign=1))["i4"][1:] == (1, None)
    assert not levels(seen(rows, foreign=0))
    rows[0]["evidence"] = []
    assert set(levels(seen(rows))) == {"i1", "i2", "i3", "i4", "i5"}


def test_in_a_large_table_claims_are_drawn_and_the_figure_of_the_table_rests_on_them() -> None:
    rows = table([2] * 20)
    reading = seen(rows, foreign=5, foreign_claims=7)
    found = levels(reading)
    assert [m for _, m, _ in found.values()] == [5] * 7
    said: Any = reading.details["chance_empirical"]
    assert said["mean"] == pytest.approx(fmean(mean for mean, *_ in found.values()))
    assert (said["n_claims"], said["m"], said["seed"]) == (7, 5, 0)


def test_it_is_in_the_fingerprint_and_no_threshold_depends_on_it() -> None:
    rows = table([2] * 8)
    one, two = seen(rows), seen(rows, foreign=0)
    assert one.fingerprint != two.fingerprint
    assert one.identity == two.identity
    assert [i.value for i in one.per_item] == [i.value for i in two.per_item]


@pytest.mark.parametrize("given_", [{"foreign": -1}, {"foreign": 1.5}, {"foreign_claims": 0}])
def test_a_number_that_is_none_is_refused(given_: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="give a whole number from"):
        seen(table([2, 2]), **given_)


def test_the_kernel_has_this_level_alone_and_it_is_its_own_mean() -> None:
    rows = table([2] * 7)
    reading = seen(rows, sensor="energy.kernel", kernel="poly", degree=2)
    assert {i.extra["chance"] for i in reading.per_item} == {None}
    found = levels(reading)
    claim = rows[0]["claim"]
    others = seen(
        [{**row, "claim": claim, "item": row["item"]} for row in rows[1:]],
        sensor="energy.kernel",
        kernel="poly",
        degree=2,
    )
    assert found["i0"][0] == pytest.approx(fmean(i.value or 0.0 for i in others.per_item))
    assert "chance_empirical" not in seen(rows, sensor="energy.cone").details
