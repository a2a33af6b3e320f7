import itertools
import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.stats.chains import Monotone, heaviest_chain, why_no_chain
from trueness.stats.rationals import Exact

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "orbits.json").read_text())
VECTORS = [v for v in GOLDEN if v["kind"] == "increasing"]
Table = list[list[int | Fraction | None]]


def exists(pins: dict[int, Exact], n: int, declared: Monotone) -> bool:
    """Whether some truth has these values: every gap is checked, none is filled by search."""
    low, high = declared.low, declared.high
    assert low is None or isinstance(low, int)
    assert high is None or isinstance(high, int)
    points = sorted(pins.items())
    if declared.integer and any(Fraction(v).denominator != 1 for _, v in points):
        return False
    step = 1 if declared.strict and declared.integer else 0
    for (e, v), (f, w) in itertools.pairwise(points):
        if w - v < step * (f - e) or (declared.strict and w <= v):
            return False
    for e, v in points:
        if low is not None and (v < low + step * e or (declared.strict and e and v <= low)):
            return False
        after = n - 1 - e
        if high is not None and (
            v > high - step * after or (declared.strict and after and v >= high)
        ):
            return False
    return True


def most_right(table: Table, declared: Monotone) -> int:
    """Every choice of a value or nothing for each entity."""
    rows = table[::-1] if declared.decreasing else table
    best = 0
    options = [[None, *{v for v in row if v is not None}] for row in rows]
    for choice in itertools.product(*options):
        pins = {e: v for e, v in enumerate(choice) if v is not None}
        if exists(pins, len(rows), declared):
            best = max(best, sum(rows[e].count(v) for e, v in pins.items()))
    return best


def number(value: object) -> int | None:
    return value if isinstance(value, int) else None


@pytest.mark.parametrize("vector", VECTORS, ids=[v["name"] for v in VECTORS])
def test_golden_chains(vector: dict[str, dict[str, object]]) -> None:
    rows = vector["input"]["answers"]
    declare = vector["input"]["declare"]
    assert isinstance(rows, list)
    assert isinstance(declare, dict)
    table = [row if isinstance(row, list) else [row] for row in rows]
    chain = heaviest_chain(
        [[number(v) for v in row] for row in table],
        Monotone(
            integer=declare["values"] == "integer",
            strict=declare["strict"],
            low=declare.get("low"),
            high=declare.get("high"),
        ),
        answered=np.array([[v is not None for v in row] for row in table]),
    )
    expected = vector["expected"]
    assert chain.max_right == expected["max_right"]
    assert chain.certified_errors == expected["certified_errors"]
    assert chain.n_answered == expected.get("n_answered", expected.get("n_slots"))


def test_no_truth_is_better_and_one_is_as_good_on_thousands_of_small_tables() -> None:
    rng = np.random.default_rng(5)
    for _ in range(4000):
        n, width = int(rng.integers(1, 6)), int(rng.integers(1, 4))
        halves = rng.integers(0, 12, (n, width))
        table: Table = [
            [None if rng.random() < 0.15 else Fraction(int(h), 2) for h in row] for row in halves
        ]
        table = [[v if v is None or v.denominator > 1 else int(v) for v in row] for row in table]
        declared = Monotone(
            integer=bool(rng.integers(2)),
            strict=bool(rng.integers(2)),
            low=None if rng.random() < 0.5 else int(rng.integers(0, 3)),
            high=None if rng.random() < 0.5 else int(rng.integers(3, 7)),
            decreasing=bool(rng.integers(2)),
        )
        if why_no_chain(n, declared):
            continue
        chain = heaviest_chain(table, declared)
        assert chain.max_right == most_right(table, declared), (table, declared)
        pins = {e: v for e, v in enumerate(chain.chosen) if v is not None}
        counted = sum(table[e].count(v) for e, v in pins.items())
        assert counted == chain.max_right  # the witness is recounted
        turned = {n - 1 - e: v for e, v in pins.items()} if declared.decreasing else pins
        assert exists(turned, n, declared)
        again = heaviest_chain(table, declared, answered=chain.withheld)
        assert again.certified_errors == chain.certified_errors  # withholding keeps all of it


def test_withheld_is_every_entity_in_an_inversion_and_the_never_right() -> None:
    chain = heaviest_chain([[1], [3], [2], [None], [9]])
    assert chain.withheld[:, 0].tolist() == [False, True, True, True, False]
    assert chain.no_value_count == 1


def test_no_answer_is_neither_counted_nor_withheld() -> None:
    chain = heaviest_chain([[1], [None], [2]], answered=np.array([[True], [False], [True]]))
    assert (chain.n_answered, chain.certified_errors) == (2, 0)
    assert not chain.withheld.any()


def test_increasing_but_wrong_values_are_silent() -> None:
    assert heaviest_chain([[100], [200], [300]]).certified_errors == 0


def test_order_speaks_where_every_answer_is_different() -> None:
    assert heaviest_chain([[3], [2], [1]]).certified_errors == 2
    assert heaviest_chain([[3], [2], [1]], Monotone(decreasing=True)).certified_errors == 0


def test_decimals_are_compared_exactly() -> None:
    chain = heaviest_chain([[Decimal("0.1")], [Fraction(1, 10)], [Decimal("0.10000000000000001")]])
    assert chain.max_right == 2


def test_an_end_is_only_for_the_entity_at_that_end() -> None:
    declared = Monotone(low=0, high=9)
    assert heaviest_chain([[0], [9]], declared).certified_errors == 0
    assert heaviest_chain([[0], [0], [9]], declared).outside_count == 1


@pytest.mark.parametrize("value", [1.5, True, "7", Decimal("NaN"), Decimal("Infinity")])
def test_what_is_no_exact_number_is_refused(value: object) -> None:
    with pytest.raises(InputError, match=r"exact numbers|finite"):
        heaviest_chain([[value]])  # type: ignore[list-item] # refused on purpose
    with pytest.raises(InputError, match=r"exact numbers|finite"):
        heaviest_chain([[1]], Monotone(low=value))  # type: ignore[arg-type] # refused on purpose


@pytest.mark.parametrize(
    ("n", "declared"),
    [
        (1, Monotone(low=2, high=1)),
        (2, Monotone(low=1, high=1)),
        (3, Monotone(integer=True, low=1, high=2)),
        (1, Monotone(integer=True, strict=False, low=Fraction(1, 3), high=Fraction(2, 3))),
    ],
)
def test_impossible_limits_have_a_reason_and_are_refused(n: int, declared: Monotone) -> None:
    assert why_no_chain(n, declared)
    with pytest.raises(InputError, match="impossible"):
        heaviest_chain([[1]] * n, declared)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 6), min_size=2, max_size=2), min_size=1, max_size=8),
    st.tuples(st.booleans(), st.booleans()),
    st.data(),
)
def test_removing_a_slot_never_raises_the_number_and_lowers_it_by_at_most_one(
    rows: list[list[int]], kind: tuple[bool, bool], data: st.DataObject
) -> None:
    declared = Monotone(integer=kind[0], strict=kind[1])
    whole = heaviest_chain(rows, declared).certified_errors
    answered = np.ones((len(rows), 2), dtype=np.bool_)
    answered[data.draw(st.integers(0, len(rows) - 1)), 0] = False
    fewer = heaviest_chain(rows, declared, answered=answered).certified_errors
    assert whole - 1 <= fewer <= whole


def test_no_entities_are_no_errors() -> None:
    assert heaviest_chain([]).certified_errors == 0
