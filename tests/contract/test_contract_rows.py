"""A sequence on demand behaves as the tuple of its entries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract import Rows

VALUES = st.lists(st.integers(), max_size=8)
BOUND = st.none() | st.integers(-12, 12)
STEP = st.none() | st.integers(-4, 4).filter(bool)


def rows_of(values: list[int]) -> Rows[int]:
    return Rows(len(values), values.__getitem__)


@given(VALUES)
def test_it_equals_every_sequence_with_its_entries(values: list[int]) -> None:
    rows = rows_of(values)
    assert rows == values
    assert rows == tuple(values)
    assert rows == rows_of(values)
    assert rows != [*values, 0]
    assert list(reversed(rows)) == values[::-1]


@given(VALUES, BOUND, BOUND, STEP)
def test_slices_are_those_of_a_list(
    values: list[int], start: int | None, stop: int | None, step: int | None
) -> None:
    part = slice(start, stop, step)
    assert list(rows_of(values)[part]) == values[part]


@given(VALUES, st.integers(-12, 12))
def test_positions_are_those_of_a_list(values: list[int], at: int) -> None:
    if -len(values) <= at < len(values):
        assert rows_of(values)[at] == values[at]
    else:
        with pytest.raises(IndexError):
            rows_of(values)[at]


def test_nothing_is_made_before_somebody_reads_it() -> None:
    made: list[int] = []

    def entry(i: int) -> int:
        made.append(i)
        return i

    rows = Rows(10**12, entry)
    assert len(rows[5:]) == 10**12 - 5
    assert made == []
    assert rows[7] == 7
    assert made == [7]


def test_text_is_not_a_sequence_of_entries_here() -> None:
    assert Rows(1, lambda _: "a") != "a"


def test_it_has_no_hash() -> None:
    with pytest.raises(TypeError):
        hash(Rows(0, str))
